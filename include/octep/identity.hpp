// Names: a microflow, where a frame arrived, the association that decrypted it, a firewall state's own route, an entry of a
// far side's table. All but the last were given by others and are only repeated here.
//
// Floor 1.
//
//   flow word          bits 0-24 id | bits 25-30 revision | bit 31 valid           (system.md 2)
//   association word   bits 0-15 index | bits 16-31 revision
//
// Refuses: computing an identity. The fast path chose it; the host only repeats it (system.md 1).
// Buys: a stale identity is skipped by the far side, never taken for another flow's.
// Concurrency: values.
#pragma once

#include <octep/base.hpp>

namespace octep {

// The microflow the fast path chose for a tuple on a port. Id 0: the frame names no flow.
struct identity {
  u32 word = 0;

  static constexpr u32 id_mask = 0x01ff'ffff;
  static constexpr u32 revision_shift = 25;
  static constexpr u32 revision_mask = 0x3f;
  static constexpr u32 valid_bit = u32{1} << 31;

  [[nodiscard]] static constexpr identity make(u32 id, u32 revision) noexcept {
    return {valid_bit | ((revision & revision_mask) << revision_shift) | (id & id_mask)};
  }
  [[nodiscard]] constexpr u32 id() const noexcept { return word & id_mask; }
  [[nodiscard]] constexpr u32 revision() const noexcept { return (word >> revision_shift) & revision_mask; }
  [[nodiscard]] constexpr bool names_flow() const noexcept { return (word & valid_bit) != 0 && id() != 0; }
  [[nodiscard]] constexpr bool operator==(const identity&) const noexcept = default;
};

// Where a frame arrived. A VLAN belongs to that place: two directions are never paired across a move (system.md 2).
struct ingress {
  u16 port = 0;
  u16 vlan = 0;  // 12-bit id of the outermost tag, 0 for none

  [[nodiscard]] constexpr u32 word() const noexcept { return (u32{port} << 16) | vlan; }
  [[nodiscard]] static constexpr ingress from_word(u32 w) noexcept {
    return {static_cast<u16>(w >> 16), static_cast<u16>(w)};
  }
  [[nodiscard]] constexpr bool operator==(const ingress&) const noexcept = default;
};

// The IPsec association that decrypted a frame, as the metadata names it. 0: the frame arrived in the clear.
struct association_word {
  u32 word = 0;

  [[nodiscard]] constexpr u16 index() const noexcept { return static_cast<u16>(word); }
  [[nodiscard]] constexpr u16 revision() const noexcept { return static_cast<u16>(word >> 16); }
  [[nodiscard]] constexpr bool none() const noexcept { return word == 0; }
  [[nodiscard]] constexpr bool operator==(const association_word&) const noexcept = default;
};

// A firewall state's own route (route-to, reply-to), as the world numbers them. 0: it has none, ask the route table.
struct own_route {
  u32 handle = 0;
  [[nodiscard]] constexpr bool operator==(const own_route&) const noexcept = default;
};

// An index of a far side's table and the revision that makes it this use of it. Revision 0 is never used.
struct handle {
  u32 index = 0;
  u16 revision = 0;

  [[nodiscard]] constexpr bool operator==(const handle&) const noexcept = default;
};

}  // namespace octep

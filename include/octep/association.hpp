// Associations (IPsec): what an index's counters read, and the vocabulary of what the kernel is told of its own.
//
// Floor 2.
//
// An association belongs to the kernel, which names it by a number of its own choice (its SPI, or whatever it finds it again
// by) and keeps its sequence counter and its lifetime. The far side only uses it, at an index of its own. So the two things
// that the engine finds out there go back to the kernel as differences: numbers that are spent, and traffic.
//
// Refuses: keys. The glue that encodes an install finds them by the kernel's number. Buys: no secret is in the core.
// Concurrency: values. Called under the pass lock; a call must not sleep.
#pragma once

#include <octep/base.hpp>

namespace octep {

// What an index's counters read, or a difference of two of those.
struct association_traffic {
  u64 packets = 0;
  u64 bytes = 0;

  [[nodiscard]] constexpr bool operator==(const association_traffic&) const noexcept = default;
  [[nodiscard]] constexpr bool zero() const noexcept { return packets == 0 && bytes == 0; }
};

template <class K>
concept association_policy = requires(K& k, u32 kernel, u64 numbers, const association_traffic& more) {
  // The kernel gives out none of the next so many sequence numbers. One that is gone is passed over.
  k.pass_over(kernel, numbers);
  // So much went by in hardware: for its lifetimes. One that is gone is passed over.
  k.account(kernel, more);
};

// For a world whose far side has none.
struct no_associations {
  constexpr void pass_over(u32, u64) const noexcept {}
  constexpr void account(u32, const association_traffic&) const noexcept {}
};

}  // namespace octep

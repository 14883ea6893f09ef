// The prefix in front of a punted frame: who the fast path says it is, and where it arrived.
//
// Floor 2.
//
//   bytes 0-7     length of the frame behind the prefix, big-endian
//   bytes 8-15    0x8003000000000000, big-endian
//   bytes 16-17   port tag, big-endian
//   bytes 18-81   64 bytes of metadata, little-endian:
//       bytes 0-3     id tag word
//       bytes 4-7     bits 8-15 valid | bits 16-31 port
//       bytes 8-11    flow word         (identity.hpp)
//       bytes 12-15   association word  (identity.hpp)
//       bytes 16-63   not ours
//
// The layout is system.md 2; the places of the flow and the association word are ours, since the record gives none. All
// of it is the device policy's: another device is another `prefix_policy`.
//
// What it refuses: inventing an identity. Metadata that is not valid, a flow word that is not, id 0: `no_identity`.
// What that buys: what a make programs is always something that the fast path said.
// Concurrency: pure functions of their arguments; any ring, any time.
#pragma once

#include <octep/base.hpp>
#include <octep/frame_view.hpp>
#include <octep/identity.hpp>
#include <octep/reasons.hpp>

namespace octep {

// What the prefix says of the frame behind it.
struct punt_metadata {
  identity who;
  u16 port = 0;  // where it arrived
  association_word association;

  [[nodiscard]] constexpr bool operator==(const punt_metadata&) const noexcept = default;
};

// Contract of a prefix: `length` bytes; places of big-endian fields counted from its start, of metadata words from
// `metadata_at`; every field inside `length`.
template <class P>
concept prefix_policy = requires {
  requires P::length_at + 8 <= P::length&& P::mark_at + 8 <= P::length&& P::port_tag_at + 2 <= P::length;
  requires P::metadata_at + P::state_at + 4 <= P::length;
  requires P::metadata_at + P::flow_word_at + 4 <= P::length;
  requires P::metadata_at + P::association_at + 4 <= P::length;
  requires same_as<decltype(P::mark), const u64>;
};

// Both recorded devices.
struct recorded_prefix {
  static constexpr u32 length = 82;
  static constexpr u32 length_at = 0;
  static constexpr u32 mark_at = 8;
  static constexpr u64 mark = 0x8003'0000'0000'0000;
  static constexpr u32 port_tag_at = 16;
  static constexpr u32 metadata_at = 18;
  static constexpr u32 state_at = 4;         // valid and port
  static constexpr u32 flow_word_at = 8;     // ours
  static constexpr u32 association_at = 12;  // ours
};

static_assert(prefix_policy<recorded_prefix>);

// Reads the prefix that `in` begins with. Any context. Answers, in this order:
//   truncated     the prefix is not whole in the bytes at hand; `out` and `inner` are as they were
//   length_lies   the mark is another, or the length exceeds the bytes that the wire had; likewise
//   no_identity   `inner` and the port are set, `out.who` is no identity. A frame that could not be forwarded anyway
//                 counts as that, so the caller parses it first (`reason`, in its order)
//   none          all is set
// Bytes behind the length are padding. The port is the metadata's; where that is not valid, the tag's.
template <prefix_policy Prefix = recorded_prefix>
[[nodiscard]] constexpr reason parse_prefix(const frame_view& in, punt_metadata& out, frame_view& inner) noexcept {
  if (in.at_hand() < Prefix::length) return reason::truncated;
  const u8* const p = in.bytes;
  const u64 length = load_be64(p + Prefix::length_at);
  if (load_be64(p + Prefix::mark_at) != Prefix::mark || length > in.wire_length - Prefix::length)
    return reason::length_lies;
  const u8* const metadata = p + Prefix::metadata_at;
  const u32 wire_length = static_cast<u32>(length);
  inner = {p + Prefix::length, least(in.at_hand() - Prefix::length, wire_length), wire_length};
  const u32 state = load_le32(metadata + Prefix::state_at);
  out = {};
  if ((state & 0xff00) == 0) {
    out.port = load_be16(p + Prefix::port_tag_at);
    return reason::no_identity;
  }
  out.port = static_cast<u16>(state >> 16);
  out.association = {load_le32(metadata + Prefix::association_at)};
  const identity who{load_le32(metadata + Prefix::flow_word_at)};
  if (!who.names_flow()) return reason::no_identity;
  out.who = who;
  return reason::none;
}

// The prefix of a frame of `frame_length` bytes, for models and tests: `Prefix::length` bytes at `to`, all of them
// written.
template <prefix_policy Prefix = recorded_prefix>
constexpr void write_prefix(u8* to, const punt_metadata& metadata, u32 frame_length) noexcept {
  for (u32 i = 0; i < Prefix::length; ++i) to[i] = 0;
  store_be64(to + Prefix::length_at, frame_length);
  store_be64(to + Prefix::mark_at, Prefix::mark);
  store_be16(to + Prefix::port_tag_at, metadata.port);
  u8* const words = to + Prefix::metadata_at;
  store_le32(words + Prefix::state_at, (u32{metadata.port} << 16) | 0x0100);
  store_le32(words + Prefix::flow_word_at, metadata.who.word);
  store_le32(words + Prefix::association_at, metadata.association.word);
}

}  // namespace octep

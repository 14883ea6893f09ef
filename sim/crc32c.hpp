// CRC32C (Castagnoli, RFC 3720 appendix B.4), by which the device spreads punted frames over its rings.
#pragma once

#include <octep/base.hpp>

#include "sim/wide_tuple.hpp"

namespace octep::sim {

[[nodiscard]] constexpr u32 crc32c(u32 state, u8 byte) noexcept {
  state ^= byte;
  for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1U) != 0 ? 0x82f6'3b78U : 0U);
  return state;
}
[[nodiscard]] constexpr u32 crc32c(u32 state, u32 word) noexcept {
  for (u32 i = 0; i < 4; ++i) state = crc32c(state, static_cast<u8>(word >> (8 * i)));
  return state;
}
// Over the addresses, port words and protocol as they stand in a tuple. The order of the words is ours.
[[nodiscard]] constexpr u32 crc32c(const wide_tuple& t) noexcept {
  u32 state = ~u32{0};
  const usize words = t.which == family::ipv4 ? 1 : 4;
  for (usize i = 0; i < words; ++i) state = crc32c(state, t.source[i]);
  for (usize i = 0; i < words; ++i) state = crc32c(state, t.destination[i]);
  state = crc32c(state, t.ports);
  state = crc32c(state, static_cast<u8>(t.proto));
  return ~state;
}

}  // namespace octep::sim

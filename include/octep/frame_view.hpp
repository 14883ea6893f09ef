// A frame as it is at hand: where its bytes are, how many of them in one piece, how long it was on the wire.
//
// Floor 1.
//
// What it is: three numbers, because mbuf chains and short captures both hold less than the wire did (system.md 2).
// What it refuses: owning, copying or gathering. A parser reads inside `at_hand()` bytes and nowhere else, and compares
// the lengths that a header claims with `wire_length`, so a short capture is never taken for a lie.
// What that buys: one parser for a kernel's first mbuf, a snapped capture and a fuzzer's bytes.
// Concurrency: a value; the bytes are the caller's for as long as the call lasts.
#pragma once

#include <octep/base.hpp>

namespace octep {

struct frame_view {
  const u8* bytes = nullptr;
  u32 contiguous = 0;   // bytes that may be read; what exceeds `wire_length` is no part of the frame
  u32 wire_length = 0;  // bytes of the whole frame, without the frame check sequence

  // How many bytes may be read.
  [[nodiscard]] constexpr u32 at_hand() const noexcept { return least(contiguous, wire_length); }
};

}  // namespace octep

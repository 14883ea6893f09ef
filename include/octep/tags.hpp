// Tags: one byte of a tuple's hash a place, so that a slot is searched by comparing bytes instead of tuples.
//
// Floor 2.
//
//   low word     byte i is the tag of place i
//   high word    byte i is the tag of place 8 + i
//
// What it is: the contract of a tag policy, which finds a byte among sixteen; and the scalar one, which a kernel runs.
// The host's, with vector registers, is in host/vector_tags.hpp and is tested against this one.
// What it refuses: deciding. A tag that is alike makes a tuple likely, never certain: one in 256 is another's, and the
// scalar form may name a place beside a right one by mistake.
// What that buys: sixteen places are searched in the time of a few comparisons, and without a branch.
// Concurrency: pure functions.
#pragma once

#include <octep/base.hpp>

namespace octep {

// alike<Places>: marks of all places below Places that have the tag, and perhaps of some that have not; Places is 1 to 16.
// The lowest mark's place is first_place(marks); it is taken away by `marks & (marks - 1)`. No marks: 0.
template <class T>
concept tag_policy = requires(u64 low, u64 high, u8 tag) {
  { T::template alike<8>(low, high, tag) } noexcept -> same_as<u64>;
  { T::template alike<16>(low, high, tag) } noexcept -> same_as<u64>;
  { T::first_place(low) } noexcept -> same_as<u32>;
};

// A mark is bit 8i for place i, bit 8i + 1 for place 8 + i: to bring the marks together would cost more than to read them
// apart.
struct scalar_tags {
  template <u32 Places>
  [[nodiscard, gnu::always_inline]] static constexpr u64 alike(u64 low, u64 high, u8 tag) noexcept {
    const u64 everywhere = each * tag;
    u64 found = zero_bytes(low ^ everywhere) >> 7;
    if constexpr (Places > 8) found |= zero_bytes(high ^ everywhere) >> 6;
    if constexpr (Places < 8) found &= (u64{1} << (8 * Places)) - 1;
    if constexpr (Places > 8 && Places < 16) found &= each | ((u64{1} << (8 * (Places - 8))) - 1);
    return found;
  }
  [[nodiscard, gnu::always_inline]] static constexpr u32 first_place(u64 marks) noexcept {
    const auto bit = static_cast<u32>(__builtin_ctzll(marks));
    return (bit >> 3) + ((bit & 1) << 3);
  }

 private:
  static constexpr u64 each = 0x0101'0101'0101'0101;

  // The top bit of each byte that is zero. A byte of 1 above a zero byte may be named too, by the borrow.
  [[nodiscard, gnu::always_inline]] static constexpr u64 zero_bytes(u64 x) noexcept {
    return (x - each) & ~x & (each << 7);
  }
};

static_assert(tag_policy<scalar_tags>);

}  // namespace octep

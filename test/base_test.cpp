#include <octep/base.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <vector>

namespace octep {
namespace {

// All is constexpr: what the compiler evaluates has no undefined behaviour.
constexpr u8 wire[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
static_assert(load_be16(wire) == 0x0123);
static_assert(load_le16(wire) == 0x2301);
static_assert(load_be32(wire) == 0x0123'4567);
static_assert(load_le32(wire) == 0x6745'2301);
static_assert(load_be64(wire) == 0x0123'4567'89ab'cdef);
static_assert(sizeof(u8) == 1 && sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);
static_assert(u64(-1) > 0 && i64(-1) < 0 && i32(-1) < 0);

TEST(Base, LoadsNeedNoAlignment) {
  for (usize offset = 0; offset + 8 <= 16; ++offset) {
    u8 bytes[16]{};
    for (usize i = 0; i < 8; ++i) bytes[offset + i] = wire[i];
    EXPECT_EQ(load_be64(bytes + offset), 0x0123'4567'89ab'cdefU);
    EXPECT_EQ(load_le32(bytes + offset), 0x6745'2301U);
  }
}

RC_GTEST_PROP(Base, AStoreIsReadBackByItsOwnLoadAndTouchesNothingElse, (u64 value)) {
  u8 bytes[10];
  const auto clear = [&bytes] { std::fill(std::begin(bytes), std::end(bytes), u8{0xa5}); };
  const auto untouched_after = [&bytes](usize n) {
    for (usize i = n + 1; i < sizeof bytes; ++i)
      if (bytes[i] != 0xa5) return false;
    return bytes[0] == 0xa5;
  };
  clear();
  store_be16(bytes + 1, static_cast<u16>(value));
  RC_ASSERT(load_be16(bytes + 1) == static_cast<u16>(value));
  RC_ASSERT(untouched_after(2));
  clear();
  store_le16(bytes + 1, static_cast<u16>(value));
  RC_ASSERT(load_le16(bytes + 1) == static_cast<u16>(value));
  RC_ASSERT(untouched_after(2));
  clear();
  store_le32(bytes + 1, static_cast<u32>(value));
  RC_ASSERT(load_le32(bytes + 1) == static_cast<u32>(value));
  RC_ASSERT(untouched_after(4));
  clear();
  store_be64(bytes + 1, value);
  RC_ASSERT(load_be64(bytes + 1) == value);
  RC_ASSERT(untouched_after(8));
}

RC_GTEST_PROP(Base, TheBigEndianLoadIsTheSwappedLittleEndianOne, (u16 value)) {
  u8 bytes[2];
  store_le16(bytes, value);
  RC_ASSERT(load_be16(bytes) == swap_bytes(value));
  RC_ASSERT(swap_bytes(swap_bytes(value)) == value);
}

RC_GTEST_PROP(Base, BitsAgreeWithTheStandardLibrary, (u32 x, u8 by)) {
  RC_ASSERT(rotate_left(x, by) == std::rotl(x, by));
  // Shifted, so that every width is tried and not only the widest.
  const u64 y = (u64{x} << 31 | x) >> (by % 64);
  RC_ASSERT(bit_width(y) == static_cast<u32>(std::bit_width(y)));
  RC_ASSERT(is_power_of_two(y) == std::has_single_bit(y));
  RC_ASSERT(power_of_two_at_least(y) == std::bit_ceil(y));
}

TEST(Base, PowersOfTwoAtTheEdges) {
  EXPECT_EQ(bit_width(0), 0U);
  EXPECT_EQ(bit_width(63), 6U);
  EXPECT_EQ(bit_width(64), 7U);
  EXPECT_EQ(bit_width(~u64{0}), 64U);
  EXPECT_FALSE(is_power_of_two(0));
  EXPECT_TRUE(is_power_of_two(1));
  EXPECT_EQ(power_of_two_at_least(0), 1U);
  EXPECT_EQ(power_of_two_at_least(1), 1U);
  EXPECT_EQ(power_of_two_at_least(65'536), 65'536U);
  EXPECT_EQ(power_of_two_at_least(65'537), 131'072U);
  EXPECT_EQ(power_of_two_at_least(u64{1} << 63), u64{1} << 63);
}

TEST(Base, LeastAndGreatest) {
  EXPECT_EQ(least(2, 3), 2);
  EXPECT_EQ(least(3, 2), 2);
  EXPECT_EQ(greatest(2, 3), 3);
  EXPECT_EQ(greatest(3, 2), 3);
}

TEST(Base, ASpanIsAViewAndAnArrayAValue) {
  std::vector<int> owner{1, 2, 3};
  const span<int> view{owner.data(), owner.size()};
  view[1] = 7;
  EXPECT_EQ(owner[1], 7);
  int sum = 0;
  for (const int i : view) sum += i;
  EXPECT_EQ(sum, 11);
  EXPECT_FALSE(view.empty());
  EXPECT_TRUE(span<int>{}.empty());

  array<int, 3> a{1, 2, 3};
  const array<int, 3> copy = a;
  a[2] = 9;
  EXPECT_EQ(copy[2], 3);
  EXPECT_FALSE(a == copy);
  a[2] = 3;
  EXPECT_EQ(a, copy);
  EXPECT_EQ(a.size(), 3U);
  EXPECT_EQ(a.end() - a.begin(), 3);
}

static_assert(same_as<u32, unsigned int> && !same_as<u32, int> && !same_as<int, const int>);

}  // namespace
}  // namespace octep

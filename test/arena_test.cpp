#include <octep/arena.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

struct odd_sized {
  u8 bytes[5];
};

RC_GTEST_PROP(Arena, ArraysAreAlignedApartAndInsideTheBlock, ()) {
  const auto counts = *rc::gen::container<std::vector<u8>>(rc::gen::inRange<u8>(1, 50));
  usize needed = 0;
  for (const u8 n : counts) needed += arena::bytes_for<odd_sized>(n);
  test::block memory{needed};
  arena a = memory.cut();
  const u8* end_of_last = reinterpret_cast<const u8*>(memory.data());
  for (const u8 n : counts) {
    const span<odd_sized> taken = a.take<odd_sized>(n);
    RC_ASSERT(taken.size == n);
    const u8* const first = reinterpret_cast<const u8*>(taken.data);
    RC_ASSERT(reinterpret_cast<std::uintptr_t>(first) % arena::alignment == 0U);
    RC_ASSERT(first >= end_of_last);
    for (odd_sized& x : taken) x = {};  // AddressSanitizer looks on
    end_of_last = first + n * sizeof(odd_sized);
  }
  RC_ASSERT(a.left() == 0U);
}

TEST(Arena, WhatDoesNotFitIsEmptyAndTakesNothing) {
  test::block memory{128};
  arena a = memory.cut();
  EXPECT_TRUE(a.take<u8>(129).empty());
  EXPECT_TRUE(a.take<u32>(33).empty()) << "room for the count, but not for its bytes";
  EXPECT_EQ(a.left(), 128U);
  EXPECT_EQ(a.take<u8>(65).size, 65U);  // two lines
  EXPECT_EQ(a.left(), 0U);
  EXPECT_TRUE(a.take<u8>(1).empty());
}

TEST(Arena, AnArrayCostsWholeCacheLines) {
  static_assert(arena::bytes_for<u32>(0) == 0);
  static_assert(arena::bytes_for<u32>(1) == 64);
  static_assert(arena::bytes_for<u32>(16) == 64);
  static_assert(arena::bytes_for<u32>(17) == 128);
}

}  // namespace
}  // namespace octep

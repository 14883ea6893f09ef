#include "sim/pool.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace octep::sim {
namespace {

TEST(Pool, RecordsStayWhereTheyAre) {
  pool<u32> all;
  std::vector<u32*> at;
  for (u32 i = 0; i < 1'000; ++i) {
    ASSERT_EQ(all.add(), i);
    at.push_back(&all[i]);
    all[i] = i;
  }
  EXPECT_EQ(all.size(), 1'000U);
  for (u32 i = 0; i < 1'000; ++i) {
    ASSERT_EQ(&all[i], at[i]);
    ASSERT_EQ(all[i], i);
  }
}

TEST(Pool, WhatWasGivenBackComesFirstTheLastBeforeOthers) {
  pool<u32> all;
  for (u32 i = 0; i < 4; ++i) (void)all.take();
  all.give_back(1);
  all.give_back(2);
  EXPECT_EQ(all.take(), 2U);
  EXPECT_EQ(all.take(), 1U);
  EXPECT_EQ(all.take(), 4U);
  EXPECT_EQ(all.size(), 5U);
}

TEST(Pool, BeginsAnewOnceCleared) {
  pool<u32> all;
  all[all.take()] = 9;
  all.give_back(0);
  all.clear();
  EXPECT_EQ(all.size(), 0U);
  EXPECT_EQ(all.take(), 0U);
  EXPECT_EQ(all[0], 0U);
}

}  // namespace
}  // namespace octep::sim

#include "tools/recent.hpp"

#include <gtest/gtest.h>

namespace octep::tools {
namespace {

using table = recent<u32, u32, 4, 2>;

TEST(Recent, KnowsWhatItWasToldLast) {
  table t;
  EXPECT_EQ(t.find(1, 7), nullptr);
  t.put(1, 7, 70);
  t.put(2, 7, 71);
  EXPECT_EQ(*t.find(1, 7), 70U);
  EXPECT_EQ(*t.find(2, 7), 71U) << "another set";
  t.put(1, 7, 72);
  EXPECT_EQ(*t.find(1, 7), 72U);
}

TEST(Recent, AFullSetForgetsWhatItWasToldFirst) {
  table t;
  for (const u32 key : {1U, 2U}) t.put(0, key, key);
  t.put(0, 1, 10);  // known: takes no place
  t.put(4, 3, 3);   // the same set
  EXPECT_EQ(t.find(0, 1), nullptr);
  EXPECT_EQ(*t.find(0, 2), 2U);
  EXPECT_EQ(*t.find(0, 3), 3U);
}

}  // namespace
}  // namespace octep::tools

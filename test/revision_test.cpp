#include <octep/revision.hpp>

#include <gtest/gtest.h>

#include <set>

namespace octep {
namespace {

TEST(Revision, GoesRoundAllNumbersButZero) {
  std::set<u16> seen;
  u16 r = 0;
  for (u32 i = 0; i < 65'535; ++i) {
    r = next_revision(r);
    seen.insert(r);
  }
  EXPECT_EQ(seen.size(), 65'535U);
  EXPECT_FALSE(seen.contains(0));
  EXPECT_EQ(r, 65'535);
  EXPECT_EQ(next_revision(r), 1);
}

}  // namespace
}  // namespace octep

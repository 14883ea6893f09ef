#include "sim/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace octep::sim {
namespace {

TEST(Generator, ASeedIsAHistory) {
  generator a{7}, b{7};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

// A change here changes every committed history.
TEST(Generator, GoldenValues) {
  generator g{1};
  EXPECT_EQ(g.next(), 0x5858fc074ef2cb9cU);
  EXPECT_EQ(g.next(), 0xbcbb32585cbf0c0U);
  generator other{1, 2};
  EXPECT_EQ(other.next(), 0x5072f87657172324U);
}

TEST(Generator, StreamsAndSeedsDiffer) {
  std::set<u64> first;
  for (u64 seed = 0; seed < 100; ++seed)
    for (u64 stream = 0; stream < 10; ++stream) first.insert(generator{seed, stream}.next());
  EXPECT_EQ(first.size(), 1'000U);
}

TEST(Generator, BetweenReachesBothEndsAndNothingElse) {
  generator g{3};
  std::set<u64> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(g.between(5, 8));
  EXPECT_EQ(seen, (std::set<u64>{5, 6, 7, 8}));
  EXPECT_EQ(g.below(0), 0U);
  EXPECT_EQ(g.below(1), 0U);
}

TEST(Generator, IsEvenEnough) {
  generator g{4};
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += g.one_in(10) ? 1 : 0;
  EXPECT_NEAR(hits, 10'000, 400);  // four standard deviations
}

}  // namespace
}  // namespace octep::sim

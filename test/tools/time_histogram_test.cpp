#include "tools/time_histogram.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace octep::tools {
namespace {

TEST(TimeHistogram, HasNothingToSayWithoutSamples) {
  const time_histogram h;
  EXPECT_FALSE(h.percentile(50));
  EXPECT_TRUE(h.powers_of_two().empty());
}

TEST(TimeHistogram, ShowsPowersOfTwoOfMillisecondsWithoutGaps) {
  time_histogram h;
  for (const u64 us : {999U, 1'000U, 1'999U, 2'000U, 15'999U, 16'000U}) h.add(us);
  const std::vector<time_histogram::bucket> expected{{0, 1, 1}, {1, 2, 2}, {2, 4, 1}, {4, 8, 0}, {8, 16, 1}, {16, 32, 1}};
  EXPECT_EQ(h.powers_of_two(), expected);
}

TEST(TimeHistogram, BeginsAndEndsWhereSamplesAre) {
  time_histogram h;
  h.add(300'000);
  const std::vector<time_histogram::bucket> expected{{256, 512, 1}};
  EXPECT_EQ(h.powers_of_two(), expected);
}

TEST(TimeHistogram, SurvivesTheLargestDuration) {
  time_histogram h;
  h.add(~u64{0});
  EXPECT_EQ(h.powers_of_two().back().count, 1U);
  EXPECT_EQ(*h.percentile(50), ~u64{0});
}

RC_GTEST_PROP(TimeHistogram, PercentilesAreThoseOfTheSortedSamplesWithinAStep, ()) {
  const auto bits = *rc::gen::inRange<u32>(1, 50);
  const auto samples = *rc::gen::nonEmpty(rc::gen::container<std::vector<u64>>(rc::gen::inRange<u64>(0, u64{1} << bits)));
  time_histogram h;
  for (const u64 us : samples) h.add(us);
  std::vector<u64> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  for (const u64 percent : {0U, 1U, 50U, 99U, 100U}) {
    const usize rank = std::max<usize>(1, (sorted.size() * percent + 99) / 100);
    const u64 exact = sorted[rank - 1];
    const u64 said = *h.percentile(percent);
    RC_ASSERT(said >= exact);
    RC_ASSERT(said <= sorted.back());
    RC_ASSERT(said - exact <= exact / 128);
    if (exact < 256) RC_ASSERT(said == exact);
  }
}

}  // namespace
}  // namespace octep::tools

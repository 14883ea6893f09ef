#include <octep/hot_table.hpp>

#include "test/spread.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace octep {
namespace {

struct sized_table {
  using cell = hot_table<>::cell;

  explicit sized_table(usize buckets) : cells{std::make_unique<cell[]>(buckets)} { table.init({cells.get(), buckets}); }

  std::unique_ptr<cell[]> cells;
  hot_table<> table;
};

TEST(HotTable, AFreshTableKnowsNobody) {
  sized_table t{64};
  for (u32 i = 0; i < 64; ++i) EXPECT_FALSE(t.table.perhaps(i << 26));
}

TEST(HotTable, InitForgetsWhatTheMemoryHeld) {
  const auto cells = std::make_unique<hot_table<>::cell[]>(4);
  for (usize i = 0; i < 4; ++i) cells[i].store_relaxed(7);
  hot_table<> table;
  table.init({cells.get(), 4});
  for (u32 i = 0; i < 4; ++i) EXPECT_FALSE(table.perhaps(i << 30));
}

TEST(HotTable, ATupleIsHotWhileAnyoneHoldsItsBucket) {
  sized_table t{64};
  const u32 one = 0x1000'0000;
  const u32 neighbour = 0x1000'0001;  // another tuple, the same bucket
  const u32 stranger = 0x1400'0000;   // the next bucket
  t.table.add(one);
  t.table.add(neighbour);
  EXPECT_TRUE(t.table.perhaps(one));
  EXPECT_FALSE(t.table.perhaps(stranger));
  t.table.remove(one);
  EXPECT_TRUE(t.table.perhaps(one));
  t.table.remove(neighbour);
  EXPECT_FALSE(t.table.perhaps(one));
}

TEST(HotTable, OneBucketHoldsEverybody) {
  sized_table t{1};
  t.table.add(0xffff'ffff);
  EXPECT_TRUE(t.table.perhaps(0));
  t.table.remove(0x1234'5678);
  EXPECT_FALSE(t.table.perhaps(0));
}

TEST(HotTable, ACountThatIsFullStays) {
  sized_table t{64};
  for (int i = 0; i < 254; ++i) t.table.add(0);
  for (int i = 0; i < 254; ++i) t.table.remove(0);
  EXPECT_FALSE(t.table.perhaps(0)) << "254 can still be counted down";
  for (int i = 0; i < 300; ++i) t.table.add(0);
  for (int i = 0; i < 300; ++i) t.table.remove(0);
  EXPECT_TRUE(t.table.perhaps(0)) << "nobody knows any more how many there were";
  EXPECT_FALSE(t.table.perhaps(1U << 26));
}

TEST(HotTable, TakingOutWhatNeverWentInDoesNotWrap) {
  sized_table t{2};
  t.table.remove(0);
  EXPECT_FALSE(t.table.perhaps(0));
  t.table.add(0);
  EXPECT_TRUE(t.table.perhaps(0));
}

TEST(HotTable, IsSizedByWhatCanBeHeld) {
  EXPECT_EQ(hot_table<>::buckets_for(1'022), hot_table<>::recorded_buckets);
  EXPECT_EQ(hot_table<>::buckets_for(1'024), 65'536U);
  EXPECT_EQ(hot_table<>::buckets_for(1'025), 131'072U);
  EXPECT_EQ(hot_table<>::buckets_for(65'536), 4'194'304U);
  EXPECT_EQ(hot_table<>::buckets_for(2'000'000), 134'217'728U);
  EXPECT_EQ(hot_table<>::buckets_for(0), 1U);
}

RC_GTEST_PROP(HotTable, TwoTimesThirtyTwoBucketsAConnectionAndNotFourTimes, ()) {
  const usize connections = *rc::gen::inRange<usize>(1, usize{1} << 26);
  const usize buckets = hot_table<>::buckets_for(connections);
  RC_ASSERT(is_power_of_two(buckets));
  RC_ASSERT(buckets >= 64 * connections);
  RC_ASSERT(buckets < 128 * connections);
}

// The model: the multiset of hashes that are in, and the buckets that once held 255 of them.
RC_GTEST_PROP(HotTable, SaysPerhapsExactlyWhereTheMultisetHasSomebody, ()) {
  const u32 bits = *rc::gen::inRange<u32>(0, 5);
  sized_table t{usize{1} << bits};
  std::multiset<u32> held;
  std::set<u32> full;
  const auto in_bucket = [&](u32 bucket) {
    return std::count_if(held.begin(), held.end(), [&](u32 h) { return top_bits(h, bits) == bucket; });
  };
  const int steps = *rc::gen::inRange(0, 200);
  for (int i = 0; i < steps; ++i) {
    const bool in = held.empty() || *rc::gen::weightedElement<bool>({{3, true}, {2, false}});
    if (in) {
      const u32 hash = *rc::gen::inRange<u32>(0, 64) << 26;
      const int times = *rc::gen::weightedElement<int>({{9, 1}, {1, 120}});
      for (int k = 0; k < times; ++k) held.insert(hash), t.table.add(hash);
      if (in_bucket(top_bits(hash, bits)) >= 255) full.insert(top_bits(hash, bits));
    } else {
      const auto gone = std::next(held.begin(), *rc::gen::inRange<long>(0, static_cast<long>(held.size())));
      t.table.remove(*gone);
      held.erase(gone);
    }
    for (u32 bucket = 0; bucket < (1U << bits); ++bucket) {
      const u32 hash = static_cast<u32>((u64{bucket} << 32) >> bits);
      RC_ASSERT(t.table.perhaps(hash) == (full.contains(bucket) || in_bucket(bucket) > 0));
    }
  }
}

// --- the record's shares (R21) ----------------------------------------------------------------------------------------

// The share of buckets that `tuples` draws of a random function leave empty, taken from one.
double share_by_arithmetic(usize tuples, usize buckets) {
  return 1 - std::pow(1 - 1 / static_cast<double>(buckets), static_cast<double>(tuples));
}

double share_by_measurement(usize connections, usize buckets) {
  sized_table t{buckets};
  const keyed_mix hash;
  std::mt19937_64 random{17};
  tuple4 tuple;
  for (usize i = 0; i < connections; ++i) {
    spread::draw(tuple, random);
    t.table.add(hash(tuple));
    t.table.add(hash(reverse(tuple)));
  }
  constexpr int strangers = 200'000;
  int perhaps = 0;
  for (int i = 0; i < strangers; ++i) {
    spread::draw(tuple, random);
    perhaps += t.table.perhaps(hash(tuple));
  }
  return perhaps / double{strangers};
}

struct recorded_share {
  usize connections;
  usize buckets;
  double recorded;  // what the record says, in its own words a fraction
  double within;
};

class HotTableShares : public testing::TestWithParam<recorded_share> {};

TEST_P(HotTableShares, OfStrangersReadAsPerhapsAreTheRecordedOnes) {
  const recorded_share& r = GetParam();
  const double calculated = share_by_arithmetic(2 * r.connections, r.buckets);
  EXPECT_NEAR(calculated, r.recorded, r.within);
  EXPECT_NEAR(share_by_measurement(r.connections, r.buckets), calculated, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Record, HotTableShares,
                         testing::Values(recorded_share{500, 4'096, 1.0 / 5, 0.05},     // "one in five"
                                         recorded_share{1'000, 4'096, 2.0 / 5, 0.05},   // "two in five"
                                         recorded_share{1'000, 65'536, 0.03, 0.005},    // "three in a hundred"
                                         recorded_share{500, 65'536, 0.015, 0.005}));   // half of them, ours

TEST(HotTable, KeepsThatShareAtEverySizeWhereTheRecordedOneFiltersNothing) {
  for (const usize connections : {usize{1'022}, usize{65'536}, usize{2'000'000}}) {
    EXPECT_LT(share_by_arithmetic(2 * connections, hot_table<>::buckets_for(connections)), 0.032) << connections;
  }
  EXPECT_GT(share_by_arithmetic(4'000'000, hot_table<>::recorded_buckets), 0.9999);
  EXPECT_LT(share_by_measurement(65'536, hot_table<>::buckets_for(65'536)), 0.035);
}

// --- rings read while a pass writes -------------------------------------------------------------------------------------

TEST(HotTable, ARingNeverMissesATupleThatStaysHeld) {
  sized_table t{64};
  const u32 held = 0x8000'0000;
  const u32 neighbour = 0x8000'0001;
  t.table.add(held);
  std::atomic<bool> done{false};
  std::thread pass{[&] {
    for (int i = 0; i < 50'000; ++i) t.table.add(neighbour), t.table.remove(neighbour);
    done = true;
  }};
  bool missed = false;
  while (!done) missed = missed || !t.table.perhaps(held);
  pass.join();
  EXPECT_FALSE(missed);
}

}  // namespace
}  // namespace octep

#include <octep/histograms.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace octep {
namespace {

event told(event_kind kind, u64 at_us) {
  event e;
  e.kind = kind;
  e.at = {at_us};
  return e;
}
event of_connection(event_kind kind, u64 at_us, handle h, instant first_seen = never) {
  event e = told(kind, at_us);
  e.connection = h;
  e.first_seen = first_seen;
  return e;
}
event of_command(event_kind kind, u64 at_us, u64 tag) {
  event e = told(kind, at_us);
  e.tag = tag;
  return e;
}

TEST(Histogram, BucketsFollowEachOtherWithoutAGap) {
  using h = histogram<8>;
  EXPECT_EQ(h::low(0), 0U);
  for (u32 b = 0; b + 1 < h::buckets; ++b) EXPECT_EQ(h::high(b) + 1, h::low(b + 1)) << b;
  EXPECT_EQ(h::high(h::buckets - 1), ~u64{0});
  using widest = histogram<65>;
  for (u32 b = 0; b + 1 < widest::buckets; ++b) EXPECT_EQ(widest::high(b) + 1, widest::low(b + 1)) << b;
}

RC_GTEST_PROP(HistogramModel, AValueIsCountedInTheOneBucketThatHoldsIt, ()) {
  const auto values = *rc::gen::container<std::vector<u64>>(
      rc::gen::oneOf(rc::gen::arbitrary<u64>(), rc::gen::inRange<u64>(0, 40), rc::gen::just(~u64{0})));
  histogram<12> h;
  for (const u64 v : values) h.add(v);
  u64 sum = 0;
  h.each([&](u64 low, u64 high, u64 count) {
    u64 expected = 0;
    for (const u64 v : values) expected += low <= v && v <= high;
    RC_ASSERT(count == expected);
    sum += count;
  });
  RC_ASSERT(sum == values.size());
  RC_ASSERT(h.total() == sum);
}

TEST(Histograms, MeasureFromTheFirstPuntedFrameToTheMake) {
  histograms h;
  h(of_connection(event_kind::made, 1'100, {1, 1}, instant{1'000}));
  h(of_connection(event_kind::made, 1'100, {2, 1}, instant{1'100}));
  EXPECT_EQ(h.punt_to_make().count(histograms::times::bucket_of(100)), 1U);
  EXPECT_EQ(h.punt_to_make().count(0), 1U);
  EXPECT_EQ(h.punt_to_make().total(), 2U);
}

TEST(Histograms, AnEndWithoutItsBeginIsCountedApart) {
  histograms h;
  h(of_connection(event_kind::made, 1'100, {1, 1}));
  h(of_connection(event_kind::revived, 1'100, {1, 1}));
  h(of_command(event_kind::command_answered, 1'100, 3));
  EXPECT_EQ(h.unmatched(), 3U);
  h.each([](const char* name, const histograms::times& t) { EXPECT_EQ(t.total(), 0U) << name; });
}

TEST(Histograms, MeasureFromTheGiveBackToTheRevivalOfTheSameUse) {
  histograms h;
  h(of_connection(event_kind::given_back, 1'000, {1, 1}));
  h(of_connection(event_kind::revived, 1'030, {1, 2}));
  EXPECT_EQ(h.unmatched(), 1U);
  h(of_connection(event_kind::revived, 1'030, {1, 1}));
  h(of_connection(event_kind::revived, 1'030, {1, 1}));
  EXPECT_EQ(h.unmatched(), 2U);
  EXPECT_EQ(h.back_to_revived().count(histograms::times::bucket_of(30)), 1U);
  // The frame that asked for the read is where it began, if it is known.
  h(of_connection(event_kind::given_back, 2'000, {1, 1}, instant{1'000}));
  h(of_connection(event_kind::revived, 2'030, {1, 1}));
  EXPECT_EQ(h.back_to_revived().count(histograms::times::bucket_of(1'030)), 1U);
}

TEST(Histograms, MeasureTheWaitOfACommandLateOrNot) {
  histograms h;
  h(of_command(event_kind::command_posted, 1'000, 1));
  h(of_command(event_kind::command_unanswered, 2'001'000, 1));
  h(of_command(event_kind::command_answered, 3'001'000, 1));
  EXPECT_EQ(h.command_wait().count(histograms::times::bucket_of(3'000'000)), 1U);
  for (const event_kind end : {event_kind::far_side_reset, event_kind::far_side_gone}) {
    h(of_command(event_kind::command_posted, 1'000, 2));
    h(told(end, 1'100));
    h(of_command(event_kind::command_answered, 1'200, 2));
  }
  EXPECT_EQ(h.command_wait().total(), 1U);
  EXPECT_EQ(h.unmatched(), 2U);
}

TEST(Histograms, HaveStableNamesAndCanBeginAnew) {
  histograms h;
  h(of_command(event_kind::command_posted, 1'000, 1));
  h(of_command(event_kind::command_answered, 1'025, 1));
  std::map<std::string, u64> totals;
  h.each([&](const char* name, const histograms::times& t) { totals[name] = t.total(); });
  EXPECT_EQ(totals, (std::map<std::string, u64>{{"punt_to_make_us", 0}, {"back_to_revived_us", 0}, {"command_wait_us", 1}}));
  h.clear();
  EXPECT_EQ(h.command_wait().total(), 0U);
}

}  // namespace
}  // namespace octep

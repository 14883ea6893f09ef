#include <octep/backoff.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

namespace octep {
namespace {

constexpr backoff_times revive{from_ms(10), from_ms(500), from_ms(1'000)};
constexpr backoff_times hold{from_s(1), from_s(60), from_s(10)};

// The waits, in milliseconds, of somebody who comes back the moment each is over.
std::vector<u64> waits(const backoff_times& times, int how_many) {
  backoff b;
  instant now = instant{} + from_s(100);
  std::vector<u64> found;
  for (int i = 0; i < how_many; ++i) {
    const instant end = b.next(now, times);
    found.push_back(end.since(now).count / 1000);
    now = end;
  }
  return found;
}

TEST(Backoff, AReviveWaitsTenMillisecondsDoublingToFiveHundred) {
  EXPECT_EQ(waits(revive, 9), (std::vector<u64>{10, 20, 40, 80, 160, 320, 500, 500, 500}));
}

TEST(Backoff, AHoldWaitsASecondDoublingToAMinute) {
  EXPECT_EQ(waits(hold, 9), (std::vector<u64>{1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000, 60'000}));
}

TEST(Backoff, StartsAtRest) {
  const backoff b;
  EXPECT_EQ(b.level(), 0);
  EXPECT_FALSE(b.waiting(instant{}));
  EXPECT_TRUE(b.rested(instant{}, revive));
}

TEST(Backoff, TheWaitEndsAtItsEndAndNotBefore) {
  backoff b;
  const instant now = instant{} + from_s(1);
  const instant end = b.next(now, revive);
  EXPECT_EQ(end, now + from_ms(10));
  EXPECT_EQ(b.until(), end);
  EXPECT_TRUE(b.waiting(now));
  EXPECT_TRUE(b.waiting(instant{end.us - 1}));
  EXPECT_FALSE(b.waiting(end));
}

TEST(Backoff, PeaceIsCountedFromTheEndOfTheWait) {
  const instant start = instant{} + from_s(1);
  for (const u64 early : {u64{0}, u64{1}}) {
    backoff b;
    const instant end = b.next(start, revive);
    const instant again{end.us + revive.peace.count - early};
    EXPECT_EQ(b.rested(again, revive), early == 0);
    EXPECT_EQ(b.next(again, revive).since(again), early == 0 ? from_ms(10) : from_ms(20));
    EXPECT_EQ(b.level(), early == 0 ? 1 : 2);
  }
}

TEST(Backoff, PeaceCanBeCountedFromALaterEvent) {
  backoff b;
  const instant end = b.next(instant{} + from_s(1), hold);
  // Idle for an hour after the hold, then made, then given back before the make has lasted its ten seconds.
  const instant made = end + from_s(3'600);
  const instant given_back = made + from_s(9);
  EXPECT_EQ(b.next(given_back, hold, made).since(given_back), from_s(2));
  // The next make lasts.
  const instant made_again = b.until();
  const instant over = made_again + from_s(10);
  EXPECT_EQ(b.next(over, hold, made_again).since(over), from_s(1));
}

TEST(Backoff, AnEarlierEventDoesNotShortenThePeace) {
  backoff b;
  const instant end = b.next(instant{} + from_s(100), hold);
  const instant soon = end + from_s(9);
  EXPECT_EQ(b.next(soon, hold, instant{}).since(soon), from_s(2));
}

TEST(Backoff, AskedAgainInsideAWaitItDoubles) {
  backoff b;
  const instant now = instant{} + from_s(1);
  EXPECT_EQ(b.next(now, hold), now + from_s(1));
  EXPECT_EQ(b.next(now, hold), now + from_s(2));
  EXPECT_EQ(b.level(), 2);
}

TEST(Backoff, TheLevelStopsWhereTheWaitIsTheLongest) {
  backoff b;
  instant now = instant{} + from_s(1);
  for (int i = 0; i < 1'000; ++i) now = b.next(now, revive);
  EXPECT_EQ(b.level(), 7);
  // A longer limit is approached by doubling, not by a leap over everything that was asked before.
  const backoff_times longer{revive.least, from_s(60), revive.peace};
  EXPECT_EQ(b.next(now, longer).since(now), from_ms(1'280));
}

TEST(Backoff, AShorterLimitHoldsAtOnce) {
  backoff b;
  instant now = instant{} + from_s(1);
  for (int i = 0; i < 5; ++i) now = b.next(now, hold);
  const backoff_times shorter{hold.least, from_s(2), hold.peace};
  EXPECT_EQ(b.next(now, shorter).since(now), from_s(2));
}

TEST(Backoff, ALeastWaitAboveTheLongestIsTheLongest) {
  const backoff_times crossed{from_ms(500), from_ms(20), from_s(1)};
  EXPECT_EQ(waits(crossed, 3), (std::vector<u64>{20, 20, 20}));
}

TEST(Backoff, NothingWrapsAtTheEndOfTime) {
  constexpr u64 most = std::numeric_limits<u64>::max();
  backoff b;
  const backoff_times endless{{most / 2 + 1}, {most}, {most}};
  EXPECT_EQ(b.next(instant{10}, endless), (instant{most / 2 + 11}));
  EXPECT_EQ(b.next(instant{20}, endless), never);
  EXPECT_EQ(b.next(instant{most - 1}, endless), never);
  EXPECT_EQ(b.level(), 2);

  backoff slow;
  const backoff_times one{{1}, {most}, {most}};
  instant last{};
  for (int i = 0; i < 200; ++i) {
    const instant end = slow.next(instant{}, one);
    ASSERT_LE(last, end);
    last = end;
  }
  EXPECT_EQ(last, never);
  EXPECT_LE(slow.level(), backoff::highest_level);
}

TEST(Backoff, ResetIsRest) {
  backoff b;
  (void)b.next(instant{} + from_s(1), hold);
  b.reset();
  EXPECT_EQ(b.level(), 0);
  EXPECT_EQ(b.until(), instant{});
}

// The rule in the words of the behaviour: a wait after peace is the least, any other is twice the last, up to the most.
RC_GTEST_PROP(Backoff, FollowsTheRule, ()) {
  const u64 least = *rc::gen::inRange<u64>(0, 50);
  const u64 most = *rc::gen::inRange<u64>(0, 2'000);
  const u64 peace = *rc::gen::inRange<u64>(0, 3'000);
  const backoff_times times{{least}, {most}, {peace}};
  backoff b;
  u64 now = *rc::gen::inRange<u64>(0, 100'000);
  u64 wait = 0;
  u64 end = 0;
  bool first = true;
  for (const u64 step : *rc::gen::container<std::vector<u64>>(rc::gen::inRange<u64>(0, 4'000))) {
    now += step;
    const bool calm = now >= end + peace;
    wait = first || calm ? least : 2 * wait;
    if (wait > most) wait = most;
    end = now + wait;
    first = false;
    RC_ASSERT(b.next({now}, times) == instant{end});
    RC_ASSERT(b.level() >= 1);
    RC_ASSERT(backoff::wait_of(b.level(), times) == microseconds{wait});
    RC_ASSERT(b.waiting({now}) == (wait > 0));
  }
}

RC_GTEST_PROP(Backoff, NoWaitIsBelowZeroOrAboveTheLongest, (u64 least, u64 most, u64 peace, std::vector<u64> moments)) {
  const backoff_times times{{least}, {most}, {peace}};
  backoff b;
  for (const u64 now : moments) {
    const instant end = b.next({now}, times);
    RC_ASSERT(instant{now} <= end);
    RC_ASSERT(end.since({now}) <= times.most);
    RC_ASSERT(b.level() >= 1);
    RC_ASSERT(b.level() <= backoff::highest_level);
  }
}

}  // namespace
}  // namespace octep

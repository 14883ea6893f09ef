#include "sim/event_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace octep::sim {
namespace {

TEST(EventQueue, RunsWhatIsDueAndStopsThere) {
  event_queue q;
  std::string ran;
  q.at({20}, [&](instant) { ran += 'b'; });
  q.at({10}, [&](instant) { ran += 'a'; });
  q.at({21}, [&](instant) { ran += 'c'; });
  EXPECT_EQ(q.next_time(), instant{10});
  q.run_until({20});
  EXPECT_EQ(ran, "ab");
  EXPECT_EQ(q.now(), instant{20});
  EXPECT_EQ(q.next_time(), instant{21});
}

TEST(EventQueue, TimePassesWithoutEvents) {
  event_queue q;
  q.run_until({5});
  EXPECT_EQ(q.now(), instant{5});
  EXPECT_EQ(q.next_time(), never);
  q.run_until({3});
  EXPECT_EQ(q.now(), instant{5}) << "time never goes back";
}

TEST(EventQueue, AnEventInThePastHappensNow) {
  event_queue q;
  q.run_until({100});
  instant ran_at{};
  q.at({50}, [&](instant now) { ran_at = now; });
  q.run_until({100});
  EXPECT_EQ(ran_at, instant{100});
}

TEST(EventQueue, WhatAnEventSchedulesForNowRunsInTheSameCallAndLast) {
  event_queue q;
  std::string ran;
  q.at({10}, [&](instant now) {
    ran += 'a';
    q.at(now, [&](instant) { ran += 'c'; });
  });
  q.at({10}, [&](instant) { ran += 'b'; });
  q.run_until({10});
  EXPECT_EQ(ran, "abc");
}

// Against a list that is sorted by time and never reorders equals.
RC_GTEST_PROP(EventQueueProperty, EqualTimesKeepTheOrderOfInsertion, (const std::vector<u8>& times)) {
  event_queue q;
  std::vector<std::pair<u64, usize>> model, ran;
  for (usize i = 0; i < times.size(); ++i) {
    const u64 at = times[i] % 4U;
    model.emplace_back(at, i);
    q.at({at}, [&ran, i](instant now) { ran.emplace_back(now.us, i); });
  }
  std::stable_sort(model.begin(), model.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  q.run_dry();
  RC_ASSERT(ran == model);
  RC_ASSERT(q.empty());
}

}  // namespace
}  // namespace octep::sim

#include "test/scheduled_atomics.hpp"

#include <gtest/gtest.h>

#include <octep/slot_word.hpp>

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace octep::test {
namespace {

using atomics = scheduled_atomics<>;
constexpr u64 enough = 1'000'000;

// n accesses by each of the threads.
exploration count_interleavings(const std::vector<unsigned>& accesses) {
  return explore(
      [&] {
        auto cell = std::make_shared<atomics::cell<u32>>();
        scenario s;
        for (const unsigned n : accesses)
          s.threads.push_back([cell, n] {
            for (unsigned i = 0; i < n; ++i) cell->store_relaxed(i);
          });
        s.check = [] { return std::string{}; };
        return s;
      },
      enough);
}

// Known numbers: the ways to shuffle sequences together.
u64 shuffles(const std::vector<unsigned>& lengths) {
  u64 ways = 1;
  unsigned placed = 0;
  for (const unsigned n : lengths)
    for (unsigned i = 1; i <= n; ++i) ways = ways * ++placed / i;
  return ways;
}

TEST(Scheduler, GoesThroughEveryInterleavingOnce) {
  for (const auto& accesses :
       std::vector<std::vector<unsigned>>{{1}, {5}, {1, 1}, {2, 3}, {4, 4}, {1, 1, 1}, {2, 2, 2}, {3, 1, 2, 1}}) {
    const exploration e = count_interleavings(accesses);
    EXPECT_TRUE(e.complete);
    EXPECT_EQ(e.interleavings, shuffles(accesses));
  }
}

TEST(Scheduler, ReachesEveryOrderOfAccesses) {
  std::set<std::string> seen;
  const exploration e = explore(
      [&] {
        struct shared {
          atomics::cell<u32> cell;
          std::string order;
        };
        auto state = std::make_shared<shared>();
        scenario s;
        for (const char name : {'a', 'b'})
          s.threads.push_back([state, name] {
            for (int i = 0; i < 3; ++i) {
              state->cell.store_relaxed(0);
              state->order += name;
            }
          });
        s.check = [&seen, state] { return seen.insert(state->order), std::string{}; };
        return s;
      },
      enough);
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(seen.size(), shuffles({3, 3}));
}

template <class Step>
exploration two_count_to_two(Step step) {
  return explore(
      [step] {
        auto cell = std::make_shared<atomics::cell<u32>>();
        scenario s;
        for (int i = 0; i < 2; ++i) s.threads.push_back([cell, step] { step(*cell); });
        s.check = [cell] { return cell->load_relaxed() == 2 ? std::string{} : "one was lost"; };
        return s;
      },
      enough);
}

TEST(Scheduler, FindsTheLostUpdate) {
  const exploration e = two_count_to_two([](atomics::cell<u32>& c) { c.store_relaxed(c.load_relaxed() + 1); });
  EXPECT_EQ(e.wrong, 1U);
  EXPECT_FALSE(e.first_wrong.empty());
}

TEST(Scheduler, FindsNoFaultWhereThereIsNone) {
  const exploration e = two_count_to_two([](atomics::cell<u32>& c) {
    u32 seen = c.load_relaxed();
    while (!c.compare_exchange_relaxed(seen, seen + 1)) {  // at most one other: at most one more turn
    }
  });
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.wrong, 0U) << e.first_wrong;
}

TEST(Scheduler, StopsAtItsLimit) {
  const exploration e = explore(
      [] {
        auto cell = std::make_shared<atomics::cell<u32>>();
        scenario s;
        for (int i = 0; i < 3; ++i)
          s.threads.push_back([cell] {
            for (int k = 0; k < 6; ++k) cell->store_relaxed(0);
          });
        s.check = [] { return std::string{}; };
        return s;
      },
      1'000);
  EXPECT_FALSE(e.complete);
  EXPECT_EQ(e.interleavings, 1'000U);
}

// The word, with a guarded value that two threads count up: each either gets in and counts, or does not and says so.
template <atomics_fault Fault>
exploration a_word_guards_a_count() {
  using faulty = scheduled_atomics<Fault>;
  return explore(
      [] {
        struct shared {
          slot_word<faulty> word;
          guarded<u32, faulty> count{};
          u32 entered = 0;
        };
        auto state = std::make_shared<shared>();
        scenario s;
        for (int i = 0; i < 2; ++i)
          s.threads.push_back([state] {
            const word_hold<faulty> hold{state->word};
            if (!hold) return;
            ++state->entered;
            state->count = state->count + 1;
          });
        s.check = [state]() -> std::string {
          return state->count == state->entered ? "" : "a count was lost under the word";
        };
        return s;
      },
      enough, false);
}

TEST(ScheduledWord, LosesNothing) {
  const exploration e = a_word_guards_a_count<atomics_fault::none>();
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.wrong, 0U) << e.first_wrong;
  std::printf("two threads, one word: %llu interleavings\n", static_cast<unsigned long long>(e.interleavings));
  EXPECT_GT(e.interleavings, 5U);
}

TEST(ScheduledWord, AWordThatKeepsNobodyOutIsCaught) {
  const exploration e = a_word_guards_a_count<atomics_fault::try_always_succeeds>();
  EXPECT_TRUE(e.complete);
  EXPECT_GT(e.wrong, 0U);
}

TEST(ScheduledWord, AReleaseThatRunsAheadIsCaught) {
  const exploration e = a_word_guards_a_count<atomics_fault::release_runs_ahead>();
  EXPECT_TRUE(e.complete);
  EXPECT_GT(e.wrong, 0U);
}

}  // namespace
}  // namespace octep::test

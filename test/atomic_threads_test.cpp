// The orders of a cell with real threads; ThreadSanitizer is the judge of the plain data that they publish.
#include <octep/atomic.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace octep {
namespace {

constexpr u32 rounds = 20'000;
constexpr u32 threads = 4;

template <class Body>
void in_threads(u32 n, Body body) {
  std::vector<std::thread> all;
  for (u32 i = 0; i < n; ++i) all.emplace_back(body, i);
  for (std::thread& t : all) t.join();
}

// The slot's word in small: taken by an exchange, given back by a release.
TEST(AtomicThreads, AWordTakenWithAcquireAndGivenBackWithReleaseGuardsPlainData) {
  builtin_atomics::cell<u32> word;
  u64 guarded = 0;
  in_threads(threads, [&](u32) {
    for (u32 i = 0; i < rounds; ++i) {
      while (word.exchange_acquire(1) != 0) std::this_thread::yield();
      ++guarded;
      word.store_release(0);
    }
  });
  EXPECT_EQ(guarded, u64{threads} * rounds);
}

// The kick in small, there and back: whoever clears a flag sees what was written before it was set.
TEST(AtomicThreads, TheExchangeThatClearsAFlagSeesWhatWasWrittenBefore) {
  builtin_atomics::cell<u32> kicked;
  builtin_atomics::cell<u32> done;
  u32 plain = 0;
  u32 right = 0;
  const auto wait_and_clear = [](builtin_atomics::cell<u32>& flag) {
    while (flag.exchange_acq_rel(0) == 0) std::this_thread::yield();
  };
  in_threads(2, [&](u32 who) {
    for (u32 i = 1; i <= rounds; ++i) {
      if (who == 0) {
        plain = i;
        kicked.store_release(1);
        wait_and_clear(done);
      } else {
        wait_and_clear(kicked);
        if (plain == i) ++right;
        done.store_release(1);
      }
    }
  });
  EXPECT_EQ(right, rounds);
}

TEST(AtomicThreads, ANumberThatGuardsOnlyItselfLosesNoUpdate) {
  builtin_atomics::cell<u32> number;
  in_threads(threads, [&](u32) {
    for (u32 i = 0; i < rounds; ++i) {
      u32 seen = number.load_relaxed();
      while (!number.compare_exchange_relaxed(seen, seen + 1)) {
      }
    }
  });
  EXPECT_EQ(number.load_relaxed(), threads * rounds);
}

}  // namespace
}  // namespace octep

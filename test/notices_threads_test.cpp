// Real threads tell, a worker that is kicked listens. Each teller writes down what changed with plain stores before it tells;
// the worker reads that with plain loads after it took the notice. What it knows at the end is all that there is to know.
#include <octep/notices.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

namespace octep {
namespace {

constexpr u32 tellers = 4;
constexpr u32 changes = 50'000;

TEST(NoticesThreads, TheWorkerKnowsOfEveryChangeAtTheEnd) {
  struct teller {
    std::array<u32, changes + 1> log{};       // plain: [n] is written once, before n is told
    alignas(64) std::atomic<u32> latest{0};   // what a worker finds that asks about everybody
  };
  using box_type = notices<16>;
  const auto box = std::make_unique<box_type>();
  const auto all = std::make_unique<std::array<teller, tellers>>();
  std::counting_semaphore<> kick{0};
  std::atomic<u32> telling{tellers};

  std::vector<std::thread> threads;
  for (u32 t = 0; t < tellers; ++t)
    threads.emplace_back([&, t] {
      teller& me = (*all)[t];
      for (u32 n = 1; n <= changes; ++n) {
        me.log[n] = n * 7 + t;
        me.latest.store(n, std::memory_order_relaxed);
        if (box->post_gone(tuple4::make(t, n, n ^ t, protocol::tcp))) kick.release();
        if (n % 64 == 0) std::this_thread::yield();
      }
      --telling;
      kick.release();
    });

  std::array<u32, tellers> known{};
  u64 taken = 0;
  u64 overflows = 0;
  u64 torn = 0;
  const auto learn = [&](u32 t, u32 n) {
    torn += (*all)[t].log[n] != n * 7 + t;
    known[t] = greatest(known[t], n);
  };
  const auto listen = [&] {
    for (notice n; box->take(n); ++taken) {
      torn += n.kind != notice_kind::state_gone || n.v4.source >= tellers || n.v4.destination > changes ||
              n.v4.ports != (n.v4.destination ^ n.v4.source);
      if (torn == 0) learn(n.v4.source, n.v4.destination);
    }
    if (box->take_overflow()) {
      ++overflows;
      for (u32 t = 0; t < tellers; ++t) {
        // The log may be ahead of the notice: relaxed values are only compared, never followed.
        known[t] = greatest(known[t], (*all)[t].latest.load(std::memory_order_relaxed));
      }
    }
  };
  u64 passes = 0;
  while (telling.load() != 0) {
    kick.acquire();
    listen();
    ++passes;
  }
  for (std::thread& t : threads) t.join();
  while (kick.try_acquire()) listen();

  EXPECT_EQ(torn, 0U);
  for (u32 t = 0; t < tellers; ++t) EXPECT_EQ(known[t], changes) << t;
  EXPECT_FALSE(box->any());
  EXPECT_GT(taken, 0U);
  std::printf("%u changes told, %llu taken, %llu overflows, %llu passes\n", tellers * changes,
              static_cast<unsigned long long>(taken), static_cast<unsigned long long>(overflows),
              static_cast<unsigned long long>(passes));
}

}  // namespace
}  // namespace octep

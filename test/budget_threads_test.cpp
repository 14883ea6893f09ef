#include <octep/budget.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <thread>
#include <vector>

namespace octep {
namespace {

// Spenders and a refiller at once. Every unit that was ever filled in is spent once or comes back unspent.
TEST(SharedBudgetThreads, NothingIsOverspentOrLostWhileAnotherThreadRefills) {
  constexpr usize spenders = 3;
  constexpr u64 refills = 20'000;
  constexpr u64 enough = 5'000;  // spent by each, before the refiller stops
  // Mostly so much that the spenders are never out of work: a refill then falls between some spender's load and swap.
  constexpr u32 amounts[] = {1'000'000, 64, 1'000'000, 0, 1'000'000, 3};

  shared_budget<> budget;
  std::atomic<bool> over{false};
  std::array<std::atomic<u64>, spenders> spent{};

  std::vector<std::thread> threads;
  for (std::atomic<u64>& mine : spent) {
    threads.emplace_back([&budget, &over, &mine] {
      while (!over.load()) {
        if (budget.spend()) mine.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }

  const auto all_busy = [&] {
    return std::all_of(spent.begin(), spent.end(), [](const auto& mine) { return mine.load() >= enough; });
  };
  u64 filled = 0;
  u64 returned = 0;
  for (u64 i = 0; i < refills || !all_busy(); ++i) {
    const u32 amount = amounts[i % std::size(amounts)];
    filled += amount;
    returned += budget.replace(amount);
    if (i % 64 == 0) std::this_thread::yield();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();

  u64 spent_by_all = 0;
  for (const auto& mine : spent) spent_by_all += mine.load();
  EXPECT_EQ(spent_by_all + returned + budget.left(), filled);
}

// With one refill there is nothing to return: exactly that many succeed, however many try.
TEST(SharedBudgetThreads, ManySpendersOfOneRefillGetExactlyIt) {
  constexpr u32 amount = 2'000'000;
  shared_budget<> budget;
  budget.refill(amount);
  std::atomic<bool> start{false};
  std::array<u64, 4> spent{};

  std::vector<std::thread> threads;
  for (u64& mine : spent) {
    threads.emplace_back([&budget, &start, &mine] {
      u64 count = 0;
      while (!start.load()) std::this_thread::yield();
      while (budget.spend()) ++count;
      mine = count;
    });
  }
  start = true;
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(spent[0] + spent[1] + spent[2] + spent[3], amount);
  EXPECT_EQ(budget.left(), 0U);
}

}  // namespace
}  // namespace octep

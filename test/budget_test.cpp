#include <octep/budget.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace octep {
namespace {

template <class Budget>
class AnyBudget : public testing::Test {};
using budgets = testing::Types<plain_budget, shared_budget<>>;
TYPED_TEST_SUITE(AnyBudget, budgets);

TYPED_TEST(AnyBudget, StartsEmpty) {
  TypeParam budget;
  EXPECT_EQ(budget.left(), 0U);
  EXPECT_FALSE(budget.spend());
  EXPECT_EQ(budget.left(), 0U);
}

TYPED_TEST(AnyBudget, GivesOutWhatItWasFilledWithAndNoMore) {
  TypeParam budget;
  budget.refill(3);
  EXPECT_TRUE(budget.spend());
  EXPECT_TRUE(budget.spend());
  EXPECT_TRUE(budget.spend());
  EXPECT_FALSE(budget.spend());
}

TYPED_TEST(AnyBudget, ARefillReplacesWhatWasLeft) {
  TypeParam budget;
  budget.refill(64);
  EXPECT_TRUE(budget.spend());
  EXPECT_EQ(budget.replace(2), 63U);
  EXPECT_EQ(budget.left(), 2U);
}

TYPED_TEST(AnyBudget, HoldsTheLargestNumber) {
  constexpr u32 most = std::numeric_limits<u32>::max();
  TypeParam budget;
  budget.refill(most);
  EXPECT_TRUE(budget.spend());
  EXPECT_EQ(budget.left(), most - 1);
}

// The model is a number.
TYPED_TEST(AnyBudget, EqualsANumber) {
  EXPECT_TRUE(rc::check([] {
    TypeParam budget;
    u32 model = 0;
    // Zero is a refill to a drawn number, everything else a spend.
    for (const u32 step : *rc::gen::container<std::vector<u32>>(rc::gen::inRange<u32>(0, 8))) {
      if (step == 0) {
        const u32 to = *rc::gen::inRange<u32>(0, 6);
        RC_ASSERT(budget.replace(to) == model);
        model = to;
      } else {
        RC_ASSERT(budget.spend() == (model > 0));
        if (model > 0) --model;
      }
      RC_ASSERT(budget.left() == model);
    }
  }));
}

// What another thread does between a spender's load and its swap.
std::function<void()> meanwhile;

struct interrupted_atomics {
  template <class T>
  class cell : public builtin_atomics::cell<T> {
   public:
    bool compare_exchange_relaxed(T& expected, T desired) noexcept {
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      return builtin_atomics::cell<T>::compare_exchange_relaxed(expected, desired);
    }
  };
};

TEST(SharedBudget, ARefillBetweenLoadAndSwapIsNotLost) {
  shared_budget<interrupted_atomics> budget;
  budget.refill(5);
  meanwhile = [&] { budget.refill(64); };
  EXPECT_TRUE(budget.spend());
  EXPECT_EQ(budget.left(), 63U);
}

TEST(SharedBudget, TheLastUnitIsSpentOnce) {
  shared_budget<interrupted_atomics> budget;
  budget.refill(1);
  bool other = false;
  meanwhile = [&] { other = budget.spend(); };
  EXPECT_FALSE(budget.spend());
  EXPECT_TRUE(other);
}

TEST(SharedBudget, ARefillToNothingIsObeyed) {
  shared_budget<interrupted_atomics> budget;
  budget.refill(5);
  meanwhile = [&] { budget.refill(0); };
  EXPECT_FALSE(budget.spend());
  EXPECT_EQ(budget.left(), 0U);
}

}  // namespace
}  // namespace octep

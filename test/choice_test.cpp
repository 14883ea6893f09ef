#include <octep/choice.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <vector>

#include "test/choice_model.hpp"

namespace octep {
namespace {

using test::choice_case;
using test::place_is;

// A slot as written down by hand: states and ages in arrays.
template <u32 Places>
struct written_slot {
  static constexpr u32 places = Places;
  std::array<place_state, Places> states{};
  std::array<u32, Places> ages{};

  [[nodiscard]] place_state state(u32 i) const { return states[i]; }
  [[nodiscard]] u32 age(u32 i) const { return ages[i]; }
};

static_assert(choice_policy<oldest_goes, written_slot<4>>);

place_state as_state(place_is p) {
  switch (p) {
    case place_is::empty: return place_state::empty;
    case place_is::this_tuple: return place_state::same;
    case place_is::another_read: return place_state::other_read;
    case place_is::another_unread: break;
  }
  return place_state::other_unread;
}

TEST(Limits, AreSlotsByTheTopBitsAndPlacesByTheBitsOfAWord) {
  EXPECT_TRUE(limits{}.valid());
  EXPECT_EQ(limits{}, (limits{64, 4}));
  EXPECT_TRUE((limits{1, 1}.valid()));
  EXPECT_TRUE((limits{1024, 64}.valid()));
  EXPECT_FALSE((limits{0, 4}.valid()));
  EXPECT_FALSE((limits{48, 4}.valid()));
  EXPECT_FALSE((limits{64, 0}.valid()));
  EXPECT_FALSE((limits{64, 65}.valid()));
}

TEST(ChoiceModel, HasSeventyFiveWeakOrdersAllDifferent) {
  const auto orders = test::weak_orders();
  EXPECT_EQ(orders.size(), 75U);
  EXPECT_EQ((std::set<std::array<unsigned, 4>>{orders.begin(), orders.end()}.size()), 75U);
}

// The policy alone; candidates_test.cpp asks the table the same.
TEST(OldestGoes, AnswersAll19200CasesAsTheRuleReads) {
  u64 tried = 0;
  for (const test::choice_clock& clock : test::choice_clocks()) {
    const u64 cases = test::for_each_choice_case(clock.base_ms, clock.step_ms, clock.now_after_ms, [](const choice_case& c) {
      written_slot<4> slot;
      for (u32 i = 0; i < 4; ++i) {
        slot.states[i] = as_state(c.place[i]);
        slot.ages[i] = static_cast<u32>(c.now_ms < c.written_ms[i] ? 0 : c.now_ms - c.written_ms[i]);
      }
      const chosen got = choose_place<oldest_goes>(slot);
      const u32 want = static_cast<u32>(test::place_by_rule(c));
      ASSERT_EQ(got, (chosen{want, slot.states[want] == place_state::same}));
    });
    ASSERT_EQ(cases, 19'200U);
    if (HasFatalFailure()) return;
    tried += cases;
  }
  std::printf("the policy: %llu choices, %zu clocks x 19,200 cases\n", static_cast<unsigned long long>(tried),
              test::choice_clocks().size());
}

// A policy that keeps the contract and does nothing else: it shows what the table keeps to itself.
struct last_goes {
  template <place_view V>
  [[nodiscard]] static constexpr u32 choose(const V&) noexcept {
    return V::places - 1;
  }
};

TEST(Choice, NeverAsksThePolicyForATupleTheSlotHolds) {
  written_slot<3> slot;
  slot.states = {place_state::other_unread, place_state::same, place_state::empty};
  EXPECT_EQ(choose_place<last_goes>(slot), (chosen{1, true}));
  slot.states[1] = place_state::other_read;
  EXPECT_EQ(choose_place<last_goes>(slot), (chosen{2, false}));
}

TEST(OldestGoes, HasOneAnswerForOnePlace) {
  written_slot<1> slot;
  for (const place_state s : {place_state::empty, place_state::other_read, place_state::other_unread})
    for (const u32 age : {0U, 1U, 0x4000'0000U}) {
      slot.states[0] = s;
      slot.ages[0] = age;
      EXPECT_EQ(oldest_goes::choose(slot), 0U);
    }
}

// Any number of places: the chosen one is a fixed point that a reader can check by eye.
RC_GTEST_PROP(OldestGoes, TakesTheFirstEmptyPlaceElseTheFirstOfTheOldest, ()) {
  written_slot<16> slot;
  const auto states = *rc::gen::container<std::vector<int>>(16, rc::gen::weightedElement<int>({{1, 0}, {9, 2}, {9, 3}}));
  const auto ages = *rc::gen::container<std::vector<u32>>(16, rc::gen::inRange<u32>(0, 6));
  for (u32 i = 0; i < 16; ++i) {
    slot.states[i] = static_cast<place_state>(states[i]);
    slot.ages[i] = ages[i];
  }
  const u32 got = oldest_goes::choose(slot);
  const auto empty = std::find(slot.states.begin(), slot.states.end(), place_state::empty);
  if (empty != slot.states.end()) {
    RC_ASSERT(got == static_cast<u32>(empty - slot.states.begin()));
  } else {
    RC_ASSERT(got == static_cast<u32>(std::max_element(slot.ages.begin(), slot.ages.end()) - slot.ages.begin()));
  }
}

}  // namespace
}  // namespace octep

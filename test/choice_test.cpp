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

// A slot as written down by hand: what each place is, and its age.
template <u32 Places>
struct written_slot {
  static constexpr u32 places = Places;
  std::array<place_is, Places> is{};
  std::array<u32, Places> ages{};

  [[nodiscard]] u32 same() const {
    return static_cast<u32>(std::find(is.begin(), is.end(), place_is::this_tuple) - is.begin());
  }
  [[nodiscard]] place_set written() const { return ~set_of(place_is::empty) & all_places<Places>; }
  [[nodiscard]] place_set unread() const { return set_of(place_is::another_unread); }
  [[nodiscard]] u32 age(u32 i) const { return ages[i]; }

 private:
  [[nodiscard]] place_set set_of(place_is what) const {
    place_set set = 0;
    for (u32 i = 0; i < Places; ++i)
      if (is[i] == what) set |= place_set{1} << i;
    return set;
  }
};

static_assert(choice_policy<oldest_goes, written_slot<4>>);

TEST(PlaceSets, HaveAFirstASizeAndAWhole) {
  EXPECT_EQ(first_of(0b1000), 3U);
  EXPECT_EQ(first_of(place_set{1} << 15), 15U);
  EXPECT_EQ(size_of(0), 0U);
  EXPECT_EQ(size_of(0b1011), 3U);
  EXPECT_EQ(all_places<1>, 1U);
  EXPECT_EQ(all_places<4>, 15U);
  EXPECT_EQ(all_places<16>, 0xffffU);
  EXPECT_EQ(first_from(0b1001, 0), 0U);
  EXPECT_EQ(first_from(0b1001, 1), 3U);
  EXPECT_EQ(first_from(0b1001, 4), 0U) << "and round";
  EXPECT_EQ(first_from(0b1001, 16), 0U);
}

TEST(Limits, AreSlotsByTheTopBitsAndPlacesByTheBitsOfAWord) {
  EXPECT_TRUE(limits{}.valid());
  EXPECT_EQ(limits{}, (limits{64, 4}));
  EXPECT_TRUE((limits{1, 1}.valid()));
  EXPECT_TRUE((limits{1024, 16}.valid()));
  EXPECT_FALSE((limits{0, 4}.valid()));
  EXPECT_TRUE((limits{65'536, 1}.valid()));
  EXPECT_FALSE((limits{131'072, 1}.valid())) << "a slot's bits would run into the tag's";
  EXPECT_FALSE((limits{48, 4}.valid()));
  EXPECT_FALSE((limits{64, 0}.valid()));
  EXPECT_FALSE((limits{64, 17}.valid()));
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
    const u64 cases =
        test::for_each_choice_case(clock.base_ms, clock.step_ms, clock.now_after_ms, [](const choice_case& c) {
          written_slot<4> slot;
          for (u32 i = 0; i < 4; ++i) {
            slot.is[i] = c.place[i];
            slot.ages[i] = static_cast<u32>(c.now_ms < c.written_ms[i] ? 0 : c.now_ms - c.written_ms[i]);
          }
          const chosen got = choose_place<oldest_goes>(slot, slot.same());
          const u32 want = static_cast<u32>(test::place_by_rule(c));
          ASSERT_EQ(got, (chosen{want, slot.is[want] == place_is::this_tuple}));
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
  static constexpr bool ranks = false;

  template <place_view V>
  [[nodiscard]] static constexpr placement choose(const V&) noexcept {
    return {V::places - 1};
  }
};

TEST(Choice, NeverAsksThePolicyForATupleTheSlotHolds) {
  written_slot<3> slot;
  slot.is = {place_is::another_unread, place_is::this_tuple, place_is::empty};
  EXPECT_EQ(choose_place<last_goes>(slot, slot.same()), (chosen{1, true}));
  slot.is[1] = place_is::another_read;
  EXPECT_EQ(choose_place<last_goes>(slot, slot.same()), (chosen{2, false}));
}

TEST(OldestGoes, HasOneAnswerForOnePlace) {
  written_slot<1> slot;
  for (const place_is p : {place_is::empty, place_is::another_read, place_is::another_unread})
    for (const u32 age : {0U, 1U, 0x4000'0000U}) {
      slot.is[0] = p;
      slot.ages[0] = age;
      EXPECT_EQ(oldest_goes::choose(slot), placement{0});
    }
}

// Any number of places: the chosen one is a fixed point that a reader can check by eye.
RC_GTEST_PROP(OldestGoes, TakesTheFirstEmptyPlaceElseTheFirstOfTheOldest, ()) {
  written_slot<16> slot;
  const auto is = *rc::gen::container<std::vector<place_is>>(
      16, rc::gen::weightedElement<place_is>(
              {{1, place_is::empty}, {9, place_is::another_read}, {9, place_is::another_unread}}));
  const auto ages = *rc::gen::container<std::vector<u32>>(16, rc::gen::inRange<u32>(0, 6));
  for (u32 i = 0; i < 16; ++i) {
    slot.is[i] = is[i];
    slot.ages[i] = ages[i];
  }
  const u32 got = oldest_goes::choose(slot).place;
  const auto empty = std::find(slot.is.begin(), slot.is.end(), place_is::empty);
  if (empty != slot.is.end()) {
    RC_ASSERT(got == static_cast<u32>(empty - slot.is.begin()));
  } else {
    RC_ASSERT(got == static_cast<u32>(std::max_element(slot.ages.begin(), slot.ages.end()) - slot.ages.begin()));
  }
}

}  // namespace
}  // namespace octep

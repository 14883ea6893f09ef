#include <octep/refusals.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace octep {
namespace {

constexpr u32 slots = 8;
constexpr u32 room = 6;

// Tuple number n of either family. Number and family are all that tells two apart.
tuple4 four(u32 n) { return tuple4::make(n, ~n, n * 3, protocol::udp); }
tuple6 six(u32 n) { return tuple6::make({n, 1, 2, 3}, {4, 5, 6, ~n}, n * 3, protocol::udp); }

// Any function would do that spreads (the finalizer of MurmurHash3).
u32 spread(u32 n, bool v6) {
  u32 h = n * 2 + (v6 ? 1 : 0) + 1;
  h = (h ^ (h >> 16)) * 0x85eb'ca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2'ae35U;
  return h ^ (h >> 16);
}

// A universe of 40 tuples. `narrow`: all hashes are one, as of somebody who can choose them.
struct universe {
  static constexpr u32 size = 40;
  bool narrow = false;

  static bool is_v6(u32 n) { return n % 2 == 1; }
  u32 hash(u32 n) const { return narrow ? 0x4000'0001U : spread(n, is_v6(n)); }
  u32 slot(u32 n) const { return hash(n) >> 29; }

  template <class Refusals>
  void mark(Refusals& r, u32 n) const {
    is_v6(n) ? r.mark(six(n), hash(n), slot(n)) : r.mark(four(n), hash(n), slot(n));
  }
  template <class Refusals>
  bool holds(const Refusals& r, u32 n) const {
    return is_v6(n) ? r.holds(six(n), hash(n), slot(n)) : r.holds(four(n), hash(n), slot(n));
  }
};

// Runs a drawn sequence and calls `check(marked numbers)` after each step.
template <class Refusals, class Check>
void any_sequence(Refusals& r, const universe& u, Check&& check) {
  std::set<u32> marked;
  // The number past the universe is a clear.
  for (const u32 step : *rc::gen::container<std::vector<u32>>(rc::gen::inRange<u32>(0, universe::size + 2))) {
    if (step >= universe::size) {
      r.clear();
      marked.clear();
    } else {
      u.mark(r, step);
      marked.insert(step);
    }
    check(marked);
  }
}

std::set<u32> slots_of(const universe& u, const std::set<u32>& marked) {
  std::set<u32> found;
  for (const u32 n : marked) found.insert(u.slot(n));
  return found;
}

RC_GTEST_PROP(RefusalsBySlot, HoldExactlyTheSlotsThatWereMarked, (bool narrow)) {
  const universe u{narrow};
  refusals_by_slot<slots> r;
  any_sequence(r, u, [&](const std::set<u32>& marked) {
    const std::set<u32> held = slots_of(u, marked);
    for (u32 n = 0; n < universe::size; ++n) RC_ASSERT(u.holds(r, n) == held.contains(u.slot(n)));
    RC_ASSERT(r.fell_back() == held.size());
  });
}

RC_GTEST_PROP(RefusalsByTuple, WithRoomHoldExactlyWhatWasMarked, ()) {
  const universe u{false};
  refusals_by_tuple<slots, universe::size> r;
  any_sequence(r, u, [&](const std::set<u32>& marked) {
    RC_ASSERT(r.fell_back() == 0U);
    for (u32 n = 0; n < universe::size; ++n) RC_ASSERT(u.holds(r, n) == marked.contains(n));
  });
}

RC_GTEST_PROP(RefusalsByTuple, WithoutRoomHoldWhatWasMarkedAndAtMostItsSlots, (bool narrow)) {
  const universe u{narrow};
  refusals_by_tuple<slots, room> r;
  any_sequence(r, u, [&](const std::set<u32>& marked) {
    const std::set<u32> touched = slots_of(u, marked);
    for (u32 n = 0; n < universe::size; ++n) {
      if (marked.contains(n)) RC_ASSERT(u.holds(r, n));
      if (!touched.contains(u.slot(n))) RC_ASSERT(!u.holds(r, n));
      if (r.fell_back() == 0) RC_ASSERT(u.holds(r, n) == marked.contains(n));
    }
    RC_ASSERT(r.fell_back() <= touched.size());
  });
}

TEST(RefusalsByTuple, TheRoomIsUsedToTheLastPlaceAndOneMoreHoldsItsSlot) {
  const universe u{false};
  refusals_by_tuple<slots, room> r;
  for (u32 n = 0; n < 2 * room; n += 2) u.mark(r, n);
  EXPECT_EQ(r.fell_back(), 0U);
  u.mark(r, 2 * room);
  EXPECT_EQ(r.fell_back(), 1U);
  EXPECT_TRUE(u.holds(r, 2 * room));
  for (u32 n = 0; n < universe::size; ++n)
    if (u.slot(n) == u.slot(2 * room)) EXPECT_TRUE(u.holds(r, n));
}

TEST(RefusalsByTuple, MarkedAgainATupleTakesNoSecondPlace) {
  const universe u{false};
  refusals_by_tuple<slots, 2> r;
  for (int i = 0; i < 100; ++i) {
    u.mark(r, 0);
    u.mark(r, 2);
  }
  EXPECT_EQ(r.fell_back(), 0U);
}

TEST(RefusalsByTuple, OneHashForAllEndsAtTheSlotInsteadOfALongChain) {
  const universe u{true};
  refusals_by_tuple<slots, universe::size> r;
  for (u32 n = 0; n < universe::size; n += 2) u.mark(r, n);
  EXPECT_EQ(r.fell_back(), 1U);
  for (u32 n = 0; n < universe::size; n += 2) EXPECT_TRUE(u.holds(r, n));
}

TEST(RefusalsByTuple, EqualHashesOfTwoTuplesAreTwoTuples) {
  const universe u{true};
  refusals_by_tuple<slots, room> r;
  u.mark(r, 0);
  EXPECT_TRUE(u.holds(r, 0));
  EXPECT_FALSE(u.holds(r, 2));
  EXPECT_FALSE(u.holds(r, 1));
}

TEST(RefusalsByTuple, TheFamiliesDoNotTakeEachOthersRoom) {
  refusals_by_tuple<slots, 2, 1> r;
  r.mark(four(0), spread(0, false), 0);
  r.mark(four(1), spread(1, false), 1);
  r.mark(six(0), spread(0, true), 2);
  EXPECT_EQ(r.fell_back(), 0U);
  r.mark(six(1), spread(1, true), 3);
  EXPECT_EQ(r.fell_back(), 1U);
}

// What a second of the default settings can refuse or take out, many seconds in a row: what one leaves behind does not
// lengthen the chains of the next.
TEST(RefusalsByTuple, TheDefaultRoomHoldsASecondOfTheDefaultBudgets) {
  const auto r = std::make_unique<refusals_by_tuple<64>>();
  u32 next = 0;
  for (int second = 0; second < 20; ++second) {
    const u32 first = next;
    for (u32 i = 0; i < refusals_room; ++i, ++next) {
      const u32 h = spread(next, false);
      r->mark(four(next), h, h >> 26);
    }
    EXPECT_EQ(r->fell_back(), 0U);
    for (u32 n = first; n < next; ++n) ASSERT_TRUE(r->holds(four(n), spread(n, false), spread(n, false) >> 26));
    r->clear();
    for (u32 n = first; n < next; ++n) ASSERT_FALSE(r->holds(four(n), spread(n, false), spread(n, false) >> 26));
  }
}

TEST(RefusalsBySlot, SlotsPastSixtyFourHaveTheirOwnBits) {
  refusals_by_slot<200> r;
  r.mark(four(0), 0, 199);
  EXPECT_TRUE(r.holds(four(1), 0, 199));
  for (u32 slot = 0; slot < 199; ++slot) EXPECT_FALSE(r.holds(four(0), 0, slot));
  r.clear();
  EXPECT_FALSE(r.holds(four(0), 0, 199));
}

}  // namespace
}  // namespace octep

#include <octep/candidates.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "test/candidates_model.hpp"
#include "test/choice_model.hpp"

namespace octep {
namespace {

using test::choice_case;
using test::place_is;

const std::vector<tuple4> some = test::close_tuples<tuple4>();  // 0: TCP; the last: an echo; the one before: UDP

arrival at(u32 ms, bool closing = false) {
  arrival a;
  a.who = identity::make(7, 1);
  a.where = {3, 0};
  a.closing = closing;
  a.at = tick{ms};
  return a;
}

const auto anything = [](const auto&) { return true; };

template <class Table, class Tuple>
write_outcome put(Table& table, u32 slot, const Tuple& t, const arrival& frame, u32 log2) {
  return table.write(t, test::hash_in(Table::slots, slot, t), frame, log2);
}
template <class Table, class Tuple>
got seek(Table& table, u32 slot, const Tuple& t, candidate<Tuple>& out) {
  return table.find(t, test::hash_in(Table::slots, slot, t), out);
}
template <class Table, class Tuple>
bool restart(Table& table, u32 slot, const Tuple& t) {
  return table.tell(t, test::hash_in(Table::slots, slot, t), tell_place::restart, {}) == told::yes;
}

template <class Table, class Tuple = tuple4>
candidate<Tuple> look(Table& table, const Tuple& t, u32 slot = 0) {
  candidate<Tuple> out;
  EXPECT_EQ(seek(table, slot, t, out), got::one);
  return out;
}

template <class Table>
u32 take_all(Table& table, u32 slot = 0) {
  candidate<tuple4> out;
  u32 place = 0;
  u32 n = 0;
  while (table.take(slot, 0, anything, out, place) == got::one) ++n;
  return n;
}

using one_by_one = candidates<tuple4, limits{1, 1}>;
using one_by_four = candidates<tuple4, limits{1, 4}>;

// --- the choice, in the table -----------------------------------------------------------------------------

// Tuples for the four places of a case: "another" is another in every place.
tuple4 stranger(u32 place) { return tuple4::make(0x0a0000c8 + place, 0x01020304, 0x1000'0050, protocol::udp); }

// The slot of a case, written place by place as a holder of the word would.
using four_places = slot_image<tuple4, 4, false>;

void fill(four_places& slot, u32& glance, const choice_case& c, const tuple4& same) {
  for (u32 i = 0; i < 4; ++i) {
    if (c.place[i] == place_is::empty) continue;
    const tuple4 t = c.place[i] == place_is::this_tuple ? same : stranger(i);
    const u32 hashed = test::hash_in(1, 0, t);
    (void)slot.admit(i, t, hashed, packed_arrival{at(static_cast<u32>(c.written_ms[i]))}, 4, glance);
    if (c.place[i] == place_is::another_read) slot.mark_read(i, glance);
  }
}

TEST(Candidates, ChooseAsTheRuleReadsInAll19200CasesAtEveryBase) {
  const tuple4 same = some[0];
  u64 tried = 0;
  for (const test::choice_clock& clock : test::choice_clocks()) {
    const u64 cases =
        test::for_each_choice_case(clock.base_ms, clock.step_ms, clock.now_after_ms, [&](const choice_case& c) {
          four_places slot;
          u32 glance = 0;
          fill(slot, glance, c, same);
          const u32 want = static_cast<u32>(test::place_by_rule(c));
          ASSERT_EQ(choose_in<oldest_goes>(slot, glance, same, test::hash_in(1, 0, same), tick{static_cast<u32>(c.now_ms)}),
                    (chosen{want, c.place[want] == place_is::this_tuple}));
        });
    ASSERT_EQ(cases, 19'200U);
    if (HasFatalFailure()) return;
    tried += cases;
  }
  std::printf("the slot: %llu choices, %zu clocks x 19,200 cases\n", static_cast<unsigned long long>(tried),
              test::choice_clocks().size());
}

// Of those cases, the ones a table can be driven into (no hole before a written place, this tuple at most once),
// through `write` itself: the outcome names what made room, and the frame stands in the place of the rule.
TEST(Candidates, WriteToThePlaceOfTheRuleAndSayWhatMadeRoom) {
  const tuple4 same = some[0];
  u64 tried = 0;
  for (const test::choice_clock& clock : test::choice_clocks()) {
    test::for_each_choice_case(clock.base_ms, clock.step_ms, clock.now_after_ms, [&](const choice_case& c) {
      u32 holds_it = 0;
      bool hole = false;
      bool reachable = true;
      for (const place_is p : c.place) {
        holds_it += p == place_is::this_tuple;
        reachable = reachable && !(hole && p != place_is::empty);
        hole = hole || p == place_is::empty;
      }
      if (!reachable || holds_it > 1) return;
      ++tried;

      one_by_four table;
      for (u32 i = 0; i < 4 && c.place[i] != place_is::empty; ++i) {
        const tuple4 t = c.place[i] == place_is::this_tuple ? same : stranger(i);
        ASSERT_EQ(put(table, 0, t, at(static_cast<u32>(c.written_ms[i])), 4), write_outcome{});
      }
      for (u32 i = 0; i < 4; ++i) {
        if (c.place[i] != place_is::another_read) continue;
        candidate<tuple4> out;
        u32 place = 0;
        ASSERT_EQ(table.take(0, i, anything, out, place), got::one);
        ASSERT_EQ(place, i);
      }
      const u32 want = static_cast<u32>(test::place_by_rule(c));
      const place_is was = c.place[want];
      write_outcome expected;
      expected.lost = was == place_is::this_tuple || was == place_is::another_unread;
      expected.evicted = was == place_is::another_unread;
      expected.evicted_read = was == place_is::another_read;
      ASSERT_EQ(put(table, 0, same, at(static_cast<u32>(c.now_ms)), 4), expected);
      u32 found_at = 4;
      ASSERT_TRUE(table.for_each_place(0, [&](u32 place, const candidate<tuple4>& k) {
        if (k.tuple == same) found_at = place;
      }));
      ASSERT_EQ(found_at, want);
    });
    if (HasFatalFailure()) return;
  }
  std::printf("the table: %llu writes\n", static_cast<unsigned long long>(tried));
}

// --- a write, sentence by sentence ------------------------------------------------------------------------

TEST(Candidates, KeepOfAFrameWhatItNamed) {
  one_by_four table;
  arrival a;
  a.who = identity::make(0x01ff'ffff, 63);
  a.where = {65'535, 4'094};
  a.association = {0xfedc'1234};
  a.at = tick{77};
  ASSERT_EQ(put(table, 0, some[0], a, 4), write_outcome{});
  const candidate<tuple4> c = look(table, some[0]);
  EXPECT_EQ(c.tuple, some[0]);
  EXPECT_EQ(c.who, a.who);
  EXPECT_EQ(c.where, a.where);
  EXPECT_EQ(c.association, a.association);
  EXPECT_EQ(c.at, a.at);
  EXPECT_EQ(c.count, 1U);
  EXPECT_FALSE(c.closing || c.due || c.read);
}

TEST(Candidates, TellTuplesApartByEveryWord) {
  candidates<tuple4, limits{1, 16}> four;
  u32 n = 0;
  for (const tuple4& t : some) ASSERT_EQ(put(four, 0, t, at(++n), 4), write_outcome{});
  for (const tuple4& t : some) EXPECT_EQ(look(four, t).count, 1U);

  candidates<tuple6, limits{1, 16}> six;
  const auto more = test::close_tuples<tuple6>();
  for (const tuple6& t : more) ASSERT_EQ(put(six, 0, t, at(++n), 4), write_outcome{});
  for (const tuple6& t : more) EXPECT_EQ(look(six, t).count, 1U);
}

TEST(Candidates, BecomeDueAtThePowerOfTwoAndAtEachDoubling) {
  for (u32 log2 = 0; log2 <= 6; ++log2) {
    one_by_one table;
    for (u32 frame = 1; frame <= 300; ++frame) {
      bool doubling = false;
      for (u32 n = 1U << log2; n <= 512; n *= 2) doubling = doubling || n == frame;
      ASSERT_EQ(put(table, 0, some[0], at(frame), log2).due, doubling) << "frame " << frame << " log2 " << log2;
    }
  }
}

TEST(Candidates, StayDueUntilTheyAreTaken) {
  one_by_one table;
  for (u32 i = 1; i <= 3; ++i) ASSERT_FALSE(put(table, 0, some[0], at(i), 2).due);
  ASSERT_TRUE(put(table, 0, some[0], at(4), 2).due);
  ASSERT_FALSE(put(table, 0, some[0], at(5), 2).due);
  EXPECT_TRUE(look(table, some[0]).due);
  candidate<tuple4> out;
  u32 place = 9;
  ASSERT_EQ(table.take(
                0, 0, [](const auto& c) { return c.due; }, out, place),
            got::one);
  EXPECT_EQ(place, 0U);
  EXPECT_TRUE(out.due);
  EXPECT_FALSE(out.read);
  EXPECT_FALSE(look(table, some[0]).due);
  EXPECT_TRUE(look(table, some[0]).read);
  ASSERT_FALSE(put(table, 0, some[0], at(6), 2).due);
  EXPECT_FALSE(look(table, some[0]).due) << "a request that was taken came back";
}

TEST(Candidates, AreNeverDueForAnEchoNorByAClosingFrame) {
  one_by_one table;
  for (u32 i = 1; i <= 64; ++i) ASSERT_FALSE(put(table, 0, some.back(), at(i), 0).due);
  ASSERT_TRUE(put(table, 0, some[0], at(65), 0).due);
  ASSERT_FALSE(put(table, 0, some[0], at(66, true), 0).due) << "frame 2 closes";
  ASSERT_FALSE(put(table, 0, some[0], at(67), 0).due);
  ASSERT_TRUE(put(table, 0, some[0], at(68), 0).due) << "frame 4 does not";
}

TEST(Candidates, KeepTheClosingMarkUntilAReaderTakesIt) {
  one_by_one table;
  ASSERT_FALSE(put(table, 0, some[0], at(1, true), 4).due);
  (void)put(table, 0, some[0], at(2), 4);
  EXPECT_TRUE(look(table, some[0]).closing);
  candidate<tuple4> out;
  u32 place = 0;
  ASSERT_EQ(table.take(0, 0, anything, out, place), got::one);
  EXPECT_TRUE(out.closing);
  EXPECT_TRUE(look(table, some[0]).closing) << "the other direction's make must still see that it closed";
  (void)put(table, 0, some[0], at(3), 4);
  EXPECT_FALSE(look(table, some[0]).closing) << "the port is in use again";
  EXPECT_EQ(look(table, some[0]).count, 3U);
}

TEST(Candidates, StartOverForANewcomer) {
  one_by_one table;
  for (u32 i = 0; i < 5; ++i) (void)put(table, 0, some[0], at(i, true), 1);
  const write_outcome outcome = put(table, 0, some[1], at(9), 1);
  EXPECT_TRUE(outcome.lost && outcome.evicted);
  EXPECT_FALSE(outcome.evicted_read || outcome.due);
  const candidate<tuple4> c = look(table, some[1]);
  EXPECT_EQ(c.count, 1U);
  EXPECT_FALSE(c.closing || c.due || c.read);
  candidate<tuple4> gone;
  EXPECT_EQ(seek(table, 0, some[0], gone), got::none);
}

TEST(Candidates, LoseAnUnreadOneToItsOwnTupleWithoutEvictingIt) {
  one_by_one table;
  ASSERT_EQ(put(table, 0, some[0], at(1), 4), write_outcome{});
  write_outcome own;
  own.lost = true;
  ASSERT_EQ(put(table, 0, some[0], at(2), 4), own);
  ASSERT_EQ(take_all(table), 1U);
  ASSERT_EQ(put(table, 0, some[0], at(3), 4), write_outcome{}) << "a read candidate of the same tuple loses nothing";
  ASSERT_EQ(take_all(table), 1U);
  write_outcome read;
  read.evicted_read = true;
  ASSERT_EQ(put(table, 0, some[1], at(4), 4), read);
}

TEST(Candidates, CountUpToTheirLargestAndStayThere) {
  using image = slot_image<tuple4, 1, false>;
  image slot;
  u32 glance = 0;
  (void)slot.admit(0, some[0], 0, packed_arrival{at(1)}, 4, glance);
  slot.recount(0, image::most_frames - 1);
  candidate<tuple4> c;
  for (u32 i = 0; i < 3; ++i) {
    EXPECT_FALSE(write_outcome::from_bits(slot.renew(slot.seat_of(some[0], 0), some[0], packed_arrival{at(2)}, 4, glance)).due);
    slot.copy_out(0, glance, c);
    EXPECT_EQ(c.count, image::most_frames);
    EXPECT_EQ(slot.written(), 1U);
    EXPECT_EQ(c.tuple, some[0]) << "what is counted runs into the protocol";
    EXPECT_FALSE(c.closing || c.due);
  }
  slot.recount(0, (image::most_frames >> 1));
  EXPECT_TRUE(write_outcome::from_bits(slot.renew(slot.seat_of(some[0], 0), some[0], packed_arrival{at(3)}, 4, glance)).due) << "the last doubling that fits";
}

// --- passes -----------------------------------------------------------------------------------------------

TEST(Candidates, AreTakenOnceInOrderOfPlaces) {
  one_by_four table;
  for (u32 i = 0; i < 4; ++i) (void)put(table, 0, some[i], at(i), 4);
  candidate<tuple4> out;
  u32 place = 0;
  ASSERT_EQ(table.take(0, 2, anything, out, place), got::one);
  EXPECT_EQ(place, 2U);
  EXPECT_EQ(out.tuple, some[2]);
  ASSERT_EQ(table.take(
                0, 0, [](const auto& c) { return c.tuple == some[3]; }, out, place),
            got::one);
  EXPECT_EQ(place, 3U);
  ASSERT_EQ(table.take(0, 2, anything, out, place), got::none);
  EXPECT_EQ(take_all(table), 2U);
  ASSERT_EQ(table.take(0, 0, anything, out, place), got::none);
}

TEST(Candidates, WhatIsNotWantedStaysUnread) {
  one_by_four table;
  for (u32 i = 0; i < 4; ++i) (void)put(table, 0, some[i], at(i), 4);
  candidate<tuple4> out;
  u32 place = 0;
  u32 asked = 0;
  ASSERT_EQ(table.take(
                0, 0, [&](const auto&) { return ++asked, false; }, out, place),
            got::none);
  EXPECT_EQ(asked, 4U);
  EXPECT_EQ(take_all(table), 4U);
}

TEST(Candidates, AReadPlaceKeepsItsTupleForTheOtherDirection) {
  one_by_four table;
  (void)put(table, 0, some[0], at(5), 4);
  ASSERT_EQ(take_all(table), 1U);
  const candidate<tuple4> c = look(table, some[0]);
  EXPECT_TRUE(c.read);
  EXPECT_EQ(c.who, at(5).who);
}

TEST(Candidates, ARequestDoesNotOutliveItsConnection) {
  one_by_four table;
  for (u32 i = 1; i <= 4; ++i) (void)put(table, 0, some[0], at(i), 2);
  ASSERT_TRUE(look(table, some[0]).due);
  ASSERT_TRUE(restart(table, 0, some[0]));
  EXPECT_FALSE(look(table, some[0]).due);
  EXPECT_EQ(look(table, some[0]).count, 0U);
  EXPECT_FALSE(look(table, some[0]).read) << "still to be seen by the walk";
  for (u32 i = 1; i <= 3; ++i) ASSERT_FALSE(put(table, 0, some[0], at(i), 2).due);
  ASSERT_TRUE(put(table, 0, some[0], at(4), 2).due) << "counted from one again";
  EXPECT_TRUE(restart(table, 0, some[1])) << "nothing to do for an absent tuple";
}

TEST(Candidates, ADiscardEmptiesASlotAndSaysWhatItHeld) {
  one_by_four table;
  for (u32 i = 0; i < 3; ++i) (void)put(table, 0, some[i], at(i), 4);
  candidate<tuple4> out;
  u32 place = 0;
  ASSERT_EQ(table.take(0, 0, anything, out, place), got::one);
  emptied gone;
  ASSERT_TRUE(table.empty_slot(0, gone));
  EXPECT_EQ(gone.unread, 2U);
  EXPECT_EQ(gone.read, 1U);
  for (u32 i = 0; i < 3; ++i) EXPECT_EQ(seek(table, 0, some[i], out), got::none);
  EXPECT_EQ(take_all(table), 0U);
  ASSERT_EQ(put(table, 0, some[1], at(9), 4), write_outcome{}) << "its old words must not be met again";
  EXPECT_EQ(look(table, some[1]).count, 1U);
}

// Inside a functor the word is held: what everybody else meets meanwhile.
TEST(Candidates, AHeldWordIsLeftAloneByEverybody) {
  candidates<tuple4, limits{2, 4}> table;
  for (u32 i = 0; i < 2; ++i) (void)put(table, 0, some[i], at(i), 4);
  (void)put(table, 1, some[0], at(1), 4);
  u32 asked = 0;
  ASSERT_TRUE(table.for_each_place(0, [&](u32, const candidate<tuple4>&) {
    write_outcome clash;
    clash.clash = true;
    EXPECT_EQ(put(table, 0, some[4], at(9), 0), clash);
    candidate<tuple4> out;
    u32 place = 0;
    EXPECT_EQ(table.take(0, 0, anything, out, place), got::busy);
    EXPECT_EQ(seek(table, 0, some[0], out), got::busy);
    EXPECT_FALSE(restart(table, 0, some[0]));
    EXPECT_FALSE(table.empty_slot(0));
    EXPECT_FALSE(table.clamp_ages(0, tick{99}));
    EXPECT_FALSE(table.for_each_place(0, [](u32, const candidate<tuple4>&) {}));
    EXPECT_EQ(seek(table, 1, some[0], out), got::one) << "another slot has another word";
    ++asked;
  }));
  EXPECT_EQ(asked, 2U);
  EXPECT_EQ(take_all(table, 0), 2U);
  candidate<tuple4> out;
  EXPECT_EQ(seek(table, 0, some[4], out), got::none);
}

// Whoever holds the word may be about to leave something unread: nobody knows until it is released.
TEST(Candidates, AHeldSlotIsBusyHoweverQuietItWas) {
  one_by_four table;
  (void)put(table, 0, some[0], at(1), 4);
  ASSERT_EQ(take_all(table), 1U);
  ASSERT_TRUE(table.for_each_place(0, [&](u32, const candidate<tuple4>&) {
    candidate<tuple4> out;
    u32 place = 0;
    EXPECT_EQ(table.take(0, 0, anything, out, place), got::busy);
  }));
  candidate<tuple4> out;
  u32 place = 0;
  EXPECT_EQ(table.take(0, 0, anything, out, place), got::none);
}

// --- ages -------------------------------------------------------------------------------------------------

TEST(Candidates, AStampAheadOfTheClockIsNoAge) {
  one_by_four table;
  for (u32 i = 0; i < 4; ++i) (void)put(table, 0, some[i], at(i == 2 ? 999 : 1001), 4);
  (void)put(table, 0, some[4], at(1000), 4);
  candidate<tuple4> out;
  EXPECT_EQ(seek(table, 0, some[2], out), got::none) << "the only one that had an age";
}

// One place is written, then the clock runs through all of its 32 bits and beyond: the age that is shown climbs with
// the true one to the oldest that is told apart, and never falls back.
RC_GTEST_PROP(CandidateAges, NeverWrapWhileTheWalkComesBy, ()) {
  const u64 start = *rc::gen::element<u64>(0, 1, (u64{1} << 31) - 1, (u64{1} << 32) - 1, 12'345'678'901);
  const u32 longest_gap = 1U << *rc::gen::inRange<u32>(20, 30);
  candidates<tuple4, limits{1, 2}> table;
  (void)put(table, 0, some[0], at(static_cast<u32>(start)), 4);
  u64 now = start;
  u32 shown = 0;
  while (now < start + (u64{1} << 32) + (u64{1} << 31)) {
    now += *rc::gen::inRange<u32>(longest_gap / 2, longest_gap);
    const tick clock{static_cast<u32>(now)};
    const u32 before = look(table, some[0]).at.age(clock);
    RC_ASSERT(before >= shown);
    RC_ASSERT(before == now - start || before >= tick::oldest_age);
    RC_ASSERT(table.clamp_ages(0, clock));
    shown = look(table, some[0]).at.age(clock);
    RC_ASSERT(shown == least<u64>(now - start, tick::oldest_age));

    // And it is still the oldest: a newcomer beside a fresh place takes its room.
    candidates<tuple4, limits{1, 2}> other;
    (void)put(other, 0, some[1], at(static_cast<u32>(now)), 4);
    (void)put(other, 0, some[0], at(look(table, some[0]).at.ms), 4);
    (void)put(other, 0, some[2], at(static_cast<u32>(now)), 4);
    candidate<tuple4> out;
    RC_ASSERT(seek(other, 0, some[1], out) == got::one);
    RC_ASSERT(seek(other, 0, some[0], out) == got::none);
  }
}

// --- the table against the list of sentences --------------------------------------------------------------

rc::Gen<test::table_step> any_step() {
  using test::table_step;
  const auto kind = rc::gen::weightedElement<u8>({{10, table_step::write},
                                                  {4, table_step::take},
                                                  {2, table_step::find},
                                                  {1, table_step::restart},
                                                  {1, table_step::empty},
                                                  {1, table_step::clamp}});
  const auto pass = rc::gen::weightedOneOf<u32>({{4, rc::gen::just(u32{0})},
                                                 {6, rc::gen::inRange<u32>(0, 4)},
                                                 {2, rc::gen::inRange<u32>(0, 100'000)},
                                                 {1, rc::gen::inRange<u32>(0, 1U << 28)}});
  return rc::gen::build<table_step>(
      rc::gen::set(&table_step::kind, kind), rc::gen::set(&table_step::slot, rc::gen::inRange<u8>(0, 8)),
      rc::gen::set(&table_step::which, rc::gen::inRange<u8>(0, 13)),
      rc::gen::set(&table_step::log2, rc::gen::inRange<u8>(0, 6)),
      rc::gen::set(&table_step::from, rc::gen::inRange<u8>(0, 5)),
      rc::gen::set(&table_step::want, rc::gen::inRange<u8>(0, 4)), rc::gen::set(&table_step::mark),
      rc::gen::set(&table_step::closing), rc::gen::set(&table_step::pass_ms, pass),
      rc::gen::set(&table_step::skew_ms, rc::gen::inRange<i32>(-3, 4)));
}

template <tuple_type Tuple, limits L>
void the_table_is_the_list() {
  const u64 start = *rc::gen::element<u64>(100, (u64{1} << 31) - 50, (u64{1} << 32) - 50);
  const auto steps = *rc::gen::container<std::vector<test::table_step>>(any_step());
  const auto twins = std::make_unique<test::candidates_twins<Tuple, L>>(start);
  for (const test::table_step& s : steps) {
    const std::string difference = twins->apply(s);
    if (!difference.empty()) RC_FAIL(difference);
    const std::string unbalanced = twins->unbalanced();
    if (!unbalanced.empty()) RC_FAIL(unbalanced);
  }
}

RC_GTEST_PROP(CandidatesAgainstTheList, OneSlotOfOnePlace, ()) { the_table_is_the_list<tuple4, limits{1, 1}>(); }
RC_GTEST_PROP(CandidatesAgainstTheList, OneSlotOfTwoPlaces, ()) { the_table_is_the_list<tuple4, limits{1, 2}>(); }
RC_GTEST_PROP(CandidatesAgainstTheList, TwoSlotsOfFourPlaces, ()) { the_table_is_the_list<tuple4, limits{2, 4}>(); }
RC_GTEST_PROP(CandidatesAgainstTheList, OneSlotOfSixteenPlaces, ()) { the_table_is_the_list<tuple4, limits{1, 16}>(); }
RC_GTEST_PROP(CandidatesAgainstTheList, OneSlotOfSixteenPlacesOfIpv6, ()) {
  the_table_is_the_list<tuple6, limits{1, 16}>();
}
RC_GTEST_PROP(CandidatesAgainstTheList, TheRecordedTable, ()) { the_table_is_the_list<tuple4, limits{64, 4}>(); }
RC_GTEST_PROP(CandidatesAgainstTheList, TheRecordedTableOfIpv6, ()) { the_table_is_the_list<tuple6, limits{64, 4}>(); }
RC_GTEST_PROP(CandidatesAgainstTheList, OneSlotOfTwoPlacesOfIpv6, ()) { the_table_is_the_list<tuple6, limits{1, 2}>(); }

// --- layout -----------------------------------------------------------------------------------------------

TEST(Candidates, StandInALineForTheHeadAndOneForTwoPlacesAndNoSlotSharesALine) {
  EXPECT_EQ(sizeof(candidates<tuple4>), 64U * 192U);
  EXPECT_EQ(sizeof(candidates<tuple4, limits{64, 16}>), 64U * 576U);
  EXPECT_EQ(alignof(candidates<tuple4>), 64U);
  EXPECT_EQ(sizeof(candidates<tuple4, limits{2, 1}>), 256U);
}

}  // namespace
}  // namespace octep

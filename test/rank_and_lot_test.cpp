#include <octep/rank_and_lot.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <octep/candidates.hpp>

#include <fmt/format.h>

#include "test/choice_model.hpp"
#include "test/rank_and_lot_model.hpp"

namespace octep {
namespace {

// --- the policy alone, against the list of sentences ------------------------------------------------------

// The model's slot, as the policy asks for it.
template <int Places>
struct written_down {
  static constexpr u32 places = Places;
  test::ranked_slot<Places> slot;
  bool asked_too_much = false;

  [[nodiscard]] place_set written() const { return set_of(&test::ranked_place::written); }
  [[nodiscard]] place_set unread() const { return set_of(&test::ranked_place::unread); }
  [[nodiscard]] place_set refused() const { return set_of(&test::ranked_place::refused); }
  [[nodiscard]] place_set kept() const { return set_of(&test::ranked_place::kept); }
  [[nodiscard]] u32 age(u32) {
    asked_too_much = true;  // favour by age is refused
    return 0;
  }
  [[nodiscard]] u32 age(u32) const { return 0; }
  [[nodiscard]] bool again(u32 place) {
    asked_too_much = asked_too_much || place >= places / 2;  // nobody counts for the lottery's places
    return slot[static_cast<int>(place)].again;
  }
  [[nodiscard]] u32 ticket(u32 place) const { return static_cast<u32>(slot[static_cast<int>(place)].ticket); }
  [[nodiscard]] u32 next() const { return static_cast<u32>(slot.next); }
  [[nodiscard]] u32 hand() const { return static_cast<u32>(slot.hand); }
  void forget_again(u32 place) { slot[static_cast<int>(place)].again = false; }
  void set_next(u32 place) { slot.next = static_cast<int>(place); }
  void set_hand(u32 place) { slot.hand = static_cast<int>(place); }

 private:
  [[nodiscard]] place_set set_of(bool test::ranked_place::*what) const {
    place_set set = 0;
    for (u32 i = 0; i < places; ++i)
      if (slot.place[i].*what) set |= place_set{1} << i;
    return set;
  }
};

static_assert(choice_policy<rank_and_lot, written_down<4>> && ranked_view<written_down<16>>);

template <int Places>
[[nodiscard]] bool answers_alike(const test::ranked_slot<Places>& before) {
  written_down<Places> asked{before};
  test::ranked_slot<Places> model = before;
  const placement got = rank_and_lot::choose(asked);
  const test::room_made want = test::rank_and_lot_model<Places>{model}.make_room();
  const u32 moves_to = want.moves_to == -1 ? placement::nowhere : static_cast<u32>(want.moves_to);
  return got == placement{static_cast<u32>(want.place), moves_to} && asked.slot == model && !asked.asked_too_much;
}

template <int Places>
std::string show(const test::ranked_slot<Places>& slot) {
  std::string text = fmt::format("next {} hand {}:", slot.next, slot.hand);
  for (const test::ranked_place& p : slot.place)
    text += p.written ? fmt::format(" {}{}{}{}#{}", p.unread ? 'u' : 'r', p.refused ? "-" : "", p.kept ? "!" : "",
                                    p.again ? "+" : "", p.ticket)
                      : " .";
  return text;
}

// Nine states a place: empty, and written times read or unread, refused or not, kept or not; at most two are kept.
bool four_places_of(unsigned code, test::ranked_slot<4>& slot) {
  int kept = 0;
  for (test::ranked_place& p : slot.place) {
    const unsigned state = code % 9;
    code /= 9;
    p = {};
    if (state == 8) continue;
    p.written = true;
    p.unread = (state & 1) != 0;
    p.refused = (state & 2) != 0;
    p.kept = (state & 4) != 0;
    kept += p.kept;
  }
  return kept <= 2;
}

TEST(RankAndLot, AnswersEveryStateOfASlotOfFourAsTheTableReads) {
  u64 tried = 0;
  const auto orders = test::weak_orders();
  test::ranked_slot<4> slot;
  for (unsigned code = 0; code < 9 * 9 * 9 * 9; ++code) {
    if (!four_places_of(code, slot)) continue;
    for (unsigned again = 0; again < 4; ++again)
      for (const auto& order : orders)
        for (slot.next = 0; slot.next <= 4; ++slot.next)
          for (slot.hand = 0; slot.hand <= 2; ++slot.hand) {
            for (unsigned i = 0; i < 4; ++i) {
              slot.place[i].again = i < 2 && ((again >> i) & 1) != 0;
              slot.place[i].ticket = static_cast<int>(order[i]) * 0x3fff;
            }
            ++tried;
            if (!answers_alike(slot)) FAIL() << show(slot);
          }
  }
  std::printf("rank and lot, four places: %llu states\n", static_cast<unsigned long long>(tried));
  EXPECT_GT(tried, 20'000'000U);
}

template <int Places>
void answers_any_state() {
  test::ranked_slot<Places> slot;
  const auto seldom = rc::gen::weightedElement<bool>({{1, true}, {12, false}});
  // Mostly states that get past the first ranks.
  const bool full = *rc::gen::weightedElement<bool>({{5, true}, {1, false}});
  const bool all_unread = *rc::gen::weightedElement<bool>({{3, true}, {1, false}});
  const bool none_refused = *rc::gen::weightedElement<bool>({{3, true}, {1, false}});
  for (test::ranked_place& p : slot.place) {
    p.written = full || *rc::gen::arbitrary<bool>();
    if (!p.written) continue;
    p.unread = all_unread || *rc::gen::arbitrary<bool>();
    p.refused = !none_refused && *rc::gen::arbitrary<bool>();
    p.kept = *seldom;
    p.ticket = *rc::gen::inRange(0, 6) * 0x3000;
  }
  for (int i = 0; i < Places / 2; ++i) slot[i].again = *rc::gen::weightedElement<bool>({{3, true}, {1, false}});
  // Not every place is ever kept.
  slot[*rc::gen::inRange(0, Places)].kept = false;
  slot.next = *rc::gen::inRange(0, Places + 1);
  slot.hand = *rc::gen::inRange(0, Places / 2 + 1);
  if (!answers_alike(slot)) RC_FAIL(show(slot));
}

RC_GTEST_PROP(RankAndLot, AnswersAnyStateOfSixteenAsTheTableReads, ()) {
  for (int i = 0; i < 20; ++i) answers_any_state<16>();
}
RC_GTEST_PROP(RankAndLot, AnswersAnyStateOfOtherSizesAsTheTableReads, ()) {
  answers_any_state<5>();
  answers_any_state<6>();
  answers_any_state<7>();
  answers_any_state<8>();
  answers_any_state<15>();
}


// --- what can be relied on, in the table ------------------------------------------------------------------

// How the hashes of a few tuples are alike: the search may not depend on it.
enum class hashes { all_different, one_tag, in_the_lowest_bit, one_hash };

u32 hash_of(hashes kind, u32 id) {
  switch (kind) {
    case hashes::all_different: return (id + 1) * 0x1d35;
    case hashes::one_tag: return (id + 1) << 8 | 0x40;
    case hashes::in_the_lowest_bit: return (id * 0x2700) | 0x40 | (id & 1);
    default: return 0x1240;
  }
}

tuple4 tuple_of(u32 id) { return tuple4::make(0x0a000001, 0x0a000002, id << 16 | 80, protocol::udp); }
u32 id_of(const tuple4& t) { return t.ports >> 16; }

// Sets of tuples by their number; those from 32 on are strangers that nobody asks about.
using id_set = u64;
[[nodiscard]] constexpr id_set one_id(u32 id) { return id < 32 ? id_set{1} << id : 0; }

// A table of one slot and the passes over it.
template <u32 Places>
class one_slot {
 public:
  using table_type = candidates<tuple4, limits{1, Places}, rank_and_lot>;

  explicit one_slot(hashes kind = hashes::all_different) : kind_{kind} {}

  // For tickets of one's own choice: with the secret 1 the order of the hashes is that of the tickets, or so the test
  // of that order says.
  void hash_as(std::vector<u32> hash_of_id) { given_ = std::move(hash_of_id); }

  write_outcome write(u32 id, u32 log2 = 4) {
    arrival a;
    a.who = identity::make(id + 1, 1);
    a.at = tick{++now_};
    return table.write(tuple_of(id), hashed(id), a, log2);
  }
  told tell(u32 id, tell_place what) { return table.tell(tuple_of(id), hashed(id), what, tick{now_}); }

  // Everybody who is unread, once.
  id_set walk() {
    id_set met = 0;
    candidate<tuple4> out;
    u32 place = 0;
    while (table.take(0, 0, [](const auto&) { return true; }, out, place) == got::one) met |= one_id(id_of(out.tuple));
    return met;
  }
  std::vector<u32> stand() {
    std::vector<u32> ids;
    EXPECT_TRUE(table.for_each_place(0, [&](u32, const candidate<tuple4>& c) { ids.push_back(id_of(c.tuple)); }));
    return ids;
  }

  table_type table;

 private:
  [[nodiscard]] u32 hashed(u32 id) const { return id < given_.size() ? given_[id] : hash_of(kind_, id); }

  hashes kind_;
  std::vector<u32> given_;
  u32 now_ = 0;
};

// What a slot was left with when the walk had gone by: read places only.
struct slot_start {
  u32 places;     // that were written
  u32 passed;     // strangers before that, so that the next place in turn is another
  u32 refused;    // places, as a set
  u32 kept;       // places, as a set: of the tuples that stand there
  u32 returning;  // places whose tuple writes again in what follows; the others' never do
  bool expects;   // the last tuple of what follows is expected
};

// Returns how many are kept, or none if the start cannot be.
template <u32 Places>
u32 begin_with(one_slot<Places>& slot, const slot_start& start, u32 distinct) {
  for (u32 i = 0; i < Places && start.passed != 0; ++i) (void)slot.write(32 + i);
  (void)slot.walk();
  for (u32 i = 0; i < start.passed; ++i) (void)slot.write(64 + i);
  (void)slot.walk();
  u32 returned = 0;
  for (u32 i = 0; i < start.places; ++i)
    (void)slot.write(((start.returning >> i) & 1) != 0 && returned < distinct ? returned++ : 96 + i);
  (void)slot.walk();
  u32 kept = 0;
  u32 place = 0;
  for (const u32 id : slot.stand()) {
    if (((start.refused >> place) & 1) == 0) EXPECT_EQ(slot.tell(id, tell_place::pardon), told::yes);
    if (((start.kept >> place) & 1) != 0) kept += slot.tell(id, tell_place::expect) == told::yes;
    ++place;
  }
  if (start.expects) kept += slot.tell(distinct - 1, tell_place::expect) == told::yes;
  return kept;
}

u32 bits_of(u32 set) { return static_cast<u32>(__builtin_popcount(set)); }

// Every sequence of `length` frames over `distinct` tuples: calls `visit(const std::vector<u32>&)`.
template <class Visit>
void for_each_sequence(u32 length, u32 distinct, Visit&& visit) {
  std::vector<u32> frames(length, 0);
  for (;;) {
    visit(static_cast<const std::vector<u32>&>(frames));
    u32 i = 0;
    while (i < length && ++frames[i] == distinct) frames[i++] = 0;
    if (i == length) return;
  }
}

template <u32 Places>
void meets_everybody(hashes kind, u32 length, u64& tried, u64& missed, u32 too_many = 0) {
  slot_start start{};
  for (start.kept = 0; start.kept < (1U << Places); ++start.kept) {
    if (bits_of(start.kept) > rank_and_lot::most_kept) continue;
    for (u32 expects = 0; expects < 2; ++expects) {
      start.expects = expects != 0;
      const u32 k = bits_of(start.kept) + expects;
      if (k > rank_and_lot::most_kept) continue;
      const u32 distinct = Places - k + too_many;
      for (start.places = 0; start.places <= Places; ++start.places)
        for (start.passed = 0; start.passed < (start.places == Places ? Places : 1); ++start.passed)
          for (start.refused = 0; start.refused < (1U << start.places); ++start.refused)
            for (start.returning = 0; start.returning < (1U << start.places); ++start.returning) {
              if ((start.kept >> start.places) != 0 || (start.kept & start.refused) != 0) continue;
              if (start.passed != 0 && (start.refused & start.returning) != 0) continue;
              for_each_sequence(length, distinct, [&](const std::vector<u32>& frames) {
                if (too_many != 0 && missed != 0) return;  // one is enough
                one_slot<Places> slot{kind};
                const u32 kept = begin_with(slot, start, distinct);
                if (kept < k) return;
                id_set wrote = 0;
                for (const u32 id : frames) {
                  (void)slot.write(id);
                  wrote |= one_id(id);
                }
                ++tried;
                if ((wrote & ~slot.walk()) == 0) return;
                if (missed++ != 0 || too_many != 0) return;  // the first is shown
                ADD_FAILURE() << fmt::format(
                    "places {} passed {} refused {:b} kept {:b} returning {:b} expects {}: frames {}", start.places,
                    start.passed, start.refused, start.kept, start.returning, start.expects,
                    fmt::join(frames, " "));
              });
            }
    }
  }
}

// 1. D <= P - k: the walk meets every one.
TEST(RankAndLotReliedOn, TheWalkMeetsAsManyAsThereAreUnkeptPlacesInEveryShortSequence) {
  u64 tried = 0;
  u64 missed = 0;
  meets_everybody<4>(hashes::all_different, 5, tried, missed);
  for (const hashes kind : {hashes::one_tag, hashes::in_the_lowest_bit, hashes::one_hash})
    meets_everybody<4>(kind, 4, tried, missed);
  EXPECT_EQ(missed, 0U);
  std::printf("at most as many as there are unkept places: %llu sequences, all met\n",
              static_cast<unsigned long long>(tried));
}

// And no more than that: the test above would see a tuple that is missed.
TEST(RankAndLotReliedOn, OneMoreThanThatIsMissedInSomeSequence) {
  u64 tried = 0;
  u64 missed = 0;
  meets_everybody<4>(hashes::one_tag, 5, tried, missed, 1);
  EXPECT_GT(missed, 0U);
}

// Sequences that differ in the names of tuples only are one: each new name is the next.
template <class Visit>
void for_each_pattern(u32 length, u32 distinct, Visit&& visit) {
  std::vector<u32> frames(length, 0);
  const auto fill = [&](const auto& self, u32 at, u32 named) -> void {
    if (length - at < distinct - named) return;
    if (at == length) return visit(static_cast<const std::vector<u32>&>(frames));
    for (u32 id = 0; id <= named && id < distinct; ++id) {
      frames[at] = id;
      self(self, at + 1, id == named ? named + 1 : named);
    }
  };
  fill(fill, 0, 0);
}

template <u32 Places>
u64 meets_every_pattern(u32 length) {
  u64 tried = 0;
  for (u32 kept = 0; kept <= rank_and_lot::most_kept; ++kept)
    for_each_pattern(length, Places - kept, [&](const std::vector<u32>& frames) {
      for (u32 variety = 0; variety < 4; ++variety) {
        one_slot<Places> slot{static_cast<hashes>(variety)};
        // Kept at both ends, in the clock, in the lottery.
        const u32 places_kept = kept == 0 ? 0 : kept == 1 ? 1U << (variety * 2 % Places) : 1U << variety | 1U << (Places - 1);
        const slot_start start{Places, variety, variety % 2 == 0 ? 0b010101U & ~places_kept : 0, places_kept, 0, false};
        if (begin_with(slot, start, Places) != kept) return ADD_FAILURE() << "not kept";
        id_set wrote = 0;
        for (const u32 id : frames) {
          (void)slot.write(id);
          wrote |= one_id(id);
        }
        ++tried;
        if ((wrote & ~slot.walk()) != 0) return ADD_FAILURE() << fmt::format("{}", fmt::join(frames, " "));
      }
    });
  return tried;
}

TEST(RankAndLotReliedOn, TheWalkMeetsAsManyInSlotsOfSixAndEight) {
  const u64 tried = meets_every_pattern<6>(9) + meets_every_pattern<8>(10);
  std::printf("slots of six and eight: %llu sequences, all met\n", static_cast<unsigned long long>(tried));
}

// Sixteen places with any history, runs that take what is due, and fourteen tuples as often as they like.
RC_GTEST_PROP(RankAndLotReliedOn, TheWalkOrARunMeetsFourteenWhateverWentBefore, ()) {
  one_slot<16> slot{*rc::gen::element(hashes::all_different, hashes::one_tag, hashes::in_the_lowest_bit, hashes::one_hash)};
  slot.table.draw_anew(0, *rc::gen::arbitrary<u32>());
  const auto tell_some = [&](u32 id) {
    const auto what = *rc::gen::weightedElement<int>({{4, -1}, {2, 1}, {3, 2}});
    if (what >= 0) (void)slot.tell(id, static_cast<tell_place>(what));
  };
  const u32 before = *rc::gen::inRange<u32>(0, 60);
  for (u32 i = 0; i < before; ++i) {
    const u32 id = *rc::gen::inRange<u32>(0, 50);
    switch (*rc::gen::weightedElement<int>({{12, 0}, {1, 1}, {2, 2}, {1, 3}})) {
      case 0: (void)slot.write(id); break;
      case 1: (void)slot.walk(); break;
      case 2: tell_some(id); break;
      default: slot.table.end_keeping(0); break;
    }
  }
  // The walk comes by.
  slot.table.end_keeping(0);
  (void)slot.walk();
  for (const u32 id : slot.stand()) tell_some(id);
  tell_some(*rc::gen::inRange<u32>(0, 14));
  // The interval.
  id_set wrote = 0;
  id_set met = 0;
  const u32 frames = *rc::gen::inRange<u32>(0, 80);
  for (u32 i = 0; i < frames; ++i) {
    const u32 id = *rc::gen::inRange<u32>(0, 14);
    if (slot.write(id, 2).due && *rc::gen::arbitrary<bool>()) {
      candidate<tuple4> out;
      u32 place = 0;
      RC_ASSERT(slot.table.take(0, 0, [](const auto& c) { return c.due; }, out, place) == got::one);
      met |= one_id(id_of(out.tuple));
      if (*rc::gen::arbitrary<bool>()) tell_some(id_of(out.tuple));
    }
    wrote |= one_id(id);
  }
  met |= slot.walk();
  RC_ASSERT((wrote & ~met) == 0U);
}

// 2. Any D, over every order of the tickets: that is what a poll draws from.
struct odds {
  u64 sequences = 0;
  u64 worst_met = ~u64{0};  // of all tuples of all sequences: orders in which it was met
  u64 orders = 0;
  std::string worst;
};

// Hashes whose tickets climb with their number, under the secret the table begins with.
template <u32 Places>
std::vector<u32> climbing_hashes(u32 n) {
  using image = typename one_slot<Places>::table_type::image;
  std::vector<std::pair<u32, u32>> by_ticket;
  for (u32 id = 0; id < n; ++id) {
    const u32 hashed = (id + 1) * 0x0907;
    image slot;
    u32 glance = 0;
    (void)slot.admit(0, tuple_of(0), hashed, packed_arrival{arrival{}}, 4, glance);
    slot.set_draw(1);
    by_ticket.emplace_back(typename image::view{slot, glance, tick{}}.ticket(0), hashed);
  }
  std::sort(by_ticket.begin(), by_ticket.end());
  std::vector<u32> climbing;
  for (u32 id = 0; id < n; ++id) {
    climbing.push_back(by_ticket[id].second);
    if (id > 0) EXPECT_LT(by_ticket[id - 1].first, by_ticket[id].first) << "tickets that tie show nothing";
  }
  return climbing;
}

template <u32 Places>
odds odds_of(u32 length, u32 distinct, u32 kept) {
  odds result;
  const std::vector<u32> climbing = climbing_hashes<Places>(distinct);
  for_each_pattern(length, distinct, [&](const std::vector<u32>& frames) {
    std::vector<u64> met_in(distinct, 0);
    std::vector<u32> order = climbing;
    u64 orders = 0;
    do {
      one_slot<Places> slot;
      slot.table.draw_anew(0, 1);
      slot.hash_as(order);
      if (begin_with(slot, {Places, 0, 0, kept, 0, false}, 0) != bits_of(kept)) return ADD_FAILURE() << "not kept";
      for (const u32 id : frames) (void)slot.write(id);
      const id_set met = slot.walk();
      for (u32 id = 0; id < distinct; ++id) met_in[id] += (met >> id) & 1;
      ++orders;
    } while (std::next_permutation(order.begin(), order.end(), [&](u32 a, u32 b) {
      return std::find(climbing.begin(), climbing.end(), a) < std::find(climbing.begin(), climbing.end(), b);
    }));
    ++result.sequences;
    result.orders = orders;
    for (u32 id = 0; id < distinct; ++id)
      if (met_in[id] < result.worst_met) {
        result.worst_met = met_in[id];
        result.worst = fmt::format("tuple {} of {} met in {} of {} orders", id, fmt::join(frames, " "), met_in[id], orders);
      }
  });
  return result;
}

template <u32 Places>
void expect_odds(u32 length, u32 distinct, u32 kept, u32 winners) {
  const odds o = odds_of<Places>(length, distinct, kept);
  EXPECT_GE(o.worst_met * distinct, o.orders * winners) << o.worst;
  std::printf("%u tuples, %u places, kept %x: %llu sequences x %llu orders, worst %llu, owed %u / %u: %s\n", distinct,
              Places, kept, static_cast<unsigned long long>(o.sequences), static_cast<unsigned long long>(o.orders),
              static_cast<unsigned long long>(o.worst_met), winners, distinct, o.worst.c_str());
}

TEST(RankAndLotReliedOn, WhoWroteIsMetWithTheOddsOfTheLottery) {
  expect_odds<4>(8, 5, 0, 2);
  expect_odds<4>(8, 6, 0, 2);
  expect_odds<6>(8, 7, 0, 3);
  expect_odds<4>(8, 5, 0b0001, 2);
  expect_odds<4>(8, 5, 0b0010, 2);
  expect_odds<4>(8, 5, 0b0100, 1);
  expect_odds<4>(8, 5, 0b1001, 1);
  expect_odds<4>(7, 4, 0b1010, 1);
  expect_odds<4>(7, 4, 0b0110, 1);
}

// By real secrets, in the slot of the host: one frame of a slow tuple, and then a crowd of `distinct` less one that goes round
// three times, in the same phase at every poll. After a last draw it goes round `late` times more.
struct slow_tuple {
  u32 hashed;
  u32 distinct;
  u32 late;
};
u32 met_of(const slow_tuple& slow, u32 draws) {
  u32 number = 0x2545'f491 + slow.hashed;
  const auto next_of = [&number] { return number = number * 1'664'525 + 1'013'904'223; };
  const auto draw = [&next_of](auto& slot) {
    const u32 high = next_of() & 0xffff'0000U;
    slot.table.draw_anew(0, high | next_of() >> 16);
  };
  std::vector<u32> hash_of_id{slow.hashed};
  while (hash_of_id.size() < slow.distinct) hash_of_id.push_back(next_of() >> 16);
  u32 met = 0;
  for (u32 i = 0; i < draws; ++i) {
    one_slot<16> slot;
    slot.hash_as(hash_of_id);
    draw(slot);
    (void)slot.write(0);
    for (u32 round = 0; round < 3 + slow.late; ++round) {
      if (round == 3) draw(slot);
      for (u32 id = 1; id < slow.distinct; ++id) (void)slot.write(id);
    }
    met += static_cast<u32>(slot.walk() & 1);
  }
  return met;
}

TEST(RankAndLotReliedOn, ASlowTupleIsMetByItsShareOfTheDrawsWhateverItsHash) {
  u32 least = 4'000;
  for (const u32 hashed : {0U, 0x8000U, 0x4000U, 0x1000U, 0x0100U, 1U, 0xffffU, 0x5ee5U}) {
    const u32 met = met_of({hashed, 40, 0}, 4'000);
    least = std::min(least, met);
    EXPECT_GE(met, 800U - 127U) << "hash " << hashed << ": five standard deviations below a share of 8 / 40";
  }
  std::printf("a slow tuple of forty in sixteen places: met in at least %u of 4000 draws, owed 800\n", least);
}

// Where the promise ends, each in its smallest case.
TEST(RankAndLotReliedOn, NewcomersIntoTheLotteryItselfCostAPlaceOfIt) {
  expect_odds<4>(3, 3, 0b0011, 1);
  expect_odds<4>(7, 4, 0b0011, 1);
  expect_odds<5>(8, 5, 0b0011, 2);
  const odds three_frames = odds_of<4>(3, 3, 0b0011);
  EXPECT_LT(three_frames.worst_met * 3, three_frames.orders * 2) << "both places would promise more";
}

TEST(RankAndLotReliedOn, ADrawBetweenTwoWalksHasToBeWonTwice) {
  const u32 met = met_of({0x5ee5, 40, 1}, 4'000);
  EXPECT_LT(met, 400U) << "one lottery would owe 800";
  EXPECT_GT(met, 80U) << "two of them 160";
}

TEST(RankAndLotReliedOn, ARefusedTupleThatWritesAgainMakesRoomFirst) {
  one_slot<4> slot;
  for (u32 i = 0; i < 4; ++i) (void)slot.write(i == 2 ? 0 : 96 + i);
  (void)slot.walk();
  (void)slot.write(0);
  for (u32 id = 1; id <= 3; ++id) (void)slot.write(id);
  EXPECT_TRUE(slot.stand() == (std::vector<u32>{1, 2, 0, 3}));
  (void)slot.write(4);
  EXPECT_TRUE(slot.stand() == (std::vector<u32>{1, 2, 4, 3}));
  // Who was pardoned is as good as any.
  one_slot<4> other;
  for (u32 i = 0; i < 4; ++i) (void)other.write(i == 2 ? 0 : 96 + i);
  (void)other.walk();
  ASSERT_EQ(other.tell(0, tell_place::pardon), told::yes);
  for (u32 id = 0; id <= 4; ++id) (void)other.write(id);
  const id_set met = other.walk();
  EXPECT_EQ(size_of(static_cast<place_set>(met)), 4U);
}
}  // namespace
}  // namespace octep

// The candidate table with a policy that ranks: what passes tell it, what it keeps, and that its books stay exact.
#include <octep/candidates.hpp>
#include <octep/rank_and_lot.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "test/rank_and_lot_model.hpp"

namespace octep {
namespace {

template <u32 Places, u32 Slots = 1>
using ranked_table = candidates<tuple4, limits{Slots, Places}, rank_and_lot>;

const auto anything = [](const auto&) { return true; };

tuple4 tuple_of(u32 id) { return tuple4::make(0x0a000001, 0x0a000002, id << 16 | 80, protocol::udp); }
u32 id_of(const tuple4& t) { return t.ports >> 16; }
// Seven tags, and two second bytes of the hash.
u32 hash_of(u32 id) { return (id % 7) * 0x21 | (id % 2) << 8; }

arrival frame_of(u32 id, u32 ms, bool closing = false) {
  arrival a;
  a.who = identity::make(id + 1, 1);
  a.where = {static_cast<u16>(id + 1), 0};
  a.closing = closing;
  a.at = tick{ms};
  return a;
}

// --- a pair of which one direction was met ----------------------------------------------------------------

template <u32 Places>
struct slot_of_a_table {
  using table_type = ranked_table<Places>;
  std::unique_ptr<table_type> table = std::make_unique<table_type>();
  u32 ms = 0;

  write_outcome write(u32 id, u32 log2 = 4, bool closing = false) {
    return table->write(tuple_of(id), hash_of(id), frame_of(id, ++ms, closing), log2);
  }
  told tell(u32 id, tell_place what) { return table->tell(tuple_of(id), hash_of(id), what, tick{ms}); }
  std::optional<candidate<tuple4>> find(u32 id) {
    candidate<tuple4> out;
    const got answer = table->find(tuple_of(id), hash_of(id), out);
    EXPECT_NE(answer, got::busy);
    return answer == got::one ? std::optional{out} : std::nullopt;
  }
  std::vector<u32> walk() {
    std::vector<u32> met;
    candidate<tuple4> out;
    u32 place = 0;
    while (table->take(0, 0, anything, out, place) == got::one) met.push_back(id_of(out.tuple));
    return met;
  }
  void strangers(u32 n) {
    for (u32 i = 0; i < n; ++i) (void)write(1000 + i);
  }
};

TEST(KeptPairs, StayForThePartnerAndNoLonger) {
  slot_of_a_table<16> slot;
  (void)slot.write(1);
  slot.strangers(9);
  ASSERT_EQ(slot.walk().size(), 10U);
  ASSERT_EQ(slot.tell(1, tell_place::expect), told::yes);
  ASSERT_EQ(slot.tell(2, tell_place::expect), told::yes);

  const auto expected = slot.find(2);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->who, identity{}) << "no make can be built on it";
  EXPECT_EQ(expected->count, 0U);
  EXPECT_TRUE(expected->read);
  EXPECT_TRUE(slot.walk().empty()) << "nobody came";

  slot.strangers(1000);
  ASSERT_TRUE(slot.find(1) && slot.find(2));
  (void)slot.walk();
  slot.strangers(1000);
  ASSERT_TRUE(slot.find(1) && slot.find(2));

  EXPECT_TRUE(slot.write(2).due) << "its first frame, long before the sixteenth";
  EXPECT_EQ(slot.find(2)->who, frame_of(2, 0).who);
  candidate<tuple4> out;
  u32 place = 0;
  ASSERT_EQ(slot.table->take(0, 0, [](const auto& c) { return c.due; }, out, place), got::one);
  EXPECT_EQ(out.tuple, tuple_of(2));
  EXPECT_TRUE(slot.find(1)) << "a make of both";

  slot.table->end_keeping(0);
  slot.strangers(1000);
  EXPECT_FALSE(slot.find(1));
  EXPECT_FALSE(slot.find(2));
}

TEST(KeptPairs, AreNotDueForAClosingFrameNorAfterTheirTime) {
  slot_of_a_table<8> slot;
  ASSERT_EQ(slot.tell(1, tell_place::expect), told::yes);
  EXPECT_FALSE(slot.write(1, 4, true).due);
  slot_of_a_table<8> late;
  ASSERT_EQ(late.tell(1, tell_place::expect), told::yes);
  late.table->end_keeping(0);
  EXPECT_FALSE(late.write(1).due);
}

TEST(KeptPairs, MayBeKeptAgainWhenTheirTimeIsOver) {
  slot_of_a_table<8> slot;
  ASSERT_EQ(slot.tell(1, tell_place::expect), told::yes);
  ASSERT_EQ(slot.tell(2, tell_place::expect), told::yes);
  ASSERT_EQ(slot.tell(1, tell_place::expect), told::yes) << "it still is";
  EXPECT_EQ(slot.tell(3, tell_place::expect), told::no) << "as many as a slot keeps";
  slot.table->end_keeping(0);
  EXPECT_EQ(slot.tell(3, tell_place::expect), told::yes);
  EXPECT_EQ(slot.tell(1, tell_place::expect), told::yes);
  EXPECT_EQ(slot.tell(2, tell_place::expect), told::no);
}

TEST(KeptPairs, FindNoPlaceInASlotFullOfUnreadOnes) {
  slot_of_a_table<4> slot;
  for (u32 id = 1; id <= 4; ++id) (void)slot.write(id);
  candidate<tuple4> out;
  u32 place = 0;
  ASSERT_EQ(slot.table->take(0, 0, anything, out, place), got::one);
  ASSERT_EQ(slot.tell(1, tell_place::expect), told::yes);
  EXPECT_EQ(slot.tell(9, tell_place::expect), told::no) << "who waits to be seen goes before who has not come";
  EXPECT_FALSE(slot.find(9));
  ASSERT_EQ(slot.table->take(0, 1, anything, out, place), got::one);
  EXPECT_EQ(slot.tell(9, tell_place::expect), told::yes) << "over the one that was read";
  EXPECT_FALSE(slot.find(id_of(out.tuple)));
  EXPECT_TRUE(slot.find(1));
}

TEST(KeptPairs, ADiscardEndsThem) {
  slot_of_a_table<4> slot;
  (void)slot.write(1);
  ASSERT_EQ(slot.tell(1, tell_place::expect), told::yes);
  ASSERT_EQ(slot.tell(2, tell_place::expect), told::yes);
  emptied gone;
  ASSERT_TRUE(slot.table->empty_slot(0, gone));
  EXPECT_EQ(gone.unread, 1U);
  EXPECT_EQ(gone.read, 1U);
  EXPECT_FALSE(slot.find(1) || slot.find(2));
  EXPECT_FALSE(slot.write(2).due) << "nobody expects it any more";
  EXPECT_EQ(slot.tell(2, tell_place::expect), told::yes);
  EXPECT_EQ(slot.tell(3, tell_place::expect), told::yes) << "as many as at first";
  EXPECT_EQ(slot.tell(4, tell_place::expect), told::no);
}

TEST(KeptPairs, AHeldWordIsNotWaitedFor) {
  slot_of_a_table<4> slot;
  (void)slot.write(1);
  ASSERT_EQ(slot.tell(1, tell_place::expect), told::yes);
  ASSERT_TRUE(slot.table->for_each_place(0, [&](u32, const candidate<tuple4>&) {
    EXPECT_EQ(slot.tell(1, tell_place::expect), told::not_now);
    EXPECT_EQ(slot.tell(1, tell_place::pardon), told::not_now);
    EXPECT_EQ(slot.tell(2, tell_place::expect), told::not_now);
    slot.table->end_keeping(0);
  }));
  slot.strangers(1000);
  EXPECT_TRUE(slot.find(1)) << "kept until a poll that gets the word";
}

TEST(Ranks, OfAPolicyWithoutThemAreToldNo) {
  candidates<tuple4, limits{1, 4}> table;
  (void)table.write(tuple_of(1), hash_of(1), frame_of(1, 1), 4);
  for (const tell_place what : {tell_place::pardon, tell_place::expect})
    EXPECT_EQ(table.tell(tuple_of(1), hash_of(1), what, tick{1}), told::no);
  EXPECT_EQ(table.tell(tuple_of(1), hash_of(1), tell_place::restart, tick{1}), told::yes);
}

// --- the table against the list of sentences --------------------------------------------------------------

// A slot as a list of places that a reader can check by eye; the choice is the model's of rank_and_lot_model.hpp. Tickets
// are asked of the table's own image, for they are numbers that say nothing.
template <u32 Places>
class ranked_list {
 public:
  struct place {
    u32 id;
    candidate<tuple4> shown;
    bool refused = false, kept = false;
    u32 seen = 1;  // frames when the hand came by
  };
  static constexpr u64 most_kept = 2;

  write_outcome write(u32 id, const arrival& frame, u32 log2) {
    ++books.written;
    write_outcome outcome;
    place* at = find(id);
    if (at != nullptr) {
      outcome.lost = !at->shown.read;
      if (at->shown.read) at->shown.closing = false;
      const bool awaited = at->kept && at->shown.count == 0;
      ++at->shown.count;
      outcome.due = !frame.closing && (awaited || doubles(at->shown.count, log2));
    } else {
      at = make_room(outcome);
      *at = place{id, {}};
      at->shown.tuple = tuple_of(id);
      at->shown.count = 1;
      outcome.due = !frame.closing && log2 == 0;
    }
    candidate<tuple4>& c = at->shown;
    c.due = (c.due && !c.read) || outcome.due;
    c.closing = c.closing || frame.closing;
    c.read = false;
    c.who = frame.who;
    c.where = frame.where;
    c.association = frame.association;
    c.at = frame.at;
    books.lost += outcome.lost;
    books.evicted += outcome.evicted;
    return outcome;
  }

  std::optional<candidate<tuple4>> take(u32 from, bool due_only) {
    for (u32 i = from; i < places.size(); ++i) {
      if (!places[i] || places[i]->shown.read || (due_only && !places[i]->shown.due)) continue;
      const candidate<tuple4> before = places[i]->shown;
      places[i]->shown.read = true;
      places[i]->shown.due = false;
      places[i]->refused = true;
      ++books.taken;
      return before;
    }
    return std::nullopt;
  }

  told tell(u32 id, tell_place what, tick now) {
    place* at = find(id);
    if (what == tell_place::restart) {
      if (at != nullptr) at->shown.count = 0, at->shown.due = false;
      return told::yes;
    }
    if (at == nullptr) {
      if (what != tell_place::expect || kept() >= most_kept) return told::no;
      const bool some_empty = std::any_of(places.begin(), places.end(), [](const auto& p) { return !p; });
      for (u32 i = 0; i < Places && at == nullptr; ++i)
        if (some_empty ? !places[i] : places[i]->shown.read && !places[i]->kept) {
          places[i] = place{id, {}};
          at = &*places[i];
          at->shown.tuple = tuple_of(id);
          at->shown.at = now;
          at->shown.read = true;
        }
      if (at == nullptr) return told::no;
    }
    at->refused = false;
    if (what == tell_place::pardon) return told::yes;
    if (!at->kept && kept() >= most_kept) return told::no;
    at->kept = true;
    return told::yes;
  }

  void end_keeping() {
    for (auto& p : places)
      if (p) p->kept = false;
  }

  emptied empty() {
    emptied gone;
    for (auto& p : places) {
      if (p) ++(p->shown.read ? gone.read : gone.unread);
      p.reset();
    }
    books.emptied_unread += gone.unread;
    return gone;
  }

  [[nodiscard]] u64 kept() const {
    u64 n = 0;
    for (const auto& p : places) n += p && p->kept;
    return n;
  }

  struct {
    u64 written = 0, lost = 0, evicted = 0, taken = 0, emptied_unread = 0;
  } books;
  std::vector<std::optional<place>> places = std::vector<std::optional<place>>(Places);
  u32 draw = 0;

 private:
  place* find(u32 id) {
    for (auto& p : places)
      if (p && p->id == id) return &*p;
    return nullptr;
  }
  static bool doubles(u32 count, u32 log2) {
    for (u64 n = u64{1} << log2; n < (u64{1} << 22); n *= 2)
      if (count == n) return true;
    return false;
  }

  [[nodiscard]] int ticket(u32 id) const {
    using image = typename ranked_table<Places>::image;
    image slot;
    u32 glance = 0;
    (void)slot.admit(0, tuple_of(id), hash_of(id), packed_arrival{arrival{}}, 4, glance);
    // The order is what counts: the model compares signed numbers.
    slot.set_draw(draw);
    return static_cast<int>(typename image::view{slot, glance, tick{}}.ticket(0) ^ 0x8000'0000U);
  }

  place* make_room(write_outcome& outcome) {
    test::ranked_slot<int{Places}> slot;
    slot.next = next_;
    slot.hand = hand_;
    for (u32 i = 0; i < Places; ++i) {
      if (!places[i]) continue;
      const place& p = *places[i];
      slot.place[i] = {true, !p.shown.read, p.refused, p.kept, i < Places / 2 && p.shown.count % 256 != p.seen % 256, ticket(p.id)};
    }
    const auto before = slot;
    const test::room_made room = test::rank_and_lot_model<int{Places}>{slot}.make_room();
    next_ = slot.next;
    hand_ = slot.hand;
    for (u32 i = 0; i < Places; ++i)
      if (before.place[i].again && !slot.place[i].again) places[i]->seen = places[i]->shown.count;
    auto& to = places[static_cast<u32>(room.place)];
    auto& goes = room.moves_to == -1 ? to : places[static_cast<u32>(room.moves_to)];
    if (goes) {
      outcome.lost = outcome.evicted = !goes->shown.read;
      outcome.evicted_read = goes->shown.read;
    }
    if (room.moves_to != -1) goes = to;
    to = place{};
    return &*to;
  }

  int next_ = 0;
  int hand_ = 0;
};

struct ranked_step {
  u8 kind = 0;
  u8 which = 0;
  u8 detail = 0;
};
std::ostream& operator<<(std::ostream& out, const ranked_step& s) {
  static const char* const names[] = {"write", "burst", "take", "take due", "tell", "end keeping", "draw", "discard", "find"};
  return out << fmt::format("{{{} {} {}}}", names[s.kind % 9], s.which, s.detail);
}

template <u32 Places>
class ranked_twins {
 public:
  std::string apply(const ranked_step& s, u32 tuples) {
    const u32 id = s.which % tuples;
    switch (s.kind % 9) {
      case 0: return write(id, s.detail);
      case 1:
        for (u32 i = 0; i < s.detail; ++i)
          if (std::string wrong = write((id + i * (1 + s.detail % 3)) % tuples, 4); !wrong.empty()) return wrong;
        return {};
      case 2: return take(s.detail % (Places + 1), false);
      case 3: return take(0, true);
      case 4: {
        const auto what = static_cast<tell_place>(s.detail % 3);
        const told got = slot_.tell(id, what);
        const told want = list_.tell(id, what, tick{slot_.ms});
        return got == want ? std::string{} : fmt::format("told {} instead of {}", static_cast<int>(got), static_cast<int>(want));
      }
      case 5:
        slot_.table->end_keeping(0);
        list_.end_keeping();
        return {};
      case 6:
        list_.draw = (s.detail + s.which * 256U) * 0x0101'6b35U;
        slot_.table->draw_anew(0, list_.draw);
        return {};
      case 7: {
        emptied gone;
        if (!slot_.table->empty_slot(0, gone)) return "the word is held by nobody";
        const emptied want = list_.empty();
        emptied_unread_ += gone.unread;
        return gone.unread == want.unread && gone.read == want.read ? "" : "miscounted what it emptied";
      }
      default: {
        const auto got = slot_.find(id);
        for (const auto& p : list_.places)
          if (p && p->id == id) return got && *got == p->shown ? "" : "find: missed it, or found another";
        return got ? "find: one too many" : "";
      }
    }
  }

  // Place by place, and the books by what the table answered.
  std::string compare() {
    std::vector<std::optional<candidate<tuple4>>> shown(Places);
    u64 unread = 0;
    if (!slot_.table->for_each_place(0, [&](u32 i, const candidate<tuple4>& c) {
          shown[i] = c;
          unread += !c.read;
        }))
      return "the word is held by nobody";
    for (u32 i = 0; i < Places; ++i) {
      const auto& want = list_.places[i];
      if (shown[i].has_value() != want.has_value()) return fmt::format("place {}: one of two is empty", i);
      if (want && *shown[i] != want->shown)
        return fmt::format("place {}: tuple {} count {} instead of {} count {}", i, id_of(shown[i]->tuple), shown[i]->count,
                           want->id, want->shown.count);
      for (u32 k = 0; k < i; ++k)
        if (shown[i] && shown[k] && shown[i]->tuple == shown[k]->tuple) return fmt::format("one tuple in {} and {}", k, i);
    }
    if (written_ != taken_ + lost_ + emptied_unread_ + unread)
      return fmt::format("written {} != taken {} + lost {} + emptied {} + unread {}", written_, taken_, lost_,
                         emptied_unread_, unread);
    if (list_.kept() > 2) return "more are kept than may be";
    return {};
  }

 private:
  std::string write(u32 id, u32 detail) {
    const bool closing = detail % 16 == 15;
    const u32 log2 = detail % 5;
    const write_outcome got = slot_.write(id, log2, closing);
    const write_outcome want = list_.write(id, frame_of(id, slot_.ms, closing), log2);
    written_ += !got.clash;
    lost_ += got.lost;
    if (got.evicted && !got.lost) return "evicted and not lost";
    if (got.evicted_read && got.lost) return "read and lost";
    return got == want ? std::string{}
                       : fmt::format("write {}: lost {:d}{:d} evicted {:d}{:d} read {:d}{:d} due {:d}{:d}", id, got.lost,
                                     want.lost, got.evicted, want.evicted, got.evicted_read, want.evicted_read, got.due,
                                     want.due);
  }
  std::string take(u32 from, bool due_only) {
    candidate<tuple4> out;
    u32 place = 0;
    const got answer = slot_.table->take(0, from, [&](const auto& c) { return !due_only || c.due; }, out, place);
    const auto want = list_.take(from, due_only);
    taken_ += answer == got::one;
    if ((answer == got::one) != want.has_value()) return "take: one of two found nothing";
    return want && out != *want ? "take: another" : "";
  }

  slot_of_a_table<Places> slot_;
  ranked_list<Places> list_;
  u64 written_ = 0, lost_ = 0, taken_ = 0, emptied_unread_ = 0;
};

template <u32 Places>
void the_table_is_the_list() {
  const auto step = rc::gen::build<ranked_step>(
      rc::gen::set(&ranked_step::kind, rc::gen::weightedElement<u8>(
                                           {{12, 0}, {3, 1}, {8, 2}, {2, 3}, {6, 4}, {2, 5}, {1, 6}, {1, 7}, {1, 8}})),
      rc::gen::set(&ranked_step::which, rc::gen::arbitrary<u8>()),
      rc::gen::set(&ranked_step::detail, rc::gen::inRange<u8>(0, 48)));
  const u32 tuples = *rc::gen::inRange<u32>(Places / 2, Places * 3);
  const u32 length = *rc::gen::inRange<u32>(0, 250);
  const auto steps = *rc::gen::container<std::vector<ranked_step>>(length, step);
  ranked_twins<Places> twins;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string wrong = twins.apply(steps[i], tuples);
    if (wrong.empty()) wrong = twins.compare();
    if (!wrong.empty()) RC_FAIL(fmt::format("step {}: {}", i, wrong));
  }
}

RC_GTEST_PROP(RankedTableAgainstTheList, FourPlaces, ()) { the_table_is_the_list<4>(); }
RC_GTEST_PROP(RankedTableAgainstTheList, FivePlaces, ()) { the_table_is_the_list<5>(); }
RC_GTEST_PROP(RankedTableAgainstTheList, EightPlaces, ()) { the_table_is_the_list<8>(); }
RC_GTEST_PROP(RankedTableAgainstTheList, SixteenPlaces, ()) { the_table_is_the_list<16>(); }

}  // namespace
}  // namespace octep

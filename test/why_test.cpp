#include <octep/why.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <vector>

#include "test/engine/held.hpp"
#include "test/support.hpp"

namespace octep {
namespace {

using test::numbered;

// Neighbours share a set: the set is named by two bits, and what is forgotten by all of the low ones.
struct two_bits {
  template <tuple_type Tuple>
  u32 operator()(const Tuple& t) const noexcept {
    const u32 n = t.source_port() + (is_same<Tuple, tuple6> ? 7U : 0U);
    if constexpr (is_same<Tuple, tuple4>)
      return (n << 30) | t.source * 16 | n % 16;
    else
      return (n << 30) | t.source[0] * 16 | n % 16;
  }
};
using small_memory = why_memory<why_limits{.sets = 4, .ways = 2, .forgotten_bits = 64}, two_bits>;

template <tuple_type Tuple>
event told(event_kind kind, const Tuple& t, reason why = reason::none, u64 at = 0, handle connection = {}) {
  event e;
  e.kind = kind;
  e.why = why;
  e.at = {at};
  e.connection = connection;
  e.names_tuple = true;
  e.which = Tuple::which;
  if constexpr (is_same<Tuple, tuple4>)
    e.v4 = t;
  else
    e.v6 = t;
  return e;
}
event told(event_kind kind, u64 at = 0) {
  event e;
  e.kind = kind;
  e.at = {at};
  return e;
}

TEST(why, knows_nobody_at_first_and_says_so) {
  const small_memory m;
  const explanation e = m.of(numbered<tuple4>(1));
  EXPECT_EQ(e.told, recollection::never_seen);
  EXPECT_STREQ(e.change(), row(reason::not_asked).change);
  EXPECT_FALSE(e.held);
  EXPECT_EQ(m.evicted(), 0U);
}

template <tuple_type Tuple>
void last_decision() {
  small_memory m;
  const auto t = numbered<Tuple>(1);
  m(told(event_kind::refused, t, reason::flow_wait_other, 5));
  m(told(event_kind::refused, t, reason::flow_wait_other, 6));
  m(told(event_kind::refused, t, reason::flow_nostate, 7));
  m(told(event_kind::refused, t, reason::flow_nostate, 8));
  m(told(event_kind::refused, t, reason::flow_nostate, 9));
  const explanation e = m.of(t);
  EXPECT_EQ(e.told, recollection::known);
  EXPECT_EQ(e.last, event_kind::refused);
  EXPECT_EQ(e.why, reason::flow_nostate);
  EXPECT_EQ(e.at, instant{9});
  EXPECT_EQ(e.in_a_row, 3U);
  EXPECT_EQ(e.in_all, 5U);
  EXPECT_STREQ(e.change(), row(reason::flow_nostate).change);
  using other = std::conditional_t<is_same<Tuple, tuple4>, tuple6, tuple4>;
  EXPECT_EQ(m.of(numbered<other>(1)).told, recollection::never_seen) << "the same words of the other family are a stranger's";
}
TEST(why, tells_the_last_decision_and_how_often_it_was_taken_for_ipv4) { last_decision<tuple4>(); }
TEST(why, tells_the_last_decision_and_how_often_it_was_taken_for_ipv6) { last_decision<tuple6>(); }

// One test a reason: it is the answer, and its words are the reason's own.
TEST(why, answers_with_each_reason_and_what_would_have_to_change) {
  for (const reason_row& r : reason_rows) {
    small_memory m;
    m(told(event_kind::refused, numbered<tuple4>(2), r.is, 1));
    EXPECT_EQ(m.of(numbered<tuple4>(2)).why, r.is) << r.name;
    EXPECT_STREQ(m.of(numbered<tuple4>(2)).change(), r.change);
  }
}

TEST(why, follows_a_connection_into_hardware_and_out_of_it) {
  small_memory m;
  const auto t = numbered<tuple4>(1);
  m(told(event_kind::make_begins, t, reason::none, 1, {3, 4}));
  EXPECT_FALSE(m.of(t).held);
  m(told(event_kind::made, t, reason::none, 2, {3, 4}));
  EXPECT_TRUE(m.of(t).held);
  EXPECT_EQ(m.of(t).connection, (handle{3, 4}));
  m(told(event_kind::idle, t, reason::none, 3, {3, 4}));
  EXPECT_EQ(m.of(t).last, event_kind::made) << "that it is idle decides nothing";
  m(told(event_kind::given_back, t, reason::flow_pending, 4, {3, 4}));
  EXPECT_TRUE(m.of(t).held) << "until it is taken out";
  m(told(event_kind::taken_out, t, reason::flow_pending, 5, {3, 4}));
  EXPECT_FALSE(m.of(t).held);
  event hold = told(event_kind::held_back, t, reason::flow_pending, 5, {3, 4});
  hold.until = {50};
  hold.count = 2;
  m(hold);
  EXPECT_EQ(m.of(t).hold_level, 2U);
  EXPECT_EQ(m.of(t).hold_until, instant{50});
  EXPECT_TRUE(m.of(t).held_back({49}));
  EXPECT_FALSE(m.of(t).held_back({50}));
  m(told(event_kind::hold_ends, t, reason::none, 50));
  EXPECT_FALSE(m.of(t).held_back({49}));
  EXPECT_EQ(m.of(t).hold_level, 2U) << "the level is kept for the next";
}

TEST(why, takes_nobody_for_held_after_the_far_side_lost_everything) {
  for (const event_kind lost : {event_kind::discarded, event_kind::far_side_reset}) {
    small_memory m;
    const auto held = numbered<tuple4>(1);
    const auto refused = numbered<tuple4>(2);
    m(told(event_kind::made, held, reason::none, 1, {3, 4}));
    m(told(event_kind::refused, refused, reason::flow_nostate, 2));
    m(told(lost, 7));
    EXPECT_FALSE(m.of(held).held);
    EXPECT_EQ(m.of(held).last, lost);
    EXPECT_EQ(m.of(held).at, instant{7});
    EXPECT_EQ(m.of(refused).why, reason::flow_nostate);
    m(told(event_kind::made, held, reason::none, 8, {3, 5}));
    EXPECT_TRUE(m.of(held).held);
    EXPECT_EQ(m.of(held).in_all, 2U);
  }
}

// The model: a list of tuples a set, who was told of longest ago in front.
RC_GTEST_PROP(Why, RemembersTheLastToldOfASetAndAdmitsWhatItForgot, ()) {
  small_memory m;
  std::map<u32, std::vector<u32>> sets;
  std::map<u32, u32> in_all;
  std::set<u32> bits;
  u64 evicted = 0;
  const two_bits hash;
  const auto steps = *rc::gen::container<std::vector<u32>>(rc::gen::inRange<u32>(0, 24));
  const auto of = [&](u32 n) { return n % 2 == 0 ? m.of(numbered<tuple4>(n / 2)) : m.of(numbered<tuple6>(n / 2)); };
  const auto hashed = [&](u32 n) { return n % 2 == 0 ? hash(numbered<tuple4>(n / 2)) : hash(numbered<tuple6>(n / 2)); };
  for (const u32 n : steps) {
    if (n % 2 == 0)
      m(told(event_kind::refused, numbered<tuple4>(n / 2), reason::flow_nostate, n));
    else
      m(told(event_kind::refused, numbered<tuple6>(n / 2), reason::flow_nostate, n));
    auto& set = sets[hashed(n) >> 30];
    const auto there = std::find(set.begin(), set.end(), n);
    if (there != set.end()) {
      set.erase(there);
    } else if (set.size() == 2) {
      bits.insert(hashed(set.front()) % 64);
      in_all.erase(set.front());
      set.erase(set.begin());
      ++evicted;
    }
    set.push_back(n);
    ++in_all[n];
    RC_ASSERT(m.evicted() == evicted);
    RC_ASSERT(m.remembered() == in_all.size());
    for (u32 k = 0; k < 24; ++k) {
      const explanation e = of(k);
      if (in_all.count(k) != 0) {
        RC_ASSERT(e.told == recollection::known);
        RC_ASSERT(e.in_all == in_all[k]);
      } else {
        RC_ASSERT(e.told == (bits.count(hashed(k) % 64) != 0 ? recollection::perhaps_forgotten : recollection::never_seen));
      }
    }
  }
  m.clear();
  RC_ASSERT(m.remembered() == 0U && of(0).told == recollection::never_seen);
}

TEST(why, says_nothing_would_help_who_is_perhaps_forgotten) {
  why_memory<why_limits{.sets = 1, .ways = 1, .forgotten_bits = 64}, two_bits> m;
  m(told(event_kind::refused, numbered<tuple4>(1), reason::flow_nostate));
  m(told(event_kind::refused, numbered<tuple4>(2), reason::flow_nostate));
  EXPECT_EQ(m.of(numbered<tuple4>(1)).told, recollection::perhaps_forgotten);
  EXPECT_STREQ(m.of(numbered<tuple4>(1)).change(), "");
}

// --- beside an engine ---------------------------------------------------------------------------------------

struct why_beside_an_engine : test::held {
  why_memory<> memory;
  std::size_t heard = 0;

  explanation ask(const tuple4& t) {
    auto& seen = top.world.events.seen;
    for (; heard < seen.size(); ++heard) memory(seen[heard]);
    return why_of(memory, top.core().table(), top.core().held_back(), t, top.core().hash_of(t));
  }
  // Both tuples of the connection have this answer.
  explanation ask_both() {
    const explanation a = ask(opener);
    const explanation b = ask(reverse(opener));
    EXPECT_EQ(a.told, b.told);
    EXPECT_EQ(a.last, b.last);
    EXPECT_EQ(a.why, b.why);
    EXPECT_EQ(a.at, b.at);
    EXPECT_EQ(a.in_a_row, b.in_a_row);
    EXPECT_EQ(a.in_all, b.in_all);
    EXPECT_EQ(a.held, b.held);
    EXPECT_EQ(a.connection, b.connection);
    EXPECT_EQ(a.hold_level, b.hold_level);
    EXPECT_EQ(a.hold_until, b.hold_until);
    return a;
  }
};

TEST_F(why_beside_an_engine, answers_both_tuples_alike_while_it_is_held) {
  const explanation e = ask_both();
  EXPECT_EQ(e.told, recollection::known);
  EXPECT_EQ(e.last, event_kind::made);
  EXPECT_TRUE(e.held);
  EXPECT_EQ(e.connection, at);
}

TEST_F(why_beside_an_engine, answers_both_tuples_alike_while_it_is_held_back) {
  (void)top.core().set(setting::revive, 0, top.now);
  (void)top.core().set(setting::hold_min_ms, 30'000, top.now);
  read_answers(given_back());
  top.settle();
  explanation e = ask_both();
  EXPECT_FALSE(e.held);
  EXPECT_EQ(e.last, event_kind::held_back);
  EXPECT_EQ(e.why, reason::flow_revive_off);
  EXPECT_EQ(e.hold_level, 1U);
  EXPECT_TRUE(e.held_back(top.now));
  // The other direction's frame is refused under its own tuple; both know.
  frame_back();
  for (int polls = 0; polls < 3; ++polls) {
    top.now.us += 1'000'000;
    top.settle();
  }
  e = ask_both();
  EXPECT_EQ(e.last, event_kind::refused);
  EXPECT_EQ(e.why, reason::flow_held_back);
  EXPECT_STREQ(e.change(), row(reason::flow_held_back).change);
}

TEST_F(why_beside_an_engine, knows_a_tuple_of_nobody_by_itself) {
  (void)top.frame(test::flow(3), 1, 300);
  top.now.us += 2'000'000;
  top.settle();
  EXPECT_EQ(ask(test::flow(3)).why, reason::flow_nostate);
  EXPECT_EQ(ask(reverse(test::flow(3))).told, recollection::never_seen);
  EXPECT_FALSE(ask(test::flow(3)).held);
}

}  // namespace
}  // namespace octep

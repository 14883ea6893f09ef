#include <octep/holds.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

struct table {
  test::block memory;
  holds inside;

  explicit table(u32 capacity) : memory{holds::bytes_for(capacity)} {
    arena a = memory.cut();
    EXPECT_TRUE(inside.init(a, capacity));
    EXPECT_EQ(a.left(), 0U);
  }
  holds* operator->() { return &inside; }
};

// Six tuples of each family, the same words in both. Three hashes for all, so that chains are shared by strangers.
constexpr u32 tuples = 6;
u32 hash_of(u32 number) { return (number % 3) * 0x5555'5555U; }

// The model: entries by index, as a reader would list them on paper.
struct entry {
  family which;
  std::pair<u32, u32> numbers;
  hold_state state;
  u64 until;
};
struct model {
  u32 capacity;
  std::map<u32, entry> all;

  u32 find(family which, u32 number) const {
    for (const auto& [i, e] : all)
      if (e.which == which && (e.numbers.first == number || e.numbers.second == number)) return i;
    return holds::none;
  }
  // Who ends first; of equals the smaller index.
  u32 first() const {
    u32 best = holds::none;
    for (const auto& [i, e] : all)
      if (best == holds::none || e.until < all.at(best).until) best = i;
    return best;
  }
  // The entry that is there already; `none`: a new one is made, after what stands in its way has gone.
  u32 make_way(family which, std::pair<u32, u32> numbers, bool& forgot) {
    forgot = false;
    for (const u32 n : {numbers.first, numbers.second})
      if (const u32 i = find(which, n); i != holds::none) {
        if (all.at(i).numbers == numbers) return i;
        all.erase(i);
      }
    if (all.size() == capacity) {
      forgot = all.at(first()).state == hold_state::holding;
      all.erase(first());
    }
    return holds::none;
  }
};

template <tuple_type Tuple>
void same_find(const holds& h, const model& m) {
  for (u32 n = 0; n < tuples; ++n) {
    const u32 i = m.find(Tuple::which, n);
    RC_ASSERT(h.find(test::numbered<Tuple>(n), hash_of(n)) == i);
    RC_ASSERT(h.find(test::numbered<Tuple>(n), hash_of(n) ^ 0x8000'0000U) == holds::none);
    const bool held = i != holds::none && m.all.at(i).state == hold_state::holding;
    RC_ASSERT(h.held_until(test::numbered<Tuple>(n), hash_of(n)) == (held ? instant{m.all.at(i).until} : instant{}));
  }
}
void same(const holds& h, const model& m) {
  RC_ASSERT(h.used() == m.all.size());
  RC_ASSERT(h.next() == (m.all.empty() ? never : instant{m.all.at(m.first()).until}));
  for (const auto& [i, e] : m.all) {
    RC_ASSERT(h[i].state == e.state);
    RC_ASSERT(h.ends_at(i) == instant{e.until});
  }
  same_find<tuple4>(h, m);
  same_find<tuple6>(h, m);
}

template <tuple_type Tuple>
u32 enter(holds& h, model& m, std::pair<u32, u32> numbers) {
  const tuple_pair<Tuple> pair{test::numbered<Tuple>(numbers.first), test::numbered<Tuple>(numbers.second)};
  bool should_forget = false;
  const u32 there = m.make_way(Tuple::which, numbers, should_forget);
  bool forgot = !should_forget;
  const u32 i = h.entry_for(pair, {hash_of(numbers.first), hash_of(numbers.second)}, forgot);
  RC_ASSERT(forgot == should_forget);
  RC_ASSERT(i < h.capacity());
  if (there != holds::none) {
    RC_ASSERT(i == there);
    return i;
  }
  RC_ASSERT(m.all.count(i) == 0U);
  RC_ASSERT(h[i].state == hold_state::resting);
  RC_ASSERT(h[i].which == Tuple::which);
  RC_ASSERT(h[i].wait.level() == 0);
  RC_ASSERT((h[i].counts == array<u32, 2>{}));
  RC_ASSERT(holds::pair_in<Tuple>(h[i]) == pair);
  return i;
}

RC_GTEST_PROP(Holds, AreFoundForgottenAndEndedAsOnPaper, ()) {
  const u32 capacity = *rc::gen::inRange<u32>(1, 5);
  table t{capacity};
  model m{capacity, {}};
  enum what : int { into, becoming, releasing, ending };
  struct step {
    int does;
    bool six;
    u32 a, b;  // two tuples, or the index
    int state;
    u64 at;
  };
  const auto steps = *rc::gen::scale(
      2.0, rc::gen::container<std::vector<step>>(rc::gen::build<step>(
               rc::gen::set(&step::does, rc::gen::weightedElement<int>({{6, into}, {2, becoming}, {1, releasing}, {2, ending}})),
               rc::gen::set(&step::six, rc::gen::arbitrary<bool>()), rc::gen::set(&step::a, rc::gen::inRange<u32>(0, tuples)),
               rc::gen::set(&step::b, rc::gen::inRange<u32>(0, tuples)), rc::gen::set(&step::state, rc::gen::inRange<int>(1, 4)),
               rc::gen::set(&step::at, rc::gen::oneOf(rc::gen::inRange<u64>(0, 6),
                                                      rc::gen::element<u64>(0xffff'ffff, 0x1'0000'0000, never.us - 1))))));
  for (const step& s : steps) {
    const auto state = static_cast<hold_state>(s.state);
    switch (s.does) {
      case into: {
        if (s.a == s.b) break;
        const std::pair<u32, u32> numbers{s.a, s.b};
        const u32 i = s.six ? enter<tuple6>(t.inside, m, numbers) : enter<tuple4>(t.inside, m, numbers);
        (void)t.inside[i].wait.next({}, {{1}, {1}, {1}});
        t->become(i, state, {s.at});
        m.all[i] = {s.six ? family::ipv6 : family::ipv4, numbers, state, s.at};
        break;
      }
      case becoming:
        if (m.all.count(s.a) == 0) break;
        t->become(s.a, state, {s.at});
        m.all[s.a].state = state;
        m.all[s.a].until = s.at;
        break;
      case releasing:  // a free one stays free
        if (s.a < capacity) t->release(s.a);
        m.all.erase(s.a);
        break;
      case ending: {
        const u32 first = m.first();
        const u32 due = first != holds::none && m.all[first].until <= s.at ? first : holds::none;
        RC_ASSERT(t->pop_due({s.at}) == due);
        if (due == holds::none) break;
        RC_ASSERT(t->ends_at(due) == never);
        t->become(due, hold_state::resting, {s.at});
        m.all[due].state = hold_state::resting;
        m.all[due].until = s.at;
        break;
      }
    }
    same(t.inside, m);
  }
}

TEST(holds, refuse_no_capacity_and_too_little_memory) {
  holds none;
  test::block memory{holds::bytes_for(3)};
  arena a = memory.cut();
  EXPECT_FALSE(none.init(a, 0));
  EXPECT_FALSE(none.init(a, 4));
  EXPECT_TRUE(none.init(a, 3));
}

template <tuple_type Tuple>
void either_tuple_finds_it() {
  table t{2};
  const tuple_pair<Tuple> pair{test::numbered<Tuple>(0), test::numbered<Tuple>(5)};
  bool forgot = true;
  const u32 i = t->entry_for(pair, {7, 9}, forgot);
  EXPECT_FALSE(forgot);
  t->become(i, hold_state::holding, {50});
  EXPECT_EQ(t->find(pair[0], 7), i);
  EXPECT_EQ(t->find(pair[1], 9), i);
  EXPECT_EQ(t->held_until(pair[1], 9), instant{50});
  using other = std::conditional_t<is_same<Tuple, tuple4>, tuple6, tuple4>;
  EXPECT_EQ(t->find(test::numbered<other>(0), 7), holds::none) << "the same words of the other family are a stranger's";
}
TEST(holds, are_found_by_either_tuple_of_ipv4) { either_tuple_finds_it<tuple4>(); }
TEST(holds, are_found_by_either_tuple_of_ipv6) { either_tuple_finds_it<tuple6>(); }

TEST(holds, of_a_full_table_forget_the_one_that_ends_first_and_say_whether_it_held) {
  table t{2};
  bool forgot = false;
  const auto enter_one = [&](u32 n, hold_state state, u64 until) {
    const u32 i = t->entry_for<tuple4>({test::numbered<tuple4>(n), test::numbered<tuple4>(n + 1)}, {n, n + 1}, forgot);
    t->become(i, state, {until});
  };
  enter_one(0, hold_state::holding, 90);
  enter_one(2, hold_state::waiting, 10);
  enter_one(4, hold_state::holding, 80);
  EXPECT_FALSE(forgot) << "a wait was forgotten, no hold";
  EXPECT_EQ(t->find(test::numbered<tuple4>(2), 2), holds::none);
  enter_one(6, hold_state::holding, 70);
  EXPECT_TRUE(forgot);
  EXPECT_EQ(t->find(test::numbered<tuple4>(5), 5), holds::none);
  EXPECT_NE(t->find(test::numbered<tuple4>(0), 0), holds::none);
  EXPECT_EQ(t->used(), 2U);
}

TEST(holds, of_half_a_connection_end_when_the_tuple_becomes_another_connections) {
  table t{4};
  const auto n = [](u32 i) { return test::numbered<tuple4>(i); };
  bool forgot = false;
  const u32 left = t->entry_for<tuple4>({n(0), n(1)}, {0, 1}, forgot);
  t->become(left, hold_state::holding, {90});
  const u32 right = t->entry_for<tuple4>({n(2), n(3)}, {2, 3}, forgot);
  t->become(right, hold_state::holding, {91});
  const u32 both = t->entry_for<tuple4>({n(0), n(3)}, {0, 3}, forgot);
  t->become(both, hold_state::resting, {92});
  EXPECT_FALSE(forgot) << "for want of room nobody went";
  EXPECT_EQ(t->used(), 1U);
  EXPECT_EQ(t->find(n(1), 1), holds::none);
  EXPECT_EQ(t->find(n(2), 2), holds::none);
  EXPECT_EQ(t->find(n(0), 0), both);
  EXPECT_EQ(t->find(n(3), 3), both);
  EXPECT_EQ(t->next(), instant{92});
}

}  // namespace
}  // namespace octep

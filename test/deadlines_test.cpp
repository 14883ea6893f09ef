#include <octep/deadlines.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

struct queue {
  test::block memory;
  deadlines table;

  explicit queue(u32 capacity) : memory{deadlines::bytes_for(capacity)} {
    arena a = memory.cut();
    EXPECT_TRUE(table.init(a, capacity));
    EXPECT_EQ(a.left(), 0U);
  }
};

// The model: instants by id, and the pairs of both in their order.
struct model {
  std::map<u32, u64> by_id;
  std::set<std::pair<u64, u32>> in_order;

  void drop(u32 id) {
    const auto at = by_id.find(id);
    if (at == by_id.end()) return;
    in_order.erase({at->second, id});
    by_id.erase(at);
  }
  void set(u32 id, u64 us) {
    drop(id);
    if (us == never.us) return;
    by_id[id] = us;
    in_order.insert({us, id});
  }
  u32 pop_due(u64 now) {
    if (in_order.empty() || in_order.begin()->first > now) return deadlines::none;
    const u32 id = in_order.begin()->second;
    drop(id);
    return id;
  }
};

// A few instants, so that equal ones meet, some a wrap of 32 bits apart, and the last that there is.
rc::Gen<u64> any_instant() {
  return rc::gen::oneOf(rc::gen::inRange<u64>(0, 8),
                        rc::gen::element<u64>(0xffff'ffff, 0x1'0000'0000, 0x1'0000'0001, never.us - 1, never.us),
                        rc::gen::arbitrary<u64>());
}

RC_GTEST_PROP(Deadlines, ArePoppedAsFromAnOrderedSetOfInstantAndId, ()) {
  const u32 capacity = *rc::gen::oneOf(rc::gen::inRange<u32>(1, 7), rc::gen::inRange<u32>(7, 90));
  queue q{capacity};
  model m;
  struct step {
    int what;
    u32 id;
    u64 us;
  };
  const auto steps = *rc::gen::scale(
      3.0, rc::gen::container<std::vector<step>>(rc::gen::build<step>(
               rc::gen::set(&step::what, rc::gen::weightedElement<int>({{6, 0}, {2, 1}, {3, 2}})),
               rc::gen::set(&step::id, rc::gen::inRange<u32>(0, capacity)), rc::gen::set(&step::us, any_instant()))));
  for (const step& s : steps) {
    switch (s.what) {
      case 0:
        q.table.set(s.id, {s.us});
        m.set(s.id, s.us);
        break;
      case 1:
        q.table.drop(s.id);
        m.drop(s.id);
        break;
      default: RC_ASSERT(q.table.pop_due({s.us}) == m.pop_due(s.us));
    }
    RC_ASSERT(q.table.pending() == m.by_id.size());
    RC_ASSERT(q.table.next().us == (m.in_order.empty() ? never.us : m.in_order.begin()->first));
    for (u32 id = 0; id < capacity; ++id) RC_ASSERT(q.table.of(id).us == (m.by_id.contains(id) ? m.by_id[id] : never.us));
  }
  for (u32 id = m.pop_due(never.us); id != deadlines::none; id = m.pop_due(never.us))
    RC_ASSERT(q.table.pop_due(never) == id);
  RC_ASSERT(q.table.pop_due(never) == deadlines::none);
}

TEST(Deadlines, AreNotDueAMicrosecondEarly) {
  queue q{1};
  q.table.set(0, {1'000});
  EXPECT_EQ(q.table.next(), instant{1'000});
  EXPECT_EQ(q.table.pop_due({999}), deadlines::none);
  EXPECT_EQ(q.table.pop_due({1'000}), 0U);
  EXPECT_EQ(q.table.next(), never);
}

TEST(Deadlines, ComeInTheOrderOfTheirIdsAmongEquals) {
  queue q{64};
  std::mt19937 random{3};
  std::vector<u32> ids(64);
  for (u32 i = 0; i < 64; ++i) ids[i] = i;
  std::shuffle(ids.begin(), ids.end(), random);
  for (const u32 id : ids) q.table.set(id, {7});
  for (u32 i = 0; i < 64; ++i) EXPECT_EQ(q.table.pop_due({7}), i);
}

TEST(Deadlines, ADeadlineThatIsSetAgainMovesEitherWay) {
  queue q{3};
  q.table.set(0, {10});
  q.table.set(1, {20});
  q.table.set(2, {30});
  q.table.set(2, {5});
  EXPECT_EQ(q.table.next(), instant{5});
  q.table.set(2, {40});
  q.table.set(0, {25});
  EXPECT_EQ(q.table.pending(), 3U);
  EXPECT_EQ(q.table.pop_due({100}), 1U);
  EXPECT_EQ(q.table.pop_due({100}), 0U);
  EXPECT_EQ(q.table.pop_due({100}), 2U);
}

TEST(Deadlines, NeverIsNoDeadline) {
  queue q{2};
  q.table.set(0, never);
  EXPECT_EQ(q.table.pending(), 0U);
  q.table.set(1, {1});
  q.table.set(1, never);
  EXPECT_EQ(q.table.pending(), 0U);
  EXPECT_EQ(q.table.pop_due(never), deadlines::none);
}

TEST(Deadlines, TooLittleMemoryOrNoCapacityIsRefusedAtStart) {
  test::block memory{deadlines::bytes_for(16)};
  deadlines table;
  arena a = memory.cut();
  EXPECT_FALSE(table.init(a, 0));
  EXPECT_FALSE(table.init(a, deadlines::most + 1));
  EXPECT_FALSE(table.init(a, 17));
  EXPECT_EQ(a.left(), deadlines::bytes_for(16)) << "nothing is taken from the arena";
  EXPECT_EQ(table.capacity(), 0U);
  EXPECT_EQ(table.next(), never);
  EXPECT_EQ(table.pop_due(never), deadlines::none);
  EXPECT_TRUE(table.init(a, 16));
}

TEST(Deadlines, HoldOneForEachOfTwoMillionInSixteenBytesEach) {
  constexpr u32 ids = 2'000'000;
  static_assert(deadlines::bytes_for(ids) == 16 * usize{ids});
  queue q{ids};
  std::mt19937_64 random{1};
  for (u32 id = 0; id < ids; ++id) q.table.set(id, {random() % (86'400'000'000U * 30)});
  ASSERT_EQ(q.table.pending(), ids);
  u64 last = 0;
  for (u32 i = 0; i < 200'000; ++i) {
    const u64 earliest = q.table.next().us;
    ASSERT_LE(last, earliest);
    last = earliest;
    const u32 id = q.table.pop_due({earliest});
    ASSERT_NE(id, deadlines::none);
    q.table.set(id, {earliest + 86'400'000'000U});
  }
}

}  // namespace
}  // namespace octep

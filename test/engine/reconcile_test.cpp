#include <octep/engine/reconcile.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "test/engine/far_side.hpp"
#include "test/engine/held.hpp"

namespace octep::test {
namespace {

// The engine's memory and what its tables keep to themselves: to break laws, a test has to reach where nobody may.
using core_type = bench_top<>::engine_type;
template <class Key, class Of, class Type, Type Of::*Member>
struct opened {
  friend Type& reach(Key, Of& of) { return of.*Member; }
};
struct core_state {
  friend core_type::state& reach(core_state, core_type&);
};
struct hashes_of {
  friend span<array<u32, 2>>& reach(hashes_of, connections&);
};
struct held_count {
  friend u32& reach(held_count, connections&);
};
template struct opened<core_state, core_type, core_type::state, &core_type::s_>;
template struct opened<hashes_of, connections, span<array<u32, 2>>, &connections::hashes_>;
template struct opened<held_count, connections, u32, &connections::held_>;

struct reconciled : held {
  auto& state() { return reach(core_state{}, top.core()); }
  record& it() { return state().table[at.index]; }
  u32 hash(u32 d) { return state().table.hash_of(at.index, d); }
  void expect(law broken, u32 where) {
    const reconciling::finding f = top.core().reconcile();
    EXPECT_STREQ(name(f.broken), name(broken));
    EXPECT_EQ(f.at, where);
  }
  void SetUp() override {
    held::SetUp();
    ASSERT_EQ(top.core().reconcile().broken, law::none) << name(top.core().reconcile().broken);
  }
};

TEST_F(reconciled, finds_a_table_that_counts_wrong) {
  ++reach(held_count{}, state().table);
  expect(law::records_counted, 2);
}
TEST_F(reconciled, finds_a_record_that_its_tuple_does_not_find) {
  reach(hashes_of{}, state().table)[at.index][1] ^= 1;
  expect(law::found_by_tuples, at.index);
}
TEST_F(reconciled, finds_a_held_record_with_half_a_connection) {
  it().directions[1].programmed = false;
  expect(law::both_directions, at.index);
  it().directions[1].programmed = true;
  it().directions[0].who = {};
  expect(law::both_directions, at.index);
}
TEST_F(reconciled, finds_a_next_hop_that_is_gone) {
  state().hops.forget_all();
  expect(law::next_hop_lives, at.index);
}
TEST_F(reconciled, finds_a_next_hop_of_another_use) {
  ++it().directions[0].next_hop.revision;
  expect(law::next_hop_lives, at.index);
}
TEST_F(reconciled, finds_a_reference_too_many) {
  const handle hop = it().directions[1].next_hop;
  (void)state().hops.acquire(state().hops[hop.index].hop);
  expect(law::references_add_up, hop.index);
}
TEST_F(reconciled, finds_a_reference_too_few) {
  const handle hop = it().directions[1].next_hop;
  state().hops.drop(hop);
  expect(law::references_add_up, hop.index);
}
TEST_F(reconciled, finds_a_tuple_that_is_not_hot) {
  state().hot.remove(hash(1));
  expect(law::tuples_are_hot, at.index);
}
TEST_F(reconciled, finds_a_bucket_that_counts_a_stranger) {
  state().hot.add(hash(0) ^ 0x8000'0000U);
  expect(law::hot_adds_up, 3);
}
TEST_F(reconciled, says_nothing_of_sums_once_a_bucket_overflowed) {
  for (u32 n = 0; n < 300; ++n) state().hot.add(hash(0));
  expect(law::none, 0);
}
TEST_F(reconciled, finds_a_record_that_is_being_made_by_nobody) {
  state().due.drop(at.index);
  it().state = record_state::making;
  expect(law::making_is_made, at.index);
}
TEST_F(reconciled, finds_an_operation_about_a_record_in_a_wrong_state) {
  frame();
  ASSERT_EQ(top.posted().kind, command_kind::read_entry);
  expect(law::none, 0);
  const u32 free = at.index == 0 ? 1 : 0;
  state().probing.index = free;
  expect(law::operation_fits, free);
}
TEST_F(reconciled, finds_an_operation_that_nothing_is_out_for) {
  frame();
  ASSERT_EQ(top.posted().kind, command_kind::read_entry);
  state().commands.void_outstanding();
  expect(law::operation_fits, at.index);
}
TEST_F(reconciled, finds_a_release_of_a_next_hop_that_is_in_use) {
  ASSERT_TRUE(top.core().remove(opener));
  command c = top.posted();
  for (; c.kind != command_kind::next_hop_release; c = top.posted()) {
    expect(law::none, 0);
    top.answer_it();
  }
  expect(law::none, 0);
  ++state().releasing.revision;
  expect(law::operation_fits, c.target.index);
}
TEST_F(reconciled, finds_a_doomed_record_that_no_command_is_out_for) {
  state().due.drop(at.index);
  it().state = record_state::doomed;
  expect(law::doomed_is_out, at.index);
}
TEST_F(reconciled, finds_a_removal_owed_to_a_record_that_stays) {
  ASSERT_TRUE(top.core().remove(opener));
  expect(law::none, 0);
  it().state = record_state::held;
  expect(law::removals_leave, 0);
  it().state = record_state::leaving;
  state().removals_wait = 2;
  expect(law::removals_leave, 1);
}
TEST_F(reconciled, finds_a_leaving_record_that_nobody_takes_out) {
  ASSERT_TRUE(top.core().remove(opener));
  state().removals_held = 0;
  expect(law::leaving_is_owed, 1);
}
TEST_F(reconciled, finds_a_removal_that_is_owed_twice) {
  ASSERT_TRUE(top.core().remove(opener));
  auto& s = state();
  s.removals[(s.removals_first + 1) % s.removals.size] = at.index;
  s.removals_held = 2;
  expect(law::leaving_is_owed, 1);
}
TEST_F(reconciled, finds_a_deadline_of_a_record_that_is_free) {
  const u32 free = at.index == 0 ? 1 : 0;
  state().due.set(free, {9});
  expect(law::deadline_of_held, free);
}
TEST_F(reconciled, finds_a_hold_without_an_end) {
  bool forgot = false;
  const u32 i = state().held_back.entry_for<tuple4>({flow(7), reverse(flow(7))}, {7, 8}, forgot);
  expect(law::hold_has_end, i);
}
TEST_F(reconciled, finds_no_deadline_of_what_was_removed_while_its_stamps_were_read) {
  top.now.us += 600'000'000;
  command c = top.posted();
  for (; c.kind != command_kind::read_microflow; c = top.posted()) {
    ASSERT_NE(c.kind, command_kind::none);
    top.answer_it();
  }
  ASSERT_TRUE(top.core().remove(opener));
  for (; c.kind != command_kind::none; c = top.posted()) {
    expect(law::none, 0);
    top.answer_it();
    expect(law::none, 0);
  }
  EXPECT_EQ(top.core().table().held(), 0U);
}
TEST_F(reconciled, forgives_records_that_a_discard_has_not_come_to) {
  top.core().far_side_reset(top.now);
  expect(law::none, 0);
  top.settle();
  expect(law::none, 0);
  EXPECT_EQ(top.core().table().held(), 0U);
}
TEST_F(reconciled, forgives_what_a_far_side_that_is_gone_left_behind) {
  ASSERT_TRUE(top.core().remove(opener));
  ASSERT_EQ(top.posted().kind, command_kind::deactivate);
  top.core().far_side_gone(top.now);
  expect(law::none, 0);
  top.core().far_side_reset(top.now);
  top.settle();
  expect(law::none, 0);
}

TEST(laws, have_a_name_each) {
  std::set<std::string> names;
  for (u32 l = 0; l < static_cast<u32>(law::count_); ++l) names.insert(name(static_cast<law>(l)));
  EXPECT_EQ(names.size(), static_cast<usize>(law::count_));
}

// A hundred next hops, more than are counted at a time.
TEST(laws, hold_at_every_step_of_a_fleet) {
  live_top<> top{200, 128};
  top.on_post = [&](const command& c) {
    const reconciling::finding f = top.core().reconcile();
    EXPECT_EQ(f.broken, law::none) << name(f.broken) << " at " << f.at << ", posting " << name(c.kind);
  };
  top.make(1, 150);
  EXPECT_EQ(top.core().table().held(), 150U);
  top.world.next_hops.changed_port = 1;
  top.core().changed();
  top.run_for(from_s(5));
  for (u64 n = 1; n < 60; ++n) top.world.firewall.dead.push_back(n);
  top.core().states_gone();
  top.run_for(from_s(5));
  EXPECT_LT(top.core().table().held(), 150U);
  top.core().request_discard();
  top.run_for(from_s(1));
  EXPECT_EQ(top.core().reconcile().broken, law::none);
}

}  // namespace
}  // namespace octep::test

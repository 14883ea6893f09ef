#include <octep/engine/poll.hpp>

#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"
#include "test/engine/walk_policies.hpp"

namespace octep::test {
namespace {

using enum command_kind;

struct slicing : ours {
  static constexpr u32 walk_slice = 5;
  static constexpr full_table room = full_table::idle_makes_room;
  static constexpr bool ipv6 = true;
};

TEST(poll, gives_the_lock_up_between_slices_of_a_walk) {
  bench_top<slicing> top{roomy};
  for (u32 n = 1; n <= 12; ++n) (void)top.frame(flow(n), 1, n);
  top.now = instant{6'000'000};
  EXPECT_EQ(top.next().until, instant{}) << "at once, when the lock was free";
  EXPECT_EQ(top.count(pass_counter::walk_seen), 5U);
  EXPECT_EQ(top.next().until, instant{});
  EXPECT_EQ(top.count(pass_counter::walk_seen), 10U);
  EXPECT_EQ(top.next().until, instant{7'000'000});
  EXPECT_EQ(top.count(pass_counter::walk_seen), 12U);
  EXPECT_EQ(top.count(pass_counter::polls), 1U);
}

TEST(poll, is_due_once_a_second_and_idle_says_when) {
  bench_top<> top;
  EXPECT_EQ(top.next().what, step::kind::idle);
  EXPECT_EQ(top.next().until, instant{6'000'000});
  top.now = instant{5'999'999};
  (void)top.next();
  EXPECT_EQ(top.count(pass_counter::polls), 0U);
  top.now = instant{6'000'000};
  EXPECT_EQ(top.next().until, instant{7'000'000});
  EXPECT_EQ(top.count(pass_counter::polls), 1U);
}

TEST(poll, counts_an_attempt_when_it_posted_a_command) {
  bench_top<ours> top{roomy};
  // Forty flows that can never be made stand in front of and between twenty that can.
  for (u32 n = 1; n <= 60; ++n) {
    if (n % 3 == 0) top.world.firewall.known4.push_back(settled_state(flow(n), n));
    top.both(flow(n), 10 * n);
  }
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.count(pass_counter::auto_made), 8U) << "eight attempts, however many were refused on the way";
  EXPECT_GE(top.count(reason::flow_nostate), 8U);
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.count(pass_counter::auto_made), 16U);
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.count(pass_counter::auto_made), 20U);
}

TEST(poll, by_the_recorded_count_is_starved_by_eight_refusals) {
  bench_top<recorded> top{roomy};
  for (u32 n = 1; n <= 40; ++n) top.both(flow(n), 10 * n);
  const tuple4 last = flow(50);
  top.world.firewall.known4.push_back(settled_state(last, 50));
  for (int poll = 1; poll <= 4; ++poll) {
    for (u32 n = 1; n <= 40; ++n) top.both(flow(n), 10 * n);
    top.both(last, 900);
    top.to_next_poll();
    top.settle();
    EXPECT_EQ(top.count(reason::flow_nostate), 8U * static_cast<u64>(poll)) << "exactly eight refusals a poll";
  }
}

TEST(poll, goes_on_where_the_last_walk_stopped) {
  bench_top<ours> top{roomy};
  // Sixteen makeable, seen at every poll: a walk from slot 0 would make the same eight places first and the rest never.
  for (u32 n = 1; n <= 16; ++n) top.world.firewall.known4.push_back(settled_state(flow(n), n));
  for (u32 n = 1; n <= 16; ++n) top.both(flow(n), 10 * n);
  top.to_next_poll();
  top.settle();
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.count(pass_counter::auto_made), 16U) << "what the first walk did not reach stood there unread";
}

TEST(poll, visits_every_place_although_it_begins_in_the_middle_of_a_slot) {
  bench_top<ours> top{roomy};
  // One slot: two flows that nobody knows in its first places, then more that can be made than one poll makes.
  std::vector<u32> one_slot;
  for (u32 n = 1; one_slot.size() < 12; ++n)
    if (top_bits(top.core().hash_of(flow(n)), 4) == 0) one_slot.push_back(n);
  for (std::size_t i = 0; i < one_slot.size(); ++i) {
    const u32 n = one_slot[i];
    if (i >= 2) top.world.firewall.known4.push_back(settled_state(flow(n), n));
    (void)top.frame(flow(n), 1, 10 * n);
  }
  for (std::size_t i = 2; i < one_slot.size(); ++i) (void)top.frame(reverse(flow(one_slot[i])), 2, 10 * one_slot[i] + 1);
  top.to_next_poll();
  top.settle();
  ASSERT_EQ(top.count(pass_counter::auto_made), 8U);
  ASSERT_EQ(top.count(reason::flow_nostate), 2U);
  for (std::size_t i = 0; i < 2; ++i) (void)top.frame(flow(one_slot[i]), 1, 10 * one_slot[i]);
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.count(pass_counter::auto_made), 10U);
  EXPECT_EQ(top.count(reason::flow_nostate), 4U);
}

TEST(poll, makes_nothing_while_auto_is_off) {
  bench_top<> top;
  top.world.firewall.known4.push_back(settled_state(flow(1)));
  (void)top.core().set(setting::auto_make, 0, top.now);
  top.both(flow(1), 100, 20);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.count(pass_counter::walk_seen), 0U);
  (void)top.core().set(setting::auto_make, 1, top.now);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
}

TEST(poll, enters_the_guard_around_every_slot_and_leaves_it) {
  bench_top<> top;
  top.both(flow(1), 100);
  top.to_next_poll();
  top.settle();
  EXPECT_GT(top.world.guard.entered, 0U);
  EXPECT_EQ(top.world.guard.depth, 0);
}

}  // namespace
}  // namespace octep::test

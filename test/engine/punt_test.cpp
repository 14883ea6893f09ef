#include <octep/engine/punt.hpp>

#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"

namespace octep::test {
namespace {

TEST(punt, counts_every_frame_once_as_a_candidate_or_by_its_reason) {
  bench_top<> top;
  (void)top.frame(flow(1), 1, 100);
  (void)top.frame(flow(1), 1, 0);  // names no flow
  frame_facts odd{};
  odd.why = reason::fragment;
  EXPECT_EQ(top.core().punt(1, odd, 60, {}, top.now).why, reason::fragment);
  const u8 arp[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6};
  EXPECT_NE(top.core().punt(1, {arp, sizeof arp, sizeof arp}, {}, top.now).why, reason::none);
  u64 by_reason = 0;
  for (const reason_row& r : reason_rows)
    if (is_frame_reason(r.is)) by_reason += top.count(r.is);
  EXPECT_EQ(top.core().counted(ring_counter::frames), 4U);
  EXPECT_EQ(top.core().counted(ring_counter::cand_pushed) + by_reason, 4U);
  EXPECT_EQ(top.core().counted(ring_counter::bytes), 100U + 100U + 60U + 14U);
}

TEST(punt, kicks_once_at_the_sixteenth_frame_and_not_again_until_the_worker_looks) {
  bench_top<> top;
  for (int i = 1; i <= 15; ++i) EXPECT_FALSE(top.frame(flow(1), 1, 100).kicked) << i;
  EXPECT_TRUE(top.frame(flow(1), 1, 100).kicked);
  for (int i = 17; i <= 64; ++i) EXPECT_FALSE(top.frame(flow(1), 1, 100).kicked) << i;
  for (int i = 1; i <= 16; ++i) EXPECT_FALSE(top.frame(flow(2), 1, 102).kicked) << "one wake-up a run, however many flows";
  EXPECT_EQ(top.world.kicks, 1U);
  EXPECT_EQ(top.core().counted(ring_counter::fast_kicks), 1U);
  EXPECT_EQ(top.core().counted(ring_counter::cand_due), 4U) << "16, 32 and 64 of the first, 16 of the second";
}

TEST(punt, takes_the_threshold_from_its_setting) {
  bench_top<> top;
  (void)top.core().set(setting::fast_make_log2, 2, top.now);
  for (int i = 1; i <= 3; ++i) EXPECT_FALSE(top.frame(flow(1), 1, 100).kicked);
  EXPECT_TRUE(top.frame(flow(1), 1, 100).kicked);
}

TEST(punt, never_kicks_for_an_echo_or_a_frame_that_closes) {
  bench_top<> top;
  const tuple4 ping = tuple4::make(inside(1), outside(1), join_ports(1, port_word(8)), protocol::icmp);
  for (int i = 1; i <= 40; ++i) {
    (void)top.frame(ping, 1, 100);
    (void)top.frame(flow(1), 1, 102, true);
  }
  EXPECT_EQ(top.world.kicks, 0U);
}

TEST(punt, of_a_held_connection_kicks_at_its_first_frame) {
  bench_top<> top;
  top.world.firewall.known4.push_back(settled_state(flow(1)));
  top.both(flow(1), 100);
  top.to_next_poll();
  top.settle();
  ASSERT_EQ(top.count(pass_counter::auto_made), 1U);
  EXPECT_TRUE(top.frame(flow(1), 1, 100).kicked);
  EXPECT_EQ(top.core().counted(ring_counter::hot_frames), 1U);
}

TEST(punt, asks_for_no_run_while_runs_or_their_makes_are_off) {
  for (const setting off : {setting::fast, setting::fast_make, setting::auto_make, setting::enable}) {
    bench_top<> top;
    (void)top.core().set(off, 0, top.now);
    for (int i = 1; i <= 64; ++i) (void)top.frame(flow(1), 1, 100);
    EXPECT_EQ(top.core().counted(ring_counter::fast_kicks), 0U) << row(off).name;
    (void)top.core().set(off, 1, top.now);
    for (int i = 1; i <= 64; ++i) (void)top.frame(flow(1), 1, 100);
    EXPECT_EQ(top.core().counted(ring_counter::fast_kicks), 1U) << row(off).name;
  }
}

}  // namespace
}  // namespace octep::test

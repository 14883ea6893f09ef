// The falling edge of each setting, as its row says. A test has its row's name; the last one counts them.
#include <octep/settings.hpp>

#include <string>

#include <gtest/gtest.h>

#include "test/engine/far_side.hpp"

namespace octep::test {
namespace {

using enum command_kind;

struct falling_edge_of : ::testing::Test {
  live_top<> top{64, 8};

  void set(setting which, u32 to) { ASSERT_EQ(top.core().set(which, to, top.now), set_result::ok); }
  void known_and_seen(u32 n, int frames = 1) {
    top.know(n);
    top.both(flow(n), top.first_id(n), frames);
  }
  [[nodiscard]] u64 made() { return top.count(pass_counter::auto_made); }
  [[nodiscard]] u64 posted() { return top.count(pass_counter::cmd_posted); }

  // The command that a frame of a held connection leads to.
  command frame(u32 n) {
    (void)top.frame(flow(n), 1, top.first_id(n));
    return top.posted();
  }
  [[nodiscard]] answer given_back(u32 n) {
    return {.entry = entry_state::pending, .entry_revision = top.of(n).revision, .identical = 10};
  }
  // Given back and told to go on; how long it is left alone then.
  microseconds revive(u32 n) {
    EXPECT_EQ(frame(n).kind, read_entry);
    top.answer_it(answer_code::done, given_back(n));
    EXPECT_EQ(top.posted().kind, create);
    top.answer_it();
    return top.of(n).revive_wait.until().since(top.now);
  }
  // Made, given back and taken out that long after; for how long it is held back.
  microseconds hold_back(u32 n, microseconds after = from_ms(20)) {
    top.both(flow(n), top.first_id(n));
    for (u32 i = 0; i < 20 && !top.holds(n); ++i) {
      top.both(flow(n), top.first_id(n));
      top.run_for(from_ms(500));
    }
    EXPECT_TRUE(top.holds(n));
    top.now = top.of(n).made_at + after;
    top.run();
    (void)top.core().set(setting::revive, 0, top.now);
    EXPECT_EQ(frame(n).kind, read_entry);
    const instant read = top.now;
    top.answer_it(answer_code::done, given_back(n));
    top.run();
    EXPECT_FALSE(top.find(n).is);
    return top.core().held_back().held_until(flow(n), top.core().hash_of(flow(n))).since(read);
  }
};

TEST_F(falling_edge_of, enable) {
  top.make(1, 3);
  top.posted_of.clear();
  set(setting::enable, 0);
  top.run();
  EXPECT_EQ(top.posted_of, (std::map<command_kind, u32>{{discard, 1}}));
  EXPECT_EQ(top.core().table().held(), 0U);
  const u64 so_far = posted();
  for (int i = 0; i < 10; ++i) {
    known_and_seen(4, 32);
    top.core().changed();
    top.core().states_gone();
    (void)top.core().remove_host(family::ipv4, detail::widen(inside(1)));
    top.run_for(from_s(1));
  }
  EXPECT_EQ(posted(), so_far);
  EXPECT_EQ(top.next().until, never);
}

TEST_F(falling_edge_of, auto_) {
  top.make(1, 2);
  set(setting::auto_make, 0);
  known_and_seen(3, 32);
  known_and_seen(4);
  top.run_for(from_s(3));
  EXPECT_EQ(made(), 2U) << "nothing is made";
  EXPECT_TRUE(top.holds(1) && top.holds(2)) << "what is held stays";
  // And is kept true.
  top.world.firewall.dead.push_back(2);
  top.run_for(from_s(1));
  EXPECT_FALSE(top.find(2).is);
}

TEST_F(falling_edge_of, fast) {
  for (u32 n = 1; n <= 3; ++n) known_and_seen(n, 16);
  command c = top.posted();
  while (c.kind != create) {
    top.answer_it(answer_code::done, top.far.execute(c));
    c = top.posted();
  }
  set(setting::fast, 0);
  top.answer_it(answer_code::done, top.far.execute(c));
  top.run();
  EXPECT_EQ(made(), 1U) << "the run under way ends at its next boundary";
  top.now = top.now + from_ms(10);
  for (u32 n = 4; n <= 6; ++n) known_and_seen(n, 64);
  top.run();
  EXPECT_EQ(made(), 1U);
  EXPECT_EQ(top.count(pass_counter::fast_runs), 1U) << "no run begins";
}

TEST_F(falling_edge_of, fast_make) {
  set(setting::fast_make, 0);
  known_and_seen(1, 64);
  top.run_for(from_ms(900));
  EXPECT_EQ(made(), 0U) << "due candidates wait";
  top.run_for(from_ms(100));
  EXPECT_EQ(made(), 1U) << "for the poll";
  EXPECT_EQ(top.count(pass_counter::fast_made), 0U);
}

TEST_F(falling_edge_of, fast_make_log2) {
  set(setting::fast_make_log2, 20);
  known_and_seen(1, 31);
  top.run();
  EXPECT_EQ(made(), 0U);
  set(setting::fast_make_log2, 5);
  top.run();
  EXPECT_EQ(made(), 0U) << "not by itself";
  top.both(flow(1), top.first_id(1));
  top.run();
  EXPECT_EQ(made(), 1U) << "its next frame is the thirty-second";
}

TEST_F(falling_edge_of, cand_age) {
  const auto other_is_old = [&](u32 n) {
    top.know(n);
    (void)top.frame(flow(n), 1, top.first_id(n));
    top.run_for(from_s(10));
    (void)top.frame(reverse(flow(n)), 2, top.first_id(n) + 1);
    top.run_for(from_s(1));
  };
  set(setting::cand_age, 60);
  other_is_old(1);
  EXPECT_TRUE(top.holds(1));
  set(setting::cand_age, 5);
  other_is_old(2);
  EXPECT_FALSE(top.holds(2)) << "from the next make on";
  EXPECT_EQ(top.count(reason::cand_aged), 1U);
  EXPECT_TRUE(top.holds(1));
  set(setting::cand_age, 0);
  other_is_old(3);
  EXPECT_TRUE(top.holds(3)) << "0 lifts the limit";
}

TEST_F(falling_edge_of, ipv6) {
  bench_top<> both;
  (void)both.core().set(setting::ipv6, 1, both.now);
  const auto v6 = [](u32 n) {
    return tuple6::make(widened(n), widened(200), join_ports(port_word(static_cast<u16>(n)), port_word(53)), protocol::udp);
  };
  for (u32 n = 1; n <= 2; ++n) {
    both.world.firewall.known6.push_back(settled_state(v6(n), n));
    if (n == 2) (void)both.core().set(setting::ipv6, 0, both.now);
    both.both(v6(n), 100 * n);
    both.to_next_poll();
    both.settle();
  }
  EXPECT_EQ(both.core().table().held(), 1U) << "what is held stays, and nothing is added";
  EXPECT_TRUE(both.core().table().find(v6(1), both.core().hash_of(v6(1))).is);
  EXPECT_EQ(both.count(reason::flow_family), 2U);
}

TEST_F(falling_edge_of, poll_ms) {
  set(setting::poll_ms, 10'000);
  top.run_for(from_s(10));
  const instant began = top.now;
  const u64 polls = top.count(pass_counter::polls);
  top.run_for(from_ms(300));
  set(setting::poll_ms, 500);
  EXPECT_EQ(top.next().until, began + from_ms(500)) << "this long after the last one began";
  set(setting::poll_ms, 100);
  (void)top.next();
  EXPECT_EQ(top.count(pass_counter::polls), polls + 1) << "which is over";
}

TEST_F(falling_edge_of, run_gap_ms) {
  set(setting::run_gap_ms, 1'000);
  set(setting::poll_ms, 60'000);
  known_and_seen(1, 16);
  top.run();
  ASSERT_EQ(top.count(pass_counter::fast_runs), 1U);
  const instant first = top.now;
  known_and_seen(2, 16);
  EXPECT_EQ(top.next().until, first + from_ms(1'000));
  set(setting::run_gap_ms, 2);
  EXPECT_EQ(top.next().until, first + from_ms(2));
  top.now = first + from_ms(2);
  top.run();
  EXPECT_EQ(top.count(pass_counter::fast_runs), 2U);
}

TEST_F(falling_edge_of, run_attempts) {
  top.make(1, 12);
  top.now = top.now + from_ms(10);
  set(setting::run_attempts, 12);
  for (u32 n = 1; n <= 12; ++n) (void)top.frame(flow(n), 1, top.first_id(n));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(top.posted().kind, read_entry);
    if (i == 2) set(setting::run_attempts, 3);
    top.answer_it(answer_code::done, top.far.execute(top.core().commands().current()));
  }
  EXPECT_EQ(top.posted().kind, none) << "at once, the run under way too";
  EXPECT_EQ(top.count(pass_counter::probe_reads), 3U);
}

TEST_F(falling_edge_of, poll_commands) {
  set(setting::poll_commands, 20);
  for (u32 n = 1; n <= 20; ++n) known_and_seen(n);
  top.to_next_poll();
  top.on_post = [&](const command& c) {
    if (c.kind == create && made() == 4) set(setting::poll_commands, 5);
  };
  top.run();
  EXPECT_EQ(made(), 5U) << "at once, the walk under way too";
}

TEST_F(falling_edge_of, make_per_run) {
  set(setting::make_per_run, 10);
  for (u32 n = 1; n <= 10; ++n) known_and_seen(n, 16);
  top.on_post = [&](const command& c) {
    if (c.kind == create && made() == 1) set(setting::make_per_run, 2);
  };
  top.run();
  EXPECT_EQ(top.count(pass_counter::fast_make_tries), 2U) << "at once, the run under way too";
}

TEST_F(falling_edge_of, make_per_sec) {
  top.run_for(from_s(1));
  set(setting::make_per_sec, 2);
  const auto ten_from = [&](u32 first) {
    const u64 before = top.count(pass_counter::fast_make_tries);
    for (u32 n = first; n < first + 10; ++n) known_and_seen(n, 16);
    for (int i = 0; i < 10; ++i) {
      top.now = top.now + from_ms(5);
      top.run();
    }
    return top.count(pass_counter::fast_make_tries) - before;
  };
  EXPECT_EQ(ten_from(1), 10U) << "what this second has";
  top.run_for(from_ms(950));
  EXPECT_EQ(ten_from(21), 2U) << "from the next poll on";
}

TEST_F(falling_edge_of, cmd_step_us) {
  // The glue's: the engine keeps it for whoever looks.
  set(setting::cmd_step_us, 1);
  EXPECT_EQ(top.core().values()[setting::cmd_step_us], 1U);
  EXPECT_EQ(posted(), 0U);
}

TEST_F(falling_edge_of, cmd_limit_ms) {
  known_and_seen(1);
  top.to_next_poll();
  ASSERT_EQ(top.posted().kind, next_hop_set);
  set(setting::cmd_limit_ms, 10);
  EXPECT_EQ(top.next().until, top.now + from_ms(2'000)) << "not the one that is out";
  top.answer_it(answer_code::done, top.far.execute(top.core().commands().current()));
  ASSERT_EQ(top.posted().kind, next_hop_set);
  EXPECT_EQ(top.next().until, top.now + from_ms(10)) << "from the next command on";
}

TEST_F(falling_edge_of, udp_oneway_ms) {
  const tuple4 udp = flow(1, protocol::udp);
  auto state = settled_state(udp);
  state.responder_peer = peer_state::silent;
  state.age = from_ms(500);
  top.world.firewall.known4.push_back(state);
  const auto try_it = [&] {
    top.both(udp, 100);
    top.run_for(from_s(1));
    return top.core().table().held();
  };
  EXPECT_EQ(try_it(), 0U);
  set(setting::udp_oneway_ms, 501);
  EXPECT_EQ(try_it(), 0U);
  set(setting::udp_oneway_ms, 500);
  EXPECT_EQ(try_it(), 1U) << "younger one-way states count as settled";
}

TEST_F(falling_edge_of, revive) {
  top.make(1, 1);
  top.now = top.now + from_ms(10);
  (void)revive(1);
  set(setting::revive, 0);
  EXPECT_TRUE(top.holds(1)) << "what was revived stays";
  top.now = top.of(1).revive_wait.until() + from_ms(10);
  ASSERT_EQ(frame(1).kind, read_entry);
  top.answer_it(answer_code::done, given_back(1));
  top.run();
  EXPECT_FALSE(top.find(1).is) << "from the next give-back on";
  EXPECT_EQ(top.count(reason::flow_revive_off), 1U);
}

TEST_F(falling_edge_of, keepalive) {
  top.world.firewall.lasts = from_s(60);
  top.make(1, 2);
  for (const u64 id : {1U, 2U}) top.world.firewall.ends[id] = top.now + from_s(60);
  set(setting::keepalive, 0);
  top.passing = [&](instant, instant) {
    top.far.moves(top.who(1));
    top.far.moves(top.who(2));
  };
  top.run_for(from_s(59));
  EXPECT_EQ(top.core().table().held(), 2U);
  top.run_for(from_s(2));
  EXPECT_EQ(top.count(pass_counter::ka_reads), 0U) << "no stamp is read";
  EXPECT_EQ(top.core().table().held(), 0U) << "the sweep takes out what states leave";
  EXPECT_EQ(top.count(reason::flow_expired), 2U);
}

TEST_F(falling_edge_of, probe_gap_ms) {
  top.make(1, 1);
  top.now = top.now + from_ms(10);
  set(setting::probe_gap_ms, 1'000);
  set(setting::poll_ms, 60'000);
  ASSERT_EQ(frame(1).kind, read_entry);
  top.answer_it(answer_code::done, top.far.execute(top.core().commands().current()));
  const instant read = top.now;
  top.now = top.now + from_ms(20);
  EXPECT_EQ(frame(1).kind, none);
  EXPECT_EQ(top.next().until, read + from_ms(1'000)) << "it is read when its gap ends";
  set(setting::probe_gap_ms, 10);
  top.now = top.now + from_ms(20);
  EXPECT_EQ(frame(1).kind, read_entry) << "from the next read on";
}

TEST_F(falling_edge_of, revive_min_ms) {
  top.make(1, 2);
  top.now = top.now + from_ms(10);
  EXPECT_EQ(revive(1), from_ms(10));
  set(setting::revive_min_ms, 4);
  EXPECT_EQ(top.of(1).revive_wait.until(), top.now + from_ms(10)) << "not the wait that has begun";
  top.now = top.now + from_ms(10);
  EXPECT_EQ(revive(1), from_ms(8)) << "the second of a row from 4";
  set(setting::revive_min_ms, 0);
  top.now = top.now + from_ms(10);
  EXPECT_EQ(revive(1), from_ms(0)) << "0 never waits";
}

TEST_F(falling_edge_of, revive_max_ms) {
  top.make(1, 1);
  top.now = top.now + from_ms(10);
  microseconds wait = revive(1);
  for (const u32 longer : {20U, 40U, 80U}) {
    top.now = top.now + wait;
    wait = revive(1);
    EXPECT_EQ(wait, from_ms(longer));
  }
  set(setting::revive_max_ms, 50);
  top.now = top.now + wait;
  EXPECT_EQ(revive(1), from_ms(50)) << "from the next revive on";
}

TEST_F(falling_edge_of, revive_peace_ms) {
  top.make(1, 1);
  top.now = top.now + from_ms(10);
  (void)revive(1);
  top.now = top.now + from_ms(10 + 500);
  EXPECT_EQ(revive(1), from_ms(20)) << "half a second is no peace";
  set(setting::revive_peace_ms, 400);
  top.now = top.now + from_ms(20 + 500);
  EXPECT_EQ(revive(1), from_ms(10)) << "now it is, from the next revive on";
}

TEST_F(falling_edge_of, hold_fresh_ms) {
  for (const u32 n : {1U, 2U, 3U}) top.know(n);
  EXPECT_EQ(hold_back(1, from_ms(9'000)), from_ms(1'000));
  set(setting::hold_fresh_ms, 8'000);
  EXPECT_EQ(hold_back(2, from_ms(9'000)), from_ms(0)) << "from the next take-out on";
  set(setting::hold_fresh_ms, 0);
  EXPECT_EQ(hold_back(3), from_ms(0)) << "0 holds nothing back";
  EXPECT_EQ(top.count(pass_counter::hold_backs), 1U);
}

TEST_F(falling_edge_of, hold_min_ms) {
  for (const u32 n : {1U, 2U, 3U}) top.know(n);
  EXPECT_EQ(hold_back(1), from_ms(1'000));
  const instant until = top.core().held_back().held_until(flow(1), top.core().hash_of(flow(1)));
  set(setting::hold_min_ms, 300);
  EXPECT_EQ(top.core().held_back().held_until(flow(1), top.core().hash_of(flow(1))), until) << "not the hold that has begun";
  EXPECT_EQ(hold_back(2), from_ms(300));
  set(setting::hold_min_ms, 0);
  EXPECT_EQ(hold_back(3), from_ms(0)) << "0 holds nothing back";
}

TEST_F(falling_edge_of, hold_max_ms) {
  top.know(1);
  EXPECT_EQ(hold_back(1), from_ms(1'000));
  EXPECT_EQ(hold_back(1), from_ms(2'000));
  set(setting::hold_max_ms, 2'500);
  EXPECT_EQ(hold_back(1), from_ms(2'500)) << "from the next hold on";
}

TEST_F(falling_edge_of, gap_quiet_us) {
  set(setting::gap_first_ms, 1'000);
  set(setting::gap_quiet_us, 400'000);
  known_and_seen(1);
  known_and_seen(2);
  top.to_next_poll();
  top.run();
  EXPECT_EQ(made(), 0U) << "both wait";
  const instant waits_from = top.now;
  set(setting::gap_quiet_us, 100);
  top.run();
  EXPECT_EQ(made(), 0U) << "when it is looked at next";
  set(setting::gap_quiet_us, 0);
  top.run_to(waits_from + from_ms(400));
  EXPECT_EQ(made(), 2U) << "what waited goes ahead";
  EXPECT_EQ(top.count(pass_counter::gap_found), 0U);
  const u64 waited = top.count(reason::flow_wait_gap);
  EXPECT_GE(waited, 2U);
  known_and_seen(3);
  top.run_for(from_s(1));
  EXPECT_TRUE(top.holds(3)) << "and nothing waits any more";
  EXPECT_EQ(top.count(reason::flow_wait_gap), waited);
}

// Frames go on, so that a make waits for its bound. How long it waited.
struct bound_of_gap : falling_edge_of {
  microseconds made_after(u32 n, instant from) {
    for (u32 i = 0; i < 20'000 && !top.holds(n); ++i) {
      top.both(flow(n), top.first_id(n));
      top.run_for(from_ms(1));
    }
    EXPECT_TRUE(top.holds(n));
    return top.of(n).made_at.since(from);
  }
  // From its first attempt on.
  microseconds waits(u32 n) {
    known_and_seen(n);
    top.run_for(from_s(1));
    return made_after(n, top.now);
  }
};

TEST_F(bound_of_gap, gap_first_ms) {
  set(setting::fast, 0);
  set(setting::gap_quiet_us, 1'000'000);
  set(setting::gap_first_ms, 300);
  EXPECT_EQ(waits(1), from_ms(300));
  known_and_seen(2);
  top.run_for({1'000'000 - top.now.us % 1'000'000});
  ASSERT_FALSE(top.holds(2));
  const instant from = top.now;
  set(setting::gap_first_ms, 50);
  EXPECT_EQ(made_after(2, from), from_ms(300)) << "not the one that waits";
  known_and_seen(3);
  top.run_for({1'000'000 - top.now.us % 1'000'000});
  EXPECT_EQ(made_after(3, top.now), from_ms(50)) << "from the next make on";
}

TEST_F(bound_of_gap, gap_again_ms) {
  for (const u32 n : {1U, 2U}) {
    top.know(n);
    set(setting::gap_quiet_us, 0);
    EXPECT_EQ(hold_back(n), from_ms(1'000));
    set(setting::fast, 0);
    set(setting::gap_quiet_us, 1'000'000);
    set(setting::gap_again_ms, n == 1 ? 700 : 60);
    const instant end = top.core().held_back().held_until(flow(n), top.core().hash_of(flow(n)));
    EXPECT_EQ(made_after(n, end), from_ms(n == 1 ? 700 : 60)) << "from the next make on";
    set(setting::fast, 1);
  }
}

TEST_F(falling_edge_of, sweep_lookups) {
  top.make(1, 40);
  top.run_for(from_s(1));
  const u64 asked = top.count(pass_counter::sweep_asked);
  EXPECT_EQ(top.core().sweep_bound(), from_s(1));
  set(setting::sweep_lookups, 3);
  EXPECT_EQ(top.core().sweep_bound(), from_s(14)) << "the bound grows";
  top.run_for(from_s(1));
  EXPECT_EQ(top.count(pass_counter::sweep_asked), asked + 3) << "from the next poll on";
}

TEST_F(falling_edge_of, upkeep_commands) {
  top.world.firewall.lasts = from_s(60);
  top.make(1, 40);
  top.run_for({from_s(29).count + 500'000});
  ASSERT_EQ(top.count(pass_counter::ka_reads), 0U);
  set(setting::upkeep_commands, 4);
  top.run_for(from_ms(499));
  EXPECT_EQ(top.count(pass_counter::ka_reads), 0U);
  top.run_for(from_ms(501));
  const u64 first = top.count(pass_counter::ka_reads);
  top.run_for(from_s(1));
  EXPECT_EQ(top.count(pass_counter::ka_reads), first + 4) << "from the next poll on";
}

TEST_F(falling_edge_of, dirty_lookups) {
  top.make(1, 40);
  top.core().changed();
  set(setting::dirty_lookups, 10);
  (void)top.next();
  EXPECT_EQ(top.count(pass_counter::dirty_asked), 10U);
  set(setting::dirty_lookups, 2);
  (void)top.next();
  EXPECT_EQ(top.count(pass_counter::dirty_asked), 12U) << "from the next pass on";
}

TEST_F(falling_edge_of, room_reads) {
  live_top<> full{16, 4};
  full.make(1, 16);
  full.know(100);
  // All of them move between two polls, so nobody is found.
  full.passing = [&](instant, instant) {
    for (u32 n = 1; n <= 16; ++n) full.far.moves(full.who(n));
  };
  const auto reads_of_a_poll = [&] {
    full.both(flow(100), full.first_id(100));
    full.run_for(from_s(1));
    const u64 before = full.count(pass_counter::ka_reads);
    full.run_for(from_s(1));
    return full.count(pass_counter::ka_reads) - before;
  };
  (void)full.core().set(setting::room_reads, 8, full.now);
  (void)reads_of_a_poll();
  EXPECT_EQ(reads_of_a_poll(), 2U * 8);
  (void)full.core().set(setting::room_reads, 3, full.now);
  EXPECT_EQ(reads_of_a_poll(), 2U * 3) << "from the next poll on";
  (void)full.core().set(setting::room_reads, 0, full.now);
  full.passing = {};
  EXPECT_EQ(reads_of_a_poll(), 0U);
  for (int i = 0; i < 300; ++i) (void)reads_of_a_poll();
  EXPECT_GE(full.count(pass_counter::ka_reads), 2U * 16) << "though stamps were read to keep states alive";
  EXPECT_EQ(full.count(reason::flow_made_room), 0U) << "0 finds nobody";
}

TEST_F(falling_edge_of, ipsec_flows) {
  ASSERT_TRUE(top.core().association_added(7, true));
  top.world.next_hops.tunnels[2] = 7;  // where the opener's direction leaves
  set(setting::ipsec_flows, 1);
  top.run_for(from_s(2));
  top.make(1, 1);
  ASSERT_TRUE(top.holds(1));
  set(setting::ipsec_flows, 0);
  top.run();
  EXPECT_FALSE(top.holds(1));
  EXPECT_EQ(top.count(reason::flow_tunnelled), 1U);
}

TEST(setting_rows, have_each_a_test_of_their_falling_edge) {
  std::map<std::string, u32> tests;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s)
    for (int t = 0; t < unit.GetTestSuite(s)->total_test_count(); ++t) ++tests[unit.GetTestSuite(s)->GetTestInfo(t)->name()];
  for (const setting_row& r : setting_rows) {
    // `auto` is no name for a test.
    const std::string name = r.is == setting::auto_make ? "auto_" : r.name;
    EXPECT_EQ(tests[name], 1U) << r.name << ": " << r.falling_edge;
  }
}

}  // namespace
}  // namespace octep::test

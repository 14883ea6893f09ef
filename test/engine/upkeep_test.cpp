#include <octep/engine/upkeep.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "test/engine/far_side.hpp"

namespace octep::test {
namespace {

using enum command_kind;

constexpr u64 minute = 60'000'000;
constexpr u64 hour = 60 * minute;

[[nodiscard]] constexpr microseconds hours(u64 n) { return {n * hour}; }

// One connection, whose state lasts so long.
struct keep_alive : ::testing::Test {
  live_top<> top;

  void make(microseconds lasts) {
    top.world.firewall.lasts = lasts;
    top.world.firewall.ends[1] = top.now + from_s(1) + lasts;
    top.make(1, 1);
    ASSERT_TRUE(top.holds(1));
    made = top.now;
    top.world.firewall.ends[1] = made + lasts;
    top.world.events.seen.clear();
  }
  void moves() { top.far.moves(top.who(1)); }
  [[nodiscard]] u64 readings() { return top.count(pass_counter::ka_reads) / 2; }

  instant made;
};

TEST_F(keep_alive, reads_both_stamps_before_half_of_the_remaining_time_has_run) {
  make(hours(2));
  std::vector<u32> read;
  top.on_post = [&](const command& c) {
    if (c.kind == read_microflow) read.push_back(c.microflows[0].who.word);
    EXPECT_LE(top.now.us, made.us + hour);
  };
  top.run_to(made + hours(1));
  top.run();
  EXPECT_EQ(read, (std::vector<u32>{top.who(1, 0).word, top.who(1, 1).word}));
}

TEST_F(keep_alive, restamps_both_states_of_what_moved_and_tells_it) {
  top.world.firewall.lasts = hours(2);
  auto two = settled_state(flow(1), 1);
  two.states[1] = state_id{501};
  top.world.firewall.known4.push_back(two);
  top.both(flow(1), top.first_id(1));
  top.to_next_poll();
  top.run();
  made = top.now;
  top.world.firewall.ends = {{1, made + hours(2)}, {501, made + hours(2)}};
  moves();
  top.run_to(made + hours(1));
  top.run();
  EXPECT_TRUE(top.world.firewall.restamped.empty()) << "a first reading is only a baseline";
  EXPECT_EQ(top.told(event_kind::touched), 0U);
  moves();
  top.run_to(made + microseconds{hour + hour / 2});
  top.run();
  EXPECT_EQ(top.world.firewall.restamped, (std::vector<u64>{1, 501}));
  EXPECT_EQ(top.told(event_kind::touched), 1U);
  EXPECT_EQ(top.count(pass_counter::ka_touched), 1U);
  EXPECT_EQ(top.world.firewall.ends[501], top.now + hours(2));
}

TEST_F(keep_alive, sees_the_stamp_of_either_direction_move) {
  make(hours(2));
  top.run_to(made + hours(1));
  top.run();
  top.far.moves(top.who(1, 1));
  top.run_to(made + microseconds{hour + hour / 2});
  top.run();
  EXPECT_EQ(top.count(pass_counter::ka_touched), 1U);
}

TEST_F(keep_alive, leaves_what_is_quiet_over_two_readings_and_takes_it_out_just_before_it_ends) {
  make(hours(8));
  top.run_to(made + hours(7));  // 4 h: baseline; 6 h, 7 h: quiet
  top.run();
  EXPECT_EQ(readings(), 3U);
  EXPECT_EQ(top.told(event_kind::idle), 1U);
  EXPECT_EQ(top.count(pass_counter::ka_idle), 1U);
  top.run_to({made.us + 8 * hour - 3'000'000});
  EXPECT_EQ(readings(), 3U) << "no more readings";
  EXPECT_TRUE(top.holds(1));
  top.run_to({made.us + 8 * hour - 1});
  EXPECT_EQ(readings(), 4U) << "but one, just before the end";
  EXPECT_FALSE(top.find(1).is) << "its microflows end before its state does";
  EXPECT_EQ(top.count(reason::flow_idle), 1U);
  top.run_for(from_s(2));
  EXPECT_EQ(readings(), 4U);
  EXPECT_EQ(top.count(reason::flow_expired), 0U);
  EXPECT_EQ(top.told(event_kind::idle), 1U) << "told once";
  EXPECT_EQ(top.broken(), "");
}

TEST_F(keep_alive, saves_a_connection_that_woke_after_it_was_found_idle) {
  make(hours(8));
  top.run_to(made + hours(7));
  top.run();
  ASSERT_EQ(top.count(pass_counter::ka_idle), 1U);
  moves();
  top.run_to(made + hours(9));
  EXPECT_TRUE(top.holds(1));
  EXPECT_EQ(top.count(pass_counter::ka_touched), 1U);
}

// Steady traffic, whatever the timer: no state ends under it.
TEST_F(keep_alive, reads_a_day_long_timer_under_steady_traffic_at_most_twice_a_day) {
  make(hours(24));
  top.passing = [&](instant, instant) { moves(); };
  u64 before = 0;
  for (int d = 1; d <= 20; ++d) {
    top.run_for(hours(24));
    EXPECT_LE(readings() - before, 2U) << "day " << d;
    before = readings();
    ASSERT_TRUE(top.holds(1)) << "day " << d;
    top.world.events.seen.clear();
  }
  EXPECT_GT(before, 20U);
  EXPECT_EQ(top.broken(), "");
}

// The host saw frames of it meanwhile, after a give-back: the state has a day again, and so has keep-alive.
TEST_F(keep_alive, reads_again_what_was_idle_when_its_state_was_renewed_by_the_host) {
  make(hours(24));
  top.run_to(made + hours(23));
  ASSERT_EQ(top.count(pass_counter::ka_idle), 1U);
  top.world.firewall.ends[1] = top.now + hours(24);
  top.run_to(made + hours(25));
  ASSERT_TRUE(top.holds(1));
  top.passing = [&](instant, instant) { moves(); };
  top.run_to(made + hours(24 * 4));
  EXPECT_TRUE(top.holds(1)) << "it ended under steady traffic";
}

TEST_F(keep_alive, takes_nothing_that_a_dead_identity_says_for_a_movement) {
  make(hours(2));
  top.run_to(made + hours(1));
  top.run();
  top.far.dead.insert(top.who(1, 0).word);
  moves();
  top.run_to(made + microseconds{hour + hour / 2});
  top.run();
  EXPECT_EQ(readings(), 2U);
  EXPECT_EQ(top.count(pass_counter::ka_touched), 0U);
  EXPECT_EQ(top.of(1).quiet_readings, 1U) << "and the other direction was quiet";
}

TEST_F(keep_alive, takes_a_refused_read_neither_for_a_movement_nor_for_quiet) {
  make(hours(2));
  top.run_to(made + hours(1));
  top.run();
  for (int i = 0; i < 3; ++i) {
    top.now = top.core().table()[top.find(1).index].read_at;
    for (u32 d = 0; d < 2; ++d) {
      command c = top.posted();
      while (c.kind != read_microflow) {
        ASSERT_EQ(c.kind, none);
        top.now.us += 1'000;
        c = top.posted();
      }
      top.answer_it(answer_code::refused);
    }
  }
  EXPECT_EQ(top.count(pass_counter::ka_touched), 0U);
  EXPECT_EQ(top.count(pass_counter::ka_idle), 0U) << "nobody knows whether it is idle";
  EXPECT_TRUE(top.holds(1));
}

TEST_F(keep_alive, dooms_nobody_by_an_unanswered_read_and_asks_again) {
  make(hours(2));
  top.now = top.of(1).read_at;
  command c = top.posted();
  for (int polls = 0; c.kind == none && polls < 4; ++polls) {
    top.to_next_poll();
    c = top.posted();
  }
  ASSERT_EQ(c.kind, read_microflow);
  top.now.us += 2'000'000;
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.count(pass_counter::cmd_unanswered), 1U);
  EXPECT_EQ(top.count(pass_counter::flow_doomed), 0U);
  EXPECT_TRUE(top.holds(1));
  const u64 reads = top.count(pass_counter::ka_reads);
  top.answer_it(answer_code::done, {.lives = true, .stamp = 999});
  EXPECT_EQ(top.count(pass_counter::ka_touched), 0U) << "a late stamp is passed over";
  EXPECT_FALSE(top.of(1).directions[0].stamped);
  top.run_for(from_s(2));
  EXPECT_EQ(top.count(pass_counter::ka_reads), reads + 2);
  EXPECT_TRUE(top.holds(1));
}

TEST_F(keep_alive, reads_nothing_while_it_is_off_and_all_of_it_when_it_is_on_again) {
  make(hours(2));
  (void)top.core().set(setting::keepalive, 0, top.now);
  top.run_to(made + microseconds{hour + hour / 4});
  EXPECT_EQ(top.count(pass_counter::ka_reads), 0U);
  EXPECT_EQ(top.of(1).read_at, never);
  (void)top.core().set(setting::keepalive, 1, top.now);
  top.run_for(from_s(2));
  EXPECT_FALSE(top.of(1).read_at == never) << "the sweep came by";
  top.run_to(made + microseconds{hour + 3 * hour / 4});
  EXPECT_GE(top.count(pass_counter::ka_reads), 2U);
}

TEST_F(keep_alive, does_not_restamp_once_it_was_switched_off) {
  make(hours(2));
  top.run_to(made + hours(1));
  top.run();
  moves();
  top.now = top.of(1).read_at;
  command c = top.posted();
  while (c.kind == none && top.now.us < made.us + 2 * hour) {
    top.now.us += 1'000'000;
    c = top.posted();
  }
  ASSERT_EQ(c.kind, read_microflow);
  (void)top.core().set(setting::keepalive, 0, top.now);
  top.answer_it(answer_code::done, top.far.execute(c));
  top.run();
  EXPECT_TRUE(top.world.firewall.restamped.empty());
}

TEST_F(keep_alive, puts_no_deadline_on_what_is_taken_out_while_it_is_read) {
  make(hours(2));
  top.now = top.of(1).read_at;
  command c = top.posted();
  while (c.kind != read_microflow) {
    top.now.us += 1'000'000;
    c = top.posted();
  }
  ASSERT_TRUE(top.core().remove(flow(1)));
  top.answer_it(answer_code::done, top.far.execute(c));
  top.run();
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.broken(), "");
}

// --- how much of it ---------------------------------------------------------------------------------------

struct fleet : ::testing::Test {
  static u64 readings_between_polls(u32 upkeep_commands, u32 connections, u64& all) {
    live_top<> top{connections};
    (void)top.core().set(setting::upkeep_commands, upkeep_commands, top.now);
    top.world.firewall.lasts = hours(1);
    top.make(1, connections);
    EXPECT_EQ(top.core().table().held(), connections);
    u64 most = 0;
    u64 now = 0;
    u64 polls = top.count(pass_counter::polls);
    top.on_post = [&](const command& c) {
      if (top.count(pass_counter::polls) != polls) {
        polls = top.count(pass_counter::polls);
        now = 0;
      }
      now += c.kind == read_microflow;
      most = std::max(most, now);
    };
    top.run_for(hours(1));
    all = top.count(pass_counter::ka_reads);
    return most;
  }
};

TEST_F(fleet, is_read_no_faster_than_upkeep_commands_allow) {
  u64 all = 0;
  EXPECT_EQ(readings_between_polls(8, 40, all), 8U);
  EXPECT_GE(all, 80U) << "each of them all the same";
  EXPECT_EQ(readings_between_polls(64, 200, all), 64U);
  EXPECT_GE(all, 400U);
}

TEST_F(fleet, is_read_even_by_the_least_that_upkeep_commands_may_be) {
  u64 all = 0;
  const u32 least_allowed = row(setting::upkeep_commands).least;
  EXPECT_LE(readings_between_polls(least_allowed, 3, all), least_allowed);
  EXPECT_GE(all, 6U);
}

// More readings are due than the budget has, and so is the poll that brings the next: who waits for the poll must not keep it.
TEST_F(fleet, whose_readings_wait_for_the_poll_does_not_keep_the_poll_waiting) {
  live_top<> top{200};
  top.world.firewall.lasts = hours(1);
  top.make(1, 200);
  (void)top.core().set(setting::upkeep_commands, 4, top.now);
  top.run_for(from_s(1));
  const u64 polls = top.count(pass_counter::polls);
  top.run_for(hours(1));
  EXPECT_GE(top.count(pass_counter::polls), polls + 3'599);
}

// --- sweep ------------------------------------------------------------------------------------------------

struct sweep : ::testing::Test {
  live_top<> top{64};

  void SetUp() override {
    top.make(1, 40);
    ASSERT_EQ(top.core().table().held(), 40U);
  }
  void kill(u32 n) { top.world.firewall.dead.push_back(n); }
};

TEST_F(sweep, takes_out_what_has_no_state_any_more) {
  kill(7);
  kill(9);
  top.run_for(from_s(1));
  EXPECT_EQ(top.core().table().held(), 38U);
  EXPECT_FALSE(top.find(7).is);
  EXPECT_EQ(top.count(reason::flow_expired), 2U);
  EXPECT_EQ(top.count(pass_counter::sweep_dead), 2U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(sweep, asks_about_so_many_a_poll_and_comes_round) {
  (void)top.core().set(setting::sweep_lookups, 10, top.now);
  top.run_for(from_s(1));
  for (int poll = 0; poll < 8; ++poll) {
    const u64 asked = top.count(pass_counter::sweep_asked);
    top.run_for(from_s(1));
    EXPECT_EQ(top.count(pass_counter::sweep_asked), asked + 10);
  }
  for (u32 n = 1; n <= 10; ++n) kill(n * 4);
  top.run_for(from_s(4));
  EXPECT_EQ(top.core().table().held(), 30U) << "four polls come round forty";
}

TEST_F(sweep, asks_nobody_twice_in_one_poll) {
  top.run_for(from_s(1));
  const u64 asked = top.count(pass_counter::sweep_asked);
  top.run_for(from_s(1));
  EXPECT_EQ(top.count(pass_counter::sweep_asked), asked + 40);
}

TEST_F(sweep, asks_for_all_at_once_when_states_are_gone) {
  (void)top.core().set(setting::sweep_lookups, 1, top.now);
  top.run_for(from_s(1));
  for (u32 n = 1; n <= 10; ++n) kill(n * 4);
  const u64 polls = top.count(pass_counter::polls);
  const u64 kicks = top.world.kicks;
  top.core().states_gone();
  EXPECT_EQ(top.world.kicks, kicks + 1);
  top.run();
  EXPECT_EQ(top.count(pass_counter::polls), polls) << "before any poll";
  EXPECT_EQ(top.core().table().held(), 30U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(sweep, takes_one_out_at_once_whose_state_is_named) {
  EXPECT_TRUE(top.core().state_gone(reverse(flow(3))));
  EXPECT_FALSE(top.core().state_gone(flow(60))) << "nobody's";
  EXPECT_FALSE(top.core().state_gone(flow(3))) << "owed once";
  const u64 polls = top.count(pass_counter::polls);
  top.run();
  EXPECT_EQ(top.count(pass_counter::polls), polls);
  EXPECT_FALSE(top.find(3).is);
  EXPECT_EQ(top.count(reason::flow_expired), 1U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(sweep, owes_take_outs_that_go_before_makes_and_before_the_walk) {
  top.know(50);
  top.know(51);
  kill(5);
  top.both(flow(50), top.first_id(50), 16);  // due for a run
  top.both(flow(51), top.first_id(51));      // for the walk
  ASSERT_TRUE(top.core().state_gone(flow(6)));
  std::vector<command_kind> order;
  top.on_post = [&](const command& c) {
    if (c.kind == reclaim || c.kind == create) order.push_back(c.kind);
  };
  top.run_for(from_s(1));
  top.run();
  EXPECT_EQ(order, (kinds{reclaim, create, reclaim, create})) << "named, run; then the poll: swept, walked";
}

TEST_F(sweep, discards_once_when_more_than_half_is_dead_at_once) {
  for (u32 n = 1; n <= 21; ++n) kill(n);
  top.core().states_gone();
  top.posted_of.clear();
  top.run();
  EXPECT_EQ(top.posted_of[discard], 1U);
  EXPECT_EQ(top.posted_of[deactivate] + top.posted_of[reclaim], 0U);
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(sweep, takes_out_one_by_one_what_is_half_or_less) {
  for (u32 n = 1; n <= 20; ++n) kill(n);
  top.core().states_gone();
  top.posted_of.clear();
  top.run();
  EXPECT_EQ(top.posted_of[discard], 0U);
  EXPECT_EQ(top.posted_of[reclaim], 20U);
  EXPECT_EQ(top.core().table().held(), 20U);
}

TEST(small_sweep, discards_nothing_for_fewer_than_sixteen) {
  live_top<> top{64};
  top.make(1, 15);
  for (u32 n = 1; n <= 15; ++n) top.world.firewall.dead.push_back(n);
  top.posted_of.clear();
  top.core().states_gone();
  top.run();
  EXPECT_EQ(top.posted_of[discard], 0U);
  EXPECT_EQ(top.posted_of[reclaim], 15U);
}

// A device's own table: what is dead is more than one slice asks about.
TEST(large_sweep, discards_once_when_more_than_half_of_1022_is_dead_at_once) {
  for (const bool told : {true, false}) {
    live_top<> top{1'022};
    top.make(1, 1'022);
    ASSERT_EQ(top.core().table().held(), 1'022U);
    for (u32 n = 1; n <= 1'022; ++n)
      if (n % 10 != 0) top.world.firewall.dead.push_back(n);
    top.posted_of.clear();
    if (told) top.core().states_gone();
    top.run_for(from_s(1));
    top.run();
    EXPECT_EQ(top.posted_of[discard], 1U) << "told: " << told;
    EXPECT_EQ(top.posted_of[reclaim], 0U) << "told: " << told;
    EXPECT_EQ(top.core().table().held(), 0U);
    EXPECT_EQ(top.broken(), "");
  }
}

TEST(large_sweep, lets_other_take_outs_wait_no_longer_than_it_needs_to_ask) {
  live_top<> top{1'022};
  top.make(1, 1'022);
  for (u32 n = 1; n <= 400; ++n) top.world.firewall.dead.push_back(n);
  top.posted_of.clear();
  top.core().states_gone();
  top.run();
  EXPECT_EQ(top.posted_of[discard], 0U) << "less than half";
  EXPECT_EQ(top.posted_of[reclaim], 400U);
  EXPECT_EQ(top.core().table().held(), 622U);
  EXPECT_EQ(top.broken(), "");
}

// Whatever dies, nobody outlives its state by more than the bound: the printed one, and three commands for each that is dead.
RC_GTEST_PROP(bound, holds_for_whatever_dies_at_1022, ()) {
  live_top<> top{1'022};
  top.make(1, 1'022);
  RC_ASSERT(top.core().table().held() == 1'022U);
  const u32 lookups = *rc::gen::element(64U, 100U, 256U, 1'022U);
  (void)top.core().set(setting::sweep_lookups, lookups, top.now);
  top.takes = {*rc::gen::element(20U, 100U, 1'000U)};
  top.run_for(from_s(1));
  const microseconds printed = top.core().sweep_bound();
  RC_ASSERT(printed.count == ((1'022U + lookups - 1) / lookups) * 1'000'000U);

  std::map<u32, instant> killed;  // by number; erased when taken out
  u32 dead = 0;
  microseconds longest{};
  top.world.events.seen.clear();
  const auto check = [&] {
    for (const event& e : top.world.events.seen) {
      if (e.kind != event_kind::taken_out) continue;
      const auto k = killed.find(u32{e.v4.source_port()} - 40'000U);
      RC_ASSERT(k != killed.end());
      const microseconds outlived = e.at.since(k->second);
      RC_ASSERT(outlived.count <= printed.count + u64{dead} * 3 * top.takes.count);
      longest = std::max(longest, outlived);
      killed.erase(k);
    }
    top.world.events.seen.clear();
  };
  const u32 rounds = *rc::gen::inRange(1U, 6U);
  for (u32 i = 0; i < rounds; ++i) {
    const u32 kills = *rc::gen::inRange(1U, 40U);
    for (u32 k = 0; k < kills; ++k) {
      const u32 n = *rc::gen::inRange(1U, 1'023U);
      if (!top.holds(n) || killed.contains(n)) continue;
      killed[n] = top.now;
      top.world.firewall.dead.push_back(n);
      ++dead;
    }
    top.run_for({*rc::gen::inRange<u64>(1, 1'500'000)});
    check();
  }
  top.run_for(printed + microseconds{u64{dead} * 3 * top.takes.count});
  check();
  RC_ASSERT(killed.empty());
  RC_ASSERT(top.broken() == "");
  RC_TAG(fmt::format("bound {} s, longest {} s", printed.count / 1'000'000, longest.count / 1'000'000));
}

// --- dirty ------------------------------------------------------------------------------------------------

struct dirty : ::testing::Test {
  live_top<> top{64, 8};

  void SetUp() override {
    top.make(1, 40);
    ASSERT_EQ(top.core().table().held(), 40U);
    top.posted_of.clear();
  }
  firewall_answer<tuple4>& state(u32 n) {
    for (auto& a : top.world.firewall.known4)
      if (a.states[0].value == n) return a;
    return top.world.firewall.known4.front();
  }
  void changed() {
    top.core().changed();
    top.run();
  }
};

TEST_F(dirty, asks_about_so_many_in_one_pass_and_about_everybody) {
  (void)top.core().set(setting::dirty_lookups, 7, top.now);
  top.core().changed();
  u64 asked = 0;
  for (u32 pass = 1; pass <= 6; ++pass) {
    EXPECT_EQ(top.next().until == instant{}, pass < 6) << "the lock is free between two passes";
    EXPECT_LE(top.count(pass_counter::dirty_asked) - asked, 7U);
    asked = top.count(pass_counter::dirty_asked);
  }
  EXPECT_EQ(asked, 40U);
  top.run();
  EXPECT_EQ(top.count(pass_counter::dirty_asked), 40U);
  EXPECT_TRUE(top.posted_of.empty()) << "nothing had changed";
}

TEST_F(dirty, asks_everybody_again_when_something_changes_meanwhile) {
  (void)top.core().set(setting::dirty_lookups, 7, top.now);
  top.core().changed();
  for (int i = 0; i < 3; ++i) (void)top.next();
  state(2).verdict = reason::flow_shaped;  // was asked about already
  changed();
  EXPECT_FALSE(top.find(2).is);
}

TEST_F(dirty, takes_out_what_the_firewall_judges_otherwise_now) {
  state(3).verdict = reason::flow_shaped;
  state(5).opener_translated = {outside(99), port_word(60'000)};
  state(7).states = {state_id{7'007}, {}};
  changed();
  EXPECT_EQ(top.core().table().held(), 37U);
  for (const u32 n : {3U, 5U, 7U}) EXPECT_FALSE(top.find(n).is) << n;
  EXPECT_EQ(top.count(reason::flow_reval), 3U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(dirty, takes_out_what_the_firewall_does_not_know_any_more) {
  state(3).found = false;
  changed();
  EXPECT_EQ(top.count(reason::flow_expired), 1U);
  EXPECT_EQ(top.core().table().held(), 39U);
}

TEST_F(dirty, repoints_everybody_by_one_next_hop_and_one_program_a_direction) {
  const auto before = top.far.hops;
  ASSERT_EQ(before.size(), 2U);
  top.world.next_hops.mtu = 1'492;
  changed();
  EXPECT_EQ(top.posted_of[next_hop_set], 2U);
  EXPECT_EQ(top.posted_of[program], 80U);
  EXPECT_EQ(top.posted_of[next_hop_release], 2U) << "of the old ones";
  EXPECT_EQ(top.posted_of[deactivate], 0U);
  EXPECT_EQ(top.count(pass_counter::flow_repoint), 80U);
  EXPECT_EQ(top.told(event_kind::repointed), 80U);
  EXPECT_EQ(top.references(), 80U);
  EXPECT_EQ(top.far.hops.size(), 2U);
  EXPECT_EQ(top.core().table().held(), 40U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(dirty, repoints_one_direction_alone) {
  top.world.next_hops.changed_port = 1;  // where direction 1 leaves
  changed();
  EXPECT_EQ(top.posted_of[next_hop_set], 1U);
  EXPECT_EQ(top.posted_of[program], 40U);
  EXPECT_EQ(top.posted_of[next_hop_release], 1U);
  EXPECT_EQ(top.references(), 80U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(dirty, repoints_more_than_the_upkeep_of_one_poll) {
  (void)top.core().set(setting::upkeep_commands, 10, top.now);
  top.run_for(from_s(1));
  top.world.next_hops.mtu = 1'492;
  changed();
  EXPECT_EQ(top.core().table().held(), 40U) << "a take-out and a make cost more than what they would spare";
  EXPECT_EQ(top.posted_of[program], 80U);
}

TEST_F(dirty, takes_out_what_has_no_way_out_any_more) {
  top.world.next_hops.why = reason::flow_nonhop_no_route;
  changed();
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.count(reason::flow_rerouted), 40U);
  EXPECT_EQ(top.broken(), "");
  EXPECT_TRUE(top.far.hops.empty());
}

TEST(dirty_full_hops, takes_out_what_finds_no_room_for_its_new_next_hop) {
  live_top<> top{8, 2};
  top.make(1, 1);
  ASSERT_TRUE(top.holds(1));
  top.world.next_hops.mtu = 1'492;
  top.core().changed();
  top.run();
  EXPECT_FALSE(top.find(1).is);
  EXPECT_EQ(top.count(reason::flow_rerouted), 1U);
  EXPECT_EQ(top.broken(), "");
}

struct dirty_answers : ::testing::Test {
  live_top<> top{8, 8};

  // One connection whose ways out change; the first command of the repointing is out.
  void SetUp() override {
    top.make(1, 1);
    ASSERT_TRUE(top.holds(1));
    top.world.next_hops.changed_port = 1;
    top.core().changed();
    ASSERT_EQ(top.posted().kind, next_hop_set);
  }
  void silence() {
    top.now.us += 2'000'000;
    EXPECT_EQ(top.next().what, step::kind::wait);
    EXPECT_EQ(top.count(pass_counter::cmd_unanswered), 1U);
  }
};

TEST_F(dirty_answers, takes_out_what_the_far_side_refuses_a_next_hop) {
  top.answer_it(answer_code::refused);
  top.run();
  EXPECT_FALSE(top.find(1).is);
  EXPECT_EQ(top.count(reason::flow_rerouted), 1U);
  EXPECT_EQ(top.references(), 0U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(dirty_answers, takes_out_what_the_far_side_refuses_to_program) {
  command c = top.core().commands().current();
  top.answer_it(answer_code::done, top.far.execute(c));
  ASSERT_EQ(top.posted().kind, program);
  top.answer_it(answer_code::refused);
  top.run();
  EXPECT_FALSE(top.find(1).is);
  EXPECT_EQ(top.references(), 0U);
  EXPECT_EQ(top.broken(), "");
}

TEST_F(dirty_answers, bars_an_unanswered_next_hop_and_takes_its_connection_out_when_the_far_side_speaks) {
  for (const bool done : {true, false}) {
    if (!done) {
      top.run_for(from_s(1));
      top.both(flow(1), top.first_id(1));
      top.world.next_hops.changed_port = 0;
      top.run_for(from_s(2));
      ASSERT_TRUE(top.holds(1));
      top.world.next_hops.changed_port = 2;
      top.core().changed();
      ASSERT_EQ(top.posted().kind, next_hop_set);
    }
    const command c = top.core().commands().current();
    top.now.us += 2'000'000;
    EXPECT_EQ(top.next().what, step::kind::wait);
    EXPECT_EQ(top.core().hops()[c.target.index].state, next_hop_state::barred);
    EXPECT_EQ(top.next().what, step::kind::wait) << "nothing is posted before it speaks";
    top.answer_it(done ? answer_code::done : answer_code::refused, done ? top.far.execute(c) : answer{});
    top.run();
    EXPECT_FALSE(top.find(1).is);
    EXPECT_EQ(top.references(), 0U);
    EXPECT_TRUE(top.far.hops.empty());
    EXPECT_EQ(top.broken(), "");
  }
}

TEST_F(dirty_answers, dooms_the_connection_of_an_unanswered_program) {
  top.answer_it(answer_code::done, top.far.execute(top.core().commands().current()));
  const command c = top.posted();
  ASSERT_EQ(c.kind, program);
  silence();
  EXPECT_EQ(top.count(pass_counter::flow_doomed), 1U);
  EXPECT_EQ(top.of(1).state, record_state::doomed);
  EXPECT_EQ(top.references(), 2U);
  top.answer_it(answer_code::done, top.far.execute(c));
  top.run();
  EXPECT_FALSE(top.find(1).is);
  EXPECT_EQ(top.count(reason::flow_audited), 1U);
  EXPECT_EQ(top.references(), 0U);
  EXPECT_EQ(top.broken(), "");
}

// --- room -------------------------------------------------------------------------------------------------

template <class Policies>
struct full_house {
  static constexpr u32 places = 64;
  live_top<Policies> top{places, 4};
  std::set<u32> busy;
  u32 newcomer = 100;

  full_house() {
    top.world.firewall.lasts = hours(24);
    top.make(1, places);
    EXPECT_TRUE(top.core().table().full());
    for (u32 n = 1; n <= places; ++n) busy.insert(n);
    top.passing = [&](instant, instant) {
      for (const u32 n : busy) top.far.moves(top.who(n));
    };
    top.know(newcomer);
  }
  // The newcomer's frames go on, a few a second.
  void seconds(u32 n) {
    for (u32 i = 0; i < n * 4 && !top.holds(newcomer); ++i) {
      top.both(flow(newcomer), top.first_id(newcomer));
      top.run_for(from_ms(250));
    }
  }
};

TEST(full_table_of, an_idle_one_makes_room_within_two_rounds_of_readings) {
  full_house<fleet_policies> house;
  house.busy.erase(17);
  const u32 round = 64 / house.top.core().values()[setting::room_reads];
  house.seconds(2 * round + 2);
  EXPECT_TRUE(house.top.holds(house.newcomer));
  EXPECT_FALSE(house.top.find(17).is);
  EXPECT_EQ(house.top.count(reason::flow_made_room), 1U);
  EXPECT_EQ(house.top.count(pass_counter::room_idle), 1U);
  EXPECT_EQ(house.top.broken(), "");
}

TEST(full_table_of, busy_connections_evicts_nobody) {
  full_house<fleet_policies> house;
  house.seconds(60);
  EXPECT_FALSE(house.top.holds(house.newcomer));
  EXPECT_EQ(house.top.count(reason::flow_made_room), 0U);
  EXPECT_EQ(house.top.count(pass_counter::room_idle), 0U);
  EXPECT_TRUE(house.top.core().table().full());
}

TEST(full_table_of, the_recorded_policy_evicts_nobody_however_idle) {
  full_house<keeps_all> house;
  house.busy.clear();
  house.seconds(60);
  EXPECT_FALSE(house.top.holds(house.newcomer));
  EXPECT_EQ(house.top.count(reason::flow_made_room), 0U);
  EXPECT_EQ(house.top.count(pass_counter::ka_reads), 0U);
}

TEST(full_table_of, idle_ones_loses_one_for_each_newcomer) {
  full_house<fleet_policies> house;
  house.busy.clear();
  house.seconds(20);
  ASSERT_TRUE(house.top.holds(house.newcomer));
  const u64 reads = house.top.count(pass_counter::ka_reads);
  house.top.run_for(from_s(30));
  EXPECT_EQ(house.top.count(reason::flow_made_room), 1U) << "nobody else is waiting";
  EXPECT_TRUE(house.top.core().table().full());
  EXPECT_LE(house.top.count(pass_counter::ka_reads), reads + 2 * 16) << "nor is anybody read for it";
}

// So small a table is read round many times in one poll, within microseconds: that nothing moved in between says nothing.
TEST(full_table_of, few_busy_ones_evicts_nobody) {
  live_top<> top{3, 4};
  top.takes = {50};
  top.make(1, 3);
  ASSERT_TRUE(top.core().table().full());
  // Ten frames a second each.
  u64 frames = 0;
  top.passing = [&](instant, instant now) {
    for (; frames < now.us / 100'000; ++frames)
      for (u32 n = 1; n <= 3; ++n) top.far.moves(top.who(n));
  };
  top.know(100);
  for (int i = 0; i < 120; ++i) {
    top.both(flow(100), top.first_id(100));
    top.run_for(from_ms(250));
  }
  EXPECT_EQ(top.count(reason::flow_made_room), 0U);
}

TEST(full_table_of, a_busy_one_whose_stamps_were_just_read_to_keep_it_alive_evicts_nobody) {
  live_top<> top{20, 4};
  top.takes = {50};
  top.world.firewall.lasts = from_s(7);  // read every three seconds and a half
  top.make(1, 20);
  ASSERT_TRUE(top.core().table().full());
  u64 frames = 0;
  top.passing = [&](instant, instant now) {
    for (; frames < now.us / 100'000; ++frames)
      for (u32 n = 1; n <= 20; ++n) top.far.moves(top.who(n));
  };
  top.know(100);
  for (int i = 0; i < 240; ++i) {
    top.both(flow(100), top.first_id(100));
    top.run_for(from_ms(250));
  }
  EXPECT_EQ(top.count(reason::flow_made_room), 0U);
}

// A direction that was attached anew has no stamp to compare: the other one's quiet is not the connection's.
TEST(full_table_of, one_that_is_busy_one_way_under_a_new_identity_evicts_nobody) {
  full_house<fleet_policies> house;
  house.top.run_for(from_s(5));
  u32 id = 5'000;
  identity now_as = house.top.who(17);
  house.top.passing = [&](instant, instant) {
    for (const u32 n : house.busy)
      if (n != 17) house.top.far.moves(house.top.who(n));
    house.top.far.moves(now_as);
  };
  for (int i = 0; i < 60; ++i) {
    // Direction 0 carries all of it, under another identity each time.
    now_as = identity::make(++id, 1);
    (void)house.top.frame(flow(17), 1, id);
    house.top.both(flow(house.newcomer), house.top.first_id(house.newcomer));
    house.top.run_for(from_s(1));
  }
  EXPECT_GE(house.top.count(pass_counter::flow_attached), 50U);
  EXPECT_EQ(house.top.count(reason::flow_made_room), 0U);
  EXPECT_TRUE(house.top.holds(17));
}

TEST(full_table_of, anything_reads_nothing_for_room_when_room_reads_is_0) {
  full_house<fleet_policies> house;
  house.busy.clear();
  (void)house.top.core().set(setting::room_reads, 0, house.top.now);
  house.top.run_for(from_s(2));
  house.seconds(30);
  EXPECT_EQ(house.top.count(pass_counter::ka_reads), 0U);
  EXPECT_FALSE(house.top.holds(house.newcomer));
}

// --- by hand ----------------------------------------------------------------------------------------------

TEST(purge, takes_out_every_connection_of_a_host_and_no_other) {
  live_top<> top{64};
  top.make(1, 40);
  EXPECT_TRUE(top.core().remove_host(family::ipv4, detail::widen(inside(5))));
  EXPECT_FALSE(top.core().remove_host(family::ipv4, detail::widen(inside(6)))) << "one at a time";
  top.run();
  EXPECT_FALSE(top.find(5).is);
  EXPECT_EQ(top.core().table().held(), 39U);
  EXPECT_EQ(top.count(pass_counter::removed_by_hand), 1U);
  EXPECT_EQ(top.count(reason::flow_removed), 1U);
  EXPECT_TRUE(top.core().remove_host(family::ipv4, detail::widen(outside(1))));
  top.run();
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.broken(), "");
}

}  // namespace
}  // namespace octep::test

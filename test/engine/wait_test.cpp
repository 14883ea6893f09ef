#include <octep/engine/wait.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "test/engine/held.hpp"
#include "test/engine/walk_policies.hpp"

namespace octep::test {
namespace {

using enum command_kind;

// --- hold-back: made again too soon ---------------------------------------------------------------------------

struct hold_back : held {
  void SetUp() override {
    held::SetUp();
    (void)top.core().set(setting::revive, 0, top.now);
  }
  // The read says that it was given back, and it is taken out.
  void bounce() {
    read_answers(given_back());
    EXPECT_EQ(top.settle(), whole_take_out);
    EXPECT_EQ(taken_out_for(), reason::flow_revive_off);
  }
  [[nodiscard]] instant held_until() {
    return top.core().held_back().held_until(opener, top.core().hash_of(opener));
  }
  // Sleeps as a glue does, until `end` is the next deadline but for polls, and wakes then.
  void sleep_to(instant end) {
    for (;;) {
      EXPECT_EQ(top.settle(), kinds{});
      const step s = top.next();
      ASSERT_EQ(s.what, step::kind::idle);
      ASSERT_LE(s.until.us, end.us);
      ASSERT_LT(top.now.us, s.until.us);
      top.now = s.until;
      if (top.now == end) return;
    }
  }
  // Sleeps through the hold and lets the make happen that its end tries.
  void through_hold() {
    sleep_to(held_until());
    EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
    name_it();
    top.now.us += 10'000;
  }
};

TEST_F(hold_back, begins_when_a_fresh_connection_was_given_back_and_taken_out) {
  bounce();
  EXPECT_EQ(held_until(), top.now + from_s(1));
  EXPECT_EQ(top.count(pass_counter::hold_backs), 1U);
  const event* e = last(event_kind::held_back);
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(e->until, top.now + from_s(1));
  EXPECT_EQ(e->at, top.now);
  EXPECT_EQ(e->why, reason::flow_revive_off);
  EXPECT_EQ(e->count, 1U);
  EXPECT_TRUE(e->names_tuple);
  EXPECT_EQ(e->v4, opener);
}

TEST_F(hold_back, begins_after_a_refused_revival_too) {
  (void)top.core().set(setting::revive, 1, top.now);
  read_answers(given_back());
  ASSERT_EQ(top.posted().kind, create);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_pending);
  EXPECT_EQ(held_until(), top.now + from_s(1));
}

TEST_F(hold_back, ends_at_a_deadline_and_is_made_then_from_what_stands_in_the_table) {
  bounce();
  const instant end = held_until();
  sleep_to(end);
  EXPECT_EQ(top.count(pass_counter::hold_backs), 1U);
  const u64 polls = top.count(pass_counter::polls);
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create})) << "no frame came, and no poll";
  EXPECT_EQ(top.count(pass_counter::polls), polls);
  EXPECT_TRUE(is_held());
  const event* e = last(event_kind::hold_ends);
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(e->until, end);
  EXPECT_EQ(e->v4, opener);
  EXPECT_EQ(last(event_kind::made)->by, asker::wait);
}

TEST_F(hold_back, doubles_from_a_second_to_a_minute) {
  for (const u64 s : std::vector<u64>{1, 2, 4, 8, 16, 32, 60, 60}) {
    bounce();
    ASSERT_EQ(held_until(), top.now + from_s(s)) << s;
    through_hold();
  }
}

TEST_F(hold_back, is_not_for_what_was_closed) {
  frame(true);
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  ASSERT_EQ(taken_out_for(), reason::flow_ended);
  EXPECT_EQ(top.core().held_back().used(), 0U);
  EXPECT_EQ(last(event_kind::held_back), nullptr);
}

TEST_F(hold_back, is_not_for_what_was_gone_or_removed_or_expired) {
  read_answers(entry(entry_state::reclaimed));
  EXPECT_EQ(top.settle(), whole_take_out);
  make_it();
  ASSERT_TRUE(top.core().remove(opener));
  EXPECT_EQ(top.settle(), whole_take_out);
  make_it();
  ASSERT_TRUE(top.core().state_gone(opener));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(top.core().held_back().used(), 0U);
  EXPECT_EQ(top.count(pass_counter::hold_backs), 0U);
}

TEST_F(hold_back, is_forgotten_when_the_connection_closes) {
  bounce();
  through_hold();
  frame_back(true);
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back(2));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(top.core().held_back().used(), 0U) << "the next connection with its ports is another";
}

TEST_F(hold_back, ends_where_its_make_is_not_fresh_any_more) {
  const u64 made_at = top.core().table()[at.index].made_at.us;
  top.now = {made_at + 9'999'999};
  frame();
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_NE(held_until(), instant{}) << "a microsecond before it lasted";
  through_hold();
  top.now = top.core().table()[at.index].made_at + from_s(10);
  read_answers(given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(top.core().held_back().used(), 0U);
}

TEST_F(hold_back, starts_over_after_a_make_that_lasted_whatever_ended_it) {
  enum end { given, removed, gone, expired };
  for (const end how : {given, removed, gone, expired}) {
    bounce();
    ASSERT_EQ(held_until(), top.now + from_s(1)) << how;
    through_hold();
    bounce();
    ASSERT_EQ(held_until(), top.now + from_s(2)) << how;
    through_hold();
    top.now.us += 10'000'000;
    top.settle();
    top.now.us += 10'000;
    switch (how) {
      case given: read_answers(given_back()); break;
      case removed: ASSERT_TRUE(top.core().remove(opener)); break;
      case gone: read_answers(entry(entry_state::reclaimed)); break;
      case expired: ASSERT_TRUE(top.core().state_gone(opener)); break;
    }
    EXPECT_EQ(top.settle(), whole_take_out);
    make_it();
  }
}

TEST_F(hold_back, does_not_start_over_after_a_make_that_nobody_answered) {
  bounce();
  sleep_to(held_until());
  while (top.posted().kind == next_hop_set) top.answer_it();
  top.now.us += 20'000'000;
  ASSERT_EQ(top.next().what, step::kind::wait);
  top.answer_it();
  top.settle();
  ASSERT_EQ(taken_out_for(), reason::flow_audited);
  make_it();
  bounce();
  EXPECT_EQ(held_until(), top.now + from_s(2));
}

TEST_F(hold_back, is_seen_by_the_next_frame_of_either_direction) {
  bounce();
  through_hold();
  bounce();  // two seconds
  for (const bool back : {false, true}) {
    back ? frame_back() : frame();
    top.to_next_poll();
    ASSERT_LT(top.now.us, held_until().us);
    EXPECT_EQ(top.settle(), kinds{});
    EXPECT_EQ(top.last_refusal(), reason::flow_held_back);
    EXPECT_EQ(last(event_kind::refused)->v4, back ? reverse(opener) : opener);
  }
  EXPECT_EQ(top.count(reason::flow_held_back), 2U);
}

// Every place of both slots goes to strangers: what is remembered stands elsewhere.
TEST_F(hold_back, is_not_lost_when_both_candidates_are_evicted) {
  bounce();
  through_hold();
  bounce();
  const instant end = held_until();
  const auto stands = [&](const tuple4& t) {
    candidate<tuple4> c;
    return top.core().candidates_for<tuple4>().find(t, top.core().hash_of(t), c) == got::one;
  };
  ASSERT_TRUE(stands(opener) && stands(reverse(opener)));
  for (u32 n = 10; n < 200; ++n) top.both(flow(n), 1'000 + 2 * n);
  ASSERT_FALSE(stands(opener) || stands(reverse(opener)));
  frame_back();
  top.to_next_poll();
  ASSERT_LT(top.now.us, end.us);
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(held_until(), end);
  EXPECT_GE(top.count(reason::flow_held_back), 1U);
  // Nothing of it stands there when the hold ends: nothing is made, and the level is remembered.
  for (u32 n = 200; n < 400; ++n) top.both(flow(n), 1'000 + 2 * n);
  sleep_to(end);
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_NE(last(event_kind::hold_ends), nullptr);
  make_it();
  bounce();
  EXPECT_EQ(held_until(), top.now + from_s(4));
}

TEST_F(hold_back, ends_with_one_direction_still_to_come) {
  bounce();
  for (u32 n = 10; n < 200; ++n) top.both(flow(n), 1'000 + 2 * n);
  top.to_next_poll();
  top.settle();
  frame_back();
  sleep_to(held_until());
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.last_refusal(), reason::flow_wait_other);
  make_it();
}

TEST_F(hold_back, costs_a_kick_at_each_doubling_of_a_count_and_no_more) {
  bounce();
  through_hold();
  bounce();
  const u64 kicks = top.world.kicks;
  const u64 runs = top.count(pass_counter::fast_runs);
  for (int i = 0; i < 4'000; ++i) {
    frame();
    top.now.us += 300;
    ASSERT_LT(top.now.us, held_until().us);
    EXPECT_EQ(top.settle(), kinds{});
  }
  EXPECT_EQ(top.world.kicks - kicks, 8U) << "16, 32, 64 ... 2,048";
  EXPECT_LE(top.count(pass_counter::fast_runs) - runs, 8U);
  EXPECT_GE(top.count(reason::flow_held_back), 1U);
}

TEST_F(hold_back, of_another_that_ends_first_is_forgotten_and_counted_where_there_is_no_room) {
  bench_top<> small{{.connections = 4, .next_hops = 4, .ipv6_connections = false, .holds = 1}};
  (void)small.core().set(setting::revive, 0, small.now);
  for (u32 n = 1; n <= 2; ++n) {
    small.world.firewall.known4.push_back(settled_state(flow(n), n));
    small.both(flow(n), 100 * n);
  }
  small.to_next_poll();
  small.settle();
  for (u32 n = 1; n <= 2; ++n) {
    small.now.us += 10'000;
    (void)small.frame(flow(n), 1, 100 * n);
    const command c = small.posted();
    ASSERT_EQ(c.kind, read_entry);
    small.answer_it(answer_code::done, {.entry = entry_state::pending, .entry_revision = c.target.revision, .identical = 10});
    small.settle();
  }
  EXPECT_EQ(small.count(pass_counter::hold_backs), 2U);
  EXPECT_EQ(small.count(pass_counter::hold_forgot), 1U);
  EXPECT_EQ(small.core().held_back().held_until(flow(1), small.core().hash_of(flow(1))), instant{});
  EXPECT_EQ(small.core().held_back().held_until(flow(2), small.core().hash_of(flow(2))), small.now + from_s(1));
}

TEST_F(hold_back, that_ends_while_nothing_is_made_waits_for_frames_and_keeps_its_level) {
  bounce();
  const instant end = held_until();
  (void)top.core().set(setting::auto_make, 0, top.now);
  sleep_to(end);
  EXPECT_EQ(top.settle(), kinds{});
  (void)top.core().set(setting::auto_make, 1, top.now);
  make_it();
  bounce();
  EXPECT_EQ(held_until(), top.now + from_s(2));
}

TEST_F(hold_back, of_0_ms_never_begins) {
  (void)top.core().set(setting::hold_min_ms, 0, top.now);
  bounce();
  EXPECT_EQ(top.core().held_back().used(), 0U);
}

TEST_F(hold_back, outlives_a_discard_and_a_restart_of_the_far_side) {
  bounce();
  const instant end = held_until();
  top.core().far_side_reset(top.now);
  EXPECT_EQ(top.settle(), kinds{});
  top.core().request_discard();
  EXPECT_EQ(top.settle(), kinds{discard});
  EXPECT_EQ(held_until(), end);
  frame();
  frame_back();
  top.to_next_poll();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.last_refusal(), reason::flow_held_back);
}

TEST_F(hold_back, forgets_its_level_when_nobody_came_back_for_a_minute_and_ten_seconds) {
  bounce();
  const instant end = held_until();
  for (u32 n = 10; n < 200; ++n) top.both(flow(n), 1'000 + 2 * n);
  sleep_to(end);
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.core().held_back().used(), 1U);
  sleep_to(end + from_s(70));
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.core().held_back().used(), 0U);
}

// --- gap: nothing of it may be on its way through the host ------------------------------------------------------

struct gap : ::testing::Test {
  bench_top<ours> top{roomy};
  const tuple4 opener = flow(1);

  void SetUp() override {
    (void)top.core().set(setting::gap_quiet_us, 500, top.now);
    known(1);
  }
  void known(u32 n) { top.world.firewall.known4.push_back(settled_state(flow(n), n)); }
  void frame() { (void)top.frame(opener, 1, 100); }
  void frame_back() { (void)top.frame(reverse(opener), 2, 101); }
  [[nodiscard]] bool is_held() { return top.core().table().find(opener, top.core().hash_of(opener)).is; }
};

TEST_F(gap, is_waited_for_and_is_a_deadline) {
  top.both(opener, 100);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.last_refusal(), reason::flow_wait_gap);
  EXPECT_EQ(top.next().until, top.now + microseconds{500});
  top.now.us += 499;
  EXPECT_EQ(top.settle(), kinds{});
  top.now.us += 1;
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create})) << "no frame and no poll came";
  EXPECT_EQ(top.count(pass_counter::gap_found), 1U);
  EXPECT_EQ(top.count(pass_counter::gap_expired), 0U);
  EXPECT_EQ(top.core().held_back().used(), 0U) << "no entry is left behind";
}

TEST_F(gap, begins_anew_with_a_frame_of_either_direction) {
  top.both(opener, 100);
  top.to_next_poll();
  const instant begun = top.now;
  EXPECT_EQ(top.settle(), kinds{});
  top.now = begun + microseconds{400};
  frame_back();
  top.now = begun + microseconds{500};
  EXPECT_EQ(top.settle(), kinds{});
  // Seen at the deadline, so the quiet is counted from there.
  EXPECT_EQ(top.next().until, begun + microseconds{1'000});
  top.now = begun + microseconds{900};
  frame();
  top.now = begun + microseconds{1'000};
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.next().until, begun + microseconds{1'500});
  top.now = begun + microseconds{1'500};
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_EQ(top.count(pass_counter::gap_found), 1U);
}

TEST_F(gap, of_a_first_make_is_waited_for_two_milliseconds_at_most) {
  top.both(opener, 100);
  top.to_next_poll();
  const instant begun = top.now;
  EXPECT_EQ(top.settle(), kinds{});
  for (top.now.us += 100; top.now < begun + from_ms(2); top.now.us += 100) {
    frame();
    frame_back();
    ASSERT_EQ(top.settle(), kinds{}) << top.now.us - begun.us;
    ASSERT_LE(top.next().until.us, (begun + from_ms(2)).us);
  }
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_EQ(top.now, begun + from_ms(2));
  EXPECT_EQ(top.count(pass_counter::gap_expired), 1U);
  EXPECT_EQ(top.count(pass_counter::gap_found), 0U);
  EXPECT_EQ(top.core().held_back().used(), 0U);
}

// A busy connection's run asks for it: sixteen frames, one every 100 us.
TEST_F(gap, is_waited_for_by_a_make_of_a_run_too_which_is_not_left_to_the_poll) {
  top.both(opener, 100, 16);
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.count(pass_counter::fast_make_refused), 0U);
  EXPECT_EQ(top.last_refusal(), reason::flow_wait_gap);
  top.now.us += 500;
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_EQ(top.count(pass_counter::polls), 0U);
}

TEST_F(gap, of_a_remake_is_waited_for_fifty_milliseconds_at_most) {
  (void)top.core().set(setting::revive, 0, top.now);
  top.both(opener, 100);
  top.to_next_poll();
  top.settle();
  top.now.us += 500;
  ASSERT_EQ(top.settle().size(), 3U);
  top.now.us += 10'000;
  frame();
  const command c = top.posted();
  ASSERT_EQ(c.kind, read_entry);
  top.answer_it(answer_code::done, {.entry = entry_state::pending, .entry_revision = c.target.revision, .identical = 10});
  top.settle();
  const instant end = top.core().held_back().held_until(opener, top.core().hash_of(opener));
  ASSERT_NE(end, instant{});
  frame();
  frame_back();
  for (top.now = {end.us / 1'000'000 * 1'000'000}; top.now < end; top.now = end) ASSERT_EQ(top.settle(), kinds{});
  for (; top.now < end + from_ms(50); top.now.us += 100) {
    frame();
    frame_back();
    ASSERT_EQ(top.settle(), kinds{}) << top.now.us - end.us;
  }
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_EQ(top.count(pass_counter::gap_expired), 1U);
  EXPECT_EQ(top.core().held_back().used(), 1U) << "the level of its holds is remembered";
}

TEST_F(gap, counts_as_an_attempt_of_the_walk_that_will_post) {
  for (u32 n = 2; n <= 12; ++n) known(n);
  for (u32 n = 1; n <= 12; ++n) (void)top.frame(flow(n), 1, 100 * n);
  for (u32 n = 1; n <= 12; ++n) (void)top.frame(reverse(flow(n)), 2, 100 * n + 1);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.count(reason::flow_wait_gap), 8U) << "each of both directions that the walk came to";
  EXPECT_LT(top.core().held_back().used(), 12U);
}

TEST_F(gap, that_nobody_waits_for_any_more_leaves_no_entry) {
  enum what { closes, loses_its_state, is_kept_out, loses_its_candidates, waits_no_more };
  for (const what happens : {closes, loses_its_state, is_kept_out, loses_its_candidates, waits_no_more}) {
    bench_top<ours> t{roomy};
    (void)t.core().set(setting::gap_quiet_us, 500, t.now);
    t.world.firewall.known4.push_back(settled_state(opener));
    t.both(opener, 100);
    t.to_next_poll();
    EXPECT_EQ(t.settle(), kinds{});
    ASSERT_EQ(t.core().held_back().used(), 1U);
    switch (happens) {
      case closes: (void)t.frame(opener, 1, 100, true); break;
      case loses_its_state: t.world.firewall.known4.clear(); break;
      case is_kept_out: (void)t.core().keep_out(reverse(opener)); break;
      case loses_its_candidates: t.core().far_side_reset(t.now); break;
      case waits_no_more: (void)t.core().set(setting::auto_make, 0, t.now); break;
    }
    t.now.us += 2'000;
    EXPECT_EQ(t.settle(), kinds{}) << happens;
    EXPECT_EQ(t.core().held_back().used(), 0U) << happens;
  }
}

TEST_F(gap, is_not_asked_for_any_more_when_its_length_becomes_0) {
  top.both(opener, 100);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), kinds{});
  (void)top.core().set(setting::gap_quiet_us, 0, top.now);
  top.now.us += 500;
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_EQ(top.core().held_back().used(), 0U);
}

TEST_F(gap, of_two_connections_are_waited_for_apart) {
  known(2);
  top.both(opener, 100);
  top.both(flow(2), 200);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), kinds{});
  top.now.us += 400;
  (void)top.frame(flow(2), 1, 200);
  top.now.us += 100;
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_TRUE(is_held());
  top.now.us += 500;
  EXPECT_EQ(top.settle(), kinds{create});
  EXPECT_EQ(top.count(pass_counter::gap_found), 2U);
}

// --- kept out, let in, removed ----------------------------------------------------------------------------------

struct by_hand : held {
  [[nodiscard]] reason refusal_at_poll() {
    top.to_next_poll();
    EXPECT_EQ(top.settle(), kinds{});
    return top.last_refusal();
  }
};

TEST_F(by_hand, removed_is_made_again_after_the_next_poll) {
  ASSERT_TRUE(top.core().remove(reverse(opener))) << "by either tuple";
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_removed);
  EXPECT_EQ(top.count(pass_counter::removed_by_hand), 1U);
  EXPECT_FALSE(top.core().remove(opener)) << "it is not held any more";
  make_it();
}

TEST_F(by_hand, kept_out_is_taken_out_and_not_made_until_it_is_let_in) {
  ASSERT_TRUE(top.core().keep_out(opener));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_removed);
  for (const bool back : {false, true}) {
    back ? frame_back() : frame();
    EXPECT_EQ(refusal_at_poll(), reason::flow_kept_out) << "whichever direction asks";
  }
  EXPECT_FALSE(top.core().let_in(reverse(opener))) << "that tuple was never kept out";
  ASSERT_TRUE(top.core().let_in(opener));
  make_it();
}

// The tuples of both directions of a translated connection are not each other's reverse.
TEST_F(by_hand, keeps_a_translated_connection_out_by_the_tuple_of_either_direction) {
  auto state = settled_state(flow(2), 2);
  state.opener_translated = {outside(77), port_word(61'000)};
  top.world.firewall.known4.push_back(state);
  const tuple_pair<tuple4> pair = derive(state);
  ASSERT_FALSE(pair[1] == reverse(pair[0]));
  const auto both = [&] {
    (void)top.frame(pair[0], 1, 200);
    (void)top.frame(pair[1], 2, 201);
  };
  for (const tuple4& kept : pair) {
    both();
    top.to_next_poll();
    top.settle();
    ASSERT_TRUE(top.core().table().find(pair[0], top.core().hash_of(pair[0])).is);
    ASSERT_TRUE(top.core().keep_out(kept));
    EXPECT_EQ(top.settle(), (kinds{deactivate, deactivate, reclaim}));
    const u64 refused = top.count(reason::flow_kept_out);
    both();
    EXPECT_EQ(refusal_at_poll(), reason::flow_kept_out);
    EXPECT_EQ(top.count(reason::flow_kept_out), refused + 2);
    ASSERT_TRUE(top.core().let_in(kept));
  }
}

TEST_F(by_hand, keeps_out_what_is_being_made) {
  ASSERT_TRUE(top.core().remove(opener));
  top.settle();
  for (int at_command = 0; at_command < 3; ++at_command) {
    frame();
    frame_back();
    top.to_next_poll();
    for (int n = 0; n < at_command; ++n) {
      ASSERT_NE(top.posted().kind, none);
      top.answer_it();
    }
    ASSERT_EQ(top.posted().kind, at_command == 2 ? create : next_hop_set);
    ASSERT_TRUE(top.core().keep_out(reverse(opener)));
    top.answer_it();
    top.settle();
    EXPECT_FALSE(top.core().table().find(opener, top.core().hash_of(opener)).is) << at_command;
    if (at_command == 2) EXPECT_EQ(taken_out_for(), reason::flow_kept_out);
    else EXPECT_EQ(top.last_refusal(), reason::flow_kept_out);
    EXPECT_EQ(top.references(), 0U);
    ASSERT_TRUE(top.core().let_in(reverse(opener)));
  }
}

TEST_F(by_hand, has_room_for_some_and_says_when_there_is_none) {
  for (u32 n = 100; n < 100 + kept_out_tuples::room; ++n) EXPECT_TRUE(top.core().keep_out(flow(n)));
  EXPECT_FALSE(top.core().keep_out(opener));
  EXPECT_TRUE(is_held()) << "a refused wish changes nothing";
  EXPECT_EQ(top.settle(), kinds{});
}

TEST_F(by_hand, removes_every_connection_of_a_host_and_no_other) {
  // The host as opener, as responder, and behind a translation: as frames leave.
  const tuple4 from_outside = tuple4::make(outside(9), inside(1), join_ports(port_word(50'000), port_word(22)), protocol::tcp);
  auto translated = settled_state(flow(3), 3);
  translated.opener_translated = {inside(1), port_word(61'000)};
  top.world.firewall.known4.push_back(settled_state(from_outside, 2));
  top.world.firewall.known4.push_back(translated);
  top.world.firewall.known4.push_back(settled_state(flow(4), 4));
  top.both(from_outside, 200);
  (void)top.frame(flow(3), 1, 300);
  (void)top.frame(derive(translated)[1], 2, 301);
  top.both(flow(4), 400);
  top.to_next_poll();
  top.settle();
  ASSERT_EQ(top.core().table().held(), 4U);
  address6 host{};
  host[0] = inside(1);
  ASSERT_TRUE(top.core().remove_host(family::ipv4, host));
  EXPECT_FALSE(top.core().remove_host(family::ipv4, host)) << "the first is still under way";
  top.settle();
  EXPECT_EQ(top.core().table().held(), 1U);
  EXPECT_TRUE(top.core().table().find(flow(4), top.core().hash_of(flow(4))).is);
  EXPECT_EQ(top.count(pass_counter::removed_by_hand), 3U);
  EXPECT_EQ(top.count(reason::flow_removed), 3U);
  EXPECT_TRUE(top.core().remove_host(family::ipv6, host));
  EXPECT_EQ(top.settle(), kinds{}) << "the same words of the other family are nobody's";
  EXPECT_EQ(top.core().table().held(), 1U);
}

}  // namespace
}  // namespace octep::test

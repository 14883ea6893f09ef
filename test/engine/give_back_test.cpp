#include <octep/engine/give_back.hpp>

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "test/engine/held.hpp"

namespace octep::test {
namespace {

using enum command_kind;

struct give_back : held {};

// --- what the read says -------------------------------------------------------------------------------------

TEST_F(give_back, changes_nothing_while_the_entry_is_valid_at_our_revision) {
  read_answers(entry(entry_state::valid));
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.count(pass_counter::probe_valid), 1U);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(last(event_kind::given_back), nullptr);
}

TEST_F(give_back, is_revived_by_the_create_again_without_microflows) {
  read_answers(given_back());
  const command c = top.posted();
  ASSERT_EQ(c.kind, create);
  EXPECT_EQ(c.target, at) << "same index, same revision";
  EXPECT_EQ(c.block.connection, at);
  EXPECT_TRUE(c.block.track_tcp);
  EXPECT_EQ(c.block.proto, protocol::tcp);
  for (const microflow& m : c.microflows) EXPECT_FALSE(m.who.names_flow());
  ASSERT_NE(last(event_kind::given_back), nullptr);
  EXPECT_EQ(last(event_kind::given_back)->connection, at);
  top.answer_it();
  EXPECT_EQ(top.settle(), kinds{}) << "one read and one command";
  EXPECT_EQ(top.count(pass_counter::flow_revived), 1U);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(made(), 1U);
  ASSERT_NE(last(event_kind::revived), nullptr);
}

TEST_F(give_back, below_the_counters_limit_was_for_fin_syn_or_rst) {
  read_answers(given_back(9));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_ended);
  EXPECT_EQ(last(event_kind::given_back)->why, reason::flow_ended);
}

TEST_F(give_back, at_the_counters_limit_is_no_revival_for_a_closing_frame) {
  frame(true);
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_ended);
}

TEST_F(give_back, is_no_revival_when_either_direction_closes_while_its_entry_is_read) {
  for (const bool back : {false, true}) {
    frame();
    ASSERT_EQ(top.posted().kind, read_entry);
    back ? frame_back(true) : frame(true);
    top.answer_it(answer_code::done, given_back());
    EXPECT_EQ(top.settle(), whole_take_out);
    EXPECT_EQ(taken_out_for(), reason::flow_ended);
    make_it();
  }
}

TEST_F(give_back, is_no_revival_when_a_port_moves_while_its_entry_is_read) {
  frame();
  ASSERT_EQ(top.posted().kind, read_entry);
  (void)top.frame(reverse(opener), 7, 101);
  top.answer_it(answer_code::done, given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_port_moved);
}

TEST_F(give_back, is_no_revival_of_a_connection_whose_state_is_gone) {
  frame();
  ASSERT_EQ(top.posted().kind, read_entry);
  top.world.firewall.dead.push_back(1);
  top.answer_it(answer_code::done, given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_expired);
}

TEST_F(give_back, of_another_revision_or_a_reclaimed_entry_is_the_end) {
  answer other = entry(entry_state::valid);
  other.entry_revision = static_cast<u16>(at.revision + 1);
  read_answers(other);
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_gone);
  make_it();
  other = given_back();
  other.entry_revision = static_cast<u16>(at.revision - 1);
  read_answers(other);
  EXPECT_EQ(top.settle(), whole_take_out);
  make_it();
  read_answers(entry(entry_state::reclaimed));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(top.count(reason::flow_gone), 3U);
  EXPECT_EQ(top.core().held_back().used(), 0U) << "what was gone is not held back";
}

TEST_F(give_back, is_taken_out_where_revive_is_0) {
  (void)top.core().set(setting::revive, 0, top.now);
  read_answers(given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_revive_off);
  EXPECT_EQ(top.count(pass_counter::flow_revived), 0U);
}

TEST_F(give_back, whose_revival_is_refused_is_taken_out) {
  read_answers(given_back());
  ASSERT_EQ(top.posted().kind, create);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(top.count(pass_counter::revive_refused), 1U);
  EXPECT_EQ(top.count(pass_counter::flow_revived), 0U);
  EXPECT_EQ(taken_out_for(), reason::flow_pending);
}

TEST_F(give_back, is_found_by_a_poll_where_no_run_looks) {
  (void)top.core().set(setting::fast, 0, top.now);
  frame_back();
  EXPECT_EQ(top.settle(), kinds{});
  top.to_next_poll();
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back());
  EXPECT_EQ(top.posted().kind, create);
}

TEST_F(give_back, of_an_ipv6_connection_is_revived_as_one) {
  bench_top<> six;
  (void)six.core().set(setting::ipv6, 1, six.now);
  const tuple6 v6 = tuple6::make(widened(1), widened(2), opener.ports, protocol::tcp);
  six.world.firewall.known6.push_back(settled_state(v6));
  six.both(v6, 100);
  six.to_next_poll();
  six.settle();
  six.now.us += 10'000;
  (void)six.frame(reverse(v6), 2, 101);
  const command read = six.posted();
  ASSERT_EQ(read.kind, read_entry);
  six.answer_it(answer_code::done, {.entry = entry_state::pending, .entry_revision = read.target.revision, .identical = 10});
  const command c = six.posted();
  ASSERT_EQ(c.kind, create);
  EXPECT_EQ(c.block.which, family::ipv6);
  six.answer_it();
  EXPECT_EQ(six.count(pass_counter::flow_revived), 1U);
}

// --- how often it is asked ----------------------------------------------------------------------------------

TEST_F(give_back, is_looked_for_at_most_once_a_gap_and_at_its_end_without_another_frame) {
  (void)top.core().set(setting::run_gap_ms, 0, top.now);
  (void)top.core().set(setting::probe_gap_ms, 5, top.now);
  read_answers(entry(entry_state::valid));
  const instant read_at = top.now;
  for (int ms = 1; ms < 5; ++ms) {
    top.now = read_at + from_ms(static_cast<u64>(ms));
    frame();
    frame_back();
    EXPECT_EQ(top.settle(), kinds{}) << ms;
    EXPECT_EQ(top.next().until, read_at + from_ms(5));
  }
  top.now = read_at + from_ms(5);
  EXPECT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, entry(entry_state::valid));
  EXPECT_EQ(top.settle(), kinds{}) << "both directions' frames asked for one read";
  EXPECT_EQ(top.count(pass_counter::probe_reads), 2U);
  top.now.us += 100'000;
  EXPECT_EQ(top.settle(), kinds{}) << "nobody asked since";
}

// The end of a wait after a revive, by the one deadline of the engine that a frame's read may wait for.
instant wait_that_follows(give_back& f) {
  f.read_answers(f.given_back());
  f.revive();
  const instant revived = f.top.now;
  f.top.now.us += 6'000;  // past the gap of runs
  f.frame();
  EXPECT_EQ(f.top.settle(), kinds{}) << "left alone";
  const found whose = f.top.core().table().find(f.opener, f.top.core().hash_of(f.opener));
  EXPECT_LT(revived.us, f.top.core().table()[whose.index].revive_wait.until().us);
  return f.top.core().table()[whose.index].revive_wait.until();
}

TEST_F(give_back, after_a_revive_is_left_alone_ten_milliseconds_and_read_at_the_end_of_them) {
  read_answers(given_back());
  revive();
  const instant revived = top.now;
  top.now.us += 6'000;
  frame();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.count(pass_counter::probe_waits), 1U);
  EXPECT_EQ(top.next().until, revived + from_ms(10)) << "no frame is needed, and no poll";
  top.now = {revived.us + 9'999};
  EXPECT_EQ(top.settle(), kinds{});
  top.now = revived + from_ms(10);
  EXPECT_EQ(top.posted().kind, read_entry);
}

TEST_F(give_back, that_no_frame_tells_of_is_not_read_when_a_wait_ends) {
  read_answers(given_back());
  revive();
  EXPECT_EQ(top.next().until, instant{(top.now.us / 1'000'000 + 1) * 1'000'000}) << "the poll";
  top.now.us += 10'000;
  EXPECT_EQ(top.settle(), kinds{});
}

TEST_F(give_back, again_and_again_doubles_its_wait_to_half_a_second) {
  for (const u64 ms : std::vector<u64>{10, 20, 40, 80, 160, 320, 500, 500}) {
    const instant begins = top.now;
    read_answers(given_back());
    revive();
    top.now.us += 6'000;
    frame();
    EXPECT_EQ(top.settle(), kinds{}) << ms;
    top.now = {begins.us + ms * 1'000 - 1};
    EXPECT_EQ(top.settle(), kinds{}) << ms;
    top.now.us += 1;
    ASSERT_EQ(top.posted().kind, read_entry) << ms;
    top.answer_it(answer_code::done, entry(entry_state::valid));
    top.now.us += 5'000;
  }
}

TEST_F(give_back, starts_its_waits_over_after_a_second_of_peace) {
  instant end = wait_that_follows(*this);
  top.now = end;
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back());
  revive();  // the second wait: 20 ms
  end = top.now + from_ms(20);
  top.now = {end.us + 999'999};
  read_answers(given_back());
  revive();  // not yet peace: 40 ms
  const auto until = [&] { return top.core().table()[at.index].revive_wait.until(); };
  EXPECT_EQ(until(), top.now + from_ms(40));
  top.now = until() + from_ms(1'000);
  read_answers(given_back());
  revive();
  EXPECT_EQ(until(), top.now + from_ms(10));
}

TEST_F(give_back, for_a_fin_is_not_hidden_by_the_wait_that_is_under_way) {
  read_answers(given_back());
  revive();
  const instant revived = top.now;
  top.now.us += 6'000;
  frame(true);
  EXPECT_EQ(top.settle(), kinds{});
  top.now = revived + from_ms(10);
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back(0));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_ended);
}

// --- silence ------------------------------------------------------------------------------------------------

TEST_F(give_back, whose_read_is_not_answered_dooms_nobody) {
  frame();
  ASSERT_EQ(top.posted().kind, read_entry);
  top.now.us += 2'000'000;
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.count(pass_counter::flow_doomed), 0U);
  EXPECT_TRUE(is_held());
  top.now.us += 1'000'000;
  // Late, and of a time that has passed: it says nothing about now.
  top.answer_it(answer_code::done, entry(entry_state::reclaimed));
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_TRUE(is_held());
  read_answers(given_back());
  revive();
  EXPECT_EQ(top.count(pass_counter::flow_revived), 1U);
}

TEST_F(give_back, whose_revival_is_not_answered_is_doomed_and_taken_out_at_the_late_answer) {
  for (const answer_code said : {answer_code::done, answer_code::refused}) {
    read_answers(given_back());
    ASSERT_EQ(top.posted().kind, create);
    top.now.us += 2'000'000;
    EXPECT_EQ(top.next().what, step::kind::wait);
    EXPECT_EQ(top.core().table()[at.index].state, record_state::doomed);
    top.answer_it(said);
    EXPECT_EQ(top.settle(), whole_take_out) << "a revive that was refused left what was there";
    EXPECT_EQ(taken_out_for(), reason::flow_audited);
    EXPECT_EQ(top.core().table().held(), 0U);
    make_it();
  }
}

TEST_F(give_back, whose_revival_is_not_answered_while_it_is_removed_is_taken_out_once) {
  read_answers(given_back());
  ASSERT_EQ(top.posted().kind, create);
  ASSERT_TRUE(top.core().remove(opener));
  top.now.us += 2'000'000;
  ASSERT_EQ(top.next().what, step::kind::wait);
  top.answer_it();
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(top.count(pass_counter::flow_reclaimed), 1U);
  EXPECT_EQ(taken_out_for(), reason::flow_removed);
}

TEST_F(give_back, of_a_connection_that_is_removed_while_its_entry_is_read_is_not_revived) {
  frame();
  ASSERT_EQ(top.posted().kind, read_entry);
  ASSERT_TRUE(top.core().remove(opener));
  top.answer_it(answer_code::done, given_back());
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_removed);
}

TEST_F(give_back, whose_read_is_refused_says_nothing_and_the_next_frame_asks_again) {
  frame();
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_TRUE(is_held());
  top.now.us += 5'000;
  read_answers(given_back());
  revive();
  EXPECT_TRUE(is_held());
}

// --- what ends it -------------------------------------------------------------------------------------------

TEST_F(give_back, ends_the_requests_of_its_frames_with_the_connection) {
  // Twenty-four frames of each direction while it is held: of what asked then, eight more would ask again.
  for (int i = 0; i < 24; ++i) {
    frame();
    frame_back();
  }
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, entry(entry_state::reclaimed));
  top.settle();
  ASSERT_EQ(taken_out_for(), reason::flow_gone);
  top.to_next_poll();
  top.settle();  // the marks of what was taken out have gone, and its candidates were read
  ASSERT_EQ(made(), 1U);
  top.now.us += 10'000;
  const u64 kicks = top.world.kicks;
  for (int i = 0; i < 15; ++i) {
    frame();
    EXPECT_EQ(top.settle(), kinds{});
  }
  EXPECT_EQ(top.world.kicks, kicks) << "the count starts afresh";
  frame_back();
  frame();
  EXPECT_EQ(top.world.kicks, kicks + 1);
}

TEST_F(give_back, is_not_made_again_in_the_run_that_ended_it_from_the_frame_that_ended_it) {
  for (int i = 0; i < 40; ++i) {
    frame();
    frame_back();
  }
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, entry(entry_state::reclaimed));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(made(), 1U);
  top.now.us += 10'000;
  EXPECT_EQ(top.settle(), kinds{});
}

// Frames of both directions at a steady rate, one between any two steps of the engine, and a far side that answers reads with
// `read` and has no entry ever again. How often it was made between two polls, the first time apart.
std::map<u64, u64> makes_by_poll(held& f, const answer& read, u64 step_us) {
  std::map<u64, u64> makes;
  const instant end = f.top.now + from_s(12);
  u64 before = f.made();
  while (f.top.now < end) {
    f.top.now.us += step_us;
    f.frame();
    f.frame_back();
    for (;;) {
      const command c = f.top.posted();
      if (c.kind == none) break;
      answer said;
      if (c.kind == read_entry) {
        said = read;
        said.entry_revision = c.target.revision;
      }
      f.top.now.us += 20;
      f.top.answer_it(answer_code::done, said);
      f.frame();
      f.frame_back();
    }
    makes[f.top.count(pass_counter::polls)] += f.made() - before;
    before = f.made();
  }
  return makes;
}

TEST_F(give_back, whose_frames_go_on_is_made_again_once_a_poll) {
  for (const u64 step_us : std::vector<u64>{300, 1'000, 7'000}) {
    u64 all = 0;
    for (const auto& [poll, makes] : makes_by_poll(*this, entry(entry_state::reclaimed), step_us)) {
      EXPECT_LE(makes, 1U) << "poll " << poll << ", frames every " << step_us << " us";
      all += makes;
    }
    EXPECT_GE(all, 10U) << "and it is made: nothing holds back what was gone";
  }
}

TEST_F(give_back, without_holds_is_made_again_once_a_poll_where_revive_is_0) {
  (void)top.core().set(setting::revive, 0, top.now);
  (void)top.core().set(setting::hold_min_ms, 0, top.now);
  for (const auto& [poll, makes] : makes_by_poll(*this, given_back(), 1'000)) EXPECT_LE(makes, 1U) << "poll " << poll;
  EXPECT_EQ(top.core().held_back().used(), 0U);
}

// --- age ----------------------------------------------------------------------------------------------------

// Record: signed differences of a 32-bit millisecond clock failed at 25 days. The origin of time is anywhere.
TEST_F(give_back, of_a_connection_of_thirty_days_is_revived_like_a_young_one) {
  constexpr u64 day = u64{24} * 3'600 * 1'000'000;
  constexpr u64 wrap = u64{0x1'0000'0000} * 1'000;
  for (const u64 us : {30 * day, wrap - 3'000, wrap + 7 * day, 3 * wrap - 11'000, 400 * day}) {
    ASSERT_LT(top.now.us, us);
    top.now = {us};
    top.world.firewall.lasts = microseconds{500 * day};
    while (top.posted().kind != none) top.answer_it(answer_code::done, {.lives = true});  // the stamps' own deadline
    ASSERT_TRUE(is_held());
    read_answers(given_back());
    revive();
    const instant revived = top.now;
    EXPECT_EQ(top.core().table()[at.index].revive_wait.until(), revived + from_ms(10)) << us;
    top.now.us += 6'000;
    frame();
    EXPECT_EQ(top.settle(), kinds{}) << us;
    top.now = revived + from_ms(10);
    ASSERT_EQ(top.posted().kind, read_entry) << us;
    top.answer_it(answer_code::done, entry(entry_state::valid));
    EXPECT_EQ(top.settle(), kinds{}) << us;
  }
  EXPECT_EQ(made(), 1U);
}

}  // namespace
}  // namespace octep::test

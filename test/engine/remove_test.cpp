#include <octep/engine/remove.hpp>

#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"

namespace octep::test {
namespace {

using enum command_kind;

struct remove : ::testing::Test {
  bench_top<> top;
  const tuple4 opener = flow(1);

  void SetUp() override {
    top.world.firewall.known4.push_back(settled_state(opener));
    top.both(opener, 100);
    top.to_next_poll();
  }
  // Up to the create, which stays outstanding.
  command to_create() {
    command c = top.posted();
    while (c.kind == next_hop_set) {
      top.answer_it();
      c = top.posted();
    }
    EXPECT_EQ(c.kind, create);
    return c;
  }
  // A held connection that owes a take-out, its first command not posted yet.
  void held_and_ended() {
    to_create();
    (void)top.frame(opener, 1, 100, true);
    top.answer_it();
  }
};

TEST_F(remove, takes_out_by_two_deactivates_and_a_reclaim) {
  held_and_ended();
  const command first = top.posted();
  EXPECT_EQ(first.kind, deactivate);
  EXPECT_EQ(first.microflows[0].who, identity::make(100, 1));
  top.answer_it();
  EXPECT_EQ(top.posted().microflows[0].who, identity::make(101, 1));
  top.answer_it();
  EXPECT_EQ(top.posted().kind, reclaim);
  EXPECT_EQ(top.core().table().held(), 1U) << "counted until its entry is reclaimed";
  top.answer_it();
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.count(pass_counter::flow_reclaimed), 1U);
}

TEST_F(remove, leaves_what_was_taken_out_to_the_poll) {
  held_and_ended();
  top.settle();
  // Its frames go on, sixteen and more: no run makes it before the walk has ended.
  top.now.us += 10'000;
  top.both(opener, 100, 40);
  EXPECT_EQ(top.settle(), kinds{});
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
}

TEST_F(remove, reads_back_a_refused_step_and_frees_what_is_not_there_at_our_revision) {
  const auto read_back_as = [&](const answer& a) {
    ASSERT_EQ(top.posted().kind, deactivate);
    top.answer_it();
    ASSERT_EQ(top.posted().kind, deactivate);
    top.answer_it();
    ASSERT_EQ(top.posted().kind, reclaim);
    top.answer_it(answer_code::refused);
    ASSERT_EQ(top.posted().kind, read_entry);
    EXPECT_EQ(top.core().table().held(), 1U);
    top.answer_it(answer_code::done, a);
  };
  held_and_ended();
  // Given back is there still: its microflows may stand.
  read_back_as({.entry = entry_state::pending, .entry_revision = 1});
  EXPECT_EQ(top.core().table().held(), 1U);
  top.to_next_poll();
  read_back_as({.entry = entry_state::reclaimed, .entry_revision = 1});
  EXPECT_EQ(top.core().table().held(), 0U);
}

// Its entry is what forwards: whoever is given its translated port next must not wait for a poll.
TEST_F(remove, reclaims_the_entry_of_a_microflow_that_will_not_go_and_tells_it_once_more) {
  held_and_ended();
  for (const bool again : {false, true}) {
    ASSERT_EQ(top.posted().kind, deactivate);
    top.answer_it(again ? answer_code::done : answer_code::refused);
    ASSERT_EQ(top.posted().kind, deactivate);
    top.answer_it();
    ASSERT_EQ(top.posted().kind, reclaim) << "at once";
    top.answer_it(again ? answer_code::refused : answer_code::done);
    ASSERT_EQ(top.posted().kind, read_entry);
    top.answer_it(answer_code::done, {.entry = entry_state::reclaimed, .entry_revision = 1});
    EXPECT_EQ(top.core().table().held(), again ? 0U : 1U);
    if (!again) {
      EXPECT_EQ(top.settle(), kinds{}) << "not in a circle";
      top.to_next_poll();
    }
  }
}

TEST_F(remove, keeps_what_is_read_back_as_valid_and_tries_again_at_the_next_poll) {
  const command made = to_create();
  (void)top.frame(opener, 1, 100, true);
  top.answer_it();
  top.posted();
  top.answer_it();
  top.posted();
  top.answer_it();
  ASSERT_EQ(top.posted().kind, reclaim);
  top.answer_it(answer_code::refused);
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, {.entry = entry_state::valid, .entry_revision = made.target.revision});
  EXPECT_EQ(top.core().table().held(), 1U);
  EXPECT_EQ(top.settle(), kinds{}) << "not in a circle";
  top.to_next_poll();
  const kinds again = top.settle();
  EXPECT_EQ(again, (kinds{deactivate, deactivate, reclaim, next_hop_release, next_hop_release}));
}

TEST_F(remove, holds_up_no_other_take_out_behind_one_that_the_far_side_refuses) {
  held_and_ended();
  const auto refuse_all = [&] {
    for (const command_kind k : {deactivate, deactivate, reclaim, read_entry}) {
      ASSERT_EQ(top.posted().kind, k);
      top.answer_it(answer_code::refused);
    }
  };
  refuse_all();
  ASSERT_EQ(top.core().table().held(), 1U);
  for (u32 n = 2; n <= 3; ++n) {
    top.now.us += 10'000;
    top.world.firewall.known4.push_back(settled_state(flow(n), n));
    top.both(flow(n), 100 * n, 16);
    to_create();
    (void)top.frame(flow(n), 1, 100 * n, true);
    top.answer_it();
    if (n == 2) {
      refuse_all();
      continue;
    }
    const command first = top.posted();
    EXPECT_EQ(first.kind, deactivate) << "before the poll";
    EXPECT_EQ(first.microflows[0].who, identity::make(300, 1));
    top.answer_it();
    EXPECT_EQ(top.settle(), (kinds{deactivate, reclaim}));
  }
  EXPECT_EQ(top.core().table().held(), 2U);
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.core().table().held(), 0U) << "each of the two that waited, once";
  EXPECT_EQ(top.count(pass_counter::flow_reclaimed), 3U);
}

TEST_F(remove, frees_nothing_on_a_read_that_was_refused) {
  held_and_ended();
  for (const command_kind k : {deactivate, deactivate, reclaim, read_entry}) {
    ASSERT_EQ(top.posted().kind, k);
    top.answer_it(answer_code::refused);
  }
  EXPECT_EQ(top.core().table().held(), 1U);
  EXPECT_EQ(top.settle(), kinds{});
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{deactivate, deactivate, reclaim, next_hop_release, next_hop_release}));
}

// --- silence ----------------------------------------------------------------------------------------------

TEST_F(remove, posts_nothing_while_an_answer_is_outstanding_and_dooms_the_connection) {
  to_create();
  const instant posted_at = top.now;
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.next().until, posted_at + from_ms(2'000));
  top.now = posted_at + from_ms(2'000);
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.next().until, top.now + from_ms(1)) << "past its limit it is looked for once a millisecond";
  EXPECT_EQ(top.count(pass_counter::cmd_unanswered), 1U);
  EXPECT_EQ(top.last_refusal(), reason::flow_unanswered);
  EXPECT_EQ(top.core().table().held(), 1U) << "not answered is not no";
  for (int i = 0; i < 50; ++i) {
    top.now.us += 500'000;
    top.both(flow(2), 300, 20);
    ASSERT_EQ(top.next().what, step::kind::wait);
  }
  EXPECT_EQ(top.count(pass_counter::cmd_unanswered), 1U) << "counted once";
  // The far side speaks: what it made is taken out, and only then does work go on.
  top.answer_it();
  EXPECT_EQ(top.count(pass_counter::cmd_late), 1U);
  EXPECT_EQ(top.count(pass_counter::auto_made), 0U);
  kinds after = top.settle();
  after.resize(3);
  EXPECT_EQ(after, (kinds{deactivate, deactivate, reclaim}));
  EXPECT_EQ(top.count(pass_counter::flow_reclaimed), 1U);
}

TEST_F(remove, frees_a_doomed_record_whose_create_was_refused_late) {
  to_create();
  top.now.us += 2'000'000;
  (void)top.next();
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);
}

TEST_F(remove, keeps_makes_away_until_the_poll_after_an_unanswered_create) {
  to_create();
  top.now.us += 2'000'000;
  (void)top.next();
  top.answer_it(answer_code::refused);
  // A poll is due by now; before it, no run makes anything, whoever is due.
  EXPECT_EQ(top.count(pass_counter::polls), 1U);
  top.world.firewall.known4.push_back(settled_state(flow(2), 2));
  top.both(flow(2), 300, 16);
  top.world.events.seen.clear();
  top.settle();
  for (const event& e : top.world.events.seen) {
    if (e.kind == event_kind::poll_begins) break;
    EXPECT_NE(e.kind, event_kind::make_begins);
  }
}

TEST_F(remove, bars_a_next_hop_whose_set_was_not_answered) {
  ASSERT_EQ(top.posted().kind, next_hop_set);
  top.now.us += 2'000'000;
  (void)top.next();
  EXPECT_EQ(top.last_refusal(), reason::flow_unanswered);
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.next().what, step::kind::wait);
  const u64 late = top.tag;
  top.core().answered(late, {}, top.now);
  EXPECT_EQ(top.count(pass_counter::cmd_late), 1U);
  top.settle();
  EXPECT_EQ(top.references(), 2U) << "the poll that follows makes it, and shares what was set late";
}

TEST_F(remove, counts_an_answer_to_another_tag_and_changes_nothing) {
  ASSERT_EQ(top.posted().kind, next_hop_set);
  top.core().answered(top.tag + 1, {}, top.now);
  top.core().answered(0, {}, top.now);
  EXPECT_EQ(top.count(pass_counter::cmd_unknown_tag), 2U);
  EXPECT_EQ(top.next().what, step::kind::wait);
  top.answer_it();
  const u64 old = top.tag;
  ASSERT_EQ(top.posted().kind, next_hop_set);
  top.core().answered(old, {}, top.now);  // a duplicate of the first answer
  EXPECT_EQ(top.count(pass_counter::cmd_unknown_tag), 3U);
  EXPECT_EQ(top.next().what, step::kind::wait);
}

// --- discard ----------------------------------------------------------------------------------------------

TEST_F(remove, discards_by_one_command_and_forgets_everything_without_another) {
  top.settle();
  ASSERT_EQ(top.core().table().held(), 1U);
  (void)top.frame(flow(7), 1, 700);
  top.core().request_discard();
  EXPECT_EQ(top.posted().kind, discard);
  EXPECT_EQ(top.core().table().held(), 1U) << "until its own answer";
  top.answer_it();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);
  EXPECT_EQ(top.count(pass_counter::flow_forgot), 1U);
  EXPECT_FALSE(top.core().hot().perhaps(top.core().hash_of(opener)));
  // Every candidate of before names a microflow that is gone.
  int written = 0;
  for (u32 slot = 0; slot < small_policies::geometry.slots; ++slot)
    (void)top.core().candidates_for<tuple4>().for_each_place(slot, [&](u32, const auto&) { ++written; });
  EXPECT_EQ(written, 0);
}

TEST_F(remove, forgets_in_slices_between_which_the_lock_is_free) {
  bench_top<> large{{.connections = 1'022, .next_hops = 4, .ipv6_connections = false}};
  large.core().request_discard();
  ASSERT_EQ(large.posted().kind, discard);
  large.answer_it();
  int slices = 1;
  while (large.next().until <= large.now) ++slices;
  EXPECT_EQ(slices, 16) << "64 records each";
  EXPECT_EQ(large.next().what, step::kind::idle);
}

TEST_F(remove, waits_with_a_discard_for_the_outstanding_answer_and_aborts_the_make) {
  ASSERT_EQ(top.posted().kind, next_hop_set);
  top.core().request_discard();
  EXPECT_EQ(top.next().what, step::kind::wait);
  top.answer_it();
  EXPECT_EQ(top.last_refusal(), reason::flow_changed);
  EXPECT_EQ(top.posted().kind, discard);
}

TEST_F(remove, owes_a_refused_discard_until_the_next_poll) {
  top.settle();
  top.core().request_discard();
  ASSERT_EQ(top.posted().kind, discard);
  top.answer_it(answer_code::refused);
  EXPECT_TRUE(top.core().discard_owed());
  EXPECT_EQ(top.core().table().held(), 1U);
  EXPECT_EQ(top.posted().kind, none);
  top.now.us += 1'000'000;
  EXPECT_EQ(top.posted().kind, discard);
}

TEST_F(remove, has_no_discard_for_the_asking_while_it_is_switched_off) {
  top.settle();
  (void)top.core().set(setting::enable, 0, top.now);
  EXPECT_EQ(top.settle(), kinds{discard});
  top.core().request_discard();
  EXPECT_FALSE(top.core().discard_owed());
  EXPECT_EQ(top.settle(), kinds{});
}

TEST_F(remove, makes_nothing_while_a_discard_is_owed) {
  top.world.next_hops.one_hop = true;  // a second make needs no next hop, after which it would be asked again
  top.settle();
  top.core().request_discard();
  ASSERT_EQ(top.posted().kind, discard);
  top.answer_it(answer_code::refused);
  top.world.firewall.known4.push_back(settled_state(flow(2), 2));
  top.now.us += 10'000;
  top.both(flow(2), 200, 16);
  EXPECT_EQ(top.settle(), kinds{});
}

TEST_F(remove, does_one_discard_and_then_nothing_when_it_is_switched_off) {
  top.settle();
  (void)top.core().set(setting::enable, 0, top.now);
  EXPECT_EQ(top.settle(), kinds{discard});
  EXPECT_EQ(top.next().until, never);
  for (int i = 0; i < 20; ++i) {
    top.now.us += 700'000;
    top.both(opener, 100, 20);
    EXPECT_EQ(top.settle(), kinds{});
  }
  (void)top.core().set(setting::enable, 1, top.now);
  top.now.us += 1'000'000;
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
}

TEST_F(remove, owes_the_discard_of_being_switched_off_however_often_it_is_refused) {
  top.settle();
  (void)top.core().set(setting::enable, 0, top.now);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(top.posted().kind, discard);
    top.answer_it(answer_code::refused);
    ASSERT_EQ(top.posted().kind, none);
    top.now = top.next().until;
  }
  EXPECT_EQ(top.settle(), kinds{discard});
  EXPECT_EQ(top.next().until, never);
}

}  // namespace
}  // namespace octep::test

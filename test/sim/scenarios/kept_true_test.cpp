// Connections that are held stay true, and those that go are not made again too soon: R10, R11, R14, R18, R19 and R22
// fail with the recorded before as they were recorded, and not with the default (docs/scenarios.md has the figures side
// by side).
#include "sim/scenarios/kept_true.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/model_constants.hpp"

namespace octep::sim::scenarios {
namespace {

const design& p1() { return *find_design("p1"); }
const design& p4() { return *find_design("p4"); }
const design& unmarked() {
  static const design d = recorded_without_marks();
  return d;
}

void expect_within_factor_two(double simulated, double recorded) {
  EXPECT_GE(simulated * 2, recorded);
  EXPECT_LE(simulated, recorded * 2);
}

// --- R10 --------------------------------------------------------------------------------------------------

constexpr std::array<u32, 10> gaps{4, 6, 8, 9, 10, 12, 14, 16, 20, 26};
constexpr u64 gap_seeds = 20;

struct gap_counts {
  u64 made = 0;
  u64 attached = 0;
  u64 in_hardware = 0;  // the answer at once
};
gap_counts after(const design& d, u32 gap_s) {
  gap_counts n;
  for (u64 seed = 1; seed <= gap_seeds; ++seed) {
    const after_a_gap got = one_exchange_and_a_gap(d, gap_s, seed);
    n.made += got.made;
    n.attached += got.made && got.answer_attached;
    n.in_hardware += got.answered_in_hardware;
  }
  fmt::print("{} after {} s: of {} {} made, {} attached again\n", d.name, gap_s, gap_seeds, n.made, n.attached);
  return n;
}

void expect_made_at_every_gap(const design& d) {
  for (const u32 gap : gaps) {
    const gap_counts n = after(d, gap);
    EXPECT_EQ(n.made, gap_seeds) << gap;
    // Nobody is told of a dead identity: either the answer is in hardware at once, or its direction is attached.
    EXPECT_EQ(n.attached + n.in_hardware, gap_seeds) << gap;
    if (gap <= 8) {
      EXPECT_EQ(n.attached, 0U) << gap;
    }
    // Nine to ten seconds, noticed up to one later: an identity that is named 9.3 s after its frame is dead in 1 of 22
    // runs.
    if (gap == 9) {
      EXPECT_LE(n.attached, gap_seeds / 4);
    }
    if (gap == 10) {
      EXPECT_GE(n.attached, gap_seeds / 2);
    }
    if (gap >= 12) {
      EXPECT_EQ(n.attached, gap_seeds) << gap;
    }
  }
}

TEST(r10_a_gap_before_the_opening_direction, loses_the_other_direction_where_a_slot_has_one_place) {
  // Recorded: made at 4, 12 and 16 s, not at 20, and at 8 in one run of two.
  const gap_counts four = after(p1(), 4);
  EXPECT_EQ(four.attached, 0U);
  for (const u32 gap : {8U, 12U, 16U, 20U}) {
    const gap_counts n = after(p1(), gap);
    EXPECT_LT(n.made, four.made) << gap;
    EXPECT_GT(n.made, 0U) << gap;
    EXPECT_EQ(n.attached, gap == 8 ? 0 : n.made) << gap;
  }
}

TEST(r10_a_gap_before_the_opening_direction, is_outlived_in_four_places) { expect_made_at_every_gap(p4()); }

TEST(r10_a_gap_before_the_opening_direction, is_outlived_by_ours) { expect_made_at_every_gap(default_design()); }

// --- R11 --------------------------------------------------------------------------------------------------

// The before is a tuple derived with its port words exchanged; the core has one derivation, and no policy for it.
void expect_pings_made(const design& d) {
  u64 from_reply = 0;
  for (u64 seed = 1; seed <= 10; ++seed) {
    const pings one = twelve_echo_requests(d, 1, 0, seed);
    EXPECT_EQ(one.mismatches, 0U);
    EXPECT_EQ(one.waits, 0U);
    EXPECT_EQ(one.made, 1U);
    from_reply += one.made_from_reply;
    const pings six = twelve_echo_requests(d, 6, 1, seed);
    EXPECT_EQ(six.mismatches, 0U);
    EXPECT_EQ(six.waits, 12U);  // the silent one's
    EXPECT_EQ(six.made, 5U);
  }
  fmt::print("{}: made from the reply in {} of 10\n", d.name, from_reply);
  EXPECT_GE(from_reply, 1U);
  EXPECT_LE(from_reply, 9U);  // whichever slot the walk meets first
}

TEST(r11_a_ping_through_nat, is_made_without_an_attempt_that_fails_in_four_places) { expect_pings_made(p4()); }

TEST(r11_a_ping_through_nat, is_made_without_an_attempt_that_fails_by_ours) { expect_pings_made(default_design()); }

// --- R14 --------------------------------------------------------------------------------------------------

TEST(r14_a_download_of_eighty_thousand_frames_a_second, waits_for_a_poll_without_runs) {
  double waited = 0;
  for (u64 seed = 1; seed <= 6; ++seed) {
    const handed_up got = given_back_at_speed(p4(), false, seed);
    EXPECT_TRUE(got.stayed);
    EXPECT_LE(got.revived_after_s, 1.001);
    waited += got.revived_after_s / 6;
  }
  fmt::print("a poll: {:.2f} s until it is revived, {:.0f} frames\n", waited, waited * 80'000);
  EXPECT_GE(waited, 0.25);
}

void expect_answered_at_once(const design& d) {
  u64 most = 0;
  u64 most_attached = 0;
  u64 least_attached = ~u64{0};
  double revival = 0;
  for (u64 seed = 1; seed <= 20; ++seed) {
    const handed_up got = given_back_at_speed(d, true, seed);
    EXPECT_TRUE(got.stayed);
    revival += static_cast<double>(got.to_revival) / 20;
    most = std::max(most, got.to_revival);
    most_attached = std::max(most_attached, got.to_attached);
    least_attached = std::min(least_attached, got.to_attached);
  }
  fmt::print("{}: {:.1f} frames (most {}) from give-back to revival, {} to {} from removal to attached\n", d.name,
             revival, most, least_attached, most_attached);
  EXPECT_LE(most, 61U);  // recorded, sampled three times a second on a first build
  expect_within_factor_two(static_cast<double>(least_attached), 13);
  expect_within_factor_two(static_cast<double>(most_attached), 13);
}

TEST(r14_a_download_of_eighty_thousand_frames_a_second, is_revived_within_sixty_one_frames_in_four_places) {
  expect_answered_at_once(p4());
}

TEST(r14_a_download_of_eighty_thousand_frames_a_second, is_revived_within_sixty_one_frames_by_ours) {
  expect_answered_at_once(default_design());
}

// --- R18 --------------------------------------------------------------------------------------------------

// No engine keeps a candidate over a discard: the before has no policy.
TEST(r18_a_discard, leaves_no_candidate_of_before) {
  for (const design* d : {&p4(), &default_design()}) {
    const emptied_table got = discard_of_flows(*d, 1);
    fmt::print("{}: {} written before, {} after, {} slots kept, {} written again\n", d->name, got.before, got.after,
               got.kept_slots, got.again);
    EXPECT_EQ(got.before, got.places);
    EXPECT_EQ(got.after, 0U);
    EXPECT_EQ(got.kept_slots, 0U);
    EXPECT_EQ(got.again, 5U);
  }
}

// --- R19 --------------------------------------------------------------------------------------------------

struct shares {
  double twelve_s = 0;
  double thirty_s = 0;
  u64 given_back = 0;  // in thirty seconds
  u64 taken_out = 0;
  bool all_revived = true;
};
shares four(const design& d, bool ends_by_syn, bool runs_make) {
  constexpr u64 seeds = 8;
  shares mean;
  for (u64 seed = 1; seed <= seeds; ++seed) {
    mean.twelve_s += 100 * four_downloads(d, ends_by_syn, 12, runs_make, seed).share / seeds;
    const marked_by_syn thirty = four_downloads(d, ends_by_syn, 30, runs_make, seed);
    mean.thirty_s += 100 * thirty.share / seeds;
    mean.given_back += thirty.given_back;
    mean.taken_out += thirty.taken_out;
  }
  mean.given_back /= seeds;
  mean.taken_out /= seeds;
  fmt::print("{}{}: {:.1f} % of 12 s, {:.1f} % of 30 s, {} given back, {} taken out\n", d.name,
             ends_by_syn ? ", ended by SYN" : "", mean.twelve_s, mean.thirty_s, mean.given_back, mean.taken_out);
  return mean;
}

TEST(r19_an_ending_mark_set_by_syn, takes_out_every_download_once) {
  const shares got = four(p1(), true, false);
  // Recorded: 88 to 91 %, not said over how long.
  EXPECT_NEAR(got.twelve_s, 89.5, 5);
  EXPECT_LT(got.thirty_s, four(p1(), false, false).thirty_s - 1);
  expect_within_factor_two(static_cast<double>(got.given_back), 159);
  EXPECT_EQ(got.taken_out, 4U);
}

TEST(r19_an_ending_mark_set_by_syn, takes_out_a_live_download_in_its_fortieth_second) {
  const marked_by_syn got = fortieth_second(p1(), true, 1);
  EXPECT_EQ(got.taken_out, 1U);
  EXPECT_EQ(got.revived, 0U);
}

TEST(r19_an_ending_mark_set_by_fin_or_rst, takes_out_nobody) {
  const shares recorded = four(p1(), false, false);
  EXPECT_NEAR(recorded.twelve_s, 95, 5);
  EXPECT_NEAR(recorded.thirty_s, 97, 5);
  EXPECT_EQ(recorded.taken_out, 0U);
  const shares ours = four(default_design(), false, true);
  EXPECT_GE(ours.twelve_s, 95);
  EXPECT_GE(ours.thirty_s, 97);
  EXPECT_EQ(ours.taken_out, 0U);
  for (const design* d : {&p1(), &default_design()}) {
    const marked_by_syn got = fortieth_second(*d, false, 1);
    EXPECT_EQ(got.taken_out, 0U) << d->name;
    EXPECT_EQ(got.revived, 1U) << d->name;
  }
}

// --- R22 --------------------------------------------------------------------------------------------------

TEST(r22_a_connection_taken_out_while_its_frames_go_on, is_made_forty_times_a_second_by_whoever_forgets_it) {
  const made_and_taken_out got = taken_out_while_frames_go_on(unmarked(), false, 1);
  fmt::print("{}: made {:.1f} times a second\n", unmarked().name, got.made_a_second);
  expect_within_factor_two(got.made_a_second, 40);
}

TEST(r22_a_connection_taken_out_while_its_frames_go_on, is_made_once_a_poll_and_less_where_it_is_held_back) {
  for (const design* d : {&p4(), &default_design()})
    for (u64 seed = 1; seed <= 5; ++seed) {
      const made_and_taken_out polls = taken_out_while_frames_go_on(*d, false, seed);
      EXPECT_EQ(polls.most_between_polls, 1U) << d->name;
      EXPECT_NEAR(polls.made_a_second, 1, 0.2) << d->name;
      const made_and_taken_out held = taken_out_while_frames_go_on(*d, true, seed);
      EXPECT_LE(held.made_a_second, 0.4) << d->name;  // after 1, 2 and 4 seconds
      if (seed == 1)
        fmt::print("{}: made {:.1f} times a second, {:.1f} with hold-back\n", d->name, polls.made_a_second,
                   held.made_a_second);
    }
}

}  // namespace
}  // namespace octep::sim::scenarios

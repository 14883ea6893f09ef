// A stream through the `xgs136` whose ends react (R17): made again at once it is given back again and again, held back
// it runs level with the host's path.
#include "sim/scenarios/kept_true_bulk.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace octep::sim::scenarios {
namespace {

const design& p4() { return *find_design("p4"); }

constexpr bulk_plan by_host{.in_hardware = false};
constexpr bulk_plan at_once{.holds = false};
constexpr bulk_plan held_back{};

bulk_outcome run(const char* what, const design& d, const bulk_plan& plan, u64 seed) {
  const bulk_outcome got = bulk_stream(d, plan, seed);
  fmt::print("{}, {}, {} s: {:.0f} Mbit/s, made {}, given back {}, held back {}, {} retransmitted, {} lost\n", what,
             d.name, plan.seconds, got.mbit_a_second, got.made, got.given_back, got.held_back, got.retransmitted,
             got.lost);
  EXPECT_TRUE(got.sound) << what;
  return got;
}

// Figures of a factor of two about what was recorded, least to most.
void expect_about(u64 simulated, u64 least, u64 most) {
  EXPECT_GE(simulated * 2, least);
  EXPECT_LE(simulated, most * 2);
}

TEST(r17_a_stream_by_the_host, retransmits_what_was_lost) {
  const bulk_outcome got = run("by the host", p4(), by_host, 1);
  EXPECT_EQ(got.made, 0U);
  expect_about(got.retransmitted, 50, 91);
}

TEST(r17_a_stream_made_again_at_once, is_given_back_again_and_retransmits) {
  for (u64 seed = 1; seed <= 2; ++seed) {
    const bulk_outcome got = run("made again at once", p4(), at_once, seed);
    expect_about(got.made - 1, 7, 29);
    expect_about(got.retransmitted, 1'047, 2'110);
    EXPECT_EQ(got.held_back, 0U);
  }
}

TEST(r17_a_stream_held_back, runs_level_with_the_host_and_retransmits_less_and_less) {
  const bulk_outcome host = run("by the host", default_design(), by_host, 2);
  const bulk_outcome got = run("held back", default_design(), held_back, 2);
  EXPECT_GE(got.mbit_a_second, 0.97 * host.mbit_a_second);
  EXPECT_LE(got.retransmitted, 910U);
  expect_about(got.held_back, 3, 4);  // recorded: 2, 1 and 1 in its spans
  // Nobody makes it before its hold is over.
  EXPECT_LE(got.made, got.held_back + 1);
  bulk_plan minute = held_back;
  minute.seconds = 60;
  const bulk_outcome longer = run("held back", default_design(), minute, 1);
  EXPECT_LE(longer.retransmitted, 1'521U);
  expect_about(longer.held_back, 5, 5);
}

// What made again at once does to a stream that lost one segment in its second second, and nothing after.
TEST(r17_one_lost_segment, is_enough_for_a_loop_that_only_holding_back_ends) {
  bulk_plan once = at_once;
  once.lost = losses::one;
  const bulk_outcome before = run("one lost, made again at once", p4(), once, 1);
  EXPECT_EQ(before.lost, 1U);
  EXPECT_GE(before.made, 8U);
  once.holds = true;
  const bulk_outcome ours = run("one lost, held back", default_design(), once, 1);
  EXPECT_EQ(ours.lost, 1U);
  EXPECT_LE(ours.made, 5U);  // 1, 2, 4 and 8 s apart
  EXPECT_LT(ours.retransmitted * 2, before.retransmitted);
}

}  // namespace
}  // namespace octep::sim::scenarios

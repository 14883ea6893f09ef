#include <octep/engine/engine.hpp>

#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"

namespace octep::test {
namespace {

using enum command_kind;

TEST(engine, starts_only_in_memory_that_suffices_and_within_its_device) {
  using engine_type = bench_top<>::engine_type;
  fake_world world;
  auto core = std::make_unique<engine_type>();
  const start_options fits{.connections = 8, .next_hops = 4, .ipv6_connections = true};
  alignas(64) static unsigned char memory[1 << 20];
  ASSERT_LE(engine_type::bytes_for(fits), sizeof memory);
  arena small{memory, engine_type::bytes_for(fits) - 1};
  EXPECT_FALSE(core->init(world, fits, {}, small, {}));
  arena exact{memory, engine_type::bytes_for(fits)};
  EXPECT_TRUE(core->init(world, fits, {}, exact, {}));
  EXPECT_EQ(exact.left(), 0U) << "bytes_for is what init takes";
  arena again{memory, sizeof memory};
  EXPECT_FALSE(core->init(world, {.connections = 1'023}, {}, again, {})) << "more than the device has";
  EXPECT_FALSE(core->init(world, {.connections = 0}, {}, again, {}));
}

TEST(engine, takes_its_first_settings_from_its_device) {
  fake_world world;
  world.device = xgs136;
  auto core = std::make_unique<bench_top<>::engine_type>();
  const start_options o{.connections = 8, .next_hops = 4, .ipv6_connections = false};
  alignas(64) static unsigned char memory[1 << 20];
  arena from{memory, sizeof memory};
  ASSERT_TRUE(core->init(world, o, {}, from, {}));
  EXPECT_EQ(core->values()[setting::run_gap_ms], 10U);
}

TEST(engine, refuses_a_setting_out_of_range_and_changes_nothing) {
  bench_top<> top;
  EXPECT_EQ(top.core().set(setting::poll_ms, 9, top.now), set_result::below);
  EXPECT_EQ(top.core().set(setting::enable, 2, top.now), set_result::above);
  EXPECT_EQ(top.core().values()[setting::poll_ms], 1'000U);
  EXPECT_EQ(top.next().until, instant{6'000'000});
}

TEST(engine, wakes_its_worker_for_what_is_set_and_for_a_discard) {
  bench_top<> top;
  (void)top.core().set(setting::enable, 0, top.now);
  EXPECT_EQ(top.world.kicks, 1U);
  top.settle();
  ASSERT_EQ(top.next().until, never) << "who sleeps until then sees nothing by itself";
  (void)top.core().set(setting::enable, 1, top.now);
  EXPECT_EQ(top.world.kicks, 2U);
  EXPECT_EQ(top.core().set(setting::enable, 2, top.now), set_result::above);
  EXPECT_EQ(top.world.kicks, 2U);
  top.core().request_discard();
  EXPECT_EQ(top.world.kicks, 3U);
}

TEST(engine, polls_by_the_period_that_is_set_since_its_last_poll) {
  bench_top<> top;
  (void)top.core().set(setting::poll_ms, 60'000, top.now);
  EXPECT_EQ(top.next().until, top.now + from_ms(60'000)) << "since the start, before the first poll";
  top.now.us += 60'000'000;
  (void)top.next();
  ASSERT_EQ(top.count(pass_counter::polls), 1U);
  const instant began = top.now;
  top.now.us += 300'000;
  (void)top.core().set(setting::poll_ms, 1'000, top.now);
  EXPECT_EQ(top.next().until, began + from_ms(1'000));
  top.now.us += 5'000'000;
  (void)top.core().set(setting::run_attempts, 9, top.now);
  (void)top.next();
  EXPECT_EQ(top.count(pass_counter::polls), 2U) << "once, however many were missed";
}

TEST(engine, gives_a_command_the_limit_that_it_was_posted_with) {
  bench_top<> top;
  top.world.firewall.known4.push_back(settled_state(flow(1)));
  top.both(flow(1), 100);
  top.to_next_poll();
  ASSERT_EQ(top.posted().kind, next_hop_set);
  (void)top.core().set(setting::cmd_limit_ms, 1, top.now);
  EXPECT_EQ(top.next().until, top.now + from_ms(2'000));
  top.answer_it();
  ASSERT_EQ(top.posted().kind, next_hop_set);
  EXPECT_EQ(top.next().until, top.now + from_ms(1));
}

TEST(engine, lends_a_command_once_and_then_waits) {
  bench_top<> top;
  top.world.firewall.known4.push_back(settled_state(flow(1)));
  top.both(flow(1), 100);
  top.to_next_poll();
  EXPECT_EQ(top.next().what, step::kind::post);
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.next().what, step::kind::wait);
}

// The order at every boundary: discard, removals, a due run's held half, due makes, upkeep, the walk.
TEST(engine, picks_what_is_owed_in_the_stated_order) {
  bench_top<> top{{.connections = 8, .next_hops = 8, .ipv6_connections = false}};
  for (u32 n = 1; n <= 3; ++n) top.world.firewall.known4.push_back(settled_state(flow(n), n));
  // A held connection whose end is owed, marked while its create is out.
  top.both(flow(1), 100);
  top.to_next_poll();
  command c = top.posted();
  while (c.kind != create) {
    top.answer_it();
    c = top.posted();
  }
  (void)top.frame(flow(1), 1, 100, true);
  // Meanwhile: one due for a run, one for the walk, a discard.
  top.both(flow(2), 200, 16);
  top.both(flow(3), 300);
  top.answer_it();
  // Without the discard: removal, run's make, its release, then the walk's make.
  const kinds order = top.settle();
  const kinds expected{deactivate, deactivate, reclaim, create, create};
  kinds main;
  for (const command_kind k : order)
    if (k == deactivate || k == reclaim || k == create) main.push_back(k);
  EXPECT_EQ(main, expected);
  std::vector<asker> askers;
  for (const event& e : top.world.events.seen)
    if (e.kind == event_kind::made) askers.push_back(e.by);
  EXPECT_EQ(askers, (std::vector<asker>{asker::poll, asker::run, asker::poll}));
}

TEST(engine, does_nothing_between_polls_that_nobody_asked_for) {
  bench_top<> top;
  for (int i = 0; i < 100; ++i) {
    top.now.us += 9'000;
    EXPECT_EQ(top.next().what, step::kind::idle);
  }
  EXPECT_EQ(top.count(pass_counter::fast_runs), 0U);
  EXPECT_EQ(top.count(pass_counter::cmd_posted), 0U);
}

TEST(engine, tells_every_command_and_its_answer) {
  bench_top<> top;
  top.world.firewall.known4.push_back(settled_state(flow(1)));
  top.both(flow(1), 100);
  top.to_next_poll();
  top.settle();
  int posted = 0;
  int answered = 0;
  for (const event& e : top.world.events.seen) {
    posted += e.kind == event_kind::command_posted;
    answered += e.kind == event_kind::command_answered;
  }
  EXPECT_EQ(posted, 3);
  EXPECT_EQ(answered, 3);
  EXPECT_EQ(top.count(pass_counter::cmd_posted), 3U);
  EXPECT_EQ(top.count(pass_counter::wait_n), 3U);
}

}  // namespace
}  // namespace octep::test

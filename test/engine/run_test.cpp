#include <octep/engine/run.hpp>

#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"
#include "test/engine/walk_policies.hpp"

namespace octep::test {
namespace {

using enum command_kind;

struct run : ::testing::Test {
  bench_top<ours> top{roomy};

  void known(u32 n) { top.world.firewall.known4.push_back(settled_state(flow(n), n)); }
};

TEST_F(run, makes_a_due_candidate_between_polls) {
  known(1);
  top.both(flow(1), 100, 16);
  EXPECT_EQ(top.world.kicks, 1U);
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_EQ(top.count(pass_counter::fast_made), 1U);
  EXPECT_EQ(top.count(pass_counter::polls), 0U);
}

TEST_F(run, costs_a_candidate_that_is_neither_due_nor_held_nothing) {
  known(1);
  known(2);
  top.both(flow(2), 200, 3);
  top.both(flow(1), 100, 16);
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_make_tries), 1U);
  EXPECT_EQ(top.count(pass_counter::fast_scans), 0U);
  const u64 asked = top.world.firewall.asked;
  top.to_next_poll();
  top.settle();
  EXPECT_GT(top.world.firewall.asked, asked) << "it was left unread, for the poll";
  EXPECT_EQ(top.count(pass_counter::auto_made), 2U);
}

TEST_F(run, is_at_most_one_in_five_milliseconds) {
  top.both(flow(1), 100, 16);
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_runs), 1U);
  const instant first = top.now;
  top.now.us += 1'000;
  top.both(flow(2), 200, 16);
  EXPECT_EQ(top.world.kicks, 2U);
  EXPECT_EQ(top.next().until, first + from_ms(5));
  EXPECT_EQ(top.count(pass_counter::fast_runs), 1U);
  top.now = first + from_ms(5);
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_runs), 2U);
}

TEST_F(run, tries_four_makes_and_says_when_it_passed_one_over) {
  for (u32 n = 1; n <= 6; ++n) {
    known(n);
    top.both(flow(n), 10 * n, 16);
  }
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_made), 4U);
  EXPECT_GT(top.count(reason::fast_make_spent), 0U);
}

TEST_F(run, spends_at_most_what_the_second_has) {
  (void)top.core().set(setting::make_per_sec, 5, top.now);
  top.to_next_poll();
  top.settle();  // the poll takes up the new budget
  for (u32 n = 1; n <= 20; ++n) top.both(flow(n), 10 * n, 16);  // none can be made
  for (int i = 0; i < 20; ++i) {
    top.now.us += 5'000;
    top.both(flow(40), 400, 64);  // keeps asking
    top.settle();
  }
  EXPECT_EQ(top.count(pass_counter::fast_make_tries), 5U);
}

TEST_F(run, leaves_a_refused_tuple_to_the_poll_and_only_that_tuple) {
  top.both(flow(1), 100, 16);
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_make_refused), 2U) << "both directions were due";
  top.now.us += 5'000;
  top.both(flow(1), 100, 64);
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_make_tries), 2U) << "at most once a tuple between two polls";
  known(2);
  top.now.us += 5'000;
  top.both(flow(2), 200, 16);
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_made), 1U) << "whoever shares the slot does not wait";
  known(1);
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.count(pass_counter::auto_made), 2U);
}

// Whoever is due asks once at each doubling of its count: what a run has no make left for must not wait for the next.
TEST_F(run, asks_again_for_those_it_had_no_make_left_for) {
  for (u32 n = 1; n <= 10; ++n) {
    known(n);
    top.both(flow(n), 100 * n, 16);
  }
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_made), 4U);
  EXPECT_EQ(top.next().until, top.now + from_ms(5));
  top.now.us += 5'000;
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_made), 8U);
  top.now.us += 5'000;
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_made), 10U);
  EXPECT_TRUE(top.now + from_ms(5) < top.next().until) << "nobody is left to ask for";
}

TEST(recorded_run, leaves_the_whole_slot_to_the_poll) {
  bench_top<recorded> top{roomy};
  // Two flows whose opening tuples share a slot, found by looking.
  const auto slot = [&](u32 n) { return top_bits(top.core().hash_of(flow(n)), 4); };
  u32 second = 2;
  while (slot(second) != slot(1)) ++second;
  for (int i = 0; i < 16; ++i) (void)top.frame(flow(1), 1, 100);
  top.settle();
  ASSERT_EQ(top.count(pass_counter::fast_make_refused), 1U);
  top.now.us += 5'000;
  for (int i = 0; i < 16; ++i) (void)top.frame(flow(second), 1, 200);
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_make_tries), 1U);
}

TEST_F(run, reads_the_frames_of_held_connections_first) {
  known(1);
  known(2);
  top.both(flow(1), 100, 16);
  top.settle();
  top.now.us += 5'000;
  top.both(flow(2), 200, 16);
  (void)top.frame(flow(1), 1, 100);
  EXPECT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.settle(), kinds{create}) << "both leave by hops that are there already";
  EXPECT_EQ(top.count(pass_counter::fast_runs), 2U);
}

TEST_F(run, asks_again_for_those_it_had_no_attempt_left_for) {
  (void)top.core().set(setting::run_attempts, 1, top.now);
  for (u32 n = 1; n <= 2; ++n) {
    known(n);
    top.both(flow(n), 100 * n, 16);
  }
  top.settle();
  ASSERT_EQ(top.core().table().held(), 2U);
  top.now.us += 10'000;
  top.settle();
  for (u32 n = 1; n <= 2; ++n) (void)top.frame(flow(n), 1, 100 * n);  // one frame each, then silence
  const auto read = [&] {
    const command c = top.posted();
    answer valid;
    valid.entry = entry_state::valid;
    valid.entry_revision = c.target.revision;
    top.answer_it(answer_code::done, valid);
    return c.kind == read_entry && top.settle().empty();
  };
  EXPECT_TRUE(read());
  top.now.us += 5'000;
  EXPECT_TRUE(read()) << "without a frame, a kick or a poll";
}

TEST_F(run, ends_at_its_next_boundary_when_runs_are_switched_off) {
  for (u32 n = 1; n <= 3; ++n) {
    known(n);
    top.both(flow(n), 10 * n, 16);
  }
  command c = top.posted();
  while (c.kind != create) {
    top.answer_it();
    c = top.posted();
  }
  (void)top.core().set(setting::fast, 0, top.now);
  top.answer_it();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.count(pass_counter::fast_made), 1U);
}

TEST_F(run, spends_no_make_on_a_connection_that_is_held) {
  for (u32 n = 1; n <= 12; ++n) {
    known(n);
    top.both(flow(n), 10 * n);
  }
  for (int poll = 0; poll < 2; ++poll) {
    top.to_next_poll();
    top.settle();
  }
  ASSERT_EQ(top.count(pass_counter::auto_made), 12U);
  // More of them are due than one held half attempts.
  top.now.us += 10'000;
  for (u32 n = 1; n <= 12; ++n) top.both(flow(n), 10 * n, 16);
  const u64 runs = top.count(pass_counter::fast_runs);
  while (top.posted().kind == read_entry) top.answer_it(answer_code::refused);
  EXPECT_EQ(top.count(pass_counter::probe_reads) + top.count(pass_counter::probe_waits), 8U) << "eight attempts";
  EXPECT_EQ(top.count(pass_counter::fast_runs), runs + 1);
  EXPECT_EQ(top.count(pass_counter::fast_make_tries), 0U);
  EXPECT_EQ(top.count(reason::fast_make_spent), 0U);
}

TEST_F(run, spends_nothing_on_ipv6_while_no_ipv6_connection_is_made) {
  bench_top<ours> both_families{{.connections = 64, .next_hops = 8, .ipv6_connections = true}};
  (void)both_families.core().set(setting::make_per_sec, 4, both_families.now);
  both_families.to_next_poll();
  both_families.settle();
  const auto v6 = [](u32 n) {
    return tuple6::make(widened(n), widened(99), join_ports(port_word(static_cast<u16>(1'000 + n)), port_word(443)),
                        protocol::udp);
  };
  const u64 kicks = both_families.world.kicks;
  for (u32 n = 1; n <= 8; ++n) both_families.both(v6(n), 50 + 2 * n, 16);
  EXPECT_EQ(both_families.world.kicks, kicks) << "no run is asked for";
  // A run that somebody else asked for leaves them alone too.
  both_families.both(flow(9), 900, 16);
  both_families.settle();
  EXPECT_EQ(both_families.count(pass_counter::fast_make_tries), 2U) << "flow 9, both directions";
  EXPECT_EQ(both_families.count(reason::fast_make_spent), 0U);
  both_families.to_next_poll();
  both_families.settle();
  EXPECT_EQ(both_families.count(reason::flow_family), 16U) << "the poll says why";
  (void)both_families.core().set(setting::ipv6, 1, both_families.now);
  both_families.world.firewall.known6.push_back(settled_state(v6(1), 5));
  both_families.both(v6(1), 52, 16);
  both_families.now.us += 10'000;
  both_families.settle();
  EXPECT_EQ(both_families.count(pass_counter::fast_made), 1U);
}

// Atomics that watch for a store over a request that a ring released and no exchange has taken.
struct watching_atomics {
  inline static int cut_off = 0;

  template <class T>
  class cell {
   public:
    T load_relaxed() const noexcept { return inner_.load_relaxed(); }
    T load_acquire() const noexcept { return inner_.load_acquire(); }
    void store_relaxed(T to) noexcept { store(), inner_.store_relaxed(to); }
    void store_release(T to) noexcept { store(), inner_.store_release(to); }
    T exchange_acq_rel(T to) noexcept {
      released_ = to != 0;
      return inner_.exchange_acq_rel(to);
    }
    T exchange_acquire(T to) noexcept { return inner_.exchange_acquire(to); }
    bool compare_exchange_relaxed(T& expected, T desired) noexcept { return inner_.compare_exchange_relaxed(expected, desired); }

   private:
    void store() noexcept { cut_off += released_; }

    builtin_atomics::cell<T> inner_;
    bool released_ = false;
  };
};
struct watched : ours {
  using atomics = watching_atomics;
};

TEST(busy_run, asks_again_and_leaves_what_a_ring_released_meanwhile_visible) {
  bench_top<watched> top{roomy};
  top.world.firewall.known4.push_back(settled_state(flow(1), 1));
  top.both(flow(1), 100, 16);
  ASSERT_EQ(top.world.kicks, 1U);
  const u32 busy = top_bits(top.core().hash_of(flow(1)), 4);
  u32 other = 2;
  while (top_bits(top.core().hash_of(flow(other)), 4) == busy) ++other;
  for (int i = 0; i < 15; ++i) (void)top.frame(flow(other), 1, 200);
  // A ring holds the slot while the run passes by, and another makes its candidate due meanwhile.
  ASSERT_TRUE(top.core().candidates_for<tuple4>().for_each_place(busy, [&](u32 place, const auto&) {
    if (place != 0) return;
    top.world.guard.on_enter = [&](u64) {
      top.world.guard.on_enter = nullptr;
      EXPECT_TRUE(top.frame(flow(other), 1, 200).kicked);
    };
    top.settle();
  }));
  EXPECT_GT(top.count(pass_counter::slots_busy), 0U);
  EXPECT_EQ(watching_atomics::cut_off, 0);
  EXPECT_EQ(top.next().until, top.now + from_ms(5)) << "without another kick";
  top.now.us += 5'000;
  top.settle();
  EXPECT_EQ(top.count(pass_counter::fast_made), 1U);
}

TEST_F(run, ends_its_making_at_a_full_table_until_the_poll) {
  bench_top<ours> small{{.connections = 1, .next_hops = 8, .ipv6_connections = false}};
  for (u32 n = 1; n <= 3; ++n) {
    small.world.firewall.known4.push_back(settled_state(flow(n), n));
    small.both(flow(n), 10 * n, 16);
  }
  small.settle();
  EXPECT_EQ(small.count(pass_counter::fast_made), 1U);
  EXPECT_EQ(small.count(reason::auto_full), 1U);
}

}  // namespace
}  // namespace octep::test

// Associations: what the engine asks the far side, what it tells the kernel, and which connections may be in hardware.

#include <gtest/gtest.h>

#include "test/engine/far_side.hpp"
#include "test/engine/held.hpp"

namespace octep::test {
namespace {

constexpr u32 out_1 = 0x1001, out_2 = 0x1002, in_1 = 0x2001, in_2 = 0x2002;  // the kernel's numbers

// The opener sits inside, port 1; what leaves by port 2 is encrypted, and what arrives there was decrypted.
struct tunnelled : ::testing::Test {
  bench_top<> top{{.connections = 4, .next_hops = 4, .ipv6_connections = true, .associations = 3, .far_side_fresh = true}};
  far_side far;
  tuple4 opener = flow(1);

  void SetUp() override {
    ASSERT_TRUE(top.started);
    top.world.firewall.known4.push_back(settled_state(opener));
    top.world.next_hops.tunnels[2] = out_1;
    flows(2);
  }
  void flows(u32 level) {
    (void)top.core().set(setting::ipsec_flows, level, top.now);
    work();
  }
  // Everything that is posted, answered as the far side does; the kinds, in order.
  kinds work() {
    kinds all;
    for (command c = top.posted(); c.kind != command_kind::none; c = top.posted()) {
      all.push_back(c.kind);
      last[c.kind] = c;
      const answer a = far.execute(c);
      top.answer_it(a.code, a);
      EXPECT_EQ(top.core().reconcile().broken, law::none) << name(top.core().reconcile().broken);
    }
    EXPECT_EQ(far.against(top.core()), "");
    return all;
  }
  void add(u32 kernel, bool encrypts) {
    ASSERT_TRUE(top.core().association_added(kernel, encrypts));
    work();
  }
  // Its index was read, and what follows is out.
  command posted_install(u32 kernel) {
    EXPECT_TRUE(top.core().association_added(kernel, true));
    EXPECT_EQ(top.posted().kind, command_kind::association_read);
    top.answer_it();
    return top.posted();
  }
  void both_added() {
    add(out_1, true);
    add(in_1, false);
  }
  [[nodiscard]] handle use_of(u32 kernel) { return top.core().protects().of_kernel(kernel); }
  [[nodiscard]] association_word word_of(u32 kernel) { return associations::word_of(use_of(kernel)); }

  void frames(int n = 1) {
    for (int i = 0; i < n; ++i) {
      (void)top.frame(opener, 1, 100);
      (void)top.frame(reverse(opener), 2, 101, false, 0, word_of(in_1));
    }
  }
  void poll() {
    top.now.us += 1'000'000;
    work();
  }
  void make() {
    frames();
    poll();
  }
  [[nodiscard]] const record* record_of() {
    const found f = top.core().table().find(opener, top.core().hash_of(opener));
    return f.is && top.core().table()[f.index].state == record_state::held ? &top.core().table()[f.index] : nullptr;
  }
  [[nodiscard]] reason taken_out_for() {
    for (auto e = top.world.events.seen.rbegin(); e != top.world.events.seen.rend(); ++e)
      if (e->kind == event_kind::taken_out) return e->why;
    return reason::none;
  }
  [[nodiscard]] u64 sequence(u32 kernel) { return top.world.associations.sequence[kernel]; }

  std::map<command_kind, command> last;
};

TEST_F(tunnelled, is_installed_after_its_index_was_read_and_not_before) {
  ASSERT_TRUE(top.core().association_added(out_1, true));
  EXPECT_EQ(work(), (kinds{command_kind::association_read, command_kind::association_add}));
  EXPECT_EQ(last[command_kind::association_add].kernel, out_1);
  EXPECT_TRUE(last[command_kind::association_add].encrypts);
  EXPECT_EQ(top.count(pass_counter::assoc_installed), 1U);
}

TEST_F(tunnelled, names_the_encrypting_one_and_remembers_who_decrypted) {
  both_added();
  make();
  ASSERT_NE(record_of(), nullptr);
  const command create = last[command_kind::create];
  EXPECT_EQ(create.microflows[0].association, associations::named_as(use_of(out_1)));
  EXPECT_EQ(create.microflows[1].association, handle{});
  EXPECT_EQ(record_of()->directions[1].decrypted_by, word_of(in_1));
  EXPECT_EQ(sequence(out_1), associations::margin);
  EXPECT_EQ(sequence(in_1), 0U);
  EXPECT_EQ(top.count(pass_counter::assoc_margins), 1U);
}

TEST_F(tunnelled, puts_the_margin_before_the_post_once_and_keeps_it_if_the_post_fails) {
  both_added();
  frames();
  top.now.us += 1'000'000;
  command c = top.posted();
  while (c.kind != command_kind::create) {
    EXPECT_EQ(sequence(out_1), 0U);
    const answer a = far.execute(c);
    top.answer_it(a.code, a);
    c = top.posted();
  }
  EXPECT_EQ(sequence(out_1), associations::margin);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(record_of(), nullptr);
  EXPECT_TRUE(top.core().protects()[use_of(out_1).index].flowed) << "nothing undoes the mark";
  make();
  ASSERT_NE(record_of(), nullptr);
  EXPECT_EQ(sequence(out_1), associations::margin) << "once an association";
}

TEST_F(tunnelled, leaves_at_0_what_nobody_named) {
  both_added();
  top.world.next_hops.tunnels.clear();
  (void)top.frame(opener, 1, 100);
  (void)top.frame(reverse(opener), 2, 101);
  poll();
  ASSERT_NE(record_of(), nullptr);
  far.traffic[use_of(out_1).index] = {500, 500'000};  // the host's own
  poll();
  EXPECT_EQ(sequence(out_1), 0U);
  EXPECT_EQ(top.world.associations.lifetime[out_1], (association_traffic{}));
}

TEST_F(tunnelled, tells_the_kernel_what_each_poll_reads) {
  both_added();
  make();
  far.traffic[use_of(out_1).index] = {300, 300'000};
  far.traffic[use_of(in_1).index] = {70, 7'000};
  poll();
  EXPECT_EQ(sequence(out_1), associations::margin + 300);
  EXPECT_EQ(top.world.associations.lifetime[out_1], (association_traffic{300, 300'000}));
  EXPECT_EQ(top.world.associations.lifetime[in_1], (association_traffic{70, 7'000}));
  EXPECT_EQ(sequence(in_1), 0U);
}

TEST_F(tunnelled, stays_with_the_host_at_ipsec_flows_0) {
  both_added();
  flows(0);
  make();
  EXPECT_EQ(record_of(), nullptr);
  EXPECT_EQ(top.last_refusal(), reason::flow_tunnelled);
}

TEST_F(tunnelled, waits_for_its_association) {
  top.world.next_hops.tunnels[2] = out_1;
  add(in_1, false);
  make();
  EXPECT_EQ(record_of(), nullptr);
  EXPECT_EQ(top.last_refusal(), reason::flow_no_association);
  add(out_1, true);
  make();
  EXPECT_NE(record_of(), nullptr);
}

TEST_F(tunnelled, stays_out_while_whoever_decrypted_it_is_not_in_use) {
  add(out_1, true);
  (void)top.frame(opener, 1, 100);
  (void)top.frame(reverse(opener), 2, 101, false, 0, {7U << 16 | 2U});
  poll();
  EXPECT_EQ(record_of(), nullptr);
  EXPECT_EQ(top.last_refusal(), reason::flow_no_association);
}

TEST_F(tunnelled, keeps_the_decrypted_direction_with_the_host_at_ipsec_flows_1) {
  both_added();
  flows(1);
  make();
  ASSERT_NE(record_of(), nullptr);
  EXPECT_TRUE(record_of()->directions[1].stays);
  EXPECT_FALSE(last[command_kind::create].microflows[1].who.names_flow());
  // Its frames go on being punted and ask for nothing.
  const u64 posted = top.count(pass_counter::cmd_posted);
  const u64 reads = top.count(pass_counter::assoc_reads);
  for (int i = 0; i < 100; ++i) {
    top.now.us += 10'000;
    (void)top.frame(reverse(opener), 2, 101, false, 0, word_of(in_1));
    work();
  }
  EXPECT_EQ(top.count(pass_counter::cmd_posted) - posted, top.count(pass_counter::assoc_reads) - reads);
  EXPECT_NE(record_of(), nullptr);
}

TEST_F(tunnelled, given_back_at_ipsec_flows_1_stays_with_the_host_for_a_minute) {
  both_added();
  flows(1);
  make();
  ASSERT_NE(record_of(), nullptr);
  top.now.us += 30'000'000;  // it lasted, and still
  work();
  (void)top.frame(opener, 1, 100);
  for (command c = top.posted(); c.kind != command_kind::none; c = top.posted()) {
    answer a = far.execute(c);
    if (c.kind == command_kind::read_entry && a.entry == entry_state::valid) {
      a.entry = entry_state::pending;
      a.identical = 10;
    }
    top.answer_it(a.code, a);
  }
  EXPECT_EQ(taken_out_for(), reason::flow_pending);
  for (int s = 0; s < 58; ++s) {
    make();
    ASSERT_EQ(record_of(), nullptr) << s;
    EXPECT_EQ(top.last_refusal(), reason::flow_held_back);
  }
  for (int s = 0; s < 4; ++s) make();
  EXPECT_NE(record_of(), nullptr);
}

TEST_F(tunnelled, a_smaller_ipsec_flows_takes_out_what_is_more) {
  both_added();
  make();
  ASSERT_NE(record_of(), nullptr);
  flows(1);
  EXPECT_EQ(taken_out_for(), reason::flow_tunnelled);
  make();
  ASSERT_NE(record_of(), nullptr) << "its encrypting direction may be";
  const u64 out = top.count(reason::flow_tunnelled);
  flows(1);
  EXPECT_EQ(top.count(reason::flow_tunnelled), out);
  flows(0);
  EXPECT_EQ(record_of(), nullptr);
  EXPECT_EQ(top.count(reason::flow_tunnelled), out + 1);
}

TEST_F(tunnelled, moves_to_the_successor_by_one_command_before_the_old_one_is_deleted) {
  both_added();
  make();
  add(out_2, true);
  EXPECT_EQ(top.count(pass_counter::flow_repoint), 0U);
  ASSERT_TRUE(top.core().association_gone(out_1, out_2));
  const handle old = use_of(out_1);
  const kinds done = work();
  EXPECT_EQ(done, (kinds{command_kind::program, command_kind::association_delete, command_kind::association_read}));
  EXPECT_EQ(last[command_kind::association_delete].target, old);
  EXPECT_EQ(last[command_kind::program].microflows[0].association, associations::named_as(use_of(out_2)));
  EXPECT_EQ(sequence(out_2), associations::margin);
  EXPECT_EQ(top.count(pass_counter::flow_repoint), 1U);
  EXPECT_NE(record_of(), nullptr);
}

TEST_F(tunnelled, follows_the_kernel_to_a_new_one_while_the_old_one_still_is) {
  both_added();
  make();
  top.world.next_hops.tunnels[2] = out_2;
  top.core().changed();
  EXPECT_EQ(work(), kinds{}) << "the new one is not installed: the old one goes on";
  add(out_2, true);
  EXPECT_EQ(top.count(pass_counter::flow_repoint), 1U);
  EXPECT_EQ(record_of()->directions[0].encrypted_by, word_of(out_2));
}

TEST_F(tunnelled, a_decrypted_direction_moves_without_a_command) {
  both_added();
  make();
  add(in_2, false);
  ASSERT_TRUE(top.core().association_gone(in_1, in_2));
  EXPECT_EQ(work(), (kinds{command_kind::association_delete, command_kind::association_read}));
  EXPECT_EQ(record_of()->directions[1].decrypted_by, word_of(in_2));
  EXPECT_TRUE(top.core().protects()[use_of(in_2).index].flowed);
}

TEST_F(tunnelled, is_taken_out_before_an_association_goes_that_nobody_succeeds) {
  both_added();
  make();
  ASSERT_TRUE(top.core().association_gone(out_1, 0));
  const kinds done = work();
  ASSERT_GE(done.size(), 2U);
  EXPECT_EQ(done[done.size() - 2], command_kind::association_delete);
  EXPECT_EQ(taken_out_for(), reason::flow_association_gone);
  make();
  EXPECT_EQ(top.last_refusal(), reason::flow_no_association);
}

TEST_F(tunnelled, is_plain_while_no_policy_covers_it_and_protected_again_after) {
  both_added();
  make();
  top.world.next_hops.tunnels.clear();  // tunnel down
  ASSERT_TRUE(top.core().association_gone(out_1, 0));
  ASSERT_TRUE(top.core().association_gone(in_1, 0));
  top.core().changed();
  work();
  EXPECT_EQ(record_of(), nullptr);
  (void)top.frame(opener, 1, 100);
  (void)top.frame(reverse(opener), 2, 101);
  poll();
  ASSERT_NE(record_of(), nullptr);
  EXPECT_TRUE(record_of()->directions[0].encrypted_by.none());

  top.world.next_hops.tunnels[2] = out_2;  // up
  add(out_2, true);
  add(in_2, false);
  EXPECT_EQ(taken_out_for(), reason::flow_rerouted);
  (void)top.frame(opener, 1, 100);
  (void)top.frame(reverse(opener), 2, 101, false, 0, word_of(in_2));
  poll();
  ASSERT_NE(record_of(), nullptr);
  EXPECT_EQ(record_of()->directions[0].encrypted_by, word_of(out_2));
}

// --- refused, late, gone ---------------------------------------------------------------------------------

TEST_F(tunnelled, an_install_stops_at_a_read_that_was_not_answered) {
  ASSERT_TRUE(top.core().association_added(out_1, true));
  ASSERT_EQ(top.posted().kind, command_kind::association_read);
  top.now.us += 3'000'000;
  EXPECT_EQ(top.posted().kind, command_kind::none);
  EXPECT_FALSE(top.core().protects().nameable(use_of(out_1)));
  top.answer_it();  // late: passed over
  EXPECT_EQ(top.posted().kind, command_kind::association_read) << "from its first step, by the poll that is due";
  const kinds rest = [&] {
    top.answer_it();
    return work();
  }();
  EXPECT_EQ(rest, (kinds{command_kind::association_add}));
}

TEST_F(tunnelled, an_install_that_is_answered_late_stands) {
  const command add = posted_install(out_1);
  ASSERT_EQ(add.kind, command_kind::association_add);
  top.now.us += 3'000'000;
  EXPECT_EQ(top.posted().kind, command_kind::none);
  EXPECT_FALSE(top.core().protects().nameable(use_of(out_1)));
  (void)far.execute(add);
  top.answer_it();
  EXPECT_TRUE(top.core().protects().nameable(use_of(out_1)));
  work();
}

TEST_F(tunnelled, one_that_goes_while_it_is_being_installed_is_deleted_as_soon_as_it_stands) {
  const command add = posted_install(out_1);
  ASSERT_EQ(add.kind, command_kind::association_add);
  ASSERT_TRUE(top.core().association_gone(out_1, 0));
  (void)far.execute(add);
  top.answer_it();
  EXPECT_EQ(work(), (kinds{command_kind::association_delete, command_kind::association_read}));
  EXPECT_TRUE(far.associations.empty());
}

TEST_F(tunnelled, a_refused_install_leaves_its_index_free) {
  ASSERT_EQ(posted_install(out_1).kind, command_kind::association_add);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.count(pass_counter::assoc_refused), 1U);
  EXPECT_EQ(use_of(out_1), handle{});
  EXPECT_FALSE(top.core().association_gone(out_1, 0));
}

TEST_F(tunnelled, a_refused_delete_is_asked_again_at_the_next_poll) {
  add(out_1, true);
  ASSERT_TRUE(top.core().association_gone(out_1, 0));
  ASSERT_EQ(top.posted().kind, command_kind::association_delete);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.posted().kind, command_kind::none);
  top.now.us += 1'000'000;
  EXPECT_EQ(work(), (kinds{command_kind::association_delete, command_kind::association_read}));
}

TEST_F(tunnelled, what_was_sent_between_the_last_poll_and_the_delete_is_told) {
  both_added();
  make();
  ASSERT_TRUE(top.core().association_gone(out_1, 0));
  far.traffic[use_of(out_1).index] = {40, 4'000};
  work();
  EXPECT_EQ(top.world.associations.lifetime[out_1], (association_traffic{40, 4'000}));
  EXPECT_EQ(sequence(out_1), associations::margin + 40);
}

TEST_F(tunnelled, after_a_restart_each_is_installed_anew_with_a_margin_of_its_own) {
  both_added();
  make();
  far.restart();
  top.core().far_side_reset(top.now);
  work();
  EXPECT_EQ(far.associations.size(), 2U);
  make();
  ASSERT_NE(record_of(), nullptr);
  EXPECT_EQ(sequence(out_1), 2 * associations::margin);
}

TEST_F(tunnelled, a_discard_leaves_associations_where_they_are) {
  both_added();
  make();
  top.core().request_discard();
  work();
  EXPECT_EQ(record_of(), nullptr);
  EXPECT_EQ(far.associations.size(), 2U);
  EXPECT_EQ(top.core().protects()[use_of(out_1).index].references, 0U);
  make();
  EXPECT_NE(record_of(), nullptr);
}

TEST_F(tunnelled, posts_nothing_of_them_at_enable_0) {
  both_added();
  make();
  (void)top.core().set(setting::enable, 0, top.now);
  EXPECT_EQ(work(), kinds{command_kind::discard});
  ASSERT_TRUE(top.core().association_added(out_2, true));
  ASSERT_TRUE(top.core().association_gone(in_1, 0));
  top.now.us += 5'000'000;
  EXPECT_EQ(work(), kinds{});
  (void)top.core().set(setting::enable, 1, top.now);
  work();
  EXPECT_TRUE(top.core().protects().nameable(use_of(out_2)));
  EXPECT_EQ(use_of(in_1), handle{});
}

TEST_F(tunnelled, says_no_to_one_more_than_there_are_indexes) {
  both_added();
  add(out_2, true);
  EXPECT_FALSE(top.core().association_added(in_2, false));
  EXPECT_FALSE(top.core().association_added(0, false)) << "0 is nobody's number";
}

TEST_F(tunnelled, a_next_hop_that_moves_takes_the_association_along) {
  both_added();
  make();
  top.world.next_hops.changed_port = 2;
  top.core().changed();
  work();
  EXPECT_EQ(top.count(pass_counter::flow_repoint), 1U);
  EXPECT_EQ(last[command_kind::program].microflows[0].association, associations::named_as(use_of(out_1)));
  EXPECT_EQ(top.core().protects()[use_of(out_1).index].references, 1U);
}

TEST_F(tunnelled, an_attach_names_the_association_too) {
  both_added();
  make();
  top.now.us += 10'000;
  (void)top.frame(opener, 1, 300);  // a new identity
  EXPECT_EQ(work(), kinds{command_kind::program});
  EXPECT_EQ(last[command_kind::program].microflows[0].association, associations::named_as(use_of(out_1)));
}

}  // namespace
}  // namespace octep::test

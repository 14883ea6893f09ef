#include <octep/engine/program.hpp>

#include <gtest/gtest.h>

#include "test/engine/held.hpp"

namespace octep::test {
namespace {

using enum command_kind;

struct attach : held {
  // A frame under an identity that is not the one programmed.
  void renamed(bool closing = false) { (void)top.frame(opener, 1, 700, closing); }
  command posts_program() {
    const command c = top.posted();
    EXPECT_EQ(c.kind, program);
    return c;
  }
};

TEST_F(attach, of_a_new_identity_is_one_command_for_its_direction) {
  const handle hop = top.core().table()[at.index].directions[0].next_hop;
  renamed();
  const command c = posts_program();
  EXPECT_EQ(c.target, at);
  EXPECT_EQ(c.direction, 0);
  EXPECT_EQ(c.microflows[0].who, identity::make(700, 1));
  EXPECT_EQ(c.microflows[0].where, (ingress{1, 0}));
  EXPECT_EQ(c.microflows[0].next_hop, hop);
  top.answer_it();
  EXPECT_EQ(top.settle(), kinds{}) << "one command";
  EXPECT_EQ(top.count(pass_counter::flow_attached), 1U);
  ASSERT_NE(last(event_kind::attached), nullptr);
  EXPECT_EQ(last(event_kind::attached)->connection, at);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(top.references(), 2U);
}

TEST_F(attach, of_the_other_direction_names_it_and_its_own_next_hop) {
  const handle hop = top.core().table()[at.index].directions[1].next_hop;
  (void)top.frame(reverse(opener), 2, 701);
  const command c = posts_program();
  EXPECT_EQ(c.direction, 1);
  EXPECT_EQ(c.microflows[0].who, identity::make(701, 1));
  EXPECT_EQ(c.microflows[0].next_hop, hop);
  EXPECT_EQ(c.microflows[0].where, (ingress{2, 0}));
}

TEST_F(attach, by_another_revision_of_the_same_id_is_a_new_identity) {
  frame_facts f{};
  f.why = reason::none;
  f.which = family::ipv4;
  f.v4 = opener;
  (void)top.core().punt(0, f, 100, {identity::make(100, 2), 1, {}}, top.now);
  EXPECT_EQ(posts_program().microflows[0].who, identity::make(100, 2));
}

TEST_F(attach, carries_the_translation_of_its_direction) {
  auto& state = top.world.firewall.known4;
  state.push_back(settled_state(flow(2), 2));
  state.back().opener_translated = {outside(77), port_word(61'000)};
  const tuple_pair<tuple4> pair = derive(state.back());
  (void)top.frame(pair[0], 1, 200);
  (void)top.frame(pair[1], 2, 201);
  top.to_next_poll();
  top.settle();
  top.now.us += 10'000;
  (void)top.frame(pair[1], 2, 777);
  const command c = posts_program();
  EXPECT_EQ(c.direction, 1);
  EXPECT_EQ(c.microflows[0].to.destination[0], flow(2).source);
  EXPECT_EQ(c.microflows[0].to.ports & 0xffffU, u32{flow(2).source_word()});
}

TEST_F(attach, is_what_the_take_out_deactivates_then) {
  renamed();
  posts_program();
  top.answer_it();
  ASSERT_TRUE(top.core().remove(opener));
  const command c = top.posted();
  ASSERT_EQ(c.kind, deactivate);
  EXPECT_EQ(c.microflows[0].who, identity::make(700, 1));
}

TEST_F(attach, is_not_for_a_direction_that_ends) {
  renamed(true);
  EXPECT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, given_back(3));
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(top.count(pass_counter::flow_attached), 0U);
  EXPECT_EQ(taken_out_for(), reason::flow_ended);
}

TEST_F(attach, is_not_for_a_connection_whose_state_is_gone) {
  top.world.firewall.dead.push_back(1);
  renamed();
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_expired);
}

TEST_F(attach, is_not_for_frames_that_arrive_elsewhere) {
  for (const bool by_vlan : {false, true}) {
    (void)top.frame(opener, by_vlan ? 1 : 5, 700, false, by_vlan ? 9 : 0);
    EXPECT_EQ(top.settle(), whole_take_out);
    EXPECT_EQ(taken_out_for(), reason::flow_port_moved);
    EXPECT_EQ(top.count(reason::flow_port_moved), by_vlan ? 2U : 1U);
    if (!by_vlan) make_it();
  }
  EXPECT_EQ(top.count(pass_counter::flow_attached), 0U);
}

TEST_F(attach, that_is_refused_takes_the_connection_out) {
  renamed();
  posts_program();
  top.answer_it(answer_code::refused);
  const command first = top.posted();
  ASSERT_EQ(first.kind, deactivate);
  EXPECT_EQ(first.microflows[0].who, identity::make(700, 1));
  top.answer_it();
  EXPECT_EQ(top.settle(), (kinds{deactivate, reclaim, next_hop_release, next_hop_release}));
  EXPECT_EQ(taken_out_for(), reason::flow_rc_refused);
  EXPECT_EQ(top.count(pass_counter::flow_attached), 0U);
  EXPECT_EQ(top.references(), 0U);
  EXPECT_EQ(top.core().held_back().used(), 0U) << "it was not given back";
}

TEST_F(attach, that_is_not_answered_dooms_the_connection_until_the_far_side_speaks) {
  renamed();
  posts_program();
  top.now.us += 2'000'000;
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.count(pass_counter::flow_doomed), 1U);
  EXPECT_EQ(top.core().table().held(), 1U) << "counted as programmed";
  EXPECT_EQ(top.core().table()[at.index].state, record_state::doomed);
  top.now.us += 5'000'000;
  EXPECT_EQ(top.next().what, step::kind::wait) << "nothing else is posted meanwhile";
  top.answer_it();  // late
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_audited);
  EXPECT_EQ(top.count(reason::flow_audited), 1U);
  EXPECT_EQ(top.core().table().held(), 0U);
}

// Whatever an operator or a firewall wants meanwhile, it is taken out once.
TEST_F(attach, that_is_not_answered_while_the_connection_is_removed_takes_it_out_once) {
  renamed();
  posts_program();
  ASSERT_TRUE(top.core().remove(opener));
  top.now.us += 2'000'000;
  ASSERT_EQ(top.next().what, step::kind::wait);
  top.now.us += 10'000;
  top.answer_it();
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_removed);
  EXPECT_EQ(top.count(pass_counter::flow_reclaimed), 1U);
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_FALSE(top.core().hot().perhaps(top.core().hash_of(opener)));
}

TEST_F(attach, that_is_answered_after_the_connection_was_removed_takes_it_out) {
  renamed();
  posts_program();
  ASSERT_TRUE(top.core().state_gone(opener));
  top.answer_it();
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_expired);
}

// --- another next hop -------------------------------------------------------------------------------------

struct repoint : held {
  // The routes send both directions by port 9 now, which is one new hop for both.
  command to_new_hop() {
    top.world.next_hops.one_hop = true;
    top.core().changed();
    return top.posted();
  }
};

TEST_F(repoint, programs_the_new_hop_once_and_each_direction_and_lets_the_old_ones_go) {
  const command hop = to_new_hop();
  ASSERT_EQ(hop.kind, next_hop_set);
  EXPECT_EQ(hop.hop.port, 9);
  top.answer_it();
  for (u8 d = 0; d < 2; ++d) {
    command c = top.posted();
    if (c.kind == next_hop_release) {  // the first direction's old hop
      top.answer_it();
      c = top.posted();
    }
    ASSERT_EQ(c.kind, program);
    EXPECT_EQ(c.direction, d);
    EXPECT_EQ(c.microflows[0].who, identity::make(100 + d, 1)) << "under the identity that it has";
    EXPECT_EQ(c.microflows[0].next_hop, hop.target);
    top.answer_it();
  }
  EXPECT_EQ(top.settle(), kinds{next_hop_release});
  EXPECT_EQ(top.count(pass_counter::flow_repoint), 2U);
  EXPECT_EQ(top.references(), 2U);
  EXPECT_TRUE(is_held());
}

TEST_F(repoint, by_a_hop_that_is_refused_takes_the_connection_out) {
  ASSERT_EQ(to_new_hop().kind, next_hop_set);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.settle(), whole_take_out);
  EXPECT_EQ(taken_out_for(), reason::flow_rerouted);
  EXPECT_EQ(top.references(), 0U);
}

TEST_F(repoint, that_is_refused_takes_the_connection_out_with_every_reference) {
  ASSERT_EQ(to_new_hop().kind, next_hop_set);
  top.answer_it();
  ASSERT_EQ(top.posted().kind, program);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.settle(), (kinds{deactivate, deactivate, reclaim, next_hop_release, next_hop_release, next_hop_release}));
  EXPECT_EQ(taken_out_for(), reason::flow_rc_refused);
  EXPECT_EQ(top.references(), 0U);
}

TEST_F(repoint, by_a_hop_that_is_not_answered_dooms_nobody_and_takes_the_connection_out) {
  ASSERT_EQ(to_new_hop().kind, next_hop_set);
  top.now.us += 2'000'000;
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.count(pass_counter::flow_doomed), 0U);
  top.answer_it();
  top.settle();
  EXPECT_EQ(taken_out_for(), reason::flow_rerouted);
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);
}

TEST_F(repoint, that_is_not_answered_dooms_the_connection_which_the_audit_takes_out) {
  ASSERT_EQ(to_new_hop().kind, next_hop_set);
  top.answer_it();
  ASSERT_EQ(top.posted().kind, program);
  top.now.us += 2'000'000;
  EXPECT_EQ(top.next().what, step::kind::wait);
  EXPECT_EQ(top.count(pass_counter::flow_doomed), 1U);
  top.answer_it();
  top.settle();
  EXPECT_EQ(taken_out_for(), reason::flow_audited);
  EXPECT_EQ(top.references(), 0U);
}

TEST_F(repoint, gives_up_when_the_connection_was_removed_in_between) {
  ASSERT_EQ(to_new_hop().kind, next_hop_set);
  ASSERT_TRUE(top.core().remove(opener));
  top.answer_it();
  EXPECT_EQ(top.settle(), (kinds{deactivate, deactivate, reclaim, next_hop_release, next_hop_release, next_hop_release}));
  EXPECT_EQ(taken_out_for(), reason::flow_removed);
  EXPECT_EQ(top.references(), 0U);
}

TEST_F(repoint, gives_up_when_a_discard_fell_in_between) {
  ASSERT_EQ(to_new_hop().kind, next_hop_set);
  top.core().request_discard();
  top.answer_it();
  EXPECT_EQ(top.posted().kind, discard);
  top.answer_it();
  EXPECT_EQ(top.settle(), kinds{});
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);
}

}  // namespace
}  // namespace octep::test

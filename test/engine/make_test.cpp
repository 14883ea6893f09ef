#include <octep/engine/make.hpp>

#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"

namespace octep::test {
namespace {

using enum command_kind;

struct make : ::testing::Test {
  bench_top<> top;
  const tuple4 opener = flow(1);

  void SetUp() override {
    ASSERT_TRUE(top.started);
    top.world.firewall.known4.push_back(settled_state(opener));
  }
  // What the next poll answers to a frame of the opener whose other direction stands in the table.
  reason refusal_at_poll() {
    top.to_next_poll();
    EXPECT_EQ(top.settle(), kinds{});
    return top.last_refusal();
  }
};

TEST_F(make, programs_two_next_hops_and_creates_both_directions) {
  top.both(opener, 100);
  top.to_next_poll();
  const command hop0 = top.posted();
  EXPECT_EQ(hop0.kind, next_hop_set);
  EXPECT_EQ(hop0.hop.port, 2) << "direction 0 leaves where direction 1 arrives";
  top.answer_it();
  const command hop1 = top.posted();
  EXPECT_EQ(hop1.kind, next_hop_set);
  EXPECT_EQ(hop1.hop.port, 1);
  EXPECT_TRUE(top.world.firewall.relaxed.empty()) << "no state is relaxed before its create is about to be posted";
  top.answer_it();
  const command made = top.posted();
  ASSERT_EQ(made.kind, create);
  EXPECT_EQ(top.world.firewall.relaxed, std::vector<u64>{1});
  // The walk may have come to either direction first: both stand in their places all the same.
  EXPECT_EQ(made.microflows[0].who, identity::make(100, 1));
  EXPECT_EQ(made.microflows[1].who, identity::make(101, 1));
  EXPECT_EQ(made.microflows[0].where, (ingress{1, 0}));
  EXPECT_EQ(made.microflows[1].where, (ingress{2, 0}));
  EXPECT_EQ(made.microflows[0].next_hop, hop0.target);
  EXPECT_EQ(made.microflows[1].next_hop, hop1.target);
  EXPECT_TRUE(made.block.track_tcp);
  EXPECT_FALSE(made.block.translates);
  EXPECT_NE(made.target.revision, 0);
  EXPECT_EQ(top.core().table().held(), 1U) << "the record exists while it is being made";
  top.answer_it();
  EXPECT_EQ(top.count(pass_counter::auto_made), 1U);
  EXPECT_EQ(top.core().table()[made.target.index].state, record_state::held);
  EXPECT_TRUE(top.core().hot().perhaps(top.core().hash_of(opener)));
  EXPECT_TRUE(top.core().hot().perhaps(top.core().hash_of(reverse(opener))));
}

TEST_F(make, tells_how_many_frames_its_candidate_had_counted) {
  top.both(opener, 100, 3);
  top.to_next_poll();
  (void)top.posted();
  for (const event& e : top.world.events.seen)
    if (e.kind == event_kind::make_begins) EXPECT_EQ(e.count, 3U);
  EXPECT_EQ(std::count_if(top.world.events.seen.begin(), top.world.events.seen.end(),
                          [](const event& e) { return e.kind == event_kind::make_begins; }),
            1);
}

TEST_F(make, carries_the_translation_of_both_directions) {
  auto& state = top.world.firewall.known4[0];
  state.opener_translated = {outside(77), port_word(61'000)};
  const tuple_pair<tuple4> pair = derive(state);
  (void)top.frame(pair[0], 1, 100);
  (void)top.frame(pair[1], 2, 101);
  top.to_next_poll();
  top.posted();
  top.answer_it();
  top.posted();
  top.answer_it();
  const command made = top.posted();
  ASSERT_EQ(made.kind, create);
  EXPECT_TRUE(made.block.translates);
  EXPECT_EQ(made.microflows[0].to.source[0], outside(77));
  EXPECT_EQ(made.microflows[0].to.ports >> 16, u32{port_word(61'000)});
  EXPECT_EQ(made.microflows[1].to.destination[0], opener.source);
  EXPECT_EQ(made.microflows[1].to.ports & 0xffffU, u32{opener.source_word()});
}

TEST_F(make, shares_a_next_hop_and_programs_it_once) {
  top.world.next_hops.one_hop = true;
  top.both(opener, 100);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, create}));
  EXPECT_EQ(top.references(), 2U);
  EXPECT_EQ(top.count(pass_counter::nhop_shared), 0U) << "nothing was programmed already";
  const tuple4 second = flow(2);
  top.world.firewall.known4.push_back(settled_state(second, 2));
  top.both(second, 200);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), kinds{create});
  EXPECT_EQ(top.references(), 4U);
  EXPECT_EQ(top.count(pass_counter::nhop_shared), 2U);
}

TEST_F(make, of_an_ipv6_connection_needs_the_setting) {
  tuple6 v6 = tuple6::make(widened(1), widened(2), opener.ports, protocol::udp);
  top.world.firewall.known6.push_back(settled_state(v6));
  top.both(v6, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_family);
  (void)top.core().set(setting::ipv6, 1, top.now);
  top.both(v6, 100);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
}

// --- each refusal, by its own reason ------------------------------------------------------------------------

TEST_F(make, refuses_what_the_firewall_does_not_know) {
  top.both(flow(9), 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_nostate);
}

TEST_F(make, refuses_each_verdict_of_the_firewall_by_its_name) {
  for (const reason r : {reason::flow_shaped, reason::flow_marked, reason::flow_logged, reason::flow_normalised,
                         reason::flow_modulated, reason::flow_family_translated}) {
    top.world.firewall.known4[0].verdict = r;
    top.both(opener, 100);
    EXPECT_EQ(refusal_at_poll(), r);
    EXPECT_EQ(top.count(r), 2U) << "both directions were asked about";
  }
}

TEST_F(make, waits_until_tcp_is_established_on_its_long_timer) {
  auto& state = top.world.firewall.known4[0];
  state.timer = timer_class::opening;
  top.both(opener, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_unsettled_opening);
  state.timer = timer_class::settled;
  state.responder_peer = peer_state::heard;
  top.both(opener, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_unsettled_opening);
  state.responder_peer = peer_state::established;
  state.timer = timer_class::closing;
  top.both(opener, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_unsettled_closing);
}

TEST_F(make, of_a_one_way_udp_stream_waits_for_its_age) {
  const tuple4 udp = flow(3, protocol::udp);
  auto state = settled_state(udp, 3);
  state.responder_peer = peer_state::silent;
  state.age = microseconds{2'999'999};
  top.world.firewall.known4.push_back(state);
  top.both(udp, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_unsettled_one_way);
  top.world.firewall.known4.back().age = microseconds{3'000'000};
  top.both(udp, 100);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
}

TEST_F(make, of_an_echo_asks_for_nothing_but_its_other_direction) {
  const tuple4 ping = tuple4::make(inside(1), outside(1), join_ports(0x1234, port_word(8)), protocol::icmp);
  auto state = settled_state(ping, 4);
  state.opener_peer = state.responder_peer = peer_state::silent;
  top.world.firewall.known4.push_back(state);
  (void)top.frame(ping, 1, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_wait_other);
  (void)top.frame(ping, 1, 100);
  (void)top.frame(reverse(ping), 2, 101);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
  EXPECT_EQ(top.count(reason::flow_tuple_mismatch), 0U) << "the record's thirty harmless increments in a night";
}

TEST_F(make, refuses_a_tuple_that_the_state_does_not_imply) {
  top.world.firewall.known4[0].opener_translated = {outside(50), port_word(50'000)};
  top.world.firewall.careless = true;
  // The reply as it would arrive without translation.
  (void)top.frame(reverse(opener), 2, 101);
  EXPECT_EQ(refusal_at_poll(), reason::flow_tuple_mismatch);
}

TEST_F(make, refuses_a_host_that_talks_to_itself_through_us) {
  const tuple4 self = tuple4::make(inside(1), inside(1), join_ports(port_word(7), port_word(7)), protocol::udp);
  top.world.firewall.known4.push_back(settled_state(self, 9));
  (void)top.frame(self, 1, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_self);
}

TEST_F(make, waits_for_the_other_direction) {
  (void)top.frame(opener, 1, 100);
  EXPECT_EQ(refusal_at_poll(), reason::flow_wait_other);
}

// Met alone at a poll, and driven out of its slot since; the time that a place was kept for the other one is over too.
struct make_of_partners : make {
  bool stands(const tuple4& t) {
    candidate<tuple4> c;
    return top.core().candidates_for<tuple4>().find(t, top.core().hash_of(t), c) == got::one;
  }
  void drive_out() {
    top.to_next_poll();
    EXPECT_EQ(top.settle(), kinds{});
    for (u32 n = 10; n < 200; ++n) top.both(flow(n), 1'000 + 2 * n);
    ASSERT_FALSE(stands(opener) || stands(reverse(opener)));
  }
  void SetUp() override {
    make::SetUp();
    (void)top.frame(opener, 1, 100);
    EXPECT_EQ(refusal_at_poll(), reason::flow_wait_other);
    ASSERT_TRUE(stands(reverse(opener))) << "its place is kept";
    drive_out();
  }
  command after_the_other_direction() {
    (void)top.frame(reverse(opener), 2, 101);
    top.to_next_poll();
    return top.posted();
  }
};

TEST_F(make_of_partners, needs_each_direction_once) {
  ASSERT_EQ(after_the_other_direction().kind, next_hop_set);
  top.answer_it();
  (void)top.posted();
  top.answer_it();
  const command made = top.posted();
  ASSERT_EQ(made.kind, create);
  EXPECT_EQ(made.microflows[0].who, identity::make(100, 1));
  EXPECT_EQ(made.microflows[1].who, identity::make(101, 1));
  EXPECT_EQ(made.microflows[0].where, (ingress{1, 0}));
}

TEST_F(make_of_partners, keeps_a_place_for_the_other_direction_the_first_time_alone) {
  (void)refusal_at_poll();  // the strangers are read: there is room for it
  (void)top.frame(opener, 1, 100);
  (void)refusal_at_poll();
  EXPECT_EQ(top.count(reason::flow_wait_other), 2U);
  EXPECT_FALSE(stands(reverse(opener)));
}

TEST_F(make_of_partners, forgets_the_first_with_everything_at_a_discard) {
  top.core().request_discard();
  EXPECT_EQ(top.settle(), kinds{command_kind::discard});
  EXPECT_EQ(after_the_other_direction().kind, command_kind::none);
  EXPECT_EQ(top.count(reason::flow_wait_other), 2U);
}

TEST_F(make_of_partners, forgets_the_first_when_it_became_half_of_a_connection) {
  ASSERT_EQ(after_the_other_direction().kind, next_hop_set);
  top.answer_it(answer_code::refused);
  top.settle();
  drive_out();
  EXPECT_EQ(after_the_other_direction().kind, command_kind::none);
  EXPECT_EQ(top.count(reason::flow_wait_other), 2U);
}

TEST_F(make, never_pairs_with_a_candidate_that_names_no_flow) {
  (void)top.frame(opener, 1, 100);
  EXPECT_EQ(top.frame(reverse(opener), 2, 0).why, reason::no_identity);
  EXPECT_EQ(refusal_at_poll(), reason::flow_wait_other);
}

TEST_F(make, refuses_the_direction_that_another_connection_holds) {
  top.both(opener, 100);
  top.to_next_poll();
  top.settle();
  // Another opener behind the same translated end: its reply tuple is the held connection's.
  auto state = settled_state(flow(2), 2);
  state.opener_translated = {opener.source, opener.source_word()};
  top.world.firewall.known4.push_back(state);
  (void)top.frame(flow(2), 1, 200);
  EXPECT_EQ(refusal_at_poll(), reason::flow_other_held);
}

TEST_F(make, refuses_a_frame_that_closes_and_one_whose_other_direction_does) {
  (void)top.frame(opener, 1, 100, true);
  EXPECT_EQ(refusal_at_poll(), reason::flow_closing);
  // The walk takes slots in order, so the reason depends on which direction it meets first; the other's mark is unread then.
  top.both(opener, 100);
  (void)top.frame(reverse(opener), 2, 101, true);
  const reason r = refusal_at_poll();
  EXPECT_TRUE(r == reason::flow_other_closing || r == reason::flow_closing);
  EXPECT_EQ(top.count(reason::flow_closing), 2U);
}

TEST_F(make, refuses_both_directions_of_what_one_closed_whichever_is_read_first) {
  for (u32 n = 1; n <= 20; ++n) {
    bench_top<> one;
    one.world.firewall.known4.push_back(settled_state(flow(n)));
    one.both(flow(n), 100);
    (void)one.frame(reverse(flow(n)), 2, 101, true);
    one.to_next_poll();
    EXPECT_EQ(one.settle(), kinds{});
    EXPECT_EQ(one.count(reason::flow_closing), 1U);
    EXPECT_EQ(one.count(reason::flow_other_closing), 1U);
    // Opened again with the same ports: the first frame of the side that closed takes its mark away.
    one.both(flow(n), 100);
    one.to_next_poll();
    EXPECT_EQ(one.settle(), (kinds{next_hop_set, next_hop_set, create}));
  }
}

TEST_F(make, declines_a_candidate_older_than_cand_age) {
  (void)top.core().set(setting::cand_age, 2, top.now);
  (void)top.frame(reverse(opener), 2, 101);
  top.to_next_poll();
  top.settle();  // takes it; made is nothing, since the opener has not been punted
  top.now.us += 5'000'000;
  (void)top.frame(opener, 1, 100);
  EXPECT_EQ(refusal_at_poll(), reason::cand_aged);
  (void)top.core().set(setting::cand_age, 0, top.now);
  (void)top.frame(opener, 1, 100);
  top.to_next_poll();
  EXPECT_EQ(top.settle(), (kinds{next_hop_set, next_hop_set, create}));
}

TEST_F(make, passes_on_why_there_is_no_next_hop) {
  for (const reason r : {reason::flow_nonhop_no_route, reason::flow_nonhop_rejected, reason::flow_nonhop_unresolved,
                         reason::flow_nonhop_not_front, reason::flow_nonhop_local, reason::flow_nonhop_mtu}) {
    top.world.next_hops.why = r;
    top.both(opener, 100);
    EXPECT_EQ(refusal_at_poll(), r);
  }
  EXPECT_EQ(top.references(), 0U);
}

TEST_F(make, ends_at_a_full_table_and_tries_again_at_the_next_poll) {
  for (u32 n = 1; n <= 5; ++n) {
    if (n > 1) top.world.firewall.known4.push_back(settled_state(flow(n), n));
    top.both(flow(n), 100 * n);
    top.to_next_poll();
    top.settle();
  }
  EXPECT_EQ(top.count(pass_counter::auto_made), 4U);
  EXPECT_EQ(top.last_refusal(), reason::auto_full);
  EXPECT_EQ(top.count(reason::auto_full), 1U) << "a full table ends making until the next poll";
}

TEST_F(make, refuses_when_the_next_hops_are_full) {
  bench_top<> small{{.connections = 4, .next_hops = 1, .ipv6_connections = false}};
  small.world.firewall.known4.push_back(settled_state(opener));
  small.both(opener, 100);
  small.to_next_poll();
  EXPECT_EQ(small.settle(), kinds{});
  EXPECT_EQ(small.last_refusal(), reason::nhop_full);
  EXPECT_EQ(small.references(), 0U) << "a refused make drops the reference it took";
}

TEST_F(make, refuses_a_tunnelled_frame) {
  frame_facts f{};
  f.why = reason::none;
  f.which = family::ipv4;
  f.v4 = opener;
  (void)top.core().punt(0, f, 100, {identity::make(100, 1), 1, association_word{0x0001'0006}}, top.now);
  EXPECT_EQ(refusal_at_poll(), reason::flow_tunnelled);
}

// --- while it is being made -----------------------------------------------------------------------------------

TEST_F(make, is_aborted_when_its_state_dies_between_two_commands) {
  top.both(opener, 100);
  top.to_next_poll();
  ASSERT_EQ(top.posted().kind, next_hop_set);
  top.world.firewall.dead.push_back(1);
  top.answer_it();
  EXPECT_EQ(top.last_refusal(), reason::flow_changed);
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);
  EXPECT_TRUE(top.world.firewall.relaxed.empty());
  EXPECT_EQ(top.count(pass_counter::flow_aborted), 1U);
  // What it programmed is released, as upkeep of its own.
  top.world.firewall.known4.clear();
  const kinds after = top.settle();
  EXPECT_EQ(after, kinds{next_hop_release});
}

TEST_F(make, ends_between_two_commands_when_making_is_switched_off) {
  top.both(opener, 100);
  top.to_next_poll();
  ASSERT_EQ(top.posted().kind, next_hop_set);
  (void)top.core().set(setting::auto_make, 0, top.now);
  top.answer_it();
  EXPECT_EQ(top.last_refusal(), reason::auto_off);
  EXPECT_EQ(top.settle(), kinds{next_hop_release});
  EXPECT_EQ(top.core().table().held(), 0U);
}

TEST_F(make, is_aborted_by_a_closing_mark_and_by_a_port_that_moves) {
  top.both(opener, 100);
  top.to_next_poll();
  ASSERT_EQ(top.posted().kind, next_hop_set);
  (void)top.frame(reverse(opener), 2, 101, true);
  top.answer_it();
  EXPECT_TRUE(top.last_refusal() == reason::flow_other_closing || top.last_refusal() == reason::flow_closing);
  top.settle();

  bench_top<> other;
  other.world.firewall.known4.push_back(settled_state(opener));
  other.both(opener, 100);
  other.to_next_poll();
  ASSERT_EQ(other.posted().kind, next_hop_set);
  (void)other.frame(opener, 7, 100);
  other.answer_it();
  EXPECT_EQ(other.last_refusal(), reason::cand_port_moved);
}

TEST_F(make, is_taken_out_when_a_mark_is_set_while_its_create_is_outstanding) {
  top.both(opener, 100);
  top.to_next_poll();
  top.posted();
  top.answer_it();
  top.posted();
  top.answer_it();
  ASSERT_EQ(top.posted().kind, create);
  (void)top.frame(opener, 1, 100, true);
  top.answer_it();
  EXPECT_EQ(top.count(pass_counter::auto_made), 1U);
  const kinds out = top.settle();
  EXPECT_EQ(out, (kinds{deactivate, deactivate, reclaim, next_hop_release, next_hop_release}));
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_FALSE(top.core().hot().perhaps(top.core().hash_of(opener)));
}

// Rings do not wait for passes: a FIN may come between the question whether one came and the reading of the candidates.
TEST_F(make, is_taken_out_whenever_the_mark_comes_before_its_candidates_are_read) {
  int entries = 0;
  for (u64 at = 1; entries == 0 || at <= static_cast<u64>(entries); ++at) {
    bench_top<> one;
    one.world.firewall.known4.push_back(settled_state(opener));
    one.both(opener, 100);
    one.to_next_poll();
    command c = one.posted();
    while (c.kind != create) {
      one.answer_it();
      c = one.posted();
    }
    const u64 before = one.world.guard.entered;
    one.world.guard.on_enter = [&](u64 entry) {
      if (entry == before + at) (void)one.frame(opener, 1, 100, true);
    };
    one.answer_it();
    entries = static_cast<int>(one.world.guard.entered - before);
    one.world.guard.on_enter = nullptr;
    candidate<tuple4> seen;
    ASSERT_EQ(one.core().candidates_for<tuple4>().find(opener, one.core().hash_of(opener), seen), got::one);
    if (seen.read) {
      EXPECT_EQ(one.core().table()[c.target.index].state, record_state::leaving) << "a mark read at entry " << at;
    } else {
      EXPECT_TRUE(seen.closing) << "or it stands there unread";
    }
  }
  EXPECT_GE(entries, 4);
}

TEST_F(make, that_the_far_side_refuses_leaves_nothing_behind) {
  top.both(opener, 100);
  top.to_next_poll();
  top.posted();
  top.answer_it();
  top.posted();
  top.answer_it();
  ASSERT_EQ(top.posted().kind, create);
  top.answer_it(answer_code::refused);
  EXPECT_EQ(top.last_refusal(), reason::flow_rc_refused);
  EXPECT_EQ(top.count(pass_counter::cmd_refused), 1U);
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);

  bench_top<> other;
  other.world.firewall.known4.push_back(settled_state(opener));
  other.world.next_hops.one_hop = true;
  other.both(opener, 100);
  other.to_next_poll();
  ASSERT_EQ(other.posted().kind, next_hop_set);
  other.answer_it(answer_code::refused);
  EXPECT_EQ(other.last_refusal(), reason::flow_rc_refused);
  EXPECT_EQ(other.references(), 0U) << "both directions shared the refused hop";
  EXPECT_EQ(other.core().table().held(), 0U);
}

TEST_F(make, reads_both_candidates_that_it_used) {
  top.both(opener, 100, 3);
  top.to_next_poll();
  top.settle();
  ASSERT_EQ(top.count(pass_counter::auto_made), 1U);
  top.to_next_poll();
  top.settle();
  EXPECT_EQ(top.count(reason::flow_held), 0U) << "nobody asked again about a frame that the make had used";
  candidate<tuple4> seen;
  ASSERT_EQ(top.core().candidates_for<tuple4>().find(opener, top.core().hash_of(opener), seen), got::one);
  EXPECT_TRUE(seen.read);
  EXPECT_EQ(seen.count, 0U);
}

TEST_F(make, tells_since_when_it_was_on_its_way) {
  const instant first = top.now;
  (void)top.frame(opener, 1, 100);
  top.now.us += 300'400;
  (void)top.frame(reverse(opener), 2, 101);
  top.to_next_poll();
  top.settle();
  const event& made = *std::find_if(top.world.events.seen.begin(), top.world.events.seen.end(),
                                    [](const event& e) { return e.kind == event_kind::made; });
  EXPECT_EQ(made.first_seen, first);
  EXPECT_EQ(made.at.since(made.first_seen), from_s(1));
}

TEST_F(make, uses_a_fresh_revision_for_every_use_of_an_index) {
  bench_top<> one{{.connections = 1, .next_hops = 4, .ipv6_connections = false}};
  one.world.firewall.known4.push_back(settled_state(opener));
  u16 last = 0;
  for (int i = 0; i < 3; ++i) {
    one.both(opener, 100);
    one.to_next_poll();
    command c = one.posted();
    while (c.kind != create) {
      one.answer_it();
      c = one.posted();
    }
    EXPECT_GT(c.target.revision, last);
    last = c.target.revision;
    (void)one.frame(opener, 1, 100, true);
    one.answer_it();
    one.settle();
  }
}

}  // namespace
}  // namespace octep::test

#include "sim/firewall.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <octep/derive.hpp>

#include "sim/frame_builder.hpp"

namespace octep::sim {
namespace {

constexpr tcp_flags syn{tcp_flags::syn_bit}, ack{tcp_flags::ack_bit}, syn_ack{tcp_flags::syn_bit | tcp_flags::ack_bit},
    fin{tcp_flags::fin_bit | tcp_flags::ack_bit}, rst{tcp_flags::rst_bit}, no_flags{};

constexpr ingress lan{1, 0}, wan{2, 0};
constexpr address4 inside = ip4(192, 168, 1, 10), public_address = ip4(203, 0, 113, 1), server = ip4(198, 51, 100, 7);

const tuple4 web = make_tuple(protocol::tcp, inside, 40'000, server, 443);
const tuple4 dns = make_tuple(protocol::udp, inside, 40'000, server, 53);
const tuple4 ping = make_echo(inside, server, 77);

source_nat_rule nat(u16 least = nat_port_least, u16 most = nat_port_most) {
  source_nat_rule r;
  r.applies = [](const wide_tuple& t, ingress where) { return t.which == family::ipv4 && where == lan; };
  r.to = widen(public_address);
  r.port_least = least;
  r.port_most = most;
  return r;
}

firewall_options with_nat(u16 least = nat_port_least, u16 most = nat_port_most) {
  firewall_options o;
  o.source_nat.push_back(nat(least, most));
  return o;
}

struct Firewall : ::testing::Test {
  firewall rules;
  instant now{1'000'000};

  firewall_pass send(const wide_tuple& t, const tcp_segment& tcp = {}, ingress where = lan) {
    const firewall_pass p = rules.on_host_frame(t, tcp, where, now);
    std::string why;
    EXPECT_TRUE(rules.consistent(&why)) << why;
    return p;
  }
  // The answer to a frame that left like that.
  firewall_pass reply(const firewall_pass& to, const tcp_segment& tcp = {}) { return send(reverse(to.leaves), tcp, wan); }
  firewall_answer<tuple4> ask(const tuple4& t) { return rules.find(t, now); }
  firewall_pass handshake(const tuple4& t) {
    const firewall_pass out = send(t, syn);
    reply(out, syn_ack);
    return send(t, ack);
  }
};

TEST_F(Firewall, KnowsNothingOfATupleItNeverSaw) { EXPECT_FALSE(ask(web).found); }

TEST_F(Firewall, KeepsAStateOnEachSideOfTheAppliance) {
  const firewall_pass p = send(web, syn);
  EXPECT_TRUE(p.passed);
  EXPECT_TRUE(p.created);
  EXPECT_EQ(p.leaves, wide_tuple{web});
  EXPECT_EQ(rules.size(), 2U);
  const firewall_answer<tuple4> a = ask(web);
  EXPECT_TRUE(a.found);
  EXPECT_NE(a.states[0].value, 0U);
  EXPECT_NE(a.states[1].value, 0U);
  EXPECT_FALSE(a.states[0] == a.states[1]);
}

TEST_F(Firewall, ATcpHandshakeEstablishesBothPeers) {
  const firewall_pass out = send(web, syn);
  EXPECT_EQ(ask(web).opener_peer, peer_state::heard);
  EXPECT_EQ(ask(web).responder_peer, peer_state::silent);
  EXPECT_EQ(ask(web).timer, timer_class::opening);
  EXPECT_EQ(ask(web).remaining, tcp_opening_timer);
  reply(out, syn_ack);
  EXPECT_EQ(ask(web).opener_peer, peer_state::established) << "its SYN is acknowledged";
  EXPECT_EQ(ask(web).responder_peer, peer_state::heard);
  EXPECT_EQ(ask(web).timer, timer_class::opening);
  send(web, ack);
  EXPECT_EQ(ask(web).responder_peer, peer_state::established);
  EXPECT_EQ(ask(web).timer, timer_class::settled);
  EXPECT_EQ(ask(web).remaining, tcp_established_timer);
}

TEST_F(Firewall, ARepeatedSynEstablishesNobody) {
  send(web, syn);
  send(web, syn);
  send(web, ack);
  EXPECT_EQ(ask(web).opener_peer, peer_state::heard);
  EXPECT_EQ(ask(web).responder_peer, peer_state::silent) << "nothing of it was there to acknowledge";
  EXPECT_EQ(ask(web).timer, timer_class::opening);
}

TEST_F(Firewall, FinAndRstClose) {
  const firewall_pass out = handshake(web);
  send(web, fin);
  EXPECT_EQ(ask(web).timer, timer_class::closing);
  EXPECT_EQ(ask(web).remaining, tcp_closing_timer);
  reply(out, fin);
  EXPECT_EQ(ask(web).remaining, tcp_closed_timer);
  send(web, ack);
  EXPECT_EQ(ask(web).timer, timer_class::closing) << "the last acknowledgement opens nothing";

  const tuple4 other = make_tuple(protocol::tcp, inside, 40'001, server, 443);
  handshake(other);
  send(other, rst);
  EXPECT_EQ(ask(other).remaining, tcp_closed_timer);
}

TEST_F(Firewall, ASynOnAClosedConnectionBeginsAnother) {
  handshake(web);
  const array<state_id, 2> before = ask(web).states;
  EXPECT_FALSE(send(web, syn).created) << "not while it lives";
  send(web, rst);
  EXPECT_TRUE(send(web, syn).created);
  EXPECT_FALSE(rules.alive(before, now));
  EXPECT_EQ(ask(web).opener_peer, peer_state::heard);
}

TEST_F(Firewall, PicksUpAConnectionWithoutItsSyn) {
  const firewall_pass out = send(web, ack);
  EXPECT_TRUE(out.created);
  EXPECT_EQ(rules.picked_up(), 1U);
  EXPECT_EQ(ask(web).timer, timer_class::opening);
  send(web, ack);
  EXPECT_EQ(ask(web).opener_peer, peer_state::heard) << "one side alone proves nothing";
  reply(out, ack);
  EXPECT_EQ(ask(web).opener_peer, peer_state::established);
  EXPECT_EQ(ask(web).responder_peer, peer_state::established);
  EXPECT_EQ(ask(web).timer, timer_class::settled);
}

TEST_F(Firewall, OrDropsItWhereThatIsTheRule) {
  rules.rules().picks_up = false;
  EXPECT_EQ(send(web, ack).why, firewall_drop::no_syn);
  EXPECT_EQ(rules.dropped(firewall_drop::no_syn), 1U);
  EXPECT_EQ(rules.size(), 0U);
  EXPECT_TRUE(send(web, syn).passed);
}

TEST_F(Firewall, UdpPeersCountTheirDatagrams) {
  const firewall_pass out = send(dns);
  EXPECT_EQ(ask(dns).opener_peer, peer_state::heard);
  send(dns);
  EXPECT_EQ(ask(dns).opener_peer, peer_state::established);
  EXPECT_EQ(ask(dns).timer, timer_class::opening);
  EXPECT_EQ(ask(dns).remaining, udp_single_timer);
  reply(out);
  EXPECT_EQ(ask(dns).timer, timer_class::opening);
  reply(out);
  EXPECT_EQ(ask(dns).timer, timer_class::settled);
  EXPECT_EQ(ask(dns).remaining, udp_multiple_timer);
}

TEST_F(Firewall, AnEchoHasOneTimer) {
  const firewall_pass out = send(ping);
  EXPECT_EQ(ask(ping).timer, timer_class::settled);
  EXPECT_EQ(ask(ping).remaining, icmp_timer);
  EXPECT_EQ(reply(out).direction, 1);
}

TEST_F(Firewall, AStateIsDeadAtItsExpiryWhetherOrNotAnybodyLooked) {
  send(ping);
  const array<state_id, 2> ids = ask(ping).states;
  now = now + microseconds{icmp_timer.count - 1};
  EXPECT_TRUE(ask(ping).found);
  EXPECT_TRUE(rules.alive(ids, now));
  EXPECT_EQ(ask(ping).age.count, icmp_timer.count - 1);
  EXPECT_EQ(ask(ping).remaining.count, 1U);
  now = now + microseconds{1};
  EXPECT_FALSE(ask(ping).found);
  EXPECT_FALSE(rules.alive(ids, now));
  EXPECT_EQ(rules.size(), 2U);
  rules.expire(now);
  EXPECT_EQ(rules.size(), 0U);
}

TEST_F(Firewall, AFrameRefreshesAndAShorterTimerShortens) {
  send(dns);
  now = now + from_s(20);
  send(dns);
  now = now + from_s(20);
  EXPECT_TRUE(ask(dns).found);
  handshake(web);
  now = now + tcp_opening_timer;
  rules.expire(now);
  send(web, rst);
  now = now + tcp_closed_timer;
  rules.expire(now);
  EXPECT_EQ(rules.size(), 0U);
}

TEST_F(Firewall, SourceNatTranslatesOneWayAndBack) {
  rules = firewall{with_nat()};
  const firewall_pass out = send(web, syn);
  const auto leaves = out.leaves.as<tuple4>();
  EXPECT_EQ(leaves.source, public_address);
  EXPECT_GE(leaves.source_port(), nat_port_least);
  EXPECT_EQ(leaves.destination, server);
  EXPECT_EQ(leaves.destination_port(), 443);
  const firewall_pass back = reply(out, syn_ack);
  EXPECT_TRUE(back.passed);
  EXPECT_EQ(back.direction, 1);
  EXPECT_EQ(back.leaves, wide_tuple{octep::reverse(web)});
  EXPECT_EQ(send(web, ack).leaves, out.leaves);

  const firewall_answer<tuple4> a = ask(web);
  EXPECT_EQ(a.opener, (endpoint<tuple4>{inside, port_word(40'000)}));
  EXPECT_EQ(a.responder_seen, (endpoint<tuple4>{server, port_word(443)}));
  EXPECT_EQ(a.opener_translated, (endpoint<tuple4>{public_address, leaves.source_word()}));
  EXPECT_EQ(a.responder, a.responder_seen);
}

TEST_F(Firewall, AnEchosIdIsTranslatedAndItsWordsStay) {
  rules = firewall{with_nat()};
  const firewall_pass out = send(ping);
  const auto leaves = out.leaves.as<tuple4>();
  EXPECT_EQ(leaves.destination_word(), ping.destination_word()) << "the type";
  EXPECT_NE(leaves.source_word(), ping.source_word()) << "the id, from the range of ports";
  const firewall_pass back = reply(out);
  ASSERT_TRUE(back.passed);
  EXPECT_EQ(back.leaves, wide_tuple{octep::reverse(ping)});
  const firewall_answer<tuple4> a = ask(ping);
  EXPECT_EQ(a.opener.word, ping.source_word());
  EXPECT_EQ(a.opener_translated.word, leaves.source_word());
  EXPECT_EQ(a.responder.word, ping.destination_word());
}

TEST_F(Firewall, NatNeverGivesOnePortToTwo) {
  rules = firewall{with_nat(1'000, 1'009)};
  std::vector<u16> ports;
  for (u16 i = 0; i < 10; ++i) {
    const firewall_pass p = send(make_tuple(protocol::udp, inside, static_cast<u16>(2'000 + i), server, 53));
    ASSERT_TRUE(p.passed);
    ports.push_back(p.leaves.as<tuple4>().source_port());
  }
  std::sort(ports.begin(), ports.end());
  EXPECT_EQ(ports.front(), 1'000);
  EXPECT_EQ(std::unique(ports.begin(), ports.end()), ports.end());
  EXPECT_EQ(send(make_tuple(protocol::udp, inside, 3'000, server, 53)).why, firewall_drop::nat_full);
  EXPECT_TRUE(send(make_tuple(protocol::udp, inside, 3'000, server, 54)).passed) << "another server, the same ports";
  now = now + udp_single_timer;
  EXPECT_TRUE(send(make_tuple(protocol::udp, inside, 3'000, server, 53)).passed);
}

TEST_F(Firewall, AStaticPortStaysOrTheConnectionIsDropped) {
  firewall_options o = with_nat();
  o.source_nat[0].static_port = true;
  rules = firewall{o};
  EXPECT_EQ(send(dns).leaves.as<tuple4>().source_port(), 40'000);
  const tuple4 neighbour = make_tuple(protocol::udp, ip4(192, 168, 1, 11), 40'000, server, 53);
  EXPECT_EQ(send(neighbour).why, firewall_drop::collides);
  EXPECT_EQ(rules.size(), 2U);
}

TEST_F(Firewall, DestinationNatIsUndoneOnTheWayBack) {
  firewall_options o;
  destination_nat_rule r;
  r.applies = [](const wide_tuple& t, ingress) { return t.destination == widen(public_address); };
  r.to = widen(inside);
  r.port = u16{8'080};
  o.destination_nat.push_back(r);
  rules = firewall{o};
  const tuple4 visitor = make_tuple(protocol::tcp, server, 50'000, public_address, 80);
  const firewall_pass out = send(visitor, syn, wan);
  EXPECT_EQ(out.leaves, (wide_tuple{make_tuple(protocol::tcp, server, 50'000, inside, 8'080)}));
  const firewall_pass back = send(reverse(out.leaves), syn_ack, lan);
  EXPECT_EQ(back.leaves, wide_tuple{octep::reverse(visitor)});
  const firewall_answer<tuple4> a = ask(visitor);
  EXPECT_EQ(a.responder_seen, (endpoint<tuple4>{public_address, port_word(80)}));
  EXPECT_EQ(a.responder, (endpoint<tuple4>{inside, port_word(8'080)}));

  const tuple4 knock = make_echo(server, public_address, 5);
  EXPECT_EQ(send(knock, no_flags, wan).leaves, wide_tuple{make_echo(server, inside, 5)}) << "an echo has no port to set";

  const tuple4 direct = make_tuple(protocol::tcp, server, 50'000, inside, 8'080);
  EXPECT_EQ(send(direct, syn, wan).why, firewall_drop::collides) << "it would leave like the visitor";
}

TEST_F(Firewall, ABlockedFrameLeavesNoState) {
  rules.rules().passes = [](const wide_tuple& t, ingress) { return t.proto != protocol::udp; };
  EXPECT_EQ(send(dns).why, firewall_drop::blocked);
  EXPECT_EQ(rules.size(), 0U);
  EXPECT_TRUE(send(ping).passed);
}

TEST_F(Firewall, VerdictAndOwnRoutesAreTheRulesAtTheTimeOfTheState) {
  rules.rules().verdict = [](const wide_tuple& t, ingress) {
    return t.proto == protocol::udp ? reason::flow_shaped : reason::none;
  };
  rules.rules().own_routes = [](const wide_tuple&, ingress) { return array<own_route, 2>{own_route{1}, own_route{2}}; };
  send(dns);
  send(ping);
  rules.rules().verdict = nullptr;
  rules.rules().own_routes = nullptr;
  EXPECT_EQ(ask(dns).verdict, reason::flow_shaped);
  EXPECT_EQ(ask(ping).verdict, reason::none);
  EXPECT_EQ(ask(dns).route[1], own_route{2});
}

TEST_F(Firewall, RelaxTouchesTheseStatesOnly) {
  send(dns);
  send(ping);
  const array<state_id, 2> ids = ask(dns).states;
  rules.relax({ids[0], state_id{999}}, now);
  for (const firewall_state& s : rules.states()) EXPECT_EQ(s.relaxed, s.id == ids[0]);
}

TEST_F(Firewall, AKilledStateIsNotAliveAndItsConnectionHasOneLess) {
  rules = firewall{with_nat()};
  const firewall_pass out = send(dns);
  const array<state_id, 2> ids = ask(dns).states;
  EXPECT_TRUE(rules.alive({ids[0], state_id{}}, now)) << "no state is no dead state";
  ASSERT_TRUE(rules.kill(ids[1]));
  EXPECT_FALSE(rules.kill(ids[1]));
  EXPECT_FALSE(rules.alive(ids, now));
  EXPECT_EQ(ask(dns).states, (array<state_id, 2>{ids[0], state_id{}}));
  EXPECT_FALSE(ask(octep::reverse(out.leaves.as<tuple4>())).found);
  const firewall_pass again = send(dns);
  EXPECT_FALSE(again.created) << "the opener's side lived on";
  EXPECT_TRUE(ask(dns).found);
  EXPECT_EQ(ask(dns).states[0], ids[0]);
  EXPECT_NE(ask(dns).states[1].value, 0U);
}

TEST_F(Firewall, WithoutTheOpenersSideAnswersAreDroppedUntilItSpeaks) {
  const firewall_pass out = send(dns);
  const array<state_id, 2> ids = ask(dns).states;
  ASSERT_TRUE(rules.kill(ids[0]));
  EXPECT_EQ(reply(out).why, firewall_drop::other_side_gone);
  EXPECT_TRUE(send(dns).passed);
  EXPECT_EQ(ask(dns).states[1], ids[1]) << "the responder's side is found by its stack key";
  EXPECT_TRUE(reply(out).passed);
}

TEST_F(Firewall, AFlushLeavesNothing) {
  send(dns);
  send(web, syn);
  rules.flush();
  EXPECT_EQ(rules.size(), 0U);
  EXPECT_FALSE(ask(dns).found);
  EXPECT_TRUE(send(dns).created);
}

TEST_F(Firewall, ATupleThatIsItsOwnReverseIsRefused) {
  const tuple4 self = make_tuple(protocol::udp, inside, 7, inside, 7);
  EXPECT_EQ(send(self).why, firewall_drop::collides);
  EXPECT_EQ(rules.size(), 0U);
}

TEST_F(Firewall, AReloadKeepsStatesAndAsksTheRulesAgain) {
  send(dns);
  handshake(web);
  const firewall_answer<tuple4> before = ask(web);
  const u64 changes = rules.changes();
  rules.rules().verdict = [](const wide_tuple& t, ingress where) {
    return t == wide_tuple{web} && where == lan ? reason::flow_shaped : reason::none;
  };
  rules.rules().own_routes = [](const wide_tuple&, ingress) { return array<own_route, 2>{own_route{1}, own_route{2}}; };
  EXPECT_EQ(ask(web).verdict, reason::none) << "rules alone change nothing";
  rules.reload();
  EXPECT_GT(rules.changes(), changes);
  const firewall_answer<tuple4> after = ask(web);
  EXPECT_EQ(after.states, before.states);
  EXPECT_EQ(after.timer, before.timer);
  EXPECT_EQ(after.verdict, reason::flow_shaped);
  EXPECT_EQ(after.route[1], own_route{2});
  EXPECT_EQ(ask(octep::reverse(web)).verdict, reason::flow_shaped) << "from both ends";
  EXPECT_EQ(ask(dns).verdict, reason::none);
  rules.rules().verdict = nullptr;
  rules.rules().passes = [](const wide_tuple&, ingress) { return false; };
  rules.reload();
  EXPECT_EQ(ask(web).verdict, reason::none);
  EXPECT_TRUE(send(web, ack).passed) << "what would be blocked now lives on";
}

TEST_F(Firewall, EveryEndByHandIsAChange) {
  send(dns);
  const u64 at_first = rules.changes();
  EXPECT_FALSE(rules.kill({999}));
  EXPECT_EQ(rules.changes(), at_first);
  ASSERT_TRUE(rules.kill(ask(dns).states[0]));
  const u64 after_kill = rules.changes();
  EXPECT_GT(after_kill, at_first);
  rules.flush();
  EXPECT_GT(rules.changes(), after_kill);
}

// --- windows ----------------------------------------------------------------------------------------------
// A download: the opener asks with 100 bytes and acknowledges, the responder sends segments of 1,000. Windows of 20,000.

constexpr u32 segment = 1'000, room = 20'000;

struct Windows : Firewall {
  u32 asked, sent, acknowledged;  // the next numbers of opener and responder, and what the opener acknowledged
  firewall_pass out;

  explicit Windows(u32 opener = 5'000, u32 responder = 0xffff'f000)  // around the wrap
      : asked{opener}, sent{responder}, acknowledged{responder} {}

  void SetUp() override {
    out = send(web, {.flags = syn, .has_numbers = true, .sequence = asked++, .window = room});
    EXPECT_TRUE(reply(out, {.flags = syn_ack, .has_numbers = true, .sequence = sent++, .acknowledgement = asked, .window = room}).passed);
    EXPECT_TRUE(asks(0).passed);
    EXPECT_TRUE(asks(100).passed);
  }
  firewall_pass asks(u32 length) {
    acknowledged = sent;
    const firewall_pass p = send(web, {.flags = ack, .has_numbers = true, .sequence = asked, .length = length,
                                       .acknowledgement = acknowledged, .window = room});
    asked += length;
    return p;
  }
  firewall_pass answers(u32 at) {
    return reply(out, {.flags = ack, .has_numbers = true, .sequence = at, .length = segment, .acknowledgement = asked,
                       .window = room});
  }
  firewall_pass answers() {
    sent += segment;
    return answers(sent - segment);
  }
  [[nodiscard]] u64 mismatches() const { return rules.dropped(firewall_drop::state_mismatch); }
};

TEST_F(Windows, ADownloadThatTheHostSeesPasses) {
  for (int i = 0; i < 200; ++i) {
    for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(answers().passed);
    ASSERT_TRUE(asks(i % 2 == 0 ? 0 : 100).passed);
  }
  EXPECT_EQ(mismatches(), 0U);
}

TEST_F(Windows, NothingPassesThatTheReceiverMadeNoRoomFor) {
  for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(answers().passed);
  const firewall_pass p = answers(sent);
  EXPECT_FALSE(p.passed);
  EXPECT_EQ(p.why, firewall_drop::state_mismatch);
  EXPECT_EQ(mismatches(), 1U);
  ASSERT_TRUE(asks(0).passed);
  EXPECT_TRUE(answers().passed);
}

TEST_F(Windows, ARepetitionPassesWithinAWindowAndNoFurther) {
  for (int i = 0; i < 5; ++i) {
    for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(answers().passed);
    ASSERT_TRUE(asks(0).passed);
  }
  EXPECT_TRUE(answers(sent - room).passed);
  EXPECT_FALSE(answers(sent - room - 1).passed);
}

TEST_F(Windows, AnAcknowledgementOfWhatNobodySentIsDropped) {
  sent += acknowledgement_skew;
  EXPECT_TRUE(asks(0).passed);
  sent += 1;
  EXPECT_FALSE(asks(0).passed);
  EXPECT_EQ(mismatches(), 1U);
}

TEST_F(Windows, AnAcknowledgementFromLongAgoIsDropped) {
  for (int i = 0; i < 5; ++i) {
    for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(answers().passed);
    ASSERT_TRUE(asks(0).passed);
  }
  const auto acknowledges = [&](u32 upto) {
    return send(web, {.flags = ack, .has_numbers = true, .sequence = asked, .acknowledgement = upto, .window = room});
  };
  EXPECT_TRUE(acknowledges(sent - room - acknowledgement_skew).passed);
  EXPECT_FALSE(acknowledges(sent - room - acknowledgement_skew - 1).passed);
}

TEST_F(Windows, AWindowThatClosesTakesNothingBack) {
  for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(answers().passed);
  ASSERT_TRUE(send(web, {.flags = ack, .has_numbers = true, .sequence = asked, .acknowledgement = sent, .window = 0}).passed);
  EXPECT_TRUE(answers(sent - room).passed) << "a repetition of what was on its way";
  EXPECT_FALSE(answers().passed) << "but nothing new";
}

TEST_F(Windows, OnlyAnAcknowledgementMakesRoom) {
  for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(answers().passed);
  ASSERT_TRUE(send(web, {.has_numbers = true, .sequence = asked, .acknowledgement = sent, .window = room}).passed);
  EXPECT_FALSE(answers().passed);
}

// What happens to a connection in hardware: the firewall sees none of its frames, then all of them again.
TEST_F(Windows, AfterTrafficItDidNotSeeAStrictStateDropsAndARelaxedOneDoesNot) {
  const array<state_id, 2> ids = ask(web).states;
  sent += 1'000'000;
  EXPECT_FALSE(answers().passed);
  EXPECT_FALSE(asks(0).passed);
  EXPECT_EQ(mismatches(), 2U);
  rules.relax({ids[0], state_id{}}, now);
  EXPECT_FALSE(answers().passed) << "the state of the other side is strict still";
  rules.relax(ids, now);
  EXPECT_TRUE(answers().passed);
  EXPECT_TRUE(asks(0).passed);
}

TEST_F(Windows, ARelaxedStateLearnsNothingUntilItIsToldTo) {
  const array<state_id, 2> ids = ask(web).states;
  rules.relax(ids, now);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(answers().passed);
    ASSERT_TRUE(asks(0).passed);
  }
  for (const firewall_state& s : rules.states()) EXPECT_EQ(s.windows[1].end, 0xffff'f001U);
  sent += 1'000'000;
  rules.relearn(ids, now);
  for (const firewall_state& s : rules.states()) EXPECT_FALSE(s.relaxed);
  for (int i = 0; i < 50; ++i) {
    for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(answers().passed);
    ASSERT_TRUE(asks(0).passed);
  }
  sent += 1'000'000;
  EXPECT_FALSE(answers().passed) << "strict again";
}

TEST_F(Windows, ADroppedSegmentRefreshesNothing) {
  const microseconds remaining = ask(web).remaining;
  now = now + from_s(10);
  sent += 1'000'000;
  EXPECT_FALSE(answers().passed);
  EXPECT_EQ(ask(web).remaining.count, remaining.count - from_s(10).count);
}

TEST_F(Windows, SegmentsWithoutNumbersPass) {
  sent += 1'000'000;
  EXPECT_TRUE(send(web, ack).passed);
  EXPECT_TRUE(reply(out, ack).passed);
  EXPECT_FALSE(answers().passed) << "and teach nothing";
}

TEST_F(Windows, AConnectionPickedUpInTheMiddleIsLearnt) {
  rules.flush();
  for (int i = 0; i < 50; ++i) {
    for (u32 n = 0; n < room / segment; ++n) ASSERT_TRUE(i == 0 ? (sent += segment, true) : answers().passed);
    ASSERT_TRUE(asks(0).passed);
  }
  EXPECT_EQ(rules.picked_up(), 1U);
  EXPECT_EQ(mismatches(), 0U);
}

// --- any sequence -----------------------------------------------------------------------------------------
// The model: a list of connections, each with the opener's tuple as it arrives and as it leaves, and when it was last used.

struct known {
  wide_tuple arrives, leaves;
  u32 frames[2] = {0, 0};
};

template <tuple_type Tuple>
void check_answers(firewall& rules, const known& k, instant now) {
  const Tuple forward = k.arrives.as<Tuple>(), back = reverse(k.leaves).template as<Tuple>();
  const firewall_answer<Tuple> a = rules.find(forward, now), b = rules.find(back, now);
  RC_ASSERT(a.found && b.found);
  RC_ASSERT(a.states == b.states);
  RC_ASSERT(a.proto == forward.proto);
  RC_ASSERT(a.opener == b.opener && a.responder_seen == b.responder_seen);
  RC_ASSERT(a.opener_translated == b.opener_translated && a.responder == b.responder);
  const tuple_pair<Tuple> pair = derive(a);
  RC_ASSERT(direction_of(pair, forward) == 0);
  RC_ASSERT(direction_of(pair, back) == 1);
  RC_ASSERT(translates(pair) == !(k.arrives == k.leaves));
  const rewrite out = rewrite_of(pair, 0), home = rewrite_of(pair, 1);
  RC_ASSERT(out.source == k.leaves.source && out.destination == k.leaves.destination && out.ports == k.leaves.ports);
  const wide_tuple delivered = reverse(k.arrives);
  RC_ASSERT(home.source == delivered.source && home.destination == delivered.destination && home.ports == delivered.ports);
  if (forward.proto == protocol::udp) {
    const auto peer = [](u32 frames) {
      return frames == 0 ? peer_state::silent : frames == 1 ? peer_state::heard : peer_state::established;
    };
    RC_ASSERT(a.opener_peer == peer(k.frames[0]) && a.responder_peer == peer(k.frames[1]));
  }
}

wide_tuple some_opener(u32 n) {
  const auto port = static_cast<u16>(1'000 + n / 16 % 3);
  const bool six = n % 4 == 0;
  const protocol proto = n / 4 % 3 == 0 ? protocol::udp : n / 4 % 3 == 1 ? protocol::tcp
                         : six          ? protocol::icmp6
                                        : protocol::icmp;
  const u16 to = is_echo(proto) ? (six ? 128 : 8) : 53;
  if (six) {
    const auto host = [](u16 h) { return ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, h}); };
    return make_tuple(proto, host(10), port, n % 8 == 0 ? host(7) : host(1), to);
  }
  const address4 from = n % 4 == 1 ? inside : ip4(192, 168, 1, 11);
  return make_tuple(proto, from, port, n % 32 < 16 ? server : public_address, to);
}

RC_GTEST_PROP(FirewallProperty, BothIngressTuplesNameTheSameConnection, ()) {
  const auto steps = *rc::gen::scale(3.0, rc::gen::arbitrary<std::vector<std::tuple<u8, u8, u8>>>());
  firewall_options o = with_nat(1'000, 1'003);
  o.seed = *rc::gen::arbitrary<u64>();
  o.source_nat[0].applies = [](const wide_tuple& t, ingress) { return t.which == family::ipv6 || t.source == widen(inside); };
  o.source_nat.push_back(nat(2'000, 2'000));  // the neighbour's: one port for everything
  destination_nat_rule forwarded;
  forwarded.applies = [](const wide_tuple& t, ingress) {
    return t.destination == widen(public_address) || t.destination == ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1});
  };
  forwarded.to = widen(ip4(192, 168, 1, 99));
  o.destination_nat.push_back(forwarded);
  firewall rules{o};
  std::vector<known> model;
  instant now{1'000'000};

  const auto find_known = [&](const wide_tuple& arrives) {
    return std::find_if(model.begin(), model.end(), [&](const known& k) { return k.arrives == arrives; });
  };
  for (const auto& [what, which, wait] : steps) {
    if (what % 16 == 0) {
      now = now + from_s(wait);
      rules.expire(now);
      // Who is over is the timers' to say, tested above; both states of a connection end together.
      std::erase_if(model, [&](const known& k) {
        const auto living = rules.states();
        return std::none_of(living.begin(), living.end(), [&](const firewall_state& s) { return s.wire == k.arrives; });
      });
      RC_ASSERT(rules.size() == 2 * model.size());
    } else if (what % 16 == 1) {
      rules.flush();
      model.clear();
    } else if (what % 2 == 0 || model.empty()) {
      const wide_tuple opener = some_opener(which);
      const tcp_flags flags{wait % 3 == 0 ? tcp_flags::syn_bit : tcp_flags::ack_bit};
      const firewall_pass p = rules.on_host_frame(opener, flags, lan, now);
      const auto it = find_known(opener);
      if (it != model.end()) {
        RC_ASSERT(p.passed && !p.created && p.direction == 0);
        RC_ASSERT(p.leaves == it->leaves);
        ++it->frames[0];
      } else if (p.passed) {
        RC_ASSERT(p.created);
        for (const known& k : model) RC_ASSERT(!(k.leaves == p.leaves));
        model.push_back({opener, p.leaves, {1, 0}});
      } else {
        RC_ASSERT(p.why == firewall_drop::nat_full || p.why == firewall_drop::collides);
      }
    } else {
      known& k = model[which % model.size()];
      const firewall_pass p = rules.on_host_frame(reverse(k.leaves), ack, wan, now);
      RC_ASSERT(p.passed && p.direction == 1);
      RC_ASSERT(p.leaves == reverse(k.arrives));
      ++k.frames[1];
    }
    std::string why;
    if (!rules.consistent(&why)) RC_FAIL(why);
    for (const known& k : model) {
      if (k.arrives.which == family::ipv4) {
        check_answers<tuple4>(rules, k, now);
      } else {
        check_answers<tuple6>(rules, k, now);
      }
    }
  }
  RC_CLASSIFY(model.size() > 3, "many at the end");
}

}  // namespace
}  // namespace octep::sim

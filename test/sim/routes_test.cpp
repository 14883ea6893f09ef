#include "sim/routes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

#include "sim/frame_builder.hpp"

namespace octep::sim {
namespace {

constexpr link_address mac_a{2, 0, 0, 0, 0, 0xa}, mac_b{2, 0, 0, 0, 0, 0xb}, own{2, 0, 0, 0, 0, 1};

prefix net4(u8 a, u8 b, u8 c, u8 d, u32 length) { return {family::ipv4, widen(ip4(a, b, c, d)), length}; }
address6 host4(u8 a, u8 b, u8 c, u8 d) { return widen(ip4(a, b, c, d)); }

way_out front(u16 port, u16 vlan = 0) { return {way_kind::front, {port}, vlan, ethernet_mtu, own}; }

next_hop_question<tuple4> to(address4 destination, ingress other = {2, 0}, own_route route = {}) {
  return {destination, ip4(192, 0, 2, 1), route, {1, 0}, other};
}

struct Routes : ::testing::Test {
  routes table;
  const address4 there = ip4(198, 51, 100, 7);
  void SetUp() override { table.resolve_neighbour(family::ipv4, widen(there), mac_a); }
};

TEST_F(Routes, KnowNothingAtFirst) { EXPECT_EQ(table.resolve(to(there)).why, reason::flow_nonhop_no_route); }

TEST_F(Routes, AnswerWithPortVlanMtuAndBothAddresses) {
  table.add(net4(0, 0, 0, 0, 0), front(3, 7));
  const next_hop_answer a = table.resolve(to(there));
  EXPECT_EQ(a.why, reason::none);
  EXPECT_EQ(a.hop, (next_hop{3, 7, ethernet_mtu, own, mac_a}));
}

TEST_F(Routes, TheLongestPrefixWins) {
  table.add(net4(198, 51, 100, 7, 32), front(5));
  table.add(net4(0, 0, 0, 0, 0), front(3));
  table.add(net4(198, 51, 100, 0, 24), front(4));
  EXPECT_EQ(table.resolve(to(there)).hop.port, 5);
  EXPECT_TRUE(table.remove(net4(198, 51, 100, 7, 32)));
  EXPECT_EQ(table.resolve(to(there)).hop.port, 4);
  EXPECT_TRUE(table.remove(net4(198, 51, 100, 0, 24)));
  EXPECT_EQ(table.resolve(to(there)).hop.port, 3);
  EXPECT_FALSE(table.remove(net4(198, 51, 100, 0, 24)));
}

TEST_F(Routes, TheSamePrefixAgainReplaces) {
  table.add(net4(198, 51, 100, 0, 24), front(4));
  table.add(net4(198, 51, 100, 99, 24), front(5));
  EXPECT_EQ(table.resolve(to(there)).hop.port, 5);
}

TEST_F(Routes, KnowWhetherOneLeadsIntoATunnel) {
  way_out tunnel = front(4);
  tunnel.tunnel = 1;
  table.add(net4(0, 0, 0, 0, 0), front(3));
  EXPECT_FALSE(table.into_tunnels());
  table.add(net4(198, 51, 100, 0, 24), tunnel);
  EXPECT_TRUE(table.into_tunnels());
  table.add(net4(203, 0, 113, 0, 24), tunnel);
  EXPECT_TRUE(table.remove(net4(198, 51, 100, 0, 24)));
  EXPECT_TRUE(table.into_tunnels());
  table.add(net4(203, 0, 113, 0, 24), front(4));
  EXPECT_FALSE(table.into_tunnels()) << "the same prefix again replaces";
}

TEST_F(Routes, ThroughAGatewayItsAddressCounts) {
  table.add(net4(0, 0, 0, 0, 0), front(3), {true, host4(192, 0, 2, 254)});
  EXPECT_EQ(table.resolve(to(there)).why, reason::flow_nonhop_unresolved);
  table.resolve_neighbour(family::ipv4, host4(192, 0, 2, 254), mac_b);
  EXPECT_EQ(table.resolve(to(there)).hop.destination_mac, mac_b);
}

TEST_F(Routes, EachRefusalHasItsOwnReason) {
  const auto why = [&](way_out way) {
    table.add(net4(0, 0, 0, 0, 0), way);
    return table.resolve(to(there)).why;
  };
  EXPECT_EQ(why({way_kind::rejected, {}, 0, ethernet_mtu, own}), reason::flow_nonhop_rejected);
  EXPECT_EQ(why({way_kind::local, {}, 0, ethernet_mtu, own}), reason::flow_nonhop_local);
  EXPECT_EQ(why({way_kind::not_front, {}, 0, ethernet_mtu, own}), reason::flow_nonhop_not_front);
  EXPECT_EQ(why({way_kind::front, {3}, 0, least_mtu - 1, own}), reason::flow_nonhop_mtu);
  EXPECT_EQ(why({way_kind::front, {3}, 0, least_mtu, own}), reason::none);
  table.forget_neighbour(family::ipv4, widen(there));
  EXPECT_EQ(why({way_kind::front, {3}, 0, least_mtu, own}), reason::flow_nonhop_unresolved);
}

TEST_F(Routes, ABridgeIsWhereTheOtherDirectionArrives) {
  table.add(net4(0, 0, 0, 0, 0), {way_kind::bridge, {}, 99, ethernet_mtu, own});
  EXPECT_EQ(table.resolve(to(there, {4, 12})).hop, (next_hop{4, 12, ethernet_mtu, own, mac_a}));
  EXPECT_EQ(table.resolve(to(there, {6, 0})).hop.port, 6) << "a host that moved";
}

TEST_F(Routes, ALaggAnswersWithTheMemberWhereTheOtherDirectionArrives) {
  table.add(net4(0, 0, 0, 0, 0), {way_kind::lagg, {5, 6}, 0, ethernet_mtu, own});
  EXPECT_EQ(table.resolve(to(there, {6, 0})).hop.port, 6);
  EXPECT_EQ(table.resolve(to(there, {2, 0})).hop.port, 5) << "another WAN's answers";
}

TEST_F(Routes, AStatesOwnRouteComesBeforeTheTable) {
  table.add(net4(0, 0, 0, 0, 0), front(3));
  EXPECT_EQ(table.resolve(to(there, {2, 0}, {1})).why, reason::flow_nonhop_no_route) << "and is not replaced by it";
  table.add_own({1}, front(8), {true, host4(203, 0, 113, 1)});
  table.resolve_neighbour(family::ipv4, host4(203, 0, 113, 1), mac_b);
  EXPECT_EQ(table.resolve(to(there, {2, 0}, {1})).hop.port, 8);
  EXPECT_EQ(table.resolve(to(there)).hop.port, 3);
  EXPECT_TRUE(table.remove_own({1}));
  EXPECT_FALSE(table.remove_own({1}));
}

TEST_F(Routes, ANeighbourMayChangeItsAddressAndThatIsAChange) {
  table.add(net4(0, 0, 0, 0, 0), front(3));
  const u64 before = table.changes();
  table.resolve_neighbour(family::ipv4, widen(there), mac_b);
  EXPECT_EQ(table.resolve(to(there)).hop.destination_mac, mac_b);
  EXPECT_GT(table.changes(), before);
}

TEST_F(Routes, TheFamiliesDoNotMix) {
  table.add({family::ipv6, {}, 0}, front(3));
  EXPECT_EQ(table.resolve(to(there)).why, reason::flow_nonhop_no_route);
  const address6 there6 = ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 7});
  next_hop_question<tuple6> q;
  q.destination = there6;
  EXPECT_EQ(table.resolve(q).why, reason::flow_nonhop_unresolved);
  table.resolve_neighbour(family::ipv6, there6, mac_b);
  EXPECT_EQ(table.resolve(q).hop.destination_mac, mac_b);
}

TEST(RoutesEverywhere, AnswerEveryQuestionTheSameWayEachTime) {
  const routes a = routes::everywhere(), b = routes::everywhere();
  const next_hop_answer first = a.resolve(to(ip4(8, 8, 8, 8)));
  EXPECT_EQ(first.why, reason::none);
  EXPECT_EQ(first.hop, b.resolve(to(ip4(8, 8, 8, 8))).hop);
  EXPECT_NE(first.hop.destination_mac, a.resolve(to(ip4(8, 8, 8, 9))).hop.destination_mac);
  EXPECT_EQ(first.hop.destination_mac[0] & 3, 2) << "locally administered, no group";
}

TEST(RoutesEverywhere, NeighboursAreWhereSomebodySaysTheyAre) {
  routes r = routes::everywhere();
  r.resolve_neighbour(family::ipv4, host4(8, 8, 8, 8), mac_b);
  r.resolve_by([](family which, const address6&) { return which == family::ipv4 ? mac_a : own; });
  EXPECT_EQ(r.resolve(to(ip4(8, 8, 8, 9))).hop.destination_mac, mac_a);
  EXPECT_EQ(r.resolve(to(ip4(8, 8, 8, 8))).hop.destination_mac, mac_b) << "who was named";
}

// Against the longest of all routes whose leading bits are the destination's, compared as host-order numbers.
RC_GTEST_PROP(RoutesProperty, LongestPrefixOfAnyTable, (const std::vector<std::tuple<u32, u8>>& made, u32 sought)) {
  const auto wire = [](u32 host_order) {
    return ip4(static_cast<u8>(host_order >> 24), static_cast<u8>(host_order >> 16), static_cast<u8>(host_order >> 8),
               static_cast<u8>(host_order));
  };
  const auto mask = [](u32 length) { return length == 0 ? 0U : ~u32{0} << (32 - length); };
  routes table;
  table.resolve_all(true);
  std::vector<std::tuple<u32, u32, u16>> model;  // network, length, port
  for (usize i = 0; i < made.size(); ++i) {
    const u32 length = std::get<1>(made[i]) % 33U;
    // Near the sought address, so that most of them cover it.
    const u32 network = (sought ^ (std::get<0>(made[i]) & 0xffU)) & mask(length);
    const u16 port = static_cast<u16>(i + 1);
    table.add({family::ipv4, widen(wire(network)), length}, front(port));
    std::erase_if(model, [&](const auto& r) { return std::get<0>(r) == network && std::get<1>(r) == length; });
    model.emplace_back(network, length, port);
  }
  std::optional<std::tuple<u32, u32, u16>> best;
  for (const auto& r : model)
    if ((sought & mask(std::get<1>(r))) == std::get<0>(r) && (!best || std::get<1>(r) > std::get<1>(*best))) best = r;
  const next_hop_answer a = table.resolve(to(wire(sought)));
  RC_ASSERT((a.why == reason::none) == best.has_value());
  if (best) RC_ASSERT(a.hop.port == std::get<2>(*best));
}

}  // namespace
}  // namespace octep::sim

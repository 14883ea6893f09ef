#include "tools/seen_neighbours.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/tools/tcp_packet.hpp"
#include "tools/replay.hpp"

namespace octep::tools {
namespace {

address6 host(u32 n) { return {n, 0, 0, 0}; }

TEST(SeenNeighbours, AreBehindTheAddressThatTheyWereSeenBehind) {
  seen_neighbours n;
  n.learn(family::ipv4, host(1), 0x0200'0000'000a);
  n.learn(family::ipv4, host(2), 0x0200'0000'000b);
  n.learn(family::ipv6, host(1), 0x0200'0000'000c);
  EXPECT_EQ(n.of(family::ipv4, host(1)), (sim::link_address{2, 0, 0, 0, 0, 0xa}));
  EXPECT_EQ(n.of(family::ipv4, host(2)), (sim::link_address{2, 0, 0, 0, 0, 0xb}));
  n.learn(family::ipv4, host(1), 0x0200'0000'000d);
  EXPECT_EQ(n.of(family::ipv4, host(1)), (sim::link_address{2, 0, 0, 0, 0, 0xd})) << "it moved";
  EXPECT_EQ(n.of(family::ipv4, host(3)), (sim::link_address{2, 0, 0, 0, 0, 0xd})) << "nobody's: behind who spoke last";
}

TEST(SeenNeighbours, OfMillionsTheLastAreKnown) {
  seen_neighbours n;
  for (u32 i = 0; i < 1'000'000; ++i) n.learn(family::ipv4, host(i), i);
  u32 known = 0;
  for (u32 i = 999'000; i < 1'000'000; ++i) known += n.of(family::ipv4, host(i))[5] == static_cast<u8>(i) ? 1 : 0;
  EXPECT_GT(known, 990U);
}

// 600 servers behind one router are one next hop, of which a device has a few hundred.
TEST(SeenNeighbours, ServersBehindOneRouterAreOneNextHop) {
  bytes all = pcap_header();
  u32 ms = 0;
  const auto add = [&](const tcp_packet& p) {
    append(all, pcap_record(ms / 1'000, ms % 1'000 * 1'000, p.frame()));
    ++ms;
  };
  for (u32 round = 0; round < 60; ++round)
    for (u32 server = 0; server < 600; ++server) {
      tcp_packet p{.to = 0xc612'0000 + server};  // 198.18.0.0/15 is for tests of devices
      if (round < 2) p.flags = syn | (round == 1 ? ack : 0), p.acknowledgement = round;
      else p.sequence = p.acknowledgement = 2;
      add(round % 2 == 0 ? p : p.answered());
    }
  const temporary_file file{all};
  const auto report = nlohmann::json::parse(replay_command({"--json", file.path()}).out);
  EXPECT_EQ(report["connections"]["seen"], 600) << report["connections"]["refused"].dump();
  EXPECT_EQ(report["connections"]["made"], 600) << report["connections"]["refused"].dump();
  EXPECT_EQ(report["connections"]["refused"]["nhop_full"], 0);
}

}  // namespace
}  // namespace octep::tools

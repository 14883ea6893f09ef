#include "sim/tcp_flags.hpp"
#include "tools/link_type.hpp"

#include <gtest/gtest.h>
#include <pcap/pcap.h>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

struct seen {
  frame_facts facts;
  u8 flags = 0;
  std::optional<u64> source;
};

seen look(const bytes& b, link_type link) {
  const captured_frame frame{{b.data(), static_cast<u32>(b.size()), static_cast<u32>(b.size())}, {}, link};
  seen s;
  classify(frame, s.facts);
  s.flags = sim::tcp_segment_of(frame.view, s.facts).flags.bits;
  s.source = link_source(frame);
  return s;
}

const bytes inner4 = ipv4(6, opener, responder, tcp(40'000, 443, syn));
const bytes inner6 = ipv6(6, 1, 2, tcp(40'000, 443, syn | ack));
const bytes hardware_address{0, 0, 0x5e, 0, 0x53, 7, 0, 0};

bytes cooked1(u8 packet_type, u32 ethertype, const bytes& payload) {
  return joined(be16(packet_type), be16(1), be16(6), hardware_address, be16(ethertype), payload);
}
bytes cooked2(u8 packet_type, u32 ethertype, const bytes& payload) {
  return joined(be16(ethertype), be16(0), be32(3), be16(1), bytes{packet_type, 6}, hardware_address, payload);
}

TEST(LinkType, KnowsLibpcapsNumbers) {
  EXPECT_EQ(link_type_of(DLT_EN10MB), link_type::ethernet);
  for (const int raw : {DLT_RAW, DLT_IPV4, DLT_IPV6}) EXPECT_EQ(link_type_of(raw), link_type::raw);
  EXPECT_EQ(link_type_of(DLT_LINUX_SLL), link_type::cooked_v1);
  EXPECT_EQ(link_type_of(DLT_LINUX_SLL2), link_type::cooked_v2);
  for (const int loopback : {DLT_NULL, DLT_LOOP}) EXPECT_EQ(link_type_of(loopback), link_type::loopback);
  for (const int other : {DLT_IEEE802_11, DLT_PPP, DLT_PFLOG, DLT_SLIP, 999}) EXPECT_FALSE(link_type_of(other)) << other;
}

TEST(LinkType, TheSameTupleIsReadBehindEveryLinkHeader) {
  const frame_facts expected = look(ethernet(1, 2, 0x0800, inner4), link_type::ethernet).facts;
  ASSERT_EQ(expected.why, reason::none);
  const std::vector<std::pair<link_type, bytes>> others{
      {link_type::raw, inner4},
      {link_type::cooked_v1, cooked1(0, 0x0800, inner4)},
      {link_type::cooked_v2, cooked2(4, 0x0800, inner4)},
      {link_type::loopback, joined(le32(2), inner4)},
      {link_type::loopback, joined(be32(2), inner4)},
  };
  for (const auto& [link, b] : others) {
    const seen s = look(b, link);
    EXPECT_EQ(s.facts.why, reason::none) << static_cast<int>(link);
    EXPECT_TRUE(s.facts.v4 == expected.v4);
    EXPECT_TRUE(s.facts.syn);
    EXPECT_EQ(s.flags, syn);
  }
}

TEST(LinkType, ReadsIPv6BehindEveryLinkHeader) {
  std::vector<std::pair<link_type, bytes>> all{
      {link_type::ethernet, ethernet(1, 2, 0x86dd, inner6)},
      {link_type::raw, inner6},
      {link_type::cooked_v1, cooked1(0, 0x86dd, inner6)},
      {link_type::cooked_v2, cooked2(0, 0x86dd, inner6)},
  };
  for (const u32 af : {24U, 28U, 30U, 10U}) {
    all.push_back({link_type::loopback, joined(le32(af), inner6)});
    all.push_back({link_type::loopback, joined(be32(af), inner6)});
  }
  for (const auto& [link, b] : all) {
    const seen s = look(b, link);
    EXPECT_EQ(s.facts.why, reason::none);
    EXPECT_EQ(s.facts.which, family::ipv6);
    EXPECT_EQ(s.facts.v6.source_port(), 40'000);
    EXPECT_EQ(s.flags, syn | ack);
  }
}

TEST(LinkType, WhatIsNoIpIsCalledSo) {
  EXPECT_EQ(look(joined(bytes{0x55}, bytes(60, 0)), link_type::raw).facts.why, reason::not_ip);
  EXPECT_EQ(look(joined(le32(7), inner4), link_type::loopback).facts.why, reason::not_ip);
  EXPECT_EQ(look(joined(le32(28), inner4), link_type::loopback).facts.why, reason::not_ip);
  EXPECT_EQ(look(cooked1(0, 0x0806, bytes(28, 0)), link_type::cooked_v1).facts.why, reason::not_ip);
}

TEST(LinkType, EveryHeaderMayBeCut) {
  const std::vector<std::pair<link_type, bytes>> all{
      {link_type::ethernet, ethernet(1, 2, 0x86dd, inner6)}, {link_type::raw, inner6},
      {link_type::cooked_v1, cooked1(0, 0x86dd, inner6)},    {link_type::cooked_v2, cooked2(0, 0x86dd, inner6)},
      {link_type::loopback, joined(le32(28), inner6)},
  };
  for (const auto& [link, whole] : all)
    for (usize n = 0; n < whole.size(); ++n) {
      const bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      captured_frame frame{{part.data(), static_cast<u32>(n), static_cast<u32>(whole.size())}, {}, link};
      frame_facts facts;
      classify(frame, facts);
      EXPECT_EQ(facts.why, reason::truncated) << static_cast<int>(link) << " " << n;
      EXPECT_EQ(sim::tcp_segment_of(frame.view, facts), sim::tcp_segment{});
      (void)link_source(frame);
    }
}

TEST(LinkType, ACookedFrameToAGroupIsNoCandidate) {
  for (const u8 packet_type : {u8{1}, u8{2}}) {
    EXPECT_EQ(look(cooked1(packet_type, 0x0800, inner4), link_type::cooked_v1).facts.why, reason::multicast);
    EXPECT_EQ(look(cooked2(packet_type, 0x0800, inner4), link_type::cooked_v2).facts.why, reason::multicast);
    EXPECT_EQ(look(cooked1(packet_type, 0x0806, bytes(28, 0)), link_type::cooked_v1).facts.why, reason::not_ip);
  }
}

TEST(LinkType, FlagsStandBehindOptionsAndExtensionHeaders) {
  bytes with_options = ipv4(6, opener, responder, joined(bytes{1, 1, 1, 0}, tcp(40'000, 443, rst)));
  with_options[0] = 0x46;
  EXPECT_EQ(look(with_options, link_type::raw).flags, rst);
  const bytes extended = ipv6(60, 1, 2, joined(bytes{43, 0, 1, 4, 0, 0, 0, 0}, bytes{6, 1}, bytes(14, 0), tcp(1, 2, fin)));
  EXPECT_EQ(look(extended, link_type::raw).facts.why, reason::none);
  EXPECT_EQ(look(extended, link_type::raw).flags, fin);
  EXPECT_EQ(look(ipv4(17, opener, responder, udp(1, 2)), link_type::raw).flags, 0);
}

TEST(LinkType, TheSourceIsTheSendersHardwareAddress) {
  EXPECT_EQ(look(ethernet(7, 2, 0x0806, bytes(28, 0)), link_type::ethernet).source, 0x0000'5e00'5307U);
  EXPECT_EQ(look(cooked1(0, 0x0800, inner4), link_type::cooked_v1).source, 0x0000'5e00'5307U);
  EXPECT_EQ(look(cooked2(0, 0x0800, inner4), link_type::cooked_v2).source, 0x0000'5e00'5307U);
  EXPECT_FALSE(look(inner4, link_type::raw).source);
  EXPECT_FALSE(look(bytes(9, 0), link_type::ethernet).source);
}

}  // namespace
}  // namespace octep::tools

#include "tools/tuple_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace octep::tools {
namespace {

tuple4 four(std::string_view text) {
  std::string error;
  const auto t = parse_tuple(text, error);
  EXPECT_TRUE(t.has_value()) << error;
  return t ? std::get<tuple4>(*t) : tuple4{};
}

tuple6 six(std::string_view text) {
  std::string error;
  const auto t = parse_tuple(text, error);
  EXPECT_TRUE(t.has_value()) << error;
  return t ? std::get<tuple6>(*t) : tuple6{};
}

std::string complaint(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse_tuple(text, error).has_value()) << text;
  EXPECT_EQ(error.find('\n'), std::string::npos);
  return error;
}

TEST(TupleText, ReadsTheWordsOfTheWire) {
  const tuple4 t = four("tcp:192.0.2.1:1234-198.51.100.7:443");
  EXPECT_EQ(t.proto, protocol::tcp);
  EXPECT_EQ(t.source, 0x0102'00c0U);
  EXPECT_EQ(t.destination, 0x0764'33c6U);
  EXPECT_EQ(t.source_port(), 1234);
  EXPECT_EQ(t.destination_port(), 443);
  EXPECT_EQ(t.ports, 0xd204'bb01U);
}

TEST(TupleText, ReadsIPv6InBrackets) {
  const tuple6 t = six("udp:[2001:db8::1]:5-[2001:db8::2]:53");
  EXPECT_EQ(t.proto, protocol::udp);
  EXPECT_EQ(t.source, (address6{0xb80d'0120U, 0, 0, 0x0100'0000U}));
  EXPECT_EQ(t.destination[3], 0x0200'0000U);
  EXPECT_EQ(t.source_port(), 5);
  EXPECT_EQ(t.destination_port(), 53);
}

TEST(TupleText, AnEchoKeepsItsIdentifierAndTheTypeOfTheRequest) {
  const tuple4 t = four("icmp:192.0.2.1-198.51.100.7:77");
  EXPECT_EQ(t.proto, protocol::icmp);
  EXPECT_EQ(t.source_port(), 77);
  EXPECT_EQ(t.destination_word(), port_word(8));
  const tuple6 u = six("icmp6:[2001:db8::1]-[2001:db8::2]:77");
  EXPECT_EQ(u.proto, protocol::icmp6);
  EXPECT_EQ(u.destination_word(), port_word(128));
  EXPECT_EQ(six("icmp:[2001:db8::1]-[2001:db8::2]:77"), u);
}

TEST(TupleText, SaysWhatIsWrongInOneLine) {
  EXPECT_NE(complaint("").find("tcp:"), std::string::npos);
  EXPECT_NE(complaint("gre:192.0.2.1:1-192.0.2.2:2").find("tcp:"), std::string::npos);
  EXPECT_NE(complaint("tcp:host:1-192.0.2.2:2").find("the source is no address"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1-192.0.2.2:2").find(":PORT"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:65536-192.0.2.2:2").find("65535"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:-1-192.0.2.2:2").find(":PORT"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:1").find("destination"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:1-192.0.2:2").find("the destination is no address"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:1-192.0.2.2").find("end in :PORT"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:1-192.0.2.2:2-").find("end in :PORT"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:1-192.0.2.2:2 ").find("end in :PORT"), std::string::npos);
  EXPECT_NE(complaint("tcp:192.0.2.1:1-[2001:db8::1]:2").find("families"), std::string::npos);
  EXPECT_NE(complaint("tcp:2001:db8::1:1-[2001:db8::1]:2").find("brackets"), std::string::npos);
  EXPECT_NE(complaint("tcp:[192.0.2.1]:1-192.0.2.2:2").find("brackets"), std::string::npos);
  EXPECT_NE(complaint("tcp:[2001:db8::1%eth0]:1-[2001:db8::1]:2").find("source"), std::string::npos);
  EXPECT_NE(complaint("tcp:[2001:db8::1:1-2001:db8::1:2").find("source"), std::string::npos);
  EXPECT_NE(complaint("icmp:192.0.2.1:5-192.0.2.2:7").find("destination"), std::string::npos);
  EXPECT_NE(complaint("icmp:192.0.2.1-192.0.2.2").find(":IDENTIFIER"), std::string::npos);
  EXPECT_NE(complaint("icmp6:192.0.2.1-192.0.2.2:7").find("IPv6"), std::string::npos);
  EXPECT_NE(complaint(std::string_view{"tcp:192.0.2.1\0:1-192.0.2.2:2", 28}).find("source"), std::string::npos);
}

TEST(TupleText, AProtocolItDoesNotKnowIsWrittenByNumber) {
  tuple4 t = four("udp:192.0.2.1:1-192.0.2.2:2");
  t.proto = static_cast<protocol>(47);
  EXPECT_EQ(to_text(t), "ip47:192.0.2.1:1-192.0.2.2:2");
}

RC_GTEST_PROP(TupleText, WhatIsWrittenIsReadBackTheSame, (u32 a, u32 b, u16 from, u16 to, bool six_words)) {
  const int kind = *rc::gen::inRange(0, 3);
  const protocol echo = six_words ? protocol::icmp6 : protocol::icmp;
  const protocol proto = kind == 0 ? protocol::tcp : kind == 1 ? protocol::udp : echo;
  const u16 type = port_word(six_words ? 128 : 8);
  const u32 ports = join_ports(from, kind == 2 ? type : to);
  std::string error;
  if (six_words) {
    const auto words = *rc::gen::container<std::vector<u32>>(6, rc::gen::elementOf(std::vector<u32>{0, a, b}));
    const tuple6 t = tuple6::make({a, words[0], words[1], words[2]}, {words[3], words[4], words[5], b}, ports, proto);
    RC_ASSERT(parse_tuple(to_text(t), error) == any_tuple{t});
  } else {
    const tuple4 t = tuple4::make(a, b, ports, proto);
    RC_ASSERT(parse_tuple(to_text(t), error) == any_tuple{t});
  }
}

RC_GTEST_PROP(TupleText, AnyTextIsReadOrRefusedWithASentence, (const std::string& tail)) {
  const std::string text = *rc::gen::element<std::string>("", "tcp:", "udp:192.0.2.1:", "icmp:[::1]-", "tcp:[") + tail;
  std::string error;
  const auto t = parse_tuple(text, error);
  RC_ASSERT(t.has_value() == error.empty());
}

}  // namespace
}  // namespace octep::tools

#include "sim/tcp_flags.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "sim/frame_builder.hpp"

namespace octep::sim {
namespace {

tcp_flags flags_in(const bytes& frame) {
  const frame_view view{frame.data(), static_cast<u32>(frame.size()), static_cast<u32>(frame.size())};
  frame_facts facts;
  parse_ethernet(view, facts);
  return tcp_flags_of(view, facts);
}

RC_GTEST_PROP(TcpFlags, AreFoundBehindAnyHeaders, (u8 bits)) {
  frame_shape shape;
  shape.tcp_flags = bits;
  if (*rc::gen::arbitrary<bool>()) shape.tags.push_back({7});
  const bool v4 = *rc::gen::arbitrary<bool>();
  if (v4) {
    const tuple4 t = make_tuple(protocol::tcp, ip4(192, 0, 2, 1), 1, ip4(192, 0, 2, 2), 2);
    RC_ASSERT(flags_in(build_frame(t, shape)).bits == bits);
  } else {
    const tuple6 t = make_tuple(protocol::tcp, ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1}), 1,
                                ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 2}), 2);
    shape.extensions.assign(static_cast<usize>(*rc::gen::inRange(0, 3)), extension_header{60, 1});
    RC_ASSERT(flags_in(build_frame(t, shape)).bits == bits);
  }
}

TEST(TcpFlags, OnlyTcpHasThem) {
  const tuple4 t = make_tuple(protocol::udp, ip4(192, 0, 2, 1), 1, ip4(192, 0, 2, 2), 2);
  EXPECT_EQ(flags_in(build_frame(t, {})), tcp_flags{});
}

TEST(TcpSegment, OfFlagsAloneHasNoNumbers) {
  const tcp_segment s = tcp_flags{tcp_flags::ack_bit};
  EXPECT_TRUE(s.flags.ack());
  EXPECT_FALSE(s.has_numbers);
}

TEST(TcpSegment, EndsBehindItsPayloadAcrossTheWrap) {
  EXPECT_EQ((tcp_segment{.sequence = 0xffff'fff0, .length = 0x20}.end()), 0x10U);
}

TEST(TcpFlags, OnlyABareSynOpens) {
  EXPECT_TRUE(tcp_flags{tcp_flags::syn_bit}.opens());
  EXPECT_FALSE((tcp_flags{tcp_flags::syn_bit | tcp_flags::ack_bit}.opens()));
  EXPECT_FALSE((tcp_flags{tcp_flags::syn_bit | tcp_flags::rst_bit}.opens()));
  EXPECT_FALSE(tcp_flags{tcp_flags::ack_bit}.opens());
}

}  // namespace
}  // namespace octep::sim

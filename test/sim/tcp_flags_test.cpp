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
  return tcp_segment_of(view, facts).flags;
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

RC_GTEST_PROP(TcpSegment, HasTheNumbersOfItsHeader, (u32 sequence, u32 acknowledgement, u16 window)) {
  frame_shape shape;
  shape.sequence = sequence;
  shape.acknowledgement = acknowledgement;
  shape.window = window;
  const bool v4 = *rc::gen::arbitrary<bool>();
  if (v4) shape.option_words = static_cast<u8>(*rc::gen::inRange(0, 5));
  if (!v4) shape.extensions.assign(static_cast<usize>(*rc::gen::inRange(0, 3)), extension_header{60, 1});
  const u32 payload = *rc::gen::inRange<u32>(0, 1'400);
  shape.payload = payload;
  const bytes frame =
      v4 ? build_frame(make_tuple(protocol::tcp, ip4(192, 0, 2, 1), 1, ip4(192, 0, 2, 2), 2), shape)
         : build_frame(make_tuple(protocol::tcp, ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1}), 1, ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 2}), 2), shape);
  // As much of it as a short capture keeps: the payload's length is the header's word, not a count of bytes.
  const u32 kept = *rc::gen::inRange<u32>(0, static_cast<u32>(frame.size()) + 1);
  const bytes cut(frame.begin(), frame.begin() + kept);
  const frame_view view{cut.data(), kept, static_cast<u32>(frame.size())};
  frame_facts facts;
  parse_ethernet(view, facts);
  const tcp_segment s = tcp_segment_of(view, facts);
  if (facts.why != reason::none) {
    RC_ASSERT(s == tcp_segment{});
  } else {
    RC_ASSERT(s == (tcp_segment{{shape.tcp_flags}, true, sequence, payload, acknowledgement, window}));
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

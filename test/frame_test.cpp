#include <octep/frame.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "sim/frame_builder.hpp"
#include "test/exact_bytes.hpp"
#include "test/reference_parser.hpp"

namespace octep {

void PrintTo(reason r, std::ostream* os) { *os << name(r); }

namespace {

using sim::build_frame;
using sim::frame_shape;
using test::verdict;
using bytes = std::vector<u8>;

constexpr address4 here = sim::ip4(192, 168, 1, 2), there = sim::ip4(203, 0, 113, 9);
constexpr address6 here6 = sim::ip6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1}),
                   there6 = sim::ip6({0x2001, 0xdb8, 9, 0, 0, 0, 0, 2});

constexpr tuple4 tcp4 = sim::make_tuple(protocol::tcp, here, 40000, there, 443);
constexpr tuple4 udp4 = sim::make_tuple(protocol::udp, here, 40000, there, 53);
constexpr tuple4 ping4 = sim::make_echo(here, there, 0x1234);
constexpr tuple6 tcp6 = sim::make_tuple(protocol::tcp, here6, 40000, there6, 443);
constexpr tuple6 udp6 = sim::make_tuple(protocol::udp, here6, 40000, there6, 53);
constexpr tuple6 ping6 = sim::make_echo(here6, there6, 0x1234);

constexpr tuple4 of_protocol4(u8 number) { return tuple4::make(here, there, 0, static_cast<protocol>(number)); }
constexpr tuple6 of_protocol6(u8 number) { return tuple6::make(here6, there6, 0, static_cast<protocol>(number)); }

// Every parse of this file: the bytes at hand end where an allocation ends, and what `frame_facts` held before is of no
// consequence.
verdict parse(const bytes& frame, std::size_t contiguous, std::size_t wire) {
  const test::exact_bytes exact{frame.data(), contiguous};
  frame_facts facts;
  facts.why = reason::clash;
  facts.which = family::ipv6;
  facts.closing = facts.syn = true;
  facts.vlan = facts.network_offset = 0xeeee;
  parse_ethernet({exact.data(), static_cast<u32>(contiguous), static_cast<u32>(wire)}, facts);
  EXPECT_TRUE(facts.why == reason::none || facts.which == family::ipv4);
  return test::verdict_of(facts);
}
verdict parse(const bytes& frame) { return parse(frame, frame.size(), frame.size()); }

verdict parse_from(const bytes& frame, u32 offset, u16 ethertype) {
  const test::exact_bytes exact{frame.data(), frame.size()};
  frame_facts facts;
  parse_network({exact.data(), static_cast<u32>(frame.size()), static_cast<u32>(frame.size())}, offset, ethertype,
                facts);
  return test::verdict_of(facts);
}

reason why(const bytes& frame) { return parse(frame).why; }

verdict candidate(const tuple4& t, unsigned vlan = 0, std::size_t offset = 14) {
  return {.v4 = t, .vlan = vlan, .network_offset = offset};
}
verdict candidate(const tuple6& t, unsigned vlan = 0, std::size_t offset = 14) {
  return {.v6 = t, .vlan = vlan, .network_offset = offset};
}

// Frames without padding, so that a byte less is a byte of the packet less.
const frame_shape tight{.padded = false};

bytes with(bytes frame, std::size_t at, std::vector<u8> what) {
  std::copy(what.begin(), what.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
  return frame;
}

constexpr std::size_t ip = 14, ip6_next = ip + 6, tcp_at = ip + 20, tcp6_at = ip + 40;

// --- what is a candidate --------------------------------------------------------------------------------------

TEST(Frame, TcpUdpAndEchoOfBothFamiliesAreCandidates) {
  EXPECT_EQ(parse(build_frame(tcp4)), candidate(tcp4));
  EXPECT_EQ(parse(build_frame(udp4)), candidate(udp4));
  EXPECT_EQ(parse(build_frame(ping4)), candidate(ping4));
  EXPECT_EQ(parse(build_frame(tcp6)), candidate(tcp6));
  EXPECT_EQ(parse(build_frame(udp6)), candidate(udp6));
  EXPECT_EQ(parse(build_frame(ping6)), candidate(ping6));
}

// Written out, so that builder and parser cannot agree on a mistake.
TEST(Frame, TupleHoldsLittleEndianLoadsOfTheWire) {
  const bytes frame = {0x02, 0,    0,    0,    0, 1, 0x02, 0, 0,  0,  0, 2, 0x08, 0x00,                     //
                       0x45, 0,    0,    28,   0, 0, 0x40, 0, 64, 17, 0, 0, 10,   1,    2, 3, 10, 4, 5, 6,  //
                       0x12, 0x34, 0x00, 0x35, 0, 8, 0,    0};
  const auto v = parse(frame);
  ASSERT_EQ(v.why, reason::none);
  EXPECT_EQ(v.v4->source, 0x0302'010aU);
  EXPECT_EQ(v.v4->destination, 0x0605'040aU);
  EXPECT_EQ(v.v4->ports, 0x3412'3500U);
  EXPECT_EQ(v.v4->source_port(), 0x1234);
  EXPECT_EQ(v.v4->destination_port(), 53);
}

TEST(Frame, EchoRequestAndReplyHaveTheSamePortWords) {
  EXPECT_EQ(parse(build_frame(reverse(ping4), {.echo_reply = true})), candidate(reverse(ping4)));
  EXPECT_EQ(parse(build_frame(reverse(ping6), {.echo_reply = true})), candidate(reverse(ping6)));
  EXPECT_EQ(reverse(ping4).ports, 0x3412'0800U);
  EXPECT_EQ(reverse(ping6).ports, 0x3412'8000U);
}

TEST(Frame, FinOrResetClosesAndSynDoesNot) {
  for (unsigned flags = 0; flags < 256; ++flags) {
    const frame_shape shape{.tcp_flags = static_cast<u8>(flags)};
    const bool closing = (flags & 1) != 0 || (flags & 4) != 0;
    const bool syn = (flags & 2) != 0 && (flags & 16) == 0;
    for (const auto& v : {parse(build_frame(tcp4, shape)), parse(build_frame(tcp6, shape))}) {
      EXPECT_EQ(v.why, reason::none) << flags;
      EXPECT_EQ(v.closing, closing) << flags;
      EXPECT_EQ(v.syn, syn) << flags;
    }
  }
}

TEST(Frame, PaddingBehindThePacketIsNoLie) {
  const bytes frame = build_frame(udp4);
  ASSERT_EQ(frame.size(), 60U);
  EXPECT_EQ(parse(frame), candidate(udp4));
  EXPECT_EQ(parse(frame, 60, 1514), candidate(udp4));
  EXPECT_EQ(parse(build_frame(udp6), 62, 1514), candidate(udp6));
}

TEST(Frame, BytesBeyondTheWireLengthAreNoPartOfIt) {
  const bytes frame = build_frame(tcp4, tight);
  bytes longer = frame;
  longer.resize(200, 0xff);
  EXPECT_EQ(parse(longer, 200, frame.size()), candidate(tcp4));
  EXPECT_EQ(parse(longer, 200, frame.size() - 1).why, reason::length_lies);
}

TEST(Frame, Ipv4OptionsAreSkipped) {
  for (u8 words = 1; words <= 10; ++words) {
    const frame_shape shape{.option_words = words, .padded = false};
    EXPECT_EQ(parse(build_frame(tcp4, shape)), candidate(tcp4));
    EXPECT_EQ(parse(build_frame(udp4, shape)), candidate(udp4));
    EXPECT_EQ(parse(build_frame(ping4, shape)), candidate(ping4));
  }
}

TEST(Frame, OptionsOfTcpNeedNotBeAtHand) {
  const bytes frame = build_frame(tcp4, {.tcp_option_words = 10, .payload = 100});
  EXPECT_EQ(parse(frame, tcp_at + 20, frame.size()), candidate(tcp4));
  EXPECT_EQ(parse(frame, tcp_at + 19, frame.size()).why, reason::truncated);
}

TEST(Frame, VlanIsTheOutermostTagsId) {
  EXPECT_EQ(parse(build_frame(tcp4, {.tags = {{7}}})), candidate(tcp4, 7, 18));
  EXPECT_EQ(parse(build_frame(udp6, {.tags = {{0x0fff}}})), candidate(udp6, 0x0fff, 18));
  EXPECT_EQ(parse(build_frame(tcp4, {.tags = {{9, ethertype_service_vlan}, {8}}})), candidate(tcp4, 9, 22));
  EXPECT_EQ(parse(build_frame(tcp4, {.tags = {{0}, {8}}})), candidate(tcp4, 0, 22));
}

TEST(Frame, PriorityBitsAreNoPartOfTheVlan) {
  EXPECT_EQ(parse(build_frame(tcp4, {.tags = {{0xf00a}}})), candidate(tcp4, 10, 18));
}

TEST(Frame, FourTagsAreReadAndTheFifthIsNotIp) {
  frame_shape shape{.tags = {{1}, {2}, {3}, {4}}};
  EXPECT_EQ(parse(build_frame(tcp4, shape)), candidate(tcp4, 1, 30));
  shape.tags.push_back({5});
  EXPECT_EQ(why(build_frame(tcp4, shape)), reason::not_ip);
}

TEST(Frame, NetworkHeaderCanBeAnywhereForRawAndCookedCaptures) {
  const bytes raw4 = build_frame(tcp4, {.ethernet = false}), raw6 = build_frame(ping6, {.ethernet = false});
  EXPECT_EQ(parse_from(raw4, 0, ethertype_ipv4), candidate(tcp4, 0, 0));
  EXPECT_EQ(parse_from(raw6, 0, ethertype_ipv6), candidate(ping6, 0, 0));
  bytes cooked(16, 0xff);  // all ones: what would be a group address is none here
  cooked.insert(cooked.end(), raw4.begin(), raw4.end());
  EXPECT_EQ(parse_from(cooked, 16, ethertype_ipv4), candidate(tcp4, 0, 16));

  const bytes tagged = build_frame(udp6, {.tags = {{77}}});
  EXPECT_EQ(parse_from(tagged, 14, ethertype_vlan), candidate(udp6, 77, 18));
  EXPECT_EQ(parse_from(raw4, 0, 0x0806).why, reason::not_ip);
  EXPECT_EQ(parse_from(raw4, 0, ethertype_ipv6).why, reason::not_ip);
  EXPECT_EQ(parse_from(raw4, 0, ethertype_pppoe_session).why, reason::pppoe);
}

TEST(Frame, OffsetBehindTheBytesIsTruncated) {
  const bytes raw = build_frame(tcp4, {.ethernet = false});
  const auto size = static_cast<u32>(raw.size());
  for (const u32 offset : {size - 19, size, size + 1, max_network_offset, max_network_offset + 1, ~u32{0}})
    EXPECT_EQ(parse_from(raw, offset, ethertype_ipv4).why, reason::truncated) << offset;
  bytes far(max_network_offset, 0);
  far.insert(far.end(), raw.begin(), raw.end());
  EXPECT_EQ(parse_from(far, max_network_offset, ethertype_ipv4), candidate(tcp4, 0, max_network_offset));
  far.insert(far.begin(), 0);
  EXPECT_EQ(parse_from(far, max_network_offset + 1, ethertype_ipv4).why, reason::truncated);
}

TEST(Frame, EmptyFrameIsTruncated) {
  frame_facts facts;
  parse_ethernet({}, facts);
  EXPECT_EQ(facts.why, reason::truncated);
  parse_network({}, 0, ethertype_ipv4, facts);
  EXPECT_EQ(facts.why, reason::truncated);
}

// --- not IP, PPPoE ----------------------------------------------------------------------------------------------

TEST(Frame, OtherEthertypesAreNotIp) {
  const bytes frame = build_frame(tcp4);
  for (unsigned type = 0; type < 0x10000; ++type) {
    const auto r = why(with(frame, 12, {static_cast<u8>(type >> 8), static_cast<u8>(type)}));
    switch (type) {
      case 0x0800:
        EXPECT_EQ(r, reason::none);
        break;
      case 0x8863:
      case 0x8864:
        EXPECT_EQ(r, reason::pppoe) << type;
        break;
      default:
        EXPECT_EQ(r, reason::not_ip) << type;
        break;  // a tag's ethertype finds 0x0000, then, behind it
    }
  }
}

TEST(Frame, VersionThatIsNotTheEthertypesIsNotIp) {
  for (unsigned nibble = 0; nibble < 16; ++nibble) {
    EXPECT_EQ(why(with(build_frame(tcp4), ip, {static_cast<u8>(nibble * 16 + 5)})),
              nibble == 4 ? reason::none : reason::not_ip);
    EXPECT_EQ(why(with(build_frame(tcp6), ip, {static_cast<u8>(nibble * 16)})),
              nibble == 6 ? reason::none : reason::not_ip);
  }
}

TEST(Frame, PppoeIsItsOwnReasonBehindTagsToo) {
  EXPECT_EQ(why(with(build_frame(tcp4, {.tags = {{5}}}), 16, {0x88, 0x64})), reason::pppoe);
  EXPECT_EQ(why(with(build_frame(tcp4, {.tags = {{5}}}), 16, {0x88, 0x63})), reason::pppoe);
  EXPECT_EQ(why(with(build_frame(tcp4, {.tags = {{5}}}), 16, {0x88, 0x65})), reason::not_ip);
}

// --- tunnels and other protocols --------------------------------------------------------------------------------

TEST(Frame, EveryIpv4ProtocolNumberHasItsReason) {
  for (unsigned n = 0; n < 256; ++n) {
    const auto r = why(with(build_frame(tcp4, {.payload = 40}), ip + 9, {static_cast<u8>(n)}));
    switch (n) {
      case 6:
        EXPECT_EQ(r, reason::none);
        break;
      case 1:
        EXPECT_EQ(r, reason::other_icmp);
        break;  // the port's high byte is no echo's type
      case 17:
        EXPECT_EQ(r, reason::length_lies);
        break;  // the sequence number is no length
      case 4:
      case 41:
      case 47:
      case 50:
      case 51:
        EXPECT_EQ(r, reason::tunnel) << n;
        break;
      default:
        EXPECT_EQ(r, reason::other_protocol) << n;
        break;
    }
  }
}

TEST(Frame, EveryIpv6NextHeaderHasItsReasonAtOnceAndBehindAnExtension) {
  for (unsigned n = 0; n < 256; ++n) {
    const auto number = static_cast<u8>(n);
    const auto first = why(with(build_frame(tcp6, {.payload = 40}), ip6_next, {number}));
    const auto second = why(with(build_frame(tcp6, {.extensions = {{60}}, .payload = 40}), ip + 40, {number}));
    switch (n) {
      case 0:  // hop-by-hop options stand first or nowhere; here the port's high byte is what comes behind them
        EXPECT_EQ(first, reason::other_protocol);
        EXPECT_EQ(second, reason::other_protocol);
        break;
      case 6:
        EXPECT_EQ(first, reason::none);
        EXPECT_EQ(second, reason::none);
        break;
      case 17:
        EXPECT_EQ(first, reason::length_lies);
        EXPECT_EQ(second, reason::length_lies);
        break;
      case 43:
      case 60:
        EXPECT_EQ(first, reason::other_protocol);
        EXPECT_EQ(second, reason::other_protocol);
        break;
      case 44:
        EXPECT_EQ(first, reason::fragment);
        EXPECT_EQ(second, reason::fragment);
        break;
      case 58:
        EXPECT_EQ(first, reason::other_icmp);
        EXPECT_EQ(second, reason::other_icmp);
        break;
      case 4:
      case 41:
      case 47:
      case 50:
      case 51:
        EXPECT_EQ(first, reason::tunnel) << n;
        EXPECT_EQ(second, reason::tunnel) << n;
        break;
      default:
        EXPECT_EQ(first, reason::other_protocol) << n;
        EXPECT_EQ(second, reason::other_protocol) << n;
        break;
    }
  }
}

TEST(Frame, IcmpOfTheOtherFamilyIsAnotherProtocol) {
  EXPECT_EQ(why(build_frame(of_protocol4(58), {.payload = 8})), reason::other_protocol);
  EXPECT_EQ(why(build_frame(of_protocol6(1), {.payload = 8})), reason::other_protocol);
}

TEST(Frame, TunnelNeedsNoHeaderOfItsOwn) {
  EXPECT_EQ(why(build_frame(of_protocol4(47), tight)), reason::tunnel);
  EXPECT_EQ(why(build_frame(of_protocol6(50), tight)), reason::tunnel);
}

// --- ICMP -------------------------------------------------------------------------------------------------------

TEST(Frame, OnlyEchoesAreCandidatesOfIcmp) {
  for (unsigned type = 0; type < 256; ++type) {
    EXPECT_EQ(why(with(build_frame(ping4), tcp_at, {static_cast<u8>(type)})),
              type == 0 || type == 8 ? reason::none : reason::other_icmp)
        << type;
    EXPECT_EQ(why(with(build_frame(ping6), tcp6_at, {static_cast<u8>(type)})),
              type == 128 || type == 129 ? reason::none : reason::other_icmp)
        << type;
  }
}

TEST(Frame, EchoIsKeptWhateverItsCode) {
  EXPECT_EQ(parse(with(build_frame(ping4), tcp_at + 1, {9})), candidate(ping4));
}

// --- multicast and broadcast ------------------------------------------------------------------------------------

TEST(Frame, GroupBitOfEitherEthernetAddressIsMulticast) {
  EXPECT_EQ(why(with(build_frame(tcp4), 0, {0x01})), reason::multicast);
  EXPECT_EQ(why(with(build_frame(tcp4), 6, {0x01})), reason::multicast);
  EXPECT_EQ(why(with(build_frame(tcp4), 0, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe})), reason::none);
  EXPECT_EQ(why(with(build_frame(udp6, {.tags = {{3}}}), 0, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff})), reason::multicast);
}

TEST(Frame, Ipv4GroupAddressesAreMulticastOnEitherSide) {
  const auto both = [](address4 a) {
    tuple4 to = tcp4, from = tcp4;
    to.destination = a;
    from.source = a;
    EXPECT_EQ(why(build_frame(to)), why(build_frame(from)));
    return why(build_frame(to));
  };
  EXPECT_EQ(both(sim::ip4(223, 255, 255, 255)), reason::none);
  EXPECT_EQ(both(sim::ip4(224, 0, 0, 0)), reason::multicast);
  EXPECT_EQ(both(sim::ip4(239, 255, 255, 255)), reason::multicast);
  EXPECT_EQ(both(sim::ip4(240, 0, 0, 0)), reason::none);
  EXPECT_EQ(both(sim::ip4(255, 255, 255, 254)), reason::none);
  EXPECT_EQ(both(sim::ip4(254, 255, 255, 255)), reason::none);
  EXPECT_EQ(both(sim::ip4(255, 255, 255, 255)), reason::multicast);
}

TEST(Frame, Ipv6GroupAddressesAreMulticastOnEitherSide) {
  const auto both = [](u16 group) {
    tuple6 to = udp6, from = udp6;
    to.destination = from.source = sim::ip6({group, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(why(build_frame(to)), why(build_frame(from)));
    return why(build_frame(to));
  };
  EXPECT_EQ(both(0xfeff), reason::none);
  EXPECT_EQ(both(0xff00), reason::multicast);
  EXPECT_EQ(both(0xffff), reason::multicast);
}

// --- fragments --------------------------------------------------------------------------------------------------

TEST(Frame, EveryIpv4FragmentIsOneAndDontFragmentIsNone) {
  for (u32 bit = 0; bit < 16; ++bit) {
    const auto field = static_cast<u16>(1U << bit);
    const auto expected = bit >= 14 ? reason::none : reason::fragment;
    EXPECT_EQ(why(build_frame(tcp4, {.fragment = field})), expected) << bit;
    EXPECT_EQ(why(build_frame(ping4, {.fragment = field})), expected) << bit;
  }
  EXPECT_EQ(why(build_frame(tcp4, {.fragment = 0})), reason::none);
}

TEST(Frame, Ipv6FragmentHeaderIsAFragmentWhereverItStands) {
  EXPECT_EQ(why(build_frame(udp6, {.extensions = {{44}}})), reason::fragment);
  EXPECT_EQ(why(build_frame(udp6, {.extensions = {{0}, {60}, {43}, {44}}})), reason::fragment);
}

// --- IPv6 extension headers -------------------------------------------------------------------------------------

TEST(Frame, Ipv6ExtensionHeadersAreSkipped) {
  for (const u8 units : {u8{0}, u8{1}, u8{2}, u8{255}}) {
    EXPECT_EQ(parse(build_frame(tcp6, {.extensions = {{0, units}}})), candidate(tcp6));
    EXPECT_EQ(parse(build_frame(udp6, {.extensions = {{43, units}}})), candidate(udp6));
    EXPECT_EQ(parse(build_frame(ping6, {.extensions = {{60, units}}})), candidate(ping6));
  }
  EXPECT_EQ(parse(build_frame(tcp6, {.extensions = {{0, 1}, {60, 2}, {43, 3}, {60, 0}}})), candidate(tcp6));
}

TEST(Frame, ChainOfExtensionHeadersIsBounded) {
  frame_shape shape{.extensions = std::vector<sim::extension_header>(max_extension_headers, {60, 0}), .padded = false};
  EXPECT_EQ(parse(build_frame(tcp6, shape)), candidate(tcp6));
  shape.extensions.push_back({60, 0});
  EXPECT_EQ(why(build_frame(tcp6, shape)), reason::other_protocol);
}

TEST(Frame, HopByHopOptionsStandFirstOrNowhere) {
  EXPECT_EQ(why(build_frame(tcp6, {.extensions = {{0}, {60}}})), reason::none);
  EXPECT_EQ(why(build_frame(tcp6, {.extensions = {{60}, {0}}})), reason::other_protocol);
  EXPECT_EQ(why(build_frame(tcp6, {.extensions = {{0}, {0}}})), reason::other_protocol);
}

TEST(Frame, ExtensionHeaderThatLeavesItsPacketLies) {
  const bytes frame = build_frame(udp6, {.extensions = {{60, 0}}, .padded = false});  // payload length 16
  EXPECT_EQ(why(frame), reason::none);
  EXPECT_EQ(why(with(frame, ip + 41, {1})), reason::length_lies);  // the header takes all 16: no room for UDP
  EXPECT_EQ(why(with(frame, ip + 41, {2})), reason::length_lies);  // it takes 24
  EXPECT_EQ(why(with(frame, ip + 4, {0, 7})), reason::length_lies);
  EXPECT_EQ(parse(frame, ip + 47, frame.size()).why, reason::truncated);
  EXPECT_EQ(parse(frame, ip + 55, frame.size()).why, reason::truncated);
  EXPECT_EQ(parse(frame, ip + 56, frame.size()).why, reason::none);
}

// --- truncated: one byte short, exactly enough ------------------------------------------------------------------

TEST(Frame, HeadersOneByteShortAreTruncated) {
  const frame_shape big{.tags = {{1}, {2}}, .payload = 200};
  const auto border = [](const bytes& frame, std::size_t enough, const verdict& expected) {
    EXPECT_EQ(parse(frame, enough - 1, frame.size()).why, reason::truncated) << enough;
    EXPECT_EQ(parse(frame, enough, frame.size()), expected) << enough;
    // What the wire itself did not have is as little at hand, but then the IP header's length is the first to be wrong.
    EXPECT_EQ(parse(frame, frame.size(), enough - 1).why, reason::length_lies) << enough;
  };
  border(build_frame(tcp4, big), 22 + 20 + 20, candidate(tcp4, 1, 22));
  border(build_frame(udp4, big), 22 + 20 + 8, candidate(udp4, 1, 22));
  border(build_frame(ping4, big), 22 + 20 + 8, candidate(ping4, 1, 22));
  border(build_frame(tcp6, big), 22 + 40 + 20, candidate(tcp6, 1, 22));
  border(build_frame(udp6, big), 22 + 40 + 8, candidate(udp6, 1, 22));
  border(build_frame(ping6, big), 22 + 40 + 8, candidate(ping6, 1, 22));
  const frame_shape plain{.payload = 200};
  border(build_frame(tcp4, plain), 14 + 20 + 20, candidate(tcp4));
  border(build_frame(udp4, plain), 14 + 20 + 8, candidate(udp4));
  border(build_frame(tcp4, {.option_words = 10, .payload = 200}), 14 + 60 + 20, candidate(tcp4));
}

TEST(Frame, EveryHeaderOfTheWayHasItsBorder) {
  const auto border = [](const bytes& frame, std::size_t enough, reason expected) {
    EXPECT_EQ(parse(frame, enough - 1, frame.size()).why, reason::truncated) << enough;
    EXPECT_EQ(parse(frame, enough, frame.size()).why, expected) << enough;
    EXPECT_EQ(parse(frame, frame.size(), enough - 1).why, reason::truncated) << enough;
  };
  border(with(build_frame(tcp4), 12, {0x08, 0x06}), 14, reason::not_ip);
  border(with(build_frame(tcp4), 12, {0x88, 0x64}), 14, reason::pppoe);
  border(with(build_frame(tcp4, {.tags = {{1}}}), 16, {0x08, 0x06}), 18, reason::not_ip);
  border(with(build_frame(tcp4, {.tags = {{1}, {2}, {3}, {4}}}), 28, {0x08, 0x06}), 30, reason::not_ip);
  border(build_frame(of_protocol4(47)), ip + 20, reason::tunnel);
  border(build_frame(of_protocol6(47)), ip + 40, reason::tunnel);
  border(build_frame(of_protocol4(132)), ip + 20, reason::other_protocol);
  border(with(build_frame(tcp4), 0, {1}), ip + 20, reason::multicast);
  border(build_frame(tcp4, {.fragment = sim::ipv4_more_fragments}), ip + 20, reason::fragment);
  border(with(build_frame(tcp4), ip + 2, {0, 0}), ip + 20, reason::superframe);
  border(with(build_frame(tcp6), ip + 4, {0, 0}), ip + 40, reason::superframe);
}

// --- lengths that lie -------------------------------------------------------------------------------------------

TEST(Frame, Ipv4HeaderLengthHasALeastAndMustFitThePacket) {
  for (u8 words = 0; words < 5; ++words)
    EXPECT_EQ(why(with(build_frame(tcp4), ip, {static_cast<u8>(0x40 | words)})), reason::length_lies);
  const bytes udp = build_frame(udp4, {.option_words = 1, .padded = false});  // 24 of header, 8 of UDP
  EXPECT_EQ(why(udp), reason::none);
  EXPECT_EQ(why(with(udp, ip, {0x47})), reason::length_lies);  // 28 of header
  EXPECT_EQ(why(with(udp, ip, {0x49})), reason::length_lies);  // 36: longer than the packet
}

TEST(Frame, Ipv4TotalLengthIsAtMostTheWiresAndAtLeastTheHeaders) {
  const auto border = [](const auto& tuple, std::size_t least) {
    const bytes frame = build_frame(tuple, tight);
    ASSERT_EQ(frame.size(), ip + least);
    const auto with_total = [&](std::size_t n) { return why(with(frame, ip + 2, {0, static_cast<u8>(n)})); };
    EXPECT_EQ(with_total(least), reason::none);
    EXPECT_EQ(with_total(least + 1), reason::length_lies);
    EXPECT_EQ(with_total(least - 1), reason::length_lies);
    EXPECT_EQ(with_total(20), reason::length_lies);
    EXPECT_EQ(with_total(19), reason::length_lies);
    EXPECT_EQ(with_total(1), reason::length_lies);
    // Not whole at hand, but whole on the wire: no lie.
    EXPECT_EQ(parse(with(frame, ip + 2, {0, static_cast<u8>(least)}), frame.size(), frame.size() + 10).why,
              reason::none);
  };
  border(tcp4, 40);
  border(udp4, 28);
  border(ping4, 28);
}

TEST(Frame, Ipv6PayloadLengthIsAtMostTheWiresAndAtLeastTheHeaders) {
  const auto border = [](const auto& tuple, std::size_t least) {
    const bytes frame = build_frame(tuple, tight);
    ASSERT_EQ(frame.size(), ip + 40 + least);
    const auto with_payload = [&](std::size_t n) { return why(with(frame, ip + 4, {0, static_cast<u8>(n)})); };
    EXPECT_EQ(with_payload(least), reason::none);
    EXPECT_EQ(with_payload(least + 1), reason::length_lies);
    EXPECT_EQ(with_payload(least - 1), reason::length_lies);
    EXPECT_EQ(with_payload(1), reason::length_lies);
  };
  border(tcp6, 20);
  border(udp6, 8);
  border(ping6, 8);
}

TEST(Frame, UdpLengthCoversItsHeaderAndStaysInThePacket) {
  const auto border = [](const auto& tuple, std::size_t at) {
    const bytes frame = build_frame(tuple, {.payload = 10, .padded = false});
    const auto with_length = [&](std::size_t n) { return why(with(frame, at + 4, {0, static_cast<u8>(n)})); };
    EXPECT_EQ(with_length(0), reason::length_lies);
    EXPECT_EQ(with_length(7), reason::length_lies);
    EXPECT_EQ(with_length(8), reason::none);
    EXPECT_EQ(with_length(18), reason::none);
    EXPECT_EQ(with_length(19), reason::length_lies);
  };
  border(udp4, tcp_at);
  border(udp6, tcp6_at);
}

TEST(Frame, TcpDataOffsetCoversItsHeaderAndStaysInThePacket) {
  const auto border = [](const auto& tuple, std::size_t at) {
    const bytes frame = build_frame(tuple, {.payload = 10, .padded = false});
    const auto with_words = [&](unsigned n) { return why(with(frame, at + 12, {static_cast<u8>(n * 16)})); };
    for (unsigned n = 0; n < 5; ++n) EXPECT_EQ(with_words(n), reason::length_lies) << n;
    EXPECT_EQ(with_words(5), reason::none);
    EXPECT_EQ(with_words(7), reason::none);
    EXPECT_EQ(with_words(8), reason::length_lies);
    EXPECT_EQ(with_words(15), reason::length_lies);
  };
  border(tcp4, tcp_at);
  border(tcp6, tcp6_at);
}

// --- superframes ------------------------------------------------------------------------------------------------

TEST(Frame, Ipv4TotalLengthZeroIsASuperframe) {
  for (const auto& frame : {build_frame(tcp4), build_frame(udp4), build_frame(ping4)}) {
    EXPECT_EQ(why(with(frame, ip + 2, {0, 0})), reason::superframe);
    EXPECT_EQ(parse(with(frame, ip + 2, {0, 0}), 60, 80'000).why, reason::superframe);
  }
}

TEST(Frame, Ipv6PayloadLengthZeroBeforeTcpOrUdpIsASuperframe) {
  EXPECT_EQ(why(with(build_frame(tcp6), ip + 4, {0, 0})), reason::superframe);
  EXPECT_EQ(why(with(build_frame(udp6), ip + 4, {0, 0})), reason::superframe);
  EXPECT_EQ(parse(with(build_frame(tcp6), ip + 4, {0, 0}), 74, 80'000).why, reason::superframe);
  EXPECT_EQ(why(with(build_frame(ping6), ip + 4, {0, 0})), reason::length_lies);
  EXPECT_EQ(why(with(build_frame(tcp6, {.extensions = {{60}}}), ip + 4, {0, 0})), reason::length_lies);
  EXPECT_EQ(why(with(build_frame(of_protocol6(59)), ip + 4, {0, 0})), reason::other_protocol);
}

TEST(Frame, Ipv6PayloadLengthZeroWithAJumboOptionIsASuperframe) {
  const auto options = [](u8 units, std::vector<u8> what) {
    const bytes frame = with(build_frame(tcp6, {.extensions = {{0, units}}}), ip + 4, {0, 0});
    return with(frame, ip + 42, what);
  };
  const std::vector<u8> jumbo = {0xc2, 4, 0, 1, 0, 1};
  const bytes frame = options(0, jumbo);
  EXPECT_EQ(why(frame), reason::superframe);
  EXPECT_EQ(parse(frame, ip + 48, 80'000).why, reason::superframe);
  EXPECT_EQ(parse(frame, ip + 47, 80'000).why, reason::truncated);
  EXPECT_EQ(parse(frame, ip + 47, ip + 47).why, reason::length_lies);

  EXPECT_EQ(why(options(0, {1, 4, 0, 0, 0, 0})), reason::length_lies);     // padding only
  EXPECT_EQ(why(options(0, {0, 0, 0, 0, 0, 0})), reason::length_lies);     // likewise
  EXPECT_EQ(why(options(0, {0, 0, 0, 0, 0, 0xc2})), reason::length_lies);  // an option without a length
  EXPECT_EQ(why(options(0, {0xc2, 5, 0, 1, 0, 1})), reason::length_lies);  // one that leaves the header
  EXPECT_EQ(why(options(0, {0xc2, 3, 0, 1, 0, 1})), reason::length_lies);  // a jumbo option of another size
  EXPECT_EQ(why(options(1, {1, 6, 0, 0, 0, 0, 0, 0, 0xc2, 4, 0, 1, 0, 1})), reason::superframe);
  EXPECT_EQ(why(options(1, {0, 0, 0xc2, 4, 0, 1, 0, 1, 1, 4, 0, 0, 0, 0})), reason::superframe);

  const bytes two = options(1, {1, 6, 0, 0, 0, 0, 0, 0, 0xc2, 4, 0, 1, 0, 1});
  EXPECT_EQ(parse(two, ip + 55, 80'000).why, reason::truncated);
  EXPECT_EQ(parse(two, ip + 56, 80'000).why, reason::superframe);
  EXPECT_EQ(parse(two, ip + 55, ip + 55).why, reason::length_lies);
}

// --- the order of reasons ---------------------------------------------------------------------------------------

TEST(FrameOrder, EarlierHeadersAreAskedFirst) {
  // A broadcast that is not IP is not IP: only an IP header is asked about groups.
  EXPECT_EQ(why(with(build_frame(tcp4), 0, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 2, 0x08, 0x06})),
            reason::not_ip);
  // The ICMP header comes behind an IP header that says multicast or fragment.
  tuple6 solicitation = ping6;
  solicitation.destination = sim::ip6({0xff02, 0, 0, 0, 0, 1, 0xff00, 1});
  EXPECT_EQ(why(with(build_frame(solicitation), tcp6_at, {135})), reason::multicast);
  EXPECT_EQ(why(with(build_frame(ping4, {.fragment = sim::ipv4_more_fragments}), tcp_at, {3})), reason::fragment);
}

TEST(FrameOrder, InsideAnIpHeaderTheOrderIsTheEnumerations) {
  // Each step takes the strongest objection away.
  bytes frame = with(build_frame(tcp4, {.fragment = sim::ipv4_more_fragments}), 0, {1});
  frame = with(frame, ip, {0x54});            // version 5, four words
  frame = with(frame, ip + 2, {0xff, 0xff});  // longer than the wire
  frame = with(frame, ip + 9, {47});
  EXPECT_EQ(why(frame), reason::not_ip);
  frame = with(frame, ip, {0x44});
  EXPECT_EQ(why(frame), reason::tunnel);
  frame = with(frame, ip + 9, {132});
  EXPECT_EQ(why(frame), reason::other_protocol);
  frame = with(frame, ip + 9, {6});
  EXPECT_EQ(why(frame), reason::multicast);
  frame = with(frame, 0, {2});
  EXPECT_EQ(why(frame), reason::fragment);
  frame = with(frame, ip + 6, {0, 0});
  EXPECT_EQ(why(frame), reason::length_lies);
  frame = with(frame, ip + 2, {0, 0});
  EXPECT_EQ(why(frame), reason::length_lies);
  frame = with(frame, ip, {0x45});
  EXPECT_EQ(why(frame), reason::superframe);
  frame = with(frame, ip + 2, {0, 40});
  EXPECT_EQ(why(frame), reason::none);
}

// --- properties -------------------------------------------------------------------------------------------------

rc::Gen<address4> unicast4() {
  return rc::gen::suchThat(rc::gen::arbitrary<u32>(), [](u32 a) { return (a & 0xe0) != 0xe0; });
}
rc::Gen<address6> unicast6() {
  return rc::gen::map(rc::gen::container<std::vector<u32>>(4, rc::gen::arbitrary<u32>()), [](std::vector<u32> w) {
    if ((w[0] & 0xff) == 0xff) w[0] ^= 0x80;
    return address6{w[0], w[1], w[2], w[3]};
  });
}

template <tuple_type Tuple>
Tuple any_tuple() {
  const bool six = is_same<Tuple, tuple6>;
  const auto proto = *rc::gen::element(protocol::tcp, protocol::udp, six ? protocol::icmp6 : protocol::icmp);
  const u32 ports = is_echo(proto) ? echo_ports(proto, *rc::gen::arbitrary<u16>()) : *rc::gen::arbitrary<u32>();
  if constexpr (is_same<Tuple, tuple4>)
    return tuple4::make(*unicast4(), *unicast4(), ports, proto);
  else
    return tuple6::make(*unicast6(), *unicast6(), ports, proto);
}

frame_shape any_shape() {
  frame_shape shape;
  for (auto n = *rc::gen::inRange<u32>(0, max_vlan_tags + 1); n > 0; --n)
    shape.tags.push_back({*rc::gen::arbitrary<u16>(), *rc::gen::element(ethertype_vlan, ethertype_service_vlan)});
  if (*rc::gen::arbitrary<bool>()) shape.tags.clear();
  shape.tos = *rc::gen::arbitrary<u8>();
  shape.hop_limit = *rc::gen::arbitrary<u8>();
  shape.packet_id = *rc::gen::arbitrary<u16>();
  shape.fragment = static_cast<u16>(*rc::gen::inRange(0, 4) << 14);
  shape.option_words = *rc::gen::weightedElement<u8>({{8, u8{0}}, {1, u8{1}}, {1, u8{10}}});
  for (auto n = *rc::gen::inRange<u32>(0, 4); n > 0; --n)
    shape.extensions.push_back({*rc::gen::element(u8{43}, u8{60}), *rc::gen::inRange<u8>(0, 4)});
  if (*rc::gen::arbitrary<bool>()) shape.extensions.insert(shape.extensions.begin(), {0, 1});
  shape.tcp_flags = *rc::gen::arbitrary<u8>();
  shape.tcp_option_words = *rc::gen::inRange<u8>(0, 11);
  shape.echo_reply = *rc::gen::arbitrary<bool>();
  shape.payload = *rc::gen::inRange<u32>(0, 100);
  shape.padded = *rc::gen::arbitrary<bool>();
  return shape;
}

verdict expected_of(const auto& tuple, const frame_shape& shape) {
  auto v = candidate(tuple, shape.tags.empty() ? 0U : shape.tags[0].id & 0xfffU, sim::network_offset(shape));
  if (tuple.proto == protocol::tcp) {
    v.closing = (shape.tcp_flags & (sim::tcp_fin | sim::tcp_rst)) != 0;
    v.syn = (shape.tcp_flags & (sim::tcp_syn | sim::tcp_ack)) == sim::tcp_syn;
  }
  return v;
}

// A built frame and what it is.
std::pair<bytes, verdict> any_frame() {
  const auto shape = any_shape();
  if (*rc::gen::arbitrary<bool>()) {
    const auto t = any_tuple<tuple4>();
    return {build_frame(t, shape), expected_of(t, shape)};
  }
  const auto t = any_tuple<tuple6>();
  return {build_frame(t, shape), expected_of(t, shape)};
}

// A few bytes of the headers changed, so that every reason comes up.
bytes any_broken_frame() {
  auto frame = any_frame().first;
  for (int hits = *rc::gen::inRange(1, 6); hits > 0; --hits)
    frame[*rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(frame.size(), 70))] = *rc::gen::oneOf(
        rc::gen::arbitrary<u8>(), rc::gen::element<u8>(0, 1, 4, 6, 17, 41, 44, 47, 0x45, 0x46, 0xc2, 0xff));
  return frame;
}

verdict by_reference(const bytes& frame, std::size_t contiguous, std::size_t wire) {
  return test::reference_parser{{frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(contiguous)}, wire}
      .ethernet();
}

RC_GTEST_PROP(FrameProperty, BuiltFrameComesBackAsItsTuple, ()) {
  const auto [frame, expected] = any_frame();
  RC_CLASSIFY(expected.v4.has_value(), "IPv4");
  RC_ASSERT(parse(frame) == expected);
}

RC_GTEST_PROP(FrameProperty, EveryPrefixOfAFrameIsTheSameCandidateOrTruncated, ()) {
  const auto [frame, expected] = any_frame();
  bool known = false;
  for (std::size_t n = 0; n <= frame.size(); ++n) {
    const auto v = parse(frame, n, frame.size());
    if (v.why == reason::truncated) {
      RC_ASSERT(!known);
    } else {
      RC_ASSERT(v == expected);
      known = true;
    }
  }
  RC_ASSERT(known);
}

RC_GTEST_PROP(FrameProperty, VerdictOnAPrefixIsTheVerdictOnTheFrameOrTruncated, ()) {
  const auto frame = any_broken_frame();
  const auto wire = frame.size() + *rc::gen::inRange<std::size_t>(0, 20);
  const auto whole = parse(frame, frame.size(), wire);
  RC_TAG(std::string{name(whole.why)});
  bool known = false;
  for (std::size_t n = 0; n < frame.size(); ++n) {
    const auto v = parse(frame, n, wire);
    known = known || v.why != reason::truncated;
    RC_ASSERT((known ? v == whole : v.why == reason::truncated));
  }
}

RC_GTEST_PROP(FrameProperty, BrokenFramesAreReadAsTheReferenceReadsThem, ()) {
  const auto frame = any_broken_frame();
  const auto contiguous =
      *rc::gen::oneOf(rc::gen::just(frame.size()), rc::gen::inRange<std::size_t>(0, frame.size() + 1));
  const auto wire = *rc::gen::oneOf(rc::gen::just(frame.size()), rc::gen::inRange<std::size_t>(0, frame.size() + 40));
  const auto expected = by_reference(frame, contiguous, wire);
  RC_TAG(std::string{name(expected.why)});
  RC_ASSERT(parse(frame, contiguous, wire) == expected);
}

RC_GTEST_PROP(FrameProperty, ArbitraryBytesAreReadAsTheReferenceReadsThem, (const bytes& frame, u8 more)) {
  RC_ASSERT(parse(frame, frame.size(), frame.size() + more) == by_reference(frame, frame.size(), frame.size() + more));
  for (const u16 ethertype : {ethertype_ipv4, ethertype_ipv6, ethertype_vlan}) {
    test::reference_parser reference{frame, frame.size()};
    RC_ASSERT(parse_from(frame, more % 8, ethertype) == reference.network(more % 8, ethertype));
  }
}

}  // namespace
}  // namespace octep

// From a frame to a tuple, or to the one reason why it has none.
//
// Floor 3.
//
// What it is: Ethernet, up to four 802.1Q/802.1ad tags, IPv4 with options, IPv6 with extension headers, then TCP, UDP
// or an echo (system.md 2). A clean, untagged IPv4 frame of TCP or UDP is decided by a few wide loads; everything else,
// and whatever those loads do not like, goes header by header.
//
// The order of reasons. Headers are asked one after the other, the outermost first, and the first that objects decides:
//
//   1  has it room in the length that the header before it gave?    length_lies
//   2  is it at hand?                                               truncated
//   3  what does it say? Several objections of one header stand in the order of the enumeration `reason`:
//      an IP header     its version                                 not_ip
//                       what it carries                             tunnel, other_protocol
//                       its addresses, and those of Ethernet        multicast
//                       flags and offset                            fragment
//                       its lengths                                 length_lies, superframe
//      an extension     what it carries                             tunnel, other_protocol, fragment
//      ICMP             its type                                    other_icmp
//      TCP, UDP         its length                                  length_lies
//
// So what nobody can change is named before what somebody can, and no advice is in vain; the ICMP header comes after
// the IP header, so a neighbour solicitation is multicast; and the verdict on the first n bytes of a frame is the
// verdict on the frame, or truncated.
//
// What it refuses: reading past the contiguous length; guessing; reassembly; looking into a tunnel; checksums (the port
// checked them, and the host will). The options of TCP are not read, so they need not be at hand.
// What that buys: a verdict from bytes that an attacker chose, and a capture cut behind the headers counts in full.
// Concurrency: pure functions of their arguments; any ring, any time.
#pragma once

#include <octep/base.hpp>
#include <octep/frame_view.hpp>
#include <octep/icmp.hpp>
#include <octep/reasons.hpp>
#include <octep/tuple.hpp>

namespace octep {

// What is known of a frame. `why == reason::none`: it is a candidate, and of the two tuples the one of family `which`
// is meaningful; the other keeps what it held. Any other `why`: it is none, and the members up to the tuples are 0.
struct frame_facts {
  reason why = reason::none;
  family which = family::ipv4;
  bool closing = false;    // TCP with FIN or RST (system.md 2); never a SYN
  bool syn = false;        // TCP with SYN and without ACK: the sender opens the connection
  u16 vlan = 0;            // 12-bit id of the outermost tag, 0 without one
  u16 network_offset = 0;  // bytes in front of the IP header
  tuple4 v4{};
  tuple6 v6{};
};

// Ethertypes (IEEE 802 numbers).
inline constexpr u16 ethertype_ipv4 = 0x0800;
inline constexpr u16 ethertype_ipv6 = 0x86dd;
inline constexpr u16 ethertype_vlan = 0x8100;          // 802.1Q
inline constexpr u16 ethertype_service_vlan = 0x88a8;  // 802.1ad
inline constexpr u16 ethertype_pppoe_discovery = 0x8863;
inline constexpr u16 ethertype_pppoe_session = 0x8864;

inline constexpr u32 ethernet_header_length = 14;
inline constexpr u32 vlan_tag_length = 4;
inline constexpr u32 ipv4_header_length = 20;  // without options
inline constexpr u32 ipv6_header_length = 40;
inline constexpr u32 tcp_header_length = 20;  // without options
inline constexpr u32 udp_header_length = 8;

// Ours: two tags are common, three are seen, and the fifth ethertype then reads as not IP.
inline constexpr u32 max_vlan_tags = 4;
// Ours: one more than RFC 8200 has in its recommended order. What is behind more of them is another protocol.
inline constexpr u32 max_extension_headers = 8;
// Ours: what may stand in front of a network header; a larger offset is answered `truncated`.
inline constexpr u32 max_network_offset = 0x7fff;

namespace detail {

// Protocol numbers (IANA) that are not a tuple's.
inline constexpr u8 ip_hop_by_hop = 0, ip_in_ip = 4, ip_ipv6 = 41, ip_routing = 43, ip_fragment = 44, ip_gre = 47,
                    ip_esp = 50, ip_ah = 51, ip_destination_options = 60;

// RFC 2675; its option type with "discard and report" in the two high bits, which its users always set.
inline constexpr u8 option_pad1 = 0, option_jumbo = 0xc2;

inline constexpr u8 tcp_fin = 0x01, tcp_syn = 0x02, tcp_rst = 0x04, tcp_ack = 0x10;

}  // namespace detail

// What is left to say of an untagged frame of IPv4 that is a candidate: words that fit registers.
struct common_frame {
  u64 addresses;  // source | destination << 32
  u32 ports;
  u8 number;  // the protocol's
  u8 flags;   // TCP's, 0 for others

  [[nodiscard]] static constexpr common_frame of(const frame_facts& facts) noexcept {
    const u32 flags = (facts.closing ? detail::tcp_fin : 0U) | (facts.syn ? detail::tcp_syn : 0U);
    return {facts.v4.source | u64{facts.v4.destination} << 32, facts.v4.ports, static_cast<u8>(facts.v4.proto),
            static_cast<u8>(flags)};
  }
  [[nodiscard]] constexpr tuple4 tuple() const noexcept {
    return tuple4::make(static_cast<u32>(addresses), static_cast<u32>(addresses >> 32), ports, protocol{number});
  }
  [[nodiscard]] constexpr bool closing() const noexcept { return (flags & (detail::tcp_fin | detail::tcp_rst)) != 0; }
  [[nodiscard]] constexpr bool syn() const noexcept {
    return (flags & (detail::tcp_syn | detail::tcp_ack)) == detail::tcp_syn;
  }
};

namespace detail {

// One load each, whatever becomes of the parts: clang takes a load that is put together from bytes apart again where
// only some of them are used. Any alignment; the attribute keeps the access legal beside the bytes' own type.
using unaligned_u32 [[gnu::aligned(1), gnu::may_alias]] = u32;
using unaligned_u64 [[gnu::aligned(1), gnu::may_alias]] = u64;
inline constexpr bool little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

[[nodiscard]] inline u32 wide_le32(const u8* p) noexcept {
  const u32 word = *reinterpret_cast<const unaligned_u32*>(p);
  return little_endian ? word : __builtin_bswap32(word);
}
[[nodiscard]] inline u64 wide_le64(const u8* p) noexcept {
  const u64 word = *reinterpret_cast<const unaligned_u64*>(p);
  return little_endian ? word : __builtin_bswap64(word);
}

// 224.0.0.0/4 and 255.255.255.255, of a little-endian load.
[[nodiscard]] constexpr bool is_group(address4 a) noexcept { return (a & 0xf0) == 0xe0 || a == 0xffff'ffff; }

// ff00::/8.
[[nodiscard]] constexpr bool is_group(const address6& a) noexcept { return (a[0] & 0xff) == 0xff; }

// The group bit of either Ethernet address, from the first eight bytes of a frame.
[[nodiscard]] constexpr bool has_group_bit(u64 first_eight) noexcept {
  return (first_eight & 0x0001'0000'0000'0001) != 0;
}

[[nodiscard]] inline address6 load_address6(const u8* p) noexcept {
  return {wide_le32(p), wide_le32(p + 4), wide_le32(p + 8), wide_le32(p + 12)};
}

// A network header at `at`, `have` of the bytes from there at hand and `room` of them on the wire: have <= room.
struct packet {
  const u8* at;
  usize have;
  usize room;
};

[[nodiscard]] constexpr reason carried(u8 number) noexcept {
  const bool tunnels =
      number == ip_gre || number == ip_esp || number == ip_ah || number == ip_in_ip || number == ip_ipv6;
  return tunnels ? reason::tunnel : reason::other_protocol;
}

// The tuple's addresses are read. `from`: where the transport header begins; `end`: where the packet does. Both from
// `ip.at`.
template <tuple_type Tuple>
[[nodiscard]] inline reason read_transport(const packet& ip, usize from, usize end, protocol proto, frame_facts& facts,
                                           Tuple& tuple) noexcept {
  static_assert(echo_header_length == udp_header_length);
  const usize length = proto == protocol::tcp ? tcp_header_length : udp_header_length;
  if (end - from < length) return reason::length_lies;
  if (ip.have < from + length) return reason::truncated;
  const u8* const p = ip.at + from;
  if (is_echo(proto)) {
    if (!is_echo_message(proto, p[0])) return reason::other_icmp;
    tuple.ports = echo_ports(proto, load_le16(p + 4));
  } else {
    const usize claimed = proto == protocol::tcp ? usize{p[12]} / 16 * 4 : load_be16(p + 4);
    if (claimed < length || claimed > end - from) return reason::length_lies;
    tuple.ports = join_ports(load_le16(p), load_le16(p + 2));
  }
  tuple.proto = proto;
  facts.which = Tuple::which;
  if (proto == protocol::tcp) {
    facts.closing = (p[13] & (tcp_fin | tcp_rst)) != 0;
    facts.syn = (p[13] & (tcp_syn | tcp_ack)) == tcp_syn;
  }
  return reason::none;
}

[[nodiscard]] inline reason read_ipv4(const packet& ip, bool group, frame_facts& facts) noexcept {
  if (ip.have < ipv4_header_length) return reason::truncated;
  const u8* const p = ip.at;
  if (p[0] / 16 != 4) return reason::not_ip;
  const u8 number = p[9];
  const bool icmp = number == static_cast<u8>(protocol::icmp);
  if (!icmp && number != static_cast<u8>(protocol::tcp) && number != static_cast<u8>(protocol::udp))
    return carried(number);
  tuple4& tuple = facts.v4;
  tuple.source = load_le32(p + 12);
  tuple.destination = load_le32(p + 16);
  if (group || is_group(tuple.source) || is_group(tuple.destination)) return reason::multicast;
  if ((load_be16(p + 6) & 0x3fff) != 0) return reason::fragment;
  const usize header = usize{p[0]} % 16 * 4;
  if (header < ipv4_header_length) return reason::length_lies;
  const usize total = load_be16(p + 2);
  if (total == 0) return reason::superframe;
  if (total < header || total > ip.room) return reason::length_lies;
  return read_transport(ip, header, total, static_cast<protocol>(number), facts, tuple);
}

// What hop-by-hop options of a packet without a length mean: with the jumbo option a superframe, else a lie.
[[nodiscard]] inline reason read_jumbo(const packet& ip) noexcept {
  usize from = ipv6_header_length;
  if (ip.room < from + 8) return reason::length_lies;
  if (ip.have < from + 8) return reason::truncated;
  const usize end = from + 8 + usize{ip.at[from + 1]} * 8;
  if (ip.room < end) return reason::length_lies;
  if (ip.have < end) return reason::truncated;
  from += 2;
  while (from < end) {
    if (ip.at[from] == option_pad1) {
      ++from;
      continue;
    }
    if (end - from < 2) return reason::length_lies;
    const usize next = from + 2 + ip.at[from + 1];
    if (next > end) return reason::length_lies;
    if (ip.at[from] == option_jumbo && next == from + 6) return reason::superframe;
    from = next;
  }
  return reason::length_lies;
}

[[nodiscard]] inline reason read_ipv6(const packet& ip, bool group, frame_facts& facts) noexcept {
  constexpr u8 tcp = static_cast<u8>(protocol::tcp), udp = static_cast<u8>(protocol::udp),
               icmp6 = static_cast<u8>(protocol::icmp6);
  if (ip.have < ipv6_header_length) return reason::truncated;
  const u8* const p = ip.at;
  if (p[0] / 16 != 6) return reason::not_ip;
  u8 number = p[6];
  const auto extends = [](u8 n) { return n == ip_routing || n == ip_destination_options; };
  const auto known = [&](u8 n) { return n == tcp || n == udp || n == icmp6 || n == ip_fragment || extends(n); };
  if (!known(number) && number != ip_hop_by_hop) return carried(number);
  tuple6& tuple = facts.v6;
  tuple.source = load_address6(p + 8);
  tuple.destination = load_address6(p + 24);
  if (group || is_group(tuple.source) || is_group(tuple.destination)) return reason::multicast;
  if (number == ip_fragment) return reason::fragment;
  const usize payload = load_be16(p + 4);
  if (payload == 0) {
    if (number == ip_hop_by_hop) return read_jumbo(ip);
    return number == tcp || number == udp ? reason::superframe : reason::length_lies;
  }
  const usize end = ipv6_header_length + payload;
  if (end > ip.room) return reason::length_lies;

  // Hop-by-hop options stand first or nowhere (RFC 8200).
  usize from = ipv6_header_length;
  bool header = number == ip_hop_by_hop || extends(number);
  for (u32 headers = 0; header; header = extends(number)) {
    if (headers++ == max_extension_headers) return reason::other_protocol;
    if (end - from < 8) return reason::length_lies;
    if (ip.have < from + 8) return reason::truncated;
    number = p[from];
    const usize length = 8 + usize{p[from + 1]} * 8;
    if (!known(number)) return carried(number);
    if (number == ip_fragment) return reason::fragment;
    if (end - from < length) return reason::length_lies;
    from += length;
  }
  return read_transport(ip, from, end, static_cast<protocol>(number), facts, tuple);
}

[[nodiscard]] constexpr bool is_vlan(u16 ethertype) noexcept {
  return ethertype == ethertype_vlan || ethertype == ethertype_service_vlan;
}

// Moves `offset` and `ethertype` behind the tags.
[[nodiscard]] inline reason skip_tags(const frame_view& frame, usize& offset, u16& ethertype, u16& vlan) noexcept {
  for (u32 tags = 0; tags < max_vlan_tags && is_vlan(ethertype); ++tags) {
    if (frame.at_hand() < offset + vlan_tag_length) return reason::truncated;
    const u8* const tag = frame.bytes + offset;
    if (tags == 0) vlan = load_be16(tag) & 0x0fff;
    ethertype = load_be16(tag + 2);
    offset += vlan_tag_length;
  }
  return reason::none;
}

// Every member but the tuples.
constexpr void set_facts(frame_facts& facts, reason why) noexcept {
  facts.why = why;
  facts.which = family::ipv4;
  facts.closing = false;
  facts.syn = false;
  facts.vlan = 0;
  facts.network_offset = 0;
}

// Header by header, from what `ethertype` says stands at `offset`. `group`: an Ethernet address has its group bit set.
inline void read_layers(const frame_view& frame, usize offset, u16 ethertype, bool group, frame_facts& facts) noexcept {
  set_facts(facts, reason::none);
  u16 vlan = 0;
  facts.why = skip_tags(frame, offset, ethertype, vlan);
  if (facts.why != reason::none) return;
  if (ethertype != ethertype_ipv4 && ethertype != ethertype_ipv6) {
    const bool pppoe = ethertype == ethertype_pppoe_discovery || ethertype == ethertype_pppoe_session;
    facts.why = pppoe ? reason::pppoe : reason::not_ip;
    return;
  }
  const usize have = frame.at_hand();
  if (have < offset) {
    facts.why = reason::truncated;
    return;
  }
  const packet ip{frame.bytes + offset, have - offset, frame.wire_length - offset};
  facts.why = ethertype == ethertype_ipv4 ? read_ipv4(ip, group, facts) : read_ipv6(ip, group, facts);
  if (facts.why != reason::none) return;
  facts.vlan = vlan;
  facts.network_offset = static_cast<u16>(offset);
}

// Apart from the common case, so that its registers and its stack stay out of that.
[[gnu::noinline]] inline void read_ethernet(const frame_view& frame, frame_facts& facts) noexcept {
  if (frame.at_hand() < ethernet_header_length) return set_facts(facts, reason::truncated);
  const bool group = has_group_bit(wide_le64(frame.bytes));
  read_layers(frame, ethernet_header_length, load_be16(frame.bytes + 12), group, facts);
}

// The common case at once: untagged Ethernet, an IPv4 header of five words, no fragment, no group address, TCP or UDP,
// all lengths in order. False: something is not so, and nothing is said about the frame. Bytes 0 to 41 are read, of TCP
// 47 too.
[[nodiscard, gnu::always_inline]] inline bool read_common(const frame_view& frame, common_frame& found) noexcept {
  const u8* const p = frame.bytes;
  const usize have = frame.at_hand();
  constexpr usize network = ethernet_header_length;
  constexpr usize transport = network + ipv4_header_length;
  if (have < transport + udp_header_length || has_group_bit(wide_le64(p))) return false;
  //   bytes 12-19   ethertype 16 | version 4, words 4 | TOS 8 | total length 16 | id 16
  //   bytes 20-27   flags 3, offset 13 | TTL 8 | protocol 8 | checksum 16 | source, first half
  //   bytes 26-33   source 32 | destination 32
  const u64 front = wide_le64(p + 12);
  const u64 middle = wide_le64(p + 20);
  const u64 addresses = wide_le64(p + 26);
  if ((front & 0x00ff'ffff) != 0x0045'0008 || (middle & 0xff3f) != 0) return false;
  // 240.0.0.0/4 goes the long way with the group addresses: one compare for each address.
  if ((addresses & 0xe0) == 0xe0 || (addresses & (u64{0xe0} << 32)) == u64{0xe0} << 32) return false;

  const u8 number = static_cast<u8>(middle >> 24);
  const usize total = swap_bytes(static_cast<u16>(front >> 32));
  usize least = ipv4_header_length + udp_header_length;
  usize claimed = 0;
  u8 flags = 0;
  if (number == static_cast<u8>(protocol::tcp)) {
    least = ipv4_header_length + tcp_header_length;
    if (have < network + least) return false;
    claimed = ipv4_header_length + usize{p[transport + 12]} / 16 * 4;
    flags = p[transport + 13];
  } else if (number == static_cast<u8>(protocol::udp)) {
    claimed = ipv4_header_length + load_be16(p + transport + 4);
  }
  if (claimed < least || total < claimed || frame.wire_length - network < total) return false;

  found.addresses = addresses;
  found.ports = rotate_left(wide_le32(p + transport), 16);
  found.number = number;
  found.flags = flags;
  return true;
}

}  // namespace detail

// The common kind of frame at once; false: it is of another kind, or something is wrong with it, and `found` means
// nothing. Any context.
[[nodiscard, gnu::always_inline]] inline bool parse_common(const frame_view& frame, common_frame& found) noexcept {
  return detail::read_common(frame, found);
}

// What the frame is. It begins with an Ethernet header. Of its bytes, those in `at_hand()` are read and no others;
// lengths are compared with `wire_length`, and bytes behind the packet (padding) are nobody's lie. Any context.
inline void parse_ethernet(const frame_view& frame, frame_facts& facts) noexcept {
  common_frame found;
  if (!parse_common(frame, found)) return detail::read_ethernet(frame, facts);
  detail::set_facts(facts, reason::none);
  facts.closing = found.closing();
  facts.syn = found.syn();
  facts.network_offset = ethernet_header_length;
  facts.v4 = found.tuple();
}

// The same for a frame without an Ethernet header (raw IP, Linux cooked captures): at `offset` bytes from its start
// stands what `ethertype` says, an IP header or the rest of a VLAN tag. What the link layer knows of groups is the
// caller's to ask.
inline void parse_network(const frame_view& whole, u32 offset, u16 ethertype, frame_facts& facts) noexcept {
  if (offset > max_network_offset) return detail::set_facts(facts, reason::truncated);
  detail::read_layers(whole, offset, ethertype, false, facts);
}

}  // namespace octep

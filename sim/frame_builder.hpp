// Frames from readable fields, for models and tests: Ethernet, VLAN tags, IPv4, IPv6, TCP, UDP, echo.
//
// `build_frame(tuple, shape)` gives the bytes of a frame that arrives as `tuple`. What the tuple does not say is in
// `shape`, whose defaults are an ordinary frame: DF set, TCP with ACK, checksums right, padded to Ethernet's least
// length. A test that wants a broken frame breaks a built one at `network_offset` or `transport_offset`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <octep/frame.hpp>
#include <octep/icmp.hpp>
#include <octep/metadata.hpp>
#include <octep/tuple.hpp>
#include <vector>

namespace octep::sim {

using bytes = std::vector<u8>;
using mac_address = std::array<u8, 6>;

inline constexpr u8 tcp_fin = 0x01, tcp_syn = 0x02, tcp_rst = 0x04, tcp_psh = 0x08, tcp_ack = 0x10;
inline constexpr u16 ipv4_dont_fragment = 0x4000, ipv4_more_fragments = 0x2000;
inline constexpr std::size_t least_ethernet_frame = 60;  // without the frame check sequence

[[nodiscard]] constexpr address4 ip4(u8 a, u8 b, u8 c, u8 d) noexcept {
  const u8 wire[] = {a, b, c, d};
  return load_le32(wire);
}

// Eight groups as they are written: 2001:db8:0:0:0:0:0:1 is {0x2001, 0xdb8, 0, 0, 0, 0, 0, 1}.
[[nodiscard]] constexpr address6 ip6(const std::array<u16, 8>& groups) noexcept {
  u8 wire[16]{};
  for (std::size_t i = 0; i < 8; ++i) store_be16(wire + 2 * i, groups[i]);
  return {load_le32(wire), load_le32(wire + 4), load_le32(wire + 8), load_le32(wire + 12)};
}

// Ports as people write them.
[[nodiscard]] constexpr tuple4 make_tuple(protocol proto, address4 from, u16 from_port, address4 to,
                                          u16 to_port) noexcept {
  return tuple4::make(from, to, join_ports(port_word(from_port), port_word(to_port)), proto);
}
[[nodiscard]] constexpr tuple6 make_tuple(protocol proto, const address6& from, u16 from_port, const address6& to,
                                          u16 to_port) noexcept {
  return tuple6::make(from, to, join_ports(port_word(from_port), port_word(to_port)), proto);
}
// `id` as it is written; requests and replies have the same words.
[[nodiscard]] constexpr tuple4 make_echo(address4 from, address4 to, u16 id) noexcept {
  return tuple4::make(from, to, echo_ports(protocol::icmp, port_word(id)), protocol::icmp);
}
[[nodiscard]] constexpr tuple6 make_echo(const address6& from, const address6& to, u16 id) noexcept {
  return tuple6::make(from, to, echo_ports(protocol::icmp6, port_word(id)), protocol::icmp6);
}

struct vlan_tag {
  u16 id = 0;
  u16 ethertype = ethertype_vlan;
};

struct extension_header {
  u8 number = 60;  // its own protocol number
  u8 units = 0;    // its length field: eight-byte units behind the first
};

struct frame_shape {
  bool ethernet = true;  // false: the frame begins with the IP header
  mac_address to_mac{0x02, 0, 0, 0, 0, 0x01};
  mac_address from_mac{0x02, 0, 0, 0, 0, 0x02};
  std::vector<vlan_tag> tags{};  // outermost first

  u8 tos = 0;
  u8 hop_limit = 64;
  u16 packet_id = 0;                           // IPv4
  u16 fragment = ipv4_dont_fragment;           // IPv4: flags and offset
  u8 option_words = 0;                         // IPv4: options, as No Operation
  std::vector<extension_header> extensions{};  // IPv6

  u8 tcp_flags = tcp_ack;
  u32 sequence = 1;
  u32 acknowledgement = 1;
  u16 window = 0xffff;
  u8 tcp_option_words = 0;  // as No Operation

  bool echo_reply = false;
  u16 echo_sequence = 1;

  u32 payload = 0;     // bytes behind the transport header
  bool padded = true;  // to `least_ethernet_frame`
};

[[nodiscard]] inline std::size_t network_offset(const frame_shape& shape) {
  return shape.ethernet ? ethernet_header_length + vlan_tag_length * shape.tags.size() : 0;
}

template <tuple_type Tuple>
[[nodiscard]] std::size_t transport_offset(const frame_shape& shape) {
  if constexpr (is_same<Tuple, tuple4>) {
    return network_offset(shape) + ipv4_header_length + 4U * shape.option_words;
  } else {
    std::size_t at = network_offset(shape) + ipv6_header_length;
    for (const extension_header& e : shape.extensions) at += 8 + 8U * e.units;
    return at;
  }
}

namespace detail {

inline void put(bytes& to, std::initializer_list<u8> what) { to.insert(to.end(), what); }
inline void put_be16(bytes& to, u16 v) { put(to, {static_cast<u8>(v >> 8), static_cast<u8>(v)}); }
inline void put_be32(bytes& to, u32 v) {
  put_be16(to, static_cast<u16>(v >> 16));
  put_be16(to, static_cast<u16>(v));
}
inline void put_wire(bytes& to, u32 word) {
  to.resize(to.size() + 4);
  store_le32(to.data() + to.size() - 4, word);
}
inline void put_wire(bytes& to, const address6& words) {
  for (const u32 w : words) put_wire(to, w);
}

// RFC 1071, before the complement.
[[nodiscard]] inline u32 sum(const u8* p, std::size_t size, u32 start = 0) {
  u32 total = start;
  for (std::size_t i = 0; i < size; ++i) total += i % 2 == 0 ? u32{p[i]} << 8 : u32{p[i]};
  while (total > 0xffff) total = (total >> 16) + (total & 0xffff);
  return total;
}

template <tuple_type Tuple>
[[nodiscard]] bytes transport(const Tuple& tuple, const frame_shape& shape) {
  bytes out;
  std::size_t checksum_at = 0;
  const auto length = [&](std::size_t header) { return static_cast<u16>(header + shape.payload); };
  switch (tuple.proto) {
    case protocol::tcp:
      put_be16(out, tuple.source_port());
      put_be16(out, tuple.destination_port());
      put_be32(out, shape.sequence);
      put_be32(out, shape.acknowledgement);
      put(out, {static_cast<u8>((5 + shape.tcp_option_words) << 4), shape.tcp_flags});
      put_be16(out, shape.window);
      checksum_at = out.size();
      put_be32(out, 0);
      out.insert(out.end(), 4U * shape.tcp_option_words, u8{1});
      break;
    case protocol::udp:
      put_be16(out, tuple.source_port());
      put_be16(out, tuple.destination_port());
      put_be16(out, length(udp_header_length));
      checksum_at = out.size();
      put_be16(out, 0);
      break;
    case protocol::icmp:
    case protocol::icmp6: {
      const bool six = tuple.proto == protocol::icmp6;
      put(out, {shape.echo_reply ? (six ? echo6_reply : echo4_reply) : (six ? echo6_request : echo4_request), 0});
      checksum_at = out.size();
      put_be16(out, 0);
      put_be16(out, tuple.source_port());
      put_be16(out, shape.echo_sequence);
      break;
    }
    default:  // a protocol without ports: the payload is all there is
      break;
  }
  for (u32 i = 0; i < shape.payload; ++i) out.push_back(static_cast<u8>(i));
  if (checksum_at == 0) return out;

  bytes pseudo;
  if (tuple.proto != protocol::icmp) {
    put_wire(pseudo, tuple.source);
    put_wire(pseudo, tuple.destination);
    put_be32(pseudo, static_cast<u32>(out.size()));
    put_be32(pseudo, static_cast<u32>(tuple.proto));
  }
  const u32 check = ~sum(out.data(), out.size(), sum(pseudo.data(), pseudo.size())) & 0xffff;
  store_be16(out.data() + checksum_at, static_cast<u16>(check == 0 && tuple.proto == protocol::udp ? 0xffff : check));
  return out;
}

inline void put_network(bytes& out, const tuple4& tuple, const frame_shape& shape, std::size_t transport_length) {
  const std::size_t start = out.size();
  const std::size_t header = ipv4_header_length + 4U * shape.option_words;
  put(out, {static_cast<u8>(0x40 | (header / 4)), shape.tos});
  put_be16(out, static_cast<u16>(header + transport_length));
  put_be16(out, shape.packet_id);
  put_be16(out, shape.fragment);
  put(out, {shape.hop_limit, static_cast<u8>(tuple.proto)});
  put_be16(out, 0);
  put_wire(out, tuple.source);
  put_wire(out, tuple.destination);
  out.insert(out.end(), 4U * shape.option_words, u8{1});
  store_be16(out.data() + start + 10, static_cast<u16>(~sum(out.data() + start, header)));
}

inline void put_network(bytes& out, const tuple6& tuple, const frame_shape& shape, std::size_t transport_length) {
  std::size_t payload = transport_length;
  for (const extension_header& e : shape.extensions) payload += 8 + 8U * e.units;
  const auto number = [&](std::size_t i) {
    return i < shape.extensions.size() ? shape.extensions[i].number : static_cast<u8>(tuple.proto);
  };
  put_be32(out, 0x6000'0000U | (u32{shape.tos} << 20));
  put_be16(out, static_cast<u16>(payload));
  put(out, {number(0), shape.hop_limit});
  put_wire(out, tuple.source);
  put_wire(out, tuple.destination);
  for (std::size_t i = 0; i < shape.extensions.size(); ++i) {
    const u8 units = shape.extensions[i].units;
    put(out, {number(i + 1), units});
    const std::size_t rest = 6 + 8U * units;
    bytes content(rest, 0);  // of a routing or fragment header: no segments left, the whole packet
    if (number(i) == 0 || number(i) == 60)
      for (std::size_t at = 0; at < rest;) {  // PadN, as often as it takes
        const std::size_t step = std::min<std::size_t>(rest - at, 256);
        if (step > 1) content[at] = 1, content[at + 1] = static_cast<u8>(step - 2);
        at += step;
      }
    out.insert(out.end(), content.begin(), content.end());
  }
}

}  // namespace detail

// Lengths that do not fit their fields are cut to them: such a frame lies.
template <tuple_type Tuple>
[[nodiscard]] bytes build_frame(const Tuple& tuple, const frame_shape& shape = {}) {
  bytes out;
  if (shape.ethernet) {
    out.insert(out.end(), shape.to_mac.begin(), shape.to_mac.end());
    out.insert(out.end(), shape.from_mac.begin(), shape.from_mac.end());
    for (const vlan_tag& tag : shape.tags) {
      detail::put_be16(out, tag.ethertype);
      detail::put_be16(out, tag.id);
    }
    detail::put_be16(out, is_same<Tuple, tuple4> ? ethertype_ipv4 : ethertype_ipv6);
  }
  const bytes behind = detail::transport(tuple, shape);
  detail::put_network(out, tuple, shape, behind.size());
  out.insert(out.end(), behind.begin(), behind.end());
  if (shape.ethernet && shape.padded && out.size() < least_ethernet_frame) out.resize(least_ethernet_frame);
  return out;
}

// A frame as it is punted: behind its prefix.
template <prefix_policy Prefix = recorded_prefix>
[[nodiscard]] bytes punted(const bytes& frame, const punt_metadata& metadata) {
  bytes out(Prefix::length);
  write_prefix<Prefix>(out.data(), metadata, static_cast<u32>(frame.size()));
  out.insert(out.end(), frame.begin(), frame.end());
  return out;
}

// All of the frame at hand. `frame` outlives the view.
[[nodiscard]] inline frame_view view_of(const bytes& frame) noexcept {
  return {frame.data(), static_cast<u32>(frame.size()), static_cast<u32>(frame.size())};
}

}  // namespace octep::sim

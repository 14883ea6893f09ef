// What the models ask of a TCP header: its flags, as they stand in the fourteenth byte (RFC 9293, 3.1), and its numbers.
//
// The core keeps two flags (`closing`, `syn`): more it never asks. A firewall has to know who acknowledged whom, and a device
// whether a frame says what the last one said. Traffic without numbers is a segment made of flags alone: rules about numbers
// pass it over.
#pragma once

#include <octep/base.hpp>
#include <octep/frame.hpp>

namespace octep::sim {

struct tcp_segment;

struct tcp_flags {
  u8 bits = 0;

  static constexpr u8 fin_bit = 0x01;
  static constexpr u8 syn_bit = 0x02;
  static constexpr u8 rst_bit = 0x04;
  static constexpr u8 ack_bit = 0x10;

  [[nodiscard]] constexpr bool fin() const noexcept { return (bits & fin_bit) != 0; }
  [[nodiscard]] constexpr bool syn() const noexcept { return (bits & syn_bit) != 0; }
  [[nodiscard]] constexpr bool rst() const noexcept { return (bits & rst_bit) != 0; }
  [[nodiscard]] constexpr bool ack() const noexcept { return (bits & ack_bit) != 0; }
  // The frame that begins a connection.
  [[nodiscard]] constexpr bool opens() const noexcept { return syn() && !ack() && !rst() && !fin(); }
  [[nodiscard]] constexpr bool operator==(const tcp_flags&) const noexcept = default;
  constexpr operator tcp_segment() const noexcept;  // without numbers
};

struct tcp_segment {
  tcp_flags flags{};
  bool has_numbers = false;  // the rest means something
  u32 sequence = 0;
  u32 length = 0;  // bytes of payload
  u32 acknowledgement = 0;
  u32 window = 0;  // bytes, scaled

  // The sequence number after the payload.
  [[nodiscard]] constexpr u32 end() const noexcept { return sequence + length; }
  [[nodiscard]] constexpr bool operator==(const tcp_segment&) const noexcept = default;
};

// How far `a` is ahead of `b` in a space that wraps; negative: behind.
[[nodiscard]] constexpr i64 ahead(u32 a, u32 b) noexcept { return static_cast<i32>(a - b); }

// The number behind all that it takes: SYN and FIN take one each.
[[nodiscard]] constexpr u32 end_of(const tcp_segment& s) noexcept {
  return s.end() + (s.flags.syn() ? 1U : 0U) + (s.flags.fin() ? 1U : 0U);
}

constexpr tcp_flags::operator tcp_segment() const noexcept { return {.flags = *this}; }

// Where the TCP header of a frame begins that the parser took for a candidate; 0: it has none.
[[nodiscard]] constexpr u32 tcp_header_at(const frame_view& frame, const frame_facts& facts) noexcept {
  const bool v4 = facts.which == family::ipv4;
  if (facts.why != reason::none || (v4 ? facts.v4.proto : facts.v6.proto) != protocol::tcp) return 0;
  // The parser has seen the whole chain of headers; a chain that changed since ends the walk at the frame's end.
  u32 at = facts.network_offset;
  if (at + ipv4_header_length > frame.at_hand()) return 0;
  if (v4) {
    at += 4U * (frame.bytes[at] & 0x0fU);
  } else {
    u8 next = frame.bytes[at + 6];
    at += ipv6_header_length;
    while (next != static_cast<u8>(protocol::tcp) && at + 2 <= frame.at_hand()) {
      next = frame.bytes[at];
      at += 8U * (frame.bytes[at + 1] + 1U);
    }
  }
  return at + tcp_header_length <= frame.at_hand() ? at : 0;
}

// Of a frame that the parser took for a candidate; nothing for anything but TCP. The window is as it was told, without its
// scale, which only the connection's SYN has.
[[nodiscard]] constexpr tcp_segment tcp_segment_of(const frame_view& frame, const frame_facts& facts) noexcept {
  const u32 at = tcp_header_at(frame, facts);
  if (at == 0) return {};
  const u8* const header = frame.bytes + at;
  tcp_segment s{.flags = {header[13]}, .has_numbers = true};
  s.sequence = load_be32(header + 4);
  s.acknowledgement = load_be32(header + 8);
  s.window = load_be16(header + 14);
  const u8* const ip = frame.bytes + facts.network_offset;
  const u32 packet = facts.which == family::ipv4 ? load_be16(ip + 2) : ipv6_header_length + load_be16(ip + 4);
  const u32 headers = at - facts.network_offset + 4U * (header[12] >> 4);
  s.length = packet > headers ? packet - headers : 0;
  return s;
}

}  // namespace octep::sim

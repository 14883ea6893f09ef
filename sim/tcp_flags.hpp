// What the models ask of a TCP header: its flags, as they stand in the fourteenth byte (RFC 9293, 3.1), and its numbers.
//
// The core keeps two flags (`closing`, `syn`): more it never asks. A firewall has to know who acknowledged whom, and a device
// whether a frame says what the last one said. Traffic without numbers (a replay's) is a segment made of flags alone: rules
// about numbers pass it over.
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

constexpr tcp_flags::operator tcp_segment() const noexcept { return {.flags = *this}; }

// Of a frame that the parser took for a candidate; none for anything but TCP.
[[nodiscard]] constexpr tcp_flags tcp_flags_of(const frame_view& frame, const frame_facts& facts) noexcept {
  const bool v4 = facts.which == family::ipv4;
  if (facts.why != reason::none || (v4 ? facts.v4.proto : facts.v6.proto) != protocol::tcp) return {};
  constexpr u32 flags_at = 13;
  // The parser has seen the whole chain of headers; a chain that changed since ends the walk at the frame's end.
  u32 at = facts.network_offset;
  if (at + ipv4_header_length > frame.at_hand()) return {};
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
  if (at + flags_at >= frame.at_hand()) return {};
  return {frame.bytes[at + flags_at]};
}

}  // namespace octep::sim

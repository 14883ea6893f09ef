// The flags of a TCP header that the models ask about, as they stand in its fourteenth byte (RFC 9293, 3.1).
#pragma once

#include <octep/base.hpp>

namespace octep::sim {

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
};

}  // namespace octep::sim

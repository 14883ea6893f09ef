// Tuples: protocol, two addresses, two port words, as a frame ARRIVES (before any translation).
//
// Floor 1.
//
//   words of a tuple4:   source | destination | ports | protocol                      4 x 32 bits
//   words of a tuple6:   source x 4 | destination x 4 | ports | protocol             10 x 32 bits
//   ports:               bits 31-16 source port word | bits 15-0 destination port word
//
// Every address and port word is a LITTLE-ENDIAN load of the wire bytes on every architecture (system.md 3): the second
// byte of a port on the wire is the high byte of its word. Comparing and hashing never need host order; showing does, and
// goes through `source_port()` and `destination_port()`.
//
// An echo has no ports: its words are the message's id, then the REQUEST's type, for both ways, as pf keeps it.
//
// Refuses: a host-order port anywhere in a key. Buys: one form from the wire to the table to the command.
// Concurrency: values.
#pragma once

#include <octep/base.hpp>

namespace octep {

// IP protocol numbers (IANA) that can be forwarded in hardware.
enum class protocol : u32 { icmp = 1, tcp = 6, udp = 17, icmp6 = 58 };

enum class family : u8 { ipv4, ipv6 };

[[nodiscard]] constexpr bool is_echo(protocol p) noexcept { return p == protocol::icmp || p == protocol::icmp6; }

// A port as people write it, from the little-endian load of its two wire bytes, and back.
[[nodiscard]] constexpr u16 port_number(u16 wire_word) noexcept { return swap_bytes(wire_word); }
[[nodiscard]] constexpr u16 port_word(u16 number) noexcept { return swap_bytes(number); }

[[nodiscard]] constexpr u32 join_ports(u16 source_word, u16 destination_word) noexcept {
  return (u32{source_word} << 16) | destination_word;
}

namespace detail {
// What the two families share; the derived types add the addresses. No member is a derived constant.
struct tuple_tail {
  u32 ports = 0;
  protocol proto = protocol::tcp;

  [[nodiscard]] constexpr u16 source_word() const noexcept { return static_cast<u16>(ports >> 16); }
  [[nodiscard]] constexpr u16 destination_word() const noexcept { return static_cast<u16>(ports); }
  [[nodiscard]] constexpr u16 source_port() const noexcept { return port_number(source_word()); }
  [[nodiscard]] constexpr u16 destination_port() const noexcept { return port_number(destination_word()); }
  [[nodiscard]] constexpr bool operator==(const tuple_tail&) const noexcept = default;
};
}  // namespace detail

using address4 = u32;            // little-endian load of the four wire bytes
using address6 = array<u32, 4>;  // four little-endian loads, wire order

struct tuple4 : detail::tuple_tail {
  using address = address4;
  static constexpr family which = family::ipv4;
  static constexpr u32 words = 4;

  address source = 0;
  address destination = 0;

  [[nodiscard]] constexpr u32 word(u32 i) const noexcept {
    return i == 0 ? source : i == 1 ? destination : i == 2 ? ports : static_cast<u32>(proto);
  }
  [[nodiscard]] static constexpr tuple4 from_words(const u32 (&w)[words]) noexcept {
    return make(w[0], w[1], w[2], static_cast<protocol>(w[3]));
  }
  [[nodiscard]] static constexpr tuple4 make(address from, address to, u32 ports, protocol proto) noexcept {
    tuple4 t;
    t.source = from;
    t.destination = to;
    t.ports = ports;
    t.proto = proto;
    return t;
  }
  [[nodiscard]] constexpr bool operator==(const tuple4&) const noexcept = default;
};

struct tuple6 : detail::tuple_tail {
  using address = address6;
  static constexpr family which = family::ipv6;
  static constexpr u32 words = 10;

  address source{};
  address destination{};

  [[nodiscard]] constexpr u32 word(u32 i) const noexcept {
    return i < 4 ? source[i] : i < 8 ? destination[i - 4] : i == 8 ? ports : static_cast<u32>(proto);
  }
  [[nodiscard]] static constexpr tuple6 from_words(const u32 (&w)[words]) noexcept {
    return make({w[0], w[1], w[2], w[3]}, {w[4], w[5], w[6], w[7]}, w[8], static_cast<protocol>(w[9]));
  }
  [[nodiscard]] static constexpr tuple6 make(const address& from, const address& to, u32 ports,
                                             protocol proto) noexcept {
    tuple6 t;
    t.source = from;
    t.destination = to;
    t.ports = ports;
    t.proto = proto;
    return t;
  }
  [[nodiscard]] constexpr bool operator==(const tuple6&) const noexcept = default;
};

template <class T>
concept tuple_type = is_same<T, tuple4> || is_same<T, tuple6>;

// The tuple that the other direction arrives with when nothing is translated: the addresses change places, and so do the
// ports of TCP and UDP; an echo's two words do NOT (record, "A ping": thirty mismatches in a night).
template <tuple_type Tuple>
[[nodiscard]] constexpr Tuple reverse(const Tuple& t) noexcept {
  const u32 ports = is_echo(t.proto) ? t.ports : rotate_left(t.ports, 16);
  return Tuple::make(t.destination, t.source, ports, t.proto);
}

}  // namespace octep

// Golden values of every hash policy: what must not change by accident, since tables, dumps and test cases were found by it.
//
// Made once by a second implementation, in another language, from the wire bytes. Constant expressions: a compiler for a
// big-endian target checks them as well:
//   clang++ --target=s390x-linux-gnu -std=c++20 -ffreestanding -nostdinc -Iinclude -I. -fsyntax-only -x c++ FILE
#pragma once

#include <octep/hash.hpp>

#include "sim/recorded_hash_fault.hpp"

namespace octep::test {

[[nodiscard]] constexpr address4 ip(u32 a, u32 b, u32 c, u32 d) { return a | (b << 8) | (c << 16) | (d << 24); }

[[nodiscard]] constexpr tuple4 tcp(address4 from, u16 from_port, address4 to, u16 to_port) {
  return tuple4::make(from, to, join_ports(port_word(from_port), port_word(to_port)), protocol::tcp);
}

inline constexpr tuple4 golden4 = tcp(ip(192, 0, 2, 1), 49152, ip(198, 51, 100, 7), 443);
inline constexpr tuple4 golden_echo =
    tuple4::make(golden4.source, golden4.destination, join_ports(port_word(0x1234), port_word(8)), protocol::icmp);
// udp:[2001:db8::1]:49152-[2001:db8:1:0:1234:5678:0:35]:53
inline constexpr tuple6 golden6 =
    tuple6::make({0xb80d'0120, 0, 0, 0x0100'0000}, {0xb80d'0120, 0x0000'0100, 0x7856'3412, 0x3500'0000},
                 join_ports(port_word(49152), port_word(53)), protocol::udp);

struct golden {
  u32 forward4;
  u32 reverse4;
  u32 echo;
  u32 forward6;
  u32 reverse6;
};

template <hash_policy H>
[[nodiscard]] constexpr bool gives(const H& h, const golden& g) {
  return h(golden4) == g.forward4 && h(reverse(golden4)) == g.reverse4 && h(golden_echo) == g.echo &&
         h(golden6) == g.forward6 && h(reverse(golden6)) == g.reverse6;
}

static_assert(gives(recorded_mix{}, {0xfc637bbb, 0x7b9a7920, 0x59baac1d, 0x3571e094, 0xc307c774}));
static_assert(gives(sim::recorded_hash_fault{}, {0x8deeec00, 0x69e48000, 0xeab07400, 0xe3016000, 0xc6b99000}));
static_assert(gives(fold_mix{}, {0x186e2b9e, 0xb721bc51, 0xf8b27b46, 0xe728afa8, 0x6b81a2ec}));
static_assert(gives(keyed_mix{}, {0x54f0205c, 0xeda6b410, 0x957cbfc1, 0x35c3f425, 0xb5b58102}));
static_assert(gives(keyed_mix{0}, {0x4b4eeb08, 0xb64de4be, 0xab0aba07, 0x0b018c96, 0x559149b1}));
static_assert(gives(keyed_mix{~u64{0}}, {0xa9f7e1c1, 0x5b14a1bf, 0x5d9191a3, 0xdebe322a, 0x1c6efb15}));

}  // namespace octep::test

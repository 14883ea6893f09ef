// ICMP as far as it is forwarded: the echo request and its reply, and the two port words an echo is known by.
//
// Floor 2.
//
//   header   type 8 | code 8 | checksum 16 | id 16 | sequence 16      (RFC 792 and RFC 4443, the same shape)
//   ports    bits 31-16 the id's word | bits 15-0 the request's type as a word, for requests AND replies
//
// Both words are in the form of a tuple: the little-endian load of two bytes on the wire. The type is put into such a
// word as if it were a port number, as pf keeps it (system.md 2), so `destination_port()` of an echo reads 8 or 128.
//
// What it refuses: every other message. Errors and discovery belong to the host. The code is not looked at: pf keeps an
// echo by its type, and a connection that pf keeps is one that can be forwarded.
// What that buys: one tuple for both kinds of message of a direction, so that `reverse()` of a request is its reply.
// Concurrency: pure functions.
#pragma once

#include <octep/base.hpp>
#include <octep/tuple.hpp>

namespace octep {

// Bytes of an echo's header: what must be at hand to know it.
inline constexpr u32 echo_header_length = 8;

// Message types: RFC 792 and RFC 4443.
inline constexpr u8 echo4_reply = 0;
inline constexpr u8 echo4_request = 8;
inline constexpr u8 echo6_request = 128;
inline constexpr u8 echo6_reply = 129;

// Whether a message of `type` is an echo. `proto` is icmp or icmp6; the types of one mean nothing in the other.
[[nodiscard]] constexpr bool is_echo_message(protocol proto, u8 type) noexcept {
  return proto == protocol::icmp6 ? type == echo6_request || type == echo6_reply
                                  : type == echo4_request || type == echo4_reply;
}

// The port words of every echo of `proto` whose id was loaded little-endian as `id_word`.
[[nodiscard]] constexpr u32 echo_ports(protocol proto, u16 id_word) noexcept {
  return join_ports(id_word, port_word(proto == protocol::icmp6 ? echo6_request : echo4_request));
}

}  // namespace octep

// Tuples and addresses as people write them.
//
//   tcp:192.0.2.1:1234-198.51.100.7:443         source address:port - destination address:port, as the frame arrives
//   udp:[2001:db8::1]:5-[2001:db8::2]:53        an IPv6 address stands in brackets
//   icmp:192.0.2.1-198.51.100.7:77              an echo has no ports: the message's identifier stands at the end
//   icmp6:[2001:db8::1]-[2001:db8::2]:77        `icmp` before IPv6 addresses means the same
//
// Numbers are decimal, 0 to 65535, in host order as a person reads them; a tuple holds the words of the wire.
// Refuses: names, zones (%eth0), ports by service name, and an address with a port left out.
// Concurrency: functions of their arguments.
#pragma once

#include "sim/wide_tuple.hpp"

#include <octep/tuple.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace octep::tools {

using any_tuple = std::variant<tuple4, tuple6>;
using any_address = std::variant<address4, address6>;

// Empty: `error` is one sentence that quotes the text and says what is wrong with it. `error` is else left alone.
[[nodiscard]] std::optional<any_tuple> parse_tuple(std::string_view text, std::string& error);

// An address without brackets, IPv4 in four parts or IPv6. Empty: it is neither.
[[nodiscard]] std::optional<any_address> parse_address(std::string_view text);

// What `parse_tuple` reads back as the same tuple. A protocol that octep does not know is written `ipN` with ports.
[[nodiscard]] std::string to_text(const tuple4& t);
[[nodiscard]] std::string to_text(const tuple6& t);
[[nodiscard]] std::string to_text(const any_tuple& t);
[[nodiscard]] std::string to_text(const sim::wide_tuple& t);

// "tcp", "udp", "icmp", "icmp6"; of another, "ipN".
[[nodiscard]] std::string protocol_text(protocol p);

// Dotted or RFC 5952, without brackets.
[[nodiscard]] std::string address_text(address4 a);
[[nodiscard]] std::string address_text(const address6& a);

}  // namespace octep::tools

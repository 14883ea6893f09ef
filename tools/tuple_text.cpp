#include "tools/tuple_text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <charconv>

namespace octep::tools {
namespace {

// The type of an echo request, which an echo's tuple keeps for both ways (system.md 2).
constexpr u16 echo_request = 8;
constexpr u16 echo_request6 = 128;

std::optional<u16> parse_number(std::string_view text) {
  u16 value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes the address that `rest` begins with, brackets and all, and leaves what follows it.
std::optional<any_address> take_address(std::string_view& rest) {
  const bool bracketed = rest.starts_with('[');
  const usize end = bracketed ? rest.find(']') : rest.find_first_of(":-");
  if (bracketed && end == std::string_view::npos) return std::nullopt;
  const std::string_view text = bracketed ? rest.substr(1, end - 1) : rest.substr(0, end);
  const auto address = parse_address(text);
  if (!address || std::holds_alternative<address6>(*address) != bracketed) return std::nullopt;
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + (bracketed ? 1 : 0));
  return address;
}

// Takes `:NUMBER` up to the next `-` or the end.
std::optional<u16> take_number(std::string_view& rest) {
  if (!rest.starts_with(':')) return std::nullopt;
  const usize end = rest.find('-');
  const auto number = parse_number(rest.substr(1, end == std::string_view::npos ? end : end - 1));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  return number;
}

struct written {
  any_address source;
  any_address destination;
  u16 first = 0;   // source port, or an echo's identifier
  u16 second = 0;  // destination port
};

// Empty with `wrong` set: the part that could not be read.
std::optional<written> take_ends(std::string_view rest, bool echo, const char*& wrong) {
  written w;
  const auto source = take_address(rest);
  if (!source) return wrong = "the source is no address (IPv6 stands in brackets)", std::nullopt;
  if (!echo) {
    const auto port = take_number(rest);
    if (!port) return wrong = "the source address is not followed by :PORT, 0 to 65535", std::nullopt;
    w.first = *port;
  }
  if (!rest.starts_with('-')) return wrong = "the source is not followed by - and a destination", std::nullopt;
  rest.remove_prefix(1);
  const auto destination = take_address(rest);
  if (!destination) return wrong = "the destination is no address (IPv6 stands in brackets)", std::nullopt;
  const auto last = take_number(rest);
  if (!last || !rest.empty()) {
    wrong = echo ? "the text does not end in :IDENTIFIER, 0 to 65535" : "the text does not end in :PORT, 0 to 65535";
    return std::nullopt;
  }
  (echo ? w.first : w.second) = *last;
  if (source->index() != destination->index()) return wrong = "the two addresses are of different families", std::nullopt;
  w.source = *source;
  w.destination = *destination;
  return w;
}

template <class Tuple>
std::string tuple_text(const Tuple& t, std::string_view open, std::string_view close) {
  const std::string from = fmt::format("{}{}{}", open, address_text(t.source), close);
  const std::string to = fmt::format("{}{}{}", open, address_text(t.destination), close);
  if (is_echo(t.proto)) {
    return fmt::format("{}:{}-{}:{}", protocol_text(t.proto), from, to, t.source_port());
  }
  return fmt::format("{}:{}:{}-{}:{}", protocol_text(t.proto), from, t.source_port(), to, t.destination_port());
}

}  // namespace

std::string protocol_text(protocol p) {
  switch (p) {
    case protocol::tcp: return "tcp";
    case protocol::udp: return "udp";
    case protocol::icmp: return "icmp";
    case protocol::icmp6: return "icmp6";
  }
  return fmt::format("ip{}", static_cast<u32>(p));
}

std::optional<any_address> parse_address(std::string_view text) {
  const std::string terminated{text};
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  u8 bytes[16];
  if (inet_pton(AF_INET, terminated.c_str(), bytes) == 1) return load_le32(bytes);
  if (inet_pton(AF_INET6, terminated.c_str(), bytes) == 1) {
    return address6{load_le32(bytes), load_le32(bytes + 4), load_le32(bytes + 8), load_le32(bytes + 12)};
  }
  return std::nullopt;
}

std::optional<any_tuple> parse_tuple(std::string_view text, std::string& error) {
  const usize colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool echo = name == "icmp" || name == "icmp6";
  const char* wrong = "it does not begin with tcp:, udp:, icmp: or icmp6:";
  std::optional<written> w;
  if (colon != std::string_view::npos && (echo || name == "tcp" || name == "udp")) {
    w = take_ends(text.substr(colon + 1), echo, wrong);
  }
  const bool six = w && std::holds_alternative<address6>(w->source);
  if (w && name == "icmp6" && !six) {
    wrong = "icmp6 goes between IPv6 addresses";
    w.reset();
  }
  if (!w) {
    error = fmt::format("'{}' is no tuple: {}", text, wrong);
    return std::nullopt;
  }
  const u16 second = !echo ? w->second : six ? echo_request6 : echo_request;
  const u32 ports = join_ports(port_word(w->first), port_word(second));
  const protocol proto = echo ? (six ? protocol::icmp6 : protocol::icmp) : name == "tcp" ? protocol::tcp : protocol::udp;
  if (six) return tuple6::make(std::get<address6>(w->source), std::get<address6>(w->destination), ports, proto);
  return tuple4::make(std::get<address4>(w->source), std::get<address4>(w->destination), ports, proto);
}

std::string address_text(address4 a) {
  u8 bytes[4];
  store_le32(bytes, a);
  return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

std::string address_text(const address6& a) {
  u8 bytes[16];
  for (usize i = 0; i < 4; ++i) store_le32(bytes + 4 * i, a[i]);
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, bytes, text, sizeof text);
}

std::string to_text(const tuple4& t) { return tuple_text(t, "", ""); }
std::string to_text(const tuple6& t) { return tuple_text(t, "[", "]"); }
std::string to_text(const any_tuple& t) {
  return std::visit([](const auto& one) { return to_text(one); }, t);
}

std::string to_text(const sim::wide_tuple& t) {
  return t.which == family::ipv4 ? to_text(t.as<tuple4>()) : to_text(t.as<tuple6>());
}

}  // namespace octep::tools

// The model of the frame parser and of the prefix: slow, written from the prose of frame.hpp and metadata.hpp, one byte
// at a time, sharing no code with them but the vocabulary. Tests and fuzzers compare the two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <octep/frame.hpp>
#include <octep/metadata.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace octep::test {

struct verdict {
  reason why = reason::none;
  std::optional<tuple4> v4{};
  std::optional<tuple6> v6{};
  bool closing = false;
  bool syn = false;
  unsigned vlan = 0;
  std::size_t network_offset = 0;

  bool operator==(const verdict&) const = default;
};

// What the fast parser said, in the same form: tuples only of a candidate, and only the one that is meant.
inline verdict verdict_of(const frame_facts& f) {
  verdict v{.why = f.why, .closing = f.closing, .syn = f.syn, .vlan = f.vlan, .network_offset = f.network_offset};
  if (f.why != reason::none) return v;
  if (f.which == family::ipv4)
    v.v4 = f.v4;
  else
    v.v6 = f.v6;
  return v;
}

class reference_parser {
 public:
  // `bytes` are those at hand, at most `wire` of them.
  reference_parser(std::vector<std::uint8_t> bytes, std::size_t wire) : bytes_{std::move(bytes)}, wire_{wire} {
    if (bytes_.size() > wire_) bytes_.resize(wire_);
  }

  verdict ethernet() {
    verdict v;
    v.why = lacks(0, 14) ? reason::truncated : link(v, 14, number(12, 2), bit(0, 7) || bit(6, 7));
    return v;
  }

  verdict network(std::size_t offset, unsigned ethertype) {
    verdict v;
    v.why = offset > 32767 ? reason::truncated : link(v, offset, ethertype, false);
    return v;
  }

 private:
  [[nodiscard]] bool lacks(std::size_t at, std::size_t count) const { return bytes_.size() < at + count; }
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t count) const {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n = n * 256 + bytes_.at(at + i);
    return n;
  }
  // Bit 0 is the first on the wire of a field written from the left.
  [[nodiscard]] bool bit(std::size_t at, unsigned which) const { return (bytes_.at(at) >> (7 - which)) % 2 == 1; }
  // Wire bytes, the first of them the lowest.
  [[nodiscard]] u32 reversed(std::size_t at, std::size_t count) const {
    std::uint64_t n = 0;
    for (std::size_t i = count; i-- > 0;) n = n * 256 + bytes_.at(at + i);
    return static_cast<u32>(n);
  }

  reason link(verdict& v, std::size_t at, std::uint64_t type, bool group) {
    std::vector<unsigned> tags;
    while ((type == 0x8100 || type == 0x88a8) && tags.size() < 4) {
      if (lacks(at, 4)) return reason::truncated;
      tags.push_back(static_cast<unsigned>(number(at, 2) % 4096));
      type = number(at + 2, 2);
      at += 4;
    }
    if (type == 0x8863 || type == 0x8864) return reason::pppoe;
    if (type != 0x0800 && type != 0x86dd) return reason::not_ip;
    group_ = group;
    start_ = at;
    verdict found;
    const reason why = type == 0x0800 ? version4(found) : version6(found);
    if (why != reason::none) return why;
    v = found;
    v.vlan = tags.empty() ? 0 : tags.front();
    v.network_offset = at;
    return reason::none;
  }

  static bool tunnels(std::uint64_t protocol) { return std::set<std::uint64_t>{4, 41, 47, 50, 51}.contains(protocol); }

  [[nodiscard]] bool group_address4(std::size_t at) const {
    const std::uint64_t a = number(at, 4);
    return (a >= 0xe0000000 && a <= 0xefffffff) || a == 0xffffffff;
  }

  reason version4(verdict& v) {
    if (lacks(start_, 20)) return reason::truncated;
    if (number(start_, 1) < 0x40 || number(start_, 1) > 0x4f) return reason::not_ip;
    const std::uint64_t carried = number(start_ + 9, 1);
    if (tunnels(carried)) return reason::tunnel;
    if (carried != 1 && carried != 6 && carried != 17) return reason::other_protocol;
    if (group_ || group_address4(start_ + 12) || group_address4(start_ + 16)) return reason::multicast;
    if (bit(start_ + 6, 2) || number(start_ + 6, 2) % 8192 != 0) return reason::fragment;
    const std::uint64_t words = number(start_, 1) - 0x40;
    if (words < 5) return reason::length_lies;
    const std::uint64_t total = number(start_ + 2, 2);
    if (total == 0) return reason::superframe;
    if (total < 4 * words || start_ + total > wire_) return reason::length_lies;
    v.v4 = tuple4{};
    v.v4->source = reversed(start_ + 12, 4);
    v.v4->destination = reversed(start_ + 16, 4);
    return transport(v, *v.v4, start_ + 4 * words, start_ + total, carried);
  }

  reason version6(verdict& v) {
    if (lacks(start_, 40)) return reason::truncated;
    if (number(start_, 1) < 0x60 || number(start_, 1) > 0x6f) return reason::not_ip;
    const std::uint64_t carried = number(start_ + 6, 1);
    const reason objection = carried == 0 ? reason::none : carried6(carried);
    if (objection == reason::tunnel || objection == reason::other_protocol) return objection;
    if (group_ || number(start_ + 8, 1) == 255 || number(start_ + 24, 1) == 255) return reason::multicast;
    if (objection != reason::none) return objection;
    const std::uint64_t payload = number(start_ + 4, 2);
    if (payload == 0 && (carried == 6 || carried == 17)) return reason::superframe;
    if (payload == 0 && carried == 0) return jumbo();
    if (start_ + 40 + payload > wire_) return reason::length_lies;
    v.v6 = tuple6{};
    for (unsigned i = 0; i < 4; ++i) v.v6->source[i] = reversed(start_ + 8 + 4 * i, 4);
    for (unsigned i = 0; i < 4; ++i) v.v6->destination[i] = reversed(start_ + 24 + 4 * i, 4);
    return behind(v, carried, start_ + 40, start_ + 40 + payload, 0);
  }

  // What a number says that is no hop-by-hop options: nothing, or why not.
  static reason carried6(std::uint64_t number) {
    switch (number) {
      case 6:
      case 17:
      case 58:
      case 43:
      case 60:
        return reason::none;
      case 44:
        return reason::fragment;
      default:
        return tunnels(number) ? reason::tunnel : reason::other_protocol;
    }
  }

  reason behind(verdict& v, std::uint64_t carried, std::size_t at, std::size_t end, unsigned headers) {
    if (carried == 6 || carried == 17 || carried == 58) return transport(v, *v.v6, at, end, carried);
    if (headers == 8) return reason::other_protocol;
    if (at + 8 > end) return reason::length_lies;
    if (lacks(at, 8)) return reason::truncated;
    const std::uint64_t next = number(at, 1);
    const std::size_t length = 8 + 8 * number(at + 1, 1);
    if (const reason objection = carried6(next); objection != reason::none) return objection;
    if (at + length > end) return reason::length_lies;
    return behind(v, next, at + length, end, headers + 1);
  }

  reason jumbo() {
    const std::size_t at = start_ + 40;
    if (at + 8 > wire_) return reason::length_lies;
    if (lacks(at, 8)) return reason::truncated;
    const std::size_t length = 8 + 8 * number(at + 1, 1);
    if (at + length > wire_) return reason::length_lies;
    if (lacks(at, length)) return reason::truncated;
    std::vector<std::uint8_t> options(bytes_.begin() + static_cast<std::ptrdiff_t>(at + 2),
                                      bytes_.begin() + static_cast<std::ptrdiff_t>(at + length));
    while (!options.empty()) {
      std::size_t used = 1;
      if (options[0] != 0) {
        if (options.size() < 2) return reason::length_lies;
        used = 2 + std::size_t{options[1]};
      }
      if (used > options.size()) return reason::length_lies;
      if (options[0] == 0xc2 && used == 6) return reason::superframe;
      options.erase(options.begin(), options.begin() + static_cast<std::ptrdiff_t>(used));
    }
    return reason::length_lies;
  }

  template <class Tuple>
  reason transport(verdict& v, Tuple& tuple, std::size_t at, std::size_t end, std::uint64_t carried) {
    const std::size_t header = carried == 6 ? 20 : 8;
    if (at + header > end) return reason::length_lies;
    if (lacks(at, header)) return reason::truncated;
    tuple.proto = static_cast<protocol>(carried);
    const u32 first = reversed(at, 2), second = reversed(at + 2, 2);
    if (carried == 1 || carried == 58) {
      const std::uint64_t type = number(at, 1);
      const bool request = type == (carried == 1 ? 8U : 128U);
      const bool reply = type == (carried == 1 ? 0U : 129U);
      if (!request && !reply) return reason::other_icmp;
      tuple.ports = reversed(at + 4, 2) * 65536 + (carried == 1 ? 0x0800 : 0x8000);
      return reason::none;
    }
    tuple.ports = first * 65536 + second;
    if (carried == 17) {
      const std::uint64_t length = number(at + 4, 2);
      return length < 8 || at + length > end ? reason::length_lies : reason::none;
    }
    const std::uint64_t words = number(at + 12, 1) / 16;
    if (words < 5 || at + 4 * words > end) return reason::length_lies;
    const bool fin = bit(at + 13, 7), syn = bit(at + 13, 6), rst = bit(at + 13, 5), ack = bit(at + 13, 3);
    v.closing = fin || rst;
    v.syn = syn && !ack;
    return reason::none;
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t wire_;
  std::size_t start_ = 0;  // of the IP header
  bool group_ = false;
};

struct prefix_verdict {
  reason why = reason::none;
  punt_metadata metadata{};
  std::size_t at_hand = 0;  // of the frame behind it
  std::size_t wire = 0;

  bool operator==(const prefix_verdict&) const = default;
};

// Of the recorded layout, its numbers written out again.
inline prefix_verdict reference_prefix(std::vector<std::uint8_t> bytes, std::size_t wire) {
  if (bytes.size() > wire) bytes.resize(wire);
  if (bytes.size() < 82) return {.why = reason::truncated};
  const auto big = [&](std::size_t at, std::size_t count) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n = n * 256 + bytes[at + i];
    return n;
  };
  const auto little = [&](std::size_t at, std::size_t count) {
    std::uint64_t n = 0;
    for (std::size_t i = count; i-- > 0;) n = n * 256 + bytes[at + i];
    return static_cast<u32>(n);
  };
  const std::uint64_t length = big(0, 8);
  if (big(8, 8) != 0x8003000000000000 || length > wire - 82) return {.why = reason::length_lies};
  prefix_verdict v;
  v.wire = length;
  v.at_hand = std::min<std::size_t>(bytes.size() - 82, length);
  const bool valid = bytes[18 + 5] != 0;
  v.metadata.port = static_cast<u16>(valid ? little(18 + 6, 2) : big(16, 2));
  if (valid) v.metadata.association.word = little(18 + 12, 4);
  const u32 flow = little(18 + 8, 4);
  if (!valid || flow < 0x80000000 || flow % 0x2000000 == 0)
    v.why = reason::no_identity;
  else
    v.metadata.who.word = flow;
  return v;
}

}  // namespace octep::test

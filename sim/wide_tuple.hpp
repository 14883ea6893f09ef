// One tuple type for models: both families in one value, so that a model is written once.
//
// What it is: the members of tuple6, with an IPv4 address in the first word (as `rewrite` of commands.hpp keeps it) and the
// family beside it. Converts from and to the core's tuples without loss.
// What it refuses: the core's economy. Models are host code; what they must be is readable.
#pragma once

#include <cstddef>
#include <functional>

#include <octep/base.hpp>
#include <octep/identity.hpp>
#include <octep/tuple.hpp>

namespace octep::sim {

[[nodiscard]] constexpr address6 widen(address4 a) noexcept { return {a, 0, 0, 0}; }
[[nodiscard]] constexpr address6 widen(const address6& a) noexcept { return a; }

template <tuple_type Tuple>
[[nodiscard]] constexpr typename Tuple::address narrow(const address6& a) noexcept {
  if constexpr (Tuple::which == family::ipv4) {
    return a[0];
  } else {
    return a;
  }
}

struct wide_tuple {
  family which = family::ipv4;
  protocol proto = protocol::tcp;
  address6 source{};
  address6 destination{};
  u32 ports = 0;

  constexpr wide_tuple() noexcept = default;
  // A core tuple is a wide tuple: the conversion loses nothing, so it is implicit.
  template <tuple_type Tuple>
  constexpr wide_tuple(const Tuple& t) noexcept  // NOLINT(google-explicit-constructor)
      : which{Tuple::which}, proto{t.proto}, source{widen(t.source)}, destination{widen(t.destination)}, ports{t.ports} {}

  // Only meaningful for the tuple's own family.
  template <tuple_type Tuple>
  [[nodiscard]] constexpr Tuple as() const noexcept {
    return Tuple::make(narrow<Tuple>(source), narrow<Tuple>(destination), ports, proto);
  }

  [[nodiscard]] constexpr u16 source_word() const noexcept { return static_cast<u16>(ports >> 16); }
  [[nodiscard]] constexpr u16 destination_word() const noexcept { return static_cast<u16>(ports); }
  [[nodiscard]] constexpr bool operator==(const wide_tuple&) const noexcept = default;
};

// The tuple of whatever names one by its family: `which`, `v4`, `v6` (frame_facts, event).
template <class Named>
[[nodiscard]] constexpr wide_tuple tuple_of(const Named& n) noexcept {
  return n.which == family::ipv4 ? wide_tuple{n.v4} : wide_tuple{n.v6};
}

// As octep::reverse: an echo's two words stay where they are.
[[nodiscard]] constexpr wide_tuple reverse(const wide_tuple& t) noexcept {
  wide_tuple r = t;
  r.source = t.destination;
  r.destination = t.source;
  if (!is_echo(t.proto)) r.ports = rotate_left(t.ports, 16);
  return r;
}

// reverse(t) == other, without making it.
[[nodiscard]] constexpr bool is_reverse(const wide_tuple& t, const wide_tuple& other) noexcept {
  return t.ports == (is_echo(other.proto) ? other.ports : rotate_left(other.ports, 16)) && t.source == other.destination &&
         t.destination == other.source && t.proto == other.proto && t.which == other.which;
}

// For the models' own maps; has nothing to do with the hash policies under test.
[[nodiscard]] constexpr u64 scatter(u64 seed, u64 value) noexcept {
  u64 x = (seed ^ value) * 0x9e37'79b9'7f4a'7c15U;
  x ^= x >> 32;
  return x * 0xd6e8'feb8'6659'fd93U;
}
[[nodiscard]] constexpr u64 scatter(const wide_tuple& t) noexcept {
  u64 h = scatter(static_cast<u64>(t.which), (u64{t.ports} << 32) | static_cast<u32>(t.proto));
  const usize words = t.which == family::ipv4 ? 1 : 4;
  for (usize i = 0; i < words; ++i) h = scatter(h, (u64{t.source[i]} << 32) | t.destination[i]);
  return h ^ (h >> 29);
}
// The same for a tuple and its reverse: a connection is found by either.
[[nodiscard]] constexpr u64 scatter_either_way(const wide_tuple& t) noexcept {
  const bool echo = is_echo(t.proto);
  u64 from = scatter(static_cast<u64>(t.proto), (u64{t.source[0]} << 32) | (echo ? t.ports : t.source_word()));
  u64 to = scatter(static_cast<u64>(t.proto), (u64{t.destination[0]} << 32) | (echo ? t.ports : t.destination_word()));
  if (t.which == family::ipv6)
    for (usize i = 1; i < 4; ++i) {
      from = scatter(from, t.source[i]);
      to = scatter(to, t.destination[i]);
    }
  return scatter(static_cast<u64>(t.which), from + to);
}

struct wide_tuple_hash {
  [[nodiscard]] std::size_t operator()(const wide_tuple& t) const noexcept { return scatter(t); }
};

}  // namespace octep::sim

// Derivation: from the firewall's one answer, both ingress tuples of a connection and what each is rewritten to.
//
// Floor 4.
//
//                 arrives as                              leaves as
//   direction 0   opener    -> responder_seen             opener_translated -> responder
//   direction 1   responder -> opener_translated          responder_seen    -> opener
//
// Each direction leaves as the reverse of how the other arrives: that is all NAT is, source, destination or both.
// An echo's words are {id, type} both ways and never change places; an opener's end carries the id, the other the type.
//
// What it refuses: a guess. Nothing here looks at a frame; the caller compares the tuple in hand (`direction_of`).
// What that buys: a mismatch is found before anything is programmed (`flow_tuple_mismatch`).
// Concurrency: pure functions.
#pragma once

#include <octep/base.hpp>
#include <octep/commands.hpp>
#include <octep/connections.hpp>
#include <octep/firewall.hpp>
#include <octep/tuple.hpp>

namespace octep {

namespace detail {
template <tuple_type Tuple>
[[nodiscard]] constexpr Tuple from_opener(const endpoint<Tuple>& opener, const endpoint<Tuple>& responder,
                                          protocol proto) noexcept {
  return Tuple::make(opener.address, responder.address, join_ports(opener.word, responder.word), proto);
}

[[nodiscard]] constexpr address6 widen(address4 a) noexcept { return {a, 0, 0, 0}; }
[[nodiscard]] constexpr const address6& widen(const address6& a) noexcept { return a; }
}  // namespace detail

// Both tuples as they arrive, [0] the opener's frames, [1] the responder's. `a.found` holds.
template <tuple_type Tuple>
[[nodiscard]] constexpr tuple_pair<Tuple> derive(const firewall_answer<Tuple>& a) noexcept {
  return {detail::from_opener(a.opener, a.responder_seen, a.proto),
          reverse(detail::from_opener(a.opener_translated, a.responder, a.proto))};
}

// What the far side writes into that direction's frames: the reverse of how the other arrives. Fields equal to the tuple's
// own mean no translation.
template <tuple_type Tuple>
[[nodiscard]] constexpr rewrite rewrite_of(const tuple_pair<Tuple>& pair, u32 direction) noexcept {
  const Tuple out = reverse(pair[1 - direction]);
  return {detail::widen(out.source), detail::widen(out.destination), out.ports};
}

// Whether some direction's frames leave otherwise than they arrive. One direction tells: the other is its mirror.
template <tuple_type Tuple>
[[nodiscard]] constexpr bool translates(const tuple_pair<Tuple>& pair) noexcept {
  return reverse(pair[1]) != pair[0];
}

// 0 or 1: the direction whose frames arrive with this tuple; -1: neither.
template <tuple_type Tuple>
[[nodiscard]] constexpr int direction_of(const tuple_pair<Tuple>& pair, const Tuple& tuple) noexcept {
  return tuple == pair[0] ? 0 : tuple == pair[1] ? 1 : -1;
}

}  // namespace octep

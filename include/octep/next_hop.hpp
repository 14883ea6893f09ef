// Next hops: the vocabulary of the question "where does this direction leave?" and its answer.
//
// Floor 2.
//
// Whether the way out is a front port is decided by the state's own route, by the route table, and by where the OTHER
// direction's frames arrive, never by the host's route alone (system.md 8; record: a dropped fix). So the question carries
// all three, and a bridge, which names no port, is answered with the port where the other direction arrives.
//
// Refuses: a pointer in an answer. Buys: no route lock is held across a call.
// Concurrency: values. `resolve` is called under the pass lock; it must not sleep and must not send.
#pragma once

#include <octep/base.hpp>
#include <octep/identity.hpp>
#include <octep/reasons.hpp>
#include <octep/tuple.hpp>

namespace octep {

// What a next-hop command programs. Equal hops are shared.
struct next_hop {
  u16 port = 0;  // front port
  u16 vlan = 0;  // 0: untagged
  u16 mtu = 0;   // bytes of IP
  array<u8, 6> source_mac{};
  array<u8, 6> destination_mac{};

  [[nodiscard]] constexpr bool operator==(const next_hop&) const noexcept = default;
};

template <tuple_type Tuple>
struct next_hop_question {
  typename Tuple::address destination{};  // after translation, as Tuple keeps addresses
  typename Tuple::address source{};       // after translation: for policy routes
  own_route route;
  ingress from;   // where this direction's frames arrive
  ingress other;  // where the other direction's frames arrive
};

// why == none: `hop` is the way out. Otherwise one of flow_nonhop_*.
struct next_hop_answer {
  reason why = reason::flow_nonhop_no_route;
  next_hop hop;
  // The kernel's number of the association that encrypts what leaves there, and `hop` is the way to its other end. 0: none does.
  u32 association = 0;
};

template <class S>
concept next_hop_source = requires(S& s, const next_hop_question<tuple4>& q4, const next_hop_question<tuple6>& q6) {
  { s.resolve(q4) } -> same_as<next_hop_answer>;
  { s.resolve(q6) } -> same_as<next_hop_answer>;
};

}  // namespace octep

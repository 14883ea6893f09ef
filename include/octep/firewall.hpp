// The firewall: the vocabulary of the question "which connection is this tuple's?" and its answer.
//
// Floor 2.
//
//   opener ──(opener, responder_seen)──▶ [ appliance ] ──(opener_translated, responder)──▶ responder
//          ◀─(responder_seen, opener)───               ◀─(responder, opener_translated)──
//
// The answer is by value, with the id of each of the connection's one or two states. Later calls find again and compare
// the id, so no lock of the firewall is ever held across a call (architecture.md, decisions).
//
// Refuses: a pointer or a lock in an answer. Buys: a state may die at any moment and nothing dangles.
// Concurrency: called under the pass lock only; a call must not sleep.
#pragma once

#include <octep/base.hpp>
#include <octep/identity.hpp>
#include <octep/reasons.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

// One end of a connection: address and port word (little-endian loads of the wire bytes). For an echo the word of either
// opener end is the message's id there, and the word of either responder end is the request's type.
template <tuple_type Tuple>
struct endpoint {
  typename Tuple::address address{};
  u16 word = 0;

  [[nodiscard]] constexpr bool operator==(const endpoint&) const noexcept = default;
};

enum class timer_class : u8 {
  opening,  // a handshake that is not complete, a first datagram
  settled,  // the long timer: TCP established, UDP multiple, echo
  closing,  // FIN or RST was seen
};

enum class peer_state : u8 {
  silent,       // nothing of it was seen
  heard,        // one packet
  established,  // TCP: its SYN is acknowledged; UDP: more than one packet
};

// What a state demands that hardware cannot do (system.md 8). `reason::none`: it may leave the host.
using eligibility = reason;

struct state_id {
  u64 value = 0;  // 0: no such state
  [[nodiscard]] constexpr bool operator==(const state_id&) const noexcept = default;
};

template <tuple_type Tuple>
struct firewall_answer {
  bool found = false;
  protocol proto = protocol::tcp;

  endpoint<Tuple> opener;             // as the opener's frames arrive
  endpoint<Tuple> responder_seen;     // where the opener sends to
  endpoint<Tuple> opener_translated;  // as they leave
  endpoint<Tuple> responder;          // where they are delivered

  array<state_id, 2> states;  // one per side of the appliance; the second may be absent
  array<own_route, 2> route;  // of direction 0 and 1; handle 0: the route table's

  timer_class timer = timer_class::opening;  // the least settled of the states
  peer_state opener_peer = peer_state::silent;
  peer_state responder_peer = peer_state::silent;
  microseconds age;        // since the state was created
  microseconds remaining;  // until it expires
  eligibility verdict = reason::none;
};

template <class F>
concept firewall_policy = requires(F& f, const tuple4& t4, const tuple6& t6, const array<state_id, 2>& ids, instant now) {
  // The connection of a tuple as it arrives, in either direction; `found` false where there is none.
  { f.find(t4, now) } -> same_as<firewall_answer<tuple4>>;
  { f.find(t6, now) } -> same_as<firewall_answer<tuple6>>;
  // True while each id that is not 0 names a living state.
  { f.alive(ids, now) } -> same_as<bool>;
  // How long until the first of them ends if no frame comes; zero where `alive` is false.
  { f.remaining(ids, now) } -> same_as<microseconds>;
  // Frames of the connection went by in hardware: their timers start afresh, as if the host had seen one.
  f.restamp(ids, now);
  // The states tolerate windows they did not see. Only these ids; an id that is gone is passed over.
  f.relax(ids, now);
};

}  // namespace octep

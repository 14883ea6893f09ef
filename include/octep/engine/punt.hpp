// Punt: a frame the coprocessor did not know becomes a candidate (system.md 2 to 5).
//
// Floor 7.
//
//   frame ─▶ parse ─▶ identity? ─▶ hash ─▶ hot? ─▶ slot (one word, tried once) ─▶ kick
//
// Called by any ring, inside the caller's critical section; a ring number is used by one thread at a time.
// Refuses: a lock, a wait, a question, an allocation. What it cannot write it counts.
#pragma once

#include <octep/engine/state.hpp>
#include <octep/frame.hpp>
#include <octep/metadata.hpp>

namespace octep {

struct punt_result {
  reason why = reason::none;  // none: the frame left a candidate
  bool kicked = false;        // this frame woke the worker
};

namespace punting {

// The edge is taken after the slot's word is released. The exchange pairs with the worker's own in `runs::begin`: whichever
// of the two is later sees what the other did, so a due candidate is either read by that run or asks for another.
template <class S>
[[nodiscard]] bool kick(S& s) noexcept {
  if (s.kicked.exchange_acq_rel(1) != 0) return false;
  s.world->kick();
  return true;
}

template <tuple_type Tuple, class S>
[[nodiscard]] punt_result write(S& s, u32 ring, const Tuple& tuple, const arrival& how) noexcept {
  auto& count = s.rings[ring];
  // Relaxed: a switch that moves is seen some frames later, and guards nothing.
  const u32 switches = s.receive_switches.load_relaxed();
  const u32 hashed = s.hash(tuple);
  const bool perhaps_held = s.hot.perhaps(hashed);
  const write_outcome wrote = s.template candidates_for<Tuple>().write(tuple, hashed, how, switches >> due_log2_shift);
  if (wrote.clash) {
    count.add(reason::clash);
    return {reason::clash, false};
  }
  count.add(ring_counter::cand_pushed);
  if (wrote.lost) count.add(ring_counter::cand_lost);
  if (wrote.evicted) count.add(ring_counter::cand_evicted);
  if (wrote.evicted_read) count.add(ring_counter::cand_evicted_read);
  if (wrote.due) count.add(ring_counter::cand_due);
  if (perhaps_held) count.add(ring_counter::hot_frames);

  constexpr u32 makes_on = Tuple::which == family::ipv4 ? run_makes_on : run_makes6_on;
  const bool asks = ((switches & runs_on) != 0 && perhaps_held) || ((switches & makes_on) != 0 && wrote.due);
  const bool kicked = asks && kick(s);
  if (kicked) count.add(ring_counter::fast_kicks);
  return {reason::none, kicked};
}

// A frame that somebody has parsed already, from whatever its capture began with.
template <class S>
[[nodiscard]] punt_result parsed(S& s, u32 ring, const frame_facts& facts, u32 wire_length, const punt_metadata& from,
                                 instant now) noexcept {
  auto& count = s.rings[ring];
  count.add(ring_counter::frames);
  count.add(ring_counter::bytes, wire_length);
  const reason why =
      facts.why == reason::none && !from.who.names_flow() ? reason::no_identity : facts.why;
  if (why != reason::none) {
    count.add(why);
    return {why, false};
  }
  const arrival how{from.who, {from.port, facts.vlan}, from.association, facts.closing, tick::at(now)};
  return facts.which == family::ipv4 ? write(s, ring, facts.v4, how) : write(s, ring, facts.v6, how);
}

template <class S>
[[nodiscard]] punt_result frame(S& s, u32 ring, const frame_view& in, const punt_metadata& from, instant now) noexcept {
  frame_facts facts;
  parse_ethernet(in, facts);
  return parsed(s, ring, facts, in.wire_length, from, now);
}

// A frame behind its metadata. A prefix that cannot be read counts like a frame that cannot, with the bytes at hand.
template <prefix_policy Prefix, class S>
[[nodiscard]] punt_result prefixed(S& s, u32 ring, const frame_view& in, instant now) noexcept {
  punt_metadata from;
  frame_view inner;
  const reason why = parse_prefix<Prefix>(in, from, inner);
  if (why == reason::none || why == reason::no_identity) return frame(s, ring, inner, from, now);
  frame_facts facts;
  facts.why = why;
  return parsed(s, ring, facts, in.wire_length, from, now);
}

}  // namespace punting
}  // namespace octep

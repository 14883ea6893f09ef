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
[[nodiscard, gnu::always_inline]] inline punt_result write(S& s, u32 ring, const Tuple& tuple,
                                                           const packed_arrival& how) noexcept {
  auto& count = s.rings[ring];
  // Relaxed: a switch that moves is seen some frames later, and guards nothing.
  const u32 switches = s.receive_switches.load_relaxed();
  const u32 hashed = s.hash(tuple);
  const bool perhaps_held = s.hot.perhaps(hashed);
  const u32 said =
      s.template candidates_for<Tuple>().write_for_bits(tuple, hashed, how, switches >> due_log2_shift);
  if (said == write_outcome::lost_alone && !perhaps_held) [[likely]] {
    count.add(ring_counter::cand_pushed);
    count.add(ring_counter::cand_lost);
    return {};
  }
  const write_outcome wrote = write_outcome::from_bits(said);
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

template <class S>
void count_frame(S& s, u32 ring, u32 wire_length) noexcept {
  s.rings[ring].add(ring_counter::frames);
  s.rings[ring].add(ring_counter::bytes, wire_length);
}

// A frame that cannot become a candidate.
template <class S>
[[nodiscard, gnu::noinline]] punt_result refuse(S& s, u32 ring, u32 wire_length, reason why) noexcept {
  count_frame(s, ring, wire_length);
  s.rings[ring].add(why);
  return {why, false};
}

[[nodiscard]] constexpr reason objection(const frame_facts& facts, const punt_metadata& from) noexcept {
  return facts.why == reason::none && !from.who.names_flow() ? reason::no_identity : facts.why;
}

[[nodiscard]] constexpr packed_arrival arrived(const punt_metadata& from, u16 vlan, bool closing, instant now) noexcept {
  return packed_arrival{arrival{from.who, {from.port, vlan}, from.association, closing, tick::at(now)}};
}

// A frame that somebody has parsed already, from whatever its capture began with.
template <class S>
[[nodiscard]] punt_result parsed(S& s, u32 ring, const frame_facts& facts, u32 wire_length, const punt_metadata& from,
                                 instant now) noexcept {
  const reason why = objection(facts, from);
  if (why != reason::none) return refuse(s, ring, wire_length, why);
  count_frame(s, ring, wire_length);
  const packed_arrival how = arrived(from, facts.vlan, facts.closing, now);
  return facts.which == family::ipv4 ? write(s, ring, facts.v4, how) : write(s, ring, facts.v6, how);
}

// What the parser says where the common way ends.
struct uncommon_frame {
  common_frame four;
  u16 vlan;
  bool joins;  // a tuple of IPv4: `four` and `vlan` say all of it, and the common way goes on
  punt_result ended;
};

// Apart, so that what does not fit registers stays out of the common way.
template <class S>
[[gnu::noinline]] void uncommon(S& s, u32 ring, const frame_view& in, const punt_metadata& from, instant now,
                                uncommon_frame& out) noexcept {
  frame_facts facts;
  detail::read_ethernet(in, facts);
  const reason why = objection(facts, from);
  out.joins = why == reason::none && facts.which == family::ipv4;
  if (out.joins) {
    out.four = common_frame::of(facts);
    out.vlan = facts.vlan;
  } else if (why != reason::none) {
    out.ended = refuse(s, ring, in.wire_length, why);
  } else {
    count_frame(s, ring, in.wire_length);
    out.ended = write(s, ring, facts.v6, arrived(from, facts.vlan, facts.closing, now));
  }
}

// Nearly every frame's way is one function without a call, its tuple and its arrival in registers: what is stored in parts
// and loaded whole at once waits for the stores, before the hash and so before the slot's word (docs/bench.md).
template <class S>
[[nodiscard, gnu::noinline]] punt_result frame(S& s, u32 ring, const frame_view& in, const punt_metadata& from,
                                               instant now) noexcept {
  common_frame found;
  u16 vlan = 0;
  if (!from.who.names_flow() || !parse_common(in, found)) [[unlikely]] {
    uncommon_frame other;
    uncommon(s, ring, in, from, now, other);
    if (!other.joins) return other.ended;
    found = other.four;
    vlan = other.vlan;
  }
  const punt_result said = write(s, ring, found.tuple(), arrived(from, vlan, found.closing(), now));
  count_frame(s, ring, in.wire_length);
  return said;
}

// A frame behind its metadata. A prefix that cannot be read counts like a frame that cannot, with the bytes at hand.
template <prefix_policy Prefix, class S>
[[nodiscard]] punt_result prefixed(S& s, u32 ring, const frame_view& in, instant now) noexcept {
  punt_metadata from;
  frame_view inner;
  const reason why = parse_prefix<Prefix>(in, from, inner);
  if (why == reason::none || why == reason::no_identity) return frame(s, ring, inner, from, now);
  return refuse(s, ring, in.wire_length, why);
}

}  // namespace punting
}  // namespace octep

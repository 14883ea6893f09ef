// Attempts: a candidate that a pass took, and what becomes of it (system.md 6, 7 and 11).
//
// Floor 10.
//
// What it is: the question whether it may be made, asked the same way by polls, runs and the ends of waits; the telling of each
// refusal; its rank in its slot; the gap that a make waits for; and the cursor over the slots of both families.
// What it refuses: deciding who is next. All of it under the pass lock; slot words inside the world's guard.
#pragma once

#include <octep/engine/make.hpp>
#include <octep/engine/record.hpp>
#include <octep/engine/state.hpp>

namespace octep::passing {


// A candidate that a pass took, answered without a command.
template <tuple_type Tuple, class S>
OCTEP_PASS_CALL void refuse(S& s, const candidate<Tuple>& hand, reason why, asker by, instant now) noexcept {
  s.counters.add(why);
  event e;
  e.kind = event_kind::refused;
  e.by = by;
  e.why = why;
  e.at = now;
  e.count = hand.count;
  name_tuple(e, hand.tuple);
  s.world->events(e);
}

// Whether time alone may take the objection away. Who meets another must change something first.
[[nodiscard]] constexpr bool mends_itself(reason why) noexcept {
  switch (why) {
    case reason::flow_unsettled_opening:
    case reason::flow_unsettled_one_way:
    case reason::flow_wait_other:
    case reason::cand_aged:
    case reason::flow_nonhop_unresolved:
    case reason::nhop_full:
    case reason::nhop_barred:
    case reason::auto_full:
    case reason::flow_changed:
    case reason::flow_unanswered:
    case reason::flow_held_back:
    case reason::flow_wait_gap:
    case reason::flow_no_association: return true;
    default: return false;
  }
}

// What a refused attempt means for the candidate's place (rank_and_lot.hpp). Who waits for its other direction needs none any
// more: it is remembered, and the first time a place is kept for the missing one, until the walk comes round.
template <tuple_type Tuple, class S>
OCTEP_PASS_CALL void rank(S& s, const candidate<Tuple>& hand, u32 hashed, reason why, instant now) noexcept {
  if constexpr (S::policies::choice::ranks) {
    if (!mends_itself(why)) return;  // `take` ranked it so
    const bool alone = why == reason::flow_wait_other;
    // Not the slot's: nobody's ring waits for it.
    if (alone && !s.template partners_for<Tuple>().remember(hand, hashed, now)) return;
    auto& there = s.template candidates_for<Tuple>();
    const in_section inside{s.world->guard};
    if (!alone) return (void)there.tell(hand.tuple, hashed, tell_place::pardon, {});
    const make_scratch<Tuple>& m = s.template scratch_for<Tuple>();
    const u32 missing = 1 - m.direction;
    (void)there.tell(m.pair[missing], m.hash[missing], tell_place::expect, tick::at(now));
  }
}

// How long a hold's level is remembered after its end: a connection that comes back later starts over.
template <class S>
[[nodiscard]] microseconds memory_of_holds(const S& s) noexcept {
  return from_ms(u64{s.values[setting::hold_max_ms]} + s.values[setting::hold_fresh_ms]);
}

// What nobody waits for any more is remembered for its level alone.
template <class S>
OCTEP_SELDOM void let_rest(S& s, u32 hold, instant now) noexcept {
  if (s.held_back[hold].wait.level() == 0) return s.held_back.release(hold);
  s.held_back.become(hold, hold_state::resting, now + memory_of_holds(s));
}

// Whether the make that the scratch describes has to wait until no frame of it can be on its way through the host: while both
// counts stand still for gap_quiet_us, or until its bound (system.md 11). Frames that overtake each other at the switch look
// like loss to their receiver.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_SELDOM bool waits_for_gap(S& s, instant now) noexcept {
  const microseconds quiet{s.values[setting::gap_quiet_us]};
  if (quiet == microseconds{}) return false;
  const make_scratch<Tuple>& m = s.template scratch_for<Tuple>();
  array<u32, 2> counts{};
  counts[m.direction] = m.hand.count;
  counts[1 - m.direction] = m.other.count;
  bool forgot = false;
  const u32 i = s.held_back.entry_for(m.pair, m.hash, forgot);
  if (forgot) s.counters.add(pass_counter::hold_forgot);
  hold& h = s.held_back[i];
  if (h.state != hold_state::waiting) {
    h.counts = counts;
    h.quiet_since = now;
    h.bound = now + from_ms(s.values[h.wait.level() == 0 ? setting::gap_first_ms : setting::gap_again_ms]);
  } else if (h.counts == counts && quiet <= now.since(h.quiet_since)) {
    s.counters.add(pass_counter::gap_found);
    let_rest(s, i, now);
    return false;
  } else if (h.bound <= now) {
    s.counters.add(pass_counter::gap_expired);
    let_rest(s, i, now);
    return false;
  } else if (!(h.counts == counts)) {
    h.counts = counts;
    h.quiet_since = now;
  }
  s.held_back.become(i, hold_state::waiting, least(h.quiet_since + quiet, h.bound));
  return true;
}

// One attempt. `none`: a make began and its first command is posted. `flow_wait_gap`: it will, at a deadline.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_PASS_CALL reason attempt(S& s, const candidate<Tuple>& hand, asker by, instant now) noexcept {
  if constexpr (S::template can_make<Tuple>) {
    const u32 hashed = s.hashed(hand.tuple);
    reason why = making::eligible(s, hand, hashed, now);
    if (why == reason::none && waits_for_gap<Tuple>(s, now)) why = reason::flow_wait_gap;
    if (why == reason::none) why = making::begin<Tuple>(s, by, now);
    if (why == reason::none) return why;
    if (why == reason::auto_full) s.full = s.room_wanted = true;
    refuse(s, hand, why, by, now);
    rank(s, hand, hashed, why, now);
    return why;
  }
  refuse(s, hand, reason::flow_family, by, now);
  return reason::flow_family;
}

template <class S>
inline constexpr u32 slots_of_both = 2 * S::slots;

// The held connection whose frames arrive with that tuple: not one that is being made, leaving or doomed.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_PASS_CALL found holding(const S& s, const Tuple& t, u32 hashed) noexcept {
  if (!S::template can_make<Tuple> || !s.hot.perhaps(hashed)) return {};
  const found f = s.table.find(t, hashed);
  return f.is && s.table[f.index].state == record_state::held ? f : found{};
}

// Whether nobody waits in the cursor's slot. Most slots are quiet most of the time: a pass must not pay for them.
template <class S>
[[nodiscard]] bool quiet(const S& s, const walk_cursor& at) noexcept {
  return at.place == 0 && (at.slot < S::slots ? s.candidates4.quiet(at.slot) : s.candidates6.quiet(at.slot - S::slots));
}

// Visits the cursor's slot of its family: f.template operator()<Tuple>(slot).
template <class S, class F>
auto at_slot(const walk_cursor& at, F&& f) noexcept {
  return at.slot < S::slots ? f.template operator()<tuple4>(at.slot) : f.template operator()<tuple6>(at.slot - S::slots);
}

}  // namespace octep::passing

// Waits: what a hold or a gap kept waiting, tried when its time has come (system.md 11).
//
// Floor 11.
//
// A hold's end is a deadline, and so is a gap's: neither needs a frame or a poll to come by. What is tried is what stands in
// the candidate table for the connection's tuples at that moment, read or not.
// All of it under the pass lock; slot words inside the world's guard.
#pragma once

#include <octep/engine/attempt.hpp>
#include <octep/engine/state.hpp>

namespace octep::waiting {

// Tries the connection of that entry from whichever direction has a candidate. True: a command was posted.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_SELDOM bool try_entry(S& s, u32 entry, tuple_pair<Tuple> pair, instant now) noexcept {
  candidate<Tuple>& hand = s.template scratch_for<Tuple>().hand;
  for (u32 d = 0; d < 2; ++d) {
    {
      const in_section inside{s.world->guard};
      if (s.template candidates_for<Tuple>().find(pair[d], s.held_back[entry].hashes[d], hand) != got::one) continue;
    }
    if (hand.who.names_flow()) return passing::attempt(s, hand, asker::wait, now) == reason::none;
  }
  return false;
}

template <class S>
void tell_end(S& s, u32 entry, instant now) noexcept {
  const hold& h = s.held_back[entry];
  event e;
  e.kind = event_kind::hold_ends;
  e.at = e.until = now;
  e.by = asker::wait;
  e.count = h.wait.level();
  S::of_family(h.which, [&]<tuple_type Tuple>() noexcept { name_tuple(e, holds::pair_in<Tuple>(h)[0]); });
  s.world->events(e);
}

// Takes one wait that is over. True: a command was posted.
template <class S>
[[nodiscard]] OCTEP_SELDOM bool end_one(S& s, u32 entry, instant now) noexcept {
  const hold_state was = s.held_back[entry].state;
  if (was == hold_state::resting) {
    s.held_back.release(entry);
    return false;
  }
  // Whatever comes of the attempt, the entry has an end.
  const instant rest = now + passing::memory_of_holds(s);
  s.held_back.become(entry, was == hold_state::holding ? hold_state::resting : hold_state::waiting, rest);
  if (was == hold_state::holding) tell_end(s, entry, now);
  bool posted = false;
  if (!s.makes_end()) {
    const hold& h = s.held_back[entry];
    posted = S::of_family(h.which, [&]<tuple_type Tuple>() noexcept { return try_entry(s, entry, holds::pair_in<Tuple>(h), now); });
  }
  // Nothing waits any more: its frames stopped, or something else came in its way.
  const hold& h = s.held_back[entry];
  if (h.state == hold_state::waiting && s.held_back.ends_at(entry) == rest) passing::let_rest(s, entry, now);
  return posted;
}

// Ends waits until a command is posted (true) or none is due, or a slice of them is over (false).
template <class S>
[[nodiscard]] bool go(S& s, instant now) noexcept {
  constexpr u32 slice = 16;  // ours: attempts between two releases of the pass lock
  for (u32 n = 0; n < slice; ++n) {
    const u32 entry = s.held_back.pop_due(now);
    if (entry == holds::none) return false;
    if (end_one(s, entry, now)) return true;
  }
  return false;
}

}  // namespace octep::waiting

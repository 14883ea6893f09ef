// The poll: the once-a-second pass over everything (system.md 6).
//
// Floor 12.
//
// It takes candidates one at a time and stops wherever a command is posted; what it keeps between commands is a cursor and a
// count. All of it under the pass lock; slot words inside the world's guard.
#pragma once

#include <octep/engine/attempt.hpp>
#include <octep/engine/give_back.hpp>
#include <octep/engine/state.hpp>
#include <octep/engine/upkeep.hpp>

namespace octep::polling {


// Old stamps are clamped a slot a poll: every slot comes round in minutes, where days would do (`tick::oldest_age`).
template <class S>
void clamp_ages(S& s, instant now) noexcept {
  s.poll.clamped = (s.poll.clamped + 1) % passing::slots_of_both<S>;
  const in_section inside{s.world->guard};
  // A slot whose word is held is being written, and comes round again.
  (void)passing::at_slot<S>({s.poll.clamped, 0}, [&]<tuple_type Tuple>(u32 slot) {
    return s.template candidates_for<Tuple>().clamp_ages(slot, tick::at(now));
  });
}

template <class S>
OCTEP_PASS_CALL void begin(S& s, instant now) noexcept {
  clamp_ages(s, now);
  ++s.poll.number;
  if constexpr (S::policies::choice::ranks) {
    // Keyed by the hash's own key, so that no outsider foresees it.
    s.poll.secret = s.hashed(tuple4::make(s.poll.number, 0, 0, protocol::tcp));
  }
  s.poll.began = now;
  s.poll.next = now + from_ms(s.values[setting::poll_ms]);
  s.counters.add(pass_counter::polls);
  tell(s, event_kind::poll_begins, now);
  s.removals_wait = 0;
  s.full = false;
  s.makes_barred = false;
  keeping::begin_poll(s);
  s.make_budget.refill(s.values[setting::make_per_sec]);
  if (S::policies::walk_end_clears_marks)
    s.young = 1 - s.young;  // that one was cleared when the last walk ended
  else
    s.refusals[s.young].clear();
  s.poll.walking = true;
  s.poll.took_out = false;
  s.poll.spent = 0;
  if (!S::policies::walk_resumes) s.poll.at = {};
  // A slot that it begins in the middle of it comes back to at the end.
  s.poll.slots_left = passing::slots_of_both<S> + (s.poll.at.place != 0 ? 1 : 0);
}

template <class S>
OCTEP_PASS_CALL void end(S& s, instant now) noexcept {
  s.poll.walking = false;
  if (S::policies::walk_end_clears_marks) s.refusals[1 - s.young].clear();
  tell(s, event_kind::poll_ends, now);
}

template <class S>
void next_slot(S& s) noexcept {
  s.poll.at = {(s.poll.at.slot + 1) % passing::slots_of_both<S>, 0};
  --s.poll.slots_left;
}

// What a walk may take. Called under the slot's word. What was taken out since it began is left unread, for the next poll: a
// walk that comes to one direction after the other would make it, and once more after a run took it out (record, R22).
template <tuple_type Tuple, class S>
[[nodiscard]] bool wanted(S& s, const candidate<Tuple>& c, bool held_only) noexcept {
  if (!S::template can_make<Tuple>) return !held_only;
  if (!held_only && !s.poll.took_out) return true;
  const u32 hashed = s.hashed(c.tuple);
  if (!held_only && !s.refusals[s.young].holds(c.tuple, hashed, s.slot_of(hashed))) return true;
  return passing::holding(s, c.tuple, hashed).is;
}

// Takes the next unread candidate of the cursor's slot and tries it. True: a command was posted. While no make begins, only
// those of held connections are taken: a full table ends making, not attaching.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_PASS_CALL bool step(S& s, u32 slot, instant now) noexcept {
  candidate<Tuple>& hand = s.template scratch_for<Tuple>().hand;
  got took;
  u32 place = 0;
  {
    const bool held_only = s.makes_end();
    const in_section inside{s.world->guard};
    auto& there = s.template candidates_for<Tuple>();
    if constexpr (S::policies::choice::ranks)
      if (s.poll.at.place == 0) {
        there.end_keeping(slot);
        there.draw_anew(slot, s.poll.secret);
      }
    took = there.take(
        slot, s.poll.at.place,
        [&](const candidate<Tuple>& c) noexcept { return wanted(s, c, held_only); }, hand, place);
  }
  if (took != got::one) {
    if (took == got::busy) s.counters.add(pass_counter::slots_busy);
    next_slot(s);
    return false;
  }
  s.poll.at.place = place + 1;
  s.counters.add(pass_counter::walk_seen);
  const found whose = passing::holding(s, hand.tuple, s.hashed(hand.tuple));
  bool posted = false;
  reason why = reason::none;
  if (whose.is) {
    posted = giving_back::met(s, whose, hand.who, hand.where, hand.closing, now);
  } else {
    why = passing::attempt(s, hand, asker::poll, now);
    posted = why == reason::none;
  }
  if (posted) s.counters.add(pass_counter::flow_attempts);
  // A make that waits for its gap will post.
  if (posted || why == reason::flow_wait_gap || S::policies::walk_budget == walk_counts::attempts) ++s.poll.spent;
  return posted;
}

// Walks until a command is posted (true), or a slice of it or the whole of it is over (false).
template <class S>
[[nodiscard]] OCTEP_PASS_CALL bool walk(S& s, instant now) noexcept {
  const u64 until = s.counters.value(pass_counter::walk_seen) + S::policies::walk_slice;
  while (s.poll.slots_left != 0 && s.poll.spent < s.values[setting::poll_commands]) {
    if (s.counters.value(pass_counter::walk_seen) == until) return false;
    if (passing::quiet(s, s.poll.at)) {
      do next_slot(s);
      while (s.poll.slots_left != 0 && passing::quiet(s, s.poll.at));
      continue;
    }
    if (passing::at_slot<S>(s.poll.at, [&]<tuple_type Tuple>(u32 slot) { return step<Tuple>(s, slot, now); })) return true;
    if (s.owes_removal()) return false;  // goes before the rest of the walk
  }
  end(s, now);
  return false;
}

}  // namespace octep::polling

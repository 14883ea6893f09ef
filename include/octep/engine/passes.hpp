// Passes: the poll's walk, and the runs between polls (system.md 6 and 7).
//
// Floor 9.
//
// Both take candidates one at a time and stop wherever a command is posted; what they keep between commands is a cursor and
// a count. A candidate that nobody asked about costs a run no look-up beyond the hot table.
// All of it under the pass lock; slot words inside the world's guard.
#pragma once

#include <octep/engine/make.hpp>
#include <octep/engine/state.hpp>

namespace octep {

namespace passing {

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
    case reason::flow_unanswered: return true;
    default: return false;
  }
}

// What a refused attempt means for the candidate's place (rank_and_lot.hpp). Who waits for its other direction is kept for
// it, and a place is kept for that one too, until the walk comes round.
template <tuple_type Tuple, class S>
OCTEP_PASS_CALL void rank(S& s, const candidate<Tuple>& hand, u32 hashed, reason why, instant now) noexcept {
  if constexpr (S::policies::choice::ranks) {
    if (!mends_itself(why)) return;  // `take` ranked it so
    auto& there = s.template candidates_for<Tuple>();
    const in_section inside{s.world->guard};
    if (why != reason::flow_wait_other) return (void)there.tell(hand.tuple, hashed, tell_place::pardon, {});
    const make_scratch<Tuple>& m = s.template scratch_for<Tuple>();
    const u32 missing = 1 - m.direction;
    if (there.tell(hand.tuple, hashed, tell_place::keep, {}) == told::yes)
      (void)there.tell(m.pair[missing], m.hash[missing], tell_place::expect, tick::at(now));
  }
}

// One attempt. `none`: a make began and its first command is posted.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_PASS_CALL reason attempt(S& s, const candidate<Tuple>& hand, asker by, instant now) noexcept {
  const u32 hashed = s.hashed(hand.tuple);
  reason why = making::eligible(s, hand, hashed, now);
  if (why == reason::none) why = making::begin<Tuple>(s, by, now);
  if (why == reason::none) return why;
  if (why == reason::auto_full) s.full = true;
  refuse(s, hand, why, by, now);
  rank(s, hand, hashed, why, now);
  return why;
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

}  // namespace passing

// --- the poll ---------------------------------------------------------------------------------------------

namespace polling {

template <class S>
inline constexpr u32 slots_of_both = 2 * S::slots;

// Polls after which a tuple that was kept for nothing may be kept again (candidate-policies of the specification, C16).
inline constexpr u32 polls_to_forgive = 8;

// Old stamps are clamped a slot a poll: every slot comes round in minutes, where days would do (`tick::oldest_age`).
template <class S>
void clamp_ages(S& s, instant now) noexcept {
  s.poll.clamped = (s.poll.clamped + 1) % slots_of_both<S>;
  const in_section inside{s.world->guard};
  // A slot whose word is held is being written, and comes round again.
  (void)passing::at_slot<S>({s.poll.clamped, 0}, [&]<tuple_type Tuple>(u32 slot) {
    return s.template candidates_for<Tuple>().clamp_ages(slot, tick::at(now));
  });
}

template <class S>
void begin(S& s, instant now) noexcept {
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
  s.make_budget.refill(s.values[setting::make_per_sec]);
  if (S::policies::walk_end_clears_marks)
    s.young = 1 - s.young;  // that one was cleared when the last walk ended
  else
    s.refusals[s.young].clear();
  s.poll.walking = true;
  s.poll.spent = 0;
  if (!S::policies::walk_resumes) s.poll.at = {};
  // A slot that it begins in the middle of it comes back to at the end.
  s.poll.slots_left = slots_of_both<S> + (s.poll.at.place != 0 ? 1 : 0);
}

template <class S>
void end(S& s, instant now) noexcept {
  s.poll.walking = false;
  if (S::policies::walk_end_clears_marks) s.refusals[1 - s.young].clear();
  tell(s, event_kind::poll_ends, now);
}

template <class S>
void next_slot(S& s) noexcept {
  s.poll.at = {(s.poll.at.slot + 1) % slots_of_both<S>, 0};
  --s.poll.slots_left;
}

// Takes the next unread candidate of the cursor's slot and tries it. True: a command was posted.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_PASS_CALL bool step(S& s, u32 slot, instant now) noexcept {
  candidate<Tuple>& hand = s.template scratch_for<Tuple>().hand;
  got took;
  u32 place = 0;
  {
    const in_section inside{s.world->guard};
    auto& there = s.template candidates_for<Tuple>();
    if constexpr (S::policies::choice::ranks)
      if (s.poll.at.place == 0) {
        there.end_keeping(slot, s.poll.number % polls_to_forgive == 0);
        there.draw_anew(slot, s.poll.secret);
      }
    took = there.take(slot, s.poll.at.place, [](const auto&) noexcept { return true; }, hand, place);
  }
  if (took != got::one) {
    if (took == got::busy) s.counters.add(pass_counter::slots_busy);
    next_slot(s);
    return false;
  }
  s.poll.at.place = place + 1;
  s.counters.add(pass_counter::walk_seen);
  const bool posted = passing::attempt(s, hand, asker::poll, now) == reason::none;
  if (posted) s.counters.add(pass_counter::flow_attempts);
  if (posted || S::policies::walk_budget == walk_counts::attempts) ++s.poll.spent;
  return posted;
}

// Walks until a command is posted (true), or a slice of it or the whole of it is over (false).
template <class S>
[[nodiscard]] bool walk(S& s, instant now) noexcept {
  const u64 until = s.counters.value(pass_counter::walk_seen) + S::policies::walk_slice;
  while (s.poll.slots_left != 0 && s.poll.spent < s.values[setting::poll_commands] && !s.makes_end()) {
    if (s.counters.value(pass_counter::walk_seen) == until) return false;
    if (passing::quiet(s, s.poll.at)) {
      do next_slot(s);
      while (s.poll.slots_left != 0 && passing::quiet(s, s.poll.at));
      continue;
    }
    if (passing::at_slot<S>(s.poll.at, [&]<tuple_type Tuple>(u32 slot) { return step<Tuple>(s, slot, now); })) return true;
  }
  end(s, now);
  return false;
}

}  // namespace polling

// --- runs -------------------------------------------------------------------------------------------------

namespace running {

template <class S>
[[nodiscard]] instant due_at(const S& s) noexcept {
  return s.run.ever ? s.run.last + from_ms(s.values[setting::run_gap_ms]) : instant{};
}

// The request is cleared BEFORE any slot is read. Acquire pairs with the exchange in `punting::kick`: what was written before
// a request that this clears is visible to the reads that follow.
template <class S>
void begin(S& s, instant now) noexcept {
  (void)s.kicked.exchange_acq_rel(0);  // its value is known: a request is why the run begins
  s.run.doing = run_state::half::held;
  s.run.at = {};
  s.run.held_attempts = 0;
  s.run.makes = 0;
  s.run.skipped_busy = false;
  s.run.passed_over = false;
  s.run.ever = true;
  s.run.last = now;
  s.counters.add(pass_counter::fast_runs);
  tell(s, event_kind::run_begins, now);
}

template <class S>
void end(S& s, instant now) noexcept {
  s.run.doing = run_state::half::none;
  // A ring may have made its candidate due in a slot that this run could not read: the request stands. An exchange, though
  // nobody asks what was there: a store would cut off what a ring released with its own request since this run began, and
  // the next `begin`, whose exchange reads this one, would not be ordered after that ring's writes.
  // And what this run passed over for its own limit asks no more until its count doubles.
  if (s.run.skipped_busy || s.run.passed_over) (void)s.kicked.exchange_acq_rel(1);
  tell(s, event_kind::run_ends, now);
}

// What a run may take in its half. Called under the slot's word.
template <tuple_type Tuple, class S>
[[nodiscard]] bool wanted_held(S& s, const candidate<Tuple>& c) noexcept {
  const u32 hashed = s.hashed(c.tuple);
  if (!s.hot.perhaps(hashed)) return false;
  if (s.table.find(c.tuple, hashed).is) return true;
  if (!c.due) s.counters.add(pass_counter::fast_scans);
  return false;
}

template <tuple_type Tuple, class S>
[[nodiscard]] bool wanted_make(S& s, const candidate<Tuple>& c) noexcept {
  // A family that is not made is the poll's to explain: strangers' frames must not spend what others need.
  if (!c.due || !s.makes_family(Tuple::which)) return false;
  const u32 hashed = s.hashed(c.tuple);
  if (s.is_left_to_poll(c.tuple, hashed)) return false;
  // What is held waits for a held half with attempts to spare: no make is spent on it.
  if (s.table.find(c.tuple, hashed).is) return false;
  const bool left = s.make_budget.left() != 0;
  if (left && s.run.makes < s.values[setting::make_per_run]) return true;
  s.run.passed_over |= left && s.values[setting::make_per_run] != 0;
  s.counters.add(reason::fast_make_spent);
  return false;
}

// Takes from the cursor's slot what its half wants. True: a command was posted.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_PASS_CALL bool step(S& s, u32 slot, instant now) noexcept {
  candidate<Tuple>& hand = s.template scratch_for<Tuple>().hand;
  const bool held = s.run.doing == run_state::half::held;
  got took;
  u32 place = 0;
  {
    const in_section inside{s.world->guard};
    took = s.template candidates_for<Tuple>().take(
        slot, s.run.at.place,
        [&](const candidate<Tuple>& c) noexcept { return held ? wanted_held(s, c) : wanted_make(s, c); }, hand, place);
  }
  if (took != got::one) {
    if (took == got::busy) {
      s.counters.add(pass_counter::slots_busy);
      s.run.skipped_busy = true;
    }
    s.run.at = {s.run.at.slot + 1, 0};
    return false;
  }
  s.run.at.place = place + 1;
  if (held) {
    // Attach, revive and take-out begin here when they join; until then the frame of a held connection is read and told.
    ++s.run.held_attempts;
    passing::refuse(s, hand, reason::flow_held, asker::run, now);
    return false;
  }
  ++s.run.makes;
  (void)s.make_budget.spend();  // `wanted_make` saw one left, and only passes spend
  s.counters.add(pass_counter::fast_make_tries);
  if (passing::attempt(s, hand, asker::run, now) == reason::none) return true;
  s.counters.add(pass_counter::fast_make_refused);
  s.leave_to_poll(hand.tuple, s.hashed(hand.tuple));
  return false;
}

template <class S>
void skip_quiet(S& s) noexcept {
  while (s.run.at.slot != polling::slots_of_both<S> && passing::quiet(s, s.run.at)) ++s.run.at.slot;
}

template <class S>
[[nodiscard]] bool half_is_over(const S& s) noexcept {
  if (!s.values.on(setting::fast)) return true;
  if (s.run.at.slot == polling::slots_of_both<S>) return true;
  if (s.run.doing == run_state::half::held) return s.run.held_attempts >= s.values[setting::run_attempts];
  return s.makes_end() || !s.values.on(setting::fast_make);
}

// Runs until a command is posted (true) or the run has ended (false).
template <class S>
[[nodiscard]] bool go(S& s, instant now) noexcept {
  while (s.run.doing != run_state::half::none) {
    skip_quiet(s);
    if (half_is_over(s)) {
      if (s.run.doing == run_state::half::held && s.values.on(setting::fast)) {
        s.run.doing = run_state::half::makes;
        s.run.at = {};
        continue;
      }
      end(s, now);
      return false;
    }
    if (passing::at_slot<S>(s.run.at, [&]<tuple_type Tuple>(u32 slot) { return step<Tuple>(s, slot, now); })) return true;
  }
  return false;
}

}  // namespace running
}  // namespace octep

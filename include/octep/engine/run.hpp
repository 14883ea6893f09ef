// Runs: the passes between polls (system.md 7).
//
// Floor 11.
//
// First what is held: attach, revive, take-out; then makes for due candidates. A candidate that nobody asked about costs a run
// no look-up beyond the hot table. All of it under the pass lock; slot words inside the world's guard.
#pragma once

#include <octep/engine/attempt.hpp>
#include <octep/engine/give_back.hpp>
#include <octep/engine/state.hpp>

namespace octep::running {


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

// A family that is never made has nothing for a run.
template <class S>
inline constexpr u32 slots_of_runs = S::policies::ipv6 ? passing::slots_of_both<S> : S::slots;

// What a run may take in its half. Called under the slot's word.
template <tuple_type Tuple, class S>
[[nodiscard]] bool wanted_held(S& s, const candidate<Tuple>& c) noexcept {
  const u32 hashed = s.hashed(c.tuple);
  if (!s.hot.perhaps(hashed)) return false;
  const found whose = s.table.find(c.tuple, hashed);
  // One that is being made, or leaving, or doomed is passed over: its candidate is settled at its end.
  if (whose.is) return s.table[whose.index].state == record_state::held;
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
    ++s.run.held_attempts;
    const found whose = passing::holding(s, hand.tuple, s.hashed(hand.tuple));
    return whose.is && giving_back::met(s, whose, hand.who, hand.where, hand.closing, now);
  }
  ++s.run.makes;
  (void)s.make_budget.spend();  // `wanted_make` saw one left, and only passes spend
  s.counters.add(pass_counter::fast_make_tries);
  const reason why = passing::attempt(s, hand, asker::run, now);
  if (why == reason::none) return true;
  if (why == reason::flow_wait_gap) return false;
  s.counters.add(pass_counter::fast_make_refused);
  s.leave_to_poll(hand.tuple, s.hashed(hand.tuple));
  return false;
}

template <class S>
void skip_quiet(S& s) noexcept {
  while (s.run.at.slot != slots_of_runs<S> && passing::quiet(s, s.run.at)) ++s.run.at.slot;
}

template <class S>
[[nodiscard]] bool half_is_over(const S& s) noexcept {
  if (!s.values.on(setting::fast)) return true;
  if (s.run.at.slot == slots_of_runs<S>) return true;
  if (s.run.doing == run_state::half::held) return s.run.held_attempts >= s.values[setting::run_attempts];
  return s.makes_end() || !s.values.on(setting::fast_make);
}

// Runs until a command is posted (true), or the run has ended or owes a removal (false).
template <class S>
[[nodiscard]] OCTEP_PASS_CALL bool go(S& s, instant now) noexcept {
  while (s.run.doing != run_state::half::none) {
    skip_quiet(s);
    if (half_is_over(s)) {
      if (s.run.doing == run_state::half::held && s.values.on(setting::fast)) {
        // Whoever stands behind the last attempt asked by one frame, and may send no other.
        s.run.passed_over |= s.run.at.slot != slots_of_runs<S>;
        s.run.doing = run_state::half::makes;
        s.run.at = {};
        continue;
      }
      end(s, now);
      return false;
    }
    if constexpr (!S::policies::ipv6) {
      if (step<tuple4>(s, s.run.at.slot, now)) return true;
    } else if (passing::at_slot<S>(s.run.at, [&]<tuple_type Tuple>(u32 slot) { return step<Tuple>(s, slot, now); })) {
      return true;
    }
    if (s.owes_removal()) return false;  // goes before the rest of the run
  }
  return false;
}

}  // namespace octep::running

// Remove: where records die (system.md 9, 10, 12).
//
// Floor 8.
//
//   take-out:  eligible (a record owed to `removals`) ─▶ deactivate, deactivate, reclaim ─▶ answered ─▶ the record is freed
//   discard:   eligible (owed) ─▶ one command ─▶ answered ─▶ everything is forgotten, in slices, nothing posted for it
//   next hop:  eligible (its last reference went) ─▶ release ─▶ answered
//
// Whatever ends a connection owes it here, with its reason: a make whose answer came too late, a give-back, a sweep, a kill,
// an operator, an audit. One exit. A record is freed only when its entry is not there at our revision,
// valid or given back.
// All of it under the pass lock.
#pragma once

#include <octep/engine/protection.hpp>
#include <octep/engine/record.hpp>
#include <octep/engine/state.hpp>

namespace octep {

namespace removing {

// The record's memory, tuples, hot counts and references go. Posts nothing.
template <class S>
OCTEP_SELDOM void free_record(S& s, u32 index) noexcept {
  for (u32 d = 0; d < 2; ++d) {
    direction_record& way = s.table[index].directions[d];
    if (way.has_next_hop) s.hops.drop(way.next_hop);
    way.has_next_hop = false;
    if (!way.stays) s.hot.remove(s.table.hash_of(index, d));
    protecting::replace(s, way.encrypted_by, {});
    protecting::replace(s, way.decrypted_by, {});
  }
  s.due.drop(index);
  s.table.release(index);
}

// What both directions' candidates asked for is answered: they are read, and their counts start afresh, since a request
// never outlives its connection (system.md 9). True: one of them, unread until now, was closing. Left unread, the frame that a make used would be asked about again, and the
// one that ended a connection would make it again.
template <class S>
OCTEP_SELDOM bool settle_candidates(S& s, u32 index) noexcept {
  bool closing = false;
  for_both_tuples(s, index, [&]<tuple_type Tuple>(const Tuple& tuple, u32 hashed) {
    auto& there = s.template candidates_for<Tuple>();
    const u32 slot = s.slot_of(hashed);
    u32 place = 0;
    const in_section inside{s.world->guard};
    const got took = there.take(
        slot, 0, [&](const candidate<Tuple>& c) noexcept { return c.tuple == tuple; }, s.template scratch_for<Tuple>().hand,
        place);
    closing |= took == got::one && s.template scratch_for<Tuple>().hand.closing;
    if (took == got::busy || there.tell(tuple, hashed, tell_place::restart, {}) == told::not_now)
      s.counters.add(pass_counter::slots_busy);
  });
  return closing;
}

// Owes the record a take-out, once. What owes it twice owes it once, for the first reason. It goes before those that wait for
// the poll. What a discard is about to forget is owed nothing.
template <class S>
OCTEP_SELDOM void owe(S& s, u32 index, reason why) noexcept {
  record& r = s.table[index];
  if (r.state == record_state::leaving || index >= s.forget_from) return;
  r.state = record_state::leaving;
  r.leaving_for = why;
  r.probe_asked = false;
  s.due.drop(index);
  const auto place = [&](u32 nth) -> u32& { return s.removals[(s.removals_first + usize{nth}) % s.removals.size]; };
  u32& first_to_wait = place(s.removals_held - s.removals_wait);
  place(s.removals_held) = first_to_wait;
  first_to_wait = index;
  ++s.removals_held;
}

// The far side keeps it: owed again from its first step, at the next poll.
template <class S>
void owe_at_poll(S& s, u32 index) noexcept {
  s.removals[(s.removals_first + usize{s.removals_held}) % s.removals.size] = index;
  ++s.removals_held;
  ++s.removals_wait;
}

// Posts the take-out's next command, passing over a direction that was never programmed.
template <class S>
OCTEP_SELDOM void post_take_out(S& s, instant now) noexcept {
  take_out_plan& plan = s.taking_out;
  const record& leaving = s.table[plan.index];
  command c;
  c.target = {plan.index, leaving.revision};
  using stage = take_out_plan::stage;
  if (plan.at == stage::deactivate0 && !leaving.directions[0].programmed) plan.at = stage::deactivate1;
  if (plan.at == stage::deactivate1 && !leaving.directions[1].programmed) plan.at = stage::reclaim;
  switch (plan.at) {
    case stage::deactivate0:
    case stage::deactivate1:
      c.kind = command_kind::deactivate;
      c.microflows[0].who = leaving.directions[plan.at == stage::deactivate0 ? 0 : 1].who;
      break;
    case stage::reclaim: c.kind = command_kind::reclaim; break;
    case stage::read_back: c.kind = command_kind::read_entry; break;
  }
  s.post(c, now);
}

// Takes the first record owed. False: none is.
template <class S>
[[nodiscard]] bool begin_take_out(S& s, instant now) noexcept {
  if (!s.owes_removal()) return false;
  s.taking_out = {take_out_plan::stage::deactivate0, false, s.removals[s.removals_first]};
  s.removals_first = (s.removals_first + 1) % static_cast<u32>(s.removals.size);
  --s.removals_held;
  s.doing = operation::take_out;
  tell_connection(s, event_kind::take_out_begins, s.taking_out.index, s.table[s.taking_out.index].leaving_for, asker::poll, now);
  post_take_out(s, now);
  return true;
}

// Made again too soon (system.md 11): given back, not closed and not gone, and taken out soon after its make. The longer a
// make lasted, the less there is to remember.
template <tuple_type Tuple, class S>
void hold_back(S& s, u32 index, instant now) noexcept {
  const record& r = s.table[index];
  const microseconds fresh = from_ms(s.values[setting::hold_fresh_ms]);
  // What is in hardware of it are acknowledgements, which the far side hands back again and again (record, give-back page).
  const bool half = r.directions[0].stays || r.directions[1].stays;
  const array<u32, 2> hashes{s.table.hash_of(index, 0), s.table.hash_of(index, 1)};
  const auto pair = s.table.template tuples_of<Tuple>(index);
  const bool again = r.leaving_for == reason::flow_pending || r.leaving_for == reason::flow_revive_off;
  const bool lasted = !(r.made_at == instant{}) && fresh <= now.since(r.made_at);  // a create in doubt made nothing
  if (!again || (lasted && !half)) {
    const u32 known = s.held_back.find(pair[0], hashes[0]);
    if (known != holds::none && (lasted || r.leaving_for == reason::flow_ended)) s.held_back.release(known);
    return;
  }
  const backoff_times times{from_ms(s.values[setting::hold_min_ms]), from_ms(s.values[setting::hold_max_ms]), fresh};
  if (times.least == microseconds{}) return;
  bool forgot = false;
  const u32 i = s.held_back.entry_for(pair, hashes, forgot);
  if (forgot) s.counters.add(pass_counter::hold_forgot);
  const instant next = s.held_back[i].wait.next(now, times, r.made_at);
  const instant until = half ? now + times.most : next;
  s.held_back.become(i, hold_state::holding, until);
  s.counters.add(pass_counter::hold_backs);
  event e;
  e.kind = event_kind::held_back;
  e.why = r.leaving_for;
  e.at = now;
  e.until = until;
  e.count = s.held_back[i].wait.level();
  e.connection = s.table.handle_of(index);
  name_tuple(e, pair[0]);
  s.world->events(e);
}

template <class S>
OCTEP_SELDOM void taken_out(S& s, instant now) noexcept {
  const u32 index = s.taking_out.index;
  const reason why = s.table[index].leaving_for;
  s.doing = operation::none;
  s.counters.add(pass_counter::flow_reclaimed);
  s.counters.add(why);
  tell_connection(s, event_kind::taken_out, index, why, asker::poll, now);
  S::of_family(s.table[index].which, [&]<tuple_type Tuple>() noexcept { hold_back<Tuple>(s, index, now); });
  // Its windows passed unseen while it was in hardware; who can learn them anew is strict again (system.md 10).
  if constexpr (requires { s.world->firewall.relearn(s.table[index].states, now); })
    s.world->firewall.relearn(s.table[index].states, now);
  // Its frames go on: without the mark it would be made and taken out forty times a second (record, review).
  for_both_tuples(s, index, [&](const auto& tuple, u32 hashed) { s.leave_to_poll(tuple, hashed); });
  s.poll.took_out = true;
  (void)settle_candidates(s, index);
  free_record(s, index);
}

template <class S>
void take_out_answered(S& s, const answer& got, instant now) noexcept {
  take_out_plan& plan = s.taking_out;
  using stage = take_out_plan::stage;
  // A read that was refused says nothing, so it frees nothing. Nor does an entry that was given back: its microflows may stand.
  const bool perhaps_there = got.code != answer_code::done || (got.entry != entry_state::reclaimed &&
                                                               got.entry_revision == s.table[plan.index].revision);
  const bool refused = got.code != answer_code::done;
  switch (plan.at) {
    // A refusal stops nothing: without its entry no microflow forwards, and whoever has its ports next must not wait for a poll.
    case stage::deactivate0:
    case stage::deactivate1:
      plan.refused |= refused;
      plan.at = plan.at == stage::deactivate0 ? stage::deactivate1 : stage::reclaim;
      break;
    case stage::reclaim:
      if (!refused && !plan.refused) return taken_out(s, now);
      plan.at = stage::read_back;
      break;
    case stage::read_back:
      // A microflow that would not go is told to once more, though its entry is not there.
      if (!perhaps_there && !plan.refused) return taken_out(s, now);
      s.doing = operation::none;
      return owe_at_poll(s, plan.index);
  }
  post_take_out(s, now);
}

// A command about it passed its limit: the record is kept and counted as programmed until the far side has answered, then owed
// a take-out.
template <class S>
OCTEP_SELDOM void doom(S& s, u32 index) noexcept {
  s.table[index].state = record_state::doomed;
  s.due.drop(index);
  s.counters.add(pass_counter::flow_doomed);
}

// One that was owed a take-out meanwhile is not doomed: it would be owed another at the late answer, and nothing is posted before.
template <class S>
void doom_held(S& s, u32 index) noexcept {
  if (s.table[index].state == record_state::held) doom(s, index);
}

template <class S>
void take_out_unanswered(S& s) noexcept {
  s.doing = operation::none;
  doom(s, s.taking_out.index);
}

// --- next hops --------------------------------------------------------------------------------------------

template <class S>
[[nodiscard]] bool begin_release(S& s, instant now) noexcept {
  const handle idle = s.hops.next_to_release();
  if (idle.revision == 0) return false;
  s.releasing = idle;
  s.doing = operation::release_hop;
  command c;
  c.kind = command_kind::next_hop_release;
  c.target = idle;
  s.post(c, now);
  return true;
}

// Refused or not, the entry is nobody's: a far side that refuses does not hold it at that revision.
template <class S>
void release_answered(S& s, handle released) noexcept {
  s.doing = operation::none;
  s.hops.released(released);
  s.counters.add(pass_counter::nhop_released);
}

// --- discard ----------------------------------------------------------------------------------------------

template <class S>
[[nodiscard]] bool begin_discard(S& s, instant now) noexcept {
  if (!s.discard_owed || now < s.discard_from) return false;
  s.doing = operation::discard;
  ++s.generation;
  tell(s, event_kind::discard_begins, now);
  command c;
  c.kind = command_kind::discard;
  s.post(c, now);
  return true;
}

// A candidate is the identity of a microflow, and the far side has none now: every candidate of before goes (record, R18).
template <class S>
void empty_candidates(S& s) noexcept {
  const auto each = [&](auto& there) {
    for (u32 slot = 0; slot < S::slots; ++slot) {
      const in_section inside{s.world->guard};
      if (!there.empty_slot(slot)) s.counters.add(pass_counter::cand_kept);
    }
  };
  each(s.candidates4);
  each(s.candidates6);
  s.partners4.clear();
  s.partners6.clear();
}

// The far side has nothing any more: a discard was answered, or it restarted.
template <class S>
OCTEP_SELDOM void forget_everything(S& s) noexcept {
  s.discard_owed = false;
  ++s.generation;
  s.removals_held = s.removals_wait = 0;
  s.hops.forget_all();
  s.forget_from = 0;
  empty_candidates(s);
}

template <class S>
void discard_answered(S& s, const answer& got, instant now) noexcept {
  s.doing = operation::none;
  if (got.code != answer_code::done) {
    s.discard_from = now + from_ms(s.values[setting::poll_ms]);
    return;
  }
  s.counters.add(pass_counter::discards);
  forget_everything(s);
  tell(s, event_kind::discarded, now);
}

// Forgets a slice of what a discard emptied. True while there is more. No make begins before it is done.
template <class S>
[[nodiscard]] bool forget_slice(S& s) noexcept {
  // Ours: some microseconds of work between two releases of the pass lock.
  constexpr u32 slice = 64;
  const u32 end = least(s.forget_from + slice, s.table.capacity());
  for (; s.forget_from < end; ++s.forget_from) {
    if (s.table[s.forget_from].state == record_state::free) continue;
    for (direction_record& way : s.table[s.forget_from].directions) way.has_next_hop = false;
    s.counters.add(pass_counter::flow_forgot);
    free_record(s, s.forget_from);
  }
  return s.forget_from < s.table.capacity();
}

}  // namespace removing
}  // namespace octep

// Upkeep: what was made stays true on both sides (system.md 10).
//
// Floor 11.
//
//   keep alive   stamps are read back before half of a state's time has run; what moved restamps the firewall's states, and what
//                did not is taken out just before they end
//   sweep        so many connections a poll are asked whether their states live; the dead are taken out
//   associations come, go and are read (associate.hpp)
//   dirty        after rules or routes changed every connection is asked about again, so many a pass
//   room         in a full table stamps are read to find who is idle (policy full_table::idle_makes_room)
//
// Invariant: while the far side answers, no microflow outlives its state by more than `sweep_bound`: the polls that come round
// all that is held, and three commands for each that is dead. When over half of what is held is dead at once, one discard
// replaces its take-outs.
//
// What it refuses: work without a bound between two releases of the pass lock. All of it under the pass lock.
#pragma once

#include <octep/engine/associate.hpp>
#include <octep/engine/give_back.hpp>
#include <octep/engine/make.hpp>
#include <octep/engine/program.hpp>
#include <octep/engine/record.hpp>
#include <octep/engine/remove.hpp>
#include <octep/engine/round.hpp>

namespace octep::keeping {

// Ours. A discard empties the candidates too: below this many dead their take-outs are the lesser harm.
inline constexpr u32 least_for_discard = 16;
// Ours. Readings that are closer to each other are not compared for quiet: a connection of a frame a second is busy.
inline constexpr u32 least_quiet_ms = 1'000;

template <class S>
OCTEP_SELDOM void begin_poll(S& s) noexcept {
  associating::begin_poll(s);
  s.upkeep_left = s.values[setting::upkeep_commands];
  // An empty table is not walked.
  s.sweep.to_ask = least(s.values[setting::sweep_lookups], s.table.held());
  s.sweep.to_pass = s.table.capacity();
  const bool wanted = S::policies::room == full_table::idle_makes_room && s.room_wanted && s.table.full();
  s.room.left = wanted ? least(s.values[setting::room_reads], s.table.held()) : 0;
  s.room_sought = s.room.left != 0;
  s.room_wanted = false;
}

// --- sweep ------------------------------------------------------------------------------------------------

// How long a microflow may outlive its state at most, while the far side answers as fast as it did so far.
template <class S>
[[nodiscard]] microseconds sweep_bound(const S& s) noexcept {
  const u64 rounds = (u64{s.table.held()} + s.values[setting::sweep_lookups] - 1) / s.values[setting::sweep_lookups];
  const u64 commands = u64{s.removals_held} * 3;
  // A silence that once was is no measure of it: nothing is promised for as long as the far side does not answer.
  const u64 wait = least(u64{s.commands.figures().wait_max_us}, from_ms(s.values[setting::cmd_limit_ms]).count);
  return {greatest(rounds, u64{1}) * from_ms(s.values[setting::poll_ms]).count + commands * wait};
}

// Asks about everybody before the next poll. Take-outs wait for the end of it, some tens of microseconds a slice: had they begun
// after the first slice, more than half would never be dead at once in a table of more than two slices.
template <class S>
void ask_all(S& s) noexcept {
  s.sweep.to_ask = s.sweep.to_pass = s.table.capacity();
  s.sweep.all = true;
}

// Nobody reads its stamps: keepalive was off, or it was left to end by itself. One of those whose state has more left than a
// last look leaves it was renewed by frames that the host saw, and counts as new.
template <class S>
OCTEP_SELDOM void take_up_again(S& s, u32 index, instant now) noexcept {
  if (!s.values.on(setting::keepalive)) return;
  record& r = s.table[index];
  if (r.quiet_readings >= 2) {
    if (s.world->firewall.remaining(r.states, now) <= from_ms(u64{s.values[setting::poll_ms]} * 4)) return;
    r.quiet_readings = 0;
  }
  r.read_at = records::reading_due(s, index, now);
  s.schedule(index);
}

template <class S>
[[nodiscard]] did sweep(S& s, instant now) noexcept {
  u32 steps = least(indexes_a_slice, s.sweep.to_pass);
  const u32 begun_with = steps;
  const u32 most = least(asked_a_slice, s.sweep.to_ask);
  u32 asked = most;
  u32 dead = 0;
  s.sweep.to_ask -= asked;
  for (; asked != 0; --asked) {
    const u32 i = next_held(s, s.sweep.at, steps);
    if (i == s.table.capacity()) break;
    s.counters.add(pass_counter::sweep_asked);
    record& r = s.table[i];
    if (!s.world->firewall.alive(r.states, now)) {
      s.counters.add(pass_counter::sweep_dead);
      removing::owe(s, i, reason::flow_expired);
      ++dead;
    } else if (r.read_at == never) {
      take_up_again(s, i, now);
    }
  }
  s.sweep.to_ask += asked;
  s.sweep.to_pass -= begun_with - steps;
  // Most of a slice is dead: whether most of all that is held is, has to be known before the first take-out.
  if (!s.sweep.all && dead >= least_for_discard && dead > (most - asked) / 2) ask_all(s);
  if (s.removals_held >= least_for_discard && s.removals_held > s.table.held() / 2) {
    s.discard_owed = true;
    s.sweep.all = false;
    s.sweep.to_ask = 0;
  }
  if (s.sweep.to_ask == 0 || s.sweep.to_pass == 0) s.sweep.all = false;
  return did::slice;
}

// --- keep alive -------------------------------------------------------------------------------------------

template <class S>
void post_read(S& s, instant now) noexcept {
  s.counters.add(pass_counter::ka_reads);
  command c;
  c.kind = command_kind::read_microflow;
  c.target = s.table.handle_of(s.reading.index);
  c.direction = s.reading.direction;
  c.microflows[0].who = s.table[s.reading.index].directions[s.reading.direction].who;
  s.post(c, now);
}

// What stays with the host has no stamp.
template <class S>
OCTEP_SELDOM void begin_reading(S& s, u32 index, instant now) noexcept {
  s.doing = operation::stamps;
  s.reading = {index, static_cast<u8>(s.table[index].directions[0].stays ? 1 : 0), false, false};
  post_read(s, now);
}

// Both stamps are known.
template <class S>
OCTEP_SELDOM void read(S& s, instant now) noexcept {
  const stamps_plan plan = s.reading;
  record& r = s.table[plan.index];
  s.doing = operation::none;
  // Two readings in quick succession: that nothing moved in between says nothing.
  const bool too_soon = !plan.moved && r.quiet_from.age(tick::at(now)) < least_quiet_ms;
  if (!too_soon || plan.unknown) r.quiet_from = tick::at(now);
  if (plan.moved) {
    r.quiet_readings = 0;
    if (s.values.on(setting::keepalive)) {
      s.world->firewall.restamp(r.states, now);
      s.counters.add(pass_counter::ka_touched);
      tell_connection(s, event_kind::touched, plan.index, reason::none, asker::wait, now);
    }
  } else if (!plan.unknown && !too_soon && r.quiet_readings < 3) {
    ++r.quiet_readings;
    if (r.quiet_readings == 2) {
      s.counters.add(pass_counter::ka_idle);
      tell_connection(s, event_kind::idle, plan.index, reason::none, asker::wait, now);
    }
  }
  r.read_at = records::reading_due(s, plan.index, now);
  s.schedule(plan.index);
  // Its state is about to end, and its microflows end first: whoever is given its translated port next must never meet them.
  if (s.values.on(setting::keepalive) && r.read_at == never) {
    take_up_again(s, plan.index, now);  // unless the host has renewed it
    if (r.read_at == never && r.state == record_state::held) removing::owe(s, plan.index, reason::flow_idle);
  }
  // Two readings alike: it is idle, and somebody busy has no place. One place a newcomer: others are asked for at the next poll.
  if (s.room_sought && s.table.full() && r.quiet_readings != 0 && r.state == record_state::held) {
    s.room_sought = false;
    s.room.left = 0;
    s.counters.add(pass_counter::room_idle);
    removing::owe(s, plan.index, reason::flow_made_room);
  }
}

template <class S>
void stamp_answered(S& s, const answer& got, instant now) noexcept {
  stamps_plan& plan = s.reading;
  direction_record& way = s.table[plan.index].directions[plan.direction];
  if (got.code != answer_code::done) {
    plan.unknown = true;
  } else if (got.lives) {  // a dead identity moves nothing
    plan.moved |= way.stamped && way.stamp != got.stamp;
    plan.unknown |= !way.stamped;
    way.stamped = true;
    way.stamp = got.stamp;
  }
  if (plan.direction == 1 || s.table[plan.index].directions[1].stays) return read(s, now);
  plan.direction = 1;
  post_read(s, now);
}

// An unanswered read dooms nobody.
template <class S>
void stamp_unanswered(S& s) noexcept {
  s.doing = operation::none;
  record& r = s.table[s.reading.index];
  r.read_at = s.poll.next;
  s.schedule(s.reading.index);
}

// The next connection whose entry or stamps are due.
template <class S>
[[nodiscard]] did due(S& s, instant now) noexcept {
  for (u32 n = 0; n < asked_a_slice; ++n) {
    const u32 i = s.due.pop_due(now);
    if (i == deadlines::none) return did::nothing;
    record& r = s.table[i];
    if (r.state != record_state::held) continue;
    if (r.probe_asked && s.may_probe_at(r) <= now) {
      giving_back::begin_read(s, i, now);
      return did::posted;
    }
    if (!s.values.on(setting::keepalive)) {
      r.read_at = never;
    } else if (now < r.read_at) {
      // Its wait was over before; it waits anew.
    } else if (!s.world->firewall.alive(r.states, now)) {
      s.counters.add(pass_counter::sweep_dead);
      removing::owe(s, i, reason::flow_expired);
      return did::slice;
    } else if (s.upkeep_left < 2) {
      // The poll brings more. Where it is due itself, nobody else is asked before it: they would all wait for it in a circle.
      r.read_at = s.poll.next;
      s.schedule(i);
      if (s.poll.next <= now) return did::nothing;
      continue;
    } else {
      s.upkeep_left -= 2;
      begin_reading(s, i, now);
      return did::posted;
    }
    s.schedule(i);
  }
  return did::slice;
}

// --- dirty ------------------------------------------------------------------------------------------------

// Whether the connection is still what the firewall and the routes say. True: a command was posted, ask again.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_SELDOM bool ask_again(S& s, u32 index, instant now) noexcept {
  make_scratch<Tuple>& m = s.template scratch_for<Tuple>();
  record& r = s.table[index];
  m.pair = s.table.template tuples_of<Tuple>(index);
  m.state = s.world->firewall.find(m.pair[0], now);
  reason why = reason::none;
  if (!m.state.found)
    why = reason::flow_expired;
  else if (m.state.verdict != reason::none || !(derive(m.state) == m.pair) || !(m.state.states == r.states))
    why = reason::flow_reval;  // not as it was, or another connection's state by now
  if (why != reason::none) {
    removing::owe(s, index, why);
    return false;
  }
  m.hand.where = r.directions[0].where;
  m.other.where = r.directions[1].where;
  m.direction = 0;
  if (making::ways_out<Tuple>(s, m) != reason::none) {
    removing::owe(s, index, reason::flow_rerouted);
    return false;
  }
  for (u8 d = 0; d < 2; ++d) {
    const direction_record& way = r.directions[d];
    if (way.stays) continue;  // the host forwards it
    association_word out = protecting::standing(s, m.kernel[d]);
    // The one that it names goes on until the kernel's next is installed.
    if (m.kernel[d] != 0 && out.none() && !way.encrypted_by.none() && s.protects.stands(way.encrypted_by)) out = way.encrypted_by;
    // Protected from now on, or no longer: made again, for its decrypted direction changes with it.
    const bool otherwise = way.encrypted_by.none() != (m.kernel[d] == 0) || (m.kernel[d] != 0 && out.none());
    if (!otherwise && out == way.encrypted_by && s.hops[way.next_hop.index].hop == m.hops[d]) continue;
    // Whatever is left of upkeep_commands: taking it out instead would cost three.
    if (!otherwise && programming::begin_repoint(s, index, d, m.hops[d], out, now)) {
      if (s.upkeep_left != 0) --s.upkeep_left;
      return true;
    }
    removing::owe(s, index, reason::flow_rerouted);
    return false;
  }
  return false;
}

template <class S>
[[nodiscard]] did dirty(S& s, instant now) noexcept {
  return walk_round(s, s.dirty, s.values[setting::dirty_lookups], [&](u32 i) noexcept {
    s.counters.add(pass_counter::dirty_asked);
    return S::of_family(s.table[i].which, [&]<tuple_type Tuple>() noexcept { return ask_again<Tuple>(s, i, now); });
  });
}

// --- room -------------------------------------------------------------------------------------------------

template <class S>
[[nodiscard]] did find_idle(S& s, instant now) noexcept {
  if (!s.table.full()) {
    s.room.left = 0;
    return did::nothing;
  }
  u32 steps = indexes_a_slice;
  const u32 i = next_held(s, s.room.at, steps);
  --s.room.left;
  if (i == s.table.capacity()) return did::slice;
  begin_reading(s, i, now);
  return did::posted;
}

// --- removal by hand --------------------------------------------------------------------------------------

template <class S>
[[nodiscard]] bool is_of_host(S& s, u32 index) noexcept {
  const auto touches = [&](const auto& pair) noexcept {
    for (const auto& t : pair)
      if (detail::widen(t.source) == s.purge.host || detail::widen(t.destination) == s.purge.host) return true;
    return false;
  };
  return s.table[index].which == s.purge.which && records::with_pair(s, index, touches);
}

template <class S>
[[nodiscard]] did purge(S& s) noexcept {
  u32 steps = least(indexes_a_slice, s.purge.left);
  s.purge.left -= steps;
  for (u32 i = next_held(s, s.purge.at, steps); i != s.table.capacity(); i = next_held(s, s.purge.at, steps)) {
    if (!is_of_host(s, i)) continue;
    s.counters.add(pass_counter::removed_by_hand);
    removing::owe(s, i, reason::flow_removed);
  }
  return did::slice;
}

// --- all of it --------------------------------------------------------------------------------------------

// Whether `go` has work that waits for no deadline.
template <class S>
[[nodiscard]] bool at_work(const S& s) noexcept {
  const bool rounds = s.purge.left != 0 || s.moving.left != 0 || s.dirty.left != 0 || s.room.left != 0;
  return rounds || s.to_associate || (s.sweep.to_ask != 0 && s.sweep.to_pass != 0);
}

template <class S>
[[nodiscard]] did go(S& s, instant now) noexcept {
  if (s.moving.left != 0) return associating::move(s, now);
  if (associating::begin(s, now)) return did::posted;
  if (const did what = due(s, now); what != did::nothing) return what;
  if (s.purge.left != 0) return purge(s);
  if (s.dirty.left != 0) return dirty(s, now);
  if (s.sweep.to_ask != 0 && s.sweep.to_pass != 0) return sweep(s, now);
  if (s.room.left != 0) return find_idle(s, now);
  return did::nothing;
}

}  // namespace octep::keeping

// Give-back: a frame of a held connection was punted (system.md 9).
//
// Floor 10.
//
//   eligible: its identity is not the one programmed ─▶ attach; its port moved ─▶ take-out
//   begin:    the entry is read, at most once a gap, and at once when a revived connection's wait ends
//   answered: valid ─▶ nothing · given back ─▶ revive · anything else ─▶ take-out
//
// Nothing tells the host that the fast path stopped using a connection: its frames do. What ends one is never made again from
// the frame that ended it, in the same pass: `removing::taken_out` leaves both tuples to the poll.
// All of it under the pass lock.
#pragma once

#include <octep/engine/program.hpp>
#include <octep/engine/record.hpp>
#include <octep/engine/remove.hpp>

namespace octep::giving_back {

// Posts the read. The connection is held.
template <class S>
OCTEP_SELDOM void begin_read(S& s, u32 index, instant now) noexcept {
  record& r = s.table[index];
  r.probed = true;
  r.probed_at = now;
  r.probe_asked = false;
  s.schedule(index);
  s.doing = operation::probe;
  s.probing = {probe_plan::stage::read, index};
  s.counters.add(pass_counter::probe_reads);
  command c;
  c.kind = command_kind::read_entry;
  c.target = s.table.handle_of(index);
  s.post(c, now);
}

// A punted frame of a held connection, by what its candidate says. True: a command was posted.
template <class S>
[[nodiscard]] OCTEP_PASS_CALL bool met(S& s, const found& whose, identity who, ingress where, bool closing,
                                       instant now) noexcept {
  record& r = s.table[whose.index];
  const direction_record& way = r.directions[whose.direction];
  if (!(where == way.where)) {
    removing::owe(s, whose.index, reason::flow_port_moved);
    return false;
  }
  if (closing) r.closing = true;
  if (way.stays) return false;
  // A direction that ends is not attached: its entry says how far it is.
  if (!(who == way.who) && !closing) {
    // What it names is about to go, and it is told of another first.
    if (!s.protects.stands(way.encrypted_by)) return false;
    if (!s.world->firewall.alive(r.states, now)) {
      removing::owe(s, whose.index, reason::flow_expired);
      return false;
    }
    programming::begin_attach(s, whose.index, whose.direction, who, now);
    return true;
  }
  if (now < s.may_probe_at(r)) {
    s.counters.add(pass_counter::probe_waits);
    r.probe_asked = true;
    s.schedule(whose.index);
    return false;
  }
  begin_read(s, whose.index, now);
  return true;
}

// Why a connection that was given back cannot go on; `none`: it can.
template <class S>
[[nodiscard]] reason ends(S& s, u32 index, u8 identical, instant now) noexcept {
  const record& r = s.table[index];
  // FIN, SYN and RST leave the counter where it was.
  if (r.closing || identical < s.world->device.identical_limit) return reason::flow_ended;
  if (!s.values.on(setting::revive)) return reason::flow_revive_off;
  if (!r.directions[0].programmed || !r.directions[1].programmed) return reason::flow_pending;
  switch (const reason moved = records::moved(s, index, s.generation, 0, now)) {
    case reason::flow_closing:
    case reason::flow_other_closing: return reason::flow_ended;
    case reason::flow_changed: return reason::flow_expired;
    case reason::cand_port_moved: return reason::flow_port_moved;
    default: return moved;
  }
}

template <class S>
void read_answered(S& s, u32 index, const answer& got, instant now) noexcept {
  record& r = s.table[index];
  s.doing = operation::none;
  if (r.state != record_state::held) return;  // owed a take-out meanwhile
  if (got.code != answer_code::done) return;  // it says nothing; the next frame asks again
  const bool ours = got.entry_revision == r.revision;
  if (ours && got.entry == entry_state::valid) {
    r.closing = false;
    s.counters.add(pass_counter::probe_valid);
    return;
  }
  if (!ours || got.entry != entry_state::pending) return removing::owe(s, index, reason::flow_gone);
  s.counters.add(pass_counter::probe_pending);
  const reason why = ends(s, index, got.identical, now);
  tell_connection(s, event_kind::given_back, index, why, asker::run, now);
  if (why != reason::none) return removing::owe(s, index, why);
  s.doing = operation::probe;
  s.probing.at = probe_plan::stage::revive;
  // The create again, same index and revision; without microflows it changes the entry alone.
  command c;
  c.kind = command_kind::create;
  c.target = s.table.handle_of(index);
  c.block = records::block_of(s, index);
  s.post(c, now);
}

template <class S>
void answered(S& s, const answer& got, instant now) noexcept {
  const u32 index = s.probing.index;
  if (s.probing.at == probe_plan::stage::read) return read_answered(s, index, got, now);
  s.doing = operation::none;
  if (got.code != answer_code::done) {
    s.counters.add(pass_counter::revive_refused);
    return removing::owe(s, index, reason::flow_pending);
  }
  s.counters.add(pass_counter::flow_revived);
  record& r = s.table[index];
  (void)r.revive_wait.next(now, {from_ms(s.values[setting::revive_min_ms]), from_ms(s.values[setting::revive_max_ms]),
                                 from_ms(s.values[setting::revive_peace_ms])});
  s.schedule(index);
  tell_connection(s, event_kind::revived, index, reason::none, asker::run, now);
}

// An unanswered read dooms nobody: its answer will be passed over, and the next frame asks again.
template <class S>
void unanswered(S& s) noexcept {
  s.doing = operation::none;
  if (s.probing.at == probe_plan::stage::revive) removing::doom_held(s, s.probing.index);
}

}  // namespace octep::giving_back

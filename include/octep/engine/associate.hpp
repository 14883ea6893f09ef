// Associations: those of the far side's engine are kept in step with the kernel's (system.md 13).
//
// Floor 10.
//
//   comes:   eligible (the kernel has it, an index is free) ─▶ the index is read ─▶ install ─▶ answered ─▶ it may be named
//   goes:    its connections move to its successor, one command each, or are taken out ─▶ nobody refers to it ─▶ delete
//            ─▶ answered ─▶ the index is read once more ─▶ free
//   between: what flowed is read once a poll; the difference goes to the kernel's sequence counter and lifetime
//
// What it refuses: an install whose index was not read before, and a delete under a connection. Keys are the glue's.
// All of it under the pass lock.
#pragma once

#include <octep/engine/program.hpp>
#include <octep/engine/protection.hpp>
#include <octep/engine/remove.hpp>
#include <octep/engine/round.hpp>

namespace octep::associating {

using stage = associate_plan::stage;

template <class S>
OCTEP_SELDOM void post(S& s, stage at, handle which, instant now) noexcept {
  s.doing = operation::associate;
  s.associating = {at, which};
  const association& a = s.protects[which.index];
  command c;
  c.kind = at == stage::add      ? command_kind::association_add
           : at == stage::remove ? command_kind::association_delete
                                 : command_kind::association_read;
  c.target = which;
  c.kernel = a.kernel;
  c.encrypts = a.encrypts;
  s.post(c, now);
}

// A step of some association. False: none has one to take.
template <class S>
[[nodiscard]] OCTEP_SELDOM bool begin(S& s, instant now) noexcept {
  if (!s.to_associate) return false;
  if (const handle h = s.protects.next_to_install(); h.revision != 0) {
    // After a restart the index is known to read zero.
    if (s.protects.installing(h)) return post(s, stage::add, h, now), true;
    return post(s, stage::read_before, h, now), true;
  }
  if (const handle h = s.protects.next_to_delete(); h.revision != 0 && s.protects.removing(h))
    return post(s, stage::remove, h, now), true;
  if (const handle h = s.protects.next_to_read(); h.revision != 0) {
    const bool last = s.protects[h.index].state == association_state::closing;
    return post(s, last ? stage::read_last : stage::read, h, now), true;
  }
  s.to_associate = false;
  return false;
}

template <class S>
OCTEP_SELDOM void account(S& s, handle h, const answer& got, instant now) noexcept {
  const u32 kernel = s.protects[h.index].kernel;
  const accounted said = s.protects.read(h, got.traffic, now);
  s.counters.add(pass_counter::assoc_reads);
  if (said.rebased) s.counters.add(pass_counter::stat_rebase);
  if (said.numbers != 0) s.world->associations.pass_over(kernel, said.numbers);
  if (!said.told.zero()) s.world->associations.account(kernel, said.told);
}

// The far side has it: what waits for it, or named its predecessor, is asked about again.
template <class S>
OCTEP_SELDOM void installed(S& s, handle h, instant now) noexcept {
  if (!s.protects.installed(h)) return;
  s.counters.add(pass_counter::assoc_installed);
  tell(s, event_kind::association_installed, now, h);
  keeping::begin_round(s, s.dirty);
  keeping::begin_round(s, s.moving);
}

template <class S>
OCTEP_SELDOM void deleted(S& s, handle h, instant now) noexcept {
  s.protects.deleted(h);
  s.counters.add(pass_counter::assoc_deleted);
  tell(s, event_kind::association_deleted, now, h);
}

template <class S>
OCTEP_SELDOM void answered(S& s, const answer& got, instant now) noexcept {
  const auto [at, h] = s.associating;
  s.doing = operation::none;
  const bool done = got.code == answer_code::done;
  if (!done) s.counters.add(pass_counter::assoc_refused);
  switch (at) {
    case stage::read_before:
      if (!done) return s.protects.wait_for_poll(h);
      s.protects.read_before(h, got.traffic, now);
      if (s.protects.installing(h)) post(s, stage::add, h, now);  // else it went meanwhile
      return;
    case stage::add: return done ? installed(s, h, now) : s.protects.abandon(h);
    case stage::remove:
      if (!done) {
        s.protects.delete_refused(h);
        return s.protects.wait_for_poll(h);
      }
      deleted(s, h, now);
      return post(s, stage::read_last, h, now);
    case stage::read:
    case stage::read_last:
      if (done) account(s, h, got, now);
      if (at == stage::read_last) s.protects.close(h);
      return;
  }
}

// Not answered is "not yet". An install or a delete is waited for; a read is asked again when a poll has begun, and what was to
// be installed after it was not (system.md 13).
template <class S>
void unanswered(S& s) noexcept {
  s.doing = operation::none;
  if (s.associating.at == stage::read_before) s.protects.wait_for_poll(s.associating.which);
}

template <class S>
void answered_late(S& s, command_kind what, handle h, const answer& got, instant now) noexcept {
  const bool done = got.code == answer_code::done;
  if (!done) s.counters.add(pass_counter::assoc_refused);
  s.to_associate = true;
  if (what == command_kind::association_add) return done ? installed(s, h, now) : s.protects.abandon(h);
  if (what == command_kind::association_delete) return done ? deleted(s, h, now) : s.protects.delete_refused(h);
}

// A poll begins: all that flowed is read, all that failed is tried again.
template <class S>
OCTEP_SELDOM void begin_poll(S& s) noexcept {
  s.protects.want_reads();
  s.to_associate = true;
}

// --- who refers to one that goes --------------------------------------------------------------------------

// Who takes over from what that word names and may be named; itself while nothing has to change; none: nobody does.
template <class S>
[[nodiscard]] OCTEP_SELDOM association_word next_of(S& s, association_word w) noexcept {
  if (s.protects.stands(w)) return w;
  const association_word latest = associations::word_of(s.protects.latest(associations::handle_of(w)));
  return s.protects.stands(latest) ? latest : association_word{};
}

// Moves one connection to what takes over, or owes it a take-out. True: a command was posted, ask again.
template <class S>
[[nodiscard]] OCTEP_SELDOM bool move_on(S& s, u32 index, instant now) noexcept {
  record& r = s.table[index];
  for (u8 d = 0; d < 2; ++d) {
    direction_record& way = r.directions[d];
    if (way.encrypted_by.none() && way.decrypted_by.none()) continue;
    const u32 level = s.values[setting::ipsec_flows];
    if (level == 0 || (level == 1 && !way.decrypted_by.none() && !way.stays)) {
      removing::owe(s, index, reason::flow_tunnelled);
      return false;
    }
    const association_word out = next_of(s, way.encrypted_by);
    const association_word in = next_of(s, way.decrypted_by);
    if (out.none() != way.encrypted_by.none() || in.none() != way.decrypted_by.none()) {
      removing::owe(s, index, reason::flow_association_gone);
      return false;
    }
    if (!(in == way.decrypted_by)) {  // its microflow names none, so nobody is told
      if (!way.stays) (void)protecting::name(s, {}, in);
      protecting::replace(s, way.decrypted_by, in);
    }
    if (way.stays) {
      protecting::replace(s, way.encrypted_by, out);
    } else if (!(out == way.encrypted_by)) {
      const next_hop hop = s.hops[way.next_hop.index].hop;
      if (programming::begin_repoint(s, index, d, hop, out, now)) return true;
      removing::owe(s, index, reason::flow_association_gone);
      return false;
    }
  }
  return false;
}

template <class S>
[[nodiscard]] keeping::did move(S& s, instant now) noexcept {
  return keeping::walk_round(s, s.moving, keeping::asked_a_slice, [&](u32 i) noexcept { return move_on(s, i, now); });
}

}  // namespace octep::associating

// Program: one direction of a held connection, told anew (system.md 9 and 10).
//
// Floor 9.
//
//   attach:   eligible (a frame of it brought an identity that is not the one programmed) ─▶ program
//   repoint:  eligible (its way out or its association moved) ─▶ next hop, if it is new ─▶ program
//   answered: the direction's record says what the far side has; refused: the connection is taken out
//
// What it refuses: programming what moved meanwhile. All of it under the pass lock.
#pragma once

#include <octep/engine/protection.hpp>
#include <octep/engine/record.hpp>
#include <octep/engine/remove.hpp>

namespace octep::programming {

template <class S>
OCTEP_SELDOM void post_next(S& s, instant now) noexcept {
  program_plan& plan = s.programming;
  direction_record& way = s.table[plan.index].directions[plan.direction];
  command c;
  if (plan.at == program_plan::stage::hop) {
    c.kind = command_kind::next_hop_set;
    c.target = plan.hop_handle;
    c.hop = plan.hop;
    return s.post(c, now);
  }
  c.kind = command_kind::program;
  c.target = s.table.handle_of(plan.index);
  c.direction = plan.direction;
  c.microflows[0] = records::microflow_of(s, plan.index, plan.direction, plan.who, plan.hop_handle,
                                          protecting::name(s, plan.encrypted_by, way.decrypted_by));
  // From here on the far side may act on it, answered or not.
  if (!(way.who == plan.who)) way.stamped = false;
  way.who = plan.who;
  way.programmed = true;
  s.post(c, now);
}

// A direction under the identity that its frame brought. The connection is held.
template <class S>
OCTEP_SELDOM void begin_attach(S& s, u32 index, u8 direction, identity who, instant now) noexcept {
  s.doing = operation::program;
  s.programming = {program_plan::stage::program, false, direction, false, index, s.generation, who,
                   s.table[index].directions[direction].next_hop, {}, s.table[index].directions[direction].encrypted_by};
  post_next(s, now);
}

// A direction by another next hop, or under another association that stands. False: there is no next hop to be had, and nothing
// is held.
template <class S>
[[nodiscard]] OCTEP_SELDOM bool begin_repoint(S& s, u32 index, u8 direction, const next_hop& hop,
                                              association_word encrypted_by, instant now) noexcept {
  const next_hops::acquired got = s.hops.acquire(hop);
  if (!got.found_room) return false;
  using stage = program_plan::stage;
  s.doing = operation::program;
  s.programming = {got.must_program ? stage::hop : stage::program, true, direction, got.must_program, index, s.generation,
                   s.table[index].directions[direction].who, got.where, hop, {}};
  protecting::replace(s, s.programming.encrypted_by, encrypted_by);
  post_next(s, now);
  return true;
}

// The old reference goes when the far side has been told of the new one, or will never be.
template <class S>
OCTEP_SELDOM void take_over(S& s) noexcept {
  program_plan& plan = s.programming;
  if (!plan.repoints) return;
  direction_record& way = s.table[plan.index].directions[plan.direction];
  s.hops.drop(way.next_hop);
  way.next_hop = plan.hop_handle;
  protecting::replace(s, way.encrypted_by, plan.encrypted_by);
  protecting::replace(s, plan.encrypted_by, {});
}

template <class S>
OCTEP_SELDOM void give_up(S& s, reason why) noexcept {
  program_plan& plan = s.programming;
  s.doing = operation::none;
  if (plan.repoints) {
    s.hops.drop(plan.hop_handle);
    protecting::replace(s, plan.encrypted_by, {});
  }
  removing::owe(s, plan.index, why);
}

template <class S>
void answered(S& s, const answer& got, instant now) noexcept {
  program_plan& plan = s.programming;
  if (plan.at == program_plan::stage::hop) {
    if (got.code != answer_code::done) {
      s.hops.refused(plan.hop_handle);
      return give_up(s, reason::flow_rerouted);
    }
    s.hops.programmed(plan.hop_handle);
    s.counters.add(pass_counter::nhop_set);
    // A discard that fell in between forgets the record soon, a take-out ends it; anything else that moved is met by the next
    // frame.
    const bool ends = s.table[plan.index].state != record_state::held;
    const bool moved = s.discard_owed || plan.generation != s.generation || !s.protects.stands(plan.encrypted_by);
    if (ends || moved) return give_up(s, reason::flow_changed);
    plan.at = program_plan::stage::program;
    return post_next(s, now);
  }
  if (got.code != answer_code::done) return give_up(s, reason::flow_rc_refused);
  s.doing = operation::none;
  take_over(s);
  s.counters.add(plan.repoints ? pass_counter::flow_repoint : pass_counter::flow_attached);
  tell_connection(s, plan.repoints ? event_kind::repointed : event_kind::attached, plan.index, reason::none, asker::run, now,
                  plan.direction);
}

// Not answered is "not yet": what the far side has of the connection is not known, so it is doomed; a next hop is barred.
template <class S>
void unanswered(S& s) noexcept {
  const program_plan& plan = s.programming;
  if (plan.at == program_plan::stage::hop) {
    s.hops.bar(plan.hop_handle);
    return give_up(s, reason::flow_rerouted);
  }
  s.doing = operation::none;
  take_over(s);
  removing::doom_held(s, plan.index);
}

}  // namespace octep::programming

// Make: a candidate becomes a connection in hardware, both directions or neither (system.md 8).
//
// Floor 9.
//
//   eligible: cheapest question first, each refusal with its own reason; nothing is changed
//   begin:    references to two next hops, a record (*making*), then the first of at most three commands
//   answered: the next command, after asking again whether anything moved; at the create's answer the connection is held
//
// What a make refuses it leaves as it was. All of it under the pass lock.
#pragma once

#include <octep/engine/protection.hpp>
#include <octep/engine/record.hpp>
#include <octep/engine/remove.hpp>
#include <octep/engine/state.hpp>

namespace octep::making {

// Settled: a state that will last (system.md 8). An echo's never has to: an unanswered ping ends at flow_wait_other.
template <tuple_type Tuple>
[[nodiscard]] reason settled(const firewall_answer<Tuple>& state, u32 udp_oneway_ms) noexcept {
  const bool both = state.opener_peer == peer_state::established && state.responder_peer == peer_state::established;
  switch (state.proto) {
    case protocol::tcp:
      if (state.timer == timer_class::closing) return reason::flow_unsettled_closing;
      return both && state.timer == timer_class::settled ? reason::none : reason::flow_unsettled_opening;
    case protocol::udp:
      return both || from_ms(udp_oneway_ms) <= state.age ? reason::none : reason::flow_unsettled_one_way;
    case protocol::icmp:
    case protocol::icmp6: break;
  }
  return reason::none;
}

// Where each direction leaves. The state's own route is the world's to prefer.
template <tuple_type Tuple, class S>
[[nodiscard]] reason ways_out(S& s, make_scratch<Tuple>& m) noexcept {
  const auto& state = m.state;
  for (u32 d = 0; d < 2; ++d) {
    const bool of_hand = d == m.direction;
    next_hop_question<Tuple> ask;
    ask.destination = d == 0 ? state.responder.address : state.opener.address;
    ask.source = d == 0 ? state.opener_translated.address : state.responder_seen.address;
    ask.route = state.route[d];
    ask.from = of_hand ? m.hand.where : m.other.where;
    ask.other = of_hand ? m.other.where : m.hand.where;
    const next_hop_answer got = s.world->next_hops.resolve(ask);
    if (got.why != reason::none) return got.why;
    m.hops[d] = got.hop;
    m.kernel[d] = got.association;
  }
  return reason::none;
}

// Whether a direction's frames stay with the host though its connection is in hardware (system.md 13): of what comes out of a
// tunnel the far side takes a clear-text frame for it, too.
template <class S>
[[nodiscard]] bool stays(const S& s, association_word decrypted_by) noexcept {
  return !decrypted_by.none() && s.values[setting::ipsec_flows] < 2;
}

// What protects it, once its ways out are known. On `none` each association that it needs stands.
template <tuple_type Tuple, class S>
[[nodiscard]] reason protection(S& s, make_scratch<Tuple>& m) noexcept {
  for (u32 d = 0; d < 2; ++d) {
    m.encrypted_by[d] = {};
    const association_word decrypted_by = d == m.direction ? m.hand.association : m.other.association;
    if (decrypted_by.none() && m.kernel[d] == 0) continue;
    if (!s.values.on(setting::ipsec_flows)) return reason::flow_tunnelled;
    if (!s.protects.stands(decrypted_by)) return reason::flow_no_association;
    if (m.kernel[d] == 0) continue;
    m.encrypted_by[d] = protecting::standing(s, m.kernel[d]);
    if (m.encrypted_by[d].none()) return reason::flow_no_association;
  }
  const bool neither = stays(s, m.hand.association) && stays(s, m.other.association);
  return neither ? reason::flow_tunnelled : reason::none;
}

// Whether `hand` may become a connection now. On `none` the scratch of its family holds all that `begin` needs.
template <tuple_type Tuple, class S>
[[nodiscard]] reason eligible(S& s, const candidate<Tuple>& hand, u32 hashed, instant now) noexcept {
  make_scratch<Tuple>& m = s.template scratch_for<Tuple>();
  m.hand = hand;
  if (!hand.who.names_flow()) return reason::flow_no_identity;
  if (!s.makes_family(Tuple::which)) return reason::flow_family;
  if (!hand.association.none() && !s.values.on(setting::ipsec_flows)) return reason::flow_tunnelled;
  if (s.table.find(hand.tuple, hashed).is) return reason::flow_held;
  if (hand.closing) return reason::flow_closing;
  if (now < s.held_back.held_until(hand.tuple, hashed)) return reason::flow_held_back;
  if (s.kept_out.has(hand.tuple)) return reason::flow_kept_out;

  m.state = s.world->firewall.find(hand.tuple, now);
  if (!m.state.found) return reason::flow_nostate;
  if (m.state.verdict != reason::none) return m.state.verdict;
  if (const reason r = settled(m.state, s.values[setting::udp_oneway_ms]); r != reason::none) return r;

  m.pair = derive(m.state);
  const int direction = direction_of(m.pair, hand.tuple);
  if (direction < 0) return reason::flow_tuple_mismatch;
  if (m.pair[0] == m.pair[1]) return reason::flow_self;
  m.direction = static_cast<u8>(direction);
  m.hash[m.direction] = hashed;
  const Tuple& far = m.pair[1 - m.direction];
  const u32 far_hash = s.hashed(far);
  m.hash[1 - m.direction] = far_hash;
  if (s.kept_out.has(far)) return reason::flow_kept_out;
  if (s.table.find(far, far_hash).is) return reason::flow_other_held;
  got other;
  {
    const in_section inside{s.world->guard};
    other = s.template candidates_for<Tuple>().find(far, far_hash, m.other);
  }
  if ((other != got::one || !m.other.who.names_flow()) &&
      !s.template partners_for<Tuple>().find(far, far_hash, now, m.other))
    return reason::flow_wait_other;
  const u32 age_limit = s.values[setting::cand_age];
  if (age_limit != 0 && m.other.at.age(tick::at(now)) > age_limit * 1000) return reason::cand_aged;
  // Read or not: which direction a walk meets first decides nothing. A reopened connection's own frames take the mark away.
  if (m.other.closing) return reason::flow_other_closing;
  if (const reason r = ways_out<Tuple>(s, m); r != reason::none) return r;
  if (const reason r = protection<Tuple>(s, m); r != reason::none) return r;
  return s.table.full() ? reason::auto_full : reason::none;
}

// Takes both references, programming each hop once however many share it. On a refusal it holds none.
template <tuple_type Tuple, class S>
[[nodiscard]] reason take_hops(S& s, const make_scratch<Tuple>& m, array<handle, 2>& where) noexcept {
  for (u32 d = 0; d < 2; ++d) {
    const next_hops::acquired got = s.hops.acquire(m.hops[d]);
    if (got.found_room) {
      where[d] = got.where;
      s.making.must_set[d] = got.must_program;
      if (!got.must_program && !got.pending) s.counters.add(pass_counter::nhop_shared);
      continue;
    }
    if (d == 1) s.hops.drop(where[0]);
    return got.barred ? reason::nhop_barred : reason::nhop_full;
  }
  return reason::none;
}

template <class S>
void tell_refused(S& s, u32 index, reason why, instant now) noexcept {
  tell_connection(s, event_kind::refused, index, why, s.making.by, now);
}

// The make ends without a connection, and nothing of it is in the far side's tables but next hops that others may share.
template <class S>
OCTEP_SELDOM void end_refused(S& s, reason why, instant now) noexcept {
  const u32 index = s.making.index;
  s.doing = operation::none;
  s.counters.add(why);
  if (s.making.by == asker::run) s.counters.add(pass_counter::fast_make_refused);
  tell_refused(s, index, why, now);
  if (s.making.by == asker::run)
    for_both_tuples(s, index, [&](const auto& tuple, u32 hashed) { s.leave_to_poll(tuple, hashed); });
  removing::free_record(s, index);
}

template <class S>
void post_hop(S& s, u32 d, instant now) noexcept {
  command c;
  c.kind = command_kind::next_hop_set;
  c.target = s.table[s.making.index].directions[d].next_hop;
  c.hop = s.making.hops[d];
  s.post(c, now);
}

template <class S>
void post_create(S& s, instant now) noexcept {
  const make_plan& plan = s.making;
  record& r = s.table[plan.index];
  // Just before: its windows are about to pass unseen, and no other state's are.
  s.world->firewall.relax(r.states, now);
  command c;
  c.kind = command_kind::create;
  c.target = {plan.index, r.revision};
  c.block = records::block_of(s, plan.index);
  for (u32 d = 0; d < 2; ++d) {
    direction_record& way = r.directions[d];
    if (way.stays) continue;
    c.microflows[d] = records::microflow_of(s, plan.index, d, way.who, way.next_hop,
                                            protecting::name(s, way.encrypted_by, way.decrypted_by));
    // From here on the far side may act on it, answered or not.
    way.programmed = true;
  }
  s.post(c, now);
}

// Posts the next command that this make still needs.
template <class S>
OCTEP_SELDOM void post_next(S& s, instant now) noexcept {
  using stage = make_plan::stage;
  make_plan& plan = s.making;
  if (plan.at == stage::hop0 && !plan.must_set[0]) plan.at = stage::hop1;
  if (plan.at == stage::hop1 && !plan.must_set[1]) plan.at = stage::create;
  if (plan.at == stage::create) return post_create(s, now);
  post_hop(s, plan.at == stage::hop0 ? 0 : 1, now);
}

// After `eligible` said none. `none`: the first command is posted. Otherwise nothing is held.
template <tuple_type Tuple, class S>
[[nodiscard]] OCTEP_SELDOM reason begin(S& s, asker by, instant now) noexcept {
  make_scratch<Tuple>& m = s.template scratch_for<Tuple>();
  array<handle, 2> where{};
  if (const reason r = take_hops(s, m, where); r != reason::none) return r;
  const u32 index = s.table.allocate(m.pair, m.hash[0], m.hash[1]);

  record& r = s.table[index];
  r.states = m.state.states;
  // A candidate keeps its last frame's tick: of what is known of both directions the earlier one.
  const microseconds known_for = from_ms(greatest(m.hand.at.age(tick::at(now)), m.other.at.age(tick::at(now))));
  r.first_seen = instant{now.us - least(now.us, known_for.count)};
  for (u32 d = 0; d < 2; ++d) {
    const candidate<Tuple>& of = d == m.direction ? m.hand : m.other;
    s.template partners_for<Tuple>().forget(m.pair[d], m.hash[d]);
    direction_record& way = r.directions[d];
    way = {of.who, of.where, where[d], true, false, false, stays(s, of.association), 0, {}, {}};
    protecting::replace(s, way.encrypted_by, m.encrypted_by[d]);
    protecting::replace(s, way.decrypted_by, of.association);
    // Its frames ask for nothing.
    if (!way.stays) s.hot.add(m.hash[d]);
    s.making.hops[d] = m.hops[d];
  }
  s.making.at = make_plan::stage::hop0;
  s.making.by = by;
  s.making.direction = m.direction;
  s.making.index = index;
  s.making.generation = s.generation;
  s.doing = operation::make;
  tell_connection(s, event_kind::make_begins, index, reason::none, by, now, m.direction, m.hand.count);
  post_next(s, now);
  return reason::none;
}

template <class S>
void made(S& s, instant now) noexcept {
  const u32 index = s.making.index;
  record& r = s.table[index];
  s.doing = operation::none;
  r.state = record_state::held;
  r.made_at = now;
  r.read_at = records::reading_due(s, index, now);
  s.schedule(index);
  s.counters.add(pass_counter::auto_made);
  if (s.making.by == asker::run) s.counters.add(pass_counter::fast_made);
  tell_connection(s, event_kind::made, index, reason::none, s.making.by, now, s.making.direction);
  // Asked before the candidates are read: a mark is news only while nobody has. A ring may set one in between, or hold the
  // word while it is asked for, so the reading asks again.
  const reason ended = records::moved(s, index, s.making.generation, s.making.direction, now);
  const bool closing = removing::settle_candidates(s, index) || ended == reason::flow_closing || ended == reason::flow_other_closing;
  if (closing) return removing::owe(s, index, reason::flow_ended);
  if (ended != reason::none) removing::owe(s, index, ended == reason::cand_port_moved ? reason::flow_port_moved : ended);
}

template <class S>
void answered(S& s, const answer& got, instant now) noexcept {
  using stage = make_plan::stage;
  make_plan& plan = s.making;
  if (plan.at == stage::create)
    return got.code == answer_code::done ? made(s, now) : end_refused(s, reason::flow_rc_refused, now);

  const u32 d = plan.at == stage::hop0 ? 0 : 1;
  const handle hop = s.table[plan.index].directions[d].next_hop;
  if (got.code != answer_code::done) {
    s.hops.refused(hop);
    return end_refused(s, reason::flow_rc_refused, now);
  }
  s.hops.programmed(hop);
  s.counters.add(pass_counter::nhop_set);
  plan.must_set[d] = false;
  if (!s.values.on(setting::auto_make)) return end_refused(s, reason::auto_off, now);
  if (const reason r = records::moved(s, plan.index, plan.generation, plan.direction, now); r != reason::none) {
    s.counters.add(pass_counter::flow_aborted);
    return end_refused(s, r, now);
  }
  post_next(s, now);
}

// The command passed its limit. Not answered is "not yet", never "no": the record of a create is doomed, kept and counted
// as programmed until the far side has answered; a next hop is barred.
template <class S>
void unanswered(S& s, instant now) noexcept {
  make_plan& plan = s.making;
  s.makes_barred = true;
  if (plan.at != make_plan::stage::create) {
    const u32 d = plan.at == make_plan::stage::hop0 ? 0 : 1;
    s.hops.bar(s.table[plan.index].directions[d].next_hop);
    return end_refused(s, reason::flow_unanswered, now);
  }
  s.doing = operation::none;
  s.counters.add(reason::flow_unanswered);
  if (plan.by == asker::run) s.counters.add(pass_counter::fast_make_refused);
  tell_refused(s, plan.index, reason::flow_unanswered, now);
  removing::doom(s, plan.index);
}

}  // namespace octep::making

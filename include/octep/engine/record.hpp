// Records: what every operation asks of one connection, whatever its family.
//
// Floor 7.
//
// What it is: the connection as a command carries it, whether anything about it moved, and when it is to be looked at.
// What it refuses: changing anything, and posting. Buys: each question has one answer, in one place.
// All of it under the pass lock; slot words inside the world's guard.
#pragma once

#include <octep/engine/state.hpp>

namespace octep {

// Both directions of a connection, whatever its family: f(tuple, hash).
template <class S, class F>
void for_both_tuples(S& s, u32 index, F&& f) noexcept {
  S::of_family(s.table[index].which, [&]<tuple_type Tuple>() noexcept {
    const tuple_pair<Tuple> pair = s.table.template tuples_of<Tuple>(index);
    for (u32 d = 0; d < 2; ++d) f(pair[d], s.table.hash_of(index, d));
  });
}

namespace records {

// f(pair) with the connection's two tuples.
template <class S, class F>
[[nodiscard]] auto with_pair(S& s, u32 index, F&& f) noexcept {
  return S::of_family(s.table[index].which,
                      [&]<tuple_type Tuple>() noexcept { return f(s.table.template tuples_of<Tuple>(index)); });
}

template <class S>
[[nodiscard]] OCTEP_SELDOM connection_block block_of(S& s, u32 index) noexcept {
  const record& r = s.table[index];
  const bool changes = with_pair(s, index, [](const auto& pair) noexcept { return translates(pair); });
  return {s.table.handle_of(index), r.which, r.proto, r.proto == protocol::tcp, changes};
}

// One direction as the far side is told of it, under that identity, by that next hop, and encrypted by that association.
template <class S>
[[nodiscard]] OCTEP_SELDOM microflow microflow_of(S& s, u32 index, u32 direction, identity who, handle hop,
                                                        handle association) noexcept {
  return {who, s.table[index].directions[direction].where, hop,
          with_pair(s, index, [&](const auto& pair) noexcept { return rewrite_of(pair, direction); }), association};
}

// What may move between two commands (system.md 8): a discard since `generation`, the states, an operator's mind, a closing mark
// that nobody has read, a port. `none`: nothing did. `hand`: the direction that asked.
template <tuple_type Tuple, class S>
[[nodiscard]] reason moved(S& s, u32 index, u32 generation, u32 hand, instant now) noexcept {
  const record& r = s.table[index];
  if (s.discard_owed || generation != s.generation) return reason::flow_changed;
  if (!s.world->firewall.alive(r.states, now)) return reason::flow_changed;
  candidate<Tuple>& seen = s.template scratch_for<Tuple>().hand;
  const auto& pair = s.table.template tuples_of<Tuple>(index);
  if (s.kept_out.has(pair[0]) || s.kept_out.has(pair[1])) return reason::flow_kept_out;
  for (const direction_record& way : r.directions)
    if (!s.protects.stands(way.encrypted_by) || !s.protects.stands(way.decrypted_by)) return reason::flow_association_gone;
  for (u32 d = 0; d < 2; ++d) {
    const in_section inside{s.world->guard};
    if (s.template candidates_for<Tuple>().find(pair[d], s.table.hash_of(index, d), seen) != got::one) continue;
    if (seen.closing && !seen.read) return d == hand ? reason::flow_closing : reason::flow_other_closing;
    if (seen.who.names_flow() && !(seen.where == r.directions[d].where)) return reason::cand_port_moved;
  }
  return reason::none;
}

template <class S>
[[nodiscard]] OCTEP_SELDOM reason moved(S& s, u32 index, u32 generation, u32 hand, instant now) noexcept {
  return S::of_family(s.table[index].which, [&]<tuple_type Tuple>() noexcept {
    return moved<Tuple>(s, index, generation, hand, now);
  });
}

// When the stamps of a connection are to be read: before half of what its states have left has run (system.md 10). One that
// was idle twice is left alone until just before its end, and looked at once more: whoever wakes in the last quarter of a day
// must not lose his state for it (ours). `never`: no more.
template <class S>
[[nodiscard]] OCTEP_SELDOM instant reading_due(S& s, u32 index, instant now) noexcept {
  if (!s.values.on(setting::keepalive)) return never;
  const record& r = s.table[index];
  const u64 left = s.world->firewall.remaining(r.states, now).count;
  if (r.quiet_readings < 2) return now + microseconds{left / 2};
  // Two polls, so that a poll with many to read comes to it in time.
  const u64 margin = 2 * from_ms(s.values[setting::poll_ms]).count;
  return r.quiet_readings == 2 && left > 2 * margin ? now + microseconds{left - margin} : never;
}

}  // namespace records
}  // namespace octep

// Reconcile: what must be true of the engine's own tables between any two inputs.
//
// Floor 8.
//
// What it is: one walk that anyone who has the pass lock can run, in a kernel's dump as in a test. The first broken law comes
// back, and at which index. What needs the far side is not asked: whoever can look into it holds its tables against these too.
// What it refuses: memory, repairing, and the firewall.
// What it forgives: records that a discard has not come to yet; and, once the far side is gone, whatever state it left them in.
// What it costs: the records as often as the next hops need it, 64 at a time, once a use of an association, and a byte a hot
// bucket: milliseconds at 100,000.
// No slice of work, but for somebody who wants to know. Under the pass lock, between two inputs.
#pragma once

#include <octep/engine/record.hpp>
#include <octep/engine/state.hpp>

namespace octep {

// Appended, never renumbered: the values cross the C border. `at` is the index of the record unless another is named.
enum class law : u8 {
  none,              // all hold
  records_counted,   // the table counts as many as there are; at: what it counts
  found_by_tuples,   // a record is found by both its tuples, as the direction that each is
  both_directions,   // a held record has an identity and a next hop for each direction
  next_hop_lives,    // what a record refers to is there, at the revision it refers to
  references_add_up, // a next hop counts those that refer to it; at: of the next hop
  tuples_are_hot,    // the hot table says "perhaps" to every tuple of a record
  hot_adds_up,       // it counts two for each record and no more; at: what it counts
  making_is_made,    // a record is `making` while its make is under way, and no other
  operation_fits,    // the operation under way is about a record or next hop in a state for it; at: of that
  doomed_is_out,     // a record is `doomed` while the command about it is out
  removals_leave,    // what the ring of removals names is `leaving`; at: the place in the ring
  leaving_is_owed,   // each `leaving` record stands once in the ring, or is being taken out; at: how many leave
  deadline_of_held,  // a deadline is a held record's
  hold_has_end,      // whatever is held back, waits or is remembered has an end; at: of the hold
  association_lives,       // the associations that a held record refers to are in use, at the revision it refers to
  association_references,  // an association counts those that refer to it, and none does that is being deleted; at: its index
  count_
};

[[nodiscard]] constexpr const char* name(law l) noexcept {
  constexpr const char* names[] = {"none",           "records_counted", "found_by_tuples", "both_directions",
                                   "next_hop_lives", "references_add_up", "tuples_are_hot",  "hot_adds_up",
                                   "making_is_made", "operation_fits",  "doomed_is_out",   "removals_leave",
                                   "leaving_is_owed", "deadline_of_held", "hold_has_end",    "association_lives",
                                   "association_references"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<usize>(law::count_));
  return names[static_cast<usize>(l)];
}

namespace reconciling {

struct finding {
  law broken = law::none;
  u32 at = 0;
};

// A discard has not come to it yet: what it refers to is gone, and nothing is owed for it.
template <class S>
[[nodiscard]] bool forgotten(const S& s, u32 index) noexcept {
  return index >= s.forget_from;
}

template <class S>
[[nodiscard]] bool is_found(const S& s, u32 index) noexcept {
  return S::of_family(s.table[index].which, [&]<tuple_type Tuple>() noexcept {
    const tuple_pair<Tuple> pair = s.table.template tuples_of<Tuple>(index);
    for (u32 d = 0; d < 2; ++d) {
      const u32 hashed = s.hashed(pair[d]);
      const found f = s.table.find(pair[d], hashed);
      if (hashed != s.table.hash_of(index, d) || !f.is || f.index != index || f.direction != d) return false;
    }
    return true;
  });
}

// Or to none at all.
template <class S>
[[nodiscard]] bool refers_to_one(const S& s, association_word w) noexcept {
  return w.none() || s.protects.at(w).revision != 0;
}

// One record's own laws.
template <class S>
[[nodiscard]] law of_record(const S& s, u32 index) noexcept {
  const record& r = s.table[index];
  if (s.due.of(index) != never && r.state != record_state::held) return law::deadline_of_held;
  if (r.state == record_state::free) return law::none;
  if (!is_found(s, index)) return law::found_by_tuples;
  for (u32 d = 0; d < 2; ++d)
    if (!r.directions[d].stays && !s.hot.perhaps(s.table.hash_of(index, d))) return law::tuples_are_hot;
  if (forgotten(s, index)) return law::none;

  for (const direction_record& way : r.directions) {
    if (r.state == record_state::held && !(way.programmed != way.stays && way.has_next_hop && way.who.names_flow()))
      return law::both_directions;
    if (r.state == record_state::held && !(refers_to_one(s, way.encrypted_by) && refers_to_one(s, way.decrypted_by)))
      return law::association_lives;
    if (!way.has_next_hop) continue;
    if (way.next_hop.index >= s.hops.capacity()) return law::next_hop_lives;
    const next_hop_entry& hop = s.hops[way.next_hop.index];
    if (hop.state == next_hop_state::free || hop.revision != way.next_hop.revision) return law::next_hop_lives;
  }
  if (s.gone) return law::none;
  if (r.state == record_state::making && !(s.doing == operation::make && s.making.index == index)) return law::making_is_made;
  const bool out = s.commands.outstanding() && s.commands.current().target.index == index;
  if (r.state == record_state::doomed && !out) return law::doomed_is_out;
  return law::none;
}

template <class S>
[[nodiscard]] finding records(const S& s) noexcept {
  u32 there = 0;
  for (u32 i = 0; i < s.table.capacity(); ++i) {
    if (const law broken = of_record(s, i); broken != law::none) return {broken, i};
    if (s.table[i].state != record_state::free) ++there;
  }
  if (there != s.table.held()) return {law::records_counted, s.table.held()};
  return {};
}

// A direction that is being moved to another next hop holds both until the far side has answered.
template <class S>
[[nodiscard]] bool moves_to(const S& s, u32 hop) noexcept {
  return s.doing == operation::program && s.programming.repoints && s.programming.hop_handle.index == hop;
}

template <class S>
[[nodiscard]] finding references(const S& s) noexcept {
  constexpr u32 most = 64;
  for (u32 from = 0; from < s.hops.capacity(); from += most) {
    array<u32, most> expected{};
    for (u32 i = 0; i < s.table.capacity(); ++i) {
      const record& r = s.table[i];
      if (r.state == record_state::free || forgotten(s, i)) continue;
      for (const direction_record& way : r.directions)
        if (way.has_next_hop && way.next_hop.index >= from && way.next_hop.index - from < most)
          ++expected[way.next_hop.index - from];
    }
    for (u32 i = from; i < s.hops.capacity() && i - from < most; ++i)
      if (s.hops[i].references != expected[i - from] + (moves_to(s, i) ? 1U : 0U)) return {law::references_add_up, i};
  }
  return {};
}

// Who refers to each association.
template <class S>
[[nodiscard]] finding association_references(const S& s) noexcept {
  for (u32 n = 0; n < s.protects.capacity(); ++n) {
    const association& a = s.protects[n];
    if (a.state == association_state::free) continue;
    const association_word w = associations::word_of(s.protects.handle_at(n));
    u32 expected = s.doing == operation::program && s.programming.repoints && s.programming.encrypted_by == w ? 1 : 0;
    for (u32 i = 0; i < s.table.capacity(); ++i)
      if (s.table[i].state != record_state::free)
        for (const direction_record& way : s.table[i].directions) expected += (way.encrypted_by == w) + (way.decrypted_by == w);
    if (a.references != expected || (a.state >= association_state::removing && expected != 0)) return {law::association_references, n};
  }
  return {};
}

// A bucket that overflowed counts no more: then nothing can be said.
template <class S>
[[nodiscard]] finding hot_counts(const S& s) noexcept {
  u64 counted = 0;
  const u64 buckets = u64{1} << s.hot.bits();
  for (u64 b = 0; b < buckets; ++b) {
    const u32 n = s.hot.count(static_cast<u32>(b));
    if (n == s.hot.stuck) return {};
    counted += n;
  }
  u64 stay = 0;
  for (u32 i = 0; i < s.table.capacity(); ++i)
    if (s.table[i].state != record_state::free)
      for (const direction_record& way : s.table[i].directions) stay += way.stays ? 1U : 0U;
  if (counted != u64{s.table.held()} * 2 - stay) return {law::hot_adds_up, static_cast<u32>(counted)};
  return {};
}

// What is under way is out, and about something in a state for it.
template <class S>
[[nodiscard]] finding operation_under_way(const S& s) noexcept {
  const auto about = [&](u32 index, record_state a, record_state b) noexcept -> finding {
    const bool fits = index < s.table.capacity() && (s.table[index].state == a || s.table[index].state == b);
    return fits && s.commands.outstanding() ? finding{} : finding{law::operation_fits, index};
  };
  using enum record_state;
  switch (s.doing) {
    case operation::make: return about(s.making.index, making, making);
    case operation::take_out: return about(s.taking_out.index, leaving, leaving);
    // Somebody may have owed it a take-out meanwhile.
    case operation::program: return about(s.programming.index, held, leaving);
    case operation::probe: return about(s.probing.index, held, leaving);
    case operation::stamps: return about(s.reading.index, held, leaving);
    case operation::release_hop: {
      const bool there = s.releasing.index < s.hops.capacity();
      const bool fits = there && s.hops[s.releasing.index].state == next_hop_state::releasing &&
                        s.hops[s.releasing.index].revision == s.releasing.revision;
      return fits && s.commands.outstanding() ? finding{} : finding{law::operation_fits, s.releasing.index};
    }
    case operation::associate:
    case operation::discard: return s.commands.outstanding() ? finding{} : finding{law::operation_fits, 0};
    case operation::none: break;
  }
  return {};
}

// Two sets of indexes are the same if their sums of this are, but for one chance in 2^64; so nobody has to remember them.
[[nodiscard]] constexpr u64 print_of(u32 index) noexcept {
  return detail::stir(detail::stir(u64{index} + 1, detail::golden_ratio), detail::root_of_2);
}

template <class S>
[[nodiscard]] finding removals(const S& s) noexcept {
  if (s.removals_wait > s.removals_held || s.removals_held > s.removals.size) return {law::removals_leave, s.removals_held};
  u64 owed = 0;
  for (u32 n = 0; n < s.removals_held; ++n) {
    const u32 index = s.removals[(s.removals_first + usize{n}) % s.removals.size];
    if (index >= s.table.capacity() || s.table[index].state != record_state::leaving) return {law::removals_leave, n};
    owed += print_of(index);
  }
  if (s.gone) return {};
  u32 expected = s.removals_held;
  if (s.doing == operation::take_out) {
    owed += print_of(s.taking_out.index);
    ++expected;
  }
  u32 leaving = 0;
  for (u32 i = 0; i < s.table.capacity(); ++i) {
    if (s.table[i].state != record_state::leaving || forgotten(s, i)) continue;
    owed -= print_of(i);
    ++leaving;
  }
  if (owed != 0 || leaving != expected) return {law::leaving_is_owed, leaving};
  return {};
}

template <class S>
[[nodiscard]] finding held_back(const S& s) noexcept {
  for (u32 i = 0; i < s.held_back.capacity(); ++i)
    if (s.held_back[i].state != hold_state::free && s.held_back.ends_at(i) == never) return {law::hold_has_end, i};
  return {};
}

// The first law that is broken, of an engine's state.
template <class S>
[[nodiscard]] finding first_broken(const S& s) noexcept {
  finding f = records(s);
  if (f.broken == law::none) f = operation_under_way(s);
  if (f.broken == law::none) f = removals(s);
  if (f.broken == law::none) f = references(s);
  if (f.broken == law::none) f = association_references(s);
  if (f.broken == law::none) f = hot_counts(s);
  if (f.broken == law::none) f = held_back(s);
  return f;
}

}  // namespace reconciling
}  // namespace octep

// Why: for one tuple, what was decided last, for what reason, and what would have to change.
//
// Floor 5.
//
//   set     places in no order; the tuple's hash names the set, and whoever was told of longest ago makes room in it
//   place   tuple 320 + family, hash | last decision, its reason, when, how often | connection | hold
//   gone    a bit for the hash of everybody that ever made room
//
// What it is: a reader of events (an event_sink) that remembers the tuples it was told of most recently, in memory whose size is
// its type's. An event about a connection names direction 0's tuple, a refusal the candidate's own: `why_of` joins the two
// through the engine's tables, so that both tuples of a connection have one answer.
// What it refuses: growing, text, asking anybody. What it forgot it says: how many tuples made room for others, and for a tuple
// that it does not know whether it was perhaps one of them. "Never seen" is always true; "perhaps forgotten" may be said of a
// tuple that shares its bit with one that was. The bits fill as tuples go, until `clear`.
// What that buys: it may run on every machine all the time, and be asked after the fact.
// Concurrency: told and asked under the pass lock.
#pragma once

#include <octep/base.hpp>
#include <octep/connections.hpp>
#include <octep/events.hpp>
#include <octep/hash.hpp>
#include <octep/holds.hpp>
#include <octep/identity.hpp>
#include <octep/reasons.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

// Ours: 1,024 tuples in sets of four, 8,192 bits of what was forgotten; some 170 KB. Powers of two, but for the ways.
struct why_limits {
  u32 sets = 256;
  u32 ways = 4;
  u32 forgotten_bits = 8'192;

  [[nodiscard]] constexpr bool valid() const noexcept {
    return is_power_of_two(sets) && ways >= 1 && forgotten_bits >= 64 && is_power_of_two(forgotten_bits);
  }
};

enum class recollection : u8 {
  never_seen,         // no decision about the tuple was told
  perhaps_forgotten,  // perhaps one was, and it made room
  known,
};

struct explanation {
  recollection told = recollection::never_seen;
  // The last decision; for `known` only, as everything down to `in_all`.
  event_kind last = event_kind::refused;
  asker by = asker::poll;
  reason why = reason::none;
  instant at;
  u32 in_a_row = 0;  // the same decision for the same reason without another between; stays at its largest
  u32 in_all = 0;    // decisions since it is remembered; stays at its largest
  u64 turn = 0;      // of two explanations the one told later has the larger
  // In hardware, by what was told or, from `why_of`, by the table; `connection` is its handle there.
  bool held = false;
  handle connection;  // not held: the last one it was, revision 0 if none
  // Its last hold-back. Level 0: none that is remembered.
  u32 hold_level = 0;
  instant hold_until;  // zero: it ended

  [[nodiscard]] constexpr bool held_back(instant now) const noexcept { return now < hold_until; }
  // What would have to change. Empty where nothing is known.
  [[nodiscard]] constexpr const char* change() const noexcept {
    return told == recollection::perhaps_forgotten ? "" : row(told == recollection::known ? why : reason::not_asked).change;
  }
};

// Whether an event of that kind decides something about the connection it names. The others add to what is known of it.
[[nodiscard]] constexpr bool decides(event_kind k) noexcept {
  switch (k) {
    case event_kind::make_begins:
    case event_kind::made:
    case event_kind::refused:
    case event_kind::take_out_begins:
    case event_kind::taken_out:
    case event_kind::attached:
    case event_kind::given_back:
    case event_kind::revived:
    case event_kind::repointed:
    case event_kind::held_back: return true;
    default: return false;
  }
}

// `Hash`: keyed, so that nobody outside chooses who is forgotten.
template <why_limits L = why_limits{}, hash_policy Hash = keyed_mix>
requires(L.valid()) class why_memory {
 public:
  static constexpr u32 room = L.sets * L.ways;

  constexpr why_memory() noexcept = default;
  constexpr explicit why_memory(const Hash& hash) noexcept : hash_{hash} {}

  void operator()(const event& e) noexcept {
    if (e.kind == event_kind::discarded || e.kind == event_kind::far_side_reset) return forget_held(e);
    if (!e.names_tuple) return;
    if (e.which == family::ipv4) return note(e.v4, e);
    note(e.v6, e);
  }

  // What was told under this very tuple.
  template <tuple_type Tuple>
  [[nodiscard]] explanation of(const Tuple& t) const noexcept {
    const u32 hashed = hash_(t);
    const key wanted = key_of(t);
    for (const place& p : set_of(hashed))
      if (p.said.turn != 0 && p.who == wanted) return shown(p);
    explanation unknown;
    if (is_gone(hashed)) unknown.told = recollection::perhaps_forgotten;
    return unknown;
  }

  // Tuples that made room for others, since the last `clear`.
  [[nodiscard]] u64 evicted() const noexcept { return evicted_; }
  // Tuples that are remembered.
  [[nodiscard]] u32 remembered() const noexcept { return remembered_; }

  void clear() noexcept {
    for (place& p : places_) p = place{};
    for (u64& w : gone_) w = 0;
    turn_ = voided_ = evicted_ = 0;
    remembered_ = 0;
  }

 private:
  struct key {
    address6 source{};  // IPv4: the first word
    address6 destination{};
    u32 ports = 0;
    u32 proto = 0;
    family which = family::ipv4;

    [[nodiscard]] constexpr bool operator==(const key&) const noexcept = default;
  };
  struct place {
    key who;
    u32 hashed = 0;
    explanation said;  // turn 0: nobody is here
  };

  template <tuple_type Tuple>
  [[nodiscard]] static constexpr key key_of(const Tuple& t) noexcept {
    key k;
    if constexpr (is_same<Tuple, tuple4>) {
      k.source[0] = t.source;
      k.destination[0] = t.destination;
    } else {
      k.source = t.source;
      k.destination = t.destination;
    }
    k.ports = t.ports;
    k.proto = static_cast<u32>(t.proto);
    k.which = Tuple::which;
    return k;
  }
  [[nodiscard]] static constexpr usize first_of_set(u32 hashed) noexcept {
    return usize{top_bits(hashed, bit_width(L.sets) - 1)} * L.ways;
  }
  [[nodiscard]] span<const place> set_of(u32 hashed) const noexcept { return {places_ + first_of_set(hashed), L.ways}; }

  // The lowest bits: the set is made of the highest, and what shares a set should not share a bit.
  [[nodiscard]] static constexpr u32 bit_of(u32 hashed) noexcept { return hashed & (L.forgotten_bits - 1); }
  [[nodiscard]] bool is_gone(u32 hashed) const noexcept {
    return ((gone_[bit_of(hashed) / 64] >> (bit_of(hashed) % 64)) & 1) != 0;
  }

  // The tuple's place, or the one that it would get.
  [[nodiscard]] place& seat_of(const key& who, u32 hashed) noexcept {
    place* const set = places_ + first_of_set(hashed);
    place* oldest = set;
    for (u32 w = 0; w < L.ways; ++w) {
      if (set[w].said.turn != 0 && set[w].who == who) return set[w];
      if (set[w].said.turn < oldest->said.turn) oldest = set + w;
    }
    return *oldest;
  }

  template <tuple_type Tuple>
  void note(const Tuple& t, const event& e) noexcept {
    const u32 hashed = hash_(t);
    const key who = key_of(t);
    place& p = seat_of(who, hashed);
    if (p.said.turn != 0 && p.who == who) {
      p.said = shown(p);
    } else {
      if (!decides(e.kind)) return;  // nothing to add it to
      settle(p, who, hashed);
    }
    p.said.turn = ++turn_;
    tell(p.said, e);
  }

  void settle(place& p, const key& who, u32 hashed) noexcept {
    if (p.said.turn == 0) {
      ++remembered_;
    } else {
      ++evicted_;
      gone_[bit_of(p.hashed) / 64] |= u64{1} << (bit_of(p.hashed) % 64);
    }
    p = place{};
    p.who = who;
    p.hashed = hashed;
    p.said.told = recollection::known;
  }

  static void tell(explanation& said, const event& e) noexcept {
    if (e.connection.revision != 0) said.connection = e.connection;
    if (e.kind == event_kind::held_back) {
      said.hold_level = e.count;
      said.hold_until = e.until;
    }
    if (e.kind == event_kind::hold_ends) said.hold_until = instant{};
    if (!decides(e.kind)) return;

    said.in_a_row = said.in_all != 0 && said.last == e.kind && said.why == e.why ? one_more(said.in_a_row) : 1;
    said.in_all = one_more(said.in_all);
    said.last = e.kind;
    said.why = e.why;
    said.by = e.by;
    said.at = e.at;
    said.held = holds_after(e);
  }
  [[nodiscard]] static constexpr u32 one_more(u32 n) noexcept { return n == ~u32{0} ? n : n + 1; }

  [[nodiscard]] static constexpr bool holds_after(const event& e) noexcept {
    switch (e.kind) {
      case event_kind::refused: return e.why == reason::flow_held;
      case event_kind::make_begins:
      case event_kind::taken_out:
      case event_kind::held_back: return false;
      default: return true;
    }
  }

  // The far side's table is empty: nobody is held, whoever was. One number, not a walk.
  void forget_held(const event& e) noexcept {
    voided_ = turn_;
    voided_by_ = e.kind;
    voided_at_ = e.at;
  }
  [[nodiscard]] explanation shown(const place& p) const noexcept {
    explanation said = p.said;
    if (said.held && said.turn <= voided_) {
      said.held = false;
      said.last = voided_by_;
      said.why = reason::none;
      said.at = voided_at_;
      said.in_a_row = 1;
    }
    return said;
  }

  Hash hash_{};
  u64 turn_ = 0;
  u64 voided_ = 0;  // the turn of the last event before everything was forgotten
  event_kind voided_by_ = event_kind::discarded;
  instant voided_at_;
  u64 evicted_ = 0;
  u32 remembered_ = 0;
  place places_[room] = {};
  u64 gone_[L.forgotten_bits / 64] = {};
};

static_assert(event_sink<why_memory<>>);

// What is known of a connection from what was told under each of its tuples.
[[nodiscard]] constexpr explanation joined(const explanation& a, const explanation& b) noexcept {
  const bool a_leads = a.told > b.told || (a.told == b.told && a.turn >= b.turn);
  explanation e = a_leads ? a : b;
  const explanation& other = a_leads ? b : a;
  if (other.told != recollection::known) return e;
  e.in_all = e.in_all > ~u32{0} - other.in_all ? ~u32{0} : e.in_all + other.in_all;
  if (e.connection.revision == 0) e.connection = other.connection;
  return e;
}

// The same for a tuple of either direction. `table` and `held_back` are the engine's, `hashed` is the tuple's hash by the policy
// that they are asked with. Whether it is held, and until when it is held back, are their word.
template <class Memory, tuple_type Tuple>
[[nodiscard]] explanation why_of(const Memory& memory, const connections& table, const holds& held_back, const Tuple& t,
                                 u32 hashed) noexcept {
  const found f = table.find(t, hashed);
  const u32 hold_at = held_back.find(t, hashed);
  explanation e;
  if (f.is || hold_at != holds::none) {
    const tuple_pair<Tuple> pair = f.is ? table.template tuples_of<Tuple>(f.index) : holds::pair_in<Tuple>(held_back[hold_at]);
    e = joined(memory.of(pair[0]), memory.of(pair[1]));
  } else {
    e = memory.of(t);
  }
  e.held = f.is && table[f.index].state != record_state::making;
  if (f.is) e.connection = table.handle_of(f.index);
  const bool known = hold_at != holds::none;
  e.hold_level = known ? held_back[hold_at].wait.level() : 0;
  e.hold_until = known && held_back[hold_at].state == hold_state::holding ? held_back.ends_at(hold_at) : instant{};
  return e;
}

}  // namespace octep

// The engine's memory: every field, with what guards it.
//
// Floor 6.
//
// Locking key:
//   (r)  written by any ring, under the slot's own word or as one atomic cell
//   (o)  one ring's own block, one writer
//   (p)  pass lock: only between the glue's lock and unlock around `next`, `answered`, `set` and the readers
//   (s)  set by `init`, constant after
//
// Pass scratch lives here, not on a kernel's stack. `init` fills in place: assigning a whole engine would put hundreds of
// megabytes on the stack at two million records.
#pragma once

#include <octep/arena.hpp>
#include <octep/associations.hpp>
#include <octep/channel.hpp>
#include <octep/connections.hpp>
#include <octep/counters.hpp>
#include <octep/deadlines.hpp>
#include <octep/derive.hpp>
#include <octep/engine/policies.hpp>
#include <octep/holds.hpp>
#include <octep/hot_table.hpp>
#include <octep/kept_out.hpp>
#include <octep/next_hops.hpp>
#include <octep/partners.hpp>
#include <octep/settings.hpp>
#include <octep/ticks.hpp>

namespace octep {

// Out of line: passes reach these from many places, and a kernel's stack and text pay for every copy that is inlined.
#define OCTEP_PASS_CALL [[gnu::noinline]]

// What the caller decides at start.
struct start_options {
  u32 connections = 1'022;  // usable entries; at most the device's
  u32 next_hops = 254;
  bool ipv6_connections = false;  // memory for IPv6 tuples of connections
  u32 holds = 1'024;  // connections that are held back, or wait for a gap, at once
  u32 associations = 0;  // indexes of the far side's IPsec engine that may be used; at most the device's
  bool far_side_fresh = false;  // it has just started: an index that reads zero has carried nothing
};

// The operation under way. One ends before another begins (system.md 6).
enum class operation : u8 { none, make, take_out, release_hop, discard, program, probe, stamps, associate };

// What a make carries from one of its commands to the next.
struct make_plan {
  enum class stage : u8 { hop0, hop1, create };

  stage at = stage::hop0;
  asker by = asker::poll;
  u8 direction = 0;  // of the frame at hand
  u32 index = 0;
  u32 generation = 0;  // of discards, when it began
  array<bool, 2> must_set{};
  array<next_hop, 2> hops{};
};

struct take_out_plan {
  enum class stage : u8 { deactivate0, deactivate1, reclaim, read_back };

  stage at = stage::deactivate0;
  bool refused = false;  // some microflow would not go
  u32 index = 0;
};

// One direction of a held connection is programmed: under the identity that its frame brought (attach), or to leave by
// another next hop or under another association (repoint).
struct program_plan {
  enum class stage : u8 { hop, program };

  stage at = stage::program;
  bool repoints = false;
  u8 direction = 0;
  bool must_set = false;
  u32 index = 0;
  u32 generation = 0;  // of discards, when it began
  identity who;
  handle hop_handle;
  next_hop hop;
  association_word encrypted_by;
};

// The entry of a connection whose frames are punted is read, and told to go on.
struct probe_plan {
  enum class stage : u8 { read, revive };

  stage at = stage::read;
  u32 index = 0;
};

// The stamps of a connection's microflows are read.
struct stamps_plan {
  u32 index = 0;
  u8 direction = 0;
  bool moved = false;
  bool unknown = false;  // whether some direction moved: it was not read before, or the far side refused
};

// An association comes, goes, or is read.
struct associate_plan {
  enum class stage : u8 { read_before, add, remove, read_last, read };

  stage at = stage::read;
  handle which;
};

// What a make finds out before its first command.
template <tuple_type Tuple>
struct make_scratch {
  firewall_answer<Tuple> state;
  tuple_pair<Tuple> pair;
  array<u32, 2> hash{};
  candidate<Tuple> hand;
  candidate<Tuple> other;
  array<next_hop, 2> hops{};
  array<u32, 2> kernel{};  // associations that encrypt what leaves by those; 0: none
  array<association_word, 2> encrypted_by{};
  u8 direction = 0;
};

// Where a pass stands: the slots of IPv4, then those of IPv6, numbered through.
struct walk_cursor {
  u32 slot = 0;
  u32 place = 0;
};

struct poll_state {
  bool walking = false;
  walk_cursor at;
  u32 slots_left = 0;
  bool took_out = false;  // since it began: the tuples of what went are the next poll's
  u32 spent = 0;   // of poll_commands
  u32 number = 0;  // of the poll; wraps
  u32 secret = 0;  // this poll's, for the lottery
  instant began;  // the last one; the start, before the first
  instant next;
  u32 clamped = 0;  // the slot whose old stamps the last poll clamped
};

struct run_state {
  enum class half : u8 { none, held, makes };

  half doing = half::none;
  walk_cursor at;
  u32 held_attempts = 0;
  u32 makes = 0;
  bool skipped_busy = false;
  bool passed_over = false;  // a due candidate for which this run had no make left, and the second has
  bool ever = false;
  instant last;  // begin of the last run
};

// Upkeep: who is asked about next. Each walks over all indexes, so many a pass.
struct sweep_state {
  u32 at = 0;
  u32 to_ask = 0;   // connections left of this poll's
  u32 to_pass = 0;  // indexes left until all were passed in this poll
  bool all = false;  // everybody is asked for now, and take-outs wait until it is known how many are dead
};

struct round_state {
  u32 at = 0;
  u32 left = 0;  // indexes; 0: nothing to do
};

// An operator wants every connection of a host removed.
struct purge_state : round_state {
  family which = family::ipv4;
  address6 host{};
};

// Bits of `receive_switches`.
inline constexpr u32 runs_on = 1;
inline constexpr u32 run_makes_on = 2;   // of IPv4
inline constexpr u32 run_makes6_on = 4;  // of IPv6, where they can be
inline constexpr u32 due_log2_shift = 8;

template <world_policy World, class Policies>
struct engine_state {
  using world_type = World;
  using policies = Policies;
  using atomics = typename Policies::atomics;
  using hash_type = typename Policies::hash;
  template <class T>
  using cell = typename atomics::template cell<T>;
  // No constraint here: clang 14 crashes on one beside a dependent template value.
  template <class Tuple>
  using candidates_of =
      candidates<Tuple, Policies::geometry, typename Policies::choice, typename Policies::tags, atomics>;

  static constexpr u32 slots = Policies::geometry.slots;
  static_assert(atomics_policy<atomics> && hash_policy<hash_type>);

  World* world = nullptr;  // (s)
  hash_type hash{};        // (s)

  candidates_of<tuple4> candidates4;                   // (r)
  candidates_of<tuple6> candidates6;                   // (r)
  cell<u32> kicked;                                    // (r)
  cell<u32> receive_switches;                          // (p) written, any ring reads
  hot_table<atomics> hot;                              // (p) written, any ring reads
  array<ring_counters<atomics>, Policies::rings> rings;  // (o)

  settings values;                          // (p), with everything below
  pass_counters<atomics> counters;          // written (p), read by anyone
  connections table;
  next_hops hops;
  associations protects;
  channel commands;
  // Two rounds of held marks: those of before the walk that is under way, and those that came since it began. A mark that a
  // walk sets is not cleared by the end of that same walk: the poll has not been round.
  array<typename Policies::refusals, 2> refusals;
  u32 young = 0;
  typename Policies::make_budget make_budget;
  span<u32> removals;  // a ring of indexes owed a take-out; each record is in it at most once (state `leaving`)
  u32 removals_first = 0;
  u32 removals_held = 0;
  u32 removals_wait = 0;  // the last so many of them were read back as still valid: again at the next poll

  partners<tuple4, 1'024> partners4;
  partners<tuple6, Policies::ipv6 ? 256 : 4> partners6;  // few of IPv6, as for refusals
  holds held_back;
  kept_out_tuples kept_out;
  deadlines due;  // by index: when a connection's stamps or its entry are to be read

  operation doing = operation::none;
  make_plan making;
  take_out_plan taking_out;
  program_plan programming;
  probe_plan probing;
  stamps_plan reading;
  associate_plan associating;
  handle releasing;
  bool lent = false;  // the glue was told to post the command that is out
  microseconds limit;  // its own: cmd_limit_ms as it was when it was posted

  poll_state poll;
  run_state run;
  sweep_state sweep;
  round_state dirty;            // connections to be asked about again
  round_state moving;           // connections whose associations may have gone
  bool to_associate = false;    // an association may have a step to take
  round_state room;             // in a full table: connections whose stamps may find them idle
  purge_state purge;
  bool room_wanted = false;     // a newcomer met the full table since the last poll began
  bool room_sought = false;     // one did before this poll: whoever is found idle makes room
  bool gone = false;            // the far side will not answer: nothing is posted until it was reset
  u32 upkeep_left = 0;          // of upkeep_commands
  bool full = false;           // the table was full: no make until the next poll
  bool makes_barred = false;   // a create was not answered: no make until the next poll
  bool discard_owed = false;
  instant discard_from;         // an owed discard is posted from then on: one that was refused waits for the next poll
  bool enabled = true;
  u32 generation = 0;          // discards begun or answered
  u32 forget_from = 0;         // index from which a discard still has to forget; capacity: nothing

  make_scratch<tuple4> scratch4;
  make_scratch<tuple6> scratch6;

  template <tuple_type Tuple>
  static constexpr bool can_make = Policies::ipv6 || is_same<Tuple, tuple4>;

  // f.template operator()<Tuple>() with the tuple of a connection's family.
  template <class F>
  static decltype(auto) of_family(family which, F&& f) noexcept {
    if constexpr (Policies::ipv6)
      if (which == family::ipv6) return f.template operator()<tuple6>();
    return f.template operator()<tuple4>();
  }

  template <tuple_type Tuple>
  [[nodiscard]] auto& candidates_for() noexcept {
    if constexpr (is_same<Tuple, tuple4>)
      return candidates4;
    else
      return candidates6;
  }
  template <tuple_type Tuple>
  [[nodiscard]] auto& partners_for() noexcept {
    if constexpr (is_same<Tuple, tuple4>)
      return partners4;
    else
      return partners6;
  }
  template <tuple_type Tuple>
  [[nodiscard]] auto& scratch_for() noexcept {
    if constexpr (is_same<Tuple, tuple4>)
      return scratch4;
    else
      return scratch6;
  }
  // Posts the operation's next command. Nothing is outstanding.
  OCTEP_SELDOM void post(const command& c, instant now) noexcept {
    event e;
    e.kind = event_kind::command_posted;
    e.what = c.kind;
    e.at = now;
    e.tag = commands.post(c, now);
    lent = false;
    limit = from_ms(values[setting::cmd_limit_ms]);
    counters.add(pass_counter::cmd_posted);
    world->events(e);
  }

  // When a connection is looked at next: at the end of its wait if a frame asked for it, else when its stamps are due.
  OCTEP_SELDOM void schedule(u32 index) noexcept {
    const record& r = table[index];
    const instant probe_at = r.probe_asked ? may_probe_at(r) : never;
    // One that was owed a take-out while it was read has none.
    due.set(index, r.state == record_state::held ? least(probe_at, r.read_at) : never);
  }
  // At most once per gap, and not while a revived connection is left alone (system.md 9).
  [[nodiscard]] instant may_probe_at(const record& r) const noexcept {
    const instant gap_ends = r.probed ? r.probed_at + from_ms(values[setting::probe_gap_ms]) : instant{};
    return greatest(gap_ends, r.revive_wait.until());
  }

  // A take-out can begin now.
  [[nodiscard]] bool owes_removal() const noexcept { return removals_held != removals_wait && !sweep.all; }

  // No make begins, nothing being wrong with any candidate. While a discard is owed whatever were made would be discarded.
  [[nodiscard]] bool makes_end() const noexcept {
    return full || makes_barred || discard_owed || !values.on(setting::auto_make);
  }

  // For passes: the receive path has a copy of its own in its way.
  template <tuple_type Tuple>
  [[nodiscard]] OCTEP_PASS_CALL u32 hashed(const Tuple& t) const noexcept {
    return hash(t);
  }

  // The tuple is the poll's until the poll has been round (system.md 7).
  template <tuple_type Tuple>
  OCTEP_PASS_CALL void leave_to_poll(const Tuple& t, u32 hashed) noexcept {
    refusals[young].mark(t, hashed, slot_of(hashed));
  }
  template <tuple_type Tuple>
  [[nodiscard]] bool is_left_to_poll(const Tuple& t, u32 hashed) const noexcept {
    return refusals[0].holds(t, hashed, slot_of(hashed)) || refusals[1].holds(t, hashed, slot_of(hashed));
  }

  // Whether connections of that family are made at all.
  [[nodiscard]] bool makes_family(family f) const noexcept {
    return f == family::ipv4 || (Policies::ipv6 && world->device.forwards_ipv6 && values.on(setting::ipv6) && table.has_room_for(f));
  }

  [[nodiscard]] static constexpr u32 slot_of(u32 hashed) noexcept { return candidates_of<tuple4>::slot_of(hashed); }
};

// Around every slot word a pass takes.
template <class Guard>
class in_section {
 public:
  explicit in_section(Guard& g) noexcept : guard_{g} { guard_.enter(); }
  ~in_section() { guard_.leave(); }
  in_section(const in_section&) = delete;
  in_section& operator=(const in_section&) = delete;

 private:
  Guard& guard_;
};

// --- telling ----------------------------------------------------------------------------------------------

template <tuple_type Tuple>
constexpr void name_tuple(event& e, const Tuple& t) noexcept {
  e.names_tuple = true;
  e.which = Tuple::which;
  if constexpr (is_same<Tuple, tuple4>)
    e.v4 = t;
  else
    e.v6 = t;
}

template <class S>
OCTEP_PASS_CALL void tell(S& s, event_kind kind, instant now, handle about = {}) noexcept {
  event e;
  e.kind = kind;
  e.at = now;
  e.connection = about;
  s.world->events(e);
}

// About a connection: its direction 0 names it.
template <class S>
OCTEP_SELDOM void tell_connection(S& s, event_kind kind, u32 index, reason why, asker by, instant now, u8 direction = 0,
                                  u32 count = 0) noexcept {
  event e;
  e.kind = kind;
  e.at = now;
  e.why = why;
  e.by = by;
  e.connection = {index, s.table[index].revision};
  e.direction = direction;
  e.count = count;
  if (kind == event_kind::made) e.first_seen = s.table[index].first_seen;
  if (kind == event_kind::given_back) e.first_seen = s.table[index].probed_at;
  S::of_family(s.table[index].which, [&]<tuple_type Tuple>() noexcept { name_tuple(e, s.table.template tuples_of<Tuple>(index)[0]); });
  s.world->events(e);
}

}  // namespace octep

// Partners: candidates that a pass met alone, remembered until it meets their other direction.
//
// Floor 4.
//
//   set      by the low bits of the hash; slots are named by the top ones, so tuples that share a slot spread here
//   ways     four a set: the candidate as it was met last, and until when. Who came first makes room for the next
//
// What it is: one half of a make, where a slot has more tuples than places. Without it both directions must stand in their slots
// at one moment; with it each has to be met once. And since it knows who was here, it tells a first meeting from a later one: a
// place is kept for a missing direction at the first alone (engine/attempt.hpp), so who comes again and again and never has
// another direction takes nothing from others (docs/choice.md, claimers).
// What it refuses: the receive path, growing, and a promise. Who is pushed out of a full set is met as if this were not here.
// What that buys: a pair's chance beside such tuples is that of each direction by itself, and not of both at once.
// Concurrency: everything under the pass lock.
#pragma once

#include <octep/base.hpp>
#include <octep/slot_image.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

// `hashed` is the tuple's under the engine's hash policy, the same in every call. 48 bytes a place for IPv4.
template <tuple_type Tuple, u32 Room>
class partners {
 public:
  static constexpr u32 ways = 4;
  static constexpr u32 sets = Room / ways;
  static_assert(is_power_of_two(sets) && sets * ways == Room);
  // Since it was met last. A direction beside two hundred others is met each half a minute (docs/choice.md).
  static constexpr microseconds lasts = from_s(60);

  // A pass met it, and its other direction is missing. True: for the first time, or for the first since it was forgotten.
  OCTEP_SELDOM bool remember(const candidate<Tuple>& c, u32 hashed, instant now) noexcept {
    place* to = seat(c.tuple, hashed);
    const bool first = to == nullptr || to->until <= now;
    if (to == nullptr) to = &places_[hashed % sets * ways + next_[hashed % sets]++ % ways];
    *to = {c, now + lasts};
    return first;
  }

  // Copies it to `out`. False: nothing is known of it, `out` is as it was.
  [[nodiscard]] OCTEP_SELDOM bool find(const Tuple& t, u32 hashed, instant now, candidate<Tuple>& out) noexcept {
    const place* at = seat(t, hashed);
    if (at == nullptr || at->until <= now) return false;
    out = at->who;
    return true;
  }

  // It became half of a connection.
  OCTEP_SELDOM void forget(const Tuple& t, u32 hashed) noexcept {
    if (place* at = seat(t, hashed); at != nullptr) at->until = {};
  }
  // A discard: a candidate is the identity of a microflow, and the far side has none now.
  OCTEP_SELDOM void clear() noexcept {
    for (place& p : places_) p.until = {};
  }

 private:
  struct place {
    candidate<Tuple> who;
    instant until;  // 0: nobody
  };

  // Over or not, so that no tuple is there twice.
  [[nodiscard]] OCTEP_SELDOM place* seat(const Tuple& t, u32 hashed) noexcept {
    place* at = &places_[hashed % sets * ways];
    for (u32 i = 0; i < ways; ++i, ++at)
      if (!(at->until == instant{}) && at->who.tuple == t) return at;
    return nullptr;
  }

  array<place, Room> places_{};
  array<u8, sets> next_{};
};

}  // namespace octep

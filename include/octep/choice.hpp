// The choice of a place: which of a slot's candidates makes room for a newcomer.
//
// Floor 2.
//
// What it is: `limits`, the geometry of a candidate table; `place_state`, what a place is to a tuple that wants in; the
// contract of a choice policy; and `oldest_goes`, the recorded policy (system.md 4, step 2).
// What it refuses: seeing more than the slot at hand, and deciding where a tuple goes that the slot already holds: the
// table answers that by itself (`choose_place`), so no policy can put one tuple in two places.
// What that buys: a pure function of a few words. All of its 19,200 cases are tried on every build, in the host's table and,
// through the C border, in the kernel's object.
// Concurrency: pure functions. The caller holds the slot's word, or owns the slot.
#pragma once

#include <octep/base.hpp>

namespace octep {

// Geometry of a candidate table, a structural template value. The recorded one is the default (system.md 4).
struct limits {
  u32 slots = 64;
  u32 places = 4;

  // A slot is named by the top bits of a hash: a power of two. A slot's unread places are the bits of one word: at most 64.
  [[nodiscard]] constexpr bool valid() const noexcept { return is_power_of_two(slots) && places >= 1 && places <= 64; }
  [[nodiscard]] constexpr bool operator==(const limits&) const noexcept = default;
};

enum class place_state : u8 {
  empty,         // nothing was written to it since start or the last discard
  same,          // it holds this tuple
  other_read,    // another tuple, which a pass has seen; a make of its other direction may still use it
  other_unread,  // another tuple, which no pass has seen
};

// A slot as a policy sees it: `V::places` places, each with a state and an age in milliseconds (0 for a place written by a
// ring that is a tick ahead; meaningless for an empty place).
template <class V>
concept place_view = requires(const V& slot, u32 place) {
  { slot.state(place) } -> same_as<place_state>;
  { slot.age(place) } -> same_as<u32>;
} && (V::places >= 1);

// What a place holds is decided here, what makes room by the policy.
struct chosen {
  u32 place;
  bool same;  // the place holds this tuple

  [[nodiscard]] constexpr bool operator==(const chosen&) const noexcept = default;
};

// Contract of a policy: given a slot of which no place is `same`, a place below `V::places`; the same answer for the same
// states and ages, on every machine. It is asked under the slot's word, for every frame that misses: a few dozen
// instructions, no loop but over the places.
template <class Choice, class V>
concept choice_policy = place_view<V> && requires(const V& slot) {
  { Choice::choose(slot) } -> same_as<u32>;
};

// Recorded: the first place nothing was ever written to; else the one written longest ago, to the tick, and among
// equals the first. Read or unread makes no difference to it.
//
// It keeps the last `places` distinct tuples that wrote the slot. With more busy tuples than that they take turns, and a
// slow one can starve for ever beside them (system.md 4, limits of the recorded design).
struct oldest_goes {
  template <place_view V>
  [[nodiscard]] static constexpr u32 choose(const V& slot) noexcept {
    for (u32 i = 0; i < V::places; ++i)
      if (slot.state(i) == place_state::empty) return i;
    u32 oldest = 0;
    u32 oldest_age = slot.age(0);
    for (u32 i = 1; i < V::places; ++i) {
      const u32 age = slot.age(i);
      const bool older = age > oldest_age;
      oldest = older ? i : oldest;
      oldest_age = older ? age : oldest_age;
    }
    return oldest;
  }
};

// The whole choice, as `candidates::write` makes it: the first place that holds this tuple, else the policy's.
template <class Choice, place_view V>
  requires choice_policy<Choice, V>
[[nodiscard]] constexpr chosen choose_place(const V& slot) noexcept {
  for (u32 i = 0; i < V::places; ++i)
    if (slot.state(i) == place_state::same) return {i, true};
  return {Choice::choose(slot), false};
}

}  // namespace octep

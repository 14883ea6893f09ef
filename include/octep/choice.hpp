// The choice of a place: which of a slot's candidates makes room for a newcomer.
//
// Floor 2.
//
// What it is: `limits`, the geometry of a candidate table; the contract of a choice policy; and `oldest_goes`, the
// recorded policy (system.md 4, step 2). Ours is `rank_and_lot`, in its own header.
// What it refuses: seeing more than the slot at hand, and deciding where a tuple goes that the slot already holds: the
// table answers that by itself (`choose_place`), so no policy can put one tuple in two places.
// What that buys: a pure function of a few words. All of its 19,200 cases are tried on every build, in the host's table
// and, through the C border, in the kernel's object.
// Concurrency: pure functions. The caller holds the slot's word, or owns the slot.
#pragma once

#include <octep/base.hpp>

namespace octep {

// Geometry of a candidate table, a structural template value. The recorded one is the default (system.md 4).
struct limits {
  u32 slots = 64;
  u32 places = 4;

  // A slot is named by the top bits of a hash: a power of two; the low sixteen bits are its tuples' tags. A slot's unread
  // places are bits of its word, its tags fill one vector register: at most 16.
  [[nodiscard]] constexpr bool valid() const noexcept {
    return is_power_of_two(slots) && slots <= 65'536 && places >= 1 && places <= 16;
  }
  [[nodiscard]] constexpr bool operator==(const limits&) const noexcept = default;
};

// Some of a slot's places: bit i is place i.
using place_set = u32;

template <u32 Places>
inline constexpr place_set all_places = (place_set{1} << Places) - 1;

[[nodiscard]] constexpr place_set only(u32 place) noexcept { return place_set{1} << place; }

// The first place of a set that is not empty.
[[nodiscard]] constexpr u32 first_of(place_set some) noexcept { return static_cast<u32>(__builtin_ctz(some)); }

// The first place of a set that is not empty, counted from `from` and round. `from` is at most 16.
[[nodiscard]] constexpr u32 first_from(place_set some, u32 from) noexcept {
  const place_set later = some >> from << from;
  return first_of(later != 0 ? later : some);
}

[[nodiscard, gnu::noinline]] constexpr u32 size_of(place_set some) noexcept {
  u32 n = 0;
  for (; some != 0; some &= some - 1) ++n;  // no library call for a population count
  return n;
}

// A slot as a newcomer meets it: `V::places` places.
//   written    places that something was written to since start or the last discard; the others are empty
//   unread     of those, the ones that no pass has seen
//   age        milliseconds since a place was written; 0 if by a ring that is a tick ahead; meaningless for an empty
//              one
template <class V>
concept place_view = requires(const V& slot, u32 place) {
  { slot.written() } -> same_as<place_set>;
  { slot.unread() } -> same_as<place_set>;
  { slot.age(place) } -> same_as<u32>;
}
&&(V::places >= 1 && V::places <= 16);

// Where a newcomer goes. What stands in `place` goes to `moves_to` first, over what stands there, unless that is nowhere.
struct placement {
  static constexpr u32 nowhere = ~u32{0};

  u32 place;
  u32 moves_to = nowhere;

  [[nodiscard]] constexpr bool operator==(const placement&) const noexcept = default;
};

// Contract of a policy: for a slot that does not hold the newcomer's tuple, a place below `V::places`; the same answer
// for the same slot, on every machine. It is asked under the slot's word, for every frame that misses: a few dozen
// instructions, no loop but over the places. `ranks`: whether the slot remembers, for the policy's sake, which places
// were refused, are kept, or were written again; a policy without pays nothing for it.
template <class Choice, class V>
concept choice_policy = place_view<V> && requires(V& slot) {
  { Choice::choose(slot) } -> same_as<placement>;
  { Choice::ranks } -> same_as<const bool&>;
};

// Recorded: the first place nothing was ever written to; else the one written longest ago, to the tick, and among
// equals the first. Read or unread makes no difference to it.
//
// It keeps the last `places` distinct tuples that wrote the slot. With more busy tuples than that they take turns, and
// a slow one can starve for ever beside them (system.md 4, limits of the recorded design). In sixteen places it is the
// smallest change that keeps fourteen hostile flows from starving a pair (docs/choice.md).
struct oldest_goes {
  static constexpr bool ranks = false;

  template <place_view V>
  [[nodiscard, gnu::always_inline]] static constexpr placement choose(const V& slot) noexcept {
    const place_set empty = all_places<V::places> & ~slot.written();
    if (empty != 0) return {first_of(empty)};
    u32 oldest = 0;
    u32 oldest_age = slot.age(0);
    for (u32 i = 1; i < V::places; ++i) {
      const u32 age = slot.age(i);
      const bool older = age > oldest_age;
      oldest = older ? i : oldest;
      oldest_age = older ? age : oldest_age;
    }
    return {oldest};
  }
};

// The whole choice, as a value: the first place that holds the newcomer's tuple, else the policy's.
struct chosen {
  u32 place;
  bool same;  // the place holds the newcomer's tuple

  [[nodiscard]] constexpr bool operator==(const chosen&) const noexcept = default;
};

// `same`: the first place that holds the newcomer's tuple, or `V::places`.
template <class Choice, class V>
requires choice_policy<Choice, V>
[[nodiscard]] constexpr chosen choose_place(V& slot, u32 same) noexcept {
  return same < V::places ? chosen{same, true} : chosen{Choice::choose(slot).place, false};
}

}  // namespace octep

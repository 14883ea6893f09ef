// Rank and lot: ours, the choice of a place that no crowd can close.
//
// Floor 3.
//
//   rank of a place, lowest first       who makes room
//     empty                             the first
//     read and refused                  the next one round, from where the last newcomer went
//     read                              the same
//     unread and refused                the same
//     unread                            the clock and the lottery, below
//     kept                              nobody: for a direction that is missing, until the next poll
//
//   places 0 to P/2 - 1     the clock: who was written again since the clock's hand came by is passed over once; if all
//                           were, the last it came by goes. Keeps the busy: a tuple of many frames stays until its
//                           count asks for a make
//   places P/2 to P - 1     the lottery: each tuple has a ticket, drawn anew when the walk comes by, and the best tickets stay. Keeps
//                           the slow: a chance that neither rate nor phase can spoil
//
//   The newcomer takes the place of the clock's victim. The victim moves over the lottery's loser if its ticket is better.
//
// What can be relied on, with D distinct tuples writing a slot between two walks and k of its P places kept:
//   1. D <= P - k: the walk meets every one of them. A newcomer takes an unread place only when every place is unread or
//      kept; the unread ones hold tuples of this interval, none twice; so until then D - 1 tuples and the newcomer have
//      not filled P - k places. At most `most_kept` places are kept: beside twelve hostile flows, at whatever rate, both
//      directions of a pair stand in a slot of sixteen at the first walk after they came.
//   2. Any D: a tuple that was written and is not refused is met with a probability of at least the lottery's places that
//      are not kept, over D, at each poll anew: every tuple that ever entered draws once, and what leaves the lottery has a
//      worse ticket than all that stay. (Where sixteen bits of two hashes are alike they tie, by order. In a slot of four or five whose clock is all kept the
//      newcomers come into the lottery itself: count one place less. A refused tuple that writes again makes room first:
//      what is promised is promised to those whose attempt may still come to something.)
//   3. Met once, and remembered (partners.hpp): made at the first poll that meets the partner, with 2's chance at each. The
//      first time a place is kept for the partner, and the pair is made by the next poll if it sends before. (A place is
//      found where one is empty or read: in a slot full of unread ones there is none, and the partner comes as others do.)
// Nobody can do better than P / D on average among tuples that look alike, so "always" ends where D passes P - k.
// Both are tried for every short sequence of small slots (test/rank_and_lot_test.cpp).
//
// What it refuses: favour by age. Whoever sends most would win it.
// Concurrency: pure functions of a slot whose word the caller holds.
#pragma once

#include <octep/choice.hpp>

namespace octep {

// A slot that remembers ranks, as a newcomer meets it. `next` and `hand` are the policy's own, at most `places` and half of
// that; both start at 0.
//   refused    the last attempt for its tuple failed in a way that time alone does not mend
//   kept       until the next poll, for a direction that was missing when its partner was met
//   again      whether the tuple of a clock's place was written again since it came or the hand came by. By the count of its
//              frames, so that a frame pays nothing for it: 256 frames between two visits of the hand read as none
//   ticket     of the tuple that stands in a place that is not empty, this poll's
template <class V>
concept ranked_view = place_view<V> && requires(V& slot, u32 place) {
  { slot.refused() } -> same_as<place_set>;
  { slot.kept() } -> same_as<place_set>;
  { slot.again(place) } -> same_as<bool>;
  { slot.ticket(place) } -> same_as<u32>;
  { slot.next() } -> same_as<u32>;
  { slot.hand() } -> same_as<u32>;
  slot.forget_again(place);
  slot.set_next(place);
  slot.set_hand(place);
};

struct rank_and_lot {
  static constexpr bool ranks = true;
  // More would leave fewer places to those that nobody keeps: with two, twelve hostile flows and a pair still fit.
  static constexpr u32 most_kept = 2;

  template <ranked_view V>
  requires(V::places >= 4)
  [[nodiscard]] static constexpr placement choose(V& slot) noexcept {
    const place_set empty = all_places<V::places> & ~slot.written();
    if (empty != 0) return {first_of(empty)};
    const place_set free = all_places<V::places> & ~slot.kept();
    const place_set read = free & ~slot.unread();
    if ((read & slot.refused()) != 0) return in_turn(slot, read & slot.refused());
    if (read != 0) return in_turn(slot, read);
    if ((free & slot.refused()) != 0) return in_turn(slot, free & slot.refused());
    return by_clock_and_lottery(slot, free);
  }

 private:
  template <class V>
  [[nodiscard]] static constexpr placement in_turn(V& slot, place_set some) noexcept {
    const u32 place = first_from(some, slot.next());
    slot.set_next(place + 1);
    return {place};
  }

  // In a slot of four all of one half may be kept; then the other makes room by itself.
  template <class V>
  [[nodiscard]] static constexpr placement by_clock_and_lottery(V& slot, place_set free) noexcept {
    constexpr place_set clock = all_places<V::places / 2>;
    const place_set passing = free & clock;
    const place_set drawn = free & ~clock;
    if (passing == 0) return {loser(slot, drawn)};
    const u32 victim = under_the_hand(slot, passing);
    if (drawn == 0) return {victim};
    const u32 last = loser(slot, drawn);
    return slot.ticket(victim) > slot.ticket(last) ? placement{victim, last} : placement{victim};
  }

  // The hand goes round once at most: those it passes over have lost their excuse when it comes again.
  template <class V>
  [[nodiscard]] static constexpr u32 under_the_hand(V& slot, place_set passing) noexcept {
    u32 place = first_from(passing, slot.hand());
    for (place_set left = passing; slot.again(place); place = first_from(passing, place + 1)) {
      slot.forget_again(place);
      left &= ~only(place);
      if (left == 0) break;
    }
    slot.set_hand(place + 1);
    return place;
  }

  template <class V>
  [[nodiscard]] static constexpr u32 loser(const V& slot, place_set drawn) noexcept {
    u32 last = first_of(drawn);
    u32 worst = slot.ticket(last);
    for (place_set rest = drawn & (drawn - 1); rest != 0; rest &= rest - 1) {
      const u32 place = first_of(rest);
      const u32 ticket = slot.ticket(place);
      last = ticket < worst ? place : last;
      worst = ticket < worst ? ticket : worst;
    }
    return last;
  }
};

}  // namespace octep

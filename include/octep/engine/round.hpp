// Rounds: walks over all that is held, a slice at a time.
//
// Floor 7.
//
// Refuses: work without a bound between two releases of the pass lock. Buys: every walk has the same bound, and says so.
// All of it under the pass lock.
#pragma once

#include <octep/engine/state.hpp>

namespace octep::keeping {

// What a slice did. posted: a command is out. slice: some work was done, and removals may be owed; more may be left. nothing:
// nothing is due.
enum class did : u8 { nothing, posted, slice };

// Ours. Indexes that one slice passes, and connections it asks about: some tens of microseconds of a firewall's look-ups.
inline constexpr u32 indexes_a_slice = 1'024;
inline constexpr u32 asked_a_slice = 64;

// From `at` on the next index that is held, at most `most` further; `at` moves behind it. capacity: there was none.
template <class S>
[[nodiscard]] u32 next_held(S& s, u32& at, u32& most) noexcept {
  for (; most != 0; --most) {
    const u32 i = at;
    at = at + 1 == s.table.capacity() ? 0 : at + 1;
    if (s.table[i].state != record_state::held) continue;
    --most;
    return i;
  }
  return s.table.capacity();
}

// Everybody once, from wherever the last round stopped.
template <class S>
void begin_round(S& s, round_state& r) noexcept {
  r.left = s.table.capacity();
}

// A slice of a round: at most `asked` connections by `ask(index)`, which says whether it posted a command and is to be asked
// again.
template <class S, class F>
[[nodiscard]] did walk_round(S& s, round_state& r, u32 asked, F&& ask) noexcept {
  const u32 before = least(indexes_a_slice, r.left);
  u32 steps = before;
  did what = did::slice;
  for (; asked != 0 && what == did::slice; --asked) {
    const u32 i = next_held(s, r.at, steps);
    if (i == s.table.capacity()) break;
    if (!ask(i)) continue;
    r.at = i;  // its other direction is asked about when this one is answered
    ++steps;
    what = did::posted;
  }
  r.left -= before - steps;
  return what;
}

}  // namespace octep::keeping

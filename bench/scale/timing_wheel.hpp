// A hierarchical timing wheel, the other way to keep deadlines: to race `deadlines` with, not to be used.
//
// Six levels of 64 lists; an id stands at the level of the highest digit (base 64) in which its millisecond differs from now.
// What is armed further away comes down a level whenever the time reaches its list, a whole list at once. Its `next` is where
// the next list begins: a lower bound. Beside a heap it forgets microseconds and the order among equals.
#pragma once

#include <octep/arena.hpp>
#include <octep/base.hpp>
#include <octep/ticks.hpp>

namespace octep::bench {

class timing_wheel {
 public:
  static constexpr u32 none = ~u32{0};

  [[nodiscard]] static constexpr usize bytes_for(u32 capacity) noexcept {
    return arena::bytes_for<u64>(capacity) + 3 * arena::bytes_for<u32>(capacity);
  }

  [[nodiscard]] bool init(arena& memory, u32 capacity) noexcept {
    if (memory.left() < bytes_for(capacity)) return false;
    at_ = memory.take<u64>(capacity);
    after_ = memory.take<u32>(capacity);
    before_ = memory.take<u32>(capacity);
    list_ = memory.take<u32>(capacity);
    for (u32& l : list_) l = none;
    for (u32& h : heads_) h = none;
    return true;
  }

  void set(u32 id, instant at) noexcept {
    drop(id);
    const u64 ms = at.us / 1000;
    at_[id] = ms < now_ ? now_ : ms;
    link(id);
  }

  void drop(u32 id) noexcept {
    const u32 list = list_[id];
    if (list == none) return;
    list_[id] = none;
    const u32 after = after_[id];
    const u32 before = before_[id];
    if (after != none) before_[after] = before;
    if (before != none)
      after_[before] = after;
    else if ((heads_[list] = after) == none)
      used_[list / slots] &= ~(u64{1} << (list % slots));
  }

  // No deadline is earlier.
  [[nodiscard]] instant next() const noexcept {
    u32 level;
    u64 begins;
    return first_list(level, begins) ? instant{begins * 1000} : never;
  }

  [[nodiscard]] u32 pop_due(instant now) noexcept {
    const u64 until = now.us / 1000;
    u32 level;
    u64 begins;
    while (first_list(level, begins) && begins <= until) {
      now_ = begins;
      u32& head = heads_[level * slots + digit(begins, level)];
      if (level == 0) {
        const u32 id = head;
        drop(id);
        return id;
      }
      while (head != none) {
        const u32 id = head;
        drop(id);
        link(id);
      }
    }
    if (now_ < until) now_ = until;
    return none;
  }

 private:
  static constexpr u32 bits = 6;
  static constexpr u32 slots = 1 << bits;
  static constexpr u32 levels = 6;

  [[nodiscard]] static u32 digit(u64 ms, u32 level) noexcept { return static_cast<u32>(ms >> (bits * level)) % slots; }

  void link(u32 id) noexcept {
    const u64 differs = at_[id] ^ now_;
    const u32 level = differs == 0 ? 0 : least((63 - static_cast<u32>(__builtin_clzll(differs))) / bits, levels - 1);
    const u32 list = level * slots + digit(at_[id], level);
    list_[id] = list;
    before_[id] = none;
    after_[id] = heads_[list];
    if (heads_[list] != none) before_[heads_[list]] = id;
    heads_[list] = id;
    used_[level] |= u64{1} << (list % slots);
  }

  // The earliest list that holds anybody, and the millisecond in which it begins.
  [[nodiscard]] bool first_list(u32& level, u64& begins) const noexcept {
    for (level = 0; level < levels; ++level) {
      const u64 ahead = used_[level] & ~((u64{1} << digit(now_, level)) - 1);
      if (ahead == 0) continue;
      const u32 shift = bits * level;
      const u64 turn = now_ >> (shift + bits) << (shift + bits);
      begins = turn | static_cast<u64>(__builtin_ctzll(ahead)) << shift;
      if (begins < now_) begins = now_;
      return true;
    }
    return false;
  }

  span<u64> at_;      // milliseconds, by id
  span<u32> after_;   // by id
  span<u32> before_;  // by id
  span<u32> list_;    // by id, `none`: not armed
  u32 heads_[levels * slots];
  u64 used_[levels] = {};
  u64 now_ = 0;
};

}  // namespace octep::bench

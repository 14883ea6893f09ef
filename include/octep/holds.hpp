// Holds: which connections stay out for a while, since they were made again too soon, and which makes wait for a gap.
//
// Floor 4.
//
// What it is: one entry a connection, found by either of its tuples; the wait, its level and what a waiting make has seen
// belong to the connection. The record kept the wait on one direction's candidate, and it never doubled (system.md 11).
//
//   holding    until its end                  a make is refused
//   waiting    until its gap, or its bound    a make is ready and waits (only with a length of gap)
//   resting    until nobody remembers         the level is kept for the next hold
//
//   Every entry has one deadline, the end of what it does. By tuple: chains from a table of heads, two nodes an entry.
//
// What it refuses: growing. Where there is no room the entry that would end first makes it; whoever calls counts that.
// What that buys: no eviction of candidates and no other direction's frame loses a hold, and the end of each is an instant
// that can be shown.
// Concurrency: everything under the pass lock.
#pragma once

#include <octep/arena.hpp>
#include <octep/backoff.hpp>
#include <octep/base.hpp>
#include <octep/connections.hpp>
#include <octep/deadlines.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

enum class hold_state : u8 { free, holding, waiting, resting };

struct hold {
  hold_state state = hold_state::free;
  family which = family::ipv4;
  array<u32, 2> hashes{};
  tuple_pair<tuple4> v4{};
  tuple_pair<tuple6> v6{};
  backoff wait;             // its level and the end of the last hold
  // A make that waits for its gap.
  array<u32, 2> counts{};   // frames of each direction when it was looked at last
  instant quiet_since;
  instant bound;            // it goes ahead then, gap or not
};

class holds {
 public:
  static constexpr u32 none = ~u32{0};

  [[nodiscard]] static constexpr usize bytes_for(u32 capacity) noexcept {
    return arena::bytes_for<hold>(capacity) + arena::bytes_for<u32>(usize{capacity} * 2) +
           arena::bytes_for<u32>(heads_for(capacity)) + deadlines::bytes_for(capacity);
  }

  // At start, in place. `capacity`: connections that are remembered at once, at least 1. False: the memory does not suffice.
  [[nodiscard]] OCTEP_SELDOM bool init(arena& memory, u32 capacity) noexcept {
    if (capacity == 0 || memory.left() < bytes_for(capacity)) return false;
    entries_ = memory.take<hold>(capacity);
    next_ = memory.take<u32>(usize{capacity} * 2);
    heads_ = memory.take<u32>(heads_for(capacity));
    for (u32& h : heads_) h = none;
    for (u32 i = 0; i < capacity; ++i) {
      entries_[i].state = hold_state::free;
      next_[usize{i} * 2] = i + 1 == capacity ? none : i + 1;
    }
    first_free_ = 0;
    return due_.init(memory, capacity);
  }

  // The entry of a connection with this tuple; `none`: it has none.
  template <tuple_type Tuple>
  [[nodiscard]] u32 find(const Tuple& t, u32 hash) const noexcept {
    for (u32 node = heads_[bucket_of(hash)]; node != none; node = next_[node]) {
      const hold& h = entries_[node / 2];
      if (h.which == Tuple::which && h.hashes[node % 2] == hash && pair_in<Tuple>(h)[node % 2] == t) return node / 2;
    }
    return none;
  }
  // The same, made if it is not there: resting, and owed a deadline by `become`. `forgot`: another's entry made room for it while it was holding.
  template <tuple_type Tuple>
  [[nodiscard]] OCTEP_SELDOM u32 entry_for(const tuple_pair<Tuple>& pair, const array<u32, 2>& hashes, bool& forgot) noexcept {
    forgot = false;
    for (u32 d = 0; d < 2; ++d)
      if (const u32 i = find(pair[d], hashes[d]); i != none) {
        if (entries_[i].hashes == hashes && pair_in<Tuple>(entries_[i]) == pair) return i;
        release(i);  // half of another connection: its other half is nobody's any more
      }
    if (first_free_ == none) {
      const u32 first = due_.pop_due(never);
      forgot = entries_[first].state == hold_state::holding;
      release(first);
    }
    const u32 i = first_free_;
    first_free_ = next_[usize{i} * 2];
    hold& h = entries_[i];
    h = hold{};
    h.state = hold_state::resting;
    h.which = Tuple::which;
    h.hashes = hashes;
    if constexpr (is_same<Tuple, tuple4>)
      h.v4 = pair;
    else
      h.v6 = pair;
    for (u32 d = 0; d < 2; ++d) {
      u32& head = heads_[bucket_of(hashes[d])];
      next_[usize{i} * 2 + d] = head;
      head = i * 2 + d;
    }
    ++used_;
    return i;
  }

  // Whoever is in `state` from now on, and until when. `until` is not `never`.
  void become(u32 i, hold_state state, instant until) noexcept {
    entries_[i].state = state;
    due_.set(i, until);
  }
  OCTEP_SELDOM void release(u32 i) noexcept {
    hold& h = entries_[i];
    if (h.state == hold_state::free) return;
    due_.drop(i);
    for (u32 d = 0; d < 2; ++d) unlink(i * 2 + d, heads_[bucket_of(h.hashes[d])]);
    h.state = hold_state::free;
    next_[usize{i} * 2] = first_free_;
    first_free_ = i;
    --used_;
  }

  // The end of the hold of a connection with this tuple; zero: nothing holds it back.
  template <tuple_type Tuple>
  [[nodiscard]] instant held_until(const Tuple& t, u32 hash) const noexcept {
    const u32 i = find(t, hash);
    return i != none && entries_[i].state == hold_state::holding ? due_.of(i) : instant{};
  }

  // The earliest end; `never`: nothing ends.
  [[nodiscard]] instant next() const noexcept { return due_.next(); }
  // Takes the earliest entry that ends by `now`: what it did is over, and the caller says what it becomes, or releases it.
  [[nodiscard]] u32 pop_due(instant now) noexcept { return due_.pop_due(now); }

  [[nodiscard]] hold& operator[](u32 i) noexcept { return entries_[i]; }
  [[nodiscard]] const hold& operator[](u32 i) const noexcept { return entries_[i]; }
  [[nodiscard]] instant ends_at(u32 i) const noexcept { return due_.of(i); }
  [[nodiscard]] u32 used() const noexcept { return used_; }
  [[nodiscard]] u32 capacity() const noexcept { return static_cast<u32>(entries_.size); }

  // Of an entry of that family.
  template <tuple_type Tuple>
  [[nodiscard]] static const tuple_pair<Tuple>& pair_in(const hold& h) noexcept {
    if constexpr (is_same<Tuple, tuple4>)
      return h.v4;
    else
      return h.v6;
  }

 private:
  [[nodiscard]] static constexpr usize heads_for(u32 capacity) noexcept { return power_of_two_at_least(u64{capacity} * 2); }
  [[nodiscard]] u32 bucket_of(u32 hash) const noexcept { return static_cast<u32>((u64{hash} * heads_.size) >> 32); }
  void unlink(u32 node, u32& head) noexcept {
    u32* link = &head;
    while (*link != node) link = &next_[*link];
    *link = next_[node];
  }

  span<hold> entries_;
  span<u32> next_;   // by node, entry x 2 + direction; of a free entry: its first node's is the next free entry
  span<u32> heads_;  // nodes
  deadlines due_;    // by entry
  u32 first_free_ = none;
  u32 used_ = 0;
};

}  // namespace octep

// Deadlines: when to look at whom again, the earliest first.
//
// Floor 3.
//
// What it is: at most one instant for each id from 0 to a capacity, and the question which of them is due. An id is whatever
// its owner counts by: a connection's index for keep-alive, a hold's place for its end (system.md 10 and 11).
//
//   a heap with four children a node, in two columns: instant 64 | id 32        child k of node n: 4 n + 1 + k
//   by id: its node 32, or `none`                                                16 bytes an id in all
//
// Among equal instants the smaller id comes first, whatever came before: two runs with the same deadlines pop alike.
//
// What it refuses: two deadlines of one id, instants relative to a clock that wraps (64 bits of microseconds do not), and
// memory of its own.
// What that buys: `next` is one load, so an idle worker sleeps exactly as long as it may; set, drop and pop cost what is
// pending, not what could be, and are bounded by the height: at 2,000,000 pending, 11 nodes up or 11 x 4 down. A hierarchical
// wheel would set and drop in a constant time, but its `next` is a lower bound or a search through a list, its order among
// equals is that of arrival, and a passing of many slots at once has no bound.
// Concurrency: everything under the pass lock.
#pragma once

#include <octep/arena.hpp>
#include <octep/base.hpp>
#include <octep/ticks.hpp>

namespace octep {

class deadlines {
 public:
  static constexpr u32 none = ~u32{0};
  // The most ids: a node's last child has a 32-bit number.
  static constexpr u32 most = u32{1} << 29;

  // What `init` takes from an aligned arena, in bytes.
  [[nodiscard]] static constexpr usize bytes_for(u32 capacity) noexcept {
    return arena::bytes_for<instant>(capacity) + 2 * arena::bytes_for<u32>(capacity);
  }

  // At start, in place. `capacity`: ids, 1 to `most`. False: the memory does not suffice or the capacity is out of range, and
  // no id may be used.
  [[nodiscard]] OCTEP_SELDOM bool init(arena& memory, u32 capacity) noexcept {
    at_ = {};
    pending_ = 0;
    if (capacity == 0 || capacity > most || memory.left() < bytes_for(capacity)) return false;
    at_ = memory.take<instant>(capacity);
    id_ = memory.take<u32>(capacity);
    node_ = memory.take<u32>(capacity);
    for (u32& n : node_) n = none;
    return true;
  }

  // The deadline of `id` is `at` from now on, whether it had one or not. `never` is no deadline: as `drop`.
  // Every id here and below is less than the capacity.
  void set(u32 id, instant at) noexcept {
    if (at == never) return drop(id);
    u32 node = node_[id];
    if (node == none) node = pending_++;
    settle(node, at, id);
  }

  // From now on `id` has none.
  void drop(u32 id) noexcept {
    const u32 node = node_[id];
    if (node == none) return;
    node_[id] = none;
    --pending_;
    if (node != pending_) settle(node, at_[pending_], id_[pending_]);
  }

  // The earliest deadline; `never` if there is none.
  [[nodiscard]] instant next() const noexcept { return pending_ == 0 ? never : at_[0]; }

  // Takes the earliest deadline that is not later than `now` and says whose it is; `none`: nothing is due.
  [[nodiscard]] u32 pop_due(instant now) noexcept {
    if (pending_ == 0 || now < at_[0]) return none;
    const u32 id = id_[0];
    drop(id);
    return id;
  }

  // The deadline of `id`; `never` if it has none.
  [[nodiscard]] instant of(u32 id) const noexcept { return node_[id] == none ? never : at_[node_[id]]; }

  [[nodiscard]] u32 pending() const noexcept { return pending_; }
  [[nodiscard]] u32 capacity() const noexcept { return static_cast<u32>(at_.size); }

 private:
  static constexpr u32 children = 4;

  [[nodiscard]] static bool before(instant a, u32 a_id, instant b, u32 b_id) noexcept {
    return a < b || (a == b && a_id < b_id);
  }
  void put(u32 node, instant at, u32 id) noexcept {
    at_[node] = at;
    id_[node] = id;
    node_[id] = node;
  }

  // Puts a deadline where it belongs, seen from `node`, whose own has gone: towards the root while it comes before its
  // parent, else away from it while one of the children comes before it. It does not do both.
  void settle(u32 node, instant at, u32 id) noexcept {
    while (node > 0) {
      const u32 parent = (node - 1) / children;
      if (!before(at, id, at_[parent], id_[parent])) break;
      put(node, at_[parent], id_[parent]);
      node = parent;
    }
    for (;;) {
      const u32 first = node * children + 1;
      if (first >= pending_) break;
      const u32 end = least(first + children, pending_);
      u32 earliest = first;
      for (u32 c = first + 1; c < end; ++c)
        if (before(at_[c], id_[c], at_[earliest], id_[earliest])) earliest = c;
      if (!before(at_[earliest], id_[earliest], at, id)) break;
      put(node, at_[earliest], id_[earliest]);
      node = earliest;
    }
    put(node, at, id);
  }

  span<instant> at_;  // by node
  span<u32> id_;      // by node
  span<u32> node_;    // by id
  u32 pending_ = 0;
};

}  // namespace octep

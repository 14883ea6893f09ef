// By a key's hash to the place where its owner keeps it: the one look-up of the models and of the replay's own tables.
//
// What it is: open addressing over pairs of 32 bits, a hash and a place, searched in a straight line. Keys stay where they are,
// in their owner's records: whoever asks says of a place whether it is the one. The load is at most two thirds.
// What it refuses: keys, an order, and giving memory back: it is as large as the most places at one time wanted.
// What that buys: eight bytes a pair, so that the look-ups of ten thousand connections stay in a processor's cache where the
// nodes of a standard map do not, and one line of memory before the record that is wanted anyway.
// Concurrency: one thread.
#pragma once

#include <vector>

#include <octep/base.hpp>

namespace octep::sim {

class place_index {
 public:
  static constexpr u32 nowhere = ~u32{0};

  // The place of this hash of which `is(place)` is true; nowhere.
  template <class Is>
  [[nodiscard]] u32 find(u64 hash, Is&& is) const {
    if (count_ == 0) return nowhere;
    const u32 tag = tag_of(hash);
    for (usize at = home(tag);; at = next(at)) {
      const pair& p = pairs_[at];
      if (p.place == nowhere) return nowhere;
      if (p.tag == tag && is(p.place)) return p.place;
    }
  }

  // `place` is not in it.
  void insert(u64 hash, u32 place) {
    if (pairs_.size() * 2 < (count_ + 1) * 3) grow();
    put({tag_of(hash), place});
    ++count_;
  }

  // False: it was not there.
  bool erase(u64 hash, u32 place) {
    if (count_ == 0) return false;
    usize hole = home(tag_of(hash));
    for (; pairs_[hole].place != place; hole = next(hole))
      if (pairs_[hole].place == nowhere) return false;
    // What a later search would not find across the hole moves into it, so nothing marks where something was.
    for (usize at = next(hole); pairs_[at].place != nowhere; at = next(at)) {
      if (distance(home(pairs_[at].tag), at) < distance(hole, at)) continue;
      pairs_[hole] = pairs_[at];
      hole = at;
    }
    pairs_[hole] = {};
    --count_;
    return true;
  }

  void clear() noexcept {
    pairs_.clear();
    count_ = 0;
  }

  [[nodiscard]] usize size() const noexcept { return count_; }

 private:
  struct pair {
    u32 tag = 0;
    u32 place = nowhere;
  };
  static constexpr usize least_pairs = 16;

  // The upper half: the lower is a product's, whose low bits know little of the factors.
  [[nodiscard]] static u32 tag_of(u64 hash) noexcept { return static_cast<u32>(hash >> 32); }
  [[nodiscard]] usize home(u32 tag) const noexcept { return tag & (pairs_.size() - 1); }
  [[nodiscard]] usize next(usize at) const noexcept { return (at + 1) & (pairs_.size() - 1); }
  [[nodiscard]] usize distance(usize from, usize to) const noexcept { return (to - from) & (pairs_.size() - 1); }

  void put(pair p) noexcept {
    usize at = home(p.tag);
    while (pairs_[at].place != nowhere) at = next(at);
    pairs_[at] = p;
  }
  void grow() {
    std::vector<pair> old(pairs_.empty() ? least_pairs : pairs_.size() * 2);
    old.swap(pairs_);
    for (const pair& p : old)
      if (p.place != nowhere) put(p);
  }

  std::vector<pair> pairs_;  // a power of two of them, or none
  usize count_ = 0;
};

}  // namespace octep::sim

// The hot table: whether a tuple might belong to a held connection, asked by the receive path before anything is locked.
//
// Floor 3.
//
// What it is: one byte a bucket, the number of tuples of held connections whose hash falls there. Zero: held by nobody.
// Not zero: perhaps held, ask the connection table. A tuple is counted from its record's allocation to its freeing, so a
// connection counts twice, once for each direction as it arrives (system.md 5).
//
// Refuses: a certain yes, and memory of its own. Buys: one byte read in a frame's way, and a wrong yes costs one look-up.
//
// A count never wraps: at 255 it stays, since what is not counted any more cannot be counted down. Such a bucket reads
// "perhaps" until the table is set up again. With the size that `buckets_for` gives, 255 tuples in one bucket do not
// happen by chance; in a table that is far too small they do, and all it loses is the filter.
//
// Concurrency: `init`, `add` and `remove` under the pass lock; `perhaps` from any ring at any time.
#pragma once

#include <octep/atomic.hpp>
#include <octep/hash.hpp>

namespace octep {

template <atomics_policy A = builtin_atomics>
class hot_table {
 public:
  using cell = typename A::template cell<u8>;

  // The record's first size, and the size that went with four places a slot (R21): for models of the record.
  static constexpr usize recorded_buckets = 65'536;
  static constexpr usize recorded_first_buckets = 4'096;

  // At least 32 buckets for each of the two tuples of `connections` (system.md 5: then a full table says "perhaps" to three
  // strangers in a hundred), rounded up to a power of two: 65,536 for the 1,022 of the recorded device. A byte each.
  // `connections` is at most 2^26, which fills the 32 bits of a hash.
  [[nodiscard]] static constexpr usize buckets_for(usize connections) noexcept {
    return power_of_two_at_least(connections * 2 * 32);
  }

  // Takes `buckets` for good and empties them. Their number is a power of two, 1 to 2^32; they outlive the table.
  void init(span<cell> buckets) noexcept {
    buckets_ = buckets.data;
    bits_ = bit_width(buckets.size) - 1;
    for (cell& b : buckets) b.store_relaxed(0);
  }

  // The tuple of hash `hash` is held from now on.
  void add(u32 hash) noexcept {
    cell& b = buckets_[bucket_of(hash)];
    // Relaxed, both: the pass lock orders the only writers, and a ring that reads the old count a moment longer decides as
    // it would have a moment earlier.
    const u8 count = b.load_relaxed();
    if (count != stuck) b.store_relaxed(static_cast<u8>(count + 1));
  }

  // Undoes one `add` of the same hash. What was never added leaves the bucket as it is.
  void remove(u32 hash) noexcept {
    cell& b = buckets_[bucket_of(hash)];
    const u8 count = b.load_relaxed();  // relaxed: see add
    if (count != stuck && count != 0) b.store_relaxed(static_cast<u8>(count - 1));
  }

  // False: no held connection has this tuple. Relaxed: the count guards no other data; whoever acts on a "perhaps" looks
  // the tuple up under the pass lock, and a "no" that is a moment old costs one kick, which the next frame makes up for.
  [[nodiscard]] bool perhaps(u32 hash) const noexcept { return buckets_[bucket_of(hash)].load_relaxed() != 0; }

  // Which bucket a hash falls into, for tables and tools; the top bits, as everywhere.
  [[nodiscard]] u32 bucket_of(u32 hash) const noexcept { return top_bits(hash, bits_); }
  [[nodiscard]] u32 bits() const noexcept { return bits_; }
  // What a bucket counts, `stuck` once it has overflowed. For dumps and reconciling; relaxed: a figure.
  [[nodiscard]] u32 count(u32 bucket) const noexcept { return buckets_[bucket].load_relaxed(); }

  static constexpr u8 stuck = 255;

 private:
  cell* buckets_ = nullptr;  // set by init, before any ring runs; the cells: written under the pass lock, read by any ring
  u32 bits_ = 0;             // set by init
};

}  // namespace octep

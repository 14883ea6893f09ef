// Held marks: what runs leave to the poll because it was refused, or taken out, since the poll was last round.
//
// Floor 3.
//
// What it is: one policy in two forms. `refusals_by_slot` is the recorded one: a bit a slot, so whatever else shares
// the slot waits too. `refusals_by_tuple` is ours: the tuple itself, kept where no eviction reaches it.
//
//   by tuple   heads    one 16-bit place a bucket, bucket = top bits of the hash
//              places   tuple | hash | next place of the bucket, filled from 0 upward
//
// A head counts only if it names a place below the fill whose hash belongs to its bucket: whatever an earlier life left
// there fails one of the two, or is the true head. So `clear` is one store, and nothing has to be wiped or stamped.
//
// What it refuses: forgetting. A marked tuple is held until `clear`; where there is no room, or a bucket's chain is at
// its bound, the whole slot is held instead, which is the recorded behaviour and counted by `fell_back`.
// What that buys: marks and look-ups of constant time, and with room no tuple ever waits for another's refusal.
// Concurrency: one thread at a time, under the pass lock. The receive path does not know these.
#pragma once

#include <octep/base.hpp>
#include <octep/tuple.hpp>

namespace octep {

// `hash` is the tuple's under the engine's hash policy, the same in every call; `slot` is below the Slots of the table.
// fell_back(): slots that are held whole since the last `clear`.
template <class R>
concept refusals_policy = requires(R& r, const R& k, const tuple4& t4, const tuple6& t6, u32 hash, u32 slot) {
  { r.mark(t4, hash, slot) } noexcept -> same_as<void>;
  { r.mark(t6, hash, slot) } noexcept -> same_as<void>;
  { k.holds(t4, hash, slot) } noexcept -> same_as<bool>;
  { k.holds(t6, hash, slot) } noexcept -> same_as<bool>;
  { r.clear() } noexcept -> same_as<void>;
  { k.fell_back() } noexcept -> same_as<u32>;
};

namespace detail {

// One bit a slot.
template <u32 Slots>
  requires(Slots >= 1)
class slot_marks {
 public:
  void mark(u32 slot) noexcept {
    if (holds(slot)) return;
    words_[slot / 64] |= u64{1} << (slot % 64);
    ++marked_;
  }
  [[nodiscard]] bool holds(u32 slot) const noexcept { return ((words_[slot / 64] >> (slot % 64)) & 1) != 0; }
  [[nodiscard]] u32 marked() const noexcept { return marked_; }
  void clear() noexcept {
    if (marked_ == 0) return;
    for (u64& word : words_) word = 0;
    marked_ = 0;
  }

 private:
  array<u64, (Slots + 63) / 64> words_{};
  u32 marked_ = 0;
};

// Up to Room tuples of one family.
template <tuple_type Tuple, u32 Room>
  requires(Room >= 1 && Room <= 0xfffe)
class tuple_marks {
 public:
  // False: no room. A tuple that is there already needs none.
  [[nodiscard]] bool insert(const Tuple& tuple, u32 hash) noexcept {
    const u32 bucket = bucket_of(hash);
    const u16 first = head(bucket);
    u32 length = 0;
    for (u16 i = first; i != end; i = places_[i].next) {
      if (is(places_[i], tuple, hash)) return true;
      ++length;
    }
    if (used_ == Room || length == longest_chain) return false;
    places_[used_] = {tuple, hash, first};
    heads_[bucket] = static_cast<u16>(used_);
    ++used_;
    return true;
  }

  [[nodiscard]] bool holds(const Tuple& tuple, u32 hash) const noexcept {
    for (u16 i = head(bucket_of(hash)); i != end; i = places_[i].next)
      if (is(places_[i], tuple, hash)) return true;
    return false;
  }

  void clear() noexcept { used_ = 0; }

 private:
  // At most one tuple to two buckets: a ninth in one bucket is one in three hundred million, unless somebody chose the
  // tuples against an unkeyed hash, and then each costs eight comparisons (ours).
  static constexpr u32 buckets = static_cast<u32>(power_of_two_at_least(u64{Room} * 2));
  static constexpr u32 bucket_bits = bit_width(buckets) - 1;
  static constexpr u32 longest_chain = 8;
  static constexpr u16 end = 0xffff;

  struct place {
    Tuple tuple{};
    u32 hash = 0;
    u16 next = end;
  };

  [[nodiscard]] static constexpr u32 bucket_of(u32 hash) noexcept { return hash >> (32 - bucket_bits); }
  [[nodiscard]] static bool is(const place& p, const Tuple& tuple, u32 hash) noexcept {
    return p.hash == hash && p.tuple == tuple;
  }
  [[nodiscard]] u16 head(u32 bucket) const noexcept {
    const u16 first = heads_[bucket];
    return first < used_ && bucket_of(places_[first].hash) == bucket ? first : end;
  }

  array<u16, buckets> heads_{};
  array<place, Room> places_{};
  u32 used_ = 0;
};

}  // namespace detail

// Recorded: a slot whose attempt was refused is the poll's, whoever else is in it.
template <u32 Slots>
class refusals_by_slot {
 public:
  template <tuple_type Tuple>
  void mark(const Tuple&, u32, u32 slot) noexcept {
    slots_.mark(slot);
  }
  template <tuple_type Tuple>
  [[nodiscard]] bool holds(const Tuple&, u32, u32 slot) const noexcept {
    return slots_.holds(slot);
  }
  void clear() noexcept { slots_.clear(); }
  [[nodiscard]] u32 fell_back() const noexcept { return slots_.marked(); }

 private:
  detail::slot_marks<Slots> slots_;
};

// What the default settings can refuse or take out between two polls: 64 makes, and the two tuples of each of eight
// attempts a run, a run each 5 ms for a second (system.md 7 and 15). Larger settings meet the slot bits at worst.
inline constexpr u32 refusals_room = 64 + 2 * 8 * (1000 / 5);

// Room counts tuples of each family: a place costs 24 bytes for IPv4 and 48 for IPv6.
template <u32 Slots, u32 Room = refusals_room, u32 Room6 = Room>
class refusals_by_tuple {
 public:
  template <tuple_type Tuple>
  void mark(const Tuple& tuple, u32 hash, u32 slot) noexcept {
    if (slots_.holds(slot)) return;
    if (!set(tuple).insert(tuple, hash)) slots_.mark(slot);
  }
  template <tuple_type Tuple>
  [[nodiscard]] bool holds(const Tuple& tuple, u32 hash, u32 slot) const noexcept {
    return slots_.holds(slot) || set(tuple).holds(tuple, hash);
  }
  void clear() noexcept {
    slots_.clear();
    v4_.clear();
    v6_.clear();
  }
  [[nodiscard]] u32 fell_back() const noexcept { return slots_.marked(); }

 private:
  using marks4 = detail::tuple_marks<tuple4, Room>;
  using marks6 = detail::tuple_marks<tuple6, Room6>;

  [[nodiscard]] marks4& set(const tuple4&) noexcept { return v4_; }
  [[nodiscard]] marks6& set(const tuple6&) noexcept { return v6_; }
  [[nodiscard]] const marks4& set(const tuple4&) const noexcept { return v4_; }
  [[nodiscard]] const marks6& set(const tuple6&) const noexcept { return v6_; }

  detail::slot_marks<Slots> slots_;
  marks4 v4_;
  marks6 v6_;
};

static_assert(refusals_policy<refusals_by_slot<64>> && refusals_policy<refusals_by_tuple<64, 2>>);

}  // namespace octep

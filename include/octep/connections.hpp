// Connections: the record of everything the far side was told to forward, found by tuple in constant time.
//
// Floor 3.
//
// What it is: an index space that mirrors the far side's connection table (index = place there), one record an index,
// and one look-up from the tuples of both families to (index, direction).
//
//   look-up          power of two, >= 4 x capacity entries of 8 bytes, so at most half are in use
//     entry          hash 32 | name 32          name 0: empty
//     name           ((index x 2 + family) x 2 + direction) + 1
//   home of a hash   its top bits; a collision takes the next free entry, removal shifts the run back over the hole
//
//   columns by index  record | two tuple4 | two hashes | next free      and, only if IPv6 is wanted, two tuple6
//
// What it refuses: a hash policy (callers bring the hash, which is kept, so that removal needs none), tombstones (the
// cost of a look-up follows what is held, never what was), a tuple held twice, growing.
// What that buys: the same cost at 1,022 and at 2,000,000, for as long as it runs. An IPv6 tuple costs an IPv4 one
// nothing. With hashes that all collide a look-up is a search through all that is held: hence a keyed hash by
// default.
// Concurrency: everything under the pass lock. The receive path asks the hot table instead.
#pragma once

#include <octep/arena.hpp>
#include <octep/base.hpp>
#include <octep/firewall.hpp>
#include <octep/identity.hpp>
#include <octep/revision.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

enum class record_state : u8 {
  free,
  making,   // from the first command of its make: found, counted hot, passed over by runs
  held,     // the far side answered its create
  doomed,   // a command of it was not answered: counted as programmed until the far side speaks again
  leaving,  // being taken out
};

// One direction, as it was programmed.
struct direction_record {
  identity who;
  ingress where;
  handle next_hop;  // meaningful if has_next_hop: a reference is held on it
  bool has_next_hop = false;
  bool programmed = false;
};

struct record {
  u16 revision = 0;  // of this use of the index; while free, of the last one; 0: it never had one
  record_state state = record_state::free;
  family which = family::ipv4;
  protocol proto = protocol::tcp;
  bool closing = false;  // FIN or RST was seen, or it is owed a take-out
  array<state_id, 2> states{};
  instant first_seen;  // the first punted frame that is known of
  instant made_at;     // the answer to its create
  array<direction_record, 2> directions{};
};

// [0] as the opener's frames arrive, [1] as the responder's do.
template <tuple_type Tuple>
using tuple_pair = array<Tuple, 2>;

struct found {
  u32 index = 0;
  u8 direction = 0;
  bool is = false;
};

class connections {
 public:
  static constexpr u32 none = ~u32{0};
  // The most that a name holds. Ours; the far side's tables end long before.
  static constexpr u32 most = u32{1} << 29;

  // What `init` takes from an aligned arena, in bytes.
  [[nodiscard]] static constexpr usize bytes_for(u32 capacity, bool ipv6) noexcept {
    const usize n = capacity;
    return arena::bytes_for<record>(n) + arena::bytes_for<tuple_pair<tuple4>>(n) +
           (ipv6 ? arena::bytes_for<tuple_pair<tuple6>>(n) : 0) + arena::bytes_for<array<u32, 2>>(n) +
           arena::bytes_for<u32>(n) + arena::bytes_for<entry>(entries_for(capacity));
  }

  // At start, in place. `capacity`: usable entries of the far side's table, 1 to `most`. `last_revision`: the first use
  // of each index gets the one after it. False: the memory does not suffice or the capacity is out of range, and the
  // table holds nothing.
  [[nodiscard]] bool init(arena& memory, u32 capacity, bool ipv6, u16 last_revision = 0) noexcept {
    records_ = {};
    held_ = 0;
    if (capacity == 0 || capacity > most || memory.left() < bytes_for(capacity, ipv6)) return false;
    records_ = memory.take<record>(capacity);
    pairs4_ = memory.take<tuple_pair<tuple4>>(capacity);
    pairs6_ = ipv6 ? memory.take<tuple_pair<tuple6>>(capacity) : span<tuple_pair<tuple6>>{};
    hashes_ = memory.take<array<u32, 2>>(capacity);
    next_free_ = memory.take<u32>(capacity);
    look_up_ = memory.take<entry>(entries_for(capacity));
    mask_ = static_cast<u32>(look_up_.size - 1);
    shift_ = 33 - bit_width(look_up_.size);

    // The tuples and hashes of an index are written when it is allocated and not read before.
    for (u32 i = 0; i < capacity; ++i) {
      records_[i] = record{};
      records_[i].revision = last_revision;
      next_free_[i] = i + 1 < capacity ? i + 1 : none;
    }
    for (entry& e : look_up_) e = entry{};
    first_free_ = 0;
    last_free_ = capacity - 1;
    return true;
  }

  // A fresh record for a connection that nobody holds: its revision climbed, its state is `making`, everything else but
  // family and protocol is blank. `hash0` and `hash1` are of pair[0] and pair[1] by the policy that `find` is asked
  // with. `none`: the table is full; or, since a frame must have one owner, the two tuples are equal or one of them is
  // held already (the caller looked first); or the family has no room here at all.
  //
  // The index that has been free longest is taken. Whatever may still name an index's last use (a microflow, a late
  // answer, an event not yet read) has as long as possible to go away, and the 16-bit revisions of all indexes climb
  // evenly, so that none comes round early.
  template <tuple_type Tuple>
  [[nodiscard]] u32 allocate(const tuple_pair<Tuple>& pair, u32 hash0, u32 hash1) noexcept {
    const span<tuple_pair<Tuple>> pairs = column<Tuple>();
    if (full() || pairs.empty() || pair[0] == pair[1]) return none;
    if (find(pair[0], hash0).is || find(pair[1], hash1).is) return none;

    const u32 index = first_free_;
    first_free_ = next_free_[index];
    if (first_free_ == none) last_free_ = none;
    ++held_;

    record& r = records_[index];
    const u16 last = r.revision;
    r = record{};
    r.revision = next_revision(last);
    r.state = record_state::making;
    r.which = Tuple::which;
    r.proto = pair[0].proto;
    pairs[index] = pair;
    hashes_[index] = {hash0, hash1};
    insert({hash0, name_of(index, Tuple::which, 0)});
    insert({hash1, name_of(index, Tuple::which, 1)});
    return index;
  }

  // Both tuples leave the look-up and the index becomes free. Of a free record only revision and state mean anything.
  // The caller has given back what the record refers to (next hops, hot counts). A free index is left as it is.
  void release(u32 index) noexcept {
    record& r = records_[index];
    if (r.state == record_state::free) return;
    for (u8 direction = 0; direction < 2; ++direction)
      erase({hashes_[index][direction], name_of(index, r.which, direction)});
    r.state = record_state::free;

    next_free_[index] = none;
    if (last_free_ == none) {
      first_free_ = index;
    } else {
      next_free_[last_free_] = index;
    }
    last_free_ = index;
    --held_;
  }

  // Whose frames arrive with this tuple. `hash`: of the tuple, by the same policy as at its allocation.
  template <tuple_type Tuple>
  [[nodiscard]] found find(const Tuple& tuple, u32 hash) const noexcept {
    const span<tuple_pair<Tuple>> pairs = column<Tuple>();
    if (pairs.empty()) return {};
    for (u32 at = home(hash); look_up_[at].name != 0; at = after(at)) {
      if (look_up_[at].hash != hash) continue;
      const u32 bits = look_up_[at].name - 1;
      const u32 index = bits >> 2;
      const u8 direction = bits & 1;
      if (((bits >> 1) & 1) == static_cast<u32>(Tuple::which) && pairs[index][direction] == tuple)
        return {index, direction, true};
    }
    return {};
  }

  // Any index below `capacity()`, free or not. `revision`, `which` and a change of `state` to or from `free` are this
  // table's business; the rest is the caller's.
  [[nodiscard]] record& operator[](u32 index) noexcept { return records_[index]; }
  [[nodiscard]] const record& operator[](u32 index) const noexcept { return records_[index]; }

  // Of an index that is not free and whose family is Tuple's.
  template <tuple_type Tuple>
  [[nodiscard]] tuple_pair<Tuple> tuples_of(u32 index) const noexcept {
    return column<Tuple>()[index];
  }
  // Of an index that is not free: the hash it was allocated with.
  [[nodiscard]] u32 hash_of(u32 index, u32 direction) const noexcept { return hashes_[index][direction]; }
  // What commands call it.
  [[nodiscard]] handle handle_of(u32 index) const noexcept { return {index, records_[index].revision}; }

  [[nodiscard]] u32 held() const noexcept { return held_; }  // records that are not free, of any state
  [[nodiscard]] u32 capacity() const noexcept { return static_cast<u32>(records_.size); }
  [[nodiscard]] bool full() const noexcept { return held_ == capacity(); }
  // Whether there is room for tuples of that family at all.
  [[nodiscard]] bool has_room_for(family f) const noexcept { return f == family::ipv4 || !pairs6_.empty(); }

  // visit(index, record&) for each that is not free, indexes climbing. `visit` may release the one it is given.
  template <class Visit>
  void for_each(Visit&& visit) noexcept {
    for (u32 i = 0; i < capacity(); ++i)
      if (records_[i].state != record_state::free) visit(i, records_[i]);
  }

 private:
  struct entry {
    u32 hash = 0;
    u32 name = 0;
  };

  [[nodiscard]] static constexpr usize entries_for(u32 capacity) noexcept {
    return power_of_two_at_least(u64{capacity} * 4);
  }
  [[nodiscard]] static constexpr u32 name_of(u32 index, family which, u32 direction) noexcept {
    return ((index * 2 + static_cast<u32>(which)) * 2 + direction) + 1;
  }
  template <tuple_type Tuple>
  [[nodiscard]] span<tuple_pair<Tuple>> column() const noexcept {
    if constexpr (is_same<Tuple, tuple4>) {
      return pairs4_;
    } else {
      return pairs6_;
    }
  }
  [[nodiscard]] u32 home(u32 hash) const noexcept { return hash >> shift_; }
  [[nodiscard]] u32 after(u32 at) const noexcept { return (at + 1) & mask_; }

  // Half of the entries are empty, so every search for one ends.
  void insert(entry e) noexcept {
    u32 at = home(e.hash);
    while (look_up_[at].name != 0) at = after(at);
    look_up_[at] = e;
  }

  // A later entry of the run may fill the hole if its home is not behind the hole: it stays reachable from there.
  void erase(entry e) noexcept {
    u32 hole = home(e.hash);
    while (look_up_[hole].name != e.name) hole = after(hole);
    for (u32 at = after(hole); look_up_[at].name != 0; at = after(at)) {
      const u32 from_home = (at - home(look_up_[at].hash)) & mask_;
      const u32 from_hole = (at - hole) & mask_;
      if (from_home < from_hole) continue;
      look_up_[hole] = look_up_[at];
      hole = at;
    }
    look_up_[hole] = entry{};
  }

  span<record> records_;
  span<tuple_pair<tuple4>> pairs4_;
  span<tuple_pair<tuple6>> pairs6_;  // empty: no IPv6
  span<array<u32, 2>> hashes_;
  span<u32> next_free_;  // of a free index: the one freed after it, or `none`
  span<entry> look_up_;
  u32 mask_ = 0;
  u32 shift_ = 0;
  u32 first_free_ = none;
  u32 last_free_ = none;
  u32 held_ = 0;
};

}  // namespace octep

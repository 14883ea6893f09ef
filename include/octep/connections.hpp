// Connections: the record of everything the far side was told to forward, found by tuple in constant time.
//
// Floor 3.
//
// What it is: an index space that mirrors the far side's connection table (index = place there), one record an index,
// and one look-up from the tuples of both families to (index, direction).
//
//   look-up            three lines for each connection that can be held: when all are, a third of the places is in use
//     line             32 bytes, half a cache line: two places, the first is used first; home of a hash: its share of the lines
//     place            first 64    IPv4: destination 32 | source 32        IPv6: the hash
//                      second 64   name: index + 1 21 | direction 1        0: empty
//                                  passed 1 | family 1 | protocol 8 | ports 32
//   A tuple whose home line is full stands in the next line with room, and comes back when one leaves before it. Whom it passes
//   is marked so, until it has room again: a look-up that finds nothing in a line without the mark is over.
//
//   columns by index   record | two hashes | its two places     and, only if IPv6 is wanted, two tuple6
//
// An IPv4 tuple stands whole in its place: a look-up reads one line, where a table of hashes reads the tuple somewhere else as
// well. Two places a line measured better than four, and so did a second word that is a tuple's own tail as it lies in memory.
// Nothing branches on which of the two places it is. An IPv6 place has the hash, and its tuple is read from the column where
// hash, ports and protocol are equal; an IPv4 look-up knows nothing of it. Figures: docs/scale.md.
//
// What it refuses: a hash policy (callers bring the hash, which is kept, so that removal needs none), tombstones (the
// cost of a look-up follows what is held, never what was), a tuple held twice, growing, vector registers (a kernel has
// none to spare).
// What that buys: the same cost at 1,022 and at 2,000,000, for as long as it runs. With hashes that all collide a look-up
// is a search through all that is held: hence a keyed hash by default.
// Concurrency: everything under the pass lock. The receive path asks the hot table instead.
#pragma once

#include <octep/arena.hpp>
#include <octep/backoff.hpp>
#include <octep/base.hpp>
#include <octep/firewall.hpp>
#include <octep/identity.hpp>
#include <octep/reasons.hpp>
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
  bool stamped = false;  // `stamp` was read
  bool stays = false;    // its frames stay with the host: they come out of a tunnel, and ipsec_flows was 1
  u32 stamp = 0;         // the far side's, when it was read last
  // Uses of associations that this direction refers to; word 0: none.
  association_word encrypted_by;
  association_word decrypted_by;
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

  reason leaving_for = reason::none;  // owed a take-out: why
  // Give-back (system.md 9).
  bool probe_asked = false;  // a frame was punted while its entry was not to be read
  bool probed = false;
  instant probed_at;         // the last read of its entry, if `probed`
  backoff revive_wait;
  // Keep-alive (system.md 10).
  u8 quiet_readings = 0;  // readings in a row in which no stamp had moved
  tick quiet_from;        // the reading that the next one is compared with
  instant read_at = never;  // when its stamps are read next
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
  // The most that a place can name. Ours; the far side's tables end long before.
  static constexpr u32 most = (u32{1} << 21) - 1;
  // How many look-ups of one `find_batch` are worth it (measured, performance.md).
  static constexpr usize batch = 32;

  // What `init` takes from an aligned arena, in bytes.
  [[nodiscard]] static constexpr usize bytes_for(u32 capacity, bool ipv6) noexcept {
    const usize n = capacity;
    return arena::bytes_for<record>(n) + (ipv6 ? arena::bytes_for<tuple_pair<tuple6>>(n) : 0) +
           arena::bytes_for<array<u32, 2>>(n) * 2 + arena::bytes_for<line>(lines_for(capacity));
  }

  // At start, in place. `capacity`: usable entries of the far side's table, 1 to `most`. `last_revision`: the first use
  // of each index gets the one after it. False: the memory does not suffice or the capacity is out of range, and the
  // table holds nothing.
  [[nodiscard]] OCTEP_SELDOM bool init(arena& memory, u32 capacity, bool ipv6, u16 last_revision = 0) noexcept {
    records_ = {};
    lines_ = no_lines();
    held_ = 0;
    if (capacity == 0 || capacity > most || memory.left() < bytes_for(capacity, ipv6)) return false;
    records_ = memory.take<record>(capacity);
    pairs6_ = ipv6 ? memory.take<tuple_pair<tuple6>>(capacity) : span<tuple_pair<tuple6>>{};
    hashes_ = memory.take<array<u32, 2>>(capacity);
    where_ = memory.take<array<u32, 2>>(capacity);
    lines_ = memory.take<line>(lines_for(capacity));

    // The tuples and hashes of an index are written when it is allocated and not read before.
    for (u32 i = 0; i < capacity; ++i) {
      records_[i] = record{};
      records_[i].revision = last_revision;
      where_[i][0] = i + 1 < capacity ? i + 1 : none;
    }
    for (line& l : lines_) l = line{};
    first_free_ = 0;
    last_free_ = capacity - 1;
    return true;
  }

  // A fresh record for a connection that nobody holds: its revision climbed, its state is `making`, everything else but
  // family and protocol is blank. `hash0` and `hash1` are of pair[0] and pair[1] by the policy that `find` is asked
  // with. `none`: the table is full; or, since a frame must have one owner, the two tuples are equal or one of them is
  // held already (the caller looked first); or the family has no room here at all; or a protocol's number is not one of a packet's, 1
  // to 255.
  //
  // The index that has been free longest is taken. Whatever may still name an index's last use (a microflow, a late
  // answer, an event not yet read) has as long as possible to go away, and the 16-bit revisions of all indexes climb
  // evenly, so that none comes round early.
  template <tuple_type Tuple>
  [[nodiscard]] OCTEP_SELDOM u32 allocate(const tuple_pair<Tuple>& pair, u32 hash0, u32 hash1) noexcept {
    if (full() || !has_room_for(Tuple::which) || pair[0] == pair[1]) return none;
    for (const Tuple& t : pair)
      if (t.proto == protocol{} || static_cast<u32>(t.proto) > 255) return none;
    if (is_held(pair[0], hash0) || is_held(pair[1], hash1)) return none;
    if constexpr (is_same<Tuple, tuple6>) pairs6_[first_free_] = pair;
    return take({key_of(pair[0], hash0), key_of(pair[1], hash1)}, {hash0, hash1}, Tuple::which, pair[0].proto);
  }

  // Both tuples leave the look-up and the index becomes free. Of a free record only revision and state mean anything.
  // The caller has given back what the record refers to (next hops, hot counts). A free index is left as it is.
  OCTEP_SELDOM [[gnu::noinline]] void release(u32 index) noexcept {
    record& r = records_[index];
    if (r.state == record_state::free) return;
    r.state = record_state::free;
    for (u32 direction = 0; direction < 2; ++direction) erase(where_[index][direction]);

    where_[index][0] = none;
    if (last_free_ == none) {
      first_free_ = index;
    } else {
      where_[last_free_][0] = index;
    }
    last_free_ = index;
    --held_;
  }

  // Whose frames arrive with this tuple. `hash`: of the tuple, by the same policy as at its allocation. Its protocol is a
  // packet's, 0 to 255.
  template <tuple_type Tuple>
  [[nodiscard]] found find(const Tuple& tuple, u32 hash) const noexcept {
    const place key = key_of(tuple, hash);
    const u32 at = home(hash);
    if constexpr (is_same<Tuple, tuple4>) {
      const line& l = lines_.data[at];
      const u64 second = l.beside(key.first);
      if (same_tail(second, key.second)) [[likely]] {
        found f = named(second);
        f.is = true;  // an empty place has nobody's tail
        return f;
      }
      if (second == nobody && !l.passed()) [[likely]] return {};
      return named(further(key.first, key.second, at));
    } else {
      return named(further(tuple, key, at));
    }
  }

  // out[i] = find(tuples[i], hashes[i]) for i below `n`: all lines are asked for before the first is read. More than `batch`
  // at a time lose what they gain.
  template <tuple_type Tuple>
  void find_batch(const Tuple* tuples, const u32* hashes, usize n, found* out) const noexcept {
    for (usize i = 0; i < n; ++i) prefetch(hashes[i]);
    for (usize i = 0; i < n; ++i) out[i] = find(tuples[i], hashes[i]);
  }
  // Asks for the line that `find` would read first with this hash.
  void prefetch(u32 hash) const noexcept { __builtin_prefetch(lines_.data + home(hash)); }

  // Any index below `capacity()`, free or not. `revision`, `which` and a change of `state` to or from `free` are this
  // table's business; the rest is the caller's.
  [[nodiscard]] record& operator[](u32 index) noexcept { return records_[index]; }
  [[nodiscard]] const record& operator[](u32 index) const noexcept { return records_[index]; }

  // Of an index that is not free and whose family is Tuple's.
  template <tuple_type Tuple>
  [[nodiscard]] tuple_pair<Tuple> tuples_of(u32 index) const noexcept {
    if constexpr (is_same<Tuple, tuple4>) {
      return {tuple_in(place_at(where_[index][0])), tuple_in(place_at(where_[index][1]))};
    } else {
      return pairs6_[index];
    }
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
  static constexpr u32 places_a_line = 2;
  static constexpr u32 name_at = 42;             // bits below the name in a second word
  static constexpr u64 passed_bit = u64{1} << 41;  // in a line's last place
  static constexpr u64 nobody = u64{1} << 40;    // an empty place: no IPv4 tuple's tail, since these have the family's bit clear

  // Whether two second words are of the same ports, protocol and family.
  [[nodiscard]] static bool same_tail(u64 a, u64 b) noexcept { return ((a ^ b) << (64 - 41)) == 0; }
  // index + 1 and direction; 0: of nobody
  [[nodiscard]] static u32 name_in(u64 second) noexcept { return static_cast<u32>(second >> name_at); }
  [[nodiscard]] static found named(u64 second) noexcept {
    const u32 name = name_in(second);
    found f;
    f.index = (name >> 1) - 1;
    f.direction = name & 1;
    f.is = name != 0;
    return f;
  }

  struct place {
    u64 first = 0;
    u64 second = nobody;

    [[nodiscard]] bool holds(const place& key) const noexcept {
      return first == key.first && same_tail(second, key.second);
    }
    [[nodiscard]] bool empty() const noexcept { return name_in(second) == 0; }
    [[nodiscard]] u32 index() const noexcept { return (name_in(second) >> 1) - 1; }
    [[nodiscard]] u8 direction() const noexcept { return name_in(second) & 1; }
    // The same for index and direction, without their tuple.
    [[nodiscard]] static u64 name_of(u32 index, u32 direction) noexcept {
      return u64{(index + 1) * 2 + direction} << name_at;
    }
  };
  // `yes` or `no`, by a conditional move. Both compilers would rather guess, unless they are kept from seeing where the values
  // come from. The empty statement is no instruction on any architecture.
  [[nodiscard, gnu::always_inline]] static u64 unguessed(bool choice, u64 yes, u64 no) noexcept {
    asm("" : "+r"(yes));
    u64 taken = choice ? yes : no;
    asm("" : "+r"(taken));
    return taken;
  }
  struct alignas(32) line {
    array<place, places_a_line> places{};

    [[nodiscard]] bool full() const noexcept { return !places[1].empty(); }
    // Whether somebody may stand behind this line for want of room in it. Only a full line is.
    [[nodiscard]] bool passed() const noexcept { return (places[1].second & passed_bit) != 0; }
    // The second word of the first place with that first word; `nobody`: none.
    [[nodiscard]] u64 beside(u64 first) const noexcept {
      const u64 second = unguessed(places[1].first == first, places[1].second, nobody);
      return unguessed(places[0].first == first, places[0].second, second);
    }
  };
  static_assert(sizeof(line) == 32);

  // What a table without memory looks into: never written.
  [[nodiscard]] static span<line> no_lines() noexcept {
    static constexpr line nobody_stands_here{};
    return {const_cast<line*>(&nobody_stands_here), 0};
  }

  // A place without its name.
  template <tuple_type Tuple>
  [[nodiscard]] static place key_of(const Tuple& t, u32 hash) noexcept {
    const u64 second = t.ports | (u64{static_cast<u32>(t.proto)} << 32) | (u64{static_cast<u32>(Tuple::which)} << 40);
    if constexpr (is_same<Tuple, tuple4>) {
      return {t.source | (u64{t.destination} << 32), second};
    } else {
      return {hash, second};
    }
  }
  [[nodiscard]] static tuple4 tuple_in(const place& p) noexcept {
    return tuple4::make(static_cast<u32>(p.first), static_cast<u32>(p.first >> 32), static_cast<u32>(p.second),
                        static_cast<protocol>((p.second >> 32) & 0xff));
  }

  // Out of line: a make takes longer than a call.
  template <tuple_type Tuple>
  [[nodiscard, gnu::noinline]] bool is_held(const Tuple& tuple, u32 hash) const noexcept {
    return find(tuple, hash).is;
  }
  // From line `at` on, place by place: the second word of the tuple's place, or `nobody`.
  [[nodiscard, gnu::noinline]] u64 further(u64 first, u64 second, u32 at) const noexcept {
    for (;; at = after(at)) {
      const line& l = lines_.data[at];
      for (const place& p : l.places)
        if (p.holds({first, second})) return p.second;
      if (!l.passed()) return nobody;
    }
  }
  [[nodiscard, gnu::noinline]] u64 further(const tuple6& tuple, const place& key, u32 at) const noexcept {
    for (;; at = after(at)) {
      const line& l = lines_.data[at];
      for (const place& p : l.places)
        if (p.holds(key) && !p.empty() && pairs6_[p.index()][p.direction()] == tuple) return p.second;
      if (!l.passed()) return nobody;
    }
  }

  // Of the tuples one in twenty finds its line full then.
  [[nodiscard]] static constexpr usize lines_for(u32 capacity) noexcept { return usize{capacity} * 3; }
  [[nodiscard]] u32 home(u32 hash) const noexcept { return static_cast<u32>((u64{hash} * lines_.size) >> 32); }
  [[nodiscard]] u32 after(u32 at) const noexcept { return at + 1 == lines_.size ? 0 : at + 1; }
  // Lines from one to another, around the end.
  [[nodiscard]] u32 distance(u32 from, u32 to) const noexcept {
    return to >= from ? to - from : to + static_cast<u32>(lines_.size) - from;
  }
  [[nodiscard]] place& place_at(u32 where) const noexcept {
    return lines_[where / places_a_line].places[where % places_a_line];
  }
  // Whether its line was passed stays with the place.
  void put(u32 where, const place& p) noexcept {
    place& to = place_at(where);
    to = {p.first, (p.second & ~passed_bit) | (to.second & passed_bit)};
    where_[p.index()][p.direction()] = where;
  }

  OCTEP_SELDOM [[gnu::noinline]] u32 take(const array<place, 2>& keys, const array<u32, 2>& hashes, family which,
                             protocol proto) noexcept {
    const u32 index = first_free_;
    first_free_ = where_[index][0];
    if (first_free_ == none) last_free_ = none;
    ++held_;

    record& r = records_[index];
    const u16 last = r.revision;
    r = record{};
    r.revision = next_revision(last);
    r.state = record_state::making;
    r.which = which;
    r.proto = proto;
    hashes_[index] = hashes;
    // Most places are empty, so every search for one ends.
    for (u32 direction = 0; direction < 2; ++direction) {
      u32 at = home(hashes[direction]);
      for (; lines_[at].full(); at = after(at)) lines_[at].places[1].second |= passed_bit;
      const u32 where = at * places_a_line + !lines_[at].places[0].empty();
      put(where, {keys[direction].first, keys[direction].second | place::name_of(index, direction)});
    }
    return index;
  }

  // Whoever stands behind a full line for want of room may take a place that becomes free in it; so may whoever stands
  // behind him. What is free at last is the last place in use of its line, which nobody has passed then.
  OCTEP_SELDOM void erase(u32 hole) noexcept {
    for (u32 at = hole / places_a_line; lines_[at].full();) {
      const u32 next = next_to_move(at);
      if (next == none) break;
      put(hole, place_at(next));
      hole = next;
      at = hole / places_a_line;
    }
    line& l = lines_[hole / places_a_line];
    if (hole % places_a_line == 0 && l.full()) put(hole++, l.places[1]);
    place_at(hole) = place{};
  }
  // The nearest place behind line `at` whose tuple would stand in `at` or before it if there were room; `none`: nobody.
  [[nodiscard]] u32 next_to_move(u32 at) const noexcept {
    for (u32 from = after(at);; from = after(from)) {
      for (u32 where = from * places_a_line; where < (from + 1) * places_a_line; ++where) {
        const place& p = place_at(where);
        if (p.empty()) return none;
        const u32 from_home = distance(home(hashes_[p.index()][p.direction()]), from);
        if (from_home >= distance(at, from)) return where;
      }
    }
  }

  span<record> records_;
  span<tuple_pair<tuple6>> pairs6_;  // empty: no IPv6
  span<array<u32, 2>> hashes_;
  span<array<u32, 2>> where_;  // the two places, line x places_a_line + place; of a free index: [0] the one freed after it, or `none`
  span<line> lines_ = no_lines();
  u32 first_free_ = none;
  u32 last_free_ = none;
  u32 held_ = 0;
};

}  // namespace octep

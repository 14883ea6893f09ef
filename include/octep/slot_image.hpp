// One slot of the candidate table: its places, and all that its word guards.
//
// Floor 3.
//
//   glance      bits 0-15 unread, by place | bit 16 a place is kept, which a poll has to end
//               (with the word: slot_word.hpp; every function below takes it from its holder and changes it)
//   ranks       written | refused | kept (a set of places each) | next | hand | draw
//   tags        low byte of the hash, then its second byte, a column each
//   seen        of places 0 to 7, the low byte of their frames when the clock's hand came by
//   place       tuple words but the last two | ports | state | identity | where | association | tick
//   state       bits 0-7 protocol, 0: empty | 8-29 frames, stays at its largest | 30 due | 31 closing
//
// What it is: a tag a place to find a tuple by, and a record a place: what a frame changes lies in one cache line beside
// the one that holds the tags. A type of its own so that the choice can be asked of a slot that stands in no table (the C
// border, the tests): fill it with `admit` and `mark_read`, then ask `choose_in`.
// What it refuses: locking, hashing, counting.
// What that buys: a frame of a tuple that the slot holds costs a comparison of sixteen bytes, one of a tuple, and four
// stores.
// Concurrency: the holder of the slot's word, or the owner of a slot that stands in no table.
#pragma once

#include <octep/base.hpp>
#include <octep/choice.hpp>
#include <octep/identity.hpp>
#include <octep/slot_word.hpp>
#include <octep/tags.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

// One punted frame, as the receive path hands it over.
struct arrival {
  identity who;
  ingress where;
  association_word association;
  bool closing = false;  // FIN or RST
  tick at;
};

// The same as a place keeps it, so that it travels in registers.
struct packed_arrival {
  u64 identity_where;
  u64 association_tick;
  bool closing;

  constexpr explicit packed_arrival(const arrival& a) noexcept
      : identity_where{a.who.word | u64{a.where.word()} << 32},
        association_tick{a.association.word | u64{a.at.ms} << 32},
        closing{a.closing} {}

  [[nodiscard]] constexpr tick at() const noexcept { return {static_cast<u32>(association_tick >> 32)}; }
};

// One place, copied out.
template <tuple_type Tuple>
struct candidate {
  Tuple tuple;
  identity who;  // of its last frame, as are the next three
  ingress where;
  association_word association;
  tick at;
  u32 count = 0;         // frames since the tuple came to the place or its count was restarted
  bool closing = false;  // a frame closed it since a reader took it last; once taken, whether its last frames did
  bool due = false;      // a make is asked for before the next poll
  bool read = false;     // a pass has taken it since its last frame

  [[nodiscard]] constexpr bool operator==(const candidate&) const noexcept = default;
};

// What became of a frame and of what stood in its place. The names are those of the counters they move.
// Bytes and not bits: nobody who asks for one of them puts the others together first.
struct write_outcome {
  bool clash = false;         // the word was taken: no candidate, nothing else is set
  bool lost = false;          // an unread candidate was overwritten, its own tuple's too
  bool evicted = false;       // ... another tuple's
  bool evicted_read = false;  // a read candidate of another tuple was overwritten
  bool due = false;           // this frame made the candidate due: kick

  // The same in one register, for who tells nearly every frame's from the others by one comparison: bit i is member i.
  static constexpr u32 lost_alone = 2;
  static constexpr u32 due_too = 16;
  [[nodiscard, gnu::always_inline]] constexpr u32 bits() const noexcept {
    return u32{clash} | u32{lost} << 1 | u32{evicted} << 2 | u32{evicted_read} << 3 | u32{due} << 4;
  }
  [[nodiscard, gnu::always_inline]] static constexpr write_outcome from_bits(u32 b) noexcept {
    return {(b & 1) != 0, (b & 2) != 0, (b & 4) != 0, (b & 8) != 0, (b & 16) != 0};
  }

  [[nodiscard]] constexpr bool operator==(const write_outcome&) const noexcept = default;
};

// What a discard emptied, for whoever balances the books.
struct emptied {
  u32 unread = 0;
  u32 read = 0;
};

namespace glances {
inline constexpr u32 unread = 0xffff;
inline constexpr u32 keeps = u32{1} << 16;
}  // namespace glances

// `Ranked`: whether the policy remembers ranks (choice.hpp).
template <tuple_type Tuple, u32 Places, bool Ranked, tag_policy Tags = scalar_tags, atomics_policy A = builtin_atomics>
class slot_image {
 public:
  static constexpr u32 places = Places;
  static constexpr u32 most_frames = (u32{1} << 22) - 1;

 private:
  static constexpr u32 key_words = Tuple::words / 2 - 1;
  static constexpr u32 frames_shift = 40;
  static constexpr u32 closing_shift = 63;
  static constexpr u64 one_frame = u64{1} << frames_shift;
  static constexpr u64 frames_mask = u64{most_frames} << frames_shift;
  static constexpr u64 due_bit = u64{1} << 62;
  static constexpr u64 closing_bit = u64{1} << closing_shift;

  [[nodiscard]] static constexpr u64 key_of(const Tuple& t, u32 w) noexcept {
    return t.word(2 * w) | u64{t.word(2 * w + 1)} << 32;
  }
  [[nodiscard]] static constexpr u64 blank_state(const Tuple& t) noexcept {
    return t.ports | u64{static_cast<u32>(t.proto)} << 32;
  }
  [[nodiscard]] static constexpr u32 frames_of(u64 state) noexcept {
    return static_cast<u32>(state >> frames_shift) & most_frames;
  }

 public:
  class row {
   public:
    // An empty place holds nobody: its protocol is none.
    [[nodiscard, gnu::always_inline]] bool holds(const Tuple& t) const noexcept {
      u64 different = (ports_state ^ blank_state(t)) << (64 - frames_shift);
      for (u32 w = 0; w < key_words; ++w) different |= key[w] ^ key_of(t, w);
      return different == 0;
    }
    [[gnu::always_inline]] void stamp(const packed_arrival& frame, u64 to_state) noexcept {
      ports_state = to_state;
      identity_where = frame.identity_where;
      association_tick = frame.association_tick;
    }

   private:
    friend slot_image;
    guarded<u64, A> key[key_words] = {};
    guarded<u64, A> ports_state = {};
    guarded<u64, A> identity_where = {};
    guarded<u64, A> association_tick = {};
  };

  // A slot as a newcomer of `now` meets it.
  class view {
   public:
    static constexpr u32 places = Places;
    view(slot_image& slot, u32& glance, tick now) noexcept : slot_{slot}, glance_{glance}, now_{now} {}

    [[nodiscard]] place_set written() const noexcept { return slot_.written(); }
    [[nodiscard]] place_set unread() const noexcept { return glance_ & glances::unread; }
    [[nodiscard]] u32 age(u32 place) const noexcept { return slot_.at(place).age(now_); }
    [[nodiscard]] place_set refused() const noexcept { return slot_.refused_; }
    [[nodiscard]] place_set kept() const noexcept { return slot_.kept_; }
    [[nodiscard]] bool again(u32 place) const noexcept { return slot_.frames_byte(place) != slot_.seen_byte(place); }
    // Mixed before it is multiplied: a product alone leaves a hash of zeros, and those that end in many, with the worst
    // ticket of every poll. The factor is ours, odd; no two hashes have one ticket.
    [[nodiscard]] u32 ticket(u32 place) const noexcept { return (slot_.hash_bits(place) ^ slot_.draw_) * 0x9e37'79b9U; }
    [[nodiscard]] u32 next() const noexcept { return slot_.next_; }
    [[nodiscard]] u32 hand() const noexcept { return slot_.hand_; }
    void forget_again(u32 place) noexcept { slot_.set_seen(place, slot_.frames_byte(place)); }
    void set_next(u32 place) noexcept { slot_.next_ = static_cast<u8>(place); }
    void set_hand(u32 place) noexcept { slot_.hand_ = static_cast<u8>(place); }

   private:
    slot_image& slot_;
    u32& glance_;
    const tick now_;
  };

  [[nodiscard]] place_set written() const noexcept { return written_; }
  [[nodiscard]] place_set refused() const noexcept { return refused_; }
  [[nodiscard]] place_set kept() const noexcept { return kept_; }
  [[nodiscard]] tick at(u32 place) const noexcept { return {static_cast<u32>(place_[place].association_tick >> 32)}; }

  // Marks of places whose tag is the tuple's (tags.hpp). `hashed`: the tuple's, by the policy that it was written with.
  // Asked without the word too, as a guess (candidates::write): relaxed is enough, since the holder of the word believes no
  // tag but compares the tuple.
  [[nodiscard, gnu::always_inline]] u64 alike(u32 hashed) const noexcept {
    const u64 low = tags_[0].load_relaxed();
    const u64 high = Places > 8 ? tags_[1].load_relaxed() : low;
    return Tags::template alike<Places>(low, high, static_cast<u8>(hashed));
  }
  // A place that holds a tuple, found: what is done next is done to its record and to its bit of the glance.
  struct seat {
    row* at;  // null: nobody holds the tuple
    u32 place;
  };
  // Of the marked places the one that holds `t`.
  [[nodiscard, gnu::always_inline]] seat seat_among(u64 marks, const Tuple& t) noexcept {
    for (; marks != 0; marks &= marks - 1) {
      const u32 place = Tags::first_place(marks);
      row* const at = place_ + place;
      if (at->holds(t)) [[likely]]
        return {at, place};
    }
    return {nullptr, places};
  }
  [[nodiscard, gnu::noinline]] seat seat_of(const Tuple& t, u32 hashed) noexcept { return seat_among(alike(hashed), t); }
  // The place that holds `t`, or `places`.
  [[nodiscard]] u32 place_of(const Tuple& t, u32 hashed) noexcept { return seat_of(t, hashed).place; }

  // A frame of the tuple that the seat holds. `log2`: due at that power of two of frames and at each doubling. What became
  // of it, by `write_outcome::bits`.
  [[nodiscard, gnu::always_inline]] u32 renew(const seat& holder, const Tuple& t, const packed_arrival& frame, u32 log2,
                                              u32& glance) noexcept {
    u32 said = 0;
    const place_set bit = only(holder.place);
    u64 state = holder.at->ports_state;
    if ((glance & bit) != 0) [[likely]]
      said = write_outcome::lost_alone;
    else
      // What no pass has seen stays to be seen; a mark that was taken is the past's.
      state &= ~(closing_bit | due_bit);
    state += one_frame;
    if ((state & (state - one_frame) & frames_mask) == 0) [[unlikely]] {
      // A power of two, or 0: one more than can be counted, carried into the marks.
      const u32 frames = frames_of(state);
      if (frames == 0) state -= one_frame;
      if (wants_make(t.proto, frame.closing, frames, log2) || (awaited(bit, frames) && !frame.closing)) {
        said |= write_outcome::due_too;
        state |= due_bit;
      }
    }
    holder.at->stamp(frame, state | u64{frame.closing} << closing_shift);
    glance |= bit;
    return said;
  }

  // A frame of a tuple that the slot does not hold, over whatever stands in the place.
  [[nodiscard, gnu::noinline]] write_outcome admit(u32 place, const Tuple& t, u32 hashed, const packed_arrival& frame,
                                                   u32 log2, u32& glance) noexcept {
    const bool was_written = ((written() >> place) & 1) != 0;
    const bool was_unread = ((glance >> place) & 1) != 0;
    const bool asks = wants_make(t.proto, frame.closing, 1, log2);
    name(place, t, hashed);
    place_[place].stamp(frame, blank_state(t) | one_frame | (frame.closing ? closing_bit : 0) | (asks ? due_bit : 0));
    glance |= only(place);
    write_outcome outcome;
    outcome.lost = was_unread;
    outcome.evicted = was_unread;
    outcome.evicted_read = was_written && !was_unread;
    outcome.due = asks;
    return outcome;
  }

  // A newcomer where the policy puts it: what makes room may move over a third first, which is then what is lost.
  [[nodiscard]] write_outcome admit(const placement& where, const Tuple& t, u32 hashed, const packed_arrival& frame,
                                    u32 log2, u32& glance) noexcept {
    if (where.moves_to == placement::nowhere) return admit(where.place, t, hashed, frame, log2, glance);
    const bool was_unread = ((glance >> where.moves_to) & 1) != 0;
    move(where.place, where.moves_to, glance);
    write_outcome outcome = admit(where.place, t, hashed, frame, log2, glance);
    outcome.lost = was_unread;
    outcome.evicted = was_unread;
    outcome.evicted_read = !was_unread;
    return outcome;
  }

  // A tuple that no frame brought: no identity, no frames, read. Its first frame is due.
  void expect(u32 place, const Tuple& t, u32 hashed, tick now, u32& glance) noexcept {
    name(place, t, hashed);
    place_[place].stamp(packed_arrival{arrival{{}, {}, {}, false, now}}, blank_state(t));
    glance &= ~only(place);
  }

  [[gnu::noinline]] void copy_out(u32 place, u32 glance, candidate<Tuple>& out) const noexcept {
    const row& from = place_[place];
    u32 words[Tuple::words];
    for (u32 w = 0; w < key_words; ++w) {
      const u64 two = from.key[w];
      words[2 * w] = static_cast<u32>(two);
      words[2 * w + 1] = static_cast<u32>(two >> 32);
    }
    const u64 state = from.ports_state;
    words[Tuple::words - 2] = static_cast<u32>(state);
    words[Tuple::words - 1] = static_cast<u32>(state >> 32) & 0xff;
    out.tuple = Tuple::from_words(words);
    const u64 identity_where = from.identity_where;
    out.who = {static_cast<u32>(identity_where)};
    out.where = ingress::from_word(static_cast<u32>(identity_where >> 32));
    const u64 association_tick = from.association_tick;
    out.association = {static_cast<u32>(association_tick)};
    out.at = {static_cast<u32>(association_tick >> 32)};
    out.count = frames_of(state);
    out.closing = (state & closing_bit) != 0;
    out.due = (state & due_bit) != 0;
    out.read = ((glance >> place) & 1) == 0;
  }

  // The closing mark stays to be found until the next frame; `renew` lets it go then.
  void mark_read(u32 place, u32& glance) noexcept {
    place_[place].ports_state = place_[place].ports_state & ~due_bit;
    glance &= ~only(place);
  }
  // Whatever was asked for before is no longer asked for.
  void recount(u32 place, u32 frames) noexcept {
    const u64 rest = place_[place].ports_state & ~(due_bit | frames_mask);
    place_[place].ports_state = rest | u64{least(frames, most_frames)} << frames_shift;
  }

  void set_refused(u32 place, bool to) noexcept { set(refused_, place, to); }
  void keep(u32 place, u32& glance) noexcept {
    set(kept_, place, true);
    glance |= glances::keeps;
  }
  void end_keeping(u32& glance) noexcept {
    kept_ = 0;
    glance &= ~glances::keeps;
  }
  void set_draw(u32 secret) noexcept { draw_ = secret; }

  [[nodiscard, gnu::noinline]] emptied empty(u32& glance) noexcept {
    emptied gone;
    gone.unread = size_of(glance & glances::unread);
    gone.read = size_of(written()) - gone.unread;
    for (u32 i = 0; i < places; ++i) place_[i].ports_state = 0;
    written_ = 0;
    refused_ = 0;
    kept_ = 0;
    glance = 0;
    return gone;
  }

  void clamp_ages(tick now) noexcept {
    for (u32 i = 0; i < places; ++i)
      if (at(i).age(now) > tick::oldest_age)
        place_[i].association_tick =
            (place_[i].association_tick & 0xffff'ffffU) | u64{now.ms - tick::oldest_age} << 32;
  }

 private:
  // system.md 4, step 5.
  [[nodiscard]] static constexpr bool wants_make(protocol proto, bool closing, u32 frames, u32 log2) noexcept {
    return is_power_of_two(frames) && (frames >> log2) != 0 && !closing && !is_echo(proto);
  }
  // The first frame of a tuple that was only expected.
  [[nodiscard]] bool awaited(place_set bit, u32 frames) const noexcept {
    return Ranked && frames == 1 && (kept_ & bit) != 0;
  }
  [[gnu::noinline]] void name(u32 place, const Tuple& t, u32 hashed) noexcept {
    for (u32 w = 0; w < key_words; ++w) place_[place].key[w] = key_of(t, w);
    set_tag(place, hashed);
    written_ = static_cast<u16>(written_ | only(place));
    if constexpr (Ranked) {
      const auto rest = static_cast<u16>(~only(place));
      refused_ = refused_ & rest;
      kept_ = kept_ & rest;
      set_seen(place, 1);
    }
  }

  void move(u32 from, u32 to, u32& glance) noexcept {
    for (u32 w = 0; w < key_words; ++w) place_[to].key[w] = place_[from].key[w];
    place_[to].ports_state = place_[from].ports_state;
    place_[to].identity_where = place_[from].identity_where;
    place_[to].association_tick = place_[from].association_tick;
    set_tag(to, hash_bits(from));
    set(refused_, to, ((refused_ >> from) & 1) != 0);
    glance = (glance & ~only(to)) | ((glance >> from) & 1) << to;
  }

  void set_tag(u32 place, u32 hashed) noexcept {
    auto& tags = tags_[place / 8];
    tags.store_relaxed(with_byte(tags.load_relaxed(), place % 8, hashed & 0xff));  // relaxed: see alike
    if constexpr (Ranked) more_tags_[place / 8] = with_byte(more_tags_[place / 8], place % 8, (hashed >> 8) & 0xff);
  }
  [[nodiscard]] static constexpr u64 with_byte(u64 word, u32 i, u64 to) noexcept {
    return (word & ~(u64{0xff} << (8 * i))) | to << (8 * i);
  }
  [[nodiscard]] u32 hash_bits(u32 place) const noexcept {
    const u32 shift = 8 * (place % 8);
    return static_cast<u32>((tags_[place / 8].load_relaxed() >> shift) & 0xff) |
           static_cast<u32>((more_tags_[place / 8] >> shift) & 0xff) << 8;
  }
  [[nodiscard]] u32 frames_byte(u32 place) const noexcept { return frames_of(place_[place].ports_state) & 0xff; }
  [[nodiscard]] u32 seen_byte(u32 place) const noexcept { return static_cast<u32>(seen_ >> (8 * (place % 8))) & 0xff; }
  void set_seen(u32 place, u32 to) noexcept {
    if (place < 8) seen_ = with_byte(seen_, place, to);
  }
  static void set(guarded<u16, A>& some, u32 place, bool to) noexcept {
    some = static_cast<u16>((some & ~only(place)) | u32{to} << place);
  }

  guarded<u16, A> written_ = {};
  guarded<u16, A> refused_ = {};
  guarded<u16, A> kept_ = {};
  guarded<u8, A> next_ = {};
  guarded<u8, A> hand_ = {};
  guarded<u32, A> draw_ = {};  // what makes tickets of hashes until the walk comes again
  typename A::template cell<u64> tags_[2];  // written under the word, read by anybody
  guarded<u64, A> more_tags_[2] = {};
  guarded<u64, A> seen_ = {};
  // Behind a word the places begin with a cache line: none of IPv4 straddles two.
  row place_[Places] = {};
};

// The choice on a given slot, as `candidates::write` makes it under the word.
template <class Choice, tuple_type Tuple, u32 Places, bool Ranked, class Tags, class A>
[[nodiscard]] chosen choose_in(slot_image<Tuple, Places, Ranked, Tags, A>& slot, u32& glance, const Tuple& t, u32 hashed,
                               tick now) noexcept {
  typename slot_image<Tuple, Places, Ranked, Tags, A>::view seen{slot, glance, now};
  return choose_place<Choice>(seen, slot.place_of(t, hashed));
}

}  // namespace octep

// The candidate table: what the host remembers of punted frames, by tuple.
//
// Floor 3.
//
//   slot        word | unread set | written set | columns, each of `places` 32-bit words:
//               tuple words (4 or 10) | state | tick | identity | where | association
//   state word  bits 0-27 frames, stays at its largest | 28 and 29 zero | 30 due | 31 closing
//
// What it is: slots of places, one word a slot (system.md 4). The receive path writes; passes take, find, restart,
// discard.
// What it refuses: waiting (a held word is a clash for a frame, `busy` for a pass), allocating, hashing (the caller
// names the slot), kicking (the caller kicks after `write` returned, when the word is free).
// What that buys: a write is one compare-and-swap, a compare of a few columns, a few stores and one release; and the
// accounting is exact whatever the interleaving:
//     writes without clash = taken + lost + unread when emptied + unread now
// with `evicted` the part of `lost` that was another tuple's, and `evicted_read` outside of it.
// Concurrency: `write` by any ring; the rest by whoever holds the pass lock. Nobody holds two words. Every call is made
// inside a critical section (slot_word.hpp); functors that are passed in run under a word: short, never into the table.
#pragma once

#include <octep/atomic.hpp>
#include <octep/base.hpp>
#include <octep/choice.hpp>
#include <octep/identity.hpp>
#include <octep/slot_word.hpp>
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
// One byte, so that it travels in a register.
struct write_outcome {
  bool clash : 1 = false;         // the word was taken: no candidate, nothing else is set
  bool lost : 1 = false;          // an unread candidate was overwritten, its own tuple's too
  bool evicted : 1 = false;       // ... another tuple's
  bool evicted_read : 1 = false;  // a read candidate of another tuple was overwritten
  bool due : 1 = false;           // this frame made the candidate due: kick

  [[nodiscard]] constexpr bool operator==(const write_outcome&) const noexcept = default;
};

// What a discard emptied, for whoever balances the books.
struct emptied {
  u32 unread = 0;
  u32 read = 0;
};

namespace detail {
template <bool Wide>
struct mask_of {
  using type = u32;
};
template <>
struct mask_of<true> {
  using type = u64;
};
}  // namespace detail

// The columns of one slot: all that its word guards. A type of its own so that the choice can be asked of a slot that
// stands in no table (the C border, the tests): fill it with `admit` and `mark_read`, then ask `choose_in`.
template <tuple_type Tuple, u32 Places, atomics_policy A = builtin_atomics>
class slot_image {
 public:
  static constexpr u32 places = Places;
  static constexpr u32 most_frames = (u32{1} << 28) - 1;

  // A place as a frame of `t` at `now` meets it.
  class view {
   public:
    static constexpr u32 places = Places;
    view(const slot_image& slot, const Tuple& t, tick now) noexcept : slot_{slot}, tuple_{t}, now_{now} {}

    [[nodiscard]] u32 same() const noexcept { return slot_.place_of(tuple_); }
    [[nodiscard]] place_set written() const noexcept { return slot_.written(); }
    [[nodiscard]] place_set unread() const noexcept { return slot_.unread(); }
    [[nodiscard]] u32 age(u32 place) const noexcept { return slot_.at(place).age(now_); }

   private:
    const slot_image& slot_;
    const Tuple& tuple_;
    const tick now_;
  };

  [[nodiscard]] place_set written() const noexcept { return static_cast<mask>(written_); }
  // Relaxed: the word orders it for holders; for the one reader without it see perhaps_unread.
  [[nodiscard]] place_set unread() const noexcept { return unread_.load_relaxed(); }
  [[nodiscard]] bool written(u32 place) const noexcept { return ((written() >> place) & 1U) != 0; }
  [[nodiscard]] bool unread(u32 place) const noexcept { return ((unread() >> place) & 1U) != 0; }
  [[nodiscard]] tick at(u32 place) const noexcept { return {at_[place]}; }

  // The first place that holds `t`, or `places`. The port words, which differ most often between the tuples of a slot,
  // are compared in all places without a branch: where a tuple stands is what a processor cannot foresee.
  [[nodiscard, gnu::always_inline]] u32 place_of(const Tuple& t) const noexcept {
    constexpr u32 ports = Tuple::words - 2;
    mask alike = 0;
#pragma GCC unroll 16
    for (u32 i = 0; i < places; ++i) alike |= static_cast<mask>(key_[ports][i] == t.word(ports)) << i;
    alike &= static_cast<mask>(written_);
    if (alike == 0) return places;
    const u32 i = first_of(alike);
    if (holds_but_ports(i, t)) [[likely]]
      return i;
    return place_among(alike & (alike - 1), t);
  }

  // True: some place MAY be unread. Read without the word by passes. Relaxed is enough: nothing is read through it
  // without the word. A run that was kicked sees the mask, since the writer set it before its kick and the worker took
  // the kick before it looks; a poll that misses a frame of this moment meets it a poll later.
  [[nodiscard]] bool perhaps_unread() const noexcept { return unread() != 0; }

  // The rest is the holder's.

  // A frame of the tuple that the place holds. `log2`: due at that power of two of frames and at each doubling.
  [[nodiscard, gnu::always_inline]] write_outcome renew(u32 place, const Tuple& t, const arrival& frame,
                                                        u32 log2) noexcept {
    const bool was_unread = unread(place);
    // What no pass has seen stays to be seen; a mark that was taken is the past's.
    const u32 kept = was_unread ? most_frames | closing_bit | due_bit : most_frames;
    u32 state = (state_[place] & kept) + 1;
    const u32 frames = state & most_frames;
    bool asks = false;
    if ((frames & (frames - 1)) == 0) [[unlikely]] {
      // A power of two, or 0: one more than can be counted, carried into bit 28.
      state -= frames == 0 ? 1U : 0U;
      asks = wants_make(t.proto, frame.closing, frames, log2);
    }
    stamp(place, frame, state | marks(frame.closing, asks));
    write_outcome outcome;
    outcome.lost = was_unread;
    outcome.due = asks;
    return outcome;
  }

  // A frame of a tuple that the slot does not hold, over whatever stands in the place.
  [[nodiscard, gnu::always_inline]] write_outcome admit(u32 place, const Tuple& t, const arrival& frame,
                                                        u32 log2) noexcept {
    const bool was_written = written(place);
    const bool was_unread = unread(place);
    const bool asks = wants_make(t.proto, frame.closing, 1, log2);
    for (u32 w = 0; w < Tuple::words; ++w) key_[w][place] = t.word(w);
    written_ = static_cast<mask>(written() | (place_set{1} << place));
    stamp(place, frame, 1U | marks(frame.closing, asks));
    write_outcome outcome;
    outcome.lost = was_unread;
    outcome.evicted = was_unread;
    outcome.evicted_read = was_written && !was_unread;
    outcome.due = asks;
    return outcome;
  }

  void copy_out(u32 place, candidate<Tuple>& out) const noexcept {
    u32 words[Tuple::words];
    for (u32 w = 0; w < Tuple::words; ++w) words[w] = key_[w][place];
    const u32 state = state_[place];
    out.tuple = Tuple::from_words(words);
    out.who = {who_[place]};
    out.where = ingress::from_word(where_[place]);
    out.association = {association_[place]};
    out.at = at(place);
    out.count = state & most_frames;
    out.closing = (state & closing_bit) != 0;
    out.due = (state & due_bit) != 0;
    out.read = !unread(place);
  }

  // The closing mark stays to be found until the next frame; `put` lets it go then.
  void mark_read(u32 place) noexcept {
    state_[place] = state_[place] & ~due_bit;
    set_unread(unread() & ~(place_set{1} << place));
  }
  // Whatever was asked for before is no longer asked for.
  void recount(u32 place, u32 frames) noexcept {
    state_[place] = (state_[place] & ~(due_bit | most_frames)) | least(frames, most_frames);
  }

  [[nodiscard]] emptied empty() noexcept {
    emptied gone;
    gone.unread = size_of(unread());
    gone.read = size_of(written()) - gone.unread;
    written_ = 0;
    set_unread(0);
    return gone;
  }

  void clamp_ages(tick now) noexcept {
    for (u32 i = 0; i < places; ++i)
      if (at(i).age(now) > tick::oldest_age) at_[i] = now.ms - tick::oldest_age;
  }

 private:
  using mask = typename detail::mask_of<(Places > 32)>::type;
  using column = guarded<u32, A>[Places];

  static constexpr u32 due_bit = u32{1} << 30;
  static constexpr u32 closing_bit = u32{1} << 31;

  [[nodiscard]] bool holds_but_ports(u32 place, const Tuple& t) const noexcept {
    u32 different = 0;
    for (u32 w = 0; w < Tuple::words; ++w)
      if (w != Tuple::words - 2) different |= key_[w][place] ^ t.word(w);
    return different == 0;
  }

  // Two tuples of one slot with the same two ports: seldom, and kept out of the way.
  [[nodiscard, gnu::noinline]] u32 place_among(mask alike, const Tuple& t) const noexcept {
    for (; alike != 0; alike &= alike - 1)
      if (holds_but_ports(first_of(alike), t)) return first_of(alike);
    return places;
  }

  // Relaxed: see `unread`.
  void set_unread(place_set to) noexcept { unread_.store_relaxed(static_cast<mask>(to)); }

  // system.md 4, step 5.
  [[nodiscard]] static constexpr bool wants_make(protocol proto, bool closing, u32 frames, u32 log2) noexcept {
    return is_power_of_two(frames) && (frames >> log2) != 0 && !closing && !is_echo(proto);
  }
  [[nodiscard]] static constexpr u32 marks(bool closing, bool due) noexcept {
    return (closing ? closing_bit : 0U) | (due ? due_bit : 0U);
  }

  [[gnu::always_inline]] void stamp(u32 place, const arrival& frame, u32 state) noexcept {
    state_[place] = state;
    at_[place] = frame.at.ms;
    who_[place] = frame.who.word;
    where_[place] = frame.where.word();
    association_[place] = frame.association.word;
    set_unread(unread() | (place_set{1} << place));
  }

  typename A::template cell<mask> unread_;  // no pass has taken it since its last frame
  guarded<mask, A> written_ = {};           // what is not in it is empty, whatever its columns say
  column key_[Tuple::words] = {};
  column state_ = {};
  column at_ = {};
  column who_ = {};
  column where_ = {};
  column association_ = {};
};

// The choice on a given slot, as `candidates::write` makes it under the word.
template <class Choice, tuple_type Tuple, u32 Places, atomics_policy A>
[[nodiscard]] chosen choose_in(const slot_image<Tuple, Places, A>& slot, const Tuple& t, tick now) noexcept {
  return choose_place<Choice>(typename slot_image<Tuple, Places, A>::view{slot, t, now});
}

enum class got : u8 { none, busy, one };

template <tuple_type Tuple, limits L = limits{}, class Choice = oldest_goes, atomics_policy A = builtin_atomics>
requires(L.valid()) class candidates {
 public:
  using image = slot_image<Tuple, L.places, A>;
  static constexpr u32 slots = L.slots;
  static constexpr u32 places = L.places;

  // Receive path, any ring. `slot` is below `slots` (the top bits of the tuple's hash); `due_log2` is the setting
  // fast_make_log2, at most 31.
  [[nodiscard, gnu::always_inline]] write_outcome write(u32 slot, const Tuple& t, const arrival& frame,
                                                        u32 due_log2) noexcept {
    place_row& s = slots_[slot];
    if (!s.word.try_take()) [[unlikely]] {
      write_outcome outcome;
      outcome.clash = true;
      return outcome;
    }
    // The choice of choose_in, its two answers as two ways: the hot path looks at neither twice.
    const typename image::view as_met{s.columns, t, frame.at};
    const u32 same = as_met.same();
    const write_outcome outcome = same < places ? s.columns.renew(same, t, frame, due_log2)
                                                : s.columns.admit(Choice::choose(as_met), t, frame, due_log2);
    s.word.release();
    return outcome;
  }

  // A pass. Takes the first unread candidate in places [from, places) that `want(const candidate&) -> bool` accepts:
  // copies it to `out` as it stood, marks it read, no longer due, its closing mark not to outlive its next frame.
  // `out` and `place` mean something for `one` only. `busy`: the word is held, skip the slot.
  template <class Want>
  [[nodiscard]] got take(u32 slot, u32 from, Want&& want, candidate<Tuple>& out, u32& place) noexcept {
    place_row& s = slots_[slot];
    if (!s.columns.perhaps_unread()) return got::none;
    const word_hold<A> hold{s.word};
    if (!hold) return got::busy;
    for (u32 i = from; i < places; ++i) {
      if (!s.columns.unread(i)) continue;
      s.columns.copy_out(i, out);
      if (!want(static_cast<const candidate<Tuple>&>(out))) continue;
      s.columns.mark_read(i);
      place = i;
      return got::one;
    }
    return got::none;
  }

  // A pass. The candidate of this tuple, read or unread; nothing changes.
  [[nodiscard]] got find(u32 slot, const Tuple& t, candidate<Tuple>& out) noexcept {
    place_row& s = slots_[slot];
    const word_hold<A> hold{s.word};
    if (!hold) return got::busy;
    const u32 i = s.columns.place_of(t);
    if (i == places) return got::none;
    s.columns.copy_out(i, out);
    return got::one;
  }

  // A pass, when the connection that a make was asked for is gone: a request never outlives its connection (system.md
  // 9). Count 0, not due. False: the word is held. True for an absent tuple too.
  [[nodiscard]] bool restart_count(u32 slot, const Tuple& t) noexcept {
    place_row& s = slots_[slot];
    const word_hold<A> hold{s.word};
    if (!hold) return false;
    const u32 i = s.columns.place_of(t);
    if (i != places) s.columns.recount(i, 0);
    return true;
  }

  // A discard. False: the word is held and the slot keeps what it has; the caller counts cand_kept.
  [[nodiscard]] bool empty_slot(u32 slot, emptied& gone) noexcept {
    place_row& s = slots_[slot];
    const word_hold<A> hold{s.word};
    if (!hold) return false;
    gone = s.columns.empty();
    return true;
  }
  [[nodiscard]] bool empty_slot(u32 slot) noexcept {
    emptied gone;
    return empty_slot(slot, gone);
  }

  // A pass, at least once in 12 days for every slot (tick::oldest_age to the half of the range): stamps older than
  // tick::oldest_age are moved to it, so an age neither wraps nor reads as the future. Of several so moved the first is
  // the oldest. Apart from `take`, which leaves a quiet slot without touching its word. False: the word is held, again
  // next time.
  [[nodiscard]] bool clamp_ages(u32 slot, tick now) noexcept {
    place_row& s = slots_[slot];
    const word_hold<A> hold{s.word};
    if (!hold) return false;
    s.columns.clamp_ages(now);
    return true;
  }

  // Tables and dumps: `each(place, const candidate&)` for every written place, under the word. False: the word is held.
  template <class Each>
  [[nodiscard]] bool for_each_place(u32 slot, Each&& each) noexcept {
    place_row& s = slots_[slot];
    const word_hold<A> hold{s.word};
    if (!hold) return false;
    candidate<Tuple> c;
    for (u32 i = 0; i < places; ++i) {
      if (!s.columns.written(i)) continue;
      s.columns.copy_out(i, c);
      each(i, static_cast<const candidate<Tuple>&>(c));
    }
    return true;
  }

 private:
  // A cache line (64 bytes on every machine we build for) of its own: rings that write neighbouring slots do not share
  // one.
  struct alignas(64) place_row {
    slot_word<A> word;
    slot_image<Tuple, L.places, A> columns;
  };

  place_row slots_[L.slots];
};

}  // namespace octep

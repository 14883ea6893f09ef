// The candidate table: what the host remembers of punted frames, by tuple.
//
// Floor 4.
//
//   slot        word with its glance | image: ranks, tags, places (slot_image.hpp); lines of its own
//
// What it is: slots of places, one word a slot (system.md 4). The receive path writes; passes take, find, restart, keep,
// discard. A tuple's slot is named by the top bits of its hash, its tag by the low ones: the same hash in every call.
// What it refuses: waiting (a held word is a clash for a frame, `busy` for a pass), allocating, hashing (the caller
// brings the hash), kicking (the caller kicks after `write` returned, when the word is free).
// What that buys: a write is one exchange, a compare of a few bytes and one of a tuple, a few stores and one release;
// and the accounting is exact whatever the interleaving:
//     writes without clash = taken + lost + unread when emptied + unread now
// with `evicted` the part of `lost` that was another tuple's, and `evicted_read` outside of it.
// Concurrency: `write` by any ring; the rest by whoever holds the pass lock. Nobody holds two words. Every call is made
// inside a critical section (slot_word.hpp); functors that are passed in run under a word: short, never into the table.
#pragma once

#include <octep/atomic.hpp>
#include <octep/base.hpp>
#include <octep/choice.hpp>
#include <octep/hash.hpp>
#include <octep/slot_image.hpp>
#include <octep/slot_word.hpp>
#include <octep/tags.hpp>

namespace octep {

enum class got : u8 { none, busy, one };
enum class told : u8 { not_now, no, yes };

// What a pass tells the place of a tuple.
enum class tell_place : u8 {
  restart,  // the connection that a make was asked for is gone, and a request never outlives it (system.md 9): count 0, not
            // due. `yes` for an absent tuple too
  // Ranks; `no` where the policy has none, or the tuple is not there.
  pardon,  // of what was taken: time alone may mend what came in its way
  expect,  // it is the missing direction of what was met: its place is kept until `end_keeping`. If it is not there a place is
           // kept for it without an identity, so that no make can be built on it; its first frame is due. `no`: the slot keeps
           // as many as it may, or has none to give
};

template <tuple_type Tuple, limits L = limits{}, class Choice = oldest_goes, tag_policy Tags = scalar_tags,
          atomics_policy A = builtin_atomics>
requires(L.valid()) class candidates {
 public:
  using image = slot_image<Tuple, L.places, Choice::ranks, Tags, A>;
  static constexpr u32 slots = L.slots;
  static constexpr u32 places = L.places;
  static constexpr bool ranks = Choice::ranks;

  [[nodiscard]] static constexpr u32 slot_of(u32 hashed) noexcept { return top_bits(hashed, bit_width(slots) - 1); }

  // Receive path, any ring. `due_log2` is the setting fast_make_log2, at most 31.
  [[nodiscard, gnu::always_inline]] write_outcome write(const Tuple& t, u32 hashed, const arrival& frame,
                                                        u32 due_log2) noexcept {
    return write_outcome::from_bits(write_for_bits(t, hashed, frame, due_log2));
  }
  // The same, answered by `write_outcome::bits`. `Arrival`: an arrival, packed or not.
  template <class Arrival>
  [[nodiscard, gnu::always_inline]] u32 write_for_bits(const Tuple& t, u32 hashed, const Arrival& frame,
                                                       u32 due_log2) noexcept {
    place_row& s = slots_[slot_of(hashed)];
    // Searched before the word is taken, believed only after: what a frame waits for under the word is then one record,
    // and the search goes on beside the frame before (docs/choice.md has what that is worth).
    const u64 guess = s.columns.alike(hashed);
    u32 glance;
    if (!s.word.try_take(glance)) [[unlikely]] {
      write_outcome outcome;
      outcome.clash = true;
      return outcome.bits();
    }
    auto holder = s.columns.seat_among(guess, t);
    if (holder.at == nullptr) [[unlikely]] {
      // A newcomer, or another ring was quicker. By copies: what lends nobody its address stays in registers
      // (docs/bench.md).
      const Tuple same = t;
      holder = s.columns.seat_of(same, hashed);
      if (holder.at == nullptr) return newcomer(s, same, hashed, frame, due_log2, glance);
    }
    const u32 said = s.columns.renew(holder, t, packed_arrival{frame}, due_log2, glance);
    s.word.release(glance);
    return said;
  }

  // A pass: nothing to take, and nothing to end. A slot that somebody holds is not quiet.
  // Relaxed: a run that was kicked sees what was released before its kick, since the worker took the kick before it looks; a
  // poll that misses a frame of this moment meets it a poll later.
  [[nodiscard, gnu::always_inline]] bool quiet(u32 slot) const noexcept { return slots_[slot].word.glance() == 0; }

  // A pass. Takes the first unread candidate in places [from, places) that `want(const candidate&) -> bool` accepts:
  // copies it to `out` as it stood, marks it read, no longer due, its closing mark not to outlive its next frame.
  // `out` and `place` mean something for `one` only. `busy`: the word is held, skip the slot. What is taken ranks as
  // refused until `pardon` says otherwise: most of what a crowded walk takes comes to nothing, and costs no second look.
  template <class Want>
  [[nodiscard]] got take(u32 slot, u32 from, Want&& want, candidate<Tuple>& out, u32& place) noexcept {
    place_row& s = slots_[slot];
    // Relaxed: see quiet.
    if ((s.word.glance() & (glances::unread | s.word.taken)) == 0) return got::none;
    word_hold<A> hold{s.word};
    if (!hold) return got::busy;
    place_set left = hold.glance & glances::unread & ~(only(from) - 1);
    for (; left != 0; left &= left - 1) {
      const u32 i = first_of(left);
      s.columns.copy_out(i, hold.glance, out);
      if (!want(static_cast<const candidate<Tuple>&>(out))) continue;
      s.columns.mark_read(i, hold.glance);
      if constexpr (ranks) s.columns.set_refused(i, true);
      place = i;
      return got::one;
    }
    return got::none;
  }

  // A pass. The candidate of this tuple, read or unread; nothing changes.
  [[nodiscard, gnu::noinline]] got find(const Tuple& t, u32 hashed, candidate<Tuple>& out) noexcept {
    place_row& s = slots_[slot_of(hashed)];
    word_hold<A> hold{s.word};
    if (!hold) return got::busy;
    const u32 i = s.columns.place_of(t, hashed);
    if (i == places) return got::none;
    s.columns.copy_out(i, hold.glance, out);
    return got::one;
  }

  // A pass, of a tuple that it knows. `not_now`: the word is held; `no`: it did not come to pass.
  [[nodiscard, gnu::noinline]] told tell(const Tuple& t, u32 hashed, tell_place what, tick now) noexcept {
    place_row& s = slots_[slot_of(hashed)];
    word_hold<A> hold{s.word};
    if (!hold) return told::not_now;
    u32 i = s.columns.place_of(t, hashed);
    if (what == tell_place::restart) {
      if (i != places) s.columns.recount(i, 0);
      return told::yes;
    }
    if constexpr (ranks) {
      if (i == places) {
        // Over what is empty or read; nobody who waits to be seen makes room for somebody who has not come.
        const place_set empty = all_places<places> & ~s.columns.written();
        place_set room = all_places<places> & ~(hold.glance & glances::unread) & ~s.columns.kept();
        if (empty != 0) room = empty;
        if (what != tell_place::expect || room == 0 || size_of(s.columns.kept()) >= Choice::most_kept) return told::no;
        i = first_of(room);
        s.columns.expect(i, t, hashed, now, hold.glance);
      }
      s.columns.set_refused(i, false);
      if (what == tell_place::pardon) return told::yes;
      const bool kept = ((s.columns.kept() >> i) & 1) != 0;
      if (!kept && size_of(s.columns.kept()) >= Choice::most_kept) return told::no;
      s.columns.keep(i, hold.glance);
      return told::yes;
    }
    return told::no;
  }

  // A poll, when its walk comes to the slot: what was kept since the last one has had its time.
  void end_keeping(u32 slot) noexcept requires ranks {
    place_row& s = slots_[slot];
    if ((s.word.glance() & glances::keeps) == 0) return;
    word_hold<A> hold{s.word};
    if (!hold) return;  // at the next poll
    s.columns.end_keeping(hold.glance);
  }

  // A poll, when its walk comes to the slot: the lottery's tickets of the time until it comes again are made of `secret`,
  // any number that nobody outside can foresee. Not earlier: who waits to be read would have to win twice. A slot whose
  // word is held keeps its tickets.
  void draw_anew(u32 slot, u32 secret) noexcept requires ranks {
    word_hold<A> hold{slots_[slot].word};
    if (hold) slots_[slot].columns.set_draw(secret);
  }

  // --- all of a slot ---

  // A discard. False: the word is held and the slot keeps what it has; the caller counts cand_kept.
  [[nodiscard]] bool empty_slot(u32 slot, emptied& gone) noexcept {
    place_row& s = slots_[slot];
    word_hold<A> hold{s.word};
    if (!hold) return false;
    gone = s.columns.empty(hold.glance);
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
    word_hold<A> hold{s.word};
    if (!hold) return false;
    s.columns.clamp_ages(now);
    return true;
  }

  // Tables and dumps: `each(place, const candidate&)` for every written place, under the word. False: the word is held.
  template <class Each>
  [[nodiscard]] bool for_each_place(u32 slot, Each&& each) noexcept {
    place_row& s = slots_[slot];
    word_hold<A> hold{s.word};
    if (!hold) return false;
    candidate<Tuple> c;
    for (place_set left = s.columns.written(); left != 0; left &= left - 1) {
      s.columns.copy_out(first_of(left), hold.glance, c);
      each(first_of(left), static_cast<const candidate<Tuple>&>(c));
    }
    return true;
  }

 private:
  // A cache line (64 bytes on every machine we build for) of its own: rings that write neighbouring slots do not share
  // one.
  struct alignas(64) place_row {
    slot_word<A> word;
    image columns;
  };

  // Out of the way of all frames whose tuple the slot holds.
  template <class Arrival>
  [[nodiscard, gnu::noinline]] u32 newcomer(place_row& s, const Tuple& t, u32 hashed, const Arrival came, u32 due_log2,
                                            u32 glance) noexcept {
    const packed_arrival frame{came};
    typename image::view as_met{s.columns, glance, frame.at()};
    const write_outcome outcome = s.columns.admit(Choice::choose(as_met), t, hashed, frame, due_log2, glance);
    s.word.release(glance);
    return outcome.bits();
  }

  place_row slots_[L.slots];
};

}  // namespace octep

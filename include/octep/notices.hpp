// Notices: what the world tells from inside its own locks, kept until the worker comes to it.
//
// Floor 3.
//
//   mark    one for each kind that names nobody: told twice before it is taken, it is one notice
//   seat    one connection whose state ended
//             word    bit 0 somebody sits here (with the slot's word: slot_word.hpp)
//             which   bit 0 family            words   the tuple's, two in 64 bits
//   lost    a state ended and no seat was free: every state may have
//   asked   somebody told something since the worker began to look
//
// What it is: a box of notices with many writers and one reader. A notice means "ask again", so their order means nothing, and
// a reader that asks once too often does no harm. That is why the seats are no queue: whoever is interrupted between taking a
// seat and filling it keeps nobody's news waiting but his own.
// What it refuses: the pass lock, since whoever tells holds locks that the pass takes under it (system.md 10); waiting; and
// losing: news without a seat makes everything dirty. `post` tries each seat once at most.
// What that buys: it may be called from a firewall's own unlink and from a neighbour's own update, at any rate.
// Concurrency: `post` and `post_gone` from anywhere, any number at once. The rest is the worker's, under the pass lock.
#pragma once

#include <octep/atomic.hpp>
#include <octep/base.hpp>
#include <octep/slot_word.hpp>
#include <octep/tuple.hpp>

namespace octep {

// Appended, never renumbered: the values cross the C border.
enum class notice_kind : u8 {
  neighbours_changed,
  routes_changed,
  rules_changed,  // rules, or what a policy decides by
  states_gone,    // many: every connection is to be asked about
  state_gone,     // of the connection with this tuple
  count_
};

struct notice {
  notice_kind kind = notice_kind::states_gone;
  family which = family::ipv4;  // state_gone: which of the two below names the connection
  tuple4 v4;
  tuple6 v6;
};

// `Room`: connections whose end is remembered at once. Ours: a full one costs asking about all, nothing else.
template <u32 Room = 64, atomics_policy A = builtin_atomics>
class notices {
  static_assert(Room >= 1);

 public:
  static constexpr u32 room = Room;

  // Something changed that names nobody. `state_gone` needs its tuple and is taken for `states_gone` here. True: the worker
  // does not know yet that there is news, kick it.
  // Release: the partner is the worker's exchange in `take`; what changed before the post is seen by what is asked after it.
  [[nodiscard]] bool post(notice_kind kind) noexcept {
    const usize i = static_cast<usize>(kind);
    (void)marks_[i < marks ? i : static_cast<usize>(notice_kind::states_gone)].exchange_acq_rel(1);
    return ask();
  }

  // The firewall's state of the connection ended. `tuple`: either of the two that its frames arrive with. As above.
  template <tuple_type Tuple>
  [[nodiscard]] bool post_gone(const Tuple& tuple) noexcept {
    // Relaxed: a guess, so that a flood does not search a full box again and again. `lose` asks the cell itself.
    if (lost_.load_relaxed() == 0) {
      const u32 from = next_.load_relaxed();  // relaxed: where a search begins matters to nobody
      for (u32 tried = 0; tried < Room; ++tried) {
        const u32 at = (from + tried) % Room;
        if (seats_[at].sit(tuple)) {
          next_.store_relaxed((at + 1) % Room);  // relaxed: as above
          return ask();
        }
      }
    }
    // Release: the partner is the exchange in `take_overflow`. If it read this 1, or one set before, it reads everything that
    // was changed before this post.
    (void)lost_.exchange_acq_rel(1);
    return ask();
  }

  // One notice, if there is one. False: nothing, or nothing but what a post was answered true for since this round began.
  // Asked until it is false, it ends: a round tries each mark and each seat once.
  [[nodiscard]] bool take(notice& out) noexcept {
    if (!looking_) {
      // Relaxed: whoever set it before kicked the worker, and a kick is seen by whoever it wakes.
      if (asked_.load_relaxed() == 0) return false;
      // Acquire: the partner is the exchange in `ask`. Whoever asked before this one left marks and seats that are read below;
      // whoever asks after it is answered true.
      (void)asked_.exchange_acq_rel(0);
      left_ = marks + Room;
      looking_ = true;
    }
    while (left_ > 0) {
      const u32 step = marks + Room - left_--;
      if (step < marks) {
        // Relaxed look: `asked_` has made visible what matters to this round. Acquire: see post.
        if (marks_[step].load_relaxed() == 0 || marks_[step].exchange_acq_rel(0) == 0) continue;
        out = notice{};
        out.kind = static_cast<notice_kind>(step);
        return true;
      }
      if (seats_[step - marks].rise(out)) return true;
    }
    looking_ = false;
    return false;
  }

  // True once after news found no seat: every connection is to be asked about, as after `states_gone`.
  // Relaxed look: as in `take`. Acquire: the partner is the exchange of whoever found no seat.
  [[nodiscard]] bool take_overflow() noexcept { return lost_.load_relaxed() != 0 && lost_.exchange_acq_rel(0) != 0; }

  // Whether `take` or `take_overflow` may have something. Relaxed: whoever made it so has kicked.
  [[nodiscard]] bool any() const noexcept {
    return looking_ || asked_.load_relaxed() != 0 || lost_.load_relaxed() != 0;
  }

 private:
  static constexpr u32 marks = static_cast<u32>(notice_kind::state_gone);

  class alignas(64) seat {
   public:
    // False: somebody sits here, or is about to, or is being read.
    template <tuple_type Tuple>
    [[nodiscard]] bool sit(const Tuple& t) noexcept {
      u32 was = 0;
      // Relaxed look first, so that a seat in use is not taken away from its reader for nothing; the word decides.
      if (word_.glance() != free || !word_.try_take(was)) return false;
      if (was == free) {
        which_ = static_cast<u32>(Tuple::which);
        for (u32 w = 0; w < Tuple::words; w += 2) words_[w / 2] = t.word(w) | u64{t.word(w + 1)} << 32;
      }
      word_.release(in_use);
      return was == free;
    }
    // False: nobody sits here whose `ask` came before this round. Who holds the word now asks after it.
    [[nodiscard]] bool rise(notice& out) noexcept {
      u32 was = 0;
      if (word_.glance() != in_use || !word_.try_take(was)) return false;  // relaxed look: as above
      if (was == in_use) {
        out = notice{};
        out.kind = notice_kind::state_gone;
        out.which = static_cast<family>(static_cast<u32>(which_));
        if (out.which == family::ipv4)
          read(out.v4);
        else
          read(out.v6);
      }
      word_.release(free);
      return was == in_use;
    }

   private:
    static constexpr u32 free = 0;
    static constexpr u32 in_use = 1;

    template <tuple_type Tuple>
    void read(Tuple& to) const noexcept {
      u32 words[Tuple::words];
      for (u32 w = 0; w < Tuple::words; w += 2) {
        const u64 two = words_[w / 2];
        words[w] = static_cast<u32>(two);
        words[w + 1] = static_cast<u32>(two >> 32);
      }
      to = Tuple::from_words(words);
    }

    slot_word<A> word_;
    guarded<u32, A> which_ = {};
    guarded<u64, A> words_[tuple6::words / 2] = {};
  };

  // Last of every post. Release: the partner is the exchange that begins a round in `take`. True: the first since one began.
  [[nodiscard]] bool ask() noexcept { return asked_.exchange_acq_rel(1) == 0; }

  array<typename A::template cell<u32>, marks> marks_;
  typename A::template cell<u32> lost_;
  typename A::template cell<u32> asked_;
  typename A::template cell<u32> next_;
  seat seats_[Room];
  u32 left_ = 0;  // steps of the worker's round: marks, then seats
  bool looking_ = false;
};

}  // namespace octep

// The word of a slot: whoever takes it owns everything the slot guards until it is released.
//
// Floor 2.
//
//   word    bit 31 taken | bits 0-30 what the slot says at a glance, its owner's to define; all zero while taken
//
// What it is: one cell, tried once by an exchange. The glance comes with the taking and goes with the release, so that
// what is asked of a slot most often costs no access of its own; `guarded` is the type of a value that a word guards.
// What it refuses: waiting. A ring that finds the word taken loses one frame's candidate, a pass skips one slot;
// neither ever depends on how long somebody else's interrupt lasts. It refuses nesting too: nobody holds two words.
// What that buys: choice and write of a place are one step for everybody else, so a tuple is in at most one place,
// whatever the interleaving. A try that fails puts back what it found, and cannot fail for a word that is free.
// Concurrency: any ring and the worker, at any time. Every holder is inside a critical section, which the glue enters
// once for a batch of frames: a holder that were preempted would keep every ring out of the slot (system.md 4).
#pragma once

#include <octep/atomic.hpp>

namespace octep {

template <atomics_policy A>
class slot_word {
 public:
  static constexpr u32 taken = u32{1} << 31;

  // One try, never a wait. False: somebody else holds the word. True: `glance` is what its last holder left.
  // Acquire: its partner is the release of the holder before; what that one wrote to the slot is visible.
  [[nodiscard, gnu::always_inline]] bool try_take(u32& glance) noexcept {
    glance = word_.exchange_acquire(taken);
    return glance != taken;
  }

  // By the holder only, once; bit 31 of `glance` is clear. Release: its partner is the next successful try, which sees
  // the glance and then the columns.
  void release(u32 glance) noexcept { word_.store_release(glance); }

  // What the slot says, without its word; `taken` while somebody holds it. Relaxed: nothing is read through it.
  [[nodiscard]] u32 glance() const noexcept { return word_.load_relaxed(); }

 private:
  typename A::template cell<u32> word_;
};

// Takes the word for a scope. Ask before touching what it guards: the one try may have failed.
template <atomics_policy A>
class word_hold {
 public:
  [[nodiscard]] explicit word_hold(slot_word<A>& word) noexcept : word_{word}, held_{word.try_take(glance)} {}
  ~word_hold() noexcept {
    if (held_) word_.release(glance);
  }
  word_hold(const word_hold&) = delete;
  word_hold& operator=(const word_hold&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return held_; }

 private:
  slot_word<A>& word_;

 public:
  u32 glance = 0;  // the holder's: what it leaves is what the next one finds

 private:
  const bool held_;
};

namespace detail {
template <class T, class A>
struct guarded_of {
  using type = T;
};
template <class T, class A>
requires requires { typename A::template guarded<T>; }
struct guarded_of<T, A> {
  using type = typename A::template guarded<T>;
};
}  // namespace detail

// A value that is touched only under a word: a plain T, so that ThreadSanitizer sees an access without the word as the
// race it is. A policy that explores interleavings names a type of its own, which asks its scheduler at every access.
template <class T, class A>
using guarded = typename detail::guarded_of<T, A>::type;

}  // namespace octep

// The word of a slot: whoever takes it owns everything the slot guards until it is released.
//
// Floor 2.
//
// What it is: one cell, tried once. `slot_word` takes and releases; `word_hold` releases at the end of a scope;
// `guarded` is the type of a value that a word guards.
// What it refuses: waiting. A ring that finds the word taken loses one frame's candidate, a pass skips one slot;
// neither ever depends on how long somebody else's interrupt lasts. It refuses nesting too: nobody holds two words.
// What that buys: choice and write of a place are one step for everybody else, so a tuple is in at most one place,
// whatever the interleaving.
// Concurrency: any ring and the worker, at any time. Every holder is inside a critical section, which the glue enters
// once for a batch of frames: a holder that were preempted would keep every ring out of the slot (system.md 4).
#pragma once

#include <octep/atomic.hpp>

namespace octep {

template <atomics_policy A>
class slot_word {
 public:
  // One try, never a wait. False: somebody else holds the word.
  // Acquire: its partner is the release of the holder before; what that one wrote to the slot is visible.
  [[nodiscard]] bool try_take() noexcept { return word_.compare_exchange_acquire(0, 1); }

  // By the holder only, once. Release: its partner is the next successful try, which sees 0 and then the columns.
  void release() noexcept { word_.store_release(0); }

 private:
  typename A::template cell<u32> word_;
};

// Takes the word for a scope. Ask before touching what it guards: the one try may have failed.
template <atomics_policy A>
class word_hold {
 public:
  [[nodiscard]] explicit word_hold(slot_word<A>& word) noexcept : word_{word}, held_{word.try_take()} {}
  ~word_hold() noexcept {
    if (held_) word_.release();
  }
  word_hold(const word_hold&) = delete;
  word_hold& operator=(const word_hold&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return held_; }

 private:
  slot_word<A>& word_;
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

// The atomics policy: a cell whose every access names its order.
//
// Floor 1.
//
// What it is: `builtin_atomics::cell<T>`, over the compiler's own atomic built-ins. A test gives the tables another
// policy with the same shape whose cells ask a scheduler before every access (test/scheduled_atomics.hpp).
// What it refuses: an access without a named order, and fences (ThreadSanitizer does not model them).
// What that buys: a reader sees the order where the access is; a test explores interleavings without threads.
// Concurrency: any thread may use a cell; what it guards is written beside its owner.
#pragma once

#include <octep/base.hpp>

namespace octep {

struct builtin_atomics {
  template <class T>
  class cell {
    static_assert(sizeof(T) <= 8, "wider cells would call into a library");

   public:
    constexpr cell() noexcept = default;
    constexpr explicit cell(T initial) noexcept : value_{initial} {}
    cell(const cell&) = delete;
    cell& operator=(const cell&) = delete;

    [[nodiscard]] T load_relaxed() const noexcept { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
    [[nodiscard]] T load_acquire() const noexcept { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
    void store_relaxed(T to) noexcept { __atomic_store_n(&value_, to, __ATOMIC_RELAXED); }
    void store_release(T to) noexcept { __atomic_store_n(&value_, to, __ATOMIC_RELEASE); }

    // Acquire on both sides: the exchange that clears a flag reads what was written before the flag was set.
    [[nodiscard]] T exchange_acq_rel(T to) noexcept { return __atomic_exchange_n(&value_, to, __ATOMIC_ACQ_REL); }

    // What was released before is visible; nothing is released.
    [[nodiscard]] T exchange_acquire(T to) noexcept { return __atomic_exchange_n(&value_, to, __ATOMIC_ACQUIRE); }

    // For a number that guards nothing but itself. On failure `expected` is what the cell held.
    [[nodiscard]] bool compare_exchange_relaxed(T& expected, T desired) noexcept {
      return __atomic_compare_exchange_n(&value_, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }

   private:
    T value_{};
  };
};

template <class A>
concept atomics_policy = requires(typename A::template cell<u32>& c, const typename A::template cell<u32>& k, u32 v) {
  { k.load_relaxed() } -> same_as<u32>;
  { k.load_acquire() } -> same_as<u32>;
  c.store_relaxed(v);
  c.store_release(v);
  { c.exchange_acq_rel(v) } -> same_as<u32>;
  { c.exchange_acquire(v) } -> same_as<u32>;
  { c.compare_exchange_relaxed(v, v) } -> same_as<bool>;
};

static_assert(atomics_policy<builtin_atomics>);

}  // namespace octep

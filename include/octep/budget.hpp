// Budgets: how many more times something may be done until somebody refills.
//
// Floor 2.
//
// What it is: one number and two ways to keep it. `plain_budget` is for one owner; `shared_budget` is for a budget that
// another thread refills: it is spent and refilled by compare-and-swap, since a load and a store around it would write
// the old number over a refill that fell in between.
// What it refuses: carrying over. A refill replaces what was left, so a quiet hour saves up nothing.
// What that buys: between two refills of `n` at most `n` are spent, whoever spends (system.md 7).
// Concurrency: plain_budget, one thread at a time. shared_budget, any thread may call anything.
#pragma once

#include <octep/atomic.hpp>
#include <octep/base.hpp>

namespace octep {

// spend(): true, and one less is left; false where nothing is. Never waits.
// replace(n): sets what is left to `n` and returns what was left unspent. refill(n): the same, when nobody asks.
template <class B>
concept budget_policy = requires(B& b, const B& k, u32 n) {
  { b.refill(n) } noexcept -> same_as<void>;
  { b.replace(n) } noexcept -> same_as<u32>;
  { b.spend() } noexcept -> same_as<bool>;
  { k.left() } noexcept -> same_as<u32>;
};

// Starts empty.
class plain_budget {
 public:
  constexpr void refill(u32 n) noexcept { left_ = n; }

  [[nodiscard]] constexpr u32 replace(u32 n) noexcept {
    const u32 unspent = left_;
    left_ = n;
    return unspent;
  }

  [[nodiscard]] constexpr bool spend() noexcept {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  [[nodiscard]] constexpr u32 left() const noexcept { return left_; }

 private:
  u32 left_ = 0;
};

// Starts empty.
template <atomics_policy A = builtin_atomics>
class shared_budget {
 public:
  void refill(u32 n) noexcept { (void)replace(n); }

  // One exchange, so that every unit is either spent or returned here, never both. Its orders pair with nothing: the
  // number guards only itself, and relaxed would do if the policy had such an exchange.
  [[nodiscard]] u32 replace(u32 n) noexcept { return left_.exchange_acq_rel(n); }

  // A failed swap means that another thread spent or refilled: somebody always gets on.
  [[nodiscard]] bool spend() noexcept {
    u32 seen = left_.load_relaxed();  // relaxed: a stale number fails the swap below
    while (seen != 0) {
      if (left_.compare_exchange_relaxed(seen, seen - 1)) return true;  // relaxed: guards nothing but itself
    }
    return false;
  }

  // Already old when it returns: for showing.
  [[nodiscard]] u32 left() const noexcept { return left_.load_relaxed(); }  // relaxed: nothing follows from it

 private:
  typename A::template cell<u32> left_;
};

static_assert(budget_policy<plain_budget> && budget_policy<shared_budget<>>);

}  // namespace octep

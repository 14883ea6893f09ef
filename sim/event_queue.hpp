// Virtual time: what happens next, and in which order.
//
// What it is: a heap of callables by (instant, order of insertion). Frames, answers, deadlines and notices are all events,
// so replay, scenarios, property tests and fuzzers share one driver, and a failing history is a flat list.
// What it refuses: a clock, threads, and an event in the past (it happens now, after what is already due now).
// What that buys: equal times never depend on the heap's shape; a seed is a history.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <octep/ticks.hpp>

namespace octep::sim {

class event_queue {
 public:
  using action = std::function<void(instant now)>;

  [[nodiscard]] instant now() const noexcept { return now_; }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] usize size() const noexcept { return heap_.size(); }
  // `never` where nothing waits.
  [[nodiscard]] instant next_time() const noexcept { return heap_.empty() ? never : heap_.front().at; }

  void at(instant when, action what) {
    heap_.push_back({when < now_ ? now_ : when, order_++, std::move(what)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void in(microseconds delay, action what) { at(now_ + delay, std::move(what)); }

  // One event; false where none waits. What it schedules may be due at the same instant.
  bool step() {
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    event e = std::move(heap_.back());
    heap_.pop_back();
    now_ = e.at;
    e.what(now_);
    return true;
  }
  // Every event up to and including `until`, then time stands at `until` (or later, where it already did).
  void run_until(instant until) {
    while (next_time() <= until && step()) {
    }
    if (now_ < until) now_ = until;
  }
  // Every event there is. Only for histories that end: a poll that schedules the next poll never does.
  void run_dry() {
    while (step()) {
    }
  }

 private:
  struct event {
    instant at;
    u64 order;
    action what;
  };
  [[nodiscard]] static bool later(const event& a, const event& b) noexcept {
    return a.at == b.at ? b.order < a.order : b.at < a.at;
  }

  std::vector<event> heap_;
  instant now_;
  u64 order_ = 0;
};

}  // namespace octep::sim

// Back-off: a wait that doubles each time it is needed again, and starts over after a time of peace.
//
// Floor 2.
//
// What it is: the end of the last wait and a level. It serves the wait after a revive (system.md 9: 10 ms doubling to
// 500 ms, over after 1 s of peace) and the hold-back of a connection made again too soon (system.md 11: 1 s doubling to
// 60 s, over after a make that lasts 10 s). The times come with each call, so a changed setting works at once.
//
//   level   0      1       2          3          ...
//   wait    none   least   2 x least  4 x least  ... never above `most`
//
// The level stops climbing at the first whose wait is `most`; from there a larger `most` is approached by doubling.
//
// What it refuses: sleeping, arming anything, and a lasting verdict. Every wait has an end that can be shown.
// What that buys: nothing can wrap. A level is bounded, the doubling is compared before it is done, an end saturates.
// Concurrency: a plain value, under whatever guards its owner (the pass lock).
#pragma once

#include <octep/base.hpp>
#include <octep/ticks.hpp>

namespace octep {

// `least` above `most` means `most` every time. `least` 0 never waits.
struct backoff_times {
  microseconds least;
  microseconds most;
  microseconds peace;  // counted from the END of a wait, or from a later event the caller names

  [[nodiscard]] constexpr bool operator==(const backoff_times&) const noexcept = default;
};

class backoff {
 public:
  // Sixty-four doublings of 1 us pass every wait that 64 bits hold.
  static constexpr u8 highest_level = 65;

  // Begins a wait at `now` and returns its end. `calm_since` is when the peace could have begun at the earliest, for a
  // caller who knows better than the end of the last wait: hold-back names the moment the connection was made.
  // A call before the last wait has ended is no peace: it doubles too.
  constexpr instant next(instant now, const backoff_times& times, instant calm_since) noexcept {
    if (rested(now, times, calm_since)) level_ = 0;
    if (level_ == 0 || (level_ < highest_level && wait_of(level_, times) < times.most)) ++level_;
    const microseconds wait = wait_of(level_, times);
    until_ = wait.count > never.us - now.us ? never : now + wait;
    return until_;
  }
  constexpr instant next(instant now, const backoff_times& times) noexcept { return next(now, times, until_); }

  // The length of the wait at a level; zero at level 0.
  [[nodiscard]] static constexpr microseconds wait_of(u8 level, const backoff_times& times) noexcept {
    if (level == 0) return {};
    microseconds wait = times.least;
    for (u8 i = 1; i < level; ++i) {
      if (times.most.count - least(wait.count, times.most.count) <= wait.count) return times.most;
      wait = wait + wait;
    }
    return wait < times.most ? wait : times.most;
  }

  // Waits in a row. Stays as it was after peace until the next wait asks: `rested` tells.
  [[nodiscard]] constexpr u8 level() const noexcept { return level_; }
  // The end of the last wait; the origin of time when there was none.
  [[nodiscard]] constexpr instant until() const noexcept { return until_; }
  [[nodiscard]] constexpr bool waiting(instant now) const noexcept { return now < until_; }

  // Whether a wait that began at `now` would be a first one.
  [[nodiscard]] constexpr bool rested(instant now, const backoff_times& times, instant calm_since) const noexcept {
    if (level_ == 0) return true;
    const instant from = calm_since < until_ ? until_ : calm_since;
    return from <= now && times.peace <= now.since(from);
  }
  [[nodiscard]] constexpr bool rested(instant now, const backoff_times& times) const noexcept {
    return rested(now, times, until_);
  }

  constexpr void reset() noexcept { *this = backoff{}; }

 private:
  instant until_{};
  u8 level_ = 0;
};

}  // namespace octep

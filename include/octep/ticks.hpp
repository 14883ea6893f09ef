// Time: an argument everywhere, never read from a clock.
//
// Floor 1.
//
// What it is: `instant`, microseconds since an origin the caller chose; `microseconds`, a length; `tick`, the 32-bit
// millisecond stamp that a candidate keeps.
// What it refuses: subtracting into the past (a difference clamps at zero, since another ring may be a tick ahead), and
// mixing stamps with lengths.
// What that buys: replay and tests own the clock; wrap arithmetic stands in one type. The record's signed differences
// turned negative at 25 days; here the walk clamps what grows older than `tick::oldest_age`.
// Concurrency: values.
#pragma once

#include <octep/base.hpp>

namespace octep {

struct microseconds {
  u64 count = 0;

  [[nodiscard]] constexpr bool operator==(const microseconds&) const noexcept = default;
  [[nodiscard]] constexpr bool operator<(microseconds b) const noexcept { return count < b.count; }
  [[nodiscard]] constexpr bool operator<=(microseconds b) const noexcept { return count <= b.count; }
  [[nodiscard]] constexpr microseconds operator+(microseconds b) const noexcept { return {count + b.count}; }
};

[[nodiscard]] constexpr microseconds from_ms(u64 ms) noexcept { return {ms * 1000}; }
[[nodiscard]] constexpr microseconds from_s(u64 s) noexcept { return {s * 1'000'000}; }

// Microseconds since the caller's origin. 64 bits last 584,000 years: it never wraps.
struct instant {
  u64 us = 0;

  [[nodiscard]] constexpr bool operator==(const instant&) const noexcept = default;
  [[nodiscard]] constexpr bool operator<(instant b) const noexcept { return us < b.us; }
  [[nodiscard]] constexpr bool operator<=(instant b) const noexcept { return us <= b.us; }
  [[nodiscard]] constexpr instant operator+(microseconds d) const noexcept { return {us + d.count}; }
  // The length from `then` to this instant, zero if `then` is later.
  [[nodiscard]] constexpr microseconds since(instant then) const noexcept {
    return {us < then.us ? 0 : us - then.us};
  }
};

// Later than any instant that is reached: an idle engine with nothing due.
inline constexpr instant never{~u64{0}};

// The unit of a candidate's age: one millisecond (system.md 1), 32 bits wide, wrapping after 49.7 days.
struct tick {
  u32 ms = 0;

  // Half the range would already read as the future; a quarter leaves the walk 12 days to come round and clamp.
  static constexpr u32 oldest_age = u32{1} << 30;

  [[nodiscard]] static constexpr tick at(instant t) noexcept { return {static_cast<u32>(t.us / 1000)}; }

  // Milliseconds from this stamp to `now`, across the wrap; zero for a stamp that is ahead of `now`.
  [[nodiscard]] constexpr u32 age(tick now) const noexcept {
    const u32 difference = now.ms - ms;
    return difference > 0x7fff'ffffU ? 0U : difference;
  }
  [[nodiscard]] constexpr bool operator==(const tick&) const noexcept = default;
};

}  // namespace octep

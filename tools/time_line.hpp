// How much was forwarded and punted, over a time whose end nobody knows.
//
// What it is: 128 spans of equal length. When the time outgrows them, two become one and each is twice as long: so the memory is
// constant, and what was counted stays counted.
// Concurrency: a value.
#pragma once

#include <octep/ticks.hpp>

#include <array>
#include <vector>

namespace octep::tools {

struct time_span {
  u64 forwarded = 0, forwarded_bytes = 0;
  u64 punted = 0, punted_bytes = 0;

  [[nodiscard]] bool operator==(const time_span&) const noexcept = default;
};

class time_line {
 public:
  static constexpr usize most = 128;

  // `at` since the capture's first frame.
  void add(instant at, bool forwarded, u64 length) noexcept {
    while (at.us / length_us_ >= most) fold();
    const usize n = static_cast<usize>(at.us / length_us_);
    used_ = n + 1 > used_ ? n + 1 : used_;
    time_span& s = spans_[n];
    ++(forwarded ? s.forwarded : s.punted);
    (forwarded ? s.forwarded_bytes : s.punted_bytes) += length;
  }

  [[nodiscard]] usize size() const noexcept { return used_; }
  [[nodiscard]] const time_span& operator[](usize n) const noexcept { return spans_[n]; }
  [[nodiscard]] microseconds length() const noexcept { return {length_us_}; }

  // The same with `n` spans in one, the last perhaps of fewer.
  [[nodiscard]] std::vector<time_span> by(usize n) const {
    std::vector<time_span> all((used_ + n - 1) / n);
    for (usize i = 0; i < used_; ++i) all[i / n] = sum(all[i / n], spans_[i]);
    return all;
  }

 private:
  [[nodiscard]] static time_span sum(const time_span& a, const time_span& b) noexcept {
    return {a.forwarded + b.forwarded, a.forwarded_bytes + b.forwarded_bytes, a.punted + b.punted, a.punted_bytes + b.punted_bytes};
  }
  void fold() noexcept {
    for (usize n = 0; n < most / 2; ++n) spans_[n] = sum(spans_[2 * n], spans_[2 * n + 1]);
    for (usize n = most / 2; n < most; ++n) spans_[n] = {};
    used_ = (used_ + 1) / 2;
    length_us_ *= 2;
  }

  std::array<time_span, most> spans_{};
  usize used_ = 0;
  u64 length_us_ = 10'000;
};

}  // namespace octep::tools

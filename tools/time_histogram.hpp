// Durations, counted in fixed memory.
//
// What it is: 128 steps for every power of two of microseconds, for percentiles that are exact below 256 us and right
// within one part in 128 above; and beside them whole powers of two of milliseconds, to be shown.
// What it refuses: keeping the samples. What that buys: a capture of any length in the same memory.
// Concurrency: one thread.
#pragma once

#include <octep/base.hpp>

#include <optional>
#include <vector>

namespace octep::tools {

class time_histogram {
 public:
  // How many fell into [from_ms, below_ms).
  struct bucket {
    u64 from_ms = 0;
    u64 below_ms = 0;
    u64 count = 0;
    [[nodiscard]] bool operator==(const bucket&) const noexcept = default;
  };

  void add(u64 us) {
    const usize at = step_of(us);
    if (steps_.size() <= at) steps_.resize(at + 1);
    ++steps_[at];
    ++octaves_[bit_width(us / 1'000)];
    ++count_;
    longest_ = greatest(longest_, us);
  }

  [[nodiscard]] u64 count() const noexcept { return count_; }

  // Microseconds that `percent` in a hundred do not exceed, rounded up to a step's end. Nothing: there is no sample.
  [[nodiscard]] std::optional<u64> percentile(u64 percent) const noexcept {
    const u64 rank = greatest<u64>(1, (count_ * percent + 99) / 100);
    u64 seen = 0;
    for (usize i = 0; i < steps_.size(); ++i) {
      seen += steps_[i];
      if (rank <= seen) return least(first_of(i + 1) - 1, longest_);
    }
    return {};
  }

  // From the first that holds a sample to the last that does.
  [[nodiscard]] std::vector<bucket> powers_of_two() const {
    std::vector<bucket> all;
    u64 left = count_;
    for (u32 i = 0; left != 0; ++i) {
      left -= octaves_[i];
      if (octaves_[i] == 0 && all.empty()) continue;
      all.push_back({i == 0 ? 0 : u64{1} << (i - 1), u64{1} << i, octaves_[i]});
    }
    return all;
  }

 private:
  static constexpr u32 fine_bits = 7;
  static constexpr u64 fine = u64{1} << fine_bits;

  // The eight leading bits of the value, and how far they are shifted.
  [[nodiscard]] static constexpr usize step_of(u64 us) noexcept {
    if (us < fine) return us;
    const u32 shift = bit_width(us) - fine_bits - 1;
    return (usize{shift} << fine_bits) + (us >> shift);
  }
  [[nodiscard]] static constexpr u64 first_of(usize step) noexcept {
    if (step < 2 * fine) return step;
    const u32 shift = static_cast<u32>((step >> fine_bits) - 1);
    return (step - (usize{shift} << fine_bits)) << shift;
  }

  std::vector<u64> steps_;
  u64 octaves_[64]{};  // by bit_width of ms, which is at most 55
  u64 count_ = 0;
  u64 longest_ = 0;
};

}  // namespace octep::tools

// What everybody is given: flows, and the order in which they send.
//
// A stream is cut into windows, and a lap does one: long enough for a clock, short enough that the frames themselves stay
// in the second cache, and several of them, so that no branch predictor learns the order by heart.
#pragma once

#include <octep/tuple.hpp>

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/random.hpp"

namespace octep::bench {

enum class order : u8 { uniform, zipf };

[[nodiscard]] inline std::string_view name_of(order o) { return o == order::zipf ? "Zipf" : "uniform"; }

// All different: the number is a part of the tuple.
[[nodiscard]] inline tuple4 flow_of(u32 number, u64 seed) {
  sim::generator random{seed, number};
  const u64 addresses = random.next();
  return tuple4::make(static_cast<u32>(addresses), number, static_cast<u32>(addresses >> 32),
                      random.one_in(4) ? protocol::udp : protocol::tcp);
}

[[nodiscard]] inline std::vector<tuple4> flows_of(u32 count, u64 seed) {
  std::vector<tuple4> flows(count);
  for (u32 i = 0; i < count; ++i) flows[i] = flow_of(i, seed);
  return flows;
}

class stream {
 public:
  static constexpr u32 window_length = 16'384;

  stream(std::vector<tuple4> flows, order by, u32 windows) : flows_{std::move(flows)} {
    const u32 count = static_cast<u32>(flows_.size());
    sim::generator random{count, 1};
    std::vector<u32> next(usize{windows} * window_length);
    if (by == order::uniform) {
      for (u32& n : next) n = static_cast<u32>(random.below(count));
    } else {
      std::vector<double> weight(count);
      for (u32 i = 0; i < count; ++i) weight[i] = 1.0 / (i + 1);  // Zipf's law, exponent 1
      std::discrete_distribution<u32> draw(weight.begin(), weight.end());
      std::mt19937_64 bits{count};
      for (u32& n : next) n = draw(bits);
    }
    frames_.reserve(next.size());
    for (const u32 n : next) frames_.push_back(flows_[n]);
  }

  [[nodiscard]] const std::vector<tuple4>& flows() const { return flows_; }
  [[nodiscard]] const std::vector<tuple4>& frames() const { return frames_; }
  [[nodiscard]] std::span<const tuple4> window(u64 turn) const {
    const usize windows = frames_.size() / window_length;
    return {frames_.data() + turn % windows * window_length, window_length};
  }

 private:
  std::vector<tuple4> flows_;
  std::vector<tuple4> frames_;
};

}  // namespace octep::bench

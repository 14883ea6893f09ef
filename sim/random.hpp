// One small seeded generator, so that a seed is a history.
//
// What it is: splitmix64 (Steele, Lea, Flood, 2014): a counter and a mix. A model owns one, made from the scenario's seed
// and a stream number of its own, so that one model drawing more often changes no other model's draws.
// What it refuses: the standard distributions (their results differ between libraries) and floating point.
// What that buys: the same history from g++ and clang, debug and release, on every machine.
#pragma once

#include <octep/base.hpp>

namespace octep::sim {

class generator {
 public:
  explicit constexpr generator(u64 seed, u64 stream = 0) noexcept : state_{mix(seed) ^ mix(~stream)} {}

  [[nodiscard]] constexpr u64 next() noexcept {
    state_ += 0x9e37'79b9'7f4a'7c15U;
    return mix(state_);
  }
  // Uniform in [0, bound); 0 for bound 0.
  [[nodiscard]] constexpr u64 below(u64 bound) noexcept {
    __extension__ using wide = unsigned __int128;
    return static_cast<u64>((static_cast<wide>(next()) * bound) >> 64);
  }
  // Uniform in [low, high]; high is at least low.
  [[nodiscard]] constexpr u64 between(u64 low, u64 high) noexcept { return low + below(high - low + 1); }
  [[nodiscard]] constexpr bool one_in(u64 n) noexcept { return below(n) == 0; }

 private:
  [[nodiscard]] static constexpr u64 mix(u64 x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebU;
    return x ^ (x >> 31);
  }

  u64 state_;
};

}  // namespace octep::sim

// A race: contestants do the same work over the same stream, in turns, in one process; what counts is a ratio.
//
//   race r;
//   r.enter(role::ours, "octep", lap);       a lap does one window of a stream and returns something made of all of it
//   r.enter(role::rival, "a map", lap);
//   r.run(s.laps, s.rounds);
//   r.against_best()                         octep / the best rival
//
// In each round everybody has one turn; who begins changes from round to round, so nobody always follows the same one. A
// turn is a few laps, its time the shortest of them: the first laps warm caches and predictors up, and an interrupt only
// ever adds. A ratio is made inside a round, where the machine was the same for both, and the median over the rounds is
// the figure. The best rival is the one with the shortest median, not the luckiest of each round.
//
// Refuses: absolute times as a result (they are printed, and change with the machine's mood), and a contestant whose
// answers differ: where `answers_agree` was asked for, everybody's laps return the same number or the race ends the program.
#pragma once

#include <octep/base.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace octep::bench {

enum class role : u8 {
  ours,
  rival,
  shown,  // takes part and is reported, and is not what octep is held against
};

// `turn` numbers the laps through: a contestant takes the window of the stream that it names.
using lap = std::function<u64(u64 turn)>;

[[nodiscard]] inline double median_of(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

// Numerator over denominator, a round at a time.
struct ratio {
  double median = 0;
  double least = 0;
  double most = 0;
};

class race {
 public:
  struct contestant {
    role as;
    std::string name;
    lap go;
    std::vector<double> ns;  // an operation, by round

    [[nodiscard]] double median() const { return median_of(ns); }
  };

  explicit race(u64 operations_a_lap) : operations_{operations_a_lap} {}

  void enter(role as, std::string name, lap go) { all_.push_back({as, std::move(name), std::move(go), {}}); }

  race& answers_agree() {
    agree_ = true;
    return *this;
  }

  void run(u32 laps, u32 rounds) {
    u64 turn = 0;
    for (u32 round = 0; round < rounds; ++round, turn += laps)
      for (usize i = 0; i < all_.size(); ++i) take_turn(all_[(i + round) % all_.size()], turn, laps);
  }

  [[nodiscard]] const contestant& named(std::string_view name) const {
    for (const contestant& c : all_)
      if (c.name == name) return c;
    fail(fmt::format("nobody in the race is called {}", name));
  }
  [[nodiscard]] const contestant& best_rival() const {
    const contestant* best = nullptr;
    for (const contestant& c : all_)
      if (c.as == role::rival && (best == nullptr || c.median() < best->median())) best = &c;
    if (best == nullptr) fail("a race without a rival");
    return *best;
  }
  [[nodiscard]] const std::vector<contestant>& all() const { return all_; }

  [[nodiscard]] static ratio between(const contestant& a, const contestant& b) {
    std::vector<double> by_round;
    for (usize i = 0; i < a.ns.size(); ++i) by_round.push_back(a.ns[i] / b.ns[i]);
    const auto [least, most] = std::minmax_element(by_round.begin(), by_round.end());
    return {median_of(by_round), *least, *most};
  }

 private:
  [[noreturn]] static void fail(const std::string& why) {
    fmt::print(stderr, "octep_bench: {}\n", why);
    std::exit(1);
  }

  void take_turn(contestant& c, u64 turn, u32 laps) {
    using clock = std::chrono::steady_clock;
    double shortest = 0;
    for (u32 i = 0; i < laps; ++i) {
      const auto began = clock::now();
      const u64 said = c.go(turn + i);
      const double took = std::chrono::duration<double, std::nano>(clock::now() - began).count();
      asm volatile("" : : "r"(said));
      if (agree_) check(c, turn + i, said);
      if (i == 0 || took < shortest) shortest = took;
    }
    c.ns.push_back(shortest / static_cast<double>(operations_));
  }

  void check(const contestant& c, u64 turn, u64 said) {
    if (turn >= answers_.size()) answers_.resize(turn + 1, {false, 0});
    auto& [known, answer] = answers_[turn];
    if (known && answer != said) fail(fmt::format("{} answers {} where another answered {}", c.name, said, answer));
    known = true;
    answer = said;
  }

  u64 operations_;
  bool agree_ = false;
  std::vector<contestant> all_;
  std::vector<std::pair<bool, u64>> answers_;  // by turn
};

}  // namespace octep::bench

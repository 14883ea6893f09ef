// Every scenario of the choice over many seeds of one design, and the tables that docs/choice.md shows.
#pragma once

#include <string>
#include <vector>

#include "sim/scenarios/scenarios.hpp"

namespace octep::sim::scenarios {

// How many seeds, 1 to n, a scenario is run with. What costs more is run less often.
struct sample_sizes {
  u64 sharing = 200;      // R8, R9, N1, N3: milliseconds a run
  u64 nine_hundred = 5;   // R12
  u64 hostile = 100;      // N2, and a quarter of it beside forty
  u64 hostile_patience_s = 30;
  u64 claimers = 20;      // N2 beside those who claim kept places, and half of it beside two hundred
  u64 scans = 100;        // N2
  u64 mix = 10;
  u32 threads = 1;

  [[nodiscard]] static sample_sizes campaign();
  // Small enough for every build; the first seeds of the campaign.
  [[nodiscard]] static sample_sizes quick();
};

// A number of each run, in order.
class sample {
 public:
  sample() = default;
  explicit sample(std::vector<double> values);

  [[nodiscard]] double least() const { return values_.front(); }
  [[nodiscard]] double most() const { return values_.back(); }
  [[nodiscard]] double median() const { return part(0.5); }
  // The smallest value that at least this share does not exceed.
  [[nodiscard]] double part(double share) const;
  [[nodiscard]] double share_never() const;
  [[nodiscard]] double mean() const;
  [[nodiscard]] usize size() const noexcept { return values_.size(); }

 private:
  std::vector<double> values_;
};

struct results {
  const design* of = nullptr;

  static constexpr u32 shared_by[] = {3, 4, 5, 8, 12};  // R8
  sample slowest[5];
  sample evicted[5];
  sample made[5];
  sample colliding_found;    // R9
  sample colliding_made;
  sample colliding_slowest;
  sample stopped_growing;    // R12
  sample held;
  sample made_nothing;
  sample evicted_while_held;
  sample twelve[2];          // N1: in turn, each by its own time
  sample sixteen[2];
  static constexpr u32 beside[] = {3, 12, 40};  // N2, polls
  sample polls[3][2];        // by phase
  static constexpr u32 claimers[] = {12, 40, 200};
  sample claimed[3];         // polls beside them
  static constexpr u32 echoes[] = {100, 1'000};  // a second
  sample under_echoes[2];    // seconds
  sample scan[2];            // seconds, by phase
  sample slot[2];
  sample scan_tries;         // R16
  sample flood_tries;
  sample flood_made;
  sample of_a_tuple;         // N3, the most between two polls in any of its scenarios
  sample of_a_slot;
  sample between_polls;
  sample beside_refused;     // share
  sample share_made;
  sample ten_busiest;
};

[[nodiscard]] results judge(const design& d, const sample_sizes& n);

// Markdown, designs as rows.
[[nodiscard]] std::string tables(const std::vector<results>& all);

}  // namespace octep::sim::scenarios

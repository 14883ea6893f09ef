// What a replay counts, and the laws that the counts obey.
//
// Every frame is counted once; every connection once, when it is over: as made, or under the last reason why it was not.
// Concurrency: values.
#pragma once

#include "tools/blind_spots.hpp"
#include "tools/hardware_sums.hpp"
#include "tools/time_histogram.hpp"
#include "tools/time_line.hpp"
#include "tools/tracking.hpp"

#include <octep/reasons.hpp>
#include <octep/settings.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octep::tools {

using by_reason = array<u64, reason_count>;

[[nodiscard]] inline u64 sum(const by_reason& counts) noexcept {
  u64 total = 0;
  for (const u64 n : counts) total += n;
  return total;
}

struct replay_sums {
  // One more connection is over.
  void count(const connection& c);

  // The capture.
  u64 frames = 0;
  u64 bytes = 0;  // on the wire
  double seconds = 0;

  u64 forwarded = 0, forwarded_bytes = 0;
  u64 punted = 0, punted_bytes = 0;
  u64 candidates = 0;         // of the punted
  by_reason not_candidate{};  // of the punted
  by_reason not_candidate_bytes{};

  u64 connections = 0;
  u64 made = 0;
  u64 picked_up = 0;     // TCP without its SYN
  by_reason not_made{};  // by the last reason
  by_reason not_made_frames{};  // what the host had of those
  by_reason not_made_bytes{};
  u64 made_frames = 0;          // what the host had of those that were made
  u64 made_bytes = 0;
  // Those with the most bytes, most first: of all connections, made or not, by what the host had of each.
  static constexpr usize most_worst = 10;
  std::vector<connection> worst;

  hardware_sums hardware;
  time_line over_time;
  bool interrupted = false;

  time_histogram time_to_made;  // from the first punted frame

  std::vector<std::pair<std::string, u64>> counters;
  settings values;
  std::vector<blind_spot> cannot_tell;
  u64 left_out = 0, left_out_bytes = 0;  // frames that were read and are another one's second sight: counted nowhere else
  std::vector<std::string> warnings;  // one line each

  // Of `counters`; 0 where there is none of that name.
  [[nodiscard]] u64 counted(std::string_view name) const;
};

// The laws of the sums, after `frames_read` records, while `living` connections are still to be counted. Nothing: they hold.
// Otherwise the first that does not, in words: a defect of octep, never of a capture.
[[nodiscard]] std::optional<std::string> contradiction(const replay_sums& sums, u64 frames_read, u64 living);

}  // namespace octep::tools

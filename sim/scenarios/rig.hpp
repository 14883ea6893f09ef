// What every scenario of the candidate table stands on: an appliance of a design, its traffic, and what was seen of it.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/scenarios/designs.hpp"
#include "sim/scenarios/driver.hpp"

namespace octep::sim::scenarios {

// Everything below 198.18.0.0/15 (RFC 2544, for measurements) is a stranger: the firewall drops its frames.
[[nodiscard]] bool is_stranger(address4 a) noexcept;

struct made_when {
  instant at;
  asker by = asker::poll;
};

class rig {
 public:
  rig(const design& d, u64 seed, bool nat = false);
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  [[nodiscard]] appliance& box() noexcept { return *box_; }
  [[nodiscard]] driver& traffic() noexcept { return traffic_; }
  [[nodiscard]] generator& random() noexcept { return random_; }

  // --- tuples ---------------------------------------------------------------------------------------------
  [[nodiscard]] u32 slot_of(const tuple4& t) const noexcept { return top_bits(hash_(t), slot_bits_); }
  // A UDP flow of a host behind the appliance to a server, from a port never used before in this rig.
  [[nodiscard]] tuple4 fresh_flow();
  // Such a flow whose opening tuple is in `slot`, and whose answers are not.
  [[nodiscard]] tuple4 fresh_flow_in(u32 slot);
  // Such a flow with both tuples in one slot.
  [[nodiscard]] tuple4 fresh_self_colliding();
  // An echo request of such a host whose tuple is in `slot`, and whose replies are not.
  [[nodiscard]] tuple4 fresh_echo_in(u32 slot);
  // A tuple that the firewall lets nowhere; in `slot`, where one is given.
  [[nodiscard]] tuple4 stranger(std::optional<u32> slot = {});
  // An instant somewhere in the second after `from`: polls are on whole seconds.
  [[nodiscard]] instant any_phase_after(instant from) { return from + microseconds{random_.below(1'000'000)}; }

  // --- what was seen --------------------------------------------------------------------------------------
  [[nodiscard]] const made_when* made(const tuple4& opener) const;
  [[nodiscard]] usize made_count() const noexcept { return made_.size(); }
  [[nodiscard]] instant last_made() const noexcept { return last_made_; }
  // Polls that have begun in the time up to `at`, from the first one after `from`.
  [[nodiscard]] u64 polls_between(instant from, instant at) const;
  // Attempts to make that runs began, all of them, refused ones, and the most that one tuple, one slot, or all of them saw
  // between two polls.
  struct attempts {
    u64 all = 0;
    u64 refused = 0;
    u64 most_of_a_tuple = 0;
    u64 most_of_a_slot = 0;
    u64 most_between_polls = 0;
  };
  [[nodiscard]] const attempts& run_attempts() const noexcept { return attempts_; }
  [[nodiscard]] u64 counter(const char* name) const;

 private:
  void see(const event& e);
  void run_tried(const tuple4& t);

  std::unique_ptr<appliance> box_;
  any_hash hash_;
  u32 slot_bits_;
  generator random_;
  driver traffic_;
  std::unordered_map<wide_tuple, made_when, wide_tuple_hash> made_;
  std::unordered_map<wide_tuple, bool, wide_tuple_hash> used_;
  std::unordered_map<wide_tuple, u64, wide_tuple_hash> tried_;
  std::vector<u64> tried_in_;
  u64 tried_now_ = 0;
  attempts attempts_;
  instant last_made_;
  std::vector<instant> polls_;
};

}  // namespace octep::sim::scenarios

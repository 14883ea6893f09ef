// Designs of the record, as policies (record.md, "Configurations"). The hash is chosen at run time: h0 is `hash_kind::fault`,
// h1 `hash_kind::recorded`. Runs, makes between polls and the rest are settings.
//
//   p1, p4   places a slot
//   b0, b1   what a walk's budget counts: attempts, or commands posted
//
// Each walks from slot 0, holds one bit a slot and clears it when the walk begins. `p4_unmarked` holds none.
#pragma once

#include "sim/box.hpp"

namespace octep::sim {

template <u32 Places, walk_counts Counts>
struct recorded_design {
  using atomics = builtin_atomics;
  using hash = any_hash;
  using choice = oldest_goes;
  using tags = scalar_tags;
  using refusals = refusals_by_slot<64>;
  using make_budget = shared_budget<builtin_atomics>;
  static constexpr limits geometry{.slots = 64, .places = Places};
  static constexpr u32 rings = punt_rings;
  static constexpr walk_counts walk_budget = Counts;
  static constexpr bool walk_resumes = false;
  static constexpr bool walk_end_clears_marks = false;
  static constexpr u32 walk_slice = ~u32{0};
  static constexpr full_table room = full_table::keeps_all;
  static constexpr bool ipv6 = true;
};

// Marks as they were before the record's review: nobody keeps any.
struct no_marks {
  template <tuple_type Tuple>
  void mark(const Tuple&, u32, u32) noexcept {}
  template <tuple_type Tuple>
  [[nodiscard]] bool holds(const Tuple&, u32, u32) const noexcept {
    return false;
  }
  void clear() noexcept {}
  [[nodiscard]] u32 fell_back() const noexcept { return 0; }
};

// p4_b1 without marks.
struct p4_unmarked {
  using atomics = builtin_atomics;
  using hash = any_hash;
  using choice = oldest_goes;
  using tags = scalar_tags;
  using refusals = no_marks;
  using make_budget = shared_budget<builtin_atomics>;
  static constexpr limits geometry{.slots = 64, .places = 4};
  static constexpr u32 rings = punt_rings;
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  static constexpr bool walk_resumes = false;
  static constexpr bool walk_end_clears_marks = false;
  static constexpr u32 walk_slice = ~u32{0};
  static constexpr full_table room = full_table::keeps_all;
  static constexpr bool ipv6 = true;
};

using p1_b0 = recorded_design<1, walk_counts::attempts>;
using p1_b1 = recorded_design<1, walk_counts::commands_posted>;
using p4_b1 = recorded_design<4, walk_counts::commands_posted>;

}  // namespace octep::sim

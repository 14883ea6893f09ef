// Engines for the tests of passes: the walk and the marks as we have them, and as the record had them.
#pragma once

#include "test/engine/fake_world.hpp"

namespace octep::test {

// One slot with room for many, so that a walk's order is its places' order.
template <walk_counts Counts, bool Resumes, class Refusals>
struct walk_policies {
  using atomics = builtin_atomics;
  using hash = fold_mix;
  using choice = oldest_goes;
  using tags = scalar_tags;
  using refusals = Refusals;
  using make_budget = plain_budget;
  static constexpr limits geometry{.slots = 16, .places = 16};
  static constexpr u32 rings = 1;
  static constexpr walk_counts walk_budget = Counts;
  static constexpr bool walk_resumes = Resumes;
  static constexpr bool walk_end_clears_marks = Resumes;
  static constexpr u32 walk_slice = 1'000;
  static constexpr full_table room = full_table::idle_makes_room;
  static constexpr bool ipv6 = true;
};
using ours = walk_policies<walk_counts::commands_posted, true, refusals_by_tuple<16, 64>>;
using recorded = walk_policies<walk_counts::attempts, false, refusals_by_slot<16>>;

constexpr start_options roomy{.connections = 64, .next_hops = 8, .ipv6_connections = false};

}  // namespace octep::test

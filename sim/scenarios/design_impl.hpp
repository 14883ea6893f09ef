// What each unit of sim/scenarios/design_*.cpp instantiates.
#pragma once

#include <cstdlib>
#include <type_traits>

#include "sim/box.hpp"
#include "sim/recorded_designs.hpp"
#include "sim/scenarios/designs.hpp"

namespace octep::sim::scenarios {

// The default design around another choice and geometry, its hash chosen at run time.
template <class Choice, u32 Slots, u32 Places>
struct ours {
  using atomics = builtin_atomics;
  using hash = any_hash;
  using choice = Choice;
  using tags = vector_tags;
  using refusals = refusals_by_tuple<Slots>;
  using make_budget = plain_budget;
  static constexpr limits geometry{.slots = Slots, .places = Places};
  static constexpr u32 rings = punt_rings;
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  static constexpr bool walk_resumes = true;
  static constexpr bool walk_end_clears_marks = true;
  static constexpr u32 walk_slice = default_policies::walk_slice;
};

template <class Policies>
[[nodiscard]] std::unique_ptr<appliance> make_box(const appliance_options& options) {
  auto made = std::make_unique<box<Policies>>(options);
  if (!made->started()) std::abort();  // options of a scenario that its device cannot have
  return made;
}

template <class Policies>
[[nodiscard]] design describe(const char* name, const char* what, bool recorded) {
  constexpr bool is_default = std::is_same_v<typename Policies::choice, typename default_policies::choice> &&
                              Policies::geometry == default_policies::geometry;
  return {name, what, recorded, is_default && !recorded, Policies::geometry.slots, Policies::geometry.places,
          &make_box<Policies>};
}

}  // namespace octep::sim::scenarios

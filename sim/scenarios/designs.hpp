// The designs that the scenarios of the candidate table compare: one line each in designs.cpp. A scenario knows an appliance
// and this description, so it is compiled once.
#pragma once

#include <memory>
#include <vector>

#include "sim/appliance.hpp"

namespace octep::sim::scenarios {

struct design {
  const char* name;
  const char* what;
  bool recorded;    // of the record: its hash, its walk from slot 0, its held bit a slot
  bool is_default;  // its choice and geometry are those of `default_policies`
  u32 slots;
  u32 places;
  choice_kind choice;
  // An appliance of this design; of `options` slots, places, choice and hash are this description's.
  std::unique_ptr<appliance> (*make)(const appliance_options& options);

  [[nodiscard]] hash_kind hash() const noexcept { return recorded ? hash_kind::recorded : hash_kind::keyed; }
};

[[nodiscard]] const std::vector<design>& designs();
// The design of that name; null for none.
[[nodiscard]] const design* find_design(const char* name);
// octep's own. Aborts where the engine's default is not among those that are compared.
[[nodiscard]] const design& default_design();

// --- the record's, a unit each, for the engine that it instantiates -------------------------------------------------
[[nodiscard]] design recorded_one_place();
[[nodiscard]] design recorded_four_places();

}  // namespace octep::sim::scenarios

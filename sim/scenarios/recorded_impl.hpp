// What each unit of sim/scenarios/recorded_*.cpp instantiates.
#pragma once

#include <cstdlib>

#include "sim/box.hpp"
#include "sim/recorded_designs.hpp"
#include "sim/scenarios/designs.hpp"

namespace octep::sim::scenarios {

template <class Policies>
[[nodiscard]] std::unique_ptr<appliance> make_recorded(const appliance_options& options) {
  auto made = std::make_unique<box<Policies>>(options);
  if (!made->started()) std::abort();  // options of a scenario that its device cannot have
  return made;
}

template <class Policies>
[[nodiscard]] design recorded(const char* name, const char* what) {
  return {name,
          what,
          true,
          false,
          Policies::geometry.slots,
          Policies::geometry.places,
          choice_kind::oldest,
          &make_recorded<Policies>};
}

}  // namespace octep::sim::scenarios

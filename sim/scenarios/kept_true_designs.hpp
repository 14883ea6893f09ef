// What the rows of kept_true.hpp see of a table, where an appliance does not show it.
#pragma once

#include <optional>

#include "sim/scenarios/kept_true.hpp"

namespace octep::sim::scenarios {

// Places of IPv4 that hold a candidate, read or not; nothing where the appliance is of another design than p4 and the
// default.
[[nodiscard]] std::optional<u64> places_written(appliance& of);

}  // namespace octep::sim::scenarios

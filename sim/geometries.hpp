// The geometries of the candidate table that `appliance::make` knows: one unit for each choice and number of places.
#pragma once

#include <memory>
#include <string>

#include "sim/appliance.hpp"

namespace octep::sim {

// Null with one line in `error` where no such number of slots is compiled in.
template <class Choice, u32 Places>
[[nodiscard]] std::unique_ptr<appliance> with_table(const appliance_options& options, std::string& error);

}  // namespace octep::sim

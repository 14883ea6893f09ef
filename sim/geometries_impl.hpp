// What each unit of sim/geometry_*.cpp instantiates.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/box.hpp"
#include "sim/geometries.hpp"

namespace octep::sim {

template <class Choice, u32 Places>
std::unique_ptr<appliance> with_table(const appliance_options& o, std::string& error) {
  switch (o.slots) {
    case 16: return std::make_unique<box<replay_policies<Choice, 16, Places>>>(o);
    case 64: return std::make_unique<box<replay_policies<Choice, 64, Places>>>(o);
    case 128: return std::make_unique<box<replay_policies<Choice, 128, Places>>>(o);
    case 1'024: return std::make_unique<box<replay_policies<Choice, 1'024, Places>>>(o);
    default: break;
  }
  error = fmt::format("no geometry with {} slots (there are {})", o.slots, fmt::join(appliance::slot_choices(), ", "));
  return nullptr;
}

}  // namespace octep::sim

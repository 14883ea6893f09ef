// The boxes that are compiled in: the default design in the tables that a tool may choose. Apart from the models, since each of
// them is an engine, which takes seconds to compile.
#include "sim/appliance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/geometries.hpp"

namespace octep::sim {

const std::vector<u32>& appliance::slot_choices() {
  static const std::vector<u32> all{16, 64, 128, 1'024};
  return all;
}

const std::vector<u32>& appliance::place_choices() {
  static const std::vector<u32> all{1, 4, 16};
  return all;
}

choice_kind appliance::choice_of(const appliance_options& o) {
  return o.choice.value_or(o.places == 16 ? choice_kind::rank : choice_kind::oldest);
}

std::unique_ptr<appliance> appliance::make(const appliance_options& o, std::string& error) {
  if (o.connections == 0 || o.connections > o.device.connections || o.next_hops > o.device.next_hops) {
    error = fmt::format("{} has room for {} connections and {} next hops", o.device.name, o.device.connections,
                        o.device.next_hops);
    return nullptr;
  }
  if (choice_of(o) == choice_kind::rank) {
    if (o.places == 16) return with_table<rank_and_lot, 16>(o, error);
    error = fmt::format("the choice by rank is compiled in for 16 places a slot, not for {}", o.places);
    return nullptr;
  }
  switch (o.places) {
    case 1: return with_table<oldest_goes, 1>(o, error);
    case 4: return with_table<oldest_goes, 4>(o, error);
    case 16: return with_table<oldest_goes, 16>(o, error);
    default: break;
  }
  error = fmt::format("no geometry with {} places a slot (there are {})", o.places, fmt::join(place_choices(), ", "));
  return nullptr;
}

}  // namespace octep::sim

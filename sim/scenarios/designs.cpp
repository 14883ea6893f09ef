#include "sim/scenarios/designs.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace octep::sim::scenarios {

namespace {

// One of the tables that are compiled in for everybody.
std::unique_ptr<appliance> make_ours(const appliance_options& options) {
  std::string error;
  auto made = appliance::make(options, error);
  if (made == nullptr) std::abort();  // options of a scenario that its device cannot have
  return made;
}

design ours(const char* name, const char* what, choice_kind choice, limits table) {
  const appliance_options standard;
  const bool is_default = table == default_policies::geometry && choice == appliance::choice_of(standard);
  return {name, what, false, is_default, table.slots, table.places, choice, &make_ours};
}

}  // namespace

const std::vector<design>& designs() {
  static const std::vector<design> all{
      recorded_one_place(),
      recorded_four_places(),
      ours("O4", "4 places, oldest goes, octep's walk and marks", choice_kind::oldest, {64, 4}),
      ours("E16", "16 places, oldest goes", choice_kind::oldest, {64, 16}),
      ours("C16", "16 places, ranks, clock, lottery and reserve", choice_kind::rank, {64, 16}),
      ours("C16/128", "the same in 128 slots", choice_kind::rank, {128, 16}),
  };
  return all;
}

const design* find_design(const char* name) {
  for (const design& d : designs())
    if (std::strcmp(d.name, name) == 0) return &d;
  return nullptr;
}

const design& default_design() {
  for (const design& d : designs())
    if (d.is_default) return d;
  std::abort();
}

}  // namespace octep::sim::scenarios

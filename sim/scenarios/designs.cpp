#include "sim/scenarios/designs.hpp"

#include <cstring>

namespace octep::sim::scenarios {

const std::vector<design>& designs() {
  static const std::vector<design> all{
      recorded_one_place(),
      recorded_four_places(),
      ours_four_places(),
      ours_sixteen_places(),
      ranked_sixteen_places(),
      ranked_in_twice_the_slots(),
  };
  return all;
}

const design* find_design(const char* name) {
  for (const design& d : designs())
    if (std::strcmp(d.name, name) == 0) return &d;
  return nullptr;
}

}  // namespace octep::sim::scenarios

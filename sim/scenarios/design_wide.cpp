#include "sim/scenarios/design_impl.hpp"

namespace octep::sim::scenarios {

design ranked_in_twice_the_slots() {
  return describe<ours<rank_and_lot, 128, 16>>("C16/128", "the same in 128 slots", false);
}

}  // namespace octep::sim::scenarios

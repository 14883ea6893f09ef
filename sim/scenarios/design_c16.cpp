#include "sim/scenarios/design_impl.hpp"

namespace octep::sim::scenarios {

design ranked_sixteen_places() {
  return describe<ours<rank_and_lot, 64, 16>>("C16", "16 places, ranks, clock, lottery and reserve", false);
}

}  // namespace octep::sim::scenarios

#include "sim/scenarios/design_impl.hpp"

namespace octep::sim::scenarios {

design ours_four_places() { return describe<ours<oldest_goes, 64, 4>>("O4", "4 places, oldest goes, octep's walk and marks", false); }

}  // namespace octep::sim::scenarios

#include "sim/scenarios/design_impl.hpp"

namespace octep::sim::scenarios {

design ours_sixteen_places() { return describe<ours<oldest_goes, 64, 16>>("E16", "16 places, oldest goes", false); }

}  // namespace octep::sim::scenarios

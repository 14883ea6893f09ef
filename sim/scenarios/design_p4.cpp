#include "sim/scenarios/design_impl.hpp"

namespace octep::sim::scenarios {

design recorded_four_places() { return describe<p4_b1>("p4", "4 places, oldest goes (recorded)", true); }

}  // namespace octep::sim::scenarios

#include "sim/scenarios/recorded_impl.hpp"

namespace octep::sim::scenarios {

design recorded_four_places() { return recorded<p4_b1>("p4", "4 places, oldest goes (recorded)"); }

}  // namespace octep::sim::scenarios

#include "sim/scenarios/design_impl.hpp"

namespace octep::sim::scenarios {

design recorded_one_place() { return describe<p1_b1>("p1", "one place, oldest goes (recorded)", true); }

}  // namespace octep::sim::scenarios

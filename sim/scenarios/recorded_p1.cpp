#include "sim/scenarios/recorded_impl.hpp"

namespace octep::sim::scenarios {

design recorded_one_place() { return recorded<p1_b1>("p1", "one place, oldest goes (recorded)"); }

}  // namespace octep::sim::scenarios

#include "sim/geometries_impl.hpp"

namespace octep::sim {

template std::unique_ptr<appliance> with_table<rank_and_lot, 16>(const appliance_options&, std::string&);

}  // namespace octep::sim

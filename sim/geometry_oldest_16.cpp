#include "sim/geometries_impl.hpp"

namespace octep::sim {

template std::unique_ptr<appliance> with_table<oldest_goes, 16>(const appliance_options&, std::string&);

}  // namespace octep::sim

// What would change that a connection or a frame is not in hardware, on one box: the reason's own advice, where it leads somewhere.
//
// Concurrency: functions of their arguments.
#pragma once

#include "sim/appliance.hpp"

#include <octep/reasons.hpp>

#include <fmt/format.h>

#include <string>

namespace octep::tools {

// Whether any pass may make a connection.
[[nodiscard]] inline bool makes_connections(const settings& values) noexcept {
  return values.on(setting::enable) && values.on(setting::auto_make);
}

[[nodiscard]] inline std::string advice(reason why, const device_facts& device) {
  if (why == reason::flow_family && !device.forwards_ipv6) return fmt::format("No setting: {} does not forward IPv6.", device.name);
  return row(why).change;
}

}  // namespace octep::tools

// What the figures were measured on: processor, caches, governor, virtualisation, load, compiler, flags, commit.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace octep::bench {

// Name and text, in the order to print. What a machine does not say is "unknown".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> machine();

}  // namespace octep::bench

// Files that are part of the command: the page of `octep replay --html` and its charting library (tools/CMakeLists.txt).
//
// Concurrency: a function of its argument.
#pragma once

#include <string>
#include <string_view>

namespace octep::tools {

// The text of "report.html", "report.css", "report.js", "chart.js" or "chart.licence"; empty where the build has none of that name.
[[nodiscard]] std::string embedded(std::string_view name);

}  // namespace octep::tools

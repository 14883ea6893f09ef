// The report as one page with charts, that needs no network: styles, scripts, the charting library and the figures are in it.
//
// What it is: tools/page/ with the JSON report and the reasons' texts put in; a script in the page makes tables and charts of them.
// Without scripts the page shows the text report.
// What it refuses: being a second report. What the JSON does not say, the page does not show.
// Concurrency: functions of their arguments.
#pragma once

#include "tools/replay_options.hpp"

#include <string>
#include <string_view>

namespace octep::tools {

// Whether this build has the charting library.
[[nodiscard]] bool has_charts();

// `report` is its JSON and `text` its text.
[[nodiscard]] std::string report_html(std::string_view report, std::string_view text, const replay_options& options);

}  // namespace octep::tools

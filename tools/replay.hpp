// `octep replay`: a capture goes through octep, and a report says what hardware would have forwarded, what not, and why.
//
// What it is: options, capture, loop and report put together. Nothing is printed by halves: the report is made when the
// capture has been read to its end.
// Concurrency: one thread.
#pragma once

#include "tools/replay_options.hpp"
#include "tools/replay_sums.hpp"

#include <string>

namespace octep::tools {

// What the models of this version leave out, for whoever would otherwise read too much into the figures.
[[nodiscard]] const char* what_is_not_modelled() noexcept;

[[nodiscard]] std::string report_text(const replay_sums& sums, const replay_options& options);
[[nodiscard]] std::string report_json(const replay_sums& sums, const replay_options& options);

// `octep replay`, without its name.
[[nodiscard]] outcome replay_command(const arguments& given);

}  // namespace octep::tools

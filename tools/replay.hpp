// `octep replay`: a capture goes through octep, and a report says what hardware would have forwarded, what not, and why.
//
// What it is: options, capture, loop and report put together. Nothing is printed by halves: the report is made when the
// capture has been read to its end.
// Concurrency: one thread.
#pragma once

#include "tools/replay_options.hpp"
#include "tools/replay_sums.hpp"
#include "tools/screen.hpp"

#include <string>
#include <vector>

namespace octep::tools {

// What the models of this version leave out, for whoever would otherwise read too much into the figures.
[[nodiscard]] const char* what_is_not_modelled() noexcept;

// What became of a connection, in one true sentence.
[[nodiscard]] std::string sentence_about(const connection& c);

// What came of the same frames in one more box.
struct compared_sums {
  std::string name;
  replay_sums sums;
};

// `sums` of the box as asked, `compared` of the others.
[[nodiscard]] std::string report_text(const replay_sums& sums, const std::vector<compared_sums>& compared,
                                      const replay_options& options, const screen& on);
[[nodiscard]] std::string report_json(const replay_sums& sums, const std::vector<compared_sums>& compared,
                                      const replay_options& options);

// `octep replay`, without its name.
[[nodiscard]] outcome replay_command(const arguments& given);

}  // namespace octep::tools

// What `octep replay` was asked: a capture, and the box to send it through.
//
// Concurrency: functions of their arguments.
#pragma once

#include "sim/appliance.hpp"
#include "tools/command.hpp"
#include "tools/tuple_text.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace octep::tools {

// One more box that the same frames go through.
struct compared_box {
  std::string name;  // what it has that the first has not: "fast_make=0", "device xgs136"
  sim::appliance_options box;
};

struct replay_options {
  std::string file;  // "-": standard input
  sim::appliance_options box;
  std::vector<compared_box> compared;
  std::optional<any_address> nat_of;  // the NAT whose both sides are in the capture, by its outside address
  bool json = false;
  std::string trace;  // a file to write, or nothing
  std::string csv;
  std::string html;
  std::optional<any_tuple> why;  // the story of this one instead of the report
  std::optional<instant> at;     // as it is then; nothing: at the capture's end
};

// The options, or what to answer instead: the help that was asked for, or one line about what makes no sense.
[[nodiscard]] std::variant<replay_options, outcome> parse_replay_options(const arguments& given);

// "NAME=VALUE" into `values`. Empty: done. Otherwise one line that says what is wrong, with the range if that is it.
[[nodiscard]] std::string apply_setting(std::string_view assignment, settings& values);

// Every setting, one a paragraph.
[[nodiscard]] std::string settings_help();

}  // namespace octep::tools

// What a subcommand of `octep` answers: everything it has to say, before a byte of it is written.
//
// What that buys: nothing is ever printed by halves, and tests call commands as functions.
#pragma once

#include <octep/base.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace octep::tools {

enum exit_status : int {
  status_done = 0,
  status_input = 1,   // what was to be read cannot be
  status_usage = 2,   // what was asked makes no sense
  status_broken = 3,  // octep contradicts itself: a defect
  status_interrupted = 130,  // by SIGINT; what was done until then is in the answer
};

struct outcome {
  int status = status_done;
  std::string out;
  std::vector<std::string> complaints;  // a line each for standard error, without the command's name
};

using arguments = std::vector<std::string>;

[[nodiscard]] inline outcome refused(int status, std::string complaint) {
  return {status, {}, {std::move(complaint)}};
}

// Control characters, which a path or an argument may hold, would break a line or a terminal.
[[nodiscard]] inline std::string one_line(std::string_view text) {
  std::string line{text};
  const auto byte = [&line](usize i) { return static_cast<unsigned char>(line[i]); };
  for (usize i = 0; i < line.size(); ++i) {
    if (byte(i) < 0x20 || byte(i) == 0x7f) line[i] = '?';
    // U+0080 to U+009F, which terminals obey as well.
    if (byte(i) == 0xc2 && i + 1 < line.size() && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0) line[i] = line[i + 1] = '?';
  }
  return line;
}

}  // namespace octep::tools

// octep: the command. It finds the subcommand, and is the only place that writes to standard output and standard error.
#include "tools/build_info.hpp"
#include "tools/command.hpp"
#include "tools/definitions.hpp"
#include "tools/replay.hpp"
#include "tools/replay_options.hpp"
#include "tools/slot.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace octep::tools {
namespace {

outcome help_command(const arguments& given);

outcome version_command(const arguments&) {
  return {status_done,
          fmt::format("octep {} (commit {}, {}, {})\n", build_version(), build_commit(), build_compiler(), build_flags()),
          {}};
}

struct subcommand {
  const char* name;
  const char* what;
  outcome (*run)(const arguments&);
};

constexpr subcommand subcommands[] = {
    {"replay", "sends a capture through octep and a model coprocessor", replay_command},
    {"slot", "where a connection's tuples fall in the candidate table", slot_command},
    {"definitions", "the pages on settings, counters and reasons", definitions_command},
    {"help", "says how a command is used; `octep help settings` lists the settings", help_command},
    {"version", "what was built, from which commit", version_command},
};

const subcommand* find(const std::string& name) {
  const std::string wanted = name == "--help" || name == "-h" ? "help" : name == "--version" ? "version" : name;
  for (const subcommand& s : subcommands)
    if (wanted == s.name) return &s;
  return nullptr;
}

std::string overview() {
  std::string text = "octep: chooses which connections of a firewall a forwarding coprocessor should carry\n\n";
  for (const subcommand& s : subcommands) text += fmt::format("  octep {:<12} {}\n", s.name, s.what);
  return text + "\nA first look, at a capture of your own or one of test/captures:\n\n  octep replay FILE\n";
}

outcome help_command(const arguments& given) {
  if (given.empty()) return {status_done, overview(), {}};
  if (given.front() == "settings") return {status_done, settings_help(), {}};
  const subcommand* const s = find(given.front());
  if (s == nullptr)
    return refused(status_usage, fmt::format("there is no command `{}`; `octep help` lists them", given.front()));
  return s->run == help_command || s->run == version_command ? outcome{status_done, overview(), {}} : s->run({"--help"});
}

// Everything at once; what cannot be written is an error, not a shorter report.
int tell(const std::string& who, outcome answer) {
  const auto& out = answer.out;
  const bool written = std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0;
  if (!written) {
    answer.status = status_input;
    answer.complaints = {fmt::format("cannot write the output: {}", std::strerror(errno))};
  }
  for (const std::string& complaint : answer.complaints)
    std::fputs(fmt::format("{}: {}\n", who, one_line(complaint)).c_str(), stderr);
  return answer.status;
}

int run(const arguments& given) {
  if (given.empty()) return tell("octep", refused(status_usage, "a command is missing; `octep help` lists them"));
  const subcommand* const s = find(given.front());
  if (s == nullptr)
    return tell("octep", refused(status_usage, fmt::format("there is no command `{}`; `octep help` lists them", given.front())));
  return tell(fmt::format("octep {}", s->name), s->run(arguments{given.begin() + 1, given.end()}));
}

}  // namespace
}  // namespace octep::tools

int main(int count, char** values) {
  return octep::tools::run(count < 1 ? octep::tools::arguments{} : octep::tools::arguments{values + 1, values + count});
}

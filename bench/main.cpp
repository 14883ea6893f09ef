// octep_bench: every target of performance, against rivals in the same run. `tools/bench` builds and calls it.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "bench/report.hpp"
#include "bench/targets/targets.hpp"

namespace {

using namespace octep;
using namespace octep::bench;

constexpr const char* usage =
    "usage: octep_bench [--quick] [--json FILE|-] [--only ID]... [--repeat N] [--check] [--handicap X] [--help]\n"
    "\n"
    "  --quick       fewer rounds: under a minute\n"
    "  --json FILE   the figures as JSON as well; -: to standard output, the table then goes to standard error\n"
    "  --only ID     this target and what is below it: P1, P4-2000000; may be given several times\n"
    "  --repeat N    everything N times (1 to 100); a target holds when it held in each\n"
    "  --check       exit status 1 where a ratio is worse than twice its target\n"
    "  --handicap X  multiplies octep's figures by X: shows that the check fails\n"
    "\n"
    "Exit status: 0; 1 with --check and a ratio far off, or where something broke; 2 for wrong usage.\n";

[[noreturn]] void wrong(const std::string& why) {
  fmt::print(stderr, "octep_bench: {}\n{}", why, usage);
  std::exit(2);
}

double number(std::string_view option, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(value >= least && value <= most))
    wrong(fmt::format("{} takes a number from {} to {}, not '{}'", option, least, most, text));
  return value;
}

options read(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) wrong(fmt::format("{} takes a value", arg));
      return argv[++i];
    };
    if (arg == "--quick") o.quick = true;
    else if (arg == "--check") o.check = true;
    else if (arg == "--help" || arg == "-h") o.help = true;
    else if (arg == "--json") o.json = value();
    else if (arg == "--only") o.only.push_back(value());
    else if (arg == "--handicap") o.handicap = number(arg, value(), 0.01, 1'000);
    else if (arg == "--repeat") {
      const double n = number(arg, value(), 1, 100);
      o.repeat = static_cast<u32>(n);
      if (o.repeat != n) wrong("--repeat takes a whole number");
    } else wrong(fmt::format("no option '{}'", arg));
  }
  for (const std::string& id : o.only) {
    bool known = false;
    for (const family& f : families)
      for (const std::string_view of : f.ids) known = known || covers(of, id);
    if (!known) wrong(fmt::format("no target '{}'; there are P1 to P7 and P9", id));
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const options o = read(argc, argv);
  if (o.help) {
    fmt::print("{}", usage);
    return 0;
  }
  report out{o};
  out.head();
  for (u32 run = 1; run <= o.repeat; ++run) {
    out.begin_run(run);
    for (const family& f : families) {
      bool wanted = false;
      for (const std::string_view id : f.ids) wanted = wanted || out.wants(id);
      if (wanted) f.measure(out, o);
    }
  }
  return out.finish();
}

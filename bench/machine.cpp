#include "bench/machine.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string_view>
#include <sys/utsname.h>
#include <thread>

#include "tools/build_info.hpp"

namespace octep::bench {
namespace {

std::string first_line(const std::string& path) {
  std::string text;
  std::ifstream file{path};
  std::getline(file, text);
  return text;
}

std::string of_cpuinfo(std::string_view field) {
  std::ifstream file{"/proc/cpuinfo"};
  for (std::string text; std::getline(file, text);)
    if (text.starts_with(field))
      if (const auto at = text.find(": "); at != std::string::npos) return text.substr(at + 2);
  return {};
}

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

std::string caches() {
  std::string text;
  for (int i = 0;; ++i) {
    const std::string at = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string size = first_line(at + "size");
    if (size.empty()) return or_unknown(text);
    const std::string kind = first_line(at + "type");
    text += fmt::format("{}L{}{} {}", text.empty() ? "" : ", ", first_line(at + "level"),
                        kind == "Data" ? "d" : kind == "Instruction" ? "i" : "", size);
  }
}

std::string virtualised() {
  if ((" " + of_cpuinfo("flags") + " ").find(" hypervisor ") == std::string::npos) return "not seen";
  const std::string by = first_line("/sys/class/dmi/id/sys_vendor");
  return by.empty() ? "yes" : fmt::format("yes ({})", by);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> machine() {
  utsname system{};
  (void)uname(&system);  // leaves it blank where it fails
  return {
      {"cpu", fmt::format("{}, family {} model {}, {} cores", or_unknown(of_cpuinfo("model name")),
                          or_unknown(of_cpuinfo("cpu family")), or_unknown(of_cpuinfo("model\t")),
                          std::thread::hardware_concurrency())},
      {"caches", caches()},
      {"governor", or_unknown(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
      {"virtual", virtualised()},
      {"load", or_unknown(first_line("/proc/loadavg"))},
      {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
      {"compiler", fmt::format("{} {}", tools::build_compiler(), tools::build_flags())},
      {"commit", std::string{tools::build_commit()}},
  };
}

}  // namespace octep::bench

// Every output of every capture of this repository, as a number in test/captures/outputs.json: the compilers, the sanitizers'
// builds and the machines that run this agree to the byte.
//
// Whoever changes what a replay says, or the models, or a default, changes these numbers: OCTEP_WRITE_OUTPUTS=1 writes them anew.
#include "tools/replay.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

using json = nlohmann::ordered_json;

const std::string expected_file = std::string{OCTEP_SOURCE_DIR} + "/test/captures/outputs.json";

// FNV-1a: it has to tell bytes apart, not to resist anybody.
std::string number_of(const std::string& text) {
  u64 h = 0xcbf2'9ce4'8422'2325U;
  for (const char c : text) h = (h ^ static_cast<u8>(c)) * 0x100'0000'01b3U;
  return fmt::format("{:016x}", h);
}

std::string content(const std::string& path) {
  std::ifstream file{path};
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

// By output; paths are as somebody types them in the project's folder, where tests run.
json outputs_of(const std::string& capture) {
  const temporary_file csv{{}}, trace{{}};
  const outcome text = replay_command({capture, "--csv", csv.path(), "--trace", trace.path()});
  const outcome object = replay_command({capture, "--json", "--nat", "--compare", "fast_make_log2=2", "--compare-device"});
  EXPECT_EQ(text.status, status_done);
  EXPECT_EQ(object.status, status_done);
  return {{"text", number_of(text.out)}, {"json", number_of(object.out)}, {"csv", number_of(content(csv.path()))}, {"trace", number_of(content(trace.path()))}};
}

TEST(Outputs, AreTheSameBytesWhoeverBuiltTheCommand) {
  json found = json::object();
  for (const char* const folder : {"test/captures", "test/captures/hard"}) {
    std::set<std::string> files;
    for (const auto& each : std::filesystem::directory_iterator{folder})
      if (each.path().extension().string().rfind(".pcap", 0) == 0 && each.path().filename().string().rfind("two-link", 0) != 0 &&
          each.path().filename().string().rfind("two-snap", 0) != 0)
        files.insert(each.path().string());
    for (const std::string& file : files) found[file] = outputs_of(file);
  }
  if (std::getenv("OCTEP_WRITE_OUTPUTS") != nullptr) std::ofstream{expected_file} << found.dump(2) << '\n';
  EXPECT_EQ(found, json::parse(content(expected_file)));
}

}  // namespace
}  // namespace octep::tools

// The captures that tests replay: those of the repository, and those beside a development checkout where they are.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace octep::tools {

struct known_capture {
  std::string path;  // empty: this checkout has no such file
  std::string name;
  nlohmann::json expected;  // docs/captures.md
};

inline std::vector<known_capture> known_captures() {
  namespace fs = std::filesystem;
  const fs::path top = OCTEP_SOURCE_DIR;
  std::ifstream file{top / "test/captures/expected.json"};
  const nlohmann::json listed = nlohmann::json::parse(file);
  std::vector<known_capture> all;
  for (const auto& [name, expected] : listed.items()) {
    known_capture one{{}, name, expected};
    for (const fs::path& folder : {top / "test/captures", top / "test/captures/hard", top / "../shared/captures"})
      if (fs::exists(folder / name)) one.path = (folder / name).lexically_normal().string();
    all.push_back(one);
  }
  return all;
}

}  // namespace octep::tools

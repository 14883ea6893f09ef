#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

namespace octep {
namespace {

namespace fs = std::filesystem;
using floors = std::map<std::string, int>;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Header by header, from its line `// Floor N.`; -1 where it has none.
floors floors_of_headers() {
  const fs::path top = fs::path(OCTEP_SOURCE_DIR) / "include" / "octep";
  const std::regex line("(^|\n)// Floor ([0-9]+)\\.\n");
  floors found;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    const fs::path below = fs::relative(entry.path(), top);
    if (entry.path().extension() != ".hpp" || *below.begin() == "host") continue;
    const std::string text = read(entry.path());
    std::smatch match;
    const bool has = std::regex_search(text, match, line);
    found[(below.parent_path() / below.stem()).generic_string()] = has ? std::stoi(match[2]) : -1;
  }
  return found;
}

// From the rows `| N | `name` `name` ... |` of the page.
floors floors_of_page() {
  const std::string text = read(fs::path(OCTEP_SOURCE_DIR) / "docs" / "house.md");
  const std::regex row("\n\\| ([0-9]+) \\| ([^|]*) \\|");
  const std::regex name("`([^`]+)`");
  floors found;
  for (std::sregex_iterator r(text.begin(), text.end(), row), end; r != end; ++r) {
    const std::string names = (*r)[2];
    for (std::sregex_iterator n(names.begin(), names.end(), name); n != end; ++n)
      found[(*n)[1]] = std::stoi((*r)[1]);
  }
  return found;
}

TEST(HousePage, NamesEveryHeaderOnTheFloorWhereItStands) {
  const floors headers = floors_of_headers();
  EXPECT_GT(headers.size(), 20U);
  EXPECT_EQ(floors_of_page(), headers);
}

}  // namespace
}  // namespace octep

#include "tools/definitions.hpp"

#include <octep/counters.hpp>
#include <octep/settings.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace octep::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string page(const std::string& name) {
  for (const document& d : definition_documents())
    if (d.name == name) return d.text;
  return {};
}

// A row of its own, not a mention.
std::string row_of(const std::string& text, const std::string& name) {
  const usize at = text.find("\n| `" + name + "` |");
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

usize bars(const std::string& line) {
  usize count = 0;
  for (usize i = 0; i < line.size(); ++i)
    if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++count;
  return count;
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    path = fs::path(testing::TempDir()) /
           ("octep_definitions_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(path);
    fs::create_directories(path);
  }
  void TearDown() override { fs::remove_all(path); }
  fs::path path;
};

TEST(Definitions, TheCommittedPagesAreWhatTheTablesSay) {
  for (const document& d : definition_documents())
    EXPECT_EQ(read(fs::path(OCTEP_SOURCE_DIR) / "docs" / d.name), d.text)
        << "docs/" << d.name << " is old: run `octep definitions --write docs`";
}

TEST(Definitions, EverySettingHasItsRow) {
  const std::string text = page("settings.md");
  for (const setting_row& r : setting_rows) {
    const std::string found = row_of(text, r.name);
    EXPECT_THAT(found, HasSubstr(r.meaning)) << r.name;
    EXPECT_THAT(found, HasSubstr(r.falling_edge)) << r.name;
  }
}

TEST(Definitions, ADevicesOwnDefaultsAreNamed) {
  EXPECT_THAT(page("settings.md"), HasSubstr("| `xgs136` | `run_gap_ms` | 10 |"));
  EXPECT_THAT(page("settings.md"), Not(HasSubstr("`xgs3300` | `")));
}

TEST(Definitions, EveryCounterHasItsRow) {
  const std::string text = page("counters.md");
  for_each_counter(span<ring_counters<>>{}, pass_counters<>{}, [&](const counter_text& t, u64) {
    EXPECT_THAT(row_of(text, t.name), HasSubstr(t.moved_by)) << t.name;
  });
}

TEST(Definitions, EveryReasonHasItsRow) {
  const std::string text = page("reasons.md");
  for (const reason_row& r : reason_rows) {
    const std::string found = row_of(text, r.name);
    EXPECT_THAT(found, HasSubstr(r.sentence)) << r.name;
    EXPECT_THAT(found, HasSubstr(r.change)) << r.name;
  }
}

TEST(Definitions, EveryTableIsAsWideAsItsHead) {
  for (const document& d : definition_documents()) {
    std::istringstream lines(d.text);
    usize width = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] != '|') {
        width = 0;
      } else if (width == 0) {
        width = bars(line);
      } else {
        EXPECT_EQ(bars(line), width) << d.name << ": " << line;
      }
    }
  }
}

TEST(DefinitionsCommand, PrintsThePagesInOrder) {
  const outcome answer = definitions_command({});
  EXPECT_EQ(answer.status, status_done);
  EXPECT_EQ(answer.out, page("settings.md") + "\n" + page("counters.md") + "\n" + page("reasons.md"));
}

TEST(DefinitionsCommand, PrintsOnePageByItsName) {
  EXPECT_EQ(definitions_command({"reasons"}).out, page("reasons.md"));
}

TEST_F(Folder, IsFilledAndEachFileNamed) {
  const outcome answer = definitions_command({"--write", path.string()});
  EXPECT_EQ(answer.status, status_done);
  EXPECT_THAT(answer.complaints, IsEmpty());
  for (const document& d : definition_documents()) {
    EXPECT_EQ(read(path / d.name), d.text);
    EXPECT_THAT(answer.out, HasSubstr((path / d.name).string() + "\n"));
  }
}

TEST_F(Folder, ThatDoesNotExistIsOneClearLine) {
  const std::string missing = (path / "missing").string();
  const outcome answer = definitions_command({"--write", missing});
  EXPECT_EQ(answer.status, status_input);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.complaints, ElementsAre("cannot write " + missing + "/settings.md: No such file or directory"));
}

TEST(DefinitionsCommand, NonsenseIsAUsageError) {
  for (const arguments& nonsense : {arguments{"setting"}, arguments{"settings", "reasons"}, arguments{"--write"}, arguments{"--wrote", "docs"}}) {
    const outcome answer = definitions_command(nonsense);
    EXPECT_EQ(answer.status, status_usage);
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(answer.complaints.size(), 1U);
  }
}

TEST(DefinitionsCommand, HelpIsHelp) {
  const outcome answer = definitions_command({"--help"});
  EXPECT_EQ(answer.status, status_done);
  EXPECT_THAT(answer.out, HasSubstr("--write"));
}

}  // namespace
}  // namespace octep::tools

// The man page and the shell's completion against the command: an option that one of them has, all have.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace octep::tools {
namespace {

std::string content(const std::string& path) {
  std::ifstream file{path};
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

std::string said_by(const std::string& line) {
  std::string all;
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return all;
  for (int c = std::getc(pipe); c != EOF; c = std::getc(pipe)) all += static_cast<char>(c);
  pclose(pipe);
  return all;
}

std::set<std::string> found(const std::string& text, const char* pattern) {
  std::set<std::string> all;
  const std::regex what{pattern};
  for (std::sregex_iterator at{text.begin(), text.end(), what}, end; at != end; ++at) all.insert((*at)[1]);
  return all;
}

std::set<std::string> options_of(const std::string& command) {
  auto all = found(said_by(std::string{OCTEP_COMMAND} + " " + command + " --help"), R"(\n  (?:-h,)?--([a-z-]+))");
  EXPECT_FALSE(all.empty()) << command;
  return all;
}

const std::string folder = std::string{OCTEP_SOURCE_DIR} + "/tools/";

// What the completion offers for a line; the word at hand is the last.
std::set<std::string> completed(const std::string& line) {
  const std::string script = "cd " OCTEP_SOURCE_DIR "; . tools/octep.bash; COMP_WORDS=(" + line +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_WORDS[0]=" OCTEP_COMMAND
                             "; _octep; for each in \"${COMPREPLY[@]}\"; do echo \"$each\"; done";
  std::set<std::string> all;
  std::stringstream lines{said_by("bash -c '" + script + "' 2>&1")};
  for (std::string each; std::getline(lines, each);)
    if (!each.empty()) all.insert(each);
  return all;
}

TEST(Manual, KnowsEveryOptionAndNoOther) {
  std::set<std::string> all;
  for (const char* const command : {"replay", "slot", "definitions"}) all.merge(options_of(command));
  const std::string page = content(folder + "octep.1");
  EXPECT_EQ(found(page.substr(page.find(".Sh OPTIONS")), R"(Fl -([a-z-]+))"), all);
}

TEST(Manual, KnowsEveryCommand) {
  const std::string page = content(folder + "octep.1");
  for (const std::string& command : found(said_by(std::string{OCTEP_COMMAND} + " help"), R"(\n  octep ([a-z]+)  )"))
    EXPECT_NE(page.find(".It Cm " + command), std::string::npos) << command;
}

TEST(Completion, OffersTheOptionsOfEachCommand) {
  for (const char* const command : {"replay", "slot", "definitions"}) {
    std::set<std::string> expected;
    for (const std::string& o : options_of(command)) expected.insert("--" + o);
    EXPECT_EQ(completed(std::string{"octep "} + command + " --"), expected) << command;
  }
}

TEST(Completion, OffersCommandsSettingsAndNames) {
  EXPECT_EQ(completed("octep re"), (std::set<std::string>{"replay"}));
  EXPECT_EQ(completed("octep replay --device xgs1"), (std::set<std::string>{"xgs136"}));
  EXPECT_EQ(completed("octep replay --set revive_m"), (std::set<std::string>{"revive_max_ms=", "revive_min_ms="}));
  EXPECT_EQ(completed("octep replay --choice o"), (std::set<std::string>{"oldest"}));
  EXPECT_EQ(completed("octep definitions r"), (std::set<std::string>{"reasons"}));
  EXPECT_TRUE(completed("octep replay test/captures/lan").contains("test/captures/lan-nat.pcapng"));
}

}  // namespace
}  // namespace octep::tools

// The binary itself: what a shell sees of it.
#include "tools/build_info.hpp"
#include "tools/command.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

struct run {
  int status = -1;
  std::string out;
  std::string err;

  [[nodiscard]] long err_lines() const { return std::count(err.begin(), err.end(), '\n'); }
};

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

// `rest` is the shell's: arguments, and a redirection of standard input.
run octep(const std::string& rest) {
  const temporary_file out{{}}, err{{}};
  const std::string line = std::string{OCTEP_COMMAND} + " " + rest + " > " + out.path() + " 2> " + err.path();
  run r;
  const int said = std::system(line.c_str());
  r.status = WIFEXITED(said) ? WEXITSTATUS(said) : -1;
  r.out = content_of(out.path());
  r.err = content_of(err.path());
  return r;
}

const std::string shipped = std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng";

TEST(OctepCommand, ReplaysAFileAndStandardInputAlike) {
  const run file = octep("replay " + shipped);
  EXPECT_EQ(file.status, 0);
  EXPECT_EQ(file.err, "");
  const run pipe = octep("replay - < " + shipped);
  EXPECT_EQ(pipe.status, 0);
  // All but the first line, which is the name.
  EXPECT_EQ(pipe.out.substr(pipe.out.find('\n')), file.out.substr(file.out.find('\n')));
  EXPECT_EQ(octep("replay --json - < " + shipped).out.find("\"file\": \"-\""), octep("replay --json - < " + shipped).out.find("\"file\""));
}

// What was read until then is worth a report; a pipe that nobody closes must not keep it.
TEST(OctepCommand, AnInterruptEndsWithTheReportOfWhatWasRead) {
  const temporary_file out{{}}, err{{}}, trace{{}};
  const std::string line = "bash -c '(cat " + shipped + "; exec sleep 2) | timeout --foreground --preserve-status -s INT 1 " + OCTEP_COMMAND +
                           " replay --json --trace " + trace.path() + " - > " + out.path() + " 2> " + err.path() +
                           "; exit ${PIPESTATUS[1]}'";
  const int said = std::system(line.c_str());
  EXPECT_EQ(WIFEXITED(said) ? WEXITSTATUS(said) : -1, status_interrupted);
  const std::string report = content_of(out.path());
  EXPECT_NE(report.find("\"interrupted\": true"), std::string::npos) << content_of(err.path());
  EXPECT_NE(report.find("\"frames\": 5673"), std::string::npos);
  EXPECT_NE(content_of(err.path()).find("interrupted"), std::string::npos);
  EXPECT_NE(content_of(trace.path()).find("}\n]\n"), std::string::npos);
}

// One pass serves every column, so a pipe will do.
TEST(OctepCommand, ComparesFromStandardInputToo) {
  const run file = octep("replay --compare poll_ms=250 --compare-device " + shipped), pipe = octep("replay --compare poll_ms=250 --compare-device - < " + shipped);
  EXPECT_EQ(pipe.status, 0);
  EXPECT_NE(pipe.out.find("device xgs136"), std::string::npos);
  EXPECT_EQ(pipe.out.substr(pipe.out.find('\n')), file.out.substr(file.out.find('\n')));
}

TEST(OctepCommand, AnInterruptBeforeTheFirstByteIsOne) {
  const temporary_file out{{}}, err{{}};
  const std::string line = "bash -c '(exec sleep 2) | timeout --foreground --preserve-status -s INT 1 " + std::string{OCTEP_COMMAND} +
                           " replay - > " + out.path() + " 2> " + err.path() + "; exit ${PIPESTATUS[1]}'";
  const int said = std::system(line.c_str());
  EXPECT_EQ(WIFEXITED(said) ? WEXITSTATUS(said) : -1, status_interrupted);
  EXPECT_EQ(content_of(out.path()), "");
  EXPECT_EQ(content_of(err.path()), "octep replay: interrupted before the capture began\n");
}

// A job in the background is not who Ctrl-C is meant for.
TEST(OctepCommand, AnInterruptThatIsIgnoredStaysIgnored) {
  const temporary_file out{{}};
  const std::string line = "(cat " + shipped + "; exec sleep 0.6) | " + OCTEP_COMMAND + " replay --json - > " + out.path() +
                           " & sleep 0.3; kill -INT $!; wait $!";
  const int said = std::system(line.c_str());
  EXPECT_EQ(WIFEXITED(said) ? WEXITSTATUS(said) : -1, status_done);
  EXPECT_NE(content_of(out.path()).find("\"interrupted\": false"), std::string::npos);
}

// Hours of reading are not lost for a file beside the report.
TEST(OctepCommand, ASideFileThatFailsAtTheEndTakesNoReportAway) {
  const run r = octep("replay --csv /dev/full " + shipped);
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.out, octep("replay " + shipped).out);
  EXPECT_EQ(r.err, "octep replay: --csv /dev/full: No space left on device\n");
}

TEST(OctepCommand, NoNameReachesTheTerminalAsAnOrder) {
  EXPECT_EQ(octep("replay \"$(printf 'a\\302\\233b\\033c\\303\\266')\"").err, "octep replay: a??b?c\303\266: No such file or directory\n");
}

TEST(OctepCommand, SideFilesThatCannotBeWrittenAreSaidBeforeAnythingIsRead) {
  const run r = octep("replay --trace /no/such/folder/t.json " + shipped);
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err, "octep replay: --trace /no/such/folder/t.json: No such file or directory\n");
}

TEST(OctepCommand, BadInputHasItsStatusAndOneLine) {
  bytes lying = joined(pcap_header(), pcap_record_header(1, 0, 0x7fff'ffff, 60), bytes(100, 0));
  const temporary_file empty{{}}, absurd{lying}, wireless{pcap_header(link_ieee80211)}, cut{bytes(9, 0xa1)};
  const std::vector<std::pair<std::string, int>> table{
      {"", 2},
      {"bogus", 2},
      {"help bogus", 2},
      {"replay", 2},
      {"replay --bogus " + shipped, 2},
      {"replay --set poll_ms=0 " + shipped, 2},
      {"replay --slots 63 " + shipped, 2},
      {"replay --json --hash md5 " + shipped, 2},
      {"replay /nonexistent/capture", 1},
      {"replay /", 1},
      {"replay - < /dev/null", 1},
      {"replay --json " + empty.path(), 1},
      {"replay --json " + absurd.path(), 1},
      {"replay --json " + wireless.path(), 1},
      {"replay --json " + cut.path(), 1},
      {"replay \"$(printf 'a\\nb')\"", 1},
  };
  for (const auto& [line, status] : table) {
    SCOPED_TRACE(line);
    const run r = octep(line);
    EXPECT_EQ(r.status, status);
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err_lines(), 1) << r.err;
    EXPECT_EQ(r.err.rfind("octep", 0), 0U) << r.err;
  }
}

TEST(OctepCommand, AReportThatCannotBeWrittenIsAnError) {
  const temporary_file err{{}};
  const std::string line = std::string{OCTEP_COMMAND} + " replay " + shipped + " > /dev/full 2> " + err.path();
  const int said = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(said), 1);
  EXPECT_NE(content_of(err.path()).find("cannot write"), std::string::npos);
}

TEST(OctepCommand, SaysWhatItIsAndWhatItCan) {
  const run version = octep("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("octep " + std::string{build_version()} + " (commit " + std::string{build_commit()}, 0), 0U)
      << version.out;
  const run overview = octep("help");
  for (const char* const command : {"replay", "slot", "definitions", "help", "version"}) {
    EXPECT_NE(overview.out.find("octep " + std::string{command}), std::string::npos) << command;
    EXPECT_EQ(octep("help " + std::string{command}).status, 0) << command;
  }
  EXPECT_EQ(octep("--help").out, overview.out);
  EXPECT_EQ(octep("help replay").out, octep("replay --help").out);
  EXPECT_NE(octep("help settings").out.find("poll_ms"), std::string::npos);
}

}  // namespace
}  // namespace octep::tools

// The captures of test/captures/hard: what a report says of each, beside what is known of the traffic that is in it. What TShark
// counts in them, octep counts in capture_test and replay_test.
#include "tools/replay.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

using nlohmann::json;
using counts = std::map<std::string, u64>;

struct hard_capture {
  const char* file;
  u64 connections;      // TCP, UDP and echoes outside of any tunnel
  u64 made;
  counts not_candidate;  // by reason; those that are not here are none
  counts not_made;
  counts cannot_tell;
};

// A download that lasts longer than a poll's second is made; what is inside a tunnel or a PPPoE session is nobody's connection.
const hard_capture captures[] = {
    {"ipv6-only.pcap", 5, 0, {{"multicast", 5}, {"fragment", 3}}, {{"flow_family", 5}}, {}},
    {"vlan-stacks.pcap", 5, 5, {}, {}, {}},
    {"pppoe.pcap", 1, 1, {{"pppoe", 4 + 4 + 3 * 127}}, {}, {}},
    {"tunnels.pcap", 1, 1, {{"tunnel", 127 + 127 + 80}}, {}, {}},
    {"fragments.pcap", 1, 1, {{"fragment", 40 * 3 * 2}}, {}, {}},
    {"jumbo.pcap", 2, 2, {}, {}, {}},
    {"nanosecond.pcap", 6, 5, {}, {{"flow_closing", 1}}, {}},
    {"big-endian.pcap", 6, 6, {}, {}, {}},
    {"two-interfaces.pcapng", 6, 6, {}, {}, {{"seen_twice", 660}}},
    {"dns-flood.pcap", 1'501, 1, {}, {{"flow_unsettled_one_way", 1'500}}, {}},
    {"port-scan.pcap", 2'001, 1, {}, {{"flow_closing", 867}, {"flow_unsettled_closing", 822}, {"flow_unsettled_opening", 211}, {"not_asked", 100}}, {}},
};

std::string path_of(const std::string& file) { return std::string{OCTEP_SOURCE_DIR} + "/test/captures/hard/" + file; }

std::string content(const std::string& path) {
  std::ifstream file{path};
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

json report_of(const std::string& file) {
  const outcome answer = replay_command({"--json", path_of(file)});
  EXPECT_EQ(answer.status, status_done) << file;
  EXPECT_TRUE(answer.complaints.empty()) << file;
  return json::parse(answer.out);
}

counts without_nothing(const json& of) {
  counts all;
  for (const auto& [name, n] : of.items())
    if (n != 0) all[name] = n;
  return all;
}

TEST(HardCaptures, AreReportedAsTheyAre) {
  for (const hard_capture& c : captures) {
    SCOPED_TRACE(c.file);
    const json r = report_of(c.file);
    EXPECT_EQ(r["connections"]["seen"], c.connections);
    EXPECT_EQ(r["connections"]["made"], c.made);
    EXPECT_EQ(r["connections"]["picked_up"], 0);
    EXPECT_EQ(without_nothing(r["frames"]["not_candidate"]), c.not_candidate);
    EXPECT_EQ(without_nothing(r["connections"]["refused"]), c.not_made);
    counts told;
    for (const json& spot : r["cannot_tell"]) told[spot["what"]] = spot["count"];
    EXPECT_EQ(told, c.cannot_tell);
    EXPECT_EQ(r["frames"]["forwarded"].get<u64>() + r["frames"]["punted"].get<u64>(), r["capture"]["frames"].get<u64>());
  }
}

// Every output, and every one of them the same when it is made again.
TEST(HardCaptures, TheSameFileTwiceIsTheSameBytes) {
  const temporary_file csv{{}}, trace{{}}, page{{}};
  for (const hard_capture& c : captures) {
    SCOPED_TRACE(c.file);
    std::vector<std::string> first;
    for (int again = 0; again < 2; ++again) {
      std::vector<std::string> all;
      for (const arguments& how : {arguments{}, arguments{"--json"}, arguments{"--nat"}, arguments{"--compare-device"}}) {
        arguments line{path_of(c.file), "--csv", csv.path(), "--trace", trace.path(), "--html", page.path()};
        line.insert(line.end(), how.begin(), how.end());
        all.push_back(replay_command(line).out);
      }
      for (const std::string& path : {csv.path(), trace.path(), page.path()}) all.push_back(content(path));
      if (again == 0) first = all;
      EXPECT_EQ(first, all);
    }
  }
}

std::string said_by(const std::string& line) {
  std::string all;
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return all;
  for (int c = std::getc(pipe); c != EOF; c = std::getc(pipe)) all += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << line;
  return all;
}

TEST(HardCaptures, APipeIsAFile) {
  for (const hard_capture& c : captures) {
    json pipe = json::parse(said_by("cat " + path_of(c.file) + " | " + OCTEP_COMMAND + " replay --json -")), file = report_of(c.file);
    pipe["capture"].erase("file");
    file["capture"].erase("file");
    EXPECT_EQ(pipe, file) << c.file;
  }
}

TEST(HardCaptures, TheTableHasEveryConnectionAndItsFrames) {
  const temporary_file csv{{}};
  for (const hard_capture& c : captures) {
    SCOPED_TRACE(c.file);
    const json r = json::parse(replay_command({"--json", "--csv", csv.path(), path_of(c.file)}).out);
    std::istringstream lines{content(csv.path())};
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    u64 connections = 0, forwarded = 0, punted = 0, made = 0;
    while (std::getline(lines, line)) {
      std::vector<std::string> fields;
      std::istringstream row{line + ","};
      for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
      ASSERT_EQ(fields.size(), 13U) << line;
      ++connections;
      forwarded += std::stoull(fields[7]);
      punted += std::stoull(fields[9]);
      made += fields[12].empty() ? 1 : 0;
    }
    EXPECT_EQ(connections, r["connections"]["seen"]);
    EXPECT_EQ(made, r["connections"]["made"]);
    EXPECT_EQ(forwarded, r["frames"]["forwarded"]);
    EXPECT_EQ(punted, r["frames"]["candidates"]);
  }
}

TEST(HardCaptures, WhatLibpcapDoesNotReadIsOneLineThatSaysWhatToDo) {
  for (const auto& [file, way] : {std::pair{"two-link-types.pcapng", "capture on one of these interfaces at a time"},
                                  std::pair{"two-snap-lengths.pcapng", "`editcap -F pcap FILE OUT`"}}) {
    const outcome answer = replay_command({path_of(file)});
    EXPECT_EQ(answer.status, status_input);
    EXPECT_EQ(answer.out, "");
    ASSERT_EQ(answer.complaints.size(), 1U);
    EXPECT_NE(answer.complaints.front().find(way), std::string::npos) << answer.complaints.front();
  }
}

// They are what hard.py writes, to the byte.
TEST(HardCaptures, AreMadeByTheirProgram) {
  const std::string folder = testing::TempDir() + "octep-hard-" + std::to_string(getpid());
  ASSERT_EQ(std::system(("mkdir " + folder + " && python3 " + OCTEP_SOURCE_DIR + "/test/captures/hard.py " + folder + " && diff -r " + folder + " " +
                         OCTEP_SOURCE_DIR + "/test/captures/hard && rm -r " + folder)
                            .c_str()),
            0);
}

}  // namespace
}  // namespace octep::tools

#include "tools/replay.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <sstream>

#include "test/tools/capture_bytes.hpp"
#include "test/tools/shared_captures.hpp"
#include "test/tools/tcp_packet.hpp"

namespace octep::tools {
namespace {

using nlohmann::json;

u64 total(const json& counts) {
  u64 n = 0;
  for (const auto& [name, value] : counts.items()) n += value.get<u64>();
  return n;
}

outcome replayed(const bytes& content, arguments more = {}) {
  const temporary_file file{content};
  more.push_back(file.path());
  return replay_command(more);
}

json report_of(const bytes& content, arguments more = {}) {
  more.push_back("--json");
  const outcome answer = replayed(content, more);
  EXPECT_EQ(answer.status, status_done) << (answer.complaints.empty() ? "" : answer.complaints.front());
  return json::parse(answer.out);
}

// One TCP connection: a handshake unless it is left out, then data both ways, a frame every 10 ms.
bytes conversation(u32 data_frames, bool with_syn = true) {
  bytes all = pcap_header();
  u32 us = 0;
  const auto add = [&](const bytes& frame) {
    append(all, pcap_record(100 + us / 1'000'000, us % 1'000'000, frame));
    us += 10'000;
  };
  if (with_syn) {
    add(from_opener(syn));
    add(from_responder(syn | ack));
  }
  for (u32 i = 0; i < data_frames; ++i) add(i % 2 == 0 ? from_opener(ack) : from_responder(ack));
  return all;
}

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> all;
  for (const auto& [name, value] : object.items()) all.push_back(name);
  return all;
}

TEST(Replay, EveryKnownCaptureGoesThroughAndAddsUp) {
  std::string absent;
  for (const known_capture& known : known_captures()) {
    if (known.path.empty()) {
      absent += " " + known.name;
      continue;
    }
    for (const arguments& how : {arguments{}, arguments{"--nat"}, arguments{"--device", "xgs136", "--slots", "16", "--places",
                                                                            "1", "--hash", "recorded", "--set", "ipv6=1"}}) {
      SCOPED_TRACE(known.path + (how.empty() ? "" : " " + how.front()));
      arguments given = how;
      given.insert(given.end(), {"--json", known.path});
      const outcome answer = replay_command(given);
      ASSERT_EQ(answer.status, status_done);
      const json r = json::parse(answer.out);
      EXPECT_EQ(r["capture"]["file"], known.path);
      EXPECT_EQ(r["capture"]["frames"], known.expected["frames"]);
      EXPECT_EQ(r["capture"]["bytes"], known.expected["bytes"]);
      EXPECT_EQ(r["capture"]["seconds"], known.expected["seconds"]);
      const json& f = r["frames"];
      EXPECT_EQ(f["forwarded"].get<u64>() + f["punted"].get<u64>(), known.expected["frames"]);
      EXPECT_EQ(f["candidates"].get<u64>() + total(f["not_candidate"]), f["punted"]);
      // Only what could be a candidate is ever forwarded.
      EXPECT_EQ(f["forwarded"].get<u64>() + f["candidates"].get<u64>(), known.expected["candidates"]);
      const json& c = r["connections"];
      EXPECT_EQ(c["made"].get<u64>() + total(c["refused"]), c["seen"]);
      EXPECT_LE(c["seen"], known.expected["tuples"]);
      EXPECT_GE(2 * c["seen"].get<u64>(), known.expected["tuples"]);
    }
  }
  if (!absent.empty()) GTEST_SKIP() << "not beside this checkout, so not replayed:" << absent;
}

TEST(Replay, TheSameCaptureTwiceGivesTheSameBytes) {
  for (const known_capture& known : known_captures()) {
    if (known.path.empty()) continue;
    for (const arguments& given : {arguments{known.path}, arguments{"--json", "--nat", known.path}}) {
      const outcome once = replay_command(given), again = replay_command(given);
      EXPECT_EQ(once.out, again.out) << known.path;
      EXPECT_EQ(once.complaints, again.complaints);
    }
  }
}

TEST(Replay, CountsTheConnectionsOfTheShippedCaptures) {
  // 85 and 83 pairs of directed tuples in which both ways were seen, and those that were seen one way: docs/captures.md
  // gives the tuples, and TShark's conversations give the pairs.
  for (const auto& [file, connections] : {std::pair{"lan-nat.pcapng", 88}, std::pair{"wan-nat.pcapng", 85}}) {
    const outcome answer = replay_command({"--json", std::string{OCTEP_SOURCE_DIR} + "/test/captures/" + file});
    const json r = json::parse(answer.out);
    EXPECT_EQ(r["connections"]["seen"], connections) << file;
    EXPECT_EQ(r["connections"]["picked_up"], 1) << file;
    EXPECT_GE(r["connections"]["made"], 15) << file;
    EXPECT_GT(r["frames"]["forwarded"], r["frames"]["punted"]) << file;
  }
}

TEST(Replay, ABusyConnectionIsMadeAndThenForwarded) {
  const json r = report_of(conversation(200));
  EXPECT_EQ(r["connections"]["seen"], 1);
  EXPECT_EQ(r["connections"]["made"], 1);
  EXPECT_EQ(r["connections"]["picked_up"], 0);
  EXPECT_EQ(total(r["connections"]["refused"]), 0U);
  EXPECT_GE(r["frames"]["forwarded"], 150);
  EXPECT_GT(r["time_to_made_ms"]["p50"], 0);
  EXPECT_EQ(r["time_to_made_ms"]["p50"], r["time_to_made_ms"]["p99"]);
  u64 in_histogram = 0;
  for (const json& bucket : r["time_to_made_ms"]["histogram"]) in_histogram += bucket["connections"].get<u64>();
  EXPECT_EQ(in_histogram, 1U);
}

TEST(Replay, BehindNatTheSameConnectionIsMadeJustAsWell) {
  const json plain = report_of(conversation(200)), behind = report_of(conversation(200), {"--nat"});
  EXPECT_EQ(behind["connections"], plain["connections"]);
  EXPECT_EQ(behind["frames"], plain["frames"]);
}

TEST(Replay, AConnectionWithoutItsSynIsPickedUpAndMade) {
  const json r = report_of(conversation(200, false));
  EXPECT_EQ(r["connections"]["picked_up"], 1);
  EXPECT_EQ(r["connections"]["made"], 1);
}

TEST(Replay, AShortConnectionHasExactlyOneReason) {
  const json r = report_of(conversation(4));
  EXPECT_EQ(r["connections"]["made"], 0);
  EXPECT_EQ(total(r["connections"]["refused"]), 1U);
  EXPECT_EQ(r["connections"]["refused"]["not_asked"], 1);
  EXPECT_EQ(r["time_to_made_ms"]["p50"], nullptr);
  EXPECT_EQ(r["time_to_made_ms"]["histogram"], json::array());
}

// Nothing but frames that keep the clock going.
bytes until(u32 seconds) {
  return pcap_record(seconds, 0, ethernet(9, 8, 0x0806, bytes(28, 0)));
}

TEST(Replay, TheLastReasonIsTheOneThatCounts) {
  // The SYN is looked at by the poll at 1 s (not settled), the refusal of the connection by the poll at 2 s (closing).
  const bytes begin = joined(pcap_header(), pcap_record(0, 0, from_opener(syn)));
  const json before = report_of(joined(begin, until(1)));
  EXPECT_EQ(before["connections"]["refused"]["flow_unsettled_opening"], 1);
  const bytes whole = joined(begin, pcap_record(1, 500'000, from_responder(rst)), until(3));
  for (const arguments& how : {arguments{}, arguments{"--nat"}}) {
    const json after = report_of(whole, how);
    EXPECT_EQ(after["connections"]["refused"]["flow_closing"], 1);
    EXPECT_EQ(total(after["connections"]["refused"]), 1U);
  }
}

TEST(Replay, ATupleUsedAgainIsAnotherConnection) {
  bytes all = pcap_header();
  for (u32 i = 0; i < 3; ++i) {
    append(all, pcap_record(10 * i, 0, from_opener(syn)));
    append(all, pcap_record(10 * i + 1, 0, from_responder(rst | ack)));
  }
  EXPECT_EQ(report_of(all)["connections"]["seen"], 3);
}

TEST(Replay, SettingsReachTheEngine) {
  EXPECT_EQ(report_of(conversation(200), {"--set", "auto=0"})["connections"]["made"], 0);
  EXPECT_EQ(report_of(conversation(200), {"--set", "auto=0"})["settings"]["auto"], 0);
  const auto forwarded = [](arguments how) { return report_of(conversation(200), std::move(how))["frames"]["forwarded"].get<u64>(); };
  EXPECT_GT(forwarded({"--set", "fast_make_log2=2"}), forwarded({"--set", "fast_make=0"}));
}

TEST(Replay, TheCapturesAbsoluteTimeDoesNotMatter) {
  bytes later = conversation(100);
  for (usize at = 24; at < later.size(); at += 16 + load_le32(later.data() + at + 8))
    store_le32(later.data() + at, load_le32(later.data() + at) + 1'600'000'000);
  json a = report_of(conversation(100)), b = report_of(later);
  a["capture"].erase("file");
  b["capture"].erase("file");
  EXPECT_EQ(a, b);
}

TEST(Replay, TheObjectHasTheKeysThatProgramsReadByName) {
  const json r = report_of(conversation(3));
  EXPECT_EQ(keys(r), (std::vector<std::string>{"cannot_tell", "capture", "compared", "connections", "counters", "forgotten", "frames", "hardware",
                                               "not_modelled", "over_time", "settings", "time_to_made_ms", "warnings"}));
  EXPECT_EQ(keys(r["capture"]), (std::vector<std::string>{"bytes", "file", "frames", "interrupted", "left_out", "seconds"}));
  EXPECT_EQ(keys(r["frames"]), (std::vector<std::string>{"candidates", "forwarded", "forwarded_bytes", "not_candidate", "not_candidate_bytes", "punted",
                                                         "punted_bytes"}));
  EXPECT_EQ(keys(r["frames"]["not_candidate"]),
            (std::vector<std::string>{"clash", "fragment", "length_lies", "multicast", "no_identity", "not_ip", "other_icmp",
                                      "other_protocol", "pppoe", "superframe", "truncated", "tunnel"}));
  EXPECT_EQ(keys(r["connections"]), (std::vector<std::string>{"made", "made_bytes", "made_frames", "picked_up", "refused", "refused_bytes", "refused_frames",
                                                              "seen", "worst"}));
  EXPECT_EQ(keys(r["time_to_made_ms"]), (std::vector<std::string>{"histogram", "p50", "p99"}));
  for (const setting_row& row : setting_rows) EXPECT_TRUE(r["settings"].contains(row.name)) << row.name;
  for (const char* const counter : {"frames", "cand_pushed", "auto_made", "polls", "RX_WIRE", "FROM_WIRE_TO_WIRE"})
    EXPECT_TRUE(r["counters"].contains(counter)) << counter;
  for (const reason_row& row : reason_rows)
    if (row.is != reason::none && !is_frame_reason(row.is)) {
      EXPECT_TRUE(r["connections"]["refused"].contains(row.name)) << row.name;
    }
}

// A device gives a connection back whose frames repeat themselves; a replay reads the numbers that say so.
TEST(Replay, RepeatedAcknowledgementsGiveAConnectionBack) {
  const auto given_back = [](bool repeats) {
    bytes all = conversation(200);
    for (u32 i = 0; i < 14; ++i) {
      tcp_packet p;
      p.acknowledgement = repeats ? 7'000 : 7'000 + i;
      append(all, pcap_record(100, i * 1'000, p.frame()));
    }
    append(all, until(103));
    return report_of(all)["hardware"]["given_back"].get<u64>();
  };
  EXPECT_EQ(given_back(true), 1U);
  EXPECT_EQ(given_back(false), 0U);
}

json report_on(const std::string& shipped, const arguments& options) {
  arguments all{"--json", std::string{OCTEP_SOURCE_DIR} + "/test/captures/" + shipped};
  all.insert(all.end(), options.begin(), options.end());
  const outcome answer = replay_command(all);
  EXPECT_EQ(answer.status, status_done);
  return json::parse(answer.out);
}

// A column is what a replay of its own would have said, whatever stands beside it.
TEST(Replay, AComparedColumnIsThatReplaysOwn) {
  const json all = report_on("lan-nat.pcapng", {"--set", "poll_ms=500", "--compare", "fast_make=0", "--compare-device", "--compare", "poll_ms=2000"});
  const std::vector<std::pair<std::string, arguments>> columns{
      {"as asked", {"--set", "poll_ms=500"}},
      {"fast_make=0", {"--set", "poll_ms=500", "--set", "fast_make=0"}},
      {"poll_ms=2000", {"--set", "poll_ms=2000"}},
      {"device xgs136", {"--set", "poll_ms=500", "--device", "xgs136"}},
  };
  ASSERT_EQ(all["compared"].size(), columns.size());
  for (usize i = 0; i < columns.size(); ++i) {
    SCOPED_TRACE(columns[i].first);
    json alone = report_on("lan-nat.pcapng", columns[i].second)["compared"][0];
    EXPECT_EQ(all["compared"][i]["name"], columns[i].first);
    alone["name"] = columns[i].first;
    EXPECT_EQ(all["compared"][i], alone);
  }
  EXPECT_NE(all["compared"][0]["frames_forwarded"], all["compared"][1]["frames_forwarded"]);
  json base = report_on("lan-nat.pcapng", {"--set", "poll_ms=500"});
  base.erase("compared");
  json with = all;
  with.erase("compared");
  EXPECT_EQ(with, base);
}

TEST(Replay, ComparedColumnsStandSideBySideInAnyWidth) {
  const arguments asked{std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng", "--compare", "fast_make=0", "--compare", "make_per_sec=256",
                        "--compare", "hold_max_ms=3600000", "--compare-device"};
  const std::string text = replay_command(asked).out;
  // Five columns do not fit 80: the first stands in each block.
  usize blocks = 0;
  for (usize at = text.find("as asked"); at != std::string::npos; at = text.find("as asked", at + 1)) ++blocks;
  EXPECT_EQ(blocks, 2U) << text;
  for (const char* const column : {"fast_make=0", "make_per_sec=256", "hold_max_ms=3600000", "device xgs136"})
    EXPECT_NE(text.find(column), std::string::npos) << column;
}

// Bytes and frames rank differently here: one connection of few long frames, one of many short ones.
TEST(Replay, WhyNotIsRankedByBytesAndSaysTheRankByFrames) {
  bytes all = pcap_header();
  for (u32 i = 0; i < 3; ++i)
    append(all, pcap_record(i, 0, ethernet(1, 2, 0x86dd, ipv6(6, 1, 2, joined(tcp(40'000, 443, ack), bytes(1'400, 0))))));
  for (u32 i = 0; i < 9; ++i) append(all, pcap_record(3, i, from_opener(ack)));
  append(all, until(8));
  const std::string text = replayed(all).out;
  const usize why_not = text.find("WHY NOT"), first = text.find("flow_family", why_not), second = text.find("flow_unsettled_opening", why_not);
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second);
  std::istringstream row{text.substr(first, 80)};
  std::string name, bytes_of, share, percent_sign, frames, rank, connections;
  row >> name >> bytes_of >> share >> percent_sign >> frames >> rank >> connections;
  EXPECT_EQ(bytes_of, "4,422");
  EXPECT_EQ(frames, "3");
  EXPECT_EQ(rank, "2");
  EXPECT_EQ(connections, "1");
}

// A hostile file may say anything; octep may not crash, contradict itself, or print by halves.
RC_GTEST_PROP(Replay, AnyDamageIsReportedOrRefused, ()) {
  static const bytes whole = conversation(30);
  bytes damaged = whole;
  // Behind the file's own head, which other tests damage.
  const int hits = *rc::gen::inRange(1, 20);
  for (int i = 0; i < hits; ++i) damaged[*rc::gen::inRange<usize>(24, damaged.size())] = *rc::gen::arbitrary<u8>();
  damaged.resize(*rc::gen::inRange<usize>(24, damaged.size() + 1));
  const arguments options = *rc::gen::element(arguments{}, arguments{"--nat"}, arguments{"--nat-of", "192.0.2.10"}, arguments{"--compare-device"},
                                              arguments{"--set", "ipv6=1"},
                                              arguments{"--why", "tcp:192.0.2.10:40000-198.51.100.2:443"});
  const outcome text = replayed(damaged, options);
  arguments as_json = options;
  as_json.emplace_back("--json");
  const outcome object = replayed(damaged, as_json);
  RC_ASSERT(text.status == object.status);
  RC_ASSERT(text.status == status_done || text.status == status_input);
  RC_ASSERT(text.out.empty() == (text.status == status_input));
  RC_ASSERT(object.out.empty() == text.out.empty());
  if (text.status == status_input) RC_ASSERT(text.complaints.size() == 1U);
  if (!object.out.empty()) RC_ASSERT(json::parse(object.out).is_object());
}

TEST(Replay, TheReportFitsEightyColumnsAndExplainsItsReasons) {
  for (const known_capture& known : known_captures()) {
    if (known.path.empty()) continue;
    const std::string text = replay_command({known.path}).out;
    std::istringstream lines{text};
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, known.path);  // as long as it is
    while (std::getline(lines, line)) {
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    }
    EXPECT_NE(text.find("NOT MODELLED"), std::string::npos);
  }
  const std::string text = replayed(conversation(4)).out;
  EXPECT_NE(text.find(name(reason::not_asked)), std::string::npos) << text;
  EXPECT_NE(text.find(row(reason::not_asked).sentence), std::string::npos) << text;
  EXPECT_NE(text.find(std::string{"To change it: "} + row(reason::not_asked).change), std::string::npos) << text;
}

TEST(Replay, AnEmptyCaptureIsACaptureOfNothing) {
  const json r = report_of(pcap_header());
  EXPECT_EQ(r["capture"]["frames"], 0);
  EXPECT_EQ(r["connections"]["seen"], 0);
  EXPECT_EQ(replayed(pcap_header()).status, status_done);
}

TEST(Replay, WhatACutCaptureHeldIsReportedWithAWarning) {
  bytes cut = conversation(20);
  cut.resize(cut.size() - 5);
  const outcome answer = replayed(cut, {"--json"});
  EXPECT_EQ(answer.status, status_done);
  ASSERT_EQ(answer.complaints.size(), 1U);
  EXPECT_EQ(answer.complaints.front().rfind("warning: ", 0), 0U) << answer.complaints.front();
  EXPECT_EQ(json::parse(answer.out)["capture"]["frames"], 21);
  EXPECT_NE(replayed(cut).out.find("WARNINGS"), std::string::npos);
}

TEST(Replay, BadInputIsOneLineAndNothingElse) {
  bytes lying = conversation(20);
  append(lying, joined(pcap_record_header(9, 0, 0x7fff'ffff, 60), bytes(100, 0)));
  const temporary_file absurd{lying}, empty{{}}, cut_header{bytes(9, 0xa1)}, wireless{pcap_header(link_ieee80211)},
      text{{'n', 'o', '\n'}};
  for (const std::string& path : {absurd.path(), empty.path(), cut_header.path(), wireless.path(), text.path(),
                                  std::string{"/nonexistent/a\nb"}, std::string{"/"}, std::string{}}) {
    const outcome answer = replay_command({"--json", path});
    EXPECT_EQ(answer.status, status_input) << path;
    EXPECT_EQ(answer.out, "") << path;
    EXPECT_EQ(answer.complaints.size(), 1U) << path;
  }
}

TEST(Replay, ClocksThatLieCostNothing) {
  const bytes f = from_opener(ack);
  const outcome answer = replayed(joined(pcap_header(), pcap_record(0, 0, f), pcap_record(0x0fff'ffff, 0, f), pcap_record(1, 0, f),
                                         pcap_record(0x8000'0000, 0, f)),
                                  {"--set", "poll_ms=10"});
  EXPECT_EQ(answer.status, status_done);
  EXPECT_NE(answer.out.find("stamped earlier"), std::string::npos) << answer.out;
}

TEST(Replay, ShortSnapsAreSaid) {
  bytes all = pcap_header();
  const bytes frame = from_opener(ack);
  const bytes kept(frame.begin(), frame.begin() + 40);
  for (u32 i = 0; i < 3; ++i) append(all, joined(pcap_record_header(i, 0, 40, static_cast<u32>(frame.size())), kept));
  const outcome answer = replayed(all, {"--json"});
  const json r = json::parse(answer.out);
  ASSERT_EQ(r["cannot_tell"].size(), 1U);
  EXPECT_EQ(r["cannot_tell"][0]["sentence"].get<std::string>().rfind("3 frames", 0), 0U) << r["cannot_tell"];
  EXPECT_EQ(json::parse(answer.out)["frames"]["not_candidate"]["truncated"], 3);
}

}  // namespace
}  // namespace octep::tools

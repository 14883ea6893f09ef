#include "tools/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "test/tools/capture_bytes.hpp"
#include "tools/replay.hpp"

namespace octep::tools {
namespace {

using nlohmann::json;

struct traced : ::testing::Test {
  temporary_file holder{{}};
  std::string path = holder.path() + ".json";
  tuple4 opener = tuple4::make(0x0100'000a, 0x0100'00c0, join_ports(port_word(40'000), port_word(443)), protocol::tcp);
  void TearDown() override { std::remove(path.c_str()); }

  static event of(event_kind k, u64 us) {
    event e;
    e.kind = k;
    e.at = {us};
    return e;
  }
  event about(event_kind k, u64 us, reason why = reason::none) const {
    event e = of(k, us);
    e.why = why;
    e.names_tuple = true;
    e.v4 = opener;
    e.connection = {3, 4};
    return e;
  }
  // What `say` led to, without the names of tracks.
  template <class Say>
  std::vector<json> events(Say&& say, u64 end = 1'000'000) {
    std::string error;
    auto file = output_file::create(path, error);
    EXPECT_TRUE(file) << error;
    trace t{*file};
    say(t);
    t.finish({end});
    EXPECT_TRUE(file->keep(error)) << error;
    std::ifstream in{path};
    std::vector<json> all;
    const json whole = json::parse(in);
    for (const json& e : whole)
      if (e["ph"] != "M") all.push_back(e);
    return all;
  }
};

TEST_F(traced, IsWholeJsonOfNothing) {
  EXPECT_TRUE(events([](trace&) {}).empty());
}

// The array form needs no end: a trace whose writer was killed is whole up to its last line.
TEST_F(traced, IsATraceUpToAnyOfItsLines) {
  (void)events([&](trace& t) {
    t.hear(about(event_kind::made, 5));
    t.frame(true, {20'000});
    t.hear(about(event_kind::taken_out, 30'000, reason::flow_gone));
  });
  std::ifstream in{path};
  std::string line, so_far;
  usize lines = 0;
  while (std::getline(in, line) && line != "]") {
    so_far += line;
    ++lines;
    if (lines == 1) continue;  // the bracket
    const std::string whole = so_far.substr(0, so_far.find_last_of('}') + 1) + "]";
    EXPECT_EQ(json::parse(whole).size(), lines - 1) << whole;
  }
  EXPECT_GT(lines, 10U);
}

TEST_F(traced, CountsFramesByTheirTenMillisecondsAndSilenceAsNone) {
  const auto all = events([](trace& t) {
    t.frame(true, {1'000});
    t.frame(false, {2'000});
    t.frame(true, {9'999});
    t.frame(true, {50'000});
  });
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["args"], (json{{"forwarded", 2}, {"punted", 1}}));
  EXPECT_EQ(all[1]["args"], (json{{"forwarded", 0}, {"punted", 0}}));
  EXPECT_EQ(all[1]["ts"], 10'000);
  EXPECT_EQ(all[2]["ts"], 50'000);
}

TEST_F(traced, ShowsPassesAndCommandsFromBeginToEnd) {
  const auto all = events([](trace& t) {
    t.hear(of(event_kind::poll_begins, 100));
    event c = of(event_kind::command_posted, 110);
    c.what = command_kind::create;
    t.hear(c);
    c.kind = event_kind::command_answered;
    c.at = {135};
    t.hear(c);
    t.hear(of(event_kind::poll_ends, 140));
  });
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["name"], "create");
  EXPECT_EQ(all[0]["ts"], 110);
  EXPECT_EQ(all[0]["dur"], 25);
  EXPECT_EQ(all[0]["args"]["answer"], "done");
  EXPECT_EQ(all[1]["name"], "poll");
  EXPECT_EQ(all[1]["dur"], 40);
}

TEST_F(traced, ShowsAConnectionWhileItIsInHardwareAndWhatCameOfIt) {
  const auto all = events([&](trace& t) {
    t.hear(about(event_kind::made, 100));
    t.hear(about(event_kind::given_back, 200, reason::none));
    t.hear(about(event_kind::revived, 250));
    t.hear(about(event_kind::taken_out, 300, reason::flow_ended));
    t.hear(about(event_kind::revived, 400));  // of nothing that is shown
  });
  std::string phases;
  for (const json& e : all) phases += e["ph"].get<std::string>();
  EXPECT_EQ(phases, "bnne");
  EXPECT_EQ(all[0]["name"], "tcp:10.0.0.1:40000-192.0.0.1:443");
  EXPECT_EQ(all[0]["id"], all[3]["id"]);
  EXPECT_EQ(all[3]["args"]["why"], "flow_ended");
}

TEST_F(traced, EndsWhatIsStillOpen) {
  const auto all = events([&](trace& t) {
    t.hear(about(event_kind::made, 100));
    t.hear(of(event_kind::run_begins, 150));
  }, 777);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1]["name"], "run");
  EXPECT_EQ(all[2]["ph"], "e");
  EXPECT_EQ(all[2]["ts"], 777);
}

TEST_F(traced, SaysWhyNotAndHowLongItIsHeldBack) {
  const auto all = events([&](trace& t) {
    event e = about(event_kind::refused, 100, reason::flow_nostate);
    e.count = 16;
    t.hear(e);
    e = about(event_kind::held_back, 200, reason::flow_pending);
    e.until = {5'200};
    t.hear(e);
    e.at = {300};
    e.until = {5'300};
    t.hear(e);
  });
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0]["name"], "flow_nostate");
  EXPECT_EQ(all[0]["args"]["frames"], 16);
  // Holds overlap, so each is a span of its own.
  for (const usize i : {1U, 3U}) {
    EXPECT_EQ(all[i]["ph"], "b");
    EXPECT_EQ(all[i + 1]["ph"], "e");
    EXPECT_EQ(all[i]["cat"], "hold");
    EXPECT_EQ(all[i]["id"], all[i + 1]["id"]);
    EXPECT_EQ(all[i + 1]["ts"].get<u64>() - all[i]["ts"].get<u64>(), 5'000U);
  }
  EXPECT_NE(all[1]["id"], all[3]["id"]);
}

TEST_F(traced, OfAShippedCaptureHoldsEveryMake) {
  const outcome answer =
      replay_command({std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng", "--json", "--trace", path});
  ASSERT_EQ(answer.status, status_done);
  std::ifstream in{path};
  u64 begun = 0, ended = 0;
  double last = 0;
  const json whole = json::parse(in);
  for (const json& e : whole) {
    begun += e["ph"] == "b";
    ended += e["ph"] == "e";
    if (e.contains("ts")) last = std::max(last, e["ts"].get<double>());
  }
  EXPECT_EQ(begun, json::parse(answer.out)["counters"]["auto_made"]);
  EXPECT_EQ(ended, begun);
  EXPECT_LE(last, json::parse(answer.out)["capture"]["seconds"].get<double>() * 1e6 + 1);
}

}  // namespace
}  // namespace octep::tools

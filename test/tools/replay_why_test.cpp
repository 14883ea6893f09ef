#include "tools/replay_why.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

#include "tools/replay.hpp"

namespace octep::tools {
namespace {

const std::string shipped = std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng";

std::string story(arguments more) {
  more.push_back(shipped);
  const outcome answer = replay_command(more);
  EXPECT_EQ(answer.status, status_done);
  return answer.out;
}

bool says(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

TEST(ReplayWhy, SaysWhyOneConnectionIsNotInHardware) {
  const std::string text = story({"--why", "udp:192.168.1.10:40010-192.0.2.10:5005"});
  EXPECT_TRUE(says(text, "It is not in hardware.")) << text;
  EXPECT_TRUE(says(text, "flow_wait_other: The other direction has not been punted.")) << text;
  EXPECT_TRUE(says(text, "To change it: One frame of the other direction")) << text;
  EXPECT_TRUE(says(text, "0 of its frames were forwarded and 300 punted")) << text;
}

TEST(ReplayWhy, IsTheSameEitherWayRound) {
  const auto tail = [](const std::string& text) { return text.substr(text.find(',')); };
  const std::string there = story({"--why", "tcp:192.168.1.10:50000-192.0.2.10:80", "--at", "3"});
  EXPECT_TRUE(says(there, "It is in hardware.")) << there;
  EXPECT_EQ(tail(there), tail(story({"--why", "tcp:192.0.2.10:80-192.168.1.10:50000", "--at", "3"})));
}

TEST(ReplayWhy, KnowsTheMomentThatWasAskedFor) {
  const std::string before = story({"--why", "tcp:192.168.1.10:50000-192.0.2.10:80", "--at", "0.5"});
  EXPECT_TRUE(says(before, "No frame that octep can read had this tuple")) << before;
  const std::string after = story({"--why", "tcp:192.168.1.10:50000-192.0.2.10:80"});
  EXPECT_TRUE(says(after, "It is not in hardware.")) << after;
}

TEST(ReplayWhy, HasAnObjectForPrograms) {
  const auto r = nlohmann::json::parse(story({"--json", "--why", "tcp:192.168.1.10:50000-192.0.2.10:80", "--at", "3"}));
  EXPECT_EQ(r["at_us"], 3'000'000);
  EXPECT_EQ(r["held"], true);
  EXPECT_EQ(r["decision"], "made");
  EXPECT_EQ(r["change"], nullptr);
}

TEST(ReplayWhy, RefusesWhatMakesNoSense) {
  const auto refused = [](arguments given) {
    given.push_back(shipped);
    const outcome answer = replay_command(given);
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(answer.complaints.size(), 1U);
    return answer.status;
  };
  EXPECT_EQ(refused({"--why", "x"}), status_usage);
  EXPECT_EQ(refused({"--at", "3"}), status_usage);
  for (const char* const at : {"1e5", "-1", "1.1234567", "", "1.x"})
    EXPECT_EQ(refused({"--why", "tcp:192.0.2.1:1-192.0.2.2:2", "--at", at}), status_usage) << at;
}

// A connection that is told of at last is held, though refusals were told under its other tuple before.
TEST(ReplayWhy, JoinsWhatWasToldUnderBothTuples) {
  std::string error;
  const auto about = parse_tuple("tcp:192.0.2.1:1-192.0.2.2:2", error);
  ASSERT_TRUE(about) << error;
  replay_why w{*about, {}};
  event e;
  e.kind = event_kind::refused;
  e.why = reason::flow_wait_other;
  e.names_tuple = true;
  e.v4 = reverse(std::get<tuple4>(*about));
  w.hear(e);
  EXPECT_TRUE(says(w.text({1}), "flow_wait_other"));
  e.kind = event_kind::made;
  e.why = reason::none;
  e.v4 = std::get<tuple4>(*about);
  w.hear(e);
  EXPECT_TRUE(says(w.text({1}), "It is in hardware."));
  e = {};
  e.kind = event_kind::discarded;
  w.hear(e);
  EXPECT_TRUE(says(w.text({1}), "It is not in hardware."));
}

// What a translating box decides about a reply, whose tuple the capture does not have, is the connection's.
TEST(ReplayWhy, IsOfBothDirectionsWhereTheBoxTranslates) {
  const std::string lan = std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng";
  const arguments asked{"--why", "tcp:192.168.1.10:50000-192.0.2.10:80", "--json", lan};
  arguments translated = asked;
  translated.emplace_back("--nat");
  const auto plain = nlohmann::json::parse(replay_command(asked).out), nat = nlohmann::json::parse(replay_command(translated).out);
  EXPECT_EQ(plain["forwarded"].get<u64>() + plain["punted"].get<u64>(), 198U) << "as tshark counts them";
  for (const char* const key : {"forwarded", "punted", "held", "decision", "why", "in_all"}) EXPECT_EQ(nat[key], plain[key]) << key;
}

TEST(ReplayWhy, ABoxThatMakesNothingSaysSo) {
  const outcome answer = replay_command({"--why", "tcp:192.168.1.10:50000-192.0.2.10:80", "--set", "auto=0",
                                         std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng"});
  EXPECT_TRUE(says(answer.out, "Making connections is switched off.")) << answer.out;
}

TEST(ReplayWhy, AMomentBehindTheEndIsSaidToBeOne) {
  const outcome answer = replay_command({"--why", "tcp:192.168.1.10:50000-192.0.2.10:80", "--at", "100",
                                         std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng"});
  EXPECT_EQ(answer.status, status_done);
  EXPECT_EQ(answer.complaints, arguments{"warning: the capture ends 23.640 s after its first frame, before --at"});
}

}  // namespace
}  // namespace octep::tools

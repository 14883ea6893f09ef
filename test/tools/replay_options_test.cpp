#include "tools/replay_options.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

replay_options accepted(const arguments& given) {
  auto parsed = parse_replay_options(given);
  const outcome* const answer = std::get_if<outcome>(&parsed);
  EXPECT_EQ(answer, nullptr) << (answer == nullptr || answer->complaints.empty() ? "" : answer->complaints.front());
  return answer == nullptr ? std::get<replay_options>(parsed) : replay_options{};
}

std::string complaint(const arguments& given) {
  const auto parsed = parse_replay_options(given);
  const outcome* const answer = std::get_if<outcome>(&parsed);
  if (answer == nullptr) {
    ADD_FAILURE() << "accepted";
    return {};
  }
  EXPECT_EQ(answer->status, status_usage);
  EXPECT_EQ(answer->out, "");
  EXPECT_EQ(answer->complaints.size(), 1U);
  const std::string line = answer->complaints.empty() ? "" : answer->complaints.front();
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  return line;
}

TEST(ReplayOptions, AFileIsAllThatIsNeeded) {
  const replay_options o = accepted({"some.pcap"});
  EXPECT_EQ(o.file, "some.pcap");
  EXPECT_STREQ(o.box.device.name, "xgs3300");
  EXPECT_EQ(o.box.slots, 128U);
  EXPECT_EQ(o.box.places, 16U);
  EXPECT_EQ(sim::appliance::choice_of(o.box), sim::choice_kind::rank);
  EXPECT_EQ(o.box.hash, sim::hash_kind::keyed);
  EXPECT_EQ(o.box.seed, 1U);
  EXPECT_FALSE(o.box.nat);
  EXPECT_FALSE(o.json);
  for (const setting_row& r : setting_rows) EXPECT_EQ(o.box.values[r.is], initial_settings(xgs3300)[r.is]) << r.name;
}

TEST(ReplayOptions, EveryOptionArrives) {
  const replay_options o = accepted({"--device", "xgs136", "--slots", "1024", "--places=4", "--hash", "fold", "--seed", "99",
                                     "--nat", "--json", "-"});
  EXPECT_EQ(o.file, "-");
  EXPECT_STREQ(o.box.device.name, "xgs136");
  EXPECT_EQ(o.box.values[setting::run_gap_ms], xgs136.run_gap_ms);
  EXPECT_EQ(o.box.slots, 1'024U);
  EXPECT_EQ(o.box.places, 4U);
  EXPECT_EQ(sim::appliance::choice_of(o.box), sim::choice_kind::oldest);
  EXPECT_EQ(o.box.hash, sim::hash_kind::fold);
  EXPECT_EQ(o.box.seed, 99U);
  EXPECT_TRUE(o.box.nat);
  EXPECT_TRUE(o.json);
}

TEST(ReplayOptions, SettingsOutrankTheDeviceWhereverTheyStand) {
  const replay_options o = accepted({"--set", "run_gap_ms=7", "--device", "xgs136", "f", "--set", "auto=0"});
  EXPECT_EQ(o.box.values[setting::run_gap_ms], 7U);
  EXPECT_EQ(o.box.values[setting::auto_make], 0U);
}

TEST(ReplayOptions, EverySettingTakesItsRangeAndNamesIt) {
  for (const setting_row& r : setting_rows) {
    SCOPED_TRACE(r.name);
    EXPECT_EQ(accepted({"f", "--set", fmt::format("{}={}", r.name, r.least)}).box.values[r.is], r.least);
    EXPECT_EQ(accepted({"f", "--set", fmt::format("{}={}", r.name, r.most)}).box.values[r.is], r.most);
    std::vector<std::string> outside{fmt::format("{}", u64{r.most} + 1), "-1", "", "x", "4294967296", "18446744073709551617"};
    if (r.least != 0) outside.push_back(fmt::format("{}", r.least - 1));
    for (const std::string& value : outside) {
      const std::string line = complaint({"f", "--set", fmt::format("{}={}", r.name, value)});
      EXPECT_NE(line.find(fmt::format("{} is a number from {} to {}", r.name, r.least, r.most)), std::string::npos) << line;
    }
  }
}

TEST(ReplayOptions, NonsenseIsAnsweredWithOneLine) {
  const std::vector<std::pair<arguments, std::string>> table{
      {{}, "FILE"},
      {{"a", "b"}, "not expected: b"},
      {{"--bogus", "f"}, "--bogus"},
      {{"--device"}, "--device"},
      {{"--device", "xgs999", "f"}, "xgs3300 and xgs136"},
      {{"--slots", "63", "f"}, "one of 16, 64"},
      {{"--slots", "", "f"}, "--slots"},
      {{"--slots", "-64", "f"}, "one of 16, 64"},
      {{"--slots", "64", "--slots", "64", "f"}, "--slots"},
      {{"--places", "3", "f"}, "one of 1, 4, 16"},
      {{"--choice", "newest", "f"}, "known are rank and oldest"},
      {{"--choice", "rank", "--places", "4", "f"}, "needs --places 16"},
      {{"--hash", "md5", "f"}, "recorded, fold, keyed and fault"},
      {{"--seed", "none", "f"}, "--seed"},
      {{"--set", "poll_ms", "f"}, "NAME=VALUE"},
      {{"--set", "=1", "f"}, "octep help settings"},
      {{"--set", "pol_ms=5", "f"}, "perhaps poll_ms?"},
      {{"--set", "a\nb=5", "f"}, "a?b"},
      {{"f", "--set"}, "--set"},
      {{"--config", "f"}, "--config"},
  };
  for (const auto& [given, expected] : table) {
    const std::string line = complaint(given);
    EXPECT_NE(line.find(expected), std::string::npos) << line;
  }
}

TEST(ReplayOptions, ComparedBoxesDifferInWhatTheyAreCalledAfter) {
  const replay_options o = accepted({"f", "--set", "poll_ms=500", "--slots", "1024", "--compare", "auto=0", "--compare-device", "--compare", "poll_ms=250"});
  ASSERT_EQ(o.compared.size(), 3U);
  EXPECT_EQ(o.compared[0].name, "auto=0");
  EXPECT_EQ(o.compared[0].box.values[setting::auto_make], 0U);
  EXPECT_EQ(o.compared[0].box.values[setting::poll_ms], 500U);
  EXPECT_EQ(o.compared[1].name, "poll_ms=250");
  EXPECT_EQ(o.compared[1].box.values[setting::poll_ms], 250U);
  EXPECT_EQ(o.compared[2].name, "device xgs136");
  EXPECT_STREQ(o.compared[2].box.device.name, "xgs136");
  EXPECT_EQ(o.compared[2].box.values[setting::poll_ms], 500U);
  EXPECT_EQ(o.compared[2].box.values[setting::run_gap_ms], xgs136.run_gap_ms);
  for (const compared_box& each : o.compared) EXPECT_EQ(each.box.slots, 1'024U);
  EXPECT_EQ(o.box.values[setting::auto_make], 1U);
  EXPECT_EQ(accepted({"f", "--device", "xgs136", "--compare-device"}).compared.at(0).name, "device xgs3300");
}

TEST(ReplayOptions, ANatIsNamedByItsOutsideAddress) {
  EXPECT_TRUE(accepted({"f", "--nat-of", "203.0.113.5"}).box.nat);
  EXPECT_TRUE(accepted({"f", "--nat-of", "2001:db8::5"}).nat_of.has_value());
  EXPECT_FALSE(accepted({"f"}).nat_of.has_value());
}

TEST(ReplayOptions, WhatCannotBeComparedOrPairedIsSaid) {
  EXPECT_NE(complaint({"f", "--compare", "fast_mak=0"}).find("--compare fast_mak=0: there is no setting `fast_mak`; perhaps fast_make?"), std::string::npos);
  EXPECT_NE(complaint({"f", "--compare", "poll_ms=0"}).find("poll_ms is a number from"), std::string::npos);
  EXPECT_NE(complaint({"f", "--compare", "poll_ms"}).find("NAME=VALUE"), std::string::npos);
  EXPECT_NE(complaint({"f", "--nat-of", "example.net"}).find("--nat-of example.net: an address"), std::string::npos);
  EXPECT_NE(complaint({"f", "--why", "tcp:192.0.2.1:1-192.0.2.2:2", "--compare-device"}).find("one of them at a time"), std::string::npos);
}

TEST(ReplayOptions, TheFileMayStandBehindAnyOption) {
  for (const char* const option : {"--set", "--compare"}) {
    const replay_options o = accepted({option, "poll_ms=250", "f", "--nat"});
    EXPECT_EQ(o.file, "f") << option;
    EXPECT_TRUE(o.box.nat) << option;
  }
  EXPECT_EQ(complaint({"f", "--compare", "ipv6=1", "--compare", "ipv6=1"}), "--compare ipv6=1: that column is there already");
}

TEST(ReplayOptions, NoOutputTakesTheCaptureOrAnotherAway) {
  const temporary_file captured{{}};
  const std::string& in = captured.path();
  EXPECT_EQ(complaint({in, "--html", in}), fmt::format("--html {}: that is the capture; name another file", in));
  EXPECT_EQ(complaint({in, "--csv", "x", "--trace", "./x"}), "--csv x: that is what --trace writes; name another file");
  EXPECT_EQ(complaint({in, "--csv", ""}), "--csv: the file's name is empty");
  accepted({"-", "--csv", "/dev/null", "--trace", "/dev/null"});
}

TEST(ReplayOptions, HelpFitsATerminalAndNamesEveryOption) {
  const auto parsed = parse_replay_options({"--help"});
  const outcome& answer = std::get<outcome>(parsed);
  EXPECT_EQ(answer.status, status_done);
  for (const char* const option : {"--device", "--set", "--slots", "--places", "--choice", "--hash", "--seed", "--nat", "--json", "FILE"})
    EXPECT_NE(answer.out.find(option), std::string::npos) << option;
  for (const std::string& text : {answer.out, settings_help()}) {
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(ReplayOptions, HelpListsEverySetting) {
  for (const setting_row& r : setting_rows)
    EXPECT_NE(settings_help().find(fmt::format("  {} (from {} to {}", r.name, r.least, r.most)), std::string::npos) << r.name;
}

}  // namespace
}  // namespace octep::tools

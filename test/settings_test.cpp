#include <octep/settings.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace octep {
namespace {

std::array<u32, setting_count> values(const settings& s) {
  std::array<u32, setting_count> all{};
  for (const setting_row& r : setting_rows) all[static_cast<usize>(r.is)] = s[r.is];
  return all;
}

TEST(Settings, StartAtTheirDefaults) {
  const settings s;
  for (const setting_row& r : setting_rows) EXPECT_EQ(s[r.is], r.initial) << r.name;
}

TEST(Settings, BothEndsOfEveryRangeAreAccepted) {
  for (const setting_row& r : setting_rows) {
    settings s;
    EXPECT_EQ(s.set(r.is, r.least), set_result::ok) << r.name;
    EXPECT_EQ(s[r.is], r.least) << r.name;
    EXPECT_EQ(s.set(r.is, r.most), set_result::ok) << r.name;
    EXPECT_EQ(s[r.is], r.most) << r.name;
  }
}

TEST(Settings, OneBeyondEveryRangeIsRefusedAndChangesNothing) {
  for (const setting_row& r : setting_rows) {
    settings s;
    const auto before = values(s);
    if (r.least > 0) {
      EXPECT_EQ(s.set(r.is, r.least - 1), set_result::below) << r.name;
      EXPECT_EQ(values(s), before) << r.name;
    }
    ASSERT_LT(r.most, std::numeric_limits<u32>::max()) << r.name;
    EXPECT_EQ(s.set(r.is, r.most + 1), set_result::above) << r.name;
    EXPECT_EQ(values(s), before) << r.name;
  }
}

RC_GTEST_PROP(Settings, SettingOneLeavesTheOthers, (u32 to)) {
  const auto which = static_cast<setting>(*rc::gen::inRange<usize>(0, setting_count));
  settings s;
  auto expected = values(s);
  const bool fits = row(which).least <= to && to <= row(which).most;
  if (fits) expected[static_cast<usize>(which)] = to;
  RC_ASSERT((s.set(which, to) == set_result::ok) == fits);
  RC_ASSERT(values(s) == expected);
}

TEST(Settings, ASwitchIsOnUnlessZero) {
  settings s;
  EXPECT_TRUE(s.on(setting::enable));
  ASSERT_EQ(s.set(setting::enable, 0), set_result::ok);
  EXPECT_FALSE(s.on(setting::enable));
}

TEST(Settings, NamesAreUniqueAndSnakeCase) {
  const std::regex snake_case("[a-z][a-z0-9]*(_[a-z0-9]+)*");
  std::set<std::string> seen;
  for (const setting_row& r : setting_rows) {
    EXPECT_TRUE(seen.insert(r.name).second) << r.name;
    EXPECT_TRUE(std::regex_match(r.name, snake_case)) << r.name;
  }
}

// A name that ends in its unit and the unit beside it cannot contradict each other.
TEST(Settings, AUnitInTheNameIsTheUnit) {
  for (const setting_row& r : setting_rows) {
    const std::string name = r.name;
    if (name.ends_with("_ms")) EXPECT_STREQ(r.unit, "ms") << name;
    if (name.ends_with("_us")) EXPECT_STREQ(r.unit, "us") << name;
  }
}

TEST(Settings, TextsAreSentences) {
  for (const setting_row& r : setting_rows) {
    for (const std::string text : {r.meaning, r.falling_edge}) {
      ASSERT_FALSE(text.empty()) << r.name;
      EXPECT_EQ(text.back(), '.') << r.name << ": " << text;
    }
  }
}

// Values cross the C border: rows may be appended here, and nothing else.
TEST(Settings, KeepTheirNamesAndPlaces) {
  std::vector<std::string> names;
  for (const setting_row& r : setting_rows) names.emplace_back(r.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"enable", "auto", "fast", "fast_make", "fast_make_log2", "cand_age", "ipv6",
                                      "poll_ms", "run_gap_ms", "run_attempts", "poll_commands", "make_per_run",
                                      "make_per_sec", "cmd_step_us", "cmd_limit_ms", "udp_oneway_ms", "revive", "keepalive",
                                      "probe_gap_ms", "revive_min_ms", "revive_max_ms", "revive_peace_ms", "hold_fresh_ms",
                                      "hold_min_ms", "hold_max_ms", "gap_quiet_us", "gap_first_ms", "gap_again_ms",
                                      "sweep_lookups", "upkeep_commands", "dirty_lookups", "room_reads", "ipsec_flows"}));
}

// The defaults that the behaviour's page names, by hand.
TEST(Settings, DefaultsAreThoseOfTheBehaviour) {
  const settings s;
  const std::vector<std::pair<setting, u32>> expected = {{setting::enable, 1},
                                                         {setting::auto_make, 1},
                                                         {setting::fast, 1},
                                                         {setting::fast_make, 1},
                                                         {setting::fast_make_log2, 4},
                                                         {setting::cand_age, 0},
                                                         {setting::ipv6, 0},
                                                         {setting::poll_ms, 1'000},
                                                         {setting::run_gap_ms, 5},
                                                         {setting::run_attempts, 8},
                                                         {setting::poll_commands, 8},
                                                         {setting::make_per_run, 4},
                                                         {setting::make_per_sec, 64},
                                                         {setting::cmd_step_us, 20},
                                                         {setting::cmd_limit_ms, 2'000},
                                                         {setting::udp_oneway_ms, 3'000},
                                                         {setting::revive, 1},
                                                         {setting::keepalive, 1},
                                                         {setting::probe_gap_ms, 5},
                                                         {setting::revive_min_ms, 10},
                                                         {setting::revive_max_ms, 500},
                                                         {setting::revive_peace_ms, 1'000},
                                                         {setting::hold_fresh_ms, 10'000},
                                                         {setting::hold_min_ms, 1'000},
                                                         {setting::hold_max_ms, 60'000},
                                                         {setting::gap_quiet_us, 0},
                                                         {setting::gap_first_ms, 2},
                                                         {setting::gap_again_ms, 50},
                                                         {setting::sweep_lookups, 256},
                                                         {setting::upkeep_commands, 64},
                                                         {setting::dirty_lookups, 64},
                                                         {setting::room_reads, 16},
                                                         {setting::ipsec_flows, 0}};
  EXPECT_EQ(expected.size(), setting_count);
  for (const auto& [which, value] : expected) EXPECT_EQ(s[which], value) << row(which).name;
}

}  // namespace
}  // namespace octep

#include <octep/reasons.hpp>

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

namespace octep {
namespace {

TEST(Reasons, ARowStandsWhereItsValueIs) {
  for (usize i = 0; i < reason_count; ++i) {
    EXPECT_EQ(static_cast<usize>(reason_rows[i].is), i);
    EXPECT_EQ(row(static_cast<reason>(i)).name, reason_rows[i].name);
  }
}

TEST(Reasons, NamesAreUniqueAndSnakeCase) {
  const std::regex snake_case("[a-z][a-z0-9]*(_[a-z0-9]+)*");
  std::set<std::string> seen;
  for (const reason_row& r : reason_rows) {
    EXPECT_TRUE(seen.insert(r.name).second) << r.name;
    EXPECT_TRUE(std::regex_match(r.name, snake_case)) << r.name;
  }
}

TEST(Reasons, NoTwoSayTheSame) {
  std::set<std::string> seen;
  for (const reason_row& r : reason_rows) EXPECT_TRUE(seen.insert(r.sentence).second) << r.name;
}

TEST(Reasons, SentencesEndWithAFullStop) {
  for (const reason_row& r : reason_rows) {
    for (const std::string text : {r.sentence, r.change}) {
      ASSERT_FALSE(text.empty()) << r.name;
      EXPECT_EQ(text.back(), '.') << r.name << ": " << text;
    }
  }
}

TEST(Reasons, FramesReasonsAreThoseFromNotIpToClash) {
  std::vector<std::string> names;
  for (const reason_row& r : reason_rows)
    if (is_frame_reason(r.is)) names.emplace_back(r.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"not_ip", "pppoe", "tunnel", "other_icmp", "other_protocol", "multicast",
                                      "fragment", "truncated", "length_lies", "superframe", "no_identity", "clash"}));
  EXPECT_FALSE(is_frame_reason(reason::none));
}

// Values cross the C border: rows may be appended here, and nothing else.
TEST(Reasons, KeepTheirNamesAndPlaces) {
  const std::vector<std::string> expected = {"none",
                                             "not_ip",
                                             "pppoe",
                                             "tunnel",
                                             "other_icmp",
                                             "other_protocol",
                                             "multicast",
                                             "fragment",
                                             "truncated",
                                             "length_lies",
                                             "superframe",
                                             "no_identity",
                                             "clash",
                                             "flow_no_identity",
                                             "flow_family",
                                             "flow_tunnelled",
                                             "flow_held",
                                             "flow_closing",
                                             "flow_nostate",
                                             "flow_shaped",
                                             "flow_marked",
                                             "flow_logged",
                                             "flow_normalised",
                                             "flow_modulated",
                                             "flow_family_translated",
                                             "flow_unsettled_opening",
                                             "flow_unsettled_closing",
                                             "flow_unsettled_one_way",
                                             "flow_tuple_mismatch",
                                             "flow_self",
                                             "flow_wait_other",
                                             "flow_other_held",
                                             "cand_port_moved",
                                             "cand_aged",
                                             "flow_other_closing",
                                             "flow_nonhop_no_route",
                                             "flow_nonhop_rejected",
                                             "flow_nonhop_unresolved",
                                             "flow_nonhop_not_front",
                                             "flow_nonhop_local",
                                             "flow_nonhop_mtu",
                                             "nhop_full",
                                             "nhop_barred",
                                             "auto_full",
                                             "flow_changed",
                                             "flow_rc_refused",
                                             "flow_unanswered",
                                             "auto_off",
                                             "fast_make_spent",
                                             "until_poll",
                                             "not_asked",
                                             "flow_held_back",
                                             "flow_kept_out",
                                             "flow_wait_gap",
                                             "flow_ended",
                                             "flow_pending",
                                             "flow_gone",
                                             "flow_revive_off",
                                             "flow_expired",
                                             "flow_reval",
                                             "flow_rerouted",
                                             "flow_port_moved",
                                             "flow_removed",
                                             "flow_made_room",
                                             "flow_audited",
                                             "flow_idle",
                                             "flow_association_gone",
                                             "flow_no_association"};
  std::vector<std::string> names;
  for (const reason_row& r : reason_rows) names.emplace_back(r.name);
  EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace octep

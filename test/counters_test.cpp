#include <octep/counters.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace octep {
namespace {

using rings = std::vector<ring_counters<>>;

span<const ring_counters<>> view(const rings& r) { return {r.data(), r.size()}; }

struct shown {
  std::string name;
  u64 value;
};

std::vector<shown> everything(const rings& r, const pass_counters<>& p) {
  std::vector<shown> found;
  for_each_counter(view(r), p, [&](const counter_text& text, u64 value) { found.push_back({text.name, value}); });
  return found;
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const shown& s : everything({}, pass_counters<>{})) found.push_back(s.name);
  return found;
}

std::map<std::string, u64> moved(const rings& r, const pass_counters<>& p) {
  std::map<std::string, u64> found;
  for (const shown& s : everything(r, p))
    if (s.value != 0) found[s.name] = s.value;
  return found;
}

TEST(Counters, ABlockFillsItsCacheLinesAlone) {
  EXPECT_EQ(alignof(ring_counters<>), 64U);
  EXPECT_EQ(sizeof(ring_counters<>) % 64, 0U);
}

TEST(Counters, StartAtZero) { EXPECT_TRUE(moved(rings(3), pass_counters<>{}).empty()); }

TEST(Counters, AClearedBlockStartsAgain) {
  rings r(1);
  pass_counters<> p;
  r[0].add(ring_counter::bytes, 1'500);
  r[0].add(reason::fragment);
  p.add(pass_counter::wait_sum_us, 25);
  p.add(reason::auto_full);
  r[0].clear();
  p.clear();
  EXPECT_TRUE(moved(r, p).empty());
}

TEST(Counters, EachMovesItselfAndNothingElse) {
  for (const auto& row : ring_counter_rows) {
    rings r(2);
    r[1].add(row.is, 7);
    EXPECT_EQ(moved(r, pass_counters<>{}), (std::map<std::string, u64>{{row.text.name, 7}}));
  }
  for (const auto& row : pass_counter_rows) {
    pass_counters<> p;
    p.add(row.is, 7);
    EXPECT_EQ(moved({}, p), (std::map<std::string, u64>{{row.text.name, 7}}));
  }
}

TEST(Counters, EachReasonMovesItselfAndTheSumItIsACauseOf) {
  for (const reason_row& row : reason_rows) {
    const std::string name = row.name;
    rings r(1);
    pass_counters<> p;
    if (is_frame_reason(row.is)) {
      r[0].add(row.is);
    } else {
      p.add(row.is);
    }
    std::map<std::string, u64> expected;
    if (name == "clash") {
      expected["cand_clash"] = 1;
    } else if (name != "none") {
      expected[name] = 1;
    }
    if (name.starts_with("flow_unsettled_")) expected["flow_unsettled"] = 1;
    if (name.starts_with("flow_nonhop_")) expected["flow_nonhop"] = 1;
    EXPECT_EQ(moved(r, p), expected);
  }
}

TEST(Counters, ARingsBlockKnowsOnlyFramesReasons) {
  rings r(1);
  for (const reason_row& row : reason_rows)
    if (!is_frame_reason(row.is)) {
      r[0].add(row.is);
      EXPECT_EQ(r[0].value(row.is), 0U);
    }
  EXPECT_TRUE(moved(r, pass_counters<>{}).empty());
}

TEST(Counters, TheGreatestIsOnlyRaised) {
  pass_counters<> p;
  p.greatest(pass_counter::wait_max_us, 25);
  p.greatest(pass_counter::wait_max_us, 20);
  EXPECT_EQ(p.value(pass_counter::wait_max_us), 25U);
  p.greatest(pass_counter::wait_max_us, 920);
  EXPECT_EQ(p.value(pass_counter::wait_max_us), 920U);
}

TEST(Counters, TheLastIsReplaced) {
  pass_counters<> p;
  p.set(pass_counter::wait_last_us, 920);
  p.set(pass_counter::wait_last_us, 25);
  EXPECT_EQ(p.value(pass_counter::wait_last_us), 25U);
}

TEST(Counters, PassTwoToTheThirtyTwo) {
  rings r(1);
  r[0].add(ring_counter::bytes, 0xffff'ffffU);
  r[0].add(ring_counter::bytes, 2);
  EXPECT_EQ(sum(view(r), ring_counter::bytes), 0x1'0000'0001U);
}

// The model is one map of numbers, whichever ring moved them.
RC_GTEST_PROP(Counters, RingsAreSummed, ()) {
  rings r(3);
  std::map<usize, u64> model;
  const auto steps = *rc::gen::container<std::vector<std::tuple<usize, usize, u64>>>(rc::gen::tuple(
      rc::gen::inRange<usize>(0, 3), rc::gen::inRange<usize>(0, ring_counter_count), rc::gen::inRange<u64>(0, 10'000)));
  for (const auto& [ring, counter, by] : steps) {
    r[ring].add(static_cast<ring_counter>(counter), by);
    model[counter] += by;
  }
  for (usize c = 0; c < ring_counter_count; ++c) RC_ASSERT(sum(view(r), static_cast<ring_counter>(c)) == model[c]);
}

TEST(Counters, NamesAreUniqueAndSnakeCase) {
  const std::regex snake_case("[a-z][a-z0-9]*(_[a-z0-9]+)*");
  std::set<std::string> seen;
  for (const std::string& name : names()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_TRUE(std::regex_match(name, snake_case)) << name;
  }
  // `none` is no counter; two are sums.
  EXPECT_EQ(seen.size(), ring_counter_count + pass_counter_count + reason_count - 1 + 2);
}

TEST(Counters, EachSaysInWhatAndInOneSentence) {
  for_each_counter(span<ring_counters<>>{}, pass_counters<>{}, [](const counter_text& text, u64) {
    EXPECT_STRNE(text.unit, "") << text.name;
    const std::string sentence = text.moved_by;
    ASSERT_FALSE(sentence.empty()) << text.name;
    EXPECT_EQ(sentence.back(), '.') << text.name;
  });
}

// Values cross the C border: rows may be appended here, and nothing else.
TEST(Counters, KeepTheirNamesAndPlaces) {
  std::vector<std::string> ring;
  for (const auto& row : ring_counter_rows) ring.emplace_back(row.text.name);
  EXPECT_EQ(ring, (std::vector<std::string>{"frames", "bytes", "hot_frames", "cand_pushed", "cand_lost", "cand_evicted",
                                            "cand_evicted_read", "cand_due", "fast_kicks"}));
  std::vector<std::string> pass;
  for (const auto& row : pass_counter_rows) pass.emplace_back(row.text.name);
  EXPECT_EQ(pass, (std::vector<std::string>{"polls",           "walk_seen",         "flow_attempts",  "slots_busy",
                                            "auto_made",       "fast_runs",         "fast_scans",     "fast_made",
                                            "fast_make_tries", "fast_make_refused", "flow_reclaimed", "flow_doomed",
                                            "flow_aborted",    "nhop_shared",       "nhop_set",       "nhop_released",
                                            "cmd_posted",      "cmd_refused",       "cmd_unanswered", "cmd_late",
                                            "cmd_unknown_tag", "wait_last_us",      "wait_max_us",    "wait_sum_us",
                                            "wait_n",          "discards",          "cand_kept",      "flow_forgot",
                                            "flow_attached", "flow_revived", "revive_refused", "flow_repoint",
                                            "probe_reads", "probe_valid", "probe_pending", "probe_waits",
                                            "hold_backs", "hold_forgot", "gap_found", "gap_expired",
                                            "sweep_asked", "sweep_dead", "ka_reads", "ka_touched",
                                            "ka_idle", "room_idle", "dirty_asked", "notices",
                                            "notices_lost", "removed_by_hand", "far_side_resets", "assoc_installed",
                                            "assoc_deleted", "assoc_refused", "assoc_reads", "assoc_margins", "stat_rebase"}));
}

// The names of the published record that this much of the behaviour moves.
TEST(Counters, TheRecordsNamesAreThere) {
  const std::vector<std::string> all = names();
  const std::set<std::string> have(all.begin(), all.end());
  for (const char* name :
       {"cand_pushed",     "cand_lost",           "cand_evicted",    "cand_clash",         "cand_kept",
        "cand_aged",       "fast_kicks",          "fast_runs",       "fast_scans",         "fast_made",
        "fast_make_tries", "fast_make_refused",   "fast_make_spent", "auto_made",          "auto_full",
        "flow_nostate",    "flow_tuple_mismatch", "flow_wait_other", "flow_other_closing", "flow_rc_refused",
        "flow_closing",    "flow_reclaimed",      "nhop_shared",     "nhop_full",          "wait_last_us",
        "wait_max_us",     "wait_sum_us",         "wait_n",          "cmd_refused",        "cmd_unanswered",
        "flow_nonhop",     "flow_unsettled"})
    EXPECT_TRUE(have.contains(name)) << name;
}

}  // namespace
}  // namespace octep

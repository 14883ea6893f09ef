#include "sim/give_back_rule.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace octep::sim {
namespace {

constexpr give_back_rule twelfth = give_back_rule::of(xgs3300), tenth = give_back_rule::of(xgs136);

TEST(GiveBackRule, HasTheRecordedNumbers) {
  EXPECT_EQ(twelfth.at_frame, 12);
  EXPECT_EQ(twelfth.limit, 10);
  EXPECT_EQ(tenth.at_frame, 10);
  EXPECT_EQ(tenth.limit, 10);
  EXPECT_FALSE(give_back_rule{}.on());
}

// The page, read backwards: of all frames so far, how many at the end say the same as the last?
struct said {
  u8 direction;
  u8 what;
  [[nodiscard]] bool operator==(const said&) const = default;
};

// Four values that differ in one field each.
tcp_segment segment_of(u8 what, bool ack) {
  tcp_segment s{.flags = {ack ? tcp_flags::ack_bit : u8{0}}, .has_numbers = true, .sequence = 7, .length = 9,
                .acknowledgement = 11, .window = 13};
  if (what == 1) ++s.acknowledgement;
  if (what == 2) ++s.length;
  if (what == 3) ++s.window;
  return s;
}

RC_GTEST_PROP(GiveBackRuleProperty, CountsTheRowAtTheEnd, (bool first_device)) {
  const give_back_rule rule = first_device ? twelfth : tenth;
  // Long rows of the same are what matters: most frames repeat the last.
  const auto steps = *rc::gen::container<std::vector<std::tuple<u8, u8>>>(
      rc::gen::tuple(rc::gen::inRange<u8>(0, 40), rc::gen::inRange<u8>(0, 8)));
  identical_frames connection;
  u8 counter = 0;
  std::vector<said> acknowledging;
  said last{0, 0};
  bool ended = false;
  for (const auto& [change, how] : steps) {
    if (change < 4) last = {static_cast<u8>(how & 1), static_cast<u8>(how / 2)};
    const bool ack = change != 4, fin = change == 5;
    tcp_segment s = segment_of(last.what, ack);
    if (fin) s.flags.bits |= how % 2 == 0 ? tcp_flags::fin_bit : tcp_flags::rst_bit;
    const u8 before = counter;
    const tcp_finding found = connection.meet(rule, last.direction, s, counter);
    if (fin) {
      RC_ASSERT(found == tcp_finding::ends);
      RC_ASSERT(counter == before);
      ended = true;
      break;
    }
    if (ack) acknowledging.push_back(last);
    usize row = 0;
    while (row < acknowledging.size() && acknowledging[acknowledging.size() - 1 - row] == acknowledging.back()) ++row;
    const bool too_long = row == rule.at_frame && ack;
    RC_ASSERT(found == (too_long ? tcp_finding::repeats : tcp_finding::goes_on));
    if (too_long) {
      RC_ASSERT(counter == rule.limit);
      ended = true;
      break;
    }
    if (row != 0) RC_ASSERT(counter == std::min<usize>(row - 1, rule.limit));
  }
  RC_CLASSIFY(ended, "given back");
}

}  // namespace
}  // namespace octep::sim

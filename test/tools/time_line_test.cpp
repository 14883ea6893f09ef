#include "tools/time_line.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace octep::tools {
namespace {

TEST(TimeLine, BeginsWithSpansOfTenMilliseconds) {
  time_line t;
  EXPECT_EQ(t.size(), 0U);
  t.add({9'999}, true, 100);
  t.add({10'000}, false, 50);
  ASSERT_EQ(t.size(), 2U);
  EXPECT_EQ(t[0], (time_span{1, 100, 0, 0}));
  EXPECT_EQ(t[1], (time_span{0, 0, 1, 50}));
}

TEST(TimeLine, DoublesItsSpansAndKeepsTheSums) {
  time_line t;
  for (u64 n = 0; n < time_line::most; ++n) t.add({n * 10'000}, true, 1);
  EXPECT_EQ(t.length().count, 10'000U);
  t.add({1'280'000}, false, 7);
  EXPECT_EQ(t.length().count, 20'000U);
  ASSERT_EQ(t.size(), 65U);
  EXPECT_EQ(t[0].forwarded, 2U);
  EXPECT_EQ(t[64].punted_bytes, 7U);
}

// Whatever comes, in whatever order: what stands in a span is what came in its time.
RC_GTEST_PROP(TimeLine, EverythingStandsWhereItsTimeIs, ()) {
  const auto times = *rc::gen::container<std::vector<u64>>(rc::gen::inRange<u64>(0, 100'000'000'000));
  time_line t;
  for (const u64 us : times) t.add({us}, us % 2 == 0, us % 1'000);
  std::vector<time_span> expected(t.size());
  for (const u64 us : times) {
    const auto n = static_cast<usize>(us / t.length().count);
    RC_ASSERT(n < expected.size());
    ++(us % 2 == 0 ? expected[n].forwarded : expected[n].punted);
    (us % 2 == 0 ? expected[n].forwarded_bytes : expected[n].punted_bytes) += us % 1'000;
  }
  for (usize n = 0; n < expected.size(); ++n) RC_ASSERT(t[n] == expected[n]);
}

}  // namespace
}  // namespace octep::tools

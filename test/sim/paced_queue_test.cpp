#include "sim/paced_queue.hpp"

#include <gtest/gtest.h>

namespace octep::sim {
namespace {

TEST(PacedQueue, WithoutACostAFrameLeavesWhenItJoins) {
  paced_queue q;
  EXPECT_EQ(q.join({5}), instant{5});
  EXPECT_EQ(q.departed({5}), 1U);
  EXPECT_EQ(q.size(), 0U);
}

TEST(PacedQueue, FramesLeaveOneAfterTheOther) {
  paced_queue q{10'000};
  EXPECT_EQ(q.join({100}), instant{110});
  EXPECT_EQ(q.join({100}), instant{120});
  EXPECT_EQ(q.join({115}), instant{130});
  EXPECT_EQ(q.departed({119}), 1U);
  EXPECT_EQ(q.departed({130}), 2U);
  EXPECT_EQ(q.join({500}), instant{510}) << "an idle server starts at once";
}

TEST(PacedQueue, NanosecondsAreNotLost) {
  paced_queue q{12'304};
  instant last{};
  for (int i = 0; i < 1'000; ++i) last = *q.join({0});
  EXPECT_EQ(last, instant{12'304});
}

TEST(PacedQueue, RefusesWhatItHasNoRoomFor) {
  paced_queue q{10'000, 2};
  EXPECT_TRUE(q.join({0}));
  EXPECT_TRUE(q.join({0}));
  EXPECT_FALSE(q.join({9}));
  EXPECT_EQ(q.departed({10}), 1U);
  EXPECT_EQ(q.join({10}), instant{30});
}

}  // namespace
}  // namespace octep::sim

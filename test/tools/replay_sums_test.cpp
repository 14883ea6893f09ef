#include "tools/replay_sums.hpp"

#include <gtest/gtest.h>

namespace octep::tools {
namespace {

TEST(ReplaySums, EveryBrokenSumIsFoundOut) {
  replay_sums good;
  good.frames = 10;
  good.bytes = 1'000;
  good.forwarded = 4;
  good.forwarded_bytes = 400;
  good.punted = 6;
  good.punted_bytes = 600;
  good.candidates = 5;
  good.not_candidate[static_cast<usize>(reason::not_ip)] = 1;
  good.connections = 3;
  good.made = 1;
  good.not_made[static_cast<usize>(reason::flow_closing)] = 1;
  EXPECT_EQ(contradiction(good, 10, 1), std::nullopt);
  EXPECT_NE(contradiction(good, 11, 1), std::nullopt);
  EXPECT_NE(contradiction(good, 10, 0), std::nullopt);
  for (u64 replay_sums::*const member :
       {&replay_sums::frames, &replay_sums::bytes, &replay_sums::forwarded, &replay_sums::forwarded_bytes, &replay_sums::punted,
        &replay_sums::punted_bytes, &replay_sums::candidates, &replay_sums::connections, &replay_sums::made}) {
    replay_sums bad = good;
    ++(bad.*member);
    EXPECT_NE(contradiction(bad, 10, 1), std::nullopt);
  }
}

}  // namespace
}  // namespace octep::tools

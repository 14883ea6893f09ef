#include "tools/progress.hpp"

#include <gtest/gtest.h>

#include <string>

namespace octep::tools {
namespace {

TEST(Progress, SaysHowFarHowFastAndHowLongStill) {
  EXPECT_EQ(progress_line(1'000'000, 2.0, 250, 1'000), " 25 %  1,000,000 frames, 500,000 a second, 6.0 s left");
  EXPECT_EQ(progress_line(4'096, 0.4, 10, 1'000), "  1 %  4,096 frames") << "a rate of less than a second is a guess";
  EXPECT_EQ(progress_line(1'000'000, 2.0, 0, 0), "1,000,000 frames, 500,000 a second") << "of a pipe nobody knows the end";
}

TEST(Progress, WritesNothingWhereNobodyLooks) {
  std::FILE* const f = std::tmpfile();
  ASSERT_NE(f, nullptr);
  {
    progress bar{f, 1'000};
    for (u64 n = 0; n < 10'000'000; n += 4'096) bar.at(n, [n] { return n; });
  }
  EXPECT_EQ(std::ftell(f), 0);
  std::fclose(f);
}

}  // namespace
}  // namespace octep::tools

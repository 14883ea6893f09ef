#include "tools/text.hpp"

#include <gtest/gtest.h>

namespace octep::tools {
namespace {

TEST(Text, GroupsDigitsByThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(grouped(~u64{0}), "18,446,744,073,709,551,615");
}

TEST(Text, AShareIsNeverRoundedToNothingOrToAll) {
  EXPECT_EQ(percent(0, 0), "-");
  EXPECT_EQ(percent(0, 7), "0.0 %");
  EXPECT_EQ(percent(7, 7), "100.0 %");
  EXPECT_EQ(percent(1, 3), "33.3 %");
  EXPECT_EQ(percent(1, 1'000'000), "0.1 %");
  EXPECT_EQ(percent(999'999, 1'000'000), "99.9 %");
}

TEST(Text, DurationsHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(duration(0), "0 us");
  EXPECT_EQ(duration(640), "640 us");
  EXPECT_EQ(duration(1'000), "1.00 ms");
  EXPECT_EQ(duration(9'999), "10.0 ms");
  EXPECT_EQ(duration(12'540), "12.5 ms");
  EXPECT_EQ(duration(643'072), "643 ms");
  EXPECT_EQ(duration(999'600), "1.00 s");
  EXPECT_EQ(duration(61'000'000), "61.0 s");
  EXPECT_EQ(duration(2'684'355'000'000), "31 days 1 h");
}

TEST(Text, LongDurationsReadLikeACalendar) {
  EXPECT_EQ(long_duration(0), "0.0 s");
  EXPECT_EQ(long_duration(23.64), "23.6 s");
  EXPECT_EQ(long_duration(119.4), "119 s");
  EXPECT_EQ(long_duration(191.24), "3 min 11 s");
  EXPECT_EQ(long_duration(10'334.5), "2 h 52 min");
  EXPECT_EQ(long_duration(3 * 86'400 + 7'200), "3 days 2 h");
  EXPECT_EQ(long_duration(96'970'194.9), "3 years 27 days");
}

TEST(Text, WrapsAtTheWidthAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three", 0, 80), "one two three");
  EXPECT_EQ(wrapped("one two three", 2, 9), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 2, 8), "one\n  two\n  three");
  EXPECT_EQ(wrapped("unbreakable", 0, 4), "unbreakable");
  EXPECT_EQ(wrapped("", 4), "");
}

TEST(Text, ANumberIsDigitsAndNothingElse) {
  EXPECT_EQ(parse_number("0"), 0U);
  EXPECT_EQ(parse_number("18446744073709551615"), ~u64{0});
  for (const char* const wrong : {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "18446744073709551616", "1.0", "one"})
    EXPECT_FALSE(parse_number(wrong)) << wrong;
}

}  // namespace
}  // namespace octep::tools

#include <octep/ticks.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace octep {
namespace {

TEST(Ticks, LengthsAreMicroseconds) {
  EXPECT_EQ(from_ms(3).count, 3'000U);
  EXPECT_EQ(from_s(3).count, 3'000'000U);
  EXPECT_EQ(from_ms(1) + from_s(1), microseconds{1'001'000});
  EXPECT_LT(from_ms(1), from_s(1));
  EXPECT_LE(from_ms(1000), from_s(1));
}

RC_GTEST_PROP(Ticks, ADifferenceOfInstantsNeverPointsIntoThePast, (u32 a, u32 b)) {
  const instant x{a};
  const instant y{b};
  RC_ASSERT(x.since(y).count == (a > b ? a - b : 0U));
  RC_ASSERT((x < y) == (a < b));
  RC_ASSERT((x <= y) == (a <= b));
  RC_ASSERT((y + x.since(y)) == (a > b ? x : y));
}

TEST(Ticks, NeverIsLaterThanAnyInstant) { EXPECT_LT(instant{~u64{0} - 1}, never); }

// The base is anywhere, so the wrap lies inside the age in many draws and is put there in as many more.
RC_GTEST_PROP(Ticks, AnAgeIsRightAcrossTheWrap, (u32 base)) {
  const u32 age = *rc::gen::inRange<u32>(0, 0x8000'0000U);
  const u32 across = 0U - age / 2;
  for (const u32 written : {base, across}) {
    const tick then{written};
    const tick now{written + age};
    RC_ASSERT(then.age(now) == age);
    // The other ring's clock is ahead: not four thousand million milliseconds.
    if (age != 0) RC_ASSERT(now.age(then) == 0U);
  }
}

TEST(Ticks, ATickIsTheInstantsMillisecond) {
  EXPECT_EQ(tick::at({0}).ms, 0U);
  EXPECT_EQ(tick::at({999}).ms, 0U);
  EXPECT_EQ(tick::at({1'000}).ms, 1U);
  const u64 wrap_us = (u64{1} << 32) * 1000;
  EXPECT_EQ(tick::at({wrap_us - 1}).ms, 0xffff'ffffU);
  EXPECT_EQ(tick::at({wrap_us}).ms, 0U);
  EXPECT_EQ(tick::at({wrap_us - 1'000}).age(tick::at({wrap_us + 1'000})), 2U);
}

// At 25 days a signed difference turned negative in the recorded driver.
TEST(Ticks, AnAgeIsStillOneAtTwentyFourDays) {
  const instant then{123'456'789};
  const u64 day_us = u64{86'400} * 1'000'000;
  EXPECT_EQ(tick::at(then).age(tick::at({then.us + 24 * day_us})), 24U * 86'400'000);
  EXPECT_LT(tick::oldest_age, 0x8000'0000U / 2 + 1) << "a clamped stamp stays an age for as long again";
}

}  // namespace
}  // namespace octep

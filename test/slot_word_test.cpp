#include <octep/slot_word.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace octep {
namespace {

using word = slot_word<builtin_atomics>;
using hold = word_hold<builtin_atomics>;

TEST(SlotWord, IsTakenOnceUntilItIsReleased) {
  word w;
  u32 glance = 7;
  EXPECT_TRUE(w.try_take(glance));
  EXPECT_EQ(glance, 0U);
  EXPECT_FALSE(w.try_take(glance));
  EXPECT_FALSE(w.try_take(glance));
  w.release(0);
  EXPECT_TRUE(w.try_take(glance));
  w.release(0);
}

TEST(SlotWord, HandsOnWhatItsLastHolderLeft) {
  word w;
  u32 glance = 0;
  EXPECT_EQ(w.glance(), 0U);
  ASSERT_TRUE(w.try_take(glance));
  EXPECT_EQ(w.glance(), word::taken) << "nobody knows meanwhile";
  w.release(0x7fff'ffff);
  EXPECT_EQ(w.glance(), 0x7fff'ffffU);
  ASSERT_TRUE(w.try_take(glance));
  EXPECT_EQ(glance, 0x7fff'ffffU);
  w.release(1);
  {
    hold h{w};
    ASSERT_TRUE(static_cast<bool>(h));
    EXPECT_EQ(h.glance, 1U);
    h.glance = 5;
  }
  EXPECT_EQ(w.glance(), 5U);
}

TEST(SlotWord, AHoldEndsWithItsScope) {
  word w;
  {
    const hold first{w};
    EXPECT_TRUE(static_cast<bool>(first));
    const hold second{w};
    EXPECT_FALSE(static_cast<bool>(second));
  }
  u32 glance = 0;
  EXPECT_TRUE(w.try_take(glance));
  w.release(0);
}

TEST(SlotWord, AHoldThatFailedReleasesNothing) {
  word w;
  u32 glance = 0;
  ASSERT_TRUE(w.try_take(glance));
  {
    const hold late{w};
    EXPECT_FALSE(static_cast<bool>(late));
  }
  EXPECT_FALSE(w.try_take(glance)) << "the failed hold gave somebody else's word away";
  w.release(0);
}

TEST(SlotWord, GuardsPlainValuesUnderPlainAtomics) {
  static_assert(is_same<guarded<u32, builtin_atomics>, u32>);
  static_assert(sizeof(word) == 4);
}

struct watching_atomics : builtin_atomics {
  template <class T>
  struct guarded {
    T value;
  };
};

TEST(SlotWord, LetsAPolicyWatchWhatIsGuarded) {
  static_assert(atomics_policy<watching_atomics>);
  static_assert(is_same<guarded<u32, watching_atomics>, watching_atomics::guarded<u32>>);
}

}  // namespace
}  // namespace octep

#include <octep/slot_word.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace octep {
namespace {

using word = slot_word<builtin_atomics>;
using hold = word_hold<builtin_atomics>;

TEST(SlotWord, IsTakenOnceUntilItIsReleased) {
  word w;
  EXPECT_TRUE(w.try_take());
  EXPECT_FALSE(w.try_take());
  EXPECT_FALSE(w.try_take());
  w.release();
  EXPECT_TRUE(w.try_take());
  w.release();
}

TEST(SlotWord, AHoldEndsWithItsScope) {
  word w;
  {
    const hold first{w};
    EXPECT_TRUE(static_cast<bool>(first));
    const hold second{w};
    EXPECT_FALSE(static_cast<bool>(second));
  }
  EXPECT_TRUE(w.try_take());
  w.release();
}

TEST(SlotWord, AHoldThatFailedReleasesNothing) {
  word w;
  ASSERT_TRUE(w.try_take());
  {
    const hold late{w};
    EXPECT_FALSE(static_cast<bool>(late));
  }
  EXPECT_FALSE(w.try_take()) << "the failed hold gave somebody else's word away";
  w.release();
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

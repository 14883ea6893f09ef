#include <octep/atomic.hpp>

#include <gtest/gtest.h>

namespace octep {
namespace {

template <class T>
class AtomicCell : public ::testing::Test {};
using widths = ::testing::Types<u8, u16, u32, u64>;
TYPED_TEST_SUITE(AtomicCell, widths);

template <class T>
using cell = builtin_atomics::cell<T>;

TYPED_TEST(AtomicCell, HoldsWhatWasStored) {
  cell<TypeParam> c;
  EXPECT_EQ(c.load_relaxed(), TypeParam{0});
  const TypeParam all = static_cast<TypeParam>(~TypeParam{0});
  c.store_relaxed(all);
  EXPECT_EQ(c.load_acquire(), all);
  c.store_release(TypeParam{7});
  EXPECT_EQ(c.load_relaxed(), TypeParam{7});
  EXPECT_EQ(cell<TypeParam>{TypeParam{9}}.load_relaxed(), TypeParam{9});
}

TYPED_TEST(AtomicCell, AnExchangeGivesWhatWasThere) {
  cell<TypeParam> c{TypeParam{3}};
  EXPECT_EQ(c.exchange_acq_rel(TypeParam{4}), TypeParam{3});
  EXPECT_EQ(c.exchange_acquire(TypeParam{5}), TypeParam{4});
  EXPECT_EQ(c.load_relaxed(), TypeParam{5});
}

TYPED_TEST(AtomicCell, CompareExchangeChangesOnlyWhatWasExpected) {
  cell<TypeParam> c{TypeParam{1}};
  TypeParam expected{2};
  EXPECT_FALSE(c.compare_exchange_relaxed(expected, TypeParam{6}));
  EXPECT_EQ(c.load_relaxed(), TypeParam{1});
  EXPECT_EQ(expected, TypeParam{1}) << "a failure says what is there, for the next try";
  EXPECT_TRUE(c.compare_exchange_relaxed(expected, TypeParam{6}));
  EXPECT_EQ(c.load_relaxed(), TypeParam{6});
}

TYPED_TEST(AtomicCell, CostsNoMoreThanItsValue) {
  static_assert(sizeof(cell<TypeParam>) == sizeof(TypeParam));
  static_assert(alignof(cell<TypeParam>) == alignof(TypeParam));
}

}  // namespace
}  // namespace octep

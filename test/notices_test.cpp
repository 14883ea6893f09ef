#include <octep/notices.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

using test::numbered;

template <class Box>
std::vector<notice> take_all(Box& box) {
  std::vector<notice> all;
  for (notice n; box.take(n);) all.push_back(n);
  return all;
}

TEST(Notices, NothingWasToldAtFirst) {
  notices<4> box;
  notice n;
  EXPECT_FALSE(box.any());
  EXPECT_FALSE(box.take(n));
  EXPECT_FALSE(box.take_overflow());
}

TEST(Notices, OnlyTheFirstSinceTheWorkerBeganToLookKicksIt) {
  notices<4> box;
  EXPECT_TRUE(box.post(notice_kind::routes_changed));
  EXPECT_FALSE(box.post(notice_kind::routes_changed));
  EXPECT_FALSE(box.post_gone(numbered<tuple4>(1)));
  EXPECT_TRUE(box.any());
  EXPECT_EQ(take_all(box).size(), 2U);
  EXPECT_FALSE(box.any());
  EXPECT_TRUE(box.post_gone(numbered<tuple4>(1)));
}

TEST(Notices, AKindThatNamesNobodyIsOneNoticeHoweverOftenItIsTold) {
  notices<1> box;
  for (int i = 0; i < 1'000; ++i)
    for (const notice_kind k : {notice_kind::neighbours_changed, notice_kind::routes_changed, notice_kind::rules_changed,
                                notice_kind::states_gone})
      (void)box.post(k);
  std::vector<notice_kind> kinds;
  for (const notice& n : take_all(box)) kinds.push_back(n.kind);
  EXPECT_EQ(kinds, (std::vector{notice_kind::neighbours_changed, notice_kind::routes_changed, notice_kind::rules_changed,
                                notice_kind::states_gone}));
  EXPECT_FALSE(box.take_overflow());
}

TEST(Notices, AnEndWithoutATupleIsTheEndOfAny) {
  notices<1> box;
  (void)box.post(notice_kind::state_gone);
  const std::vector<notice> all = take_all(box);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, notice_kind::states_gone);
}

TEST(Notices, ConnectionsOfBothFamiliesComeOutAsTheyWentIn) {
  notices<2> box;
  tuple6 six = numbered<tuple6>(7);
  for (u32 i = 0; i < 4; ++i) six.source[i] = 0x1111'1111U * (i + 1), six.destination[i] = 0x0102'0304U << i;
  (void)box.post_gone(numbered<tuple4>(9));
  (void)box.post_gone(six);
  const std::vector<notice> all = take_all(box);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, notice_kind::state_gone);
  EXPECT_EQ(all[0].which, family::ipv4);
  EXPECT_EQ(all[0].v4, numbered<tuple4>(9));
  EXPECT_EQ(all[1].which, family::ipv6);
  EXPECT_EQ(all[1].v6, six);
}

TEST(Notices, NewsWithoutASeatMakeEverythingDirtyOnce) {
  notices<3> box;
  for (u32 i = 0; i < 10; ++i) (void)box.post_gone(numbered<tuple4>(i));
  EXPECT_TRUE(box.any());
  EXPECT_EQ(take_all(box).size(), 3U);
  EXPECT_TRUE(box.any());
  EXPECT_TRUE(box.take_overflow());
  EXPECT_FALSE(box.take_overflow());
  EXPECT_FALSE(box.any());
  // There is room again.
  EXPECT_TRUE(box.post_gone(numbered<tuple4>(1)));
  EXPECT_EQ(take_all(box).size(), 1U);
  EXPECT_FALSE(box.take_overflow());
}

TEST(Notices, AWorkerThatStopsInTheMiddleStillHasSomething) {
  notices<2> box;
  (void)box.post_gone(numbered<tuple4>(1));
  (void)box.post_gone(numbered<tuple4>(2));
  notice n;
  ASSERT_TRUE(box.take(n));
  EXPECT_TRUE(box.any());
  ASSERT_TRUE(box.take(n));
  EXPECT_FALSE(box.take(n));
  EXPECT_FALSE(box.any());
}

TEST(Notices, ARoundEndsWhateverIsToldMeanwhile) {
  notices<4> box;
  (void)box.post_gone(numbered<tuple4>(0));
  u32 taken = 0;
  for (notice n; box.take(n) && taken < 100; ++taken) {
    (void)box.post_gone(numbered<tuple4>(taken));
    (void)box.post(notice_kind::rules_changed);
  }
  EXPECT_LE(taken, 4U + 4U);
}

// The model: a set of kinds, a set of tuples that were told and not taken, and whether one of them had no seat.
RC_GTEST_PROP(NoticesModel, NothingIsLostUnlessItSaysSo, ()) {
  constexpr u32 room = 3;
  notices<room> box;
  std::set<notice_kind> kinds;
  std::multiset<u32> told;
  bool everything = false;
  bool asked = false;
  u32 seated = 0;
  const auto steps = *rc::gen::container<std::vector<u32>>(rc::gen::inRange<u32>(0, 12));
  for (const u32 step : steps) {
    if (step < 4) {
      kinds.insert(static_cast<notice_kind>(step));
      RC_ASSERT(box.post(static_cast<notice_kind>(step)) == !asked);
      asked = true;
    } else if (step < 10) {
      if (seated < room && !everything)
        told.insert(step), ++seated;
      else
        everything = true;
      RC_ASSERT(box.post_gone(numbered<tuple4>(step)) == !asked);
      asked = true;
    } else if (step == 10) {
      asked = false;
      for (const notice& n : take_all(box)) {
        if (n.kind != notice_kind::state_gone) {
          RC_ASSERT(kinds.erase(n.kind) == 1U);
          continue;
        }
        const auto is = std::find_if(told.begin(), told.end(), [&](u32 i) { return numbered<tuple4>(i) == n.v4; });
        RC_ASSERT(is != told.end());
        told.erase(is);
        --seated;
      }
      RC_ASSERT(kinds.empty() && told.empty());
    } else {
      RC_ASSERT(box.take_overflow() == everything);
      everything = false;
    }
    RC_ASSERT(box.any() == (asked || everything));
  }
}

}  // namespace
}  // namespace octep

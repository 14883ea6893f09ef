#include <octep/partners.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

constexpr u32 room = 16;  // four sets

template <class Tuple>
candidate<Tuple> met(u32 id, u32 count = 1) {
  candidate<Tuple> c;
  c.tuple = test::numbered<Tuple>(id);
  c.who = identity::make(id + 1, 1);
  c.where = {static_cast<u16>(id), 0};
  c.count = count;
  return c;
}

template <class Tuple>
std::optional<candidate<Tuple>> found(partners<Tuple, room>& p, u32 id, u32 hashed, instant now) {
  candidate<Tuple> out;
  return p.find(test::numbered<Tuple>(id), hashed, now, out) ? std::optional{out} : std::nullopt;
}

TEST(Partners, AreRememberedAsTheyWereMetLastAndTheFirstMeetingIsTold) {
  partners<tuple4, room> p;
  const instant now = {5};
  EXPECT_FALSE(found(p, 1, 7, now));
  EXPECT_TRUE(p.remember(met<tuple4>(1), 7, now));
  EXPECT_FALSE(p.remember(met<tuple4>(1, 9), 7, now));
  EXPECT_EQ(found(p, 1, 7, now), met<tuple4>(1, 9));
  EXPECT_FALSE(found(p, 2, 7, now)) << "another tuple of that hash";
}

TEST(Partners, AreForgottenAMinuteAfterTheyWereMetLast) {
  partners<tuple4, room> p;
  const auto lasts = p.lasts;
  EXPECT_TRUE(p.remember(met<tuple4>(1), 7, {5}));
  EXPECT_FALSE(p.remember(met<tuple4>(1), 7, {1'000'005}));
  EXPECT_TRUE(found(p, 1, 7, instant{1'000'004} + lasts));
  EXPECT_FALSE(found(p, 1, 7, instant{1'000'005} + lasts));
  EXPECT_TRUE(p.remember(met<tuple4>(1), 7, instant{1'000'005} + lasts)) << "for the first time again";
}

TEST(Partners, WhoBecameHalfOfAConnectionIsForgottenAloneAndADiscardForgetsAll) {
  partners<tuple4, room> p;
  for (u32 id = 0; id < 3; ++id) (void)p.remember(met<tuple4>(id), id, {});
  p.forget(test::numbered<tuple4>(1), 1);
  p.forget(test::numbered<tuple4>(9), 2);
  EXPECT_TRUE(found(p, 0, 0, {}) && found(p, 2, 2, {}));
  EXPECT_FALSE(found(p, 1, 1, {}));
  EXPECT_TRUE(p.remember(met<tuple4>(1), 1, {}));
  p.clear();
  for (u32 id = 0; id < 3; ++id) EXPECT_FALSE(found(p, id, id, {}));
}

TEST(Partners, TuplesOfOneSlotSpread) {
  // A slot is named by the top bits: all of these share them.
  partners<tuple4, room> p;
  for (u32 id = 0; id < room; ++id) EXPECT_TRUE(p.remember(met<tuple4>(id), 0x8000'0000U + id, {}));
  for (u32 id = 0; id < room; ++id) EXPECT_TRUE(found(p, id, 0x8000'0000U + id, {})) << id;
}

// The same as lists: of each set the last four that came, whoever was met again since.
template <class Tuple>
void a_set_keeps_the_last_four_that_came() {
  auto p = std::make_unique<partners<Tuple, room>>();
  struct entry {
    candidate<Tuple> who;
    instant until;
  };
  std::vector<std::vector<entry>> lists(p->sets, std::vector<entry>(p->ways));
  std::vector<usize> oldest(p->sets, 0);
  instant now = {1};
  const u32 steps = *rc::gen::inRange<u32>(0, 200);
  for (u32 i = 0; i < steps; ++i) {
    const u32 id = *rc::gen::inRange<u32>(0, 24);
    const u32 hashed = id * 0x0100'0001U;
    auto& list = lists[hashed % p->sets];
    const auto at = std::find_if(list.begin(), list.end(), [&](const entry& e) {
      return e.who.tuple == test::numbered<Tuple>(id) && e.until != instant{};
    });
    const bool remembered = at != list.end() && now < at->until;
    switch (*rc::gen::weightedElement<int>({{6, 0}, {2, 1}, {1, 2}, {1, 3}})) {
      case 0: {
        RC_ASSERT(p->remember(met<Tuple>(id, i), hashed, now) == !remembered);
        entry& to = at != list.end() ? *at : list[oldest[hashed % p->sets]++ % p->ways];
        to = {met<Tuple>(id, i), now + p->lasts};
        break;
      }
      case 1:
        p->forget(test::numbered<Tuple>(id), hashed);
        if (at != list.end()) at->until = {};
        break;
      case 2: now = now + from_s(*rc::gen::inRange<u64>(0, 40)); break;
      default: {
        const auto got = found(*p, id, hashed, now);
        RC_ASSERT(got.has_value() == remembered);
        if (got) RC_ASSERT(*got == at->who);
      }
    }
  }
}
RC_GTEST_PROP(Partners, ASetKeepsTheLastFourThatCame, ()) { a_set_keeps_the_last_four_that_came<tuple4>(); }
RC_GTEST_PROP(Partners, ASetKeepsTheLastFourThatCameOfIpv6, ()) { a_set_keeps_the_last_four_that_came<tuple6>(); }

}  // namespace
}  // namespace octep

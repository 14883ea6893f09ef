#include <octep/tags.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <utility>

#include "test/tags_model.hpp"

namespace octep {
namespace {

using test::few_different_tags;
using test::sixteen_tags;
using test::visited;

// Byte by byte.
template <u32 Places>
std::array<bool, 16> places_that_have(const sixteen_tags& tags, u8 tag) {
  std::array<bool, 16> have{};
  for (u32 place = 0; place < Places; ++place) have[place] = tags[place] == tag;
  return have;
}

template <class Tags, u32 Places>
std::array<bool, 16> marked(const sixteen_tags& tags, u8 tag) {
  std::array<bool, 16> named{};
  for (const u32 place : visited<Tags, Places>(tags, tag)) {
    EXPECT_LT(place, Places);
    if (place >= 16) break;
    EXPECT_FALSE(named[place]) << "visited twice";
    named[place] = true;
  }
  return named;
}

// Every true place is marked; nothing at or above Places (in `marked`); and the first mark of each word is a true one,
// so that a false one costs a comparison only beside a right one.
template <u32 Places>
void expect_marks_of(const sixteen_tags& tags, u8 tag) {
  const auto want = places_that_have<Places>(tags, tag);
  const auto got = marked<scalar_tags, Places>(tags, tag);
  for (const u32 word : {0U, 8U}) {
    bool met_a_true_one = false;
    for (u32 place = word; place < word + 8; ++place) {
      met_a_true_one = met_a_true_one || want[place];
      if (want[place]) {
        ASSERT_TRUE(got[place]) << "place " << place << " of " << Places << " is not marked";
      } else if (got[place]) {
        ASSERT_TRUE(met_a_true_one) << "place " << place << " of " << Places << " is marked below every true one";
      }
    }
  }
}

template <u32... Before>
void expect_marks_for_all_sizes(const sixteen_tags& tags, u8 tag, std::integer_sequence<u32, Before...>) {
  (expect_marks_of<Before + 1>(tags, tag), ...);
}
void expect_marks(const sixteen_tags& tags, u8 tag) {
  expect_marks_for_all_sizes(tags, tag, std::make_integer_sequence<u32, 16>{});
}

TEST(ScalarTags, FindEverySingleByteInEveryPlaceBesideEveryOther) {
  for (u32 place = 0; place < 16; ++place)
    for (u32 here = 0; here < 256; ++here)
      for (u32 asked = 0; asked < 256; ++asked) {
        sixteen_tags tags;
        tags.fill(static_cast<u8>(~asked));
        tags[place] = static_cast<u8>(here);
        const auto got = marked<scalar_tags, 16>(tags, static_cast<u8>(asked));
        for (u32 i = 0; i < 16; ++i) ASSERT_EQ(got[i], i == place && here == asked) << "place " << i;
      }
}

// The borrow goes up from a byte that is alike into one that differs from it in the lowest bit, and stops in any other.
TEST(ScalarTags, AreRightForAllPairsOfNeighbours) {
  for (u32 low = 0; low < 256; ++low)
    for (u32 next = 0; next < 256; ++next)
      for (const u32 place : {0U, 6U, 7U, 8U, 14U}) {
        sixteen_tags tags;
        tags.fill(0x55);
        tags[place] = static_cast<u8>(low);
        tags[place + 1] = static_cast<u8>(next);
        expect_marks_of<16>(tags, 0xaa);
        expect_marks_of<16>(tags, static_cast<u8>(low));
        expect_marks_of<9>(tags, static_cast<u8>(next));
        expect_marks_of<8>(tags, static_cast<u8>(low ^ 1));
        if (HasFatalFailure()) return;
      }
}

TEST(ScalarTags, MayNameANeighbourBesideARightOneOnly) {
  sixteen_tags tags;
  tags.fill(0x99);
  tags[3] = 0x40;
  tags[4] = 0x41;
  EXPECT_TRUE((marked<scalar_tags, 16>(tags, 0x40)[4])) << "the contract allows for it, so a test should meet it";
  EXPECT_FALSE((marked<scalar_tags, 16>(tags, 0x41)[3]));
}

TEST(ScalarTags, AreAConstant) {
  static_assert(scalar_tags::alike<16>(0x0011'2233'4455'6677, 0x8899'aabb'ccdd'eeff, 0x12) == 0);
  static_assert(scalar_tags::first_place(scalar_tags::alike<16>(0x0011'2233'4455'6677, 0, 0x55)) == 2);
  static_assert(scalar_tags::first_place(scalar_tags::alike<16>(1, 0x8899'aabb'ccdd'ee00, 0xdd)) == 10);
  static_assert(scalar_tags::alike<2>(0x0011'2233'4455'6677, 0, 0x55) == 0);
  static_assert(scalar_tags::alike<10>(1, 0x8899'aabb'ccdd'ee00, 0xdd) == 0);
}

RC_GTEST_PROP(ScalarTags, MarkWhatIsAlikeForAnyNumberOfPlaces, ()) {
  const auto [tags, asked] = few_different_tags();
  expect_marks(tags, asked);
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace octep

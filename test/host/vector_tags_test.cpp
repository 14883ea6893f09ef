#include <octep/host/vector_tags.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

namespace octep {
namespace {

using sixteen_tags = std::array<u8, 16>;

u64 word_of(const sixteen_tags& tags, u32 first_place) {
  u64 word = 0;
  for (u32 i = 0; i < 8; ++i) word |= u64{tags[first_place + i]} << (8 * i);
  return word;
}

template <class Tags, u32 Places>
std::vector<u32> visited(const sixteen_tags& tags, u8 tag) {
  std::vector<u32> places;
  u64 marks = Tags::template alike<Places>(word_of(tags, 0), word_of(tags, 8), tag);
  for (; marks != 0; marks &= marks - 1) places.push_back(Tags::first_place(marks));
  return places;
}

constexpr bool has_a_register = !std::is_same_v<vector_tags, scalar_tags>;

// A register compares exactly: the places that have the tag, in their order, and nothing else.
template <u32 Places>
void expect_exactly(const sixteen_tags& tags, u8 tag) {
  std::vector<u32> want;
  for (u32 place = 0; place < Places; ++place)
    if (tags[place] == tag) want.push_back(place);
  ASSERT_EQ((visited<vector_tags, Places>(tags, tag)), want) << Places << " places";
}

// And whatever a register names, the form that a kernel runs names too.
template <u32 Places>
void expect_within_scalar(const sixteen_tags& tags, u8 tag) {
  std::array<bool, 16> scalar{};
  for (const u32 place : visited<scalar_tags, Places>(tags, tag)) scalar[place] = true;
  for (const u32 place : visited<vector_tags, Places>(tags, tag)) ASSERT_TRUE(scalar[place]) << place;
}

template <u32... Before>
void expect_for_all_sizes(const sixteen_tags& tags, u8 tag, std::integer_sequence<u32, Before...>) {
  if (has_a_register) (expect_exactly<Before + 1>(tags, tag), ...);
  (expect_within_scalar<Before + 1>(tags, tag), ...);
}
void expect_marks(const sixteen_tags& tags, u8 tag) {
  expect_for_all_sizes(tags, tag, std::make_integer_sequence<u32, 16>{});
}

TEST(VectorTags, FindEverySingleByteInEveryPlace) {
  for (u32 place = 0; place < 16; ++place)
    for (u32 here = 0; here < 256; ++here)
      for (const u32 asked : {here, here ^ 1, here ^ 0x80, 0xffU, 0U}) {
        sixteen_tags tags;
        tags.fill(static_cast<u8>(~asked));
        tags[place] = static_cast<u8>(here);
        expect_marks(tags, static_cast<u8>(asked));
        if (HasFatalFailure()) return;
      }
}

// Every set of places, so that a mark that stands for two or for none shows.
TEST(VectorTags, FindEverySetOfPlaces) {
  for (u32 set = 0; set < 0x1'0000; ++set) {
    sixteen_tags tags;
    for (u32 i = 0; i < 16; ++i) tags[i] = static_cast<u8>(((set >> i) & 1) != 0 ? 0x7e : 0x7f);
    if (has_a_register) {
      expect_exactly<16>(tags, 0x7e);
      expect_exactly<11>(tags, 0x7e);
      expect_exactly<4>(tags, 0x7f);
    }
    expect_within_scalar<16>(tags, 0x7e);
    if (HasFatalFailure()) return;
  }
}

RC_GTEST_PROP(VectorTags, MarkExactlyWhatIsAlike, ()) {
  const u8 base = *rc::gen::arbitrary<u8>();
  const u8 spread = *rc::gen::element<u8>(1, 3, 0x81, 0xff);
  sixteen_tags tags;
  for (u8& tag : tags) tag = static_cast<u8>(base ^ (*rc::gen::arbitrary<u8>() & spread));
  expect_marks(tags, static_cast<u8>(base ^ (*rc::gen::arbitrary<u8>() & spread)));
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace octep

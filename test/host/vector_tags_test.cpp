#include <octep/host/vector_tags.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "test/tags_model.hpp"

namespace octep {
namespace {

using test::few_different_tags;
using test::sixteen_tags;
using test::visited;

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
  const auto [tags, asked] = few_different_tags();
  expect_marks(tags, asked);
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace octep

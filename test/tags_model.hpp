// The tags of sixteen places as bytes beside each other, and what a tag policy names of them: for the scalar form and the
// host's alike.
#pragma once

#include <octep/tags.hpp>

#include <rapidcheck.h>

#include <array>
#include <utility>
#include <vector>

namespace octep::test {

using sixteen_tags = std::array<u8, 16>;

// As the contract reads: the word of places `first_place` to `first_place + 7`.
inline u64 word_of(const sixteen_tags& tags, u32 first_place) {
  u64 word = 0;
  for (u32 i = 0; i < 8; ++i) word |= u64{tags[first_place + i]} << (8 * i);
  return word;
}

// The places that are named, in the order in which they are visited.
template <class Tags, u32 Places>
std::vector<u32> visited(const sixteen_tags& tags, u8 tag) {
  std::vector<u32> places;
  u64 marks = Tags::template alike<Places>(word_of(tags, 0), word_of(tags, 8), tag);
  for (; marks != 0; marks &= marks - 1) places.push_back(Tags::first_place(marks));
  return places;
}

// Tags and one to ask for. Few different bytes, so that many are alike and many differ in the lowest bit only.
inline std::pair<sixteen_tags, u8> few_different_tags() {
  const u8 base = *rc::gen::arbitrary<u8>();
  const u8 spread = *rc::gen::element<u8>(1, 3, 0x81, 0xff);
  const auto one = [&] { return static_cast<u8>(base ^ (*rc::gen::arbitrary<u8>() & spread)); };
  sixteen_tags tags;
  for (u8& tag : tags) tag = one();
  return {tags, one()};
}

}  // namespace octep::test

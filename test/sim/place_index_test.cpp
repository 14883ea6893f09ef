#include "sim/place_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace octep::sim {
namespace {

// Few hashes, so that keys share them and runs of them reach around the end of the table.
u64 hash_of(u32 key, u32 spread) { return u64{key % spread * 0x4000'0005U} << 32; }

// A map from keys to places, as an owner keeps one.
RC_GTEST_PROP(PlaceIndex, FindsWhatAMapFinds, (const std::vector<std::pair<u8, bool>>& steps)) {
  const u32 spread = *rc::gen::element(1U, 3U, 16U, 200U);
  std::map<u32, u32> model;
  std::vector<u32> key_at;
  place_index index;
  const auto is = [&](u32 key) { return [&key_at, key](u32 place) { return key_at[place] == key; }; };
  for (const auto& [key, puts] : steps) {
    const auto there = model.find(key);
    const u32 found = index.find(hash_of(key, spread), is(key));
    RC_ASSERT(found == (there == model.end() ? place_index::nowhere : there->second));
    if (puts && there == model.end()) {
      model[key] = static_cast<u32>(key_at.size());
      index.insert(hash_of(key, spread), static_cast<u32>(key_at.size()));
      key_at.push_back(key);
    } else if (!puts && there != model.end()) {
      RC_ASSERT(index.erase(hash_of(key, spread), there->second));
      model.erase(there);
    }
    RC_ASSERT(index.size() == model.size());
  }
  for (u32 key = 0; key < 256; ++key) {
    const auto there = model.find(key);
    RC_ASSERT(index.find(hash_of(key, spread), is(key)) == (there == model.end() ? place_index::nowhere : there->second));
  }
}

TEST(PlaceIndex, ManyComeAndGo) {
  place_index index;
  const auto hash = [](u32 place) { return (u64{place} * 0x9e37'79b9U) << 32; };
  for (u32 place = 0; place < 100'000; ++place) {
    index.insert(hash(place), place);
    if (place < 1'000) continue;
    ASSERT_TRUE(index.erase(hash(place - 1'000), place - 1'000));
  }
  EXPECT_EQ(index.size(), 1'000U);
  for (u32 place = 0; place < 100'000; ++place)
    ASSERT_EQ(index.find(hash(place), [place](u32 at) { return at == place; }),
              place < 99'000 ? place_index::nowhere : place);
}

TEST(PlaceIndex, WhatIsNotThereIsNotTakenOut) {
  place_index index;
  EXPECT_FALSE(index.erase(7, 0));
  index.insert(7, 0);
  EXPECT_FALSE(index.erase(7, 1));
  EXPECT_TRUE(index.erase(7, 0));
  EXPECT_FALSE(index.erase(7, 0));
  EXPECT_EQ(index.find(7, [](u32) { return true; }), place_index::nowhere);
}

TEST(PlaceIndex, OneHashMayHaveSeveralPlaces) {
  place_index index;
  for (u32 place = 0; place < 20; ++place) index.insert(7, place);
  for (u32 place = 0; place < 20; ++place) EXPECT_EQ(index.find(7, [place](u32 at) { return at == place; }), place);
}

TEST(PlaceIndex, IsEmptyOnceCleared) {
  place_index index;
  index.insert(7, 0);
  index.clear();
  EXPECT_EQ(index.size(), 0U);
  EXPECT_EQ(index.find(7, [](u32) { return true; }), place_index::nowhere);
  index.insert(7, 3);
  EXPECT_EQ(index.find(7, [](u32) { return true; }), 3U);
}

}  // namespace
}  // namespace octep::sim

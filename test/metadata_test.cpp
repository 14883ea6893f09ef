#include <octep/metadata.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "sim/frame_builder.hpp"
#include "test/exact_bytes.hpp"
#include "test/reference_parser.hpp"

namespace octep {
namespace {

using test::exact_bytes;

constexpr punt_metadata somebody{identity::make(0x1abcdef, 0x2a), 0x0102, {0x00050007}};

test::prefix_verdict parse(const std::vector<u8>& all, std::size_t contiguous, std::size_t wire) {
  const exact_bytes exact{all.data(), contiguous};
  punt_metadata out;
  frame_view inner;
  test::prefix_verdict v;
  v.why = parse_prefix({exact.data(), static_cast<u32>(contiguous), static_cast<u32>(wire)}, out, inner);
  if (v.why == reason::none || v.why == reason::no_identity) {
    v.metadata = out;
    v.at_hand = inner.at_hand();
    v.wire = inner.wire_length;
    EXPECT_EQ(inner.bytes, exact.data() + 82);
    EXPECT_EQ(inner.contiguous, inner.at_hand());
  }
  return v;
}
test::prefix_verdict parse(const std::vector<u8>& all) { return parse(all, all.size(), all.size()); }

std::vector<u8> sample(const punt_metadata& of = somebody, std::size_t frame = 60) {
  return sim::punted(std::vector<u8>(frame, 0x5a), of);
}

// The layout of system.md 2, byte for byte: a change of it is a change of device.
TEST(Prefix, LayoutIsTheRecordedOne) {
  std::vector<u8> expected(82, 0);
  const auto put = [&](std::size_t at, std::vector<u8> what) { std::copy(what.begin(), what.end(), &expected[at]); };
  put(0, {0, 0, 0, 0, 0, 0, 0x01, 0x02});
  put(8, {0x80, 0x03, 0, 0, 0, 0, 0, 0});
  put(16, {0x01, 0x02});
  put(18 + 4, {0, 1, 0x02, 0x01});
  put(18 + 8, {0xef, 0xcd, 0xab, 0xd5});  // valid | revision 0x2a | id 0x1abcdef
  put(18 + 12, {0x07, 0x00, 0x05, 0x00});
  std::vector<u8> written(82, 0xee);
  write_prefix(written.data(), somebody, 0x102);
  EXPECT_EQ(written, expected);
}

TEST(Prefix, WholeOneIsReadAndOneByteLessIsTruncated) {
  const auto all = sample(somebody, 0);
  ASSERT_EQ(all.size(), 82U);
  EXPECT_EQ(parse(all, 82, 82).why, reason::none);
  EXPECT_EQ(parse(all, 81, 82).why, reason::truncated);
  EXPECT_EQ(parse(all, 82, 81).why, reason::truncated);
  EXPECT_EQ(parse(all, 0, 0).why, reason::truncated);
}

TEST(Prefix, LengthMayLeavePaddingButNotExceedTheWire) {
  auto all = sample(somebody, 60);
  EXPECT_EQ(parse(all).wire, 60U);
  all[7] = 61;
  EXPECT_EQ(parse(all).why, reason::length_lies);
  all[7] = 59;
  EXPECT_EQ(parse(all).why, reason::none);
  EXPECT_EQ(parse(all).wire, 59U);
  all[7] = 60;
  for (std::size_t i = 0; i < 7; ++i) {
    auto huge = all;
    huge[i] = 1;
    EXPECT_EQ(parse(huge).why, reason::length_lies) << i;
  }
}

TEST(Prefix, ShortCaptureOfALongFrameIsNoLie) {
  const auto all = sample(somebody, 60);
  const auto v = parse(all, 82 + 20, all.size());
  EXPECT_EQ(v.why, reason::none);
  EXPECT_EQ(v.at_hand, 20U);
  EXPECT_EQ(v.wire, 60U);
}

TEST(Prefix, AnotherMarkIsNoPrefix) {
  for (std::size_t at = 8; at < 16; ++at) {
    auto all = sample();
    all[at] ^= 1;
    EXPECT_EQ(parse(all).why, reason::length_lies) << at;
  }
}

TEST(Prefix, NoIdentityStillShowsTheFrame) {
  auto invalid = sample();
  invalid[18 + 5] = 0;
  invalid[17] = 9;
  EXPECT_EQ(parse(invalid), (test::prefix_verdict{reason::no_identity, {{}, 0x0109, {}}, 60, 60}));

  const auto word = [&](u32 w) { return sample({identity{w}, somebody.port, somebody.association}); };
  const test::prefix_verdict nobody{reason::no_identity, {{}, somebody.port, somebody.association}, 60, 60};
  EXPECT_EQ(parse(word(0x0000'0001)), nobody);  // not valid
  EXPECT_EQ(parse(word(0xfe00'0000)), nobody);  // id 0
  EXPECT_EQ(parse(word(0x8000'0001)).why, reason::none);
  EXPECT_EQ(parse(word(0x8100'0000)).why, reason::none);
}

TEST(Prefix, AnyNonzeroValidByteCounts) {
  for (unsigned v = 1; v < 256; ++v) {
    auto all = sample();
    all[18 + 5] = static_cast<u8>(v);
    EXPECT_EQ(parse(all).why, reason::none) << v;
  }
}

struct shifted_prefix {
  static constexpr u32 length = 40;
  static constexpr u32 length_at = 8;
  static constexpr u32 mark_at = 0;
  static constexpr u64 mark = 7;
  static constexpr u32 port_tag_at = 16;
  static constexpr u32 metadata_at = 20;
  static constexpr u32 state_at = 0;
  static constexpr u32 flow_word_at = 12;
  static constexpr u32 association_at = 16;
};
static_assert(prefix_policy<shifted_prefix>);

struct prefix_that_ends_early : shifted_prefix {
  static constexpr u32 length = 39;
};
static_assert(!prefix_policy<prefix_that_ends_early>);

TEST(Prefix, AnotherDevicesLayoutIsAnotherPolicy) {
  const auto all = sim::punted<shifted_prefix>(std::vector<u8>(20, 1), somebody);
  const exact_bytes exact{all.data(), all.size()};
  punt_metadata out;
  frame_view inner;
  ASSERT_EQ(parse_prefix<shifted_prefix>({exact.data(), 60, 60}, out, inner), reason::none);
  EXPECT_EQ(out, somebody);
  EXPECT_EQ(inner.wire_length, 20U);
}

RC_GTEST_PROP(Prefix, WhatIsWrittenIsRead, ()) {
  const punt_metadata of{
      identity::make(*rc::gen::inRange<u32>(1, identity::id_mask + 1), *rc::gen::inRange<u32>(0, 64)),
      *rc::gen::arbitrary<u16>(),
      {*rc::gen::arbitrary<u32>()}};
  const auto frame = *rc::gen::inRange<std::size_t>(0, 200);
  const auto v = parse(sample(of, frame));
  RC_ASSERT(v == (test::prefix_verdict{reason::none, of, frame, frame}));
}

RC_GTEST_PROP(Prefix, BrokenBytesAreReadAsTheReferenceReadsThem, ()) {
  auto all = sample({identity{*rc::gen::arbitrary<u32>()}, *rc::gen::arbitrary<u16>(), {*rc::gen::arbitrary<u32>()}},
                    *rc::gen::inRange<std::size_t>(0, 100));
  for (int hits = *rc::gen::inRange(0, 3); hits > 0; --hits)
    all[*rc::gen::inRange<std::size_t>(0, 82)] = *rc::gen::arbitrary<u8>();
  const auto contiguous = *rc::gen::inRange<std::size_t>(0, all.size() + 1);
  const auto wire = *rc::gen::inRange<std::size_t>(0, all.size() + 20);
  const auto cut = std::vector<u8>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(contiguous));
  const auto expected = test::reference_prefix(cut, wire);
  RC_CLASSIFY(expected.why == reason::none, "read");
  RC_CLASSIFY(expected.why == reason::no_identity, "no identity");
  RC_ASSERT(parse(all, contiguous, wire) == expected);
}

}  // namespace
}  // namespace octep

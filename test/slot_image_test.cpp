#include <octep/slot_image.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

namespace octep {
namespace {

template <u32 Places, class Tuple = tuple4>
using ranked = slot_image<Tuple, Places, true>;

// What a slot outside of a table is asked with: its glance, and nobody to share it with.
template <u32 Places, class Tuple = tuple4>
struct slot_alone {
  ranked<Places, Tuple> image;
  u32 glance = 0;

  [[nodiscard]] auto view(u32 draw = 1, tick now = {}) {
    image.set_draw(draw);
    return typename ranked<Places, Tuple>::view{image, glance, now};
  }
  [[nodiscard]] candidate<Tuple> at(u32 place) const {
    candidate<Tuple> out;
    image.copy_out(place, glance, out);
    return out;
  }
  write_outcome admit(const placement& where, const Tuple& t, u32 hashed, const arrival& frame, u32 log2 = 4) {
    return image.admit(where, t, hashed, packed_arrival{frame}, log2, glance);
  }
  write_outcome renew(const Tuple& t, u32 hashed, const arrival& frame, u32 log2 = 4) {
    return write_outcome::from_bits(image.renew(image.seat_of(t, hashed), t, packed_arrival{frame}, log2, glance));
  }
};

tuple4 tuple_of(u32 id) { return tuple4::make(0x0a000001, 0x0a000002 + (id << 8), id << 16 | 80, protocol::udp); }
u32 hash_of(u32 id) { return 0xffff'0000U | (id * 0x3b01 & 0xffff); }

arrival frame_of(u32 id, bool closing = false) {
  arrival a;
  a.who = identity::make(id + 1, id & 63);
  a.where = {static_cast<u16>(id + 3), static_cast<u16>(id % 4)};
  a.association = {id * 0x0001'0001U};
  a.closing = closing;
  a.at = tick{1000 + id};
  return a;
}

// --- a place ----------------------------------------------------------------------------------------------

template <tuple_type Tuple>
void shows_what_was_written() {
  u32 words[Tuple::words];
  for (u32& word : words) word = *rc::gen::arbitrary<u32>();
  words[Tuple::words - 1] = static_cast<u32>(*rc::gen::element(protocol::tcp, protocol::udp, protocol::icmp, protocol::icmp6));
  const Tuple t = Tuple::from_words(words);
  arrival a;
  a.who = {*rc::gen::arbitrary<u32>()};
  a.where = ingress::from_word(*rc::gen::arbitrary<u32>());
  a.association = {*rc::gen::arbitrary<u32>()};
  a.closing = *rc::gen::arbitrary<bool>();
  a.at = tick{*rc::gen::arbitrary<u32>()};
  const u32 hashed = *rc::gen::arbitrary<u32>();
  const u32 place = *rc::gen::inRange<u32>(0, 16);

  slot_alone<16, Tuple> slot;
  (void)slot.admit({place}, t, hashed, a, 1);
  candidate<Tuple> want{t, a.who, a.where, a.association, a.at, 1, a.closing, false, false};
  RC_ASSERT(slot.at(place) == want);
  RC_ASSERT(slot.image.place_of(t, hashed) == place);
  RC_ASSERT(slot.glance == only(place));
  RC_ASSERT(slot.image.written() == only(place));

  arrival b = a;
  b.who.word ^= 1;
  b.at.ms += 5;
  b.closing = *rc::gen::arbitrary<bool>();
  (void)slot.renew(t, hashed, b, 31);
  want.who = b.who;
  want.at = b.at;
  want.count = 2;
  want.closing = a.closing || b.closing;
  RC_ASSERT(slot.at(place) == want);
}

RC_GTEST_PROP(SlotImage, ShowsWhatWasWrittenToAnyPlace, ()) { shows_what_was_written<tuple4>(); }
RC_GTEST_PROP(SlotImage, ShowsWhatWasWrittenToAnyPlaceOfIpv6, ()) { shows_what_was_written<tuple6>(); }

// Marks are a guess: whatever they name, only a tuple that is compared is believed.
RC_GTEST_PROP(SlotImage, BelievesNoMarkButTheTuple, ()) {
  slot_alone<16> slot;
  const u32 held = *rc::gen::inRange<u32>(0, 17);
  for (u32 i = 0; i < held; ++i) (void)slot.admit({i}, tuple_of(i), hash_of(i), frame_of(i));
  const u32 asked = *rc::gen::inRange<u32>(0, 20);
  // Bits 8i and 8i + 1 are places of the scalar form; the others are nobody's.
  const u64 marks = *rc::gen::arbitrary<u64>() & 0x0303'0303'0303'0303;
  const u64 named = u64{1} << (8 * (asked % 8) + (asked >= 8 && asked < 16));
  const auto got = slot.image.seat_among(marks, tuple_of(asked));
  const bool there = asked < held && (marks & named) != 0;
  RC_ASSERT((got.at != nullptr) == there);
  RC_ASSERT(got.place == (there ? asked : 16U));
}

TEST(SlotImage, AnEmptyPlaceHoldsNobodyEvenIfItsTagIsAlike) {
  slot_alone<4> slot;
  EXPECT_EQ(slot.image.place_of(tuple_of(0), 0), 4U) << "all tags of an untouched slot are 0";
  (void)slot.admit({0}, tuple_of(0), 0x40, frame_of(0));
  (void)slot.image.empty(slot.glance);
  EXPECT_NE(slot.image.alike(0x40), 0U) << "the tag is left behind";
  EXPECT_EQ(slot.image.place_of(tuple_of(0), 0x40), 4U);
}

// --- moves ------------------------------------------------------------------------------------------------

// The slot of a newcomer: what makes room moves first, with all that is known of it, and is found where it went.
RC_GTEST_PROP(SlotImage, AMoveTakesAllOfACandidateAlong, ()) {
  slot_alone<8> slot;
  for (u32 i = 0; i < 8; ++i) (void)slot.admit({i}, tuple_of(i), hash_of(i), frame_of(i));
  const u32 from = *rc::gen::inRange<u32>(0, 8);
  const u32 to = (from + *rc::gen::inRange<u32>(1, 8)) % 8;
  const u32 frames = *rc::gen::inRange<u32>(0, 40);
  for (u32 i = 0; i < frames; ++i) (void)slot.renew(tuple_of(from), hash_of(from), frame_of(from, i % 7 == 6));
  if (*rc::gen::arbitrary<bool>()) slot.image.mark_read(from, slot.glance);
  const bool to_was_unread = *rc::gen::arbitrary<bool>();
  if (!to_was_unread) slot.image.mark_read(to, slot.glance);
  const bool refused = *rc::gen::arbitrary<bool>();
  slot.image.set_refused(from, refused);
  slot.image.set_refused(to, !refused);
  const u32 ticket = slot.view(0x9137).ticket(from);

  const candidate<tuple4> moved = slot.at(from);
  std::vector<candidate<tuple4>> before;
  for (u32 i = 0; i < 8; ++i) before.push_back(slot.at(i));
  const write_outcome outcome = slot.admit({from, to}, tuple_of(99), hash_of(99), frame_of(99));

  RC_ASSERT(slot.at(to) == moved);
  RC_ASSERT(slot.image.place_of(tuple_of(from), hash_of(from)) == to);
  RC_ASSERT(slot.image.place_of(tuple_of(99), hash_of(99)) == from);
  RC_ASSERT(slot.image.place_of(tuple_of(to), hash_of(to)) == 8U);
  RC_ASSERT(slot.view(0x9137).ticket(to) == ticket);
  RC_ASSERT(((slot.image.refused() >> to) & 1) == u32{refused});
  RC_ASSERT(((slot.image.refused() >> from) & 1) == 0U);
  RC_ASSERT(slot.at(from).count == 1U);
  RC_ASSERT(!slot.at(from).read);
  for (u32 i = 0; i < 8; ++i)
    if (i != from && i != to) RC_ASSERT(slot.at(i) == before[i]);
  write_outcome want;
  want.lost = to_was_unread;
  want.evicted = to_was_unread;
  want.evicted_read = !to_was_unread;
  RC_ASSERT(outcome == want);
}

// --- ranks ------------------------------------------------------------------------------------------------

TEST(SlotRanks, ANewcomerInheritsNothingOfAPlace) {
  slot_alone<4> slot;
  (void)slot.admit({2}, tuple_of(0), hash_of(0), frame_of(0));
  slot.image.set_refused(2, true);
  slot.image.keep(2, slot.glance);
  ASSERT_EQ(slot.image.refused() & slot.image.kept(), 0b0100U);
  (void)slot.admit({2}, tuple_of(1), hash_of(1), frame_of(1));
  EXPECT_EQ(slot.image.refused() | slot.image.kept(), 0U);
}

TEST(SlotRanks, ADiscardForgetsThemAll) {
  slot_alone<16> slot;
  for (u32 i = 0; i < 16; ++i) {
    (void)slot.admit({i}, tuple_of(i), hash_of(i), frame_of(i));
    slot.image.set_refused(i, true);
    slot.image.keep(i, slot.glance);
  }
  slot.image.mark_read(5, slot.glance);
  const emptied gone = slot.image.empty(slot.glance);
  EXPECT_EQ(gone.unread, 15U);
  EXPECT_EQ(gone.read, 1U);
  EXPECT_EQ(slot.glance, 0U);
  EXPECT_EQ(slot.image.written() | slot.image.refused() | slot.image.kept(), 0U);
}

TEST(SlotRanks, WhatWasKeptIsNotWhenAPollEndsIt) {
  slot_alone<4> slot;
  for (u32 i = 0; i < 4; ++i) (void)slot.admit({i}, tuple_of(i), hash_of(i), frame_of(i));
  slot.image.keep(1, slot.glance);
  slot.image.keep(3, slot.glance);
  EXPECT_EQ(slot.glance, 0b1111U | glances::keeps);
  slot.image.end_keeping(slot.glance);
  EXPECT_EQ(slot.image.kept(), 0U);
  EXPECT_EQ(slot.glance, 0b1111U) << "nothing left for a poll to end";
}

TEST(SlotRanks, AnExpectedTupleHasNoIdentityAndNoFramesAndIsNotToBeTaken) {
  slot_alone<4> slot;
  (void)slot.admit({1}, tuple_of(5), hash_of(5), frame_of(5, true), 0);
  slot.image.expect(1, tuple_of(6), hash_of(6), tick{77}, slot.glance);
  candidate<tuple4> want;
  want.tuple = tuple_of(6);
  want.at = tick{77};
  want.read = true;
  EXPECT_EQ(slot.at(1), want);
  EXPECT_EQ(want.who, identity{});
  EXPECT_EQ(slot.glance, 0U);
  EXPECT_EQ(slot.image.place_of(tuple_of(6), hash_of(6)), 1U);
}

// At whatever power of two others are due.
TEST(SlotRanks, TheFirstFrameOfAnExpectedTupleIsDueWhileItIsKept) {
  for (const u32 log2 : {0U, 4U, 21U, 31U})
    for (const bool closing : {false, true})
      for (const bool kept : {false, true}) {
        slot_alone<4> slot;
        slot.image.expect(2, tuple_of(6), hash_of(6), tick{77}, slot.glance);
        if (kept) slot.image.keep(2, slot.glance);
        const write_outcome first = slot.renew(tuple_of(6), hash_of(6), frame_of(6, closing), log2);
        EXPECT_EQ(first.due, (kept || log2 == 0) && !closing) << log2;
        EXPECT_FALSE(first.lost);
        EXPECT_EQ(slot.at(2).due, first.due);
        EXPECT_EQ(slot.at(2).count, 1U);
        EXPECT_EQ(slot.at(2).who, frame_of(6).who);
        EXPECT_FALSE(slot.at(2).read);
        EXPECT_FALSE(slot.renew(tuple_of(6), hash_of(6), frame_of(6), 4).due) << "the second is one of many";
      }
}

TEST(SlotRanks, AgainIsAskedOfTheCountOfFrames) {
  slot_alone<16> slot;
  for (u32 i = 0; i < 16; ++i) (void)slot.admit({i}, tuple_of(i), hash_of(i), frame_of(i));
  for (u32 place = 0; place < 8; ++place) {
    EXPECT_FALSE(slot.view().again(place)) << "it only came";
    (void)slot.renew(tuple_of(place), hash_of(place), frame_of(place));
    EXPECT_TRUE(slot.view().again(place));
    slot.view().forget_again(place);
    EXPECT_FALSE(slot.view().again(place));
    for (u32 i = 1; i < 256; ++i) {
      (void)slot.renew(tuple_of(place), hash_of(place), frame_of(place));
      EXPECT_TRUE(slot.view().again(place)) << i;
    }
    (void)slot.renew(tuple_of(place), hash_of(place), frame_of(place));
    EXPECT_FALSE(slot.view().again(place)) << "256 of them read as none";
  }
  slot.view().forget_again(3);
  (void)slot.admit({3}, tuple_of(40), hash_of(40), frame_of(40));
  EXPECT_FALSE(slot.view().again(3)) << "a newcomer has written once";
}

// --- tickets ----------------------------------------------------------------------------------------------

// In how many of `draws` a tuple is among the best `winners` of a crowd.
u32 wins_of(u32 hashed, const std::vector<u32>& crowd, u32 winners, u32 draws, std::mt19937& random) {
  slot_alone<16> slot;
  u32 won = 0;
  const auto ticket = [&](u32 of, u32 secret) {
    (void)slot.admit({0}, tuple_of(0), of, frame_of(0));
    return slot.view(secret).ticket(0);
  };
  for (u32 i = 0; i < draws; ++i) {
    const auto secret = static_cast<u32>(random());
    const u32 mine = ticket(hashed, secret);
    u32 better = 0;
    for (const u32 other : crowd) better += ticket(other, secret) > mine;
    won += better < winners;
  }
  return won;
}

// Nobody's hash is unlucky for ever: over the draws each has its share, whatever its bits. Half of the share would still
// do; by chance alone the least of these is above three quarters.
TEST(Tickets, NoHashIsUnluckyAtEveryDraw) {
  std::mt19937 random{20'231};
  constexpr u32 draws = 3'000;
  constexpr u32 crowd_size = 63;
  constexpr u32 winners = 8;
  std::vector<u32> tried{0, 1, 2, 3, 0x10, 0x80, 0x100, 0x800, 0x1000, 0x2000, 0x4000, 0x8000, 0x7fff, 0xfffe, 0xffff};
  for (u32 i = 0; i < 20; ++i) tried.push_back(random() & 0xffff);
  u32 least = draws;
  for (const u32 hashed : tried) {
    std::vector<u32> crowd;
    while (crowd.size() < crowd_size)
      if (const u32 other = random() & 0xffff; other != hashed) crowd.push_back(other);
    const u32 won = wins_of(hashed, crowd, winners, draws, random);
    EXPECT_GE(won * 4 * (crowd_size + 1), draws * winners * 3) << "hash " << hashed;
    least = std::min(least, won);
  }
  std::printf("tickets: the unluckiest of %zu hashes won %u of %u draws, its share is %u\n", tried.size(), least, draws,
              draws * winners / (crowd_size + 1));
}

// Those that differ in one bit, or follow one upon the other, are a crowd as well.
TEST(Tickets, NeighboursHaveTheirShareOfEachOther) {
  std::mt19937 random{20'232};
  constexpr u32 draws = 4'000;
  for (u32 bit = 0; bit < 16; ++bit) {
    const u32 won = wins_of(0x5a5a, {0x5a5aU ^ (1U << bit)}, 1, draws, random);
    EXPECT_GE(won * 10, draws * 4) << "bit " << bit;
    EXPECT_LE(won * 10, draws * 6) << "bit " << bit;
  }
  for (u32 mine = 0; mine < 32; ++mine) {
    std::vector<u32> crowd;
    for (u32 other = 0; other < 32; ++other)
      if (other != mine) crowd.push_back(other);
    EXPECT_GE(wins_of(mine, crowd, 8, draws, random) * 5, draws) << mine << ": a quarter is its share, a fifth will do";
  }
}

}  // namespace
}  // namespace octep

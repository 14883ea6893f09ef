// Real threads on one small table: rings that write, a worker that takes, one that discards. At the end everything adds
// up.
#include <octep/candidates.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "test/candidates_model.hpp"

namespace octep {
namespace {

constexpr u32 frames_a_ring = 60'000;
constexpr u32 most_frames_a_ring = 100 * frames_a_ring;

struct counted {
  u64 frames = 0, clashes = 0, lost = 0, evicted = 0, evicted_read = 0, due = 0;
  u64 taken = 0, busy = 0, emptied_unread = 0, emptied_read = 0, kept = 0, torn = 0;
};

// Everything a candidate says follows from its port word, so a mixture of two frames shows.
template <tuple_type Tuple>
Tuple tuple_of(u32 n) {
  u32 words[Tuple::words];
  for (u32 w = 0; w < Tuple::words; ++w) words[w] = n * 0x0001'0001U;
  words[Tuple::words - 1] = static_cast<u32>(protocol::udp);
  return Tuple::from_words(words);
}
arrival arrival_of(u32 n, u32 ms) {
  arrival a;
  a.who = identity::make(n + 1, n);
  a.where = {static_cast<u16>(n), static_cast<u16>(n & 0xfff)};
  a.association = {n};
  a.at = tick{ms};
  return a;
}
template <tuple_type Tuple>
bool torn(const candidate<Tuple>& c) {
  const u32 n = c.association.word;
  const arrival a = arrival_of(n, 0);
  return !(c.tuple == tuple_of<Tuple>(n)) || c.who != a.who || c.where != a.where || c.count == 0;
}

template <tuple_type Tuple, limits L>
void everything_adds_up(const char* what) {
  using table_type = candidates<Tuple, L>;
  constexpr u32 rings = 3;
  constexpr u32 flows = L.slots * (L.places + 2);  // more than fit: the slots evict
  const auto table = std::make_unique<table_type>();
  std::atomic<u32> writing{rings};
  std::atomic<bool> go{false};
  // The rings go on, within a bound, until the other two have met something: on a busy machine they may start late.
  std::atomic<bool> took{false};
  std::atomic<bool> emptied_some{false};
  std::array<counted, rings + 2> books{};

  std::vector<std::thread> threads;
  for (u32 r = 0; r < rings; ++r)
    threads.emplace_back([&, r] {
      counted& b = books[r];
      while (!go.load()) std::this_thread::yield();
      u32 x = r + 1;
      for (u32 i = 0; i < frames_a_ring || (i < most_frames_a_ring && !(took && emptied_some)); ++i) {
        x = x * 1'664'525 + 1'013'904'223;
        const u32 n = (x >> 8) % flows;
        const write_outcome o = table->write(tuple_of<Tuple>(n), test::hash_in(L.slots, n % L.slots, tuple_of<Tuple>(n)), arrival_of(n, i / 64), 4);
        ++b.frames;
        b.clashes += o.clash;
        b.lost += o.lost;
        b.evicted += o.evicted;
        b.evicted_read += o.evicted_read;
        b.due += o.due;
        b.torn +=
            (o.evicted && !o.lost) || (o.lost && o.evicted_read) || (o.clash && (o.lost || o.evicted_read || o.due));
        if (i % 1'024 == 0) std::this_thread::yield();
      }
      --writing;
    });
  threads.emplace_back([&] {  // the worker
    counted& b = books[rings];
    candidate<Tuple> out;
    while (writing.load() != 0)
      for (u32 slot = 0; slot < L.slots; ++slot) {
        u32 place = 0;
        got answer = got::none;
        const auto want = [](const auto& c) { return c.count % 3 != 0; };
        for (u32 from = 0; (answer = table->take(slot, from, want, out, place)) == got::one; from = place + 1) {
          ++b.taken;
          took = true;
          b.torn += torn(out);
        }
        b.busy += answer == got::busy;
        const got found = table->find(tuple_of<Tuple>(slot), test::hash_in(L.slots, slot, tuple_of<Tuple>(slot)), out);
        b.torn += found == got::one && torn(out);
        b.busy += found == got::busy;
        b.busy += !table->clamp_ages(slot, tick{frames_a_ring});
      }
  });
  threads.emplace_back([&] {  // the one that discards
    counted& b = books[rings + 1];
    while (writing.load() != 0) {
      for (u32 slot = 0; slot < L.slots; ++slot) {
        emptied gone;
        if (!table->empty_slot(slot, gone)) ++b.kept;
        if (gone.unread + gone.read > 0) emptied_some = true;
        b.emptied_unread += gone.unread;
        b.emptied_read += gone.read;
      }
      std::this_thread::yield();
    }
  });
  go = true;
  for (std::thread& t : threads) t.join();

  counted sum;
  for (const counted& b : books) {
    sum.frames += b.frames;
    sum.clashes += b.clashes;
    sum.lost += b.lost;
    sum.evicted += b.evicted;
    sum.evicted_read += b.evicted_read;
    sum.due += b.due;
    sum.taken += b.taken;
    sum.busy += b.busy;
    sum.emptied_unread += b.emptied_unread;
    sum.emptied_read += b.emptied_read;
    sum.kept += b.kept;
    sum.torn += b.torn;
  }
  u64 unread = 0;
  u64 read = 0;
  for (u32 slot = 0; slot < L.slots; ++slot) {
    std::set<u32> here;
    ASSERT_TRUE(table->for_each_place(slot, [&](u32, const candidate<Tuple>& c) {
      ++(c.read ? read : unread);
      EXPECT_FALSE(torn(c));
      EXPECT_TRUE(here.insert(c.association.word).second) << "one tuple in two places";
    })) << "a word stayed taken";
  }
  EXPECT_GE(sum.frames, u64{rings} * frames_a_ring);
  EXPECT_EQ(sum.frames - sum.clashes, sum.taken + sum.lost + sum.emptied_unread + unread);
  // A candidate that was taken was overwritten by a read eviction or its own tuple, was emptied, or still stands.
  EXPECT_GE(sum.taken, sum.evicted_read + sum.emptied_read + read);
  EXPECT_EQ(sum.torn, 0U);
  EXPECT_GT(sum.taken, 0U);
  EXPECT_GT(sum.evicted, 0U);
  EXPECT_GT(sum.emptied_unread + sum.emptied_read, 0U);
  std::printf("%s: %llu frames, %llu clashes (%.3f %%), %llu lost, %llu evicted, %llu taken, %llu emptied, %llu held\n",
              what, static_cast<unsigned long long>(sum.frames), static_cast<unsigned long long>(sum.clashes),
              100.0 * static_cast<double>(sum.clashes) / static_cast<double>(sum.frames),
              static_cast<unsigned long long>(sum.lost), static_cast<unsigned long long>(sum.evicted),
              static_cast<unsigned long long>(sum.taken),
              static_cast<unsigned long long>(sum.emptied_unread + sum.emptied_read),
              static_cast<unsigned long long>(sum.busy + sum.kept));
}

TEST(CandidateThreads, OneSlotOfOnePlaceAddsUp) { everything_adds_up<tuple4, limits{1, 1}>("1x1"); }
TEST(CandidateThreads, TwoSlotsOfFourPlacesAddUp) { everything_adds_up<tuple4, limits{2, 4}>("2x4"); }
TEST(CandidateThreads, TheRecordedTableAddsUp) { everything_adds_up<tuple4, limits{64, 4}>("64x4"); }
TEST(CandidateThreads, ATableOfIpv6AddsUp) { everything_adds_up<tuple6, limits{2, 16}>("2x16, IPv6"); }

}  // namespace
}  // namespace octep

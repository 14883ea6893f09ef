// Real threads on one table: rings that write, a worker that takes, one that discards. At the end everything adds up. Then
// the default table as a host runs it, under two rings and a poll that never rests, and how often frames clash.
#include <octep/candidates.hpp>

#include <octep/engine/policies.hpp>
#include <octep/host/vector_tags.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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

// --- the default table ---------------------------------------------------------------------------------------------

using default_table = candidates<tuple4, default_policies::geometry, default_policies::choice, vector_tags,
                                 default_policies::atomics>;
constexpr default_policies::hash mix{1};

struct poll_books {
  u64 walks = 0, taken = 0, torn = 0;
  u64 pardoned = 0, kept = 0, expected = 0;
};

// Numbers of 1,022 flows, two and two of which are each other's partner: of any, or of those whose slot is the first one's.
std::vector<u32> flows_of_1022(bool one_slot) {
  std::vector<u32> flows;
  const auto slot = [](u32 n) { return default_table::slot_of(mix(tuple_of<tuple4>(n))); };
  for (u32 n = 0; flows.size() < 1'022; ++n)
    if (!one_slot || slot(n) == slot(0)) flows.push_back(n);
  return flows;
}

// A place that `expect` reserved, and nobody came.
bool only_expected(const candidate<tuple4>& c) { return c.read && c.count == 0 && c.who == identity{}; }

// What a poll does at each slot, with answers that vary: some candidates are made or refused, for some time may mend it,
// some are kept and their partner is expected.
void poll(default_table& table, const std::vector<u32>& flows, u32 now_ms, poll_books& b) {
  candidate<tuple4> hand;
  for (u32 slot = 0; slot < default_table::slots; ++slot) {
    table.end_keeping(slot);
    table.draw_anew(slot, static_cast<u32>(b.walks) * 0x9e37'79b9U);
    u32 place = 0;
    const auto anything = [](const auto&) { return true; };
    for (u32 from = 0; table.take(slot, from, anything, hand, place) == got::one; from = place + 1) {
      ++b.taken;
      const auto known = std::lower_bound(flows.begin(), flows.end(), hand.association.word);
      if (torn(hand) || known == flows.end() || *known != hand.association.word) {
        ++b.torn;
        continue;
      }
      const u32 hashed = mix(hand.tuple);
      if (b.taken % 8 == 0) b.pardoned += table.tell(hand.tuple, hashed, tell_place::pardon, {}) == told::yes;
      if (b.taken % 8 != 1 || table.tell(hand.tuple, hashed, tell_place::expect, {}) != told::yes) continue;
      ++b.kept;
      const tuple4 partner = tuple_of<tuple4>(flows[static_cast<usize>(known - flows.begin()) ^ 1]);
      b.expected += table.tell(partner, mix(partner), tell_place::expect, tick{now_ms}) == told::yes;
    }
  }
  ++b.walks;
}

void two_rings_and_a_poll(const char* what, bool one_slot) {
  constexpr u32 rings = 2;
  constexpr u32 least_frames = 1'000'000;
  constexpr u32 most_frames = 20 * least_frames;
  constexpr u64 least_walks = 8;
  const std::vector<u32> flows = flows_of_1022(one_slot);
  const auto table = std::make_unique<default_table>();
  std::atomic<u32> writing{rings};
  std::atomic<u32> ready{0};
  // The rings go on, within a bound, until the poll has met all that it is asked to meet: on a busy machine it may start
  // late, and where everybody writes one slot it seldom finds the word free.
  std::atomic<bool> enough{false};
  std::atomic<u32> now_ms{0};
  std::array<counted, rings> books{};
  poll_books worker;
  const auto meet = [&] {
    ++ready;
    while (ready.load() != rings + 1) std::this_thread::yield();
  };

  std::vector<std::thread> threads;
  for (u32 r = 0; r < rings; ++r)
    threads.emplace_back([&, r] {
      counted b;  // its own, so that counting shares no cache line with the other ring
      u32 x = r + 1;
      meet();
      for (u32 i = 0; i < least_frames || (i < most_frames && !enough.load(std::memory_order_relaxed)); ++i) {
        x = x * 1'664'525 + 1'013'904'223;
        const u32 n = flows[(x >> 8) % flows.size()];
        const tuple4 t = tuple_of<tuple4>(n);
        const write_outcome o = table->write(t, mix(t), arrival_of(n, i / 1'024), 4);
        ++b.frames;
        b.clashes += o.clash;
        b.lost += o.lost;
        b.evicted += o.evicted;
        b.evicted_read += o.evicted_read;
        b.torn += (o.evicted && !o.lost) || (o.clash && (o.lost || o.evicted_read || o.due));
        if (r == 0 && i % 1'024 == 0) now_ms.store(i / 1'024, std::memory_order_relaxed);
      }
      books[r] = b;
      --writing;
    });
  threads.emplace_back([&] {
    poll_books b;
    meet();
    while (writing.load() != 0) {
      poll(*table, flows, now_ms.load(std::memory_order_relaxed), b);
      // On one slot a partner finds a place only by luck: in a full one there is none.
      if (b.walks >= least_walks && b.pardoned > 0 && b.kept > 0 && (b.expected > 0 || one_slot))
        enough.store(true, std::memory_order_relaxed);
    }
    worker = b;
  });
  for (std::thread& t : threads) t.join();

  const u64 frames = books[0].frames + books[1].frames;
  const u64 clashes = books[0].clashes + books[1].clashes;
  const u64 lost = books[0].lost + books[1].lost;
  const u64 evicted = books[0].evicted + books[1].evicted;
  u64 unread = 0;
  for (u32 slot = 0; slot < default_table::slots; ++slot) {
    std::set<u32> here;
    ASSERT_TRUE(table->for_each_place(slot, [&](u32, const candidate<tuple4>& c) {
      unread += !c.read;
      EXPECT_TRUE(here.insert(c.tuple.ports).second) << "one tuple in two places";
      EXPECT_EQ(default_table::slot_of(mix(c.tuple)), slot);
      EXPECT_TRUE(only_expected(c) || !torn(c));
    })) << "a word stayed taken";
  }
  EXPECT_EQ(frames - clashes, worker.taken + lost + unread);
  EXPECT_EQ(books[0].torn + books[1].torn + worker.torn, 0U);
  EXPECT_GE(worker.walks, least_walks);
  EXPECT_GT(worker.pardoned, 0U);
  EXPECT_GT(worker.kept, 0U);
  if (!one_slot) {
    EXPECT_GT(worker.expected, 0U);
  }
  EXPECT_GT(lost, 0U);
  // No slot has more of the 1,022 than places, unless all have the same.
  EXPECT_EQ(evicted > 0, one_slot);

  // What the worker leaves is there for the next one: the books close.
  const u64 before = worker.taken;
  poll(*table, flows, now_ms, worker);
  EXPECT_EQ(worker.taken - before, unread);

  std::printf("%s: %.0f clashes per million frames (%llu of %llu; %llu taken in %llu walks, %llu lost, %llu evicted, "
              "%llu kept, %llu expected)\n",
              what, 1e6 * static_cast<double>(clashes) / static_cast<double>(frames),
              static_cast<unsigned long long>(clashes), static_cast<unsigned long long>(frames),
              static_cast<unsigned long long>(worker.taken), static_cast<unsigned long long>(worker.walks),
              static_cast<unsigned long long>(lost), static_cast<unsigned long long>(evicted),
              static_cast<unsigned long long>(worker.kept), static_cast<unsigned long long>(worker.expected));
}

TEST(CandidateThreads, TheDefaultTableAddsUpUnderTwoRingsAndAPoll) {
  two_rings_and_a_poll("default table, 1,022 flows uniform", false);
}
TEST(CandidateThreads, TheDefaultTableAddsUpWhenEverybodySharesASlot) {
  two_rings_and_a_poll("default table, 1,022 flows on one slot", true);
}

}  // namespace
}  // namespace octep

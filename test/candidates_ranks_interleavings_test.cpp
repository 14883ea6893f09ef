// Writers and passes on one slot of a policy that ranks, in every order of their accesses: the accounting is exact in each,
// no tuple stands in two places, and what is kept stays.
#include <octep/candidates.hpp>
#include <octep/rank_and_lot.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "test/slot_history.hpp"

namespace octep::test {
namespace {

tuple4 tuple_of(u32 id) { return tuple4::make(0x0100000a, 0x0200000a, id << 16 | 0x50, protocol::udp); }
u32 id_of(const tuple4& t) { return t.ports >> 16; }
// Strangers share a tag with those that are asked about, so that a guess names places of both.
u32 hash_of(u32 id) { return 0x40 | (id & 1) | (id * 0x1300 & 0xff00); }

template <u32 Places, class Atomics>
using ranked_table = candidates<tuple4, limits{1, Places}, rank_and_lot, scalar_tags, Atomics>;

template <class Table>
struct history : slot_history<Table> {
  using base = slot_history<Table>;

  bool kept = false, expected = false, ended = false, discarded = false;

  write_outcome write(u32 id) { return base::write(tuple_of(id), hash_of(id), static_cast<u32>(this->frames)); }
  // Returns the number of what it took, or 0.
  u32 take() {
    candidate<tuple4> out;
    return base::take(out) ? id_of(out.tuple) : 0;
  }
  told tell(u32 id, tell_place what) { return this->table.tell(tuple_of(id), hash_of(id), what, tick{9}); }
  void discard() { discarded |= base::discard(); }
  [[nodiscard]] bool finds(u32 id) {
    candidate<tuple4> out;
    return this->table.find(tuple_of(id), hash_of(id), out) == got::one;
  }

  std::string check() {
    return base::check([this](const std::vector<tuple4>& held) {
      for (const tuple4& t : held)
        if (!finds(id_of(t))) this->wrong = "a tuple that stands there is not found";
      if (!ended && !discarded && ((kept && !finds(1)) || (expected && !finds(2)))) this->wrong = "what was kept is gone";
    });
  }
};

template <class Table>
struct case_of {
  const char* what;
  void (*before)(history<Table>&);
  std::vector<void (*)(history<Table>&)> threads;
};

template <class Table>
exploration try_all(const case_of<Table>& c, u64 limit) {
  return explore_histories<history<Table>>(c.before, c.threads, limit);
}

template <class Table>
void expect_exact(const case_of<Table>& c) {
  const exploration e = try_all(c, 4'000'000);
  EXPECT_TRUE(e.complete) << c.what;
  EXPECT_EQ(e.wrong, 0U) << c.what << ": " << e.first_wrong;
  if (e.complete && e.wrong == 0) std::printf("%s, %u places: %llu interleavings, all exact\n", c.what, Table::places,
              static_cast<unsigned long long>(e.interleavings));
}

using four = ranked_table<4, atomic_accesses>;
using four_torn = ranked_table<4, every_access>;
using sixteen = ranked_table<16, atomic_accesses>;

// Four unread: newcomers go by the clock and the lottery, and move what makes room.
template <class Table>
void full(history<Table>& h) {
  for (u32 id = 1; id <= Table::places; ++id) (void)h.write(id);
}

template <class Table>
void two_read_two_unread(history<Table>& h) {
  (void)h.write(1);
  (void)h.write(30);
  (void)h.take();
  (void)h.take();
  (void)h.write(31);
  (void)h.write(32);
}

template <class Table>
void nothing(history<Table>&) {}

TEST(RankedInterleavings, TwoWritersAReaderAndADiscardAreAccountedForExactly) {
  expect_exact<four>({"two newcomers and a reader, a full slot",
                      full<four>,
                      {[](auto& h) { (void)h.write(20); }, [](auto& h) { (void)h.write(21); },
                       [](auto& h) { (void)h.take(); }}});
  expect_exact<four>({"two newcomers and a discard, a full slot",
                      full<four>,
                      {[](auto& h) { (void)h.write(20); }, [](auto& h) { (void)h.write(21); }, [](auto& h) { h.discard(); }}});
  expect_exact<four>({"two newcomers, a reader, a discard, a slot of read and unread",
                      two_read_two_unread<four>,
                      {[](auto& h) { (void)h.write(20); }, [](auto& h) { (void)h.write(21); },
                       [](auto& h) { (void)h.take(); }, [](auto& h) { h.discard(); }}});
  expect_exact<four>({"one who is there and one who is not, a reader, a discard, a full slot",
                      full<four>,
                      {[](auto& h) { (void)h.write(1); }, [](auto& h) { (void)h.write(20); },
                       [](auto& h) { (void)h.take(); }, [](auto& h) { h.discard(); }}});
  expect_exact<sixteen>({"two writers and a discard, an empty slot",
                         nothing<sixteen>,
                         {[](auto& h) { (void)h.write(20); }, [](auto& h) { (void)h.write(21); },
                          [](auto& h) { h.discard(); }}});
}

// The first direction is met and kept, a place is kept for the other, and newcomers come meanwhile.
template <class Table>
void keep_a_pair(history<Table>& h) {
  h.kept = h.tell(1, tell_place::expect) == told::yes;
  if (h.kept) h.expected = h.tell(2, tell_place::expect) == told::yes;
}
template <class Table>
void a_pair_is_kept(history<Table>& h) {
  two_read_two_unread(h);
  keep_a_pair(h);
}

TEST(RankedInterleavings, TwoWritersAndAPassThatKeepsAreAccountedForExactly) {
  expect_exact<four>({"two newcomers and a pass that keeps a pair",
                      two_read_two_unread<four>,
                      {[](auto& h) { (void)h.write(20); }, [](auto& h) { (void)h.write(21); },
                       [](auto& h) { keep_a_pair(h); }}});
  expect_exact<four>({"the partner, a newcomer, and a pass that keeps a pair",
                      two_read_two_unread<four>,
                      {[](auto& h) { (void)h.write(2); }, [](auto& h) { (void)h.write(21); },
                       [](auto& h) { keep_a_pair(h); }}});
  expect_exact<four>({"the partner, a newcomer, and a pass that ends the keeping and takes",
                      a_pair_is_kept<four>,
                      {[](auto& h) { (void)h.write(2); }, [](auto& h) { (void)h.write(21); },
                       [](auto& h) {
                         h.ended = true;
                         h.table.end_keeping(0);
                         (void)h.take();
                       }}});
  expect_exact<four>({"two newcomers, one of them twice, beside a pair that is kept",
                      a_pair_is_kept<four>,
                      {[](auto& h) { (void)h.write(20), (void)h.write(21); }, [](auto& h) { (void)h.write(20); },
                       [](auto& h) { h.table.draw_anew(0, 0x7777); }}});
}

// --- a guess that is stale --------------------------------------------------------------------------------

// A tuple is searched for before the word is taken. Meanwhile it comes, moves, goes, or comes back elsewhere.
template <class Table>
void one_moves_at_the_next_newcomer(history<Table>& h) {
  // A secret by which the clock's first has a better ticket than the lottery's loser.
  for (u32 secret = 1; secret != 1'000; ++secret) {
    history<Table> trial;
    full(trial);
    trial.table.draw_anew(0, secret * 0x0101'0107U);
    (void)trial.write(20);
    u32 at = 0;
    (void)trial.table.for_each_place(0, [&](u32 place, const candidate<tuple4>& c) {
      if (c.tuple == tuple_of(1)) at = place;
    });
    if (at < 2) continue;
    full(h);
    h.table.draw_anew(0, secret * 0x0101'0107U);
    return;
  }
  h.wrong = "no secret moves the first place";
}

TEST(RankedInterleavings, AStaleGuessPutsNoTupleInTwoPlaces) {
  expect_exact<four>({"one tuple on two rings, an empty slot",
                      nothing<four>,
                      {[](auto& h) { (void)h.write(1); }, [](auto& h) { (void)h.write(1); }}});
  expect_exact<four_torn>({"one tuple on two rings, an empty slot, every access",
                           nothing<four_torn>,
                           {[](auto& h) { (void)h.write(1); }, [](auto& h) { (void)h.write(1); }}});
  expect_exact<four>({"one tuple on two rings, a full slot, a reader",
                      full<four>,
                      {[](auto& h) { (void)h.write(20); }, [](auto& h) { (void)h.write(20); },
                       [](auto& h) { (void)h.take(); }}});
  expect_exact<four>({"a tuple that a newcomer moves meanwhile",
                      one_moves_at_the_next_newcomer<four>,
                      {[](auto& h) { (void)h.write(1); }, [](auto& h) { (void)h.write(20); }}});
  expect_exact<four>({"a tuple that is discarded and comes back elsewhere meanwhile",
                      full<four>,
                      {[](auto& h) { (void)h.write(3); },
                       [](auto& h) {
                         h.discard();
                         (void)h.write(30);
                         (void)h.write(3);
                       }}});
  expect_exact<four>({"a tuple that is expected meanwhile",
                      two_read_two_unread<four>,
                      {[](auto& h) { (void)h.write(2); }, [](auto& h) { h.expected = h.tell(2, tell_place::expect) == told::yes; },
                       [](auto& h) { (void)h.write(2); }}});
}

// That the check above can fail: the same threads over a word that is broken.
template <atomics_fault Fault>
exploration over_a_broken_word() {
  using table = ranked_table<4, scheduled_atomics<Fault>>;
  return try_all<table>({"one tuple on two rings",
                         nothing<table>,
                         {[](auto& h) { (void)h.write(1); }, [](auto& h) { (void)h.write(1); }, [](auto& h) { (void)h.take(); }}},
                        500'000);
}

TEST(RankedInterleavings, AWordThatKeepsNobodyOutIsCaught) {
  EXPECT_EQ(over_a_broken_word<atomics_fault::try_always_succeeds>().wrong, 1U);
}

TEST(RankedInterleavings, AReleaseBeforeTheWriteIsCaught) {
  EXPECT_EQ(over_a_broken_word<atomics_fault::release_runs_ahead>().wrong, 1U);
}

}  // namespace
}  // namespace octep::test

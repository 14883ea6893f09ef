// Two writers, a reader and a discard on one slot, in every order of their accesses: the accounting is exact in each.
#include <octep/candidates.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "test/slot_history.hpp"

namespace octep::test {
namespace {

const tuple4 one = tuple4::make(0x0100000a, 0x0200000a, 0x1000'0050, protocol::udp);
const tuple4 two = tuple4::make(0x0100000a, 0x0200000a, 0x1100'0050, protocol::udp);
const tuple4 three = tuple4::make(0x0100000a, 0x0200000a, 0x1200'0050, protocol::udp);

template <class Table>
struct history : slot_history<Table> {
  using base = slot_history<Table>;

  void write(const tuple4& t, u32 ms) { (void)base::write(t, t.word(0) & 0x80, ms); }
  void take() {
    candidate<tuple4> out;
    (void)base::take(out);
  }
  void discard() { (void)base::discard(); }
  std::string check() {
    return base::check([](const auto&) {});
  }
};

template <class Table>
using moves = std::vector<void (*)(history<Table>&)>;

template <class Table>
exploration try_all(const moves<Table>& threads, u64 limit = 20'000'000) {
  return explore_histories<history<Table>>([](auto&) {}, threads, limit);
}

template <u32 Places, class Atomics>
using slot_of = candidates<tuple4, limits{1, Places}, oldest_goes, scalar_tags, Atomics>;

template <class Table>
moves<Table> two_writers_and_a_reader() {
  return {[](history<Table>& h) { h.write(one, 1); }, [](history<Table>& h) { h.write(two, 2); },
          [](history<Table>& h) { h.take(); }};
}

template <class Table>
moves<Table> a_writer_a_reader_a_discard() {
  return {[](history<Table>& h) { h.write(one, 1); }, [](history<Table>& h) { h.take(); },
          [](history<Table>& h) { h.discard(); }};
}

template <class Table>
moves<Table> two_writers_a_reader_a_discard() {
  return {[](history<Table>& h) { h.write(one, 1); }, [](history<Table>& h) { h.write(two, 2); },
          [](history<Table>& h) { h.take(); }, [](history<Table>& h) { h.discard(); }};
}

// Both rings bring the same tuple: a decrypted inner tuple does, across a rekey (record).
template <class Table>
moves<Table> one_tuple_on_two_rings() {
  return {[](history<Table>& h) { h.write(one, 1); }, [](history<Table>& h) { h.write(one, 2); },
          [](history<Table>& h) { h.take(); }, [](history<Table>& h) { h.discard(); }};
}

template <class Table>
moves<Table> one_tuple_on_two_rings_alone() {
  return {[](history<Table>& h) { h.write(one, 1); }, [](history<Table>& h) { h.write(one, 2); }};
}

// Enough to read, and then to evict what was read and what was not.
template <class Table>
moves<Table> longer_threads() {
  return {[](history<Table>& h) { h.write(one, 1), h.write(two, 3); }, [](history<Table>& h) { h.write(three, 2); },
          [](history<Table>& h) { h.take(); }};
}

template <class Table>
void expect_exact(const char* what, const moves<Table>& threads) {
  const exploration e = try_all<Table>(threads);
  EXPECT_TRUE(e.complete) << what;
  EXPECT_EQ(e.wrong, 0U) << what << ": " << e.first_wrong;
  std::printf("%s, %u place(s): %llu interleavings, all exact\n", what, Table::places,
              static_cast<unsigned long long>(e.interleavings));
}

TEST(CandidateInterleavings, TwoWritersAReaderAndADiscardAreAccountedForExactly) {
  expect_exact("two writers, a reader, a discard", two_writers_a_reader_a_discard<slot_of<1, atomic_accesses>>());
  expect_exact("two writers, a reader, a discard", two_writers_a_reader_a_discard<slot_of<2, atomic_accesses>>());
}

TEST(CandidateInterleavings, ThreeOfThemAreWithEveryAccessTornApart) {
  expect_exact("two writers, a reader", two_writers_and_a_reader<slot_of<2, every_access>>());
  expect_exact("a writer, a reader, a discard", a_writer_a_reader_a_discard<slot_of<2, every_access>>());
}

TEST(CandidateInterleavings, OneTupleOnTwoRingsStandsInOnePlace) {
  expect_exact("one tuple on two rings, a reader, a discard", one_tuple_on_two_rings<slot_of<2, atomic_accesses>>());
  expect_exact("one tuple on two rings", one_tuple_on_two_rings_alone<slot_of<2, every_access>>());
}

TEST(CandidateInterleavings, LongerThreadsAreAccountedForExactly) {
  expect_exact("three frames, a take", longer_threads<slot_of<1, atomic_accesses>>());
  expect_exact("three frames, a take", longer_threads<slot_of<2, atomic_accesses>>());
}

// That the check above can fail: the same threads over a word that is broken.
template <atomics_fault Fault>
exploration over_a_broken_word() {
  return try_all<slot_of<2, scheduled_atomics<Fault>>>(one_tuple_on_two_rings<slot_of<2, scheduled_atomics<Fault>>>(),
                                                       200'000);
}

TEST(CandidateInterleavings, AWordThatKeepsNobodyOutIsCaught) {
  const exploration e = over_a_broken_word<atomics_fault::try_always_succeeds>();
  EXPECT_EQ(e.wrong, 1U);
  std::printf("a try that always succeeds: caught at interleaving %llu\n",
              static_cast<unsigned long long>(e.interleavings));
}

TEST(CandidateInterleavings, AReleaseBeforeTheWriteIsCaught) {
  const exploration e = over_a_broken_word<atomics_fault::release_runs_ahead>();
  EXPECT_EQ(e.wrong, 1U);
  std::printf("a release that runs ahead of the write: caught at interleaving %llu\n",
              static_cast<unsigned long long>(e.interleavings));
}

}  // namespace
}  // namespace octep::test

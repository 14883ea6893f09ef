#include <octep/connections.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

using test::numbered;

// --- any sequence against a map ----------------------------------------------------------------------------

// How tuples get their hashes: what matters to the look-up is which collide and where the runs lie.
enum class hashing { all_equal, last_entry, last_quarter, few_homes, spread };

template <tuple_type Tuple>
u32 hash_of(hashing how, const Tuple& t) {
  u32 mixed = 1;
  for (u32 i = 0; i < Tuple::words; ++i) mixed = (mixed ^ t.word(i)) * 0x9e37'79b1U;
  switch (how) {
    case hashing::all_equal:
      return 0x1234'5678;
    case hashing::last_entry:
      return 0xffff'fff0U | (mixed >> 28);  // every run goes over the end of the look-up,
    case hashing::last_quarter:
      return 0xc000'0000U | (mixed >> 2);  // and some begin a little before it
    case hashing::few_homes:
      return (mixed & 0xc000'0000U) | (mixed >> 31);
    case hashing::spread:
      break;
  }
  return mixed;
}

// A tuple by family and number; the model needs to know no more of it.
using name = std::pair<family, u32>;
constexpr u32 numbers = 12;

struct model {
  struct one {
    name names[2];
    u16 revision;
  };
  std::map<u32, one> held;                    // by index
  std::map<name, std::pair<u32, u32>> owner;  // index and direction
  std::deque<u32> free;                       // the longest free first
  std::vector<u16> revision;                  // the last of each index
};

template <class Body>
auto as_tuple(name n, Body body) {
  return n.first == family::ipv4 ? body(numbered<tuple4>(n.second)) : body(numbered<tuple6>(n.second));
}

struct under_test {
  model m;
  test::block memory;
  connections table;
  hashing how;
  bool ipv6;

  under_test(u32 capacity, bool with_ipv6, u16 last_revision, hashing hashes)
      : memory{connections::bytes_for(capacity, with_ipv6)}, how{hashes}, ipv6{with_ipv6} {
    arena a = memory.cut();
    RC_ASSERT(table.init(a, capacity, ipv6, last_revision));
    RC_ASSERT(a.left() == 0U);
    for (u32 i = 0; i < capacity; ++i) m.free.push_back(i);
    m.revision.assign(capacity, last_revision);
  }

  void allocate(name first, u32 second_number) {
    const name second{first.first, second_number};
    const u32 got = as_tuple(first, [&](const auto& t0) {
      using tuple = std::remove_cvref_t<decltype(t0)>;
      const tuple t1 = numbered<tuple>(second_number);
      return table.allocate<tuple>({t0, t1}, hash_of(how, t0), hash_of(how, t1));
    });
    const bool room = !m.free.empty() && (ipv6 || first.first == family::ipv4);
    if (!room || first == second || m.owner.contains(first) || m.owner.contains(second)) {
      RC_ASSERT(got == connections::none);
      return;
    }
    RC_ASSERT(got == m.free.front());
    m.free.pop_front();
    u16& revision = m.revision[got];
    revision = revision == 65'535 ? u16{1} : static_cast<u16>(revision + 1);
    m.held[got] = {{first, second}, revision};
    m.owner[first] = {got, 0};
    m.owner[second] = {got, 1};

    const record& r = table[got];
    RC_ASSERT(r.state == record_state::making);
    RC_ASSERT(r.which == first.first);
    RC_ASSERT(!r.closing && !r.directions[0].programmed && !r.directions[1].has_next_hop && r.states[1].value == 0U);
    // The caller's part, which the index's next connection must not find.
    table[got].state = record_state::held;
    table[got].closing = true;
    table[got].states[1] = {77};
    table[got].directions[0].programmed = true;
    table[got].directions[1].has_next_hop = true;
  }

  void release(u32 index) {
    table.release(index);
    const auto at = m.held.find(index);
    if (at == m.held.end()) return;  // a free index stays as it is
    for (const name& n : at->second.names) m.owner.erase(n);
    m.held.erase(at);
    m.free.push_back(index);
  }

  template <tuple_type Tuple>
  void compare_batch() {
    Tuple tuples[numbers];
    u32 hashes[numbers];
    found out[numbers];
    for (u32 n = 0; n < numbers; ++n) {
      tuples[n] = numbered<Tuple>(n);
      hashes[n] = hash_of(how, tuples[n]);
    }
    table.find_batch(tuples, hashes, numbers, out);
    for (u32 n = 0; n < numbers; ++n) {
      const auto expected = m.owner.find({Tuple::which, n});
      RC_ASSERT(out[n].is == (expected != m.owner.end()));
      if (out[n].is) RC_ASSERT(std::pair(out[n].index, u32{out[n].direction}) == expected->second);
    }
  }

  void compare() {
    RC_ASSERT(table.held() == m.held.size());
    RC_ASSERT(table.full() == m.free.empty());
    for (const family which : {family::ipv4, family::ipv6})
      for (u32 n = 0; n < numbers; ++n) {
        const found f = as_tuple({which, n}, [&](const auto& t) { return table.find(t, hash_of(how, t)); });
        const auto expected = m.owner.find({which, n});
        RC_ASSERT(f.is == (expected != m.owner.end()));
        if (f.is) RC_ASSERT(std::pair(f.index, u32{f.direction}) == expected->second);
      }
    compare_batch<tuple4>();
    compare_batch<tuple6>();
    for (u32 i = 0; i < table.capacity(); ++i) {
      RC_ASSERT(table.handle_of(i) == (handle{i, m.revision[i]}));
      RC_ASSERT((table[i].state != record_state::free) == m.held.contains(i));
    }
    std::vector<u32> visited;
    table.for_each([&](u32 i, const record&) { visited.push_back(i); });
    std::vector<u32> expected;
    for (const auto& [i, one] : m.held) {
      expected.push_back(i);
      as_tuple(one.names[0], [&, index = i, second = one.names[1].second](const auto& t0) {
        using tuple = std::remove_cvref_t<decltype(t0)>;
        const tuple t1 = numbered<tuple>(second);
        RC_ASSERT((table.tuples_of<tuple>(index) == tuple_pair<tuple>{t0, t1}));
        RC_ASSERT(table.hash_of(index, 0) == hash_of(how, t0));
        RC_ASSERT(table.hash_of(index, 1) == hash_of(how, t1));
      });
    }
    RC_ASSERT(visited == expected);
  }
};

RC_GTEST_PROP(Connections, AreAMapUnderAnySequenceOfAllocateAndRelease, ()) {
  const u32 capacity = *rc::gen::inRange<u32>(1, 8);
  const bool ipv6 = *rc::gen::weightedElement<bool>({{3, true}, {1, false}});
  const u16 last_revision = *rc::gen::element<u16>(0, 1, 0x7fff, 65'533, 65'534, 65'535);
  const hashing how = *rc::gen::element(hashing::all_equal, hashing::last_entry, hashing::last_quarter,
                                        hashing::few_homes, hashing::spread);
  under_test t{capacity, ipv6, last_revision, how};
  struct step {
    bool allocate;
    bool six;
    u32 a;
    u32 b;
  };
  const auto steps = *rc::gen::container<std::vector<step>>(
      rc::gen::build<step>(rc::gen::set(&step::allocate, rc::gen::weightedElement<bool>({{3, true}, {2, false}})),
                           rc::gen::set(&step::six, rc::gen::weightedElement<bool>({{1, true}, {2, false}})),
                           rc::gen::set(&step::a, rc::gen::inRange<u32>(0, numbers)),
                           rc::gen::set(&step::b, rc::gen::inRange<u32>(0, numbers))));
  for (const step& s : steps) {
    if (s.allocate) {
      t.allocate({s.six ? family::ipv6 : family::ipv4, s.a}, s.b);
    } else {
      t.release(s.a % capacity);
    }
    t.compare();
  }
}

// --- the rules one by one -----------------------------------------------------------------------------------

struct small_table {
  test::block memory;
  connections table;

  explicit small_table(u32 capacity, bool ipv6 = false, u16 last_revision = 0)
      : memory{connections::bytes_for(capacity, ipv6)} {
    arena a = memory.cut();
    EXPECT_TRUE(table.init(a, capacity, ipv6, last_revision));
  }
  // Connection n of 2^30: two tuples that no other has.
  u32 add(u32 n) {
    return table.allocate<tuple4>({numbered<tuple4>(2 * n), numbered<tuple4>(2 * n + 1)}, 2 * n, 2 * n + 1);
  }
};

TEST(Connections, ARevisionClimbsWithEachUseOfAnIndexAndPassesOverZero) {
  small_table t{1, false, 65'533};
  for (const u32 expected : {65'534U, 65'535U, 1U, 2U}) {
    ASSERT_EQ(t.add(0), 0U);
    EXPECT_EQ(t.table[0].revision, expected);
    t.table.release(0);
    EXPECT_EQ(t.table[0].revision, expected) << "kept while free: the next use climbs from it";
  }
}

TEST(Connections, TheFirstRevisionIsOne) {
  small_table t{2};
  EXPECT_EQ(t.table.handle_of(t.add(0)), (handle{0, 1}));
  EXPECT_EQ(t.table.handle_of(t.add(1)), (handle{1, 1}));
}

TEST(Connections, AnIndexIsReusedAfterEveryOtherFreeOne) {
  constexpr u32 capacity = 5;
  small_table t{capacity};
  // With one connection at a time each index is used once before any is used twice.
  for (u32 round = 0; round < 3; ++round) {
    std::set<u32> used;
    for (u32 i = 0; i < capacity; ++i) {
      const u32 index = t.add(i);
      used.insert(index);
      EXPECT_EQ(t.table[index].revision, round + 1);
      t.table.release(index);
    }
    EXPECT_EQ(used.size(), capacity);
  }
}

TEST(Connections, AFullTableSaysNoneAndLosesNothing) {
  small_table t{3};
  for (u32 i = 0; i < 3; ++i) EXPECT_NE(t.add(i), connections::none);
  EXPECT_TRUE(t.table.full());
  EXPECT_EQ(t.add(3), connections::none);
  for (u32 n = 0; n < 6; ++n) EXPECT_TRUE(t.table.find(numbered<tuple4>(n), n).is);
  EXPECT_FALSE(t.table.find(numbered<tuple4>(6), 6).is);
  t.table.release(1);
  EXPECT_EQ(t.add(3), 1U);
}

TEST(Connections, TheFamiliesShareOneIndexSpaceAndAreNeverTakenForEachOther) {
  small_table t{4, true};
  const tuple4 a4 = tuple4::make(1, 2, 3, protocol::tcp);
  const tuple6 a6 = tuple6::make({1, 0, 0, 0}, {2, 0, 0, 0}, 3, protocol::tcp);
  const u32 four = t.table.allocate<tuple4>({a4, reverse(a4)}, 5, 5);
  const u32 six = t.table.allocate<tuple6>({a6, reverse(a6)}, 5, 5);
  EXPECT_EQ(four, 0U);
  EXPECT_EQ(six, 1U);
  EXPECT_EQ(t.table.find(a4, 5).index, four);
  EXPECT_EQ(t.table.find(reverse(a6), 5).index, six);
  EXPECT_EQ(t.table.find(reverse(a6), 5).direction, 1);
  t.table.release(four);
  EXPECT_FALSE(t.table.find(a4, 5).is);
  EXPECT_TRUE(t.table.find(a6, 5).is);
}

TEST(Connections, HaveRoomForAFamilyIfItsTuplesHaveAColumn) {
  EXPECT_TRUE(small_table(1).table.has_room_for(family::ipv4));
  EXPECT_FALSE(small_table(1).table.has_room_for(family::ipv6));
  EXPECT_TRUE(small_table(1, true).table.has_room_for(family::ipv6));
}

TEST(Connections, WithoutIPv6NothingOfItIsHeldOrPaidFor) {
  small_table t{4};
  const tuple6 a = numbered<tuple6>(0);
  EXPECT_EQ(t.table.allocate<tuple6>({a, reverse(a)}, 1, 2), connections::none);
  EXPECT_FALSE(t.table.find(a, 1).is);
  EXPECT_EQ(t.table.held(), 0U);
  EXPECT_EQ(connections::bytes_for(1'024, true) - connections::bytes_for(1'024, false), 1'024 * 2 * sizeof(tuple6));
}

TEST(Connections, ATupleHasOneOwner) {
  small_table t{4};
  const tuple4 a = numbered<tuple4>(0);
  const tuple4 b = numbered<tuple4>(1);
  const tuple4 c = numbered<tuple4>(2);
  EXPECT_EQ(t.table.allocate<tuple4>({a, a}, 1, 1), connections::none);
  ASSERT_EQ(t.table.allocate<tuple4>({a, b}, 1, 2), 0U);
  EXPECT_EQ(t.table.allocate<tuple4>({c, b}, 3, 2), connections::none);
  EXPECT_EQ(t.table.allocate<tuple4>({a, c}, 1, 3), connections::none);
  EXPECT_EQ(t.table.held(), 1U);
  EXPECT_FALSE(t.table.find(c, 3).is) << "a refused allocation leaves nothing behind";
  EXPECT_EQ(t.table[1].revision, 0) << "nor does it use a revision up";
}

// An empty place has zeros where a tuple has its addresses.
TEST(Connections, ATupleOfZerosIsFoundAndOnlyWhereItIsHeld) {
  small_table t{4, true};
  const tuple4 zero = tuple4::make(0, 0, 0, protocol::icmp);
  const tuple6 zero6 = tuple6::make({}, {}, 0, protocol::icmp);
  EXPECT_FALSE(t.table.find(zero, 0).is);
  EXPECT_FALSE(t.table.find(zero6, 0).is);
  ASSERT_EQ(t.table.allocate<tuple4>({zero, numbered<tuple4>(1)}, 0, 0), 0U);
  EXPECT_TRUE(t.table.find(zero, 0).is);
  EXPECT_FALSE(t.table.find(zero6, 0).is) << "its hash is zero, too";
  EXPECT_FALSE(t.table.find(tuple4::make(0, 0, 1, protocol::icmp), 0).is);
  EXPECT_FALSE(t.table.find(tuple4::make(0, 0, 0, protocol::tcp), 0).is);
  ASSERT_EQ(t.table.allocate<tuple6>({zero6, numbered<tuple6>(1)}, 0, 0), 1U);
  EXPECT_EQ(t.table.find(zero6, 0).index, 1U);
  EXPECT_EQ(t.table.find(zero, 0).index, 0U);
  t.table.release(0);
  EXPECT_FALSE(t.table.find(zero, 0).is);
  EXPECT_TRUE(t.table.find(zero6, 0).is);
}

TEST(Connections, AProtocolIsAByteOfAPacketAndNotZero) {
  small_table t{2};
  for (const u32 number : {0U, 256U, 0x100'0006U})
    EXPECT_EQ(t.table.allocate<tuple4>({tuple4::make(1, 2, 3, protocol{number}), numbered<tuple4>(1)}, 0, 1),
              connections::none);
  const tuple4 any = tuple4::make(1, 2, 3, protocol{255});
  const u32 index = t.table.allocate<tuple4>({any, reverse(any)}, 0, 1);
  ASSERT_NE(index, connections::none);
  EXPECT_EQ(t.table.tuples_of<tuple4>(index)[0], any);
  EXPECT_TRUE(t.table.find(any, 0).is);
}

TEST(Connections, ReleasingWhatIsFreeChangesNothing) {
  small_table t{2};
  ASSERT_EQ(t.add(0), 0U);
  t.table.release(1);
  t.table.release(0);
  t.table.release(0);
  EXPECT_EQ(t.table.held(), 0U);
  EXPECT_EQ(t.add(0), 1U);
  EXPECT_EQ(t.add(1), 0U);
  EXPECT_EQ(t.add(2), connections::none);
}

TEST(Connections, AVisitMayReleaseWhatItIsGiven) {
  small_table t{6};
  for (u32 i = 0; i < 5; ++i) ASSERT_NE(t.add(i), connections::none);
  u32 visits = 0;
  t.table.for_each([&](u32 i, const record&) {
    ++visits;
    if (i % 2 == 0) t.table.release(i);
  });
  EXPECT_EQ(visits, 5U);
  EXPECT_EQ(t.table.held(), 2U);
}

TEST(Connections, TooLittleMemoryOrNoCapacityIsRefusedAtStart) {
  test::block memory{connections::bytes_for(16, true)};
  connections table;
  arena none = memory.cut();
  EXPECT_FALSE(table.init(none, 0, false));
  EXPECT_FALSE(table.init(none, connections::most + 1, false));
  EXPECT_FALSE(table.init(none, 17, true));
  EXPECT_EQ(none.left(), connections::bytes_for(16, true)) << "nothing is taken from the arena";
  EXPECT_EQ(table.capacity(), 0U);
  EXPECT_FALSE(table.find(numbered<tuple4>(0), 0).is);
  EXPECT_EQ(table.allocate<tuple4>({numbered<tuple4>(0), numbered<tuple4>(1)}, 0, 1), connections::none);
  EXPECT_TRUE(table.init(none, 16, true));
  EXPECT_EQ(table.capacity(), 16U);
}

// Filled to the brim, emptied and filled again: the record's table and one beyond a 16-bit index.
TEST(Connections, HoldAsManyAsWereAskedFor) {
  for (const u32 capacity : {1'022U, 65'536U}) {
    small_table t{capacity};
    const auto spread = [](u32 n) { return n * 0x9e37'79b1U; };
    const auto tuple_of = [](u32 n) { return tuple4::make(n, 1, 2, protocol::udp); };
    for (u32 round = 1; round <= 2; ++round) {
      for (u32 i = 0; i < capacity; ++i) {
        const u32 a = 2 * (i + round * capacity);
        ASSERT_NE(t.table.allocate<tuple4>({tuple_of(a), tuple_of(a + 1)}, spread(a), spread(a + 1)),
                  connections::none);
      }
      ASSERT_TRUE(t.table.full());
      for (u32 i = 0; i < capacity; ++i) {
        const u32 b = 2 * (i + round * capacity) + 1;
        const found f = t.table.find(tuple_of(b), spread(b));
        ASSERT_TRUE(f.is && f.direction == 1);
        ASSERT_EQ(t.table.tuples_of<tuple4>(f.index)[1], tuple_of(b));
      }
      for (u32 i = 0; i < capacity; ++i) t.table.release(i);
      ASSERT_EQ(t.table.held(), 0U);
    }
  }
}

// A start that built a table by value would need all of it on the stack.
TEST(Connections, TheTableItselfIsAHandfulOfWords) { static_assert(sizeof(connections) <= 128); }

TEST(Connections, MemoryPerConnection) {
  fmt::print("connections, bytes     IPv4 only       each    with IPv6       each\n");
  for (const u32 capacity : {1'022U, 65'536U, 2'000'000U}) {
    const usize four = connections::bytes_for(capacity, false);
    const usize both = connections::bytes_for(capacity, true);
    fmt::print("{:>11}          {:>12} {:>10.1f} {:>12} {:>10.1f}\n", capacity, four, double(four) / capacity, both,
               double(both) / capacity);
    // Record 160, look-up with its tuples 96, hashes 8, places 8; tuples of IPv6 80. Whoever adds to a record raises this
    // knowingly.
    EXPECT_LE(double(four) / capacity, 272.2);
    EXPECT_LE(double(both) / capacity, 352.2);
  }
}

}  // namespace
}  // namespace octep

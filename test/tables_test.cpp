#include <octep/tables.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

using test::block;

constexpr microseconds second = from_s(1);

tuple4 nth(u32 n, protocol p = protocol::udp) {
  return tuple4::make(n, 0x8000'0000U + n, join_ports(port_word(static_cast<u16>(n)), port_word(53)), p);
}
tuple6 nth6(u32 n) { return tuple6::make({n, 1}, {n, 2}, join_ports(port_word(7), port_word(8)), protocol::tcp); }
tuple_pair<tuple4> pair_of(u32 n) { return {nth(n), reverse(nth(n))}; }
u32 hash_of(const tuple4& t) { return (t.source + t.destination) * 0x9e37'79b1U; }

// Every row, by pages of `size`.
template <class Row, class Page>
std::vector<Row> all_pages(usize size, Page&& next, std::vector<page_end>* ends = nullptr) {
  std::vector<Row> rows(size);
  std::vector<Row> all;
  table_cursor from;
  for (u32 pages = 0; pages < 10'000; ++pages) {
    const page_end end = next(from, span<Row>{rows.data(), rows.size()});
    all.insert(all.end(), rows.begin(), rows.begin() + end.rows);
    if (ends != nullptr) ends->push_back(end);
    if (end.last) return all;
  }
  ADD_FAILURE() << "pages do not end";
  return all;
}

// --- filters --------------------------------------------------------------------------------------------------------

TEST(TupleFilter, PassesEverythingUntilItNamesSomething) {
  EXPECT_TRUE(tuple_filter{}.passes(nth(1)));
  EXPECT_TRUE(tuple_filter{}.passes(nth6(1)));
}

TEST(TupleFilter, NamesAProtocolAFamilyAnAddressAndAPort) {
  tuple_filter f;
  f.proto = protocol::tcp;
  EXPECT_FALSE(f.passes(nth(1)));
  EXPECT_TRUE(f.passes(nth(1, protocol::tcp)));
  f = {};
  f.names_family = true;
  f.which = family::ipv6;
  EXPECT_FALSE(f.passes(nth(1)));
  EXPECT_TRUE(f.passes(nth6(1)));
  f = {};
  f.names_address = true;
  f.address = {1};
  EXPECT_TRUE(f.passes(nth(1)));
  EXPECT_TRUE(f.passes(reverse(nth(1))));
  EXPECT_FALSE(f.passes(nth(2)));
  EXPECT_FALSE(f.passes(nth6(1))) << "an IPv4 address is no IPv6 address";
  f.address_at = tuple_end::destination;
  EXPECT_FALSE(f.passes(nth(1)));
  EXPECT_TRUE(f.passes(reverse(nth(1))));
  f = {};
  f.names_address = true;
  f.which = family::ipv6;
  f.address = {1, 2};
  EXPECT_TRUE(f.passes(nth6(1)));
  f.address_at = tuple_end::source;
  EXPECT_FALSE(f.passes(nth6(1)));
  f = {};
  f.names_port = true;
  f.port = port_word(53);
  EXPECT_TRUE(f.passes(nth(1)));
  f.port_at = tuple_end::source;
  EXPECT_FALSE(f.passes(nth(1)));
  EXPECT_TRUE(f.passes(reverse(nth(1))));
}

// --- candidates -----------------------------------------------------------------------------------------------------

using table_type = candidates<tuple4, limits{8, 4}>;

std::vector<candidate_row<tuple4>> listed(table_type& table, usize size, const candidate_filter& f, tick now,
                                          u32 looks = most_looked, std::vector<page_end>* ends = nullptr) {
  return all_pages<candidate_row<tuple4>>(
      size, [&](table_cursor& from, span<candidate_row<tuple4>> rows) { return page(table, from, rows, f, now, looks); }, ends);
}
void write(table_type& table, u32 n, u32 slot, tick at, bool closing = false) {
  arrival a;
  a.who = identity::make(n, 1);
  a.at = at;
  a.closing = closing;
  (void)table.write(nth(n), slot << 29 | n, a, 4);
}

RC_GTEST_PROP(CandidateTable, EveryCandidateIsShownOnceWhateverThePage, ()) {
  const auto table = std::make_unique<table_type>();
  const auto slots = *rc::gen::container<std::vector<u32>>(rc::gen::inRange<u32>(0, 8));
  std::map<u32, u32> in_slot;
  std::set<u32> expected;
  for (u32 n = 0; n < slots.size(); ++n)
    if (in_slot[slots[n]]++ < 4) {
      write(*table, n, slots[n], tick{n});
      expected.insert(n);
    }
  const usize size = *rc::gen::inRange<usize>(1, 9);
  const u32 looks = *rc::gen::inRange<u32>(1, 40);
  std::set<u32> seen;
  std::pair<u32, u32> last{0, 0};
  bool first = true;
  for (const auto& row : listed(*table, size, {}, tick{1'000}, looks)) {
    RC_ASSERT(seen.insert(row.what.tuple.source).second);
    RC_ASSERT(row.age_ms == 1'000 - row.what.tuple.source);
    RC_ASSERT(row.slot == slots[row.what.tuple.source]);
    RC_ASSERT(first || last < std::pair(row.slot, row.place));
    last = {row.slot, row.place};
    first = false;
  }
  RC_ASSERT(seen == expected);
}

TEST(CandidateTable, PicksByWhatAPassHasSeen) {
  const auto table = std::make_unique<table_type>();
  for (u32 n = 1; n <= 3; ++n) write(*table, n, n, tick{5});
  for (u32 i = 0; i < 16; ++i) write(*table, 4, 4, tick{5});
  candidate<tuple4> out;
  u32 place = 0;
  ASSERT_EQ(table->take(1, 0, [](const auto&) { return true; }, out, place), got::one);
  candidate_filter f;
  const auto count = [&](candidate_filter::pick p) {
    f.only = p;
    return listed(*table, 8, f, tick{5}).size();
  };
  EXPECT_EQ(count(candidate_filter::pick::all), 4U);
  EXPECT_EQ(count(candidate_filter::pick::read), 1U);
  EXPECT_EQ(count(candidate_filter::pick::unread), 3U);
  EXPECT_EQ(count(candidate_filter::pick::due), 1U);
  f.only = candidate_filter::pick::all;
  f.tuple.names_address = true;
  f.tuple.address = {3};
  EXPECT_EQ(listed(*table, 8, f, tick{5}).size(), 1U);
}

TEST(CandidateTable, AHeldSlotIsPassedOverAndCounted) {
  const auto table = std::make_unique<table_type>();
  for (u32 n = 0; n < 8; ++n) write(*table, n, n, tick{5});
  std::vector<page_end> ends;
  std::vector<candidate_row<tuple4>> rows;
  // A reader inside slot 3 is its holder.
  ASSERT_TRUE(table->for_each_place(3, [&](u32, const auto&) { rows = listed(*table, 8, {}, tick{5}, most_looked, &ends); }));
  EXPECT_EQ(rows.size(), 7U);
  u32 busy = 0;
  for (const page_end& e : ends) busy += e.busy;
  EXPECT_EQ(busy, 1U);
}

// The record: a shown age wrapped at 71 minutes.
TEST(CandidateTable, AgesDoNotWrap) {
  const auto table = std::make_unique<table_type>();
  const tick written{0xffff'ff00U};  // just before the stamp wraps
  write(*table, 1, 1, written);
  for (const u32 age : {0U, 4'260'000U, 86'400'000U, tick::oldest_age - 1}) {
    const auto rows = listed(*table, 8, {}, tick{written.ms + age});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].age_ms, age);
    EXPECT_FALSE(rows[0].at_least);
  }
  tick now = written;
  for (u32 days = 0; days < 100; ++days) {
    now.ms += 86'400'000U;
    for (u32 slot = 0; slot < 8; ++slot) ASSERT_TRUE(table->clamp_ages(slot, now));
    const auto rows = listed(*table, 8, {}, now);
    EXPECT_EQ(rows[0].age_ms, least((days + 1) * u64{86'400'000}, u64{tick::oldest_age}));
    EXPECT_EQ(rows[0].at_least, days >= 12);
  }
}

// --- connections ----------------------------------------------------------------------------------------------------

struct connection_table : testing::Test {
  static constexpr u32 capacity = 64;
  block memory{connections::bytes_for(capacity, true)};
  connections table;

  connection_table() {
    arena a = memory.cut();
    EXPECT_TRUE(table.init(a, capacity, true));
  }
  u32 add(u32 n, record_state state = record_state::held, instant made_at = {1}) {
    const tuple_pair<tuple4> pair = pair_of(n);
    const u32 i = table.allocate(pair, hash_of(pair[0]), hash_of(pair[1]) + 1);
    table[i].state = state;
    table[i].made_at = made_at;
    return i;
  }
  std::vector<connection_row> listed(usize size, const connection_filter& f, instant now = {}, u32 looks = most_looked,
                                     std::vector<page_end>* ends = nullptr) {
    return all_pages<connection_row>(
        size, [&](table_cursor& from, span<connection_row> rows) { return page(table, from, rows, f, now, looks); }, ends);
  }
};

TEST_F(connection_table, IsEmptyInOnePageAtFirst) {
  std::vector<page_end> ends;
  EXPECT_TRUE(listed(4, {}, {}, most_looked, &ends).empty());
  EXPECT_EQ(ends.size(), 1U);
}

TEST_F(connection_table, ShowsBothTuplesOfEitherFamily) {
  (void)add(3);
  const tuple_pair<tuple6> six{nth6(4), reverse(nth6(4))};
  const u32 i = table.allocate(six, 1, 2);
  table[i].state = record_state::held;
  const auto rows = listed(1, {});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].v4, pair_of(3));
  EXPECT_EQ(rows[1].what.which, family::ipv6);
  EXPECT_EQ(rows[1].v6, six);
  EXPECT_EQ(rows[1].connection, table.handle_of(i));
}

TEST_F(connection_table, FiltersByEitherTupleAndByState) {
  for (u32 n = 1; n <= 9; ++n) (void)add(n, n % 3 == 0 ? record_state::leaving : record_state::held);
  connection_filter f;
  f.names_state = true;
  f.state = record_state::leaving;
  EXPECT_EQ(listed(2, f).size(), 3U);
  f = {};
  f.tuple.names_address = true;
  f.tuple.address = {5};
  f.tuple.address_at = tuple_end::destination;  // as the responder's frames arrive
  EXPECT_EQ(listed(2, f).size(), 1U);
}

TEST_F(connection_table, AgesOutliveEveryNarrowClock) {
  (void)add(1, record_state::held, {1'000});
  (void)add(2, record_state::making, {});
  const instant now = instant{1'000} + from_s(u64{400} * 86'400);
  const auto rows = listed(4, {}, now);
  EXPECT_EQ(rows[0].held_for, from_s(u64{400} * 86'400));
  EXPECT_EQ(rows[1].held_for, microseconds{});
}

TEST_F(connection_table, AFilterThatNothingPassesHoldsNobodyUp) {
  for (u32 n = 0; n < capacity; ++n) (void)add(n);
  connection_filter f;
  f.tuple.proto = protocol::icmp;
  std::vector<page_end> ends;
  EXPECT_TRUE(listed(4, f, {}, 10, &ends).empty());
  EXPECT_EQ(ends.size(), 7U);
}

// Between pages connections come and go; whoever stays is shown once.
RC_GTEST_FIXTURE_PROP(connection_table, WhoeverStaysIsShownOnce, ()) {
  std::set<u32> stay;
  std::vector<u32> go;
  u32 next = 1;
  for (u32 n = 0; n < 20; ++n, ++next) {
    const u32 i = add(next);
    if (*rc::gen::arbitrary<bool>())
      stay.insert(i);
    else
      go.push_back(i);
  }
  std::vector<connection_row> rows(3);
  table_cursor from;
  std::map<u32, u32> seen;
  for (bool last = false; !last;) {
    const page_end end = page(table, from, span<connection_row>{rows.data(), rows.size()}, {}, {});
    for (u32 r = 0; r < end.rows; ++r) ++seen[rows[r].connection.index];
    last = end.last;
    if (!go.empty() && *rc::gen::arbitrary<bool>()) {
      table.release(go.back());
      go.pop_back();
    }
    if (next < 40 && *rc::gen::arbitrary<bool>()) (void)add(next++);
  }
  for (const u32 i : stay) RC_ASSERT(seen[i] == 1U);
}

// --- next hops and holds --------------------------------------------------------------------------------------------

TEST(NextHopTable, ShowsWhatIsInUseByStateAndPort) {
  block memory{next_hops::bytes_for(8)};
  next_hops table;
  arena a = memory.cut();
  ASSERT_TRUE(table.init(a, 8));
  for (u16 port = 1; port <= 3; ++port) {
    next_hop hop;
    hop.port = port;
    const auto got = table.acquire(hop);
    if (port != 2) table.programmed(got.where);
  }
  const auto listed = [&](const next_hop_filter& f) {
    return all_pages<next_hop_row>(2, [&](table_cursor& from, span<next_hop_row> rows) { return page(table, from, rows, f); });
  };
  EXPECT_EQ(listed({}).size(), 3U);
  next_hop_filter f;
  f.names_state = true;
  EXPECT_EQ(listed(f).size(), 2U);
  f.names_port = true;
  f.port = 3;
  const auto rows = listed(f);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].what.hop.port, 3U);
  EXPECT_EQ(rows[0].where, (handle{2, 1}));
}

TEST(AssociationTable, ShowsUsesByStateAndByTheKernelsNumber) {
  block memory{associations::bytes_for(8)};
  associations table;
  arena a = memory.cut();
  ASSERT_TRUE(table.init(a, 8, 1'000'000'000, true));
  const auto listed = [&](const association_filter& f) {
    return all_pages<association_row>(2, [&](table_cursor& from, span<association_row> rows) { return page(table, from, rows, f); });
  };
  EXPECT_TRUE(listed({}).empty()) << "free ones are never shown";
  for (u32 kernel = 1; kernel <= 5; ++kernel) {
    const handle h = table.open(kernel, kernel % 2 == 0);
    table.read_before(h, {}, {});
    if (kernel > 2) ASSERT_TRUE(table.installing(h) && table.installed(h));
  }
  ASSERT_EQ(listed({}).size(), 5U);
  association_filter f;
  f.names_state = true;
  EXPECT_EQ(listed(f).size(), 3U);
  f.names_kernel = true;
  f.kernel = 4;
  const auto one = listed(f);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].where, table.of_kernel(4));
  EXPECT_TRUE(one[0].what.encrypts);
}

TEST(HoldTable, ShowsWhenEachEnds) {
  block memory{holds::bytes_for(4)};
  holds table;
  arena a = memory.cut();
  ASSERT_TRUE(table.init(a, 4));
  for (u32 n = 1; n <= 3; ++n) {
    bool forgot = false;
    const u32 i = table.entry_for(pair_of(n), {n, n + 100}, forgot);
    table.become(i, n == 3 ? hold_state::resting : hold_state::holding, instant{} + from_s(n));
  }
  const auto listed = [&](const hold_filter& f) {
    return all_pages<hold_row>(
        2, [&](table_cursor& from, span<hold_row> rows) { return page(table, from, rows, f, instant{} + second); });
  };
  EXPECT_EQ(listed({}).size(), 3U);
  hold_filter f;
  f.names_state = true;
  const auto rows = listed(f);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].left, microseconds{});
  EXPECT_EQ(rows[1].left, second);
  f = {};
  f.tuple.names_address = true;
  f.tuple.address = {3};
  EXPECT_EQ(listed(f).size(), 1U);
}

}  // namespace
}  // namespace octep

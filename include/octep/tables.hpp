// Tables: what the components hold, a page at a time.
//
// Floor 5.
//
//   table         cursor            row
//   candidates    slot, place       where it stands, the candidate, its age
//   connections   index             record, both tuples, since when it is held
//   next hops     index             entry
//   associations  index             entry: its use, and the account of the index
//   holds         place             entry, when it ends
//
// What it is: `page(table, cursor, rows, filter, ...)`, which fills `rows` from where the cursor stands and moves it. A cursor is
// two numbers: it survives releasing the pass lock, and whatever happens meanwhile. What stands still from the first page to the
// last is shown exactly once; what comes, goes or moves meanwhile is shown as it was met, or not at all.
// What it refuses: walking on without an end. A page looks at `most_looked` places at the most, so a filter that nothing
// passes holds the lock no longer than one that everything passes; a page may have no row and not be the last.
// What that buys: a dump of two million connections beside live traffic.
// Ages are 64-bit microseconds, or a candidate's 32-bit milliseconds, which a poll keeps from wrapping (`tick::oldest_age`).
// Concurrency: under the pass lock; `page` of candidates also inside the world's critical section, since it takes slot words.
#pragma once

#include <octep/associations.hpp>
#include <octep/base.hpp>
#include <octep/candidates.hpp>
#include <octep/connections.hpp>
#include <octep/holds.hpp>
#include <octep/identity.hpp>
#include <octep/next_hops.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

// Where the next page begins. As made, at the beginning.
struct table_cursor {
  u32 at = 0;      // slot or index
  u32 within = 0;  // place in the slot
};

struct page_end {
  u32 rows = 0;       // written, from the first on; what stands in the span behind them means nothing
  u32 busy = 0;       // candidates: slots that were passed over because a ring held their word
  bool last = false;  // nothing is behind the cursor
};

// Which end of a tuple a filter's address or port is looked for at.
enum class tuple_end : u8 { either, source, destination };

// As made, every tuple passes.
struct tuple_filter {
  bool names_family = false;
  family which = family::ipv4;  // names_family; names_address: of the address
  protocol proto{};             // protocol{}: any
  bool names_address = false;
  tuple_end address_at = tuple_end::either;
  address6 address{};  // as tuples keep them; an IPv4 address in the first word
  bool names_port = false;
  tuple_end port_at = tuple_end::either;
  u16 port = 0;  // a port word as tuples keep it (`port_word`)

  template <tuple_type Tuple>
  [[nodiscard]] constexpr bool passes(const Tuple& t) const noexcept {
    if ((names_family || names_address) && which != Tuple::which) return false;
    if (proto != protocol{} && proto != t.proto) return false;
    if (names_port && !is_at(port_at, t.source_word() == port, t.destination_word() == port)) return false;
    return !names_address || is_at(address_at, is_address(t.source), is_address(t.destination));
  }

 private:
  [[nodiscard]] static constexpr bool is_at(tuple_end end, bool source, bool destination) noexcept {
    return (source && end != tuple_end::destination) || (destination && end != tuple_end::source);
  }
  [[nodiscard]] constexpr bool is_address(address4 a) const noexcept { return address[0] == a; }
  [[nodiscard]] constexpr bool is_address(const address6& a) const noexcept { return address == a; }
};

// Places that one page looks at, at the most. Ours: some tens of microseconds of the pass lock.
inline constexpr u32 most_looked = 1'024;

namespace detail {
// take(index, row) -> whether it is one; of an index that it refuses the row is written again.
template <class Row, class Take>
[[nodiscard]] page_end page_by_index(u32 capacity, table_cursor& from, span<Row> rows, u32 looks, Take&& take) noexcept {
  page_end end;
  for (; looks > 0 && from.at < capacity && end.rows < rows.size; --looks, ++from.at)
    if (take(from.at, rows[end.rows])) ++end.rows;
  end.last = from.at >= capacity;
  return end;
}
}  // namespace detail

// --- candidates -------------------------------------------------------------------------------------------------------

template <tuple_type Tuple>
struct candidate_row {
  u32 slot = 0;
  u32 place = 0;
  candidate<Tuple> what;
  u32 age_ms = 0;
  bool at_least = false;  // it is that old or older
};

struct candidate_filter {
  tuple_filter tuple;
  enum class pick : u8 { all, unread, read, due } only = pick::all;

  template <tuple_type Tuple>
  [[nodiscard]] constexpr bool passes(const candidate<Tuple>& c) const noexcept {
    if (only == pick::unread && c.read) return false;
    if (only == pick::read && !c.read) return false;
    if (only == pick::due && !c.due) return false;
    return tuple.passes(c.tuple);
  }
};

// A slot whose word is held is passed over and counted as busy.
template <tuple_type Tuple, limits L, class Choice, class Tags, class A>
[[nodiscard]] page_end page(candidates<Tuple, L, Choice, Tags, A>& table, table_cursor& from,
                            span<candidate_row<Tuple>> rows, const candidate_filter& filter, tick now,
                            u32 looks = most_looked) noexcept {
  page_end end;
  for (u32 looked = 0; looked < looks && from.at < L.slots && end.rows < rows.size; looked += L.places) {
    u32 did_not_fit = L.places;
    const bool free = table.for_each_place(from.at, [&](u32 place, const candidate<Tuple>& c) {
      if (place < from.within || did_not_fit != L.places || !filter.passes(c)) return;
      if (end.rows == rows.size) return (void)(did_not_fit = place);
      const u32 age = c.at.age(now);
      rows[end.rows++] = {from.at, place, c, age, age >= tick::oldest_age};
    });
    if (!free) ++end.busy;
    from.within = did_not_fit == L.places ? 0 : did_not_fit;
    if (did_not_fit == L.places) ++from.at;
  }
  end.last = from.at >= L.slots;
  return end;
}

// --- connections ------------------------------------------------------------------------------------------------------

struct connection_row {
  handle connection;
  record what;
  tuple_pair<tuple4> v4{};  // what.which: which of the two
  tuple_pair<tuple6> v6{};
  microseconds held_for;  // since its create was answered; zero while it was not
};

struct connection_filter {
  tuple_filter tuple;  // one of the two tuples passes
  bool names_state = false;
  record_state state = record_state::held;  // free ones are never shown
};

[[nodiscard]] inline page_end page(const connections& table, table_cursor& from, span<connection_row> rows,
                                   const connection_filter& filter, instant now, u32 looks = most_looked) noexcept {
  return detail::page_by_index(table.capacity(), from, rows, looks, [&](u32 index, connection_row& row) {
    const record& r = table[index];
    if (r.state == record_state::free || (filter.names_state && r.state != filter.state)) return false;
    row = connection_row{};
    row.connection = table.handle_of(index);
    row.what = r;
    if (!(r.made_at == instant{})) row.held_for = now.since(r.made_at);
    if (r.which == family::ipv4) {
      row.v4 = table.tuples_of<tuple4>(index);
      return filter.tuple.passes(row.v4[0]) || filter.tuple.passes(row.v4[1]);
    }
    row.v6 = table.tuples_of<tuple6>(index);
    return filter.tuple.passes(row.v6[0]) || filter.tuple.passes(row.v6[1]);
  });
}

// --- next hops --------------------------------------------------------------------------------------------------------

struct next_hop_row {
  handle where;
  next_hop_entry what;
};

struct next_hop_filter {
  bool names_state = false;
  next_hop_state state = next_hop_state::programmed;  // free ones are never shown
  bool names_port = false;
  u16 port = 0;
};

[[nodiscard]] inline page_end page(const next_hops& table, table_cursor& from, span<next_hop_row> rows,
                                   const next_hop_filter& filter, u32 looks = most_looked) noexcept {
  return detail::page_by_index(table.capacity(), from, rows, looks, [&](u32 index, next_hop_row& row) {
    const next_hop_entry& e = table[index];
    if (e.state == next_hop_state::free || (filter.names_state && e.state != filter.state)) return false;
    row = {{index, e.revision}, e};
    return !filter.names_port || e.hop.port == filter.port;
  });
}

// --- associations -----------------------------------------------------------------------------------------------------

struct association_row {
  handle where;  // as the table has it; a microflow names it by index + 1
  association what;
};

struct association_filter {
  bool names_state = false;
  association_state state = association_state::installed;  // free ones are never shown
  bool names_kernel = false;
  u32 kernel = 0;  // the kernel's number
};

[[nodiscard]] inline page_end page(const associations& table, table_cursor& from, span<association_row> rows,
                                   const association_filter& filter, u32 looks = most_looked) noexcept {
  return detail::page_by_index(table.capacity(), from, rows, looks, [&](u32 index, association_row& row) {
    const association& a = table[index];
    if (a.state == association_state::free || (filter.names_state && a.state != filter.state)) return false;
    row = {table.handle_at(index), a};
    return !filter.names_kernel || a.kernel == filter.kernel;
  });
}

// --- holds ------------------------------------------------------------------------------------------------------------

struct hold_row {
  u32 place = 0;
  hold what;
  instant ends_at;
  microseconds left;  // zero: it ends now
};

struct hold_filter {
  tuple_filter tuple;  // one of the two tuples passes
  bool names_state = false;
  hold_state state = hold_state::holding;  // free ones are never shown
};

[[nodiscard]] inline page_end page(const holds& table, table_cursor& from, span<hold_row> rows, const hold_filter& filter,
                                   instant now, u32 looks = most_looked) noexcept {
  return detail::page_by_index(table.capacity(), from, rows, looks, [&](u32 place, hold_row& row) {
    const hold& h = table[place];
    if (h.state == hold_state::free || (filter.names_state && h.state != filter.state)) return false;
    const instant end = table.ends_at(place);
    row = {place, h, end, end.since(now)};
    return h.which == family::ipv4 ? filter.tuple.passes(h.v4[0]) || filter.tuple.passes(h.v4[1])
                                   : filter.tuple.passes(h.v6[0]) || filter.tuple.passes(h.v6[1]);
  });
}

}  // namespace octep

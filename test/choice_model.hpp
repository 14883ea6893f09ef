// The 19,200 cases of the choice of a place, and what the record's rule answers in each.
//
// An independent model: it includes nothing of octep, keeps time in 64 bits that never wrap, and decides by sorting.
// The tests of the policy, of the host's table and of the kernel's object (through the C border) all take their cases
// here.
//
//   4 states a place (empty, this tuple, another read, another unread)    4^4 = 256
//   every weak order of the four times of writing (ties included)               75
//
// More than one place may hold "this tuple": no table reaches that, but the rule says what it means (the first).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

namespace octep::test {

enum class place_is { empty, this_tuple, another_read, another_unread };

inline constexpr int choice_places = 4;

struct choice_case {
  std::array<place_is, choice_places> place;
  std::array<std::uint64_t, choice_places> written_ms;  // of an empty place: meaningless
  std::uint64_t now_ms;                                 // may lie before a time of writing: another ring is ahead
};

// The rule, as it reads: the first place with this tuple; else the first that nothing was written to; else the one
// written longest ago, and among equals the first. An age below zero is zero.
inline int place_by_rule(const choice_case& c) {
  // (which sentence of the rule, smaller for older, which place): the smallest wins.
  std::array<std::tuple<int, std::int64_t, int>, choice_places> bids;
  for (int i = 0; i < choice_places; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t age = static_cast<std::int64_t>(c.now_ms) - static_cast<std::int64_t>(c.written_ms[at]);
    switch (c.place[at]) {
      case place_is::this_tuple:
        bids[at] = {1, 0, i};
        break;
      case place_is::empty:
        bids[at] = {2, 0, i};
        break;
      case place_is::another_read:
      case place_is::another_unread:
        bids[at] = {3, -std::max<std::int64_t>(age, 0), i};
        break;
    }
  }
  return std::get<2>(*std::min_element(bids.begin(), bids.end()));
}

// Every weak order of four things, as ranks: every rank up to the highest is taken by somebody. There are 75.
inline std::vector<std::array<unsigned, choice_places>> weak_orders() {
  std::vector<std::array<unsigned, choice_places>> orders;
  for (unsigned code = 0; code < 256; ++code) {
    const std::array<unsigned, choice_places> rank{code & 3, (code >> 2) & 3, (code >> 4) & 3, (code >> 6) & 3};
    const unsigned highest = *std::max_element(rank.begin(), rank.end());
    bool dense = true;
    for (unsigned r = 0; r <= highest; ++r) dense = dense && std::find(rank.begin(), rank.end(), r) != rank.end();
    if (dense) orders.push_back(rank);
  }
  return orders;
}

// Calls `visit(const choice_case&)` for all cases with times base + rank * step and the clock at base + now_after;
// returns how many there were.
template <class Visit>
std::uint64_t for_each_choice_case(std::uint64_t base_ms, std::uint64_t step_ms, std::uint64_t now_after_ms,
                                   Visit&& visit) {
  std::uint64_t tried = 0;
  for (const auto& rank : weak_orders())
    for (unsigned code = 0; code < 256; ++code) {
      choice_case c{};
      for (unsigned i = 0; i < choice_places; ++i) {
        c.place[i] = static_cast<place_is>((code >> (2 * i)) & 3);
        c.written_ms[i] = base_ms + rank[i] * step_ms;
      }
      c.now_ms = base_ms + now_after_ms;
      visit(static_cast<const choice_case&>(c));
      ++tried;
    }
  return tried;
}

// Where the clock stands in a run over all cases. `now_after` inside the times of writing: some stamps are ahead of it.
struct choice_clock {
  std::uint64_t base_ms;
  std::uint64_t step_ms;
  std::uint64_t now_after_ms;
};

// Bases around everything that 32-bit arithmetic could trip over: zero, half the range, the wrap. Ages up to a quarter
// of the range, which is as old as the walk lets one grow.
inline std::vector<choice_clock> choice_clocks() {
  std::vector<choice_clock> clocks;
  const std::uint64_t half = std::uint64_t{1} << 31;
  const std::uint64_t whole = std::uint64_t{1} << 32;
  const std::uint64_t quarter = std::uint64_t{1} << 30;
  for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{1'000'000}, half - 4, half - 2, half - 1, half,
                                   half + 1, whole - 4, whole - 3, whole - 2, whole - 1, whole, 3 * whole - 2}) {
    clocks.push_back({base, 1, 3});
    clocks.push_back({base, 1, 1'000});
    clocks.push_back({base, 1, 0});  // all but the first rank are ahead
    clocks.push_back({base, 1, 1});
    clocks.push_back({base, 1, 2});
    clocks.push_back({base, 1'000, 60'000});
    clocks.push_back({base, 1'000, 1'500});
    clocks.push_back({base, quarter / 4, quarter});
    clocks.push_back({base, 1, quarter});
  }
  return clocks;
}

}  // namespace octep::test

// The scenarios by which a choice of a place is judged: rows R8, R9, R12, R16 and targets N1 to N3 of the record, and a mix of
// a thousand Zipf flows with strangers. Each is one run of one design in virtual time, and nothing but its seed decides it.
// Times are in seconds, as the record gives them; what never came within the run is `never_s`.
#pragma once

#include <limits>
#include <vector>

#include "sim/scenarios/designs.hpp"

namespace octep::sim::scenarios {

inline constexpr double never_s = std::numeric_limits<double>::infinity();

// R8 and N1: fresh flows whose opening tuples share a slot, begun together.
struct sharing {
  std::vector<double> made_at;  // in order; `never_s` for those that were not within eight seconds
  u64 evicted = 0;              // unread candidates that another tuple overwrote, until all were made

  [[nodiscard]] double slowest() const { return made_at.empty() ? 0 : made_at.back(); }  // 0 where there was no flow
  [[nodiscard]] u64 made() const;
};
// `in_turn`: one program drives them in rounds, as the recorded tool did. Else each keeps its own time.
[[nodiscard]] sharing flows_in_one_slot(const design& d, u32 flows, bool in_turn, u64 seed);

// R9: of three hundred flows through NAT those whose two tuples share a slot, driven at once.
[[nodiscard]] sharing self_colliding_through_nat(const design& d, u64 seed);

// R12.
struct nine_hundred {
  double stopped_growing_at = 0;  // since the first flow
  u64 held = 0;
  u64 tries_that_made_nothing = 0;  // attempts by runs
  u64 evicted_while_held = 0;       // in the last 30 s of the run
  u64 clashes = 0;
};
[[nodiscard]] nine_hundred opened_fifty_at_a_time(const design& d, u64 seed);

// N2: a slow self-colliding pair beside flows that can never be made, in its slot.
enum class phase : u8 {
  locked,  // its exchange falls at the same instant of each second
  varied,  // anywhere in each second
};
struct pair_made {
  double seconds = never_s;  // since its first exchange
  u64 polls = 0;             // that began since it was settled; meaningless where it was never made
  bool before_a_poll = false;

  [[nodiscard]] bool ever() const noexcept { return seconds != never_s; }
};
// For at most `patience_s` seconds.
[[nodiscard]] pair_made pair_beside(const design& d, u32 hostile, phase how, u64 patience_s, u64 seed);
// The same beside flows that claim kept places: the firewall lets them pass and their other direction never comes. Every second
// one is an echo, claimed for at once; the others are UDP, three seconds old before the pair begins. Each a frame a tick, all of
// them together 40,000 frames a second at most.
[[nodiscard]] pair_made pair_beside_claimers(const design& d, u32 claimers, u64 patience_s, u64 seed);
// Under that many echo requests a second, each of a tuple of its own in its slot, that the firewall lets pass and nobody answers:
// claimers that are met once. A minute's patience.
[[nodiscard]] pair_made pair_under_echoes(const design& d, u32 a_second, u64 seed);
// Strangers a second over the whole table, or aimed at its slot; a minute's patience.
[[nodiscard]] pair_made pair_under_scan(const design& d, u32 a_second, bool aimed, phase how, u64 seed);

// N3 and R16.
struct asked {
  u64 tries = 0;               // attempts by runs
  u64 made = 0;
  u64 most_of_a_tuple = 0;     // between two polls
  u64 most_of_a_slot = 0;      // between two polls
  u64 most_between_polls = 0;  // of all
};
[[nodiscard]] asked scan_of_few_frames(const design& d, u64 seed);
[[nodiscard]] asked flood_to_a_silent_address(const design& d, u64 seed);
// A tuple that is refused, driven out of its slot, and back with sixteen frames, again and again within one second.
[[nodiscard]] asked refused_and_back(const design& d, u64 seed);
// Whether a fresh flow was made without a poll, whose slot it shares with a tuple that was refused since the poll.
[[nodiscard]] bool made_beside_a_refused_tuple(const design& d, u64 seed);

struct mixed {
  double share_made = 0;     // of the thousand, by a minute
  double ten_busiest_s = 0;  // mean until each was made, those that were not taken for a minute
};
[[nodiscard]] mixed zipf_and_strangers(const design& d, u64 seed);

}  // namespace octep::sim::scenarios

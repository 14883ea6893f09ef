// Both sides of a NAT in one capture, made one: the outside's frames are left out where the inside's are there.
//
//   inside  client ─▶ server          kept; the model box translates it, as the box of the capture did
//   outside ADDRESS ─▶ server         the same packet one hop further: from then on its connection is left out, both ways
//
// What it is: the outside tuples that were seen to be the translation of an inside one, 65,536 of them in sets of eight. In a full
// set the one that was paired first is forgotten, and its opener's next frame, seen twice, pairs it anew.
// What it refuses: pairing anything but `--nat-of`'s address; what the box itself says from there has no inside and stays.
// Concurrency: one thread.
#pragma once

#include "tools/sightings.hpp"
#include "tools/tuple_text.hpp"

#include <vector>

namespace octep::tools {

class nat_pairs {
 public:
  explicit nat_pairs(const any_address& outside);

  // A sight of both sides of this NAT.
  [[nodiscard]] bool joins(const sighting& how) const;
  // A candidate and its sight; true: it is left out.
  [[nodiscard]] bool leaves_out(const observed_frame& seen, const sighting& how);

 private:
  static constexpr usize sets = 8'192, ways = 8;
  struct set {
    sim::wide_tuple openers[ways];  // as their frames leave
    u32 next = 0;                   // whose place is taken next
    [[nodiscard]] bool has(const sim::wide_tuple& opener) const noexcept;
  };
  [[nodiscard]] set& set_of(const sim::wide_tuple& opener) noexcept { return paired_[sim::scatter(opener) % sets]; }

  family which_;
  address6 outside_;
  std::vector<set> paired_ = std::vector<set>(sets);
};

}  // namespace octep::tools

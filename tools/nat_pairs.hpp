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

#include "tools/recent.hpp"
#include "tools/sightings.hpp"
#include "tools/tuple_text.hpp"

#include <variant>

namespace octep::tools {

class nat_pairs {
 public:
  explicit nat_pairs(const any_address& outside);

  // A sight of both sides of this NAT.
  [[nodiscard]] bool joins(const sighting& how) const;
  // A candidate and its sight; true: it is left out.
  [[nodiscard]] bool leaves_out(const observed_frame& seen, const sighting& how);

 private:
  family which_;
  address6 outside_;
  recent<sim::wide_tuple, std::monostate, 8'192, 8> paired_;  // openers, as their frames leave
};

}  // namespace octep::tools

// Both sides of a NAT in one capture, made one: the outside's frames are left out where the inside's are there.
//
//   inside  client ─▶ server          kept; the model box translates it, as the box of the capture did
//   outside ADDRESS ─▶ server         the same packet one hop further: from then on its connection is left out, both ways
//
// What it is: the outside tuples that were seen to be the translation of an inside one. A fixed table: two tuples that share a
// place forget each other, and the opener's next frame, seen twice, pairs them anew.
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
  static constexpr usize places = 65'536;
  [[nodiscard]] static usize place(const sim::wide_tuple& opener) noexcept { return sim::scatter(opener) % places; }

  family which_;
  address6 outside_;
  std::vector<sim::wide_tuple> paired_ = std::vector<sim::wide_tuple>(places);  // as the opener's frames leave
};

}  // namespace octep::tools

// Frames that a capture shows a second time: as they were, one hop further, or behind a NAT.
//
//   source ─┐
//           ├─ the same      the same packet again                       again
//   print ──┘  another one   the opener's packet behind its translation  translated
//   destination, TCP's numbers or the payload's sum, length: what neither a hop nor a source NAT changes
//
// What it is: the prints of the last candidates, each for a second at most. A second sight needs the same IPv4 identification. Where
// there is none, TCP's numbers or the payload's checksum have to be the same, within a time in which nobody sends again: that is a
// weaker sign, and said to be so. A translated frame needs a TTL that is one less or more besides.
// What it refuses: growing, and certainty: two frames that share a place forget each other.
// Concurrency: one thread.
#pragma once

#include "tools/observed_frame.hpp"

#include <vector>

namespace octep::tools {

struct sighting {
  enum class kind : u8 { first, again, translated };
  kind is = kind::first;
  bool numbered = false;  // by an IPv4 identification, which no two packets of a host share within a second
  // Of translated frames: the opener's tuple behind the NAT, which is this frame's or the earlier one's, by the TTL.
  sim::wide_tuple outside;
};

class sightings {
 public:
  // What a second-level cache holds. The second sight of a frame comes within a hop, hundreds of frames later at most.
  static constexpr usize places = 1'024;
  static constexpr usize many_places = 65'536;

  explicit sightings(usize remembered = places) : entries_(remembered) {}

  // What `seen` is, in `said`. Candidates, in the order of the capture.
  void look(const observed_frame& seen, sighting& said);

 private:
  struct entry {
    u64 print = 0;
    sim::wide_tuple tuple;
    instant at;
    u16 id = 0;
    u8 ttl = 0;
    bool used = false;
  };
  std::vector<entry> entries_;
};

}  // namespace octep::tools

// What a capture cannot tell, and what one would have to do to be told.
//
// What it is: a watch over frames and connections for marks of how a capture was taken: cut short, merged, seen twice, on both
// sides of a NAT, begun too late, one way only, stamped by a clock that goes back, or behind a box that already offloads. Each
// spot counts what bears its mark and says one sentence.
// What it refuses: mending what it finds, and memory beyond the last few thousand frames.
// Concurrency: one thread.
#pragma once

#include "tools/observed_frame.hpp"
#include "tools/sightings.hpp"
#include "tools/tracking.hpp"

#include <map>
#include <string>
#include <vector>

namespace octep::tools {

struct blind_spot {
  const char* what;  // a name for programs
  u64 count;         // of frames or connections, as the sentence says
  std::string sentence;
};

// As the capture's reader found its clock.
struct clock_marks {
  u64 went_back = 0;  // frames with a stamp earlier than one before them
  u64 set_back = 0;   // how often the clock was set back
  double most_seconds = 0;  // by how much at the most
  u64 without_time = 0;     // frames, where all have the same stamp
};

class blind_spots {
 public:
  // A candidate's sight.
  void sighted(const sighting& how);
  // Every frame of the replay; `of`: its connection, if it has one.
  void see(const observed_frame& seen, connection* of, u8 direction);
  // A connection is over.
  void over(const connection& c);

  // Those that were met.
  [[nodiscard]] std::vector<blind_spot> found(const clock_marks& clock) const;

 private:
  u64 short_snaps_ = 0;
  u64 merged_ = 0, merged_longest_ = 0;
  u64 long_ = 0;
  u64 again_ = 0;               // by their IPv4 identification
  u64 unnumbered_ = 0;          // frames that have none
  u64 unnumbered_again_ = 0;
  u64 translated_ = 0;
  u64 no_syn_ = 0;
  u64 one_way_ = 0;
  u64 skipping_ = 0, skipped_bytes_ = 0;
  u64 losing_ = 0, lost_bytes_ = 0;
  // Where translated frames came from. A box has few outside addresses; beyond these nobody is named.
  static constexpr usize most_outside = 64;
  std::map<std::string, u64> outside_;
};

}  // namespace octep::tools

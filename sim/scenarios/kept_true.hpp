// Rows of the record about connections that are held, or ended (R10, R11, R14, R18, R19, R22): what was made stays
// true, and what goes is not made again too soon. Each is one run of one design in virtual time, and nothing but its
// seed decides it.
#pragma once

#include <vector>

#include "sim/scenarios/designs.hpp"

namespace octep::sim::scenarios {

// The recorded design of four places before its review: nobody remembers what was refused or taken out.
[[nodiscard]] design recorded_without_marks();

// R10: one exchange, a gap, then only the opening direction for two seconds; one real question at the end.
struct after_a_gap {
  bool made = false;
  bool answer_attached =
      false;  // the answer's frames came under another identity, and its direction was programmed anew
  bool answered_in_hardware = false;
};
[[nodiscard]] after_a_gap one_exchange_and_a_gap(const design& d, u32 gap_s, u64 seed);

// R11: a request a second through NAT, twelve to each address.
struct pings {
  u64 mismatches = 0;  // flow_tuple_mismatch
  u64 waits = 0;       // flow_wait_other
  u64 made = 0;        // of the addresses
  u64 made_from_reply = 0;
};
[[nodiscard]] pings twelve_echo_requests(const design& d, u32 addresses, u32 silent, u64 seed);

// R14: frames of a download of 80,000 a second that the host got.
struct handed_up {
  u64 to_revival = 0;   // from the give-back on
  u64 to_attached = 0;  // from the removal of its microflow on
  double revived_after_s = 0;
  bool stayed = false;  // the one connection of before, revived and attached
};
[[nodiscard]] handed_up given_back_at_speed(const design& d, bool runs, u64 seed);

// R18: places of the candidate table that hold something.
struct emptied_table {
  u64 places = 0;
  u64 before = 0;
  u64 after = 0;
  u64 kept_slots = 0;
  u64 again = 0;  // three seconds later, five flows going on
};
[[nodiscard]] emptied_table discard_of_flows(const design& d, u64 seed);

// R19: downloads that are given back now and then. `ends_by_syn`: a connection counts as ending from its first frames'
// SYN on, until it is taken out and made again.
struct marked_by_syn {
  double share = 0;  // of the downloads' frames that were forwarded
  u64 given_back = 0;
  u64 revived = 0;
  u64 taken_out = 0;
};
[[nodiscard]] marked_by_syn four_downloads(const design& d, bool ends_by_syn, u32 seconds, bool runs_make, u64 seed);
// One download that is given back in its fortieth second.
[[nodiscard]] marked_by_syn fortieth_second(const design& d, bool ends_by_syn, u64 seed);

// R22: a connection that cannot be revived, and whose frames go on, one a millisecond. Over ten seconds.
struct made_and_taken_out {
  double made_a_second = 0;
  u64 most_between_polls = 0;
};
[[nodiscard]] made_and_taken_out taken_out_while_frames_go_on(const design& d, bool holds, u64 seed);

}  // namespace octep::sim::scenarios

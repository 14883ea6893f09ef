// R17: one long TCP stream through the `xgs136`, whose sender and receiver react: what a make does to a stream, and
// what the stream does to the connection in hardware.
#pragma once

#include "sim/scenarios/designs.hpp"

namespace octep::sim::scenarios {

enum class losses : u8 {
  none,
  one,    // the first segment that the receiver would have met after one second
  usual,  // behind the port, as recorded
};

struct bulk_plan {
  u32 seconds = 15;
  bool in_hardware = true;  // else nothing is made
  bool holds = true;        // hold-back, as the settings say
  losses lost = losses::usual;
  u32 spacing_ns = 0;  // the sender's own limit, from one segment to the next; 0: its link's
};

struct bulk_outcome {
  double mbit_a_second = 0;
  u64 made = 0;
  u64 given_back = 0;  // found by a read
  u64 held_back = 0;
  u64 retransmitted = 0;
  u64 out_of_order = 0;  // segments that the receiver met so
  u64 lost = 0;
  double forwarded = 0;  // share of the data segments
  bool sound = false;    // every law held at the end
};
[[nodiscard]] bulk_outcome bulk_stream(const design& d, const bulk_plan& plan, u64 seed);

}  // namespace octep::sim::scenarios

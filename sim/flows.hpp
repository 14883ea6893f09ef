// Flows: open-loop traffic for scenarios, frame by frame, in virtual time.
//
// What it is: a TCP stream (handshake, then bursts of data answered by acknowledgements, until its end) and a UDP exchange at a
// fixed rate, each sent into an appliance by events of its queue. Both count what was forwarded.
// What it refuses: congestion, loss, windows. TCP that reacts is a later model; what is measured here is when a connection is
// made and what its frames met until then.
#pragma once

#include <functional>

#include "sim/appliance.hpp"

namespace octep::sim {

struct flow_counts {
  u64 frames = 0;
  u64 forwarded = 0;
  [[nodiscard]] u64 punted() const noexcept { return frames - forwarded; }
};

// The two directions as they arrive, and where.
struct flow_ends {
  tuple4 opener;     // as the opener's frames arrive
  tuple4 responder;  // as the responder's frames arrive; differs from reverse(opener) under NAT
  u16 opener_port = 1;
  u16 responder_port = 2;
};

struct stream_plan {
  instant begins;
  microseconds lasts;
  microseconds round_trip{200};      // between the two ends
  microseconds between_bursts{1'000};  // on average; each is drawn between half and one and a half of it
  u32 burst = 10;                    // data frames of a burst
  bool down = true;                  // the responder sends the data
  u64 seed = 1;                      // of the bursts: streams must not walk in step with each other or with the poll
};

// Sends the stream's frames as time comes to them. `counts` outlives the events. With NAT the responder's tuple is not known
// before the firewall has allocated: it is asked for each time.
void stream(appliance& box, const flow_ends& ends, const stream_plan& plan, flow_counts& counts, bool nat = false);

// One datagram each way (an answer right behind it, if `answered`) every `period`.
struct exchange_plan {
  instant begins;
  microseconds lasts;
  microseconds period = from_s(1);
  bool answered = true;
};
void exchanges(appliance& box, const flow_ends& ends, const exchange_plan& plan, flow_counts& counts, bool nat = false);

// The ends of a plain IPv4 flow.
[[nodiscard]] flow_ends plain_flow(address4 opener, u16 opener_port, address4 responder, u16 responder_port, protocol proto);

}  // namespace octep::sim

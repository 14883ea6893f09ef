// A capture's records, one by one, into the model appliance, in the capture's own time.
//
//   record ─▶ classify ─▶ whose connection, which direction ─▶ port ─▶ appliance ─┬─▶ forwarded
//                                                                                └─▶ punted, and why
//   events of passes ─▶ whose connection ─▶ made, or refused and why
//
// What it is: the loop's body, and the sums. Frames from openers arrive on one port, frames from responders on another; what
// has no direction arrives where its sender was last seen. The next hop towards a peer is the hardware address that its frames come from.
// What it refuses: files, options and printing. What that buys: tests that hand it frames.
// Concurrency: one thread.
#pragma once

#include "sim/appliance.hpp"
#include "tools/blind_spots.hpp"
#include "tools/observed_frame.hpp"
#include "tools/replay_sums.hpp"
#include "tools/seen_neighbours.hpp"
#include "tools/tracking.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace octep::tools {

inline constexpr u16 opener_port = 1, responder_port = 2;

// Where each hardware address was last seen. A fixed table: two addresses that share a place forget each other, and a frame
// that finds nothing arrives on the opener's port. That costs a nicety; a table that grows would cost memory.
class seen_ports {
 public:
  void learn(const std::optional<u64>& address, u16 port);
  [[nodiscard]] u16 of(const std::optional<u64>& address) const;

 private:
  struct entry {
    u64 address = 0;
    u16 port = opener_port;
  };
  static constexpr usize size = 4'096;
  [[nodiscard]] static usize place(u64 address) noexcept { return sim::scatter(0, address) % size; }

  std::vector<entry> places_ = std::vector<entry>(size);
};

class replay_loop {
 public:
  // `nat`: the box translates openers, so what answers them arrives translated. `box` outlives it.
  replay_loop(sim::appliance& box, bool nat);
  ~replay_loop() {
    box_.on_event = nullptr;
    box_.ways.resolve_by(nullptr);
  }
  replay_loop(const replay_loop&) = delete;
  replay_loop& operator=(const replay_loop&) = delete;

  void take(const observed_frame& frame);

  // Watched over beside the sums, if anybody; outlives this.
  blind_spots* watch = nullptr;
  // Told beside the sums, each as it happens: the events of passes, the frames, the connections that are over.
  std::function<void(const event&)> on_event;
  std::function<void(bool forwarded, instant at)> on_frame;
  // As the capture has it, and as it arrives at the box, which is another where the box translates.
  std::function<void(const sim::wide_tuple&, const sim::wide_tuple& arrives, bool forwarded)> on_tuple;
  std::function<void(const connection&)> on_over;

  // After the last frame: every connection is counted now.
  replay_sums& finish();

  // Of the sums and of the models, which `frames_read` records should obey. Nothing: all hold.
  [[nodiscard]] std::optional<std::string> contradicts(u64 frames_read) const;

 private:
  void forwarded(connection* of, u32 length, instant now);
  void punted(connection* of, reason why, u32 length, instant now);
  void hear(const event& e);

  sim::appliance& box_;
  bool nat_;
  bool makes_;  // no pass asks about a candidate otherwise
  replay_sums sums_;
  seen_ports ports_;
  seen_neighbours neighbours_;
  tracking connections_;
  frame_facts translated_;  // of a reply, as it arrives
};

}  // namespace octep::tools

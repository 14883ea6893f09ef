// The capture's own connections: who opened each, which are over, what became of them.
//
// What it is: one record for each connection of the capture that lives, found by its tuple either way round. It lives as long
// as the firewall's state would; a SYN on a TCP connection that has ended begins another.
// What it refuses: remembering what is over. Whoever wants to count a connection is told when it goes.
// What that buys: memory that follows the connections that live at one time, not the length of the capture.
// Concurrency: one thread.
#pragma once

#include "sim/place_index.hpp"
#include "sim/pool.hpp"
#include "sim/tcp_flags.hpp"
#include "sim/wide_tuple.hpp"

#include <octep/reasons.hpp>
#include <octep/ticks.hpp>

#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace octep::tools {

// What the numbers of one TCP sender show of what it sent.
struct tcp_stream {
  bool known = false;
  u32 first = 0;        // the number that it began with, or was first seen with
  u32 next = 0;         // the number behind the furthest byte
  u64 shown = 0;        // bytes of payload that the capture has, repeated ones too
  u64 skipped = 0;      // bytes that were passed over when the numbers went on
  u32 skipped_until = 0;  // the last number that was gone on to
  u64 filled = 0;       // bytes that came behind `next`: what had been passed over, or was sent again
  u32 acknowledged = 0;
  bool acknowledges = false;   // `acknowledged` means something
  bool progress = false;       // it acknowledged more than before
  bool answers_syn = false;    // it sent a SYN+ACK
  u16 longest_segment = 0;     // that it said it takes (the option of its SYN); 0: the capture does not have it
};

struct connection {
  sim::wide_tuple from_opener;  // as the opener's frames arrive
  instant first_frame;
  instant last_frame;
  bool picked_up = false;       // TCP that was open before the capture's first frame of it
  bool heard[2] = {false, false};  // opener, responder
  bool fin[2] = {false, false};
  bool reset = false;
  tcp_stream streams[2];  // of the opener's bytes, of the responder's

  // What became of it.
  std::optional<instant> first_punted;
  std::optional<instant> made;
  bool forwarded = false;              // at least one frame went through hardware
  reason refusal = reason::not_asked;  // the last
  u64 frames_forwarded = 0, bytes_forwarded = 0;
  u64 frames_punted = 0, bytes_punted = 0;
};

class tracking {
 public:
  using farewell = std::function<void(const connection&)>;

  explicit tracking(farewell goes) : goes_{std::move(goes)} {}

  struct seen {
    connection* of = nullptr;  // until the next call of `see` or `expire`
    u8 direction = 0;          // 0: from the opener
    bool begins = false;       // the capture's first frame of it
    bool first_of_direction = false;
  };
  // A frame with this tuple. Time never goes back.
  seen see(const sim::wide_tuple& tuple, sim::tcp_flags flags, instant now);

  // Frames with `tuple` too are the connection's: how its replies arrive where its opener is translated.
  void also_arrives_as(const connection& of, const sim::wide_tuple& tuple);

  // By any tuple that one of its frames arrives with; null: no living connection's.
  [[nodiscard]] connection* find(const sim::wide_tuple& tuple);

  // Says farewell to what has been silent for too long.
  void expire(instant now);
  // Says farewell to all of them, oldest first.
  void finish();

  [[nodiscard]] usize living() const noexcept { return by_tuple_.size(); }

 private:
  struct slot {
    connection of;
    instant looked_at_by;   // its entry in deadlines_
    u64 number = 0;         // in order of appearance
    bool lives = false;
    std::optional<sim::wide_tuple> alias;
  };

  [[nodiscard]] u32 place_of(const sim::wide_tuple& tuple) const;
  [[nodiscard]] u32 place_by_alias(const sim::wide_tuple& tuple) const;
  u32 begin(const sim::wide_tuple& tuple, sim::tcp_flags flags, instant now);
  void end(u32 index);
  void keep_until(u32 index, instant until);

  farewell goes_;
  sim::pool<slot> slots_;
  u64 begun_ = 0;
  sim::place_index by_tuple_;  // either way round
  sim::place_index by_alias_;
  std::set<std::pair<u64, u32>> deadlines_;  // one each; may be earlier than it need be, never later
};

}  // namespace octep::tools

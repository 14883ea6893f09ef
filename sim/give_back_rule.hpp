// The give-back rule: when a device stops forwarding a TCP connection because of its frames (system.md 9, coprocessor.md).
//
//   direction, acknowledgement, end and window as the last ACK-bearing frame's ─▶ one more in a row
//   anything else, or the other direction                                     ─▶ the first of another row
//   the row is as long as the device bears ─▶ given back, its counter stands at the device's limit
//   FIN, SYN or RST                        ─▶ given back, its counter stands where it stood
//
// What it is: the rule's two numbers, by device, and what a device remembers of one connection.
// What it refuses: a clock. The rule counts frames, however far apart. A frame without ACK and a segment without numbers
// are passed over: they neither lengthen nor end a row.
// What that buys: a host that revives what ended, or takes out what could go on, is told apart by the counter alone.
#pragma once

#include <octep/base.hpp>
#include <octep/device.hpp>

#include "sim/tcp_flags.hpp"

namespace octep::sim {

struct give_back_rule {
  u8 at_frame = 0;  // of a row, its first counted: the twelfth, the tenth; 0: no rule
  u8 limit = 0;     // where the counter stands then

  [[nodiscard]] static constexpr give_back_rule of(const device_facts& d) noexcept {
    return {d.gives_back_at, d.identical_limit};
  }
  [[nodiscard]] constexpr bool on() const noexcept { return at_frame != 0; }
};

enum class tcp_finding : u8 {
  goes_on,
  repeats,  // given back: the row is too long
  ends,     // given back: FIN, SYN or RST
};

// Of one connection; blank again with each create of it.
class identical_frames {
 public:
  // What a frame of `direction` does. `counter`: the entry's, of the frames that repeated the row's first, up to the limit.
  [[nodiscard]] constexpr tcp_finding meet(const give_back_rule& rule, u8 direction, const tcp_segment& s,
                                           u8& counter) noexcept {
    if (s.flags.fin() || s.flags.syn() || s.flags.rst()) return tcp_finding::ends;
    if (!s.flags.ack() || !s.has_numbers) return tcp_finding::goes_on;
    const said now{direction, s.acknowledgement, s.end(), s.window};
    in_a_row_ = in_a_row_ != 0 && now == last_ ? static_cast<u8>(in_a_row_ + 1) : u8{1};
    last_ = now;
    if (in_a_row_ >= rule.at_frame) {
      counter = rule.limit;
      return tcp_finding::repeats;
    }
    counter = least(static_cast<u8>(in_a_row_ - 1), rule.limit);
    return tcp_finding::goes_on;
  }

 private:
  struct said {
    u8 direction = 0;
    u32 acknowledgement = 0;
    u32 end = 0;
    u32 window = 0;
    [[nodiscard]] constexpr bool operator==(const said&) const noexcept = default;
  };
  said last_;
  u8 in_a_row_ = 0;  // below at_frame, or the connection was given back
};

}  // namespace octep::sim

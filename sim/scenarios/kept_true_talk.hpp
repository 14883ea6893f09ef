// One TCP connection, segment by segment, for rows that send by hand.
//
// What it is: sequence numbers that climb and acknowledgements of all that was sent, so that a strict firewall passes
// every segment. What it refuses: reacting. A row says what is sent and when.
#pragma once

#include "sim/scenarios/rig.hpp"

namespace octep::sim::scenarios {

class talk {
 public:
  talk(rig& r, u16 port) : box_{&r.box()}, opener_{of(port)} {}

  [[nodiscard]] const tuple4& opener() const noexcept { return opener_; }

  // SYN, SYN and ACK, ACK. The next segment may be sent from `now` + 2 ms on.
  void open(instant now) {
    (void)send(0, tcp_flags::syn_bit, 0, now);
    (void)send(1, tcp_flags::syn_bit | tcp_flags::ack_bit, 0, now + answer_after);
    (void)send(0, tcp_flags::ack_bit, 0, now + answer_after + answer_after);
  }
  arrival_verdict data(u32 direction, instant now) { return send(direction, tcp_flags::ack_bit, full_segment, now); }
  // Says what this direction said last, if nothing new came from the other.
  arrival_verdict ack(u32 direction, instant now) { return send(direction, tcp_flags::ack_bit, 0, now); }

 private:
  static constexpr u32 full_segment = 1'448;
  static constexpr u32 window = 4'000'000;

  [[nodiscard]] static tuple4 of(u16 port) {
    const u32 ports = join_ports(port_word(port), port_word(5'201));
    return tuple4::make(u32{20} << 24 | 0x01'a8'c0, u32{7} << 24 | 0x64'33'c6, ports, protocol::tcp);
  }

  arrival_verdict send(u32 direction, u8 flags, u32 length, instant now) {
    frame_facts f{};
    f.why = reason::none;
    f.which = family::ipv4;
    f.v4 = direction == 0 ? opener_ : reverse(opener_);
    const tcp_flags said{flags};
    f.closing = said.fin() || said.rst();
    f.syn = said.opens();
    const tcp_segment s{said, true, next_[direction], length, next_[1 - direction], window};
    next_[direction] += length;
    return box_->arrive(direction == 0 ? 1 : 2, f, 54 + length, s, now);
  }

  appliance* box_;
  tuple4 opener_;
  u32 next_[2] = {1'000'000, 2'000'000};
};

}  // namespace octep::sim::scenarios

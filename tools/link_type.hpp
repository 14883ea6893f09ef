// What stands in front of the IP header in a capture, and how to get past it.
//
// What it is: the six link types that octep reads, and one function that asks the core's parser behind each of them.
// What it refuses: every other link type. A wrong guess about where IP begins makes a report that looks true.
// Concurrency: functions of their arguments.
#pragma once

#include <octep/frame.hpp>
#include <octep/frame_view.hpp>
#include <octep/ticks.hpp>

#include <optional>

namespace octep::tools {

enum class link_type : u8 {
  ethernet,  // with any 802.1Q and 802.1ad tags
  raw,       // an IPv4 or IPv6 header at once
  cooked_v1,  // Linux, "any" device
  cooked_v2,
  loopback,  // BSD: an address family in the order of the machine that captured (NULL), or in network order (LOOP)
};

// From libpcap's DLT value. Nothing: octep does not read it.
[[nodiscard]] std::optional<link_type> link_type_of(int datalink) noexcept;

// One record of a capture. The bytes belong to the capture, until its next record is read.
struct captured_frame {
  frame_view view;  // what was kept of the frame, and its length on the wire, both with the link header
  instant at;       // since the first record's stamp; never earlier than the record before
  link_type link = link_type::ethernet;
};

// The core's verdict on what is behind the link header. What the link layer alone knows, that a frame goes to a group, is
// asked here.
void classify(const captured_frame& frame, frame_facts& facts) noexcept;

// Who put the frame on this link: the hardware address as a number. Nothing: the link has none, or it was cut off.
[[nodiscard]] std::optional<u64> link_source(const captured_frame& frame) noexcept;

// Whether no wire carried it, so that no length is too long for one: BSD's link, or Linux's Ethernet addresses of zeros.
[[nodiscard]] bool is_loopback(const captured_frame& frame) noexcept;

}  // namespace octep::tools

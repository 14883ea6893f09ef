#include "tools/blind_spots.hpp"

#include "tools/text.hpp"
#include "tools/tuple_text.hpp"

#include <octep/frame.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace octep::tools {
namespace {

// Ethernet's payload, and the longest that switches carry under the name of jumbo frames.
constexpr u32 ordinary_packet = 1'500, jumbo_packet = 9'216;
// Of frames without an IPv4 identification, one in so many that is there twice may truly have been sent again: a repair on a fast
// network, an application that says all twice. A capture that sees frames twice sees more of them so.
constexpr u64 one_in_so_many = 16;
// No byte that is sent again is further behind than this (RFC 7323, 2.2), so what seems to be went on by the rest of 4 GB.
constexpr u32 largest_window = 1U << 30;
// Of frames that no wire could carry within a microsecond.
constexpr u64 too_many_at_once = 16;
// What a sender may have on its way at the start is below this, so more without an answer was answered out of sight.
constexpr u64 first_window = 65'536;

u32 packet_length(const observed_frame& seen) {
  const u8* const ip = seen.frame.view.bytes + seen.facts.network_offset;
  return seen.facts.which == family::ipv4 ? u32{load_be16(ip + 2)} : ipv6_header_length + load_be16(ip + 4);
}

// The option of a SYN that says how long a segment may be (RFC 9293, 3.2); 0: not there, or not at hand.
u16 longest_segment_told(const observed_frame& seen) {
  constexpr u8 end_of_options = 0, no_operation = 1, maximum_segment_size = 2;
  const u32 at = sim::tcp_header_at(seen.frame.view, seen.facts);
  const u8* const bytes = seen.frame.view.bytes;
  const u32 end = std::min(at + 4U * (bytes[at + 12] >> 4), seen.frame.view.at_hand());
  for (u32 o = at + tcp_header_length; o + 1 < end && bytes[o] != end_of_options;) {
    if (bytes[o] == no_operation) {
      ++o;
      continue;
    }
    if (bytes[o] == maximum_segment_size) return o + 4 <= end ? load_be16(bytes + o + 2) : u16{0};
    o += std::max<u32>(bytes[o + 1], 2);
  }
  return 0;
}

void follow(tcp_stream& s, const observed_frame& seen) {
  const sim::tcp_segment& tcp = seen.tcp;
  if (tcp.flags.rst()) return;  // its numbers need not be anybody's
  if (tcp.flags.syn()) s.longest_segment = longest_segment_told(seen);
  // Another beginning: the ports are used again, or an opener that nobody answered tries anew.
  if (tcp.flags.syn() && s.known && s.first != tcp.sequence) s.known = s.acknowledges = false;
  if (!s.known) s.first = tcp.sequence;
  s.answers_syn = s.answers_syn || (tcp.flags.syn() && tcp.flags.ack());
  const u32 end = end_of(tcp);
  const u32 gap = tcp.sequence - s.next;
  const bool goes_on = s.known && gap < static_cast<u32>(0 - largest_window);
  if (goes_on && gap != 0) {
    s.skipped += gap;
    s.skipped_until = tcp.sequence;
  } else if (s.known && !goes_on) {
    s.filled += tcp.length;
  }
  if (!s.known || goes_on || sim::ahead(end, s.next) > 0) s.next = end;
  s.known = true;
  s.shown += tcp.length;
  if (!tcp.flags.ack()) return;
  if (s.acknowledges && sim::ahead(tcp.acknowledgement, s.acknowledged) > 0) s.progress = true;
  s.acknowledged = tcp.acknowledgement;
  s.acknowledges = true;
}

// Bytes that nobody saw, now or later, and that the peer has all the same.
u64 lost_of(const tcp_stream& s, const tcp_stream& peer) {
  if (s.skipped <= s.filled || !peer.acknowledges) return 0;
  return sim::ahead(peer.acknowledged, s.skipped_until) >= 0 ? s.skipped - s.filled : 0;
}

}  // namespace

void blind_spots::sighted(const sighting& how) {
  const bool again = how.is == sighting::kind::again;
  (how.numbered ? again_ : unnumbered_again_) += again ? 1 : 0;
  unnumbered_ += how.numbered ? 0 : 1;
  if (how.is != sighting::kind::translated) return;
  ++translated_;
  const std::string from = how.outside.which == family::ipv4 ? address_text(how.outside.source[0]) : address_text(how.outside.source);
  if (outside_.contains(from) || outside_.size() < most_outside) ++outside_[from];
}

void blind_spots::see(const observed_frame& seen, connection* of, u8 direction) {
  const bool cut = seen.frame.view.contiguous < seen.frame.view.wire_length;
  short_snaps_ += seen.facts.why == reason::truncated && cut ? 1 : 0;
  const bool tcp = of != nullptr && of->from_opener.proto == protocol::tcp;
  if (tcp) follow(of->streams[direction], seen);
  const u32 length = seen.candidate() ? packet_length(seen) : 0;
  const u16 takes = tcp ? of->streams[1 - direction].longest_segment : u16{0};
  const u32 on_wire = seen.frame.view.wire_length;
  const bool too_long = takes != 0 ? seen.tcp.length > takes : length > jumbo_packet;
  const bool without_length = seen.facts.why == reason::superframe && on_wire > ordinary_packet;
  if ((too_long || without_length) && !is_loopback(seen.frame)) {
    ++merged_;
    merged_longest_ = std::max<u64>(merged_longest_, on_wire);
  } else if (length > ordinary_packet && takes == 0 && !is_loopback(seen.frame)) {
    ++long_;
  }
}

void blind_spots::over(const connection& c) {
  if (c.from_opener.proto != protocol::tcp) return;
  const tcp_stream &a = c.streams[0], &b = c.streams[1];
  no_syn_ += c.picked_up ? 1 : 0;
  if (c.heard[0] != c.heard[1]) {
    const tcp_stream& only = c.heard[0] ? a : b;
    one_way_ += only.progress || only.answers_syn || only.shown > first_window ? 1 : 0;
  }
  const u64 skipped = a.skipped + b.skipped;
  if (skipped >= first_window && skipped > a.shown + b.shown) {
    ++skipping_;
    skipped_bytes_ += skipped;
  } else if (const u64 lost = lost_of(a, b) + lost_of(b, a); lost != 0) {
    ++losing_;
    lost_bytes_ += lost;
  }
}

std::vector<blind_spot> blind_spots::found(const clock_marks& clock) const {
  std::vector<blind_spot> all;
  const auto add = [&all](const char* what, u64 n, std::string sentence) {
    if (n != 0) all.push_back({what, n, std::move(sentence)});
  };
  const auto counted = [](u64 n, const char* one, const char* more) {
    return n == 1 ? std::string{"One "} + one : fmt::format("{} {}", grouped(n), more);
  };

  add("short_snap", short_snaps_,
      counted(short_snaps_, "frame was captured without its whole headers: its", "frames were captured without their whole headers: their") +
          " connection is not known. A snap length of 128 keeps them (tcpdump -s 128).");
  add("superframe", merged_,
      counted(merged_, "frame is", "frames are") +
          fmt::format(" longer than the wire carries, up to {} bytes: the host had put several together, or not yet cut them. There "
                      "were more frames than are counted, and bytes of their headers. Switch it off to capture: on Linux `ethtool -K IF gro "
                      "off lro off gso off tso off`, on FreeBSD `ifconfig IF -lro -tso`.",
                      grouped(merged_longest_)));
  add("long_frame", long_,
      counted(long_, "frame carries", "frames carry") +
          " more than 1,500 bytes, and nothing says whether as jumbo frames or as several that the host put together.");
  const bool more_than_chance = unnumbered_again_ * one_in_so_many > unnumbered_;
  const u64 again = again_ + (again_ != 0 || more_than_chance ? unnumbered_again_ : 0);
  add("seen_twice", again,
      counted(again, "frame is", "frames are") +
          " the same packet once more within a second: the capture saw more than one interface, or a mirror port told both its ways. "
          "Such frames count twice. Capture on one interface.");
  if (translated_ != 0) {
    const auto most = std::max_element(outside_.begin(), outside_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    add("nat_sides", translated_,
        counted(translated_, "frame of an opener is", "frames of openers are") +
            fmt::format(" another one behind a NAT, most from {0}: both its sides are here, and a connection counts twice. `--nat-of {0}` "
                        "pairs them.",
                        most->first));
  }
  add("no_syn", no_syn_,
      counted(no_syn_, "TCP connection was", "TCP connections were") +
          fmt::format(" open before the capture's first frame of {0}: who opened {0} is a guess, and time to made begins with that frame.",
                      no_syn_ == 1 ? "it" : "them"));
  add("one_way", one_way_,
      counted(one_way_, "TCP connection is", "TCP connections are") +
          " here in one direction only, which answers what is not here. Hardware is told both directions at once, so a box that sees "
          "both could make what this replay cannot.");
  add("clock_back", clock.went_back,
      counted(clock.went_back, "frame is stamped earlier than the one before it, and counts at that one's time.",
              "frames are stamped earlier than one before them, and count at that one's time.") +
          " Two clocks or several queues wrote this capture, so what is close together may stand in another order than it came.");
  add("no_time", clock.without_time < too_many_at_once ? 0 : clock.without_time,
      fmt::format("All {} frames have the same stamp, so no poll and no run came between them: the figures say nothing. Capture with "
                  "stamps (pcap, or pcapng's enhanced packet blocks).",
                  grouped(clock.without_time)));
  add("clock_set", clock.set_back,
      fmt::format("The clock was set back {}, by {:.3f} s{}, or a record was stamped ahead of its time: here time goes on from there. What "
                  "fell into the gap is too close together, and what stands on either side of it is not as far apart as it seems.",
                  clock.set_back == 1 ? "once" : fmt::format("{} times", grouped(clock.set_back)), clock.most_seconds,
                  clock.set_back == 1 ? "" : " at the most"));
  add("offloaded", skipping_,
      counted(skipping_, "TCP connection goes", "TCP connections go") +
          fmt::format(" on by {} bytes that are not here, more than are: the capture lost them, or a box that already offloads carried "
                      "them past it. Switch its offload off to capture, or capture in front of it.",
                      grouped(skipped_bytes_)));
  add("lost", losing_,
      counted(losing_, "TCP connection goes", "TCP connections go") +
          fmt::format(" on by {} bytes that are not here although their receiver had them: the capture lost their frames, and every figure "
                      "lacks them. tcpdump tells at its end how many the kernel dropped; a larger buffer (-B) and a short snap length lose fewer.",
                      grouped(lost_bytes_)));
  return all;
}

}  // namespace octep::tools

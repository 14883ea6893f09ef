#include "tools/sightings.hpp"

#include <octep/frame.hpp>

#include <algorithm>
#include <cstdlib>

namespace octep::tools {
namespace {

constexpr microseconds longest{1'000'000};
// Sooner than any TCP repeats itself: its least timer is hundreds of milliseconds, and a repair needs a round trip.
constexpr microseconds too_soon_to_repeat{1'000};
constexpr u32 payload_looked_at = 16;

struct packet {
  u32 length = 0;
  u16 id = 0;  // 0: none
  u8 ttl = 0;
};

packet packet_of(const observed_frame& seen) {
  const u8* const ip = seen.frame.view.bytes + seen.facts.network_offset;
  if (seen.facts.which == family::ipv4) return {load_be16(ip + 2), load_be16(ip + 4), ip[8]};
  return {ipv6_header_length + load_be16(ip + 4), 0, ip[7]};
}

// What is behind the ports of UDP or an echo's identifier, as far as it is at hand. Extension headers, which nobody changes on the
// way, may stand in front of it.
u64 payload_print(const observed_frame& seen, u32 packet_length) {
  const frame_view& view = seen.frame.view;
  const bool v4 = seen.facts.which == family::ipv4;
  const u32 begin = seen.facts.network_offset;
  // Behind a checksum, which a NAT does change: UDP has it last, an echo's sequence number follows its identifier.
  u32 at = begin + (v4 ? 4U * (view.bytes[begin] & 0x0fU) : ipv6_header_length);
  at += is_echo(seen.tuple.proto) ? 6 : udp_header_length;
  const u32 end = std::min({view.at_hand(), begin + packet_length, at + payload_looked_at});
  u64 h = 0;
  for (; at < end; ++at) h = sim::scatter(h, view.bytes[at]);
  return h;
}

u64 print_of(const observed_frame& seen, const sim::wide_tuple& t, const packet& p) {
  // An echo's one word is its identifier, which a NAT may change.
  const u64 port = is_echo(t.proto) ? 0 : t.destination_word();
  u64 h = sim::scatter(u64{p.length} << 32 | port << 8 | static_cast<u8>(t.proto), t.destination[0]);
  if (t.which == family::ipv6) {
    h = sim::scatter(h, u64{t.destination[1]} << 32 | t.destination[2]);
    h = sim::scatter(h, t.destination[3]);
  }
  if (t.proto != protocol::tcp) return sim::scatter(sim::scatter(h, p.id), payload_print(seen, p.length));
  h = sim::scatter(h, u64{seen.tcp.sequence} << 32 | seen.tcp.acknowledgement);
  return sim::scatter(h, u64{seen.tcp.window} << 8 | seen.tcp.flags.bits);
}

bool hops_apart(u8 a, u8 b, int hops) { return std::abs(int{a} - int{b}) == hops; }

}  // namespace

void sightings::look(const observed_frame& seen, sighting& said) {
  const sim::wide_tuple& tuple = seen.tuple;
  const packet p = packet_of(seen);
  const u64 print = print_of(seen, tuple, p);
  entry& e = entries_[print % places];
  said.is = sighting::kind::first;
  if (e.used && e.print == print && e.tuple.destination == tuple.destination && seen.frame.at.since(e.at) <= longest) {
    const bool says_something = tuple.proto != protocol::tcp || seen.tcp.length != 0 || seen.tcp.flags.syn() || seen.tcp.flags.fin();
    const bool same = p.id == e.id && (p.id != 0 || (says_something && seen.frame.at.since(e.at) <= too_soon_to_repeat));
    const bool from_same = tuple.source == e.tuple.source && tuple.ports == e.tuple.ports;
    if (from_same && same && (p.ttl == e.ttl || hops_apart(p.ttl, e.ttl, 1)))
      said.is = sighting::kind::again;
    else if (tuple.source != e.tuple.source && hops_apart(p.ttl, e.ttl, 1))
      said = {sighting::kind::translated, p.ttl < e.ttl ? tuple : e.tuple};
  }
  e = {print, tuple, seen.frame.at, p.id, p.ttl, true};
}

}  // namespace octep::tools

#include "tools/sightings.hpp"

#include <octep/frame.hpp>

#include <cstdlib>
#include <optional>

namespace octep::tools {
namespace {

constexpr microseconds longest{1'000'000};
// Sooner than any TCP repeats itself: its least timer is hundreds of milliseconds, and a repair needs a round trip.
constexpr microseconds too_soon_to_repeat{1'000};
// What a box may take to translate and forward.
constexpr microseconds longest_in_a_box{10'000};

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

// Sixteen-bit words, as the Internet checksum adds them (RFC 1071): to be folded.
u64 words_of(u32 address) { return (address & 0xffff) + (address >> 16); }
u64 words_of(const address6& address) { return words_of(address[0]) + words_of(address[1]) + words_of(address[2]) + words_of(address[3]); }
u16 folded(u64 words) {
  while (words > 0xffff) words = (words & 0xffff) + (words >> 16);
  return static_cast<u16>(words == 0xffff ? 0 : words);  // both are zero
}

// What UDP's or an echo's checksum says of all behind the header, whatever a source NAT makes of the header. Nothing: there is no
// checksum, or it is one that the port was to finish, which says nothing of the payload.
//
// The sum of what is summed is the checksum's complement; less what a NAT changes, and less the rest of the addresses, which are the
// print's already. Words stay in the order of the wire: a sum's order does not matter.
std::optional<u16> payload_sum(const observed_frame& seen, u32 packet_length) {
  const u8* const ip = seen.frame.view.bytes + seen.facts.network_offset;
  const bool v4 = seen.facts.which == family::ipv4;
  const u32 header = v4 ? 4U * (ip[0] & 0x0fU) : ipv6_header_length;
  if (!v4 && ip[6] != static_cast<u8>(seen.tuple.proto)) return {};  // extensions stand between
  const u8* const p = ip + header;
  const bool echo = is_echo(seen.tuple.proto);
  const u16 checksum = load_le16(p + (echo ? 2 : 6));
  if (checksum == 0) return {};
  const u64 addresses = v4 ? words_of(seen.facts.v4.source) + words_of(seen.facts.v4.destination)
                           : words_of(seen.facts.v6.source) + words_of(seen.facts.v6.destination);
  const u64 pseudo = addresses + swap_bytes(static_cast<u16>(packet_length - header)) + swap_bytes(static_cast<u16>(seen.tuple.proto));
  if (!echo && folded(checksum) == folded(pseudo)) return {};
  // ICMP for IPv4 sums no addresses.
  const u64 changed = echo ? load_le16(p + 4) + (v4 ? 0 : pseudo) : load_le16(p) + pseudo;
  return folded(u64{static_cast<u16>(~checksum)} + static_cast<u16>(~folded(changed)));
}

u64 print_of(const observed_frame& seen, const sim::wide_tuple& t, const packet& p, std::optional<u16> sum) {
  // An echo's one word is its identifier, which a NAT may change.
  const u64 port = is_echo(t.proto) ? 0 : t.destination_word();
  u64 h = sim::scatter(u64{p.length} << 32 | port << 8 | static_cast<u8>(t.proto), t.destination[0]);
  if (t.which == family::ipv6) {
    h = sim::scatter(h, u64{t.destination[1]} << 32 | t.destination[2]);
    h = sim::scatter(h, t.destination[3]);
  }
  if (t.proto != protocol::tcp) return sim::scatter(h, u64{sum ? 1U : 0U} << 32 | u64{p.id} << 16 | sum.value_or(0));
  h = sim::scatter(h, u64{seen.tcp.sequence} << 32 | seen.tcp.acknowledgement);
  return sim::scatter(h, u64{seen.tcp.window} << 8 | seen.tcp.flags.bits);
}

bool hops_apart(u8 a, u8 b, int hops) { return std::abs(int{a} - int{b}) == hops; }

}  // namespace

void sightings::look(const observed_frame& seen, sighting& said) {
  const sim::wide_tuple& tuple = seen.tuple;
  const packet p = packet_of(seen);
  const bool tcp = tuple.proto == protocol::tcp;
  const std::optional<u16> sum = tcp ? std::nullopt : payload_sum(seen, p.length);
  const u64 print = print_of(seen, tuple, p, sum);
  entry& e = entries_[print % entries_.size()];
  said.is = sighting::kind::first;
  said.numbered = p.id != 0;
  const microseconds since = seen.frame.at.since(e.at);
  if (e.used && e.print == print && e.tuple.destination == tuple.destination && since <= longest) {
    const bool says_something = tcp ? seen.tcp.length != 0 || seen.tcp.flags.syn() || seen.tcp.flags.fin() : sum.has_value();
    const bool same = p.id == e.id && (p.id != 0 || (says_something && since <= too_soon_to_repeat));
    // TCP's numbers are as good as an identification, which some boxes write anew; a sum of sixteen bits is not.
    const bool behind = tcp || (p.id == e.id && (p.id != 0 || (sum && since <= longest_in_a_box)));
    const bool from_same = tuple.source == e.tuple.source && tuple.ports == e.tuple.ports;
    if (from_same && same && (p.ttl == e.ttl || hops_apart(p.ttl, e.ttl, 1)))
      said.is = sighting::kind::again;
    else if (tuple.source != e.tuple.source && behind && hops_apart(p.ttl, e.ttl, 1))
      said = {sighting::kind::translated, said.numbered, p.ttl < e.ttl ? tuple : e.tuple};
  }
  e = {print, tuple, seen.frame.at, p.id, p.ttl, true};
}

}  // namespace octep::tools

#include "sim/scenarios/tunnels.hpp"

#include <map>
#include <set>
#include <vector>

#include "sim/box.hpp"
#include "sim/scenarios/rig.hpp"

namespace octep::sim::scenarios {

namespace {

using default_box = box<replay_policies<rank_and_lot, default_policies::geometry.slots, default_policies::geometry.places>>;

constexpr u32 tunnel = 1;
constexpr u32 elsewhere = 2;  // a tunnel that no traffic takes
constexpr u16 inner_port = 1;
constexpr u16 outer_port = 2;
constexpr u32 full_frame = 54 + 1'448;

// A box with a tunnel behind its outer port, covered and keyed.
struct gateway {
  explicit gateway(u32 level, u64 seed, u32 associations = 32) : all{options(seed, associations)} {
    way_out outer;
    outer.kind = way_kind::front;
    outer.ports = {outer_port};
    outer.tunnel = tunnel;
    all.ways.add({family::ipv4, widen(address4{10U}), 8}, outer);
    way_out inner;
    inner.kind = way_kind::front;
    inner.ports = {inner_port};
    all.ways.add({family::ipv4, widen(address4{0x01'a8'c0U}), 24}, inner);
    all.on_encrypted = [this](u32 spi, u64 number, const wide_tuple&) {
      twice += number <= last[spi];
      last[spi] = number;
    };
    (void)all.set(setting::ipsec_flows, level);
    all.advance({1'000'000});
  }
  static appliance_options options(u64 seed, u32 associations) {
    appliance_options o;
    o.seed = seed;
    o.associations = associations;
    return o;
  }
  void key() {
    out = all.add_association(tunnel, true);
    in = all.add_association(tunnel, false);
    all.cover(tunnel, true);
  }

  // 192.168.1.20 to 10.0.0.7, a segment or a datagram. What comes back is decrypted while the tunnel is up.
  arrival_verdict send(const tuple4& opener, u32 direction, u8 flags, u32 length, instant now, tcp_segment s = {}) {
    frame_facts f{};
    f.why = reason::none;
    f.v4 = direction == 0 ? opener : reverse(opener);
    s.flags = tcp_flags{flags};
    f.syn = s.flags.opens();
    const bool by_tunnel = direction == 1 && all.kernel.covers(tunnel);
    return all.arrive_by(by_tunnel ? in : 0, direction == 0 ? inner_port : outer_port, f, 54 + length, s, now);
  }

  default_box all;
  u32 out = 0;
  u32 in = 0;
  std::map<u32, u64> last;  // sequence number, by the kernel's association
  u64 twice = 0;
};

[[nodiscard]] tuple4 flow_of(u16 port, protocol proto) {
  return tuple4::make(u32{20} << 24 | 0x01'a8'c0, u32{7} << 24 | 10U, join_ports(port_word(port), port_word(5'201)), proto);
}

// One upload: segments, each second one acknowledged.
class upload {
 public:
  upload(gateway& g, u16 port) : g_{&g}, opener_{flow_of(port, protocol::tcp)} {}

  void open(instant now) {
    (void)send(0, tcp_flags::syn_bit, 0, now);
    (void)send(1, tcp_flags::syn_bit | tcp_flags::ack_bit, 0, now + microseconds{200});
    (void)send(0, tcp_flags::ack_bit, 0, now + microseconds{400});
  }
  void segment(instant now) {
    (void)send(0, tcp_flags::ack_bit, 1'448, now);
    if (++sent_ % 2 == 0) (void)send(1, tcp_flags::ack_bit, 0, now);
  }

 private:
  arrival_verdict send(u32 direction, u8 flags, u32 length, instant now) {
    const tcp_segment s{tcp_flags{flags}, true, next_[direction], length, next_[1 - direction], 4'000'000};
    next_[direction] += length;
    return g_->send(opener_, direction, flags, length, now, s);
  }

  gateway* g_;
  tuple4 opener_;
  u32 next_[2] = {1'000'000, 2'000'000};
  u64 sent_ = 0;
};

constexpr u32 uploads = 4;
// record.md R20: 934 Mbit/s of four streams: 12.9 us a segment, one after the other.
constexpr microseconds segment_every{13};

// From `from` on, until `to`; each in its turn.
void upload_until(std::vector<upload>& all, instant from, instant to) {
  usize turn = 0;
  for (instant now = from; now < to; now = now + segment_every) all[turn++ % all.size()].segment(now);
}

}  // namespace

rekeyed rekey_under_uploads(u32 level, u64 seed) {
  gateway g{level, seed};
  const u32 unnamed = g.all.add_association(elsewhere, true);
  g.key();
  rekeyed out;
  std::vector<upload> streams;
  for (u16 n = 0; n < uploads; ++n) streams.emplace_back(g, static_cast<u16>(40'000 + n));
  g.all.on_event = [&](const event& e) {
    out.made += e.kind == event_kind::made;
    out.moved += e.kind == event_kind::repointed;
    out.taken_out += e.kind == event_kind::taken_out;
  };
  instant now{1'500'000};
  for (upload& s : streams) {
    s.open(now);
    now = now + from_ms(1);
  }
  const instant rekey = g.all.events.now() + from_s(2);
  upload_until(streams, now, rekey);
  const u32 old = g.out;
  const u32 old_in = g.in;
  const u64 handed_before = g.all.handed_over();
  g.out = g.all.add_association(tunnel, true);
  g.in = g.all.add_association(tunnel, false);
  upload_until(streams, rekey, rekey + from_s(1));
  out.a_second_after = g.all.kernel.find(g.out)->sequence;
  g.all.remove_association(old);
  g.all.remove_association(old_in);
  upload_until(streams, rekey + from_s(1), rekey + from_s(9));
  g.all.advance(rekey + from_s(12));
  out.counter = g.all.kernel.find(g.out)->sequence;
  out.by_engine = g.last[g.out];
  out.by_host = g.all.handed_over() - handed_before;
  out.unnamed = g.all.kernel.find(unnamed)->sequence;
  out.twice = g.twice;
  return out;
}

index_reused reused_by_an_upload(u64 seed) {
  gateway g{2, seed, 2};
  g.key();
  index_reused out;
  // Its first use: 13.9 and 23.2 GB, of full frames.
  const handle first_out = g.all.core().protects().of_kernel(g.out);
  const handle first_in = g.all.core().protects().of_kernel(g.in);
  instant now{2'000'000};
  g.all.advance(now);
  for (u64 n = 0; n < 13'900'000'000 / full_frame; ++n) (void)g.all.device.encrypt(first_out, full_frame, now);
  for (u64 n = 0; n < 23'200'000'000 / full_frame; ++n) (void)g.all.device.decrypt(first_in, full_frame, now);
  g.all.advance({42'000'000});  // no faster than its line
  const u32 old_out = g.out;
  const u32 old_in = g.in;
  g.all.remove_association(old_out);
  g.all.remove_association(old_in);
  g.all.advance({44'000'000});
  g.key();
  g.all.advance({45'000'000});
  const handle reused_out = g.all.core().protects().of_kernel(g.out);
  const handle reused_in = g.all.core().protects().of_kernel(g.in);
  out.out_before = g.all.device.ipsec().truth(reused_out.index).bytes;
  out.in_before = g.all.device.ipsec().truth(reused_in.index).bytes;
  std::vector<upload> one;
  one.emplace_back(g, u16{40'000});
  now = {45'500'000};
  one.front().open(now);
  upload_until(one, now + from_ms(1), now + from_s(5));
  g.all.advance(now + from_s(9));
  out.out_told = g.all.kernel.find(g.out)->lifetime.bytes;
  out.in_told = g.all.kernel.find(g.in)->lifetime.bytes;
  out.out_carried = g.all.device.ipsec().truth(reused_out.index).bytes - out.out_before;
  out.in_carried = g.all.device.ipsec().truth(reused_in.index).bytes - out.in_before;
  out.rebased = g.all.core().counters().value(pass_counter::stat_rebase);
  return out;
}

tunnel_down_and_up down_and_up(u64 seed) {
  gateway g{2, seed};
  g.key();
  tunnel_down_and_up out;
  g.all.on_event = [&](const event& e) { out.made += e.kind == event_kind::made; };
  const tuple4 opener = flow_of(50'000, protocol::udp);
  u64 encrypted = 0;
  g.all.on_encrypted = [&](u32, u64, const wide_tuple& arrived) { encrypted += arrived == wide_tuple{opener}; };
  const auto left = [&g] {
    const device_counters& n = g.all.device.counters();
    return n[device_counter::from_kn] + n[device_counter::from_wire_to_wire] + n[device_counter::from_wire_to_ipsec_encr];
  };
  constexpr u32 requests = 3'000;
  instant now{1'500'000};
  for (u32 n = 0; n < requests; ++n, now = now + from_ms(10)) {
    if (n == requests / 3) {
      g.all.cover(tunnel, false);
      g.all.remove_association(g.out);
      g.all.remove_association(g.in);
    }
    if (n == requests / 3 * 2) g.key();
    const bool down = n >= requests / 3 && n < requests / 3 * 2;
    const u64 before = left();
    const u64 encrypted_before = encrypted;
    const arrival_verdict asked = g.send(opener, 0, 0, 64, now);
    if (left() == before) continue;  // nobody answers what was lost
    const bool was_encrypted = encrypted != encrypted_before;
    out.leaked += !down && !was_encrypted;
    out.plain_in_hardware += down && asked.forwarded && !was_encrypted;
    out.protected_in_hardware += n >= requests / 3 * 2 && asked.forwarded && was_encrypted;
    // What its peer cannot decrypt, since the association is gone, it does not answer.
    if (down && was_encrypted) continue;
    (void)g.send(opener, 1, 0, 64, now + from_ms(2));
    ++out.answered;
  }
  return out;
}

}  // namespace octep::sim::scenarios

// An engine with a world that costs nothing, and frames for it.
//
// The firewall knows every tuple while `hold` makes connections and none afterwards, the far side does whatever it is told
// at once, and nobody listens to events: what is measured is the engine.
#pragma once

#include <octep/host/vector_tags.hpp>
#include <octep/octep.hpp>

#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/rivals.hpp"

namespace octep::bench {

struct frame_bytes {
  u8 bytes[64];
};

// Ethernet, IPv4, TCP with ACK or UDP: what a busy link punts.
[[nodiscard]] inline frame_bytes frame_of(const tuple4& t) {
  frame_bytes f{};
  u8* const b = f.bytes;
  b[0] = b[6] = 2;
  store_be16(b + 12, 0x0800);
  b[14] = 0x45;
  store_be16(b + 16, 50);
  b[22] = 64;
  b[23] = static_cast<u8>(t.proto);
  store_le32(b + 26, t.source & ~0x80U);  // a first byte below 128: nobody's group, and still all different
  store_le32(b + 30, t.destination & ~0x80U);
  store_le16(b + 34, t.source_word());
  store_le16(b + 36, t.destination_word());
  if (t.proto == protocol::udp) {
    store_be16(b + 38, 30);
  } else {
    b[46] = 0x50;
    b[47] = 0x10;
  }
  return f;
}

struct bench_world {
  struct {
    bool knows = false;
    firewall_answer<tuple4> find(const tuple4& t, instant) const noexcept {
      firewall_answer<tuple4> a;
      if (!knows) return a;
      a.found = true;
      a.proto = t.proto;
      a.opener = a.opener_translated = {t.source, t.source_word()};
      a.responder = a.responder_seen = {t.destination, t.destination_word()};
      a.states = {state_id{1}, state_id{2}};
      a.timer = timer_class::settled;
      a.opener_peer = a.responder_peer = peer_state::established;
      a.age = a.remaining = {1'000'000'000};
      return a;
    }
    firewall_answer<tuple6> find(const tuple6&, instant) const noexcept { return {}; }
    bool alive(const array<state_id, 2>&, instant) const noexcept { return true; }
    microseconds remaining(const array<state_id, 2>&, instant) const noexcept { return from_s(86'400); }
    void restamp(const array<state_id, 2>&, instant) noexcept {}
    void relax(const array<state_id, 2>&, instant) const noexcept {}
  } firewall;
  struct {
    next_hop_answer resolve(const next_hop_question<tuple4>& q) const noexcept {
      next_hop_answer a;
      a.why = reason::none;
      a.hop = {q.other.port, 0, 1'500, {{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}};
      return a;
    }
    next_hop_answer resolve(const next_hop_question<tuple6>&) const noexcept { return {}; }
  } next_hops;
  no_associations associations;
  struct {
    void enter() const noexcept {}
    void leave() const noexcept {}
  } guard;
  struct {
    void operator()(const event&) const noexcept {}
  } events;
  device_facts device = xgs3300;
  void kick() const noexcept {}
};

// Connections held while punts are measured, half of what the device has.
inline constexpr u32 held_by_engine = 511;

// The default design as a host runs it. No constant of the design is derived from what is replaced here.
struct host_policies : default_policies {
  using tags = vector_tags;
};

template <class Policies>
class engine_of {
 public:
  using engine_type = engine<bench_world, Policies>;

  engine_of() : core_{std::make_unique<engine_type>()} {
    const start_options o{.connections = xgs3300.connections, .next_hops = xgs3300.next_hops, .ipv6_connections = false};
    memory_.resize(engine_type::bytes_for(o) + arena::alignment);
    void* first = memory_.data();
    usize room = memory_.size();
    std::align(arena::alignment, 1, first, room);
    arena from{first, room};
    if (!core_->init(world_, o, keyed_mix{hash_key}, from, now_)) std::abort();
  }

  // Makes connections of these tuples, one each, until `held_by_engine` are held.
  void hold(const std::vector<tuple4>& openers) {
    world_.firewall.knows = true;
    for (const tuple4& t : openers) {
      if (core_->table().held() == held_by_engine) break;
      for (const u16 port : {u16{1}, u16{2}}) {
        const frame_bytes f = frame_of(port == 1 ? t : reverse(t));
        (void)core_->punt(0, {f.bytes, sizeof f.bytes, sizeof f.bytes}, {identity::make(port, 1), port, {}}, now_);
      }
      now_.us += 1'000'000;
      poll();
    }
    world_.firewall.knows = false;
    if (core_->table().held() != held_by_engine) std::abort();
  }

  // Everything until the worker would sleep.
  void poll() {
    for (step s = core_->next(now_); s.what == step::kind::post || s.until <= now_; s = core_->next(now_))
      if (s.what == step::kind::post) core_->answered(s.tag, {}, now_);
  }

  // Whether the firewall has a settled state for whatever it is asked about.
  void let_firewall_know(bool everything) { world_.firewall.knows = everything; }

  [[nodiscard]] instant now() const { return now_; }
  void pass(u64 us) { now_.us += us; }
  engine_type& operator*() { return *core_; }
  engine_type* operator->() { return core_.get(); }

 private:
  bench_world world_;
  instant now_{1'000'000};
  std::vector<unsigned char> memory_;
  std::unique_ptr<engine_type> core_;
};

using bench_engine = engine_of<default_policies>;  // as a kernel has it
using host_engine = engine_of<host_policies>;

}  // namespace octep::bench

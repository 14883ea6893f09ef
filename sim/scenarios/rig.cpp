#include "sim/scenarios/rig.hpp"

#include <algorithm>
#include <cstring>

#include <octep/icmp.hpp>

namespace octep::sim::scenarios {

namespace {

constexpr address4 address(u8 a, u8 b, u8 c, u8 d) { return u32{d} << 24 | u32{c} << 16 | u32{b} << 8 | a; }

appliance_options options_for(const design& d, u64 seed, bool nat) {
  appliance_options o;
  o.hash = d.hash();
  o.seed = seed;
  o.slots = d.slots;
  o.places = d.places;
  o.choice = d.choice;
  o.nat = nat;
  return o;
}

}  // namespace

bool is_stranger(address4 a) noexcept { return (a & address(255, 254, 0, 0)) == address(198, 18, 0, 0); }

rig::rig(const design& d, u64 seed, bool nat)
    : box_{d.make(options_for(d, seed, nat))},
      hash_{d.hash(), seed},
      slot_bits_{bit_width(d.slots) - 1},
      random_{seed, 12},
      traffic_{*box_, seed},
      tried_in_(d.slots) {
  box_->rules.rules().passes = [](const wide_tuple& t, ingress) { return !is_stranger(t.source[0]); };
  box_->on_event = [this](const event& e) { see(e); };
}

// --- tuples ---------------------------------------------------------------------------------------------

tuple4 rig::fresh_flow() {
  for (;;) {
    const address4 host = address(192, 168, 1, static_cast<u8>(random_.between(2, 250)));
    const u32 ports = join_ports(port_word(static_cast<u16>(random_.between(32'768, 60'999))), port_word(7));
    const tuple4 t = tuple4::make(host, address(198, 51, 100, 7), ports, protocol::udp);
    if (used_.emplace(t, true).second) return t;
  }
}

tuple4 rig::fresh_flow_in(u32 slot) {
  for (;;) {
    const tuple4 t = fresh_flow();
    if (slot_of(t) == slot && slot_of(reverse(t)) != slot) return t;
  }
}

tuple4 rig::fresh_self_colliding() {
  for (;;) {
    const tuple4 t = fresh_flow();
    if (slot_of(t) == slot_of(reverse(t))) return t;
  }
}

tuple4 rig::fresh_echo_in(u32 slot) {
  for (;;) {
    const address4 host = address(192, 168, 1, static_cast<u8>(random_.between(2, 250)));
    const u32 ports = echo_ports(protocol::icmp, static_cast<u16>(random_.below(65'536)));
    const tuple4 t = tuple4::make(host, address(198, 51, 100, 7), ports, protocol::icmp);
    if (slot_of(t) == slot && slot_of(reverse(t)) != slot && used_.emplace(t, true).second) return t;
  }
}

tuple4 rig::stranger(std::optional<u32> slot) {
  for (;;) {
    const u64 r = random_.next();
    const address4 from = address(198, static_cast<u8>(18 + (r & 1)), static_cast<u8>(r >> 8), static_cast<u8>(r >> 16));
    const u32 ports = join_ports(static_cast<u16>(r >> 24), static_cast<u16>(r >> 40));
    const tuple4 t = tuple4::make(from, address(192, 0, 2, 1), ports, protocol::udp);
    if (!slot || slot_of(t) == *slot) return t;
  }
}

// --- what was seen --------------------------------------------------------------------------------------

void rig::see(const event& e) {
  switch (e.kind) {
    case event_kind::poll_begins:
      polls_.push_back(e.at);
      tried_.clear();
      std::fill(tried_in_.begin(), tried_in_.end(), 0);
      tried_now_ = 0;
      break;
    case event_kind::made:
      made_.emplace(e.v4, made_when{e.at, e.by});
      last_made_ = e.at;
      break;
    case event_kind::make_begins:
      // Only the opener's tuple is told, whichever direction was at hand.
      if (e.by == asker::run) run_tried(e.v4);
      break;
    case event_kind::refused:
      // A make that was begun and then refused has been counted; a frame of a held connection is no make.
      if (e.by != asker::run || e.why == reason::flow_held) break;
      ++attempts_.refused;
      if (e.connection.revision == 0) run_tried(e.v4);
      break;
    default: break;
  }
}

void rig::run_tried(const tuple4& t) {
  ++attempts_.all;
  attempts_.most_of_a_tuple = std::max(attempts_.most_of_a_tuple, ++tried_[t]);
  attempts_.most_of_a_slot = std::max(attempts_.most_of_a_slot, ++tried_in_[slot_of(t)]);
  attempts_.most_between_polls = std::max(attempts_.most_between_polls, ++tried_now_);
}

const made_when* rig::made(const tuple4& opener) const {
  const auto it = made_.find(opener);
  return it == made_.end() ? nullptr : &it->second;
}

u64 rig::polls_between(instant from, instant at) const {
  return static_cast<u64>(
      std::count_if(polls_.begin(), polls_.end(), [&](instant p) { return from < p && p <= at; }));
}

u64 rig::counter(const char* name) const {
  for (const auto& [named, n] : box_->counters())
    if (named == name) return n;
  return 0;
}

}  // namespace octep::sim::scenarios

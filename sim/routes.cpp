#include "sim/routes.hpp"

#include <algorithm>

namespace octep::sim {

namespace {

// Bit `i` of an address in wire order; words are little-endian loads of the wire bytes.
bool wire_bit(const address6& a, u32 i) { return ((a[i / 32] >> (8 * ((i % 32) / 8) + 7 - i % 8)) & 1U) != 0; }

bool covers(const prefix& p, family which, const address6& a) {
  if (p.which != which) return false;
  for (u32 i = 0; i < p.length; ++i)
    if (wire_bit(p.address, i) != wire_bit(a, i)) return false;
  return true;
}

bool same_prefix(const prefix& a, const prefix& b) { return a.length == b.length && covers(a, b.which, b.address); }

wide_tuple neighbour_key(family which, const address6& who) {
  wide_tuple k;
  k.which = which;
  k.destination = who;
  return k;
}

// Locally administered, and the same for an address in every run.
link_address made_from(const address6& a) {
  u64 h = 0;
  for (const u32 word : a) h = scatter(h, word);
  link_address mac{2, 0, 0, 0, 0, 0};
  for (usize i = 1; i < 6; ++i) mac[i] = static_cast<u8>(h >> (8 * i));
  return mac;
}

next_hop_answer no(reason why) { return {why, {}}; }

}  // namespace

routes routes::everywhere() {
  routes r;
  way_out bridge;
  bridge.mtu = 0xffff;
  r.add({family::ipv4, {}, 0}, bridge);
  r.add({family::ipv6, {}, 0}, bridge);
  r.resolve_all(true);
  return r;
}

void routes::add(const prefix& to, const way_out& way, const via& gateway) {
  (void)remove(to);
  const auto place = std::upper_bound(routes_.begin(), routes_.end(), to.length,
                                      [](u32 length, const route& r) { return length > r.to.length; });
  routes_.insert(place, {to, way, gateway});
  changed();
}

bool routes::remove(const prefix& to) {
  const bool removed = std::erase_if(routes_, [&](const route& r) { return same_prefix(r.to, to); }) != 0;
  changed();
  return removed;
}

void routes::changed() {
  ++changes_;
  into_tunnels_ = std::any_of(routes_.begin(), routes_.end(), [](const route& r) { return r.way.tunnel != 0; });
}

void routes::add_own(own_route handle, const way_out& way, const via& gateway) {
  own_[handle.handle] = {{}, way, gateway};
  ++changes_;
}

bool routes::remove_own(own_route handle) {
  ++changes_;
  return own_.erase(handle.handle) != 0;
}

void routes::resolve_neighbour(family which, const address6& who, const link_address& mac) {
  neighbours_[neighbour_key(which, who)] = {true, mac};
  ++changes_;
}

void routes::forget_neighbour(family which, const address6& who) {
  neighbours_[neighbour_key(which, who)] = {};
  ++changes_;
}

neighbour routes::neighbour_of(family which, const address6& who) const {
  const auto it = neighbours_.find(neighbour_key(which, who));
  if (it != neighbours_.end()) return it->second;
  if (resolve_by_) return {true, resolve_by_(which, who)};
  return resolve_all_ ? neighbour{true, made_from(who)} : neighbour{};
}

const routes::route* routes::longest(family which, const address6& destination) const {
  const auto it = std::find_if(routes_.begin(), routes_.end(),
                               [&](const route& r) { return covers(r.to, which, destination); });
  return it == routes_.end() ? nullptr : &*it;
}

template <tuple_type Tuple>
next_hop_answer routes::ask(const next_hop_question<Tuple>& q) const {
  const address6 destination = widen(q.destination);
  const route* r = nullptr;
  if (q.route.handle != 0) {
    // A state's own route comes before the table and is never replaced by it.
    const auto it = own_.find(q.route.handle);
    r = it == own_.end() ? nullptr : &it->second;
  } else {
    r = longest(Tuple::which, destination);
  }
  if (r == nullptr) return no(reason::flow_nonhop_no_route);
  next_hop_answer a = leave_by(r->way, r->gateway, Tuple::which, destination, q.other);
  if (a.why != reason::none || r->way.tunnel == 0 || kernel_ == nullptr || !kernel_->covers(r->way.tunnel)) return a;
  // A policy without an association: the kernel asks its peer for one and sends nothing until then.
  const kernel_association* const by = kernel_->current(r->way.tunnel, true);
  if (by == nullptr) return no(reason::flow_no_association);
  a.association = by->spi;
  return a;
}

next_hop_answer routes::leave_by(const way_out& way, const via& gateway, family which, const address6& destination,
                                 ingress other) const {
  next_hop hop;
  hop.vlan = way.vlan;
  hop.mtu = way.mtu;
  hop.source_mac = way.mac;
  switch (way.kind) {
    case way_kind::rejected: return no(reason::flow_nonhop_rejected);
    case way_kind::local: return no(reason::flow_nonhop_local);
    case way_kind::not_front: return no(reason::flow_nonhop_not_front);
    case way_kind::front:
    case way_kind::lagg: {
      if (way.ports.empty()) return no(reason::flow_nonhop_not_front);
      const bool member = std::find(way.ports.begin(), way.ports.end(), other.port) != way.ports.end();
      hop.port = member ? other.port : way.ports.front();
      break;
    }
    case way_kind::bridge:
      hop.port = other.port;
      hop.vlan = other.vlan;
      break;
  }
  if (way.mtu < least_mtu_) return no(reason::flow_nonhop_mtu);
  const neighbour n = neighbour_of(which, gateway.named ? gateway.gateway : destination);
  if (!n.resolved) return no(reason::flow_nonhop_unresolved);
  hop.destination_mac = n.mac;
  return {reason::none, hop};
}

template next_hop_answer routes::ask(const next_hop_question<tuple4>&) const;
template next_hop_answer routes::ask(const next_hop_question<tuple6>&) const;

}  // namespace octep::sim

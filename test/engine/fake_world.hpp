// A world whose every answer a test writes, and a far side that answers when it is told to.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <octep/engine/engine.hpp>

namespace octep::test {

// Small enough that slots collide and tables fill.
struct small_policies {
  using atomics = builtin_atomics;
  using hash = fold_mix;
  using choice = rank_and_lot;
  using tags = scalar_tags;
  using refusals = refusals_by_tuple<4, 8>;
  using make_budget = plain_budget;
  static constexpr limits geometry{.slots = 4, .places = 4};
  static constexpr u32 rings = 2;
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  static constexpr bool walk_resumes = true;
  static constexpr bool walk_end_clears_marks = true;
  static constexpr u32 walk_slice = 1'000;
  static constexpr full_table room = full_table::idle_makes_room;
  static constexpr bool ipv6 = true;
};

// IPv4 host 10.0.0.x and 192.0.2.x, as little-endian loads.
[[nodiscard]] constexpr address4 inside(u32 x) { return 10U | (x << 24); }
[[nodiscard]] constexpr address4 outside(u32 x) { return 192U | (2U << 16) | (x << 24); }
[[nodiscard]] constexpr address6 widened(address4 a) { return {0xb80d0120U, 0, 0, a}; }

[[nodiscard]] constexpr tuple4 flow(u32 n, protocol proto = protocol::tcp) {
  return tuple4::make(inside(n), outside(1), join_ports(port_word(static_cast<u16>(40'000 + n)), port_word(443)), proto);
}

// A settled, plain connection, by the tuple of its opener.
template <tuple_type Tuple>
[[nodiscard]] firewall_answer<Tuple> settled_state(const Tuple& opener, u64 id = 1) {
  firewall_answer<Tuple> a;
  a.found = true;
  a.proto = opener.proto;
  a.opener = a.opener_translated = {opener.source, opener.source_word()};
  a.responder = a.responder_seen = {opener.destination, opener.destination_word()};
  a.states = {state_id{id}, state_id{}};
  a.timer = timer_class::settled;
  a.opener_peer = a.responder_peer = peer_state::established;
  a.age = from_s(10);
  a.remaining = from_s(1'000);
  return a;
}

struct scripted_firewall {
  std::vector<firewall_answer<tuple4>> known4;
  std::vector<firewall_answer<tuple6>> known6;
  std::vector<u64> dead;
  std::vector<u64> relaxed;
  std::vector<u64> restamped;
  microseconds lasts = from_s(1'000);  // what `remaining` says of states that live
  std::map<u64, instant> ends;         // states with a timer of their own, which a restamp starts afresh
  bool careless = false;  // answers with the first state it knows, whatever was asked
  u64 asked = 0;

  template <tuple_type Tuple>
  firewall_answer<Tuple> look_up(const std::vector<firewall_answer<Tuple>>& known, const Tuple& t) {
    ++asked;
    if (careless) return known.front();
    for (const auto& a : known)
      if (direction_of(derive(a), t) >= 0) return a;
    return {};
  }
  firewall_answer<tuple4> find(const tuple4& t, instant) { return look_up(known4, t); }
  firewall_answer<tuple6> find(const tuple6& t, instant) { return look_up(known6, t); }
  bool alive(const array<state_id, 2>& ids, instant now) const {
    for (const state_id id : ids) {
      for (const u64 d : dead)
        if (id.value != 0 && id.value == d) return false;
      if (const auto timer = ends.find(id.value); timer != ends.end() && timer->second <= now) return false;
    }
    return true;
  }
  microseconds remaining(const array<state_id, 2>& ids, instant now) const {
    if (!alive(ids, now)) return {};
    microseconds left = ends.contains(ids[0].value) || ends.contains(ids[1].value) ? microseconds{~u64{0}} : lasts;
    for (const state_id id : ids)
      if (const auto timer = ends.find(id.value); timer != ends.end()) left = std::min(left, timer->second.since(now));
    return left;
  }
  void restamp(const array<state_id, 2>& ids, instant now) {
    for (const state_id id : ids) {
      if (id.value != 0) restamped.push_back(id.value);
      if (const auto timer = ends.find(id.value); timer != ends.end() && now < timer->second) timer->second = now + lasts;
    }
  }
  void relax(const array<state_id, 2>& ids, instant) {
    for (const state_id id : ids)
      if (id.value != 0) relaxed.push_back(id.value);
  }
};

struct scripted_routes {
  reason why = reason::none;
  bool one_hop = false;  // every direction leaves by the same hop
  u16 mtu = 1'500;
  std::map<u16, u32> tunnels;  // by port: the kernel's association that encrypts what leaves there
  u16 changed_port = 0;  // whatever leaves by that port has another neighbour now
  u64 asked = 0;

  template <tuple_type Tuple>
  next_hop_answer answer_for(const next_hop_question<Tuple>& q) {
    ++asked;
    next_hop_answer a;
    a.why = why;
    a.hop.port = one_hop ? 9 : q.other.port;
    a.hop.mtu = mtu;
    if (const auto t = tunnels.find(a.hop.port); t != tunnels.end()) a.association = t->second;
    a.hop.destination_mac[5] = changed_port != 0 && a.hop.port == changed_port ? 7 : 0;
    return a;
  }
  next_hop_answer resolve(const next_hop_question<tuple4>& q) { return answer_for(q); }
  next_hop_answer resolve(const next_hop_question<tuple6>& q) { return answer_for(q); }
};

// What the kernel was told of its own, by its number.
struct scripted_kernel {
  std::map<u32, u64> sequence;
  std::map<u32, association_traffic> lifetime;
  void pass_over(u32 kernel, u64 numbers) { sequence[kernel] += numbers; }
  void account(u32 kernel, const association_traffic& more) {
    lifetime[kernel] = {lifetime[kernel].packets + more.packets, lifetime[kernel].bytes + more.bytes};
  }
};

struct fake_world {
  scripted_firewall firewall;
  scripted_routes next_hops;
  scripted_kernel associations;
  device_facts device = [] {
    device_facts d = xgs3300;
    d.forwards_ipv6 = true;
    return d;
  }();
  struct {
    int depth = 0;
    u64 entered = 0;
    std::function<void(u64)> on_enter;  // what another ring does just before the word is tried; which entry it is
    void enter() noexcept {
      ++depth;
      ++entered;
      if (on_enter) on_enter(entered);
    }
    void leave() noexcept { --depth; }
  } guard;
  struct {
    std::vector<event> seen;
    void operator()(const event& e) { seen.push_back(e); }
  } events;
  u64 kicks = 0;
  void kick() { ++kicks; }
};

// The engine in that world, with the bookkeeping of a glue.
template <class Policies = small_policies>
class bench_top {
 public:
  using engine_type = engine<fake_world, Policies>;

  explicit bench_top(start_options options = {.connections = 4, .next_hops = 4, .ipv6_connections = true},
                     instant start = {5'000'000})
      : now{start}, memory_(engine_type::bytes_for(options) + arena::alignment), core_{std::make_unique<engine_type>()} {
    void* first = memory_.data();
    std::size_t room = memory_.size();
    std::align(arena::alignment, room - arena::alignment, first, room);
    arena from{first, room};
    started = core_->init(world, options, {}, from, now);
  }

  [[nodiscard]] engine_type& core() { return *core_; }

  // A punted frame of this tuple.
  template <tuple_type Tuple>
  punt_result frame(const Tuple& t, u16 port, u32 id, bool closing = false, u16 vlan = 0, association_word by = {}) {
    frame_facts f{};
    f.why = reason::none;
    f.which = Tuple::which;
    f.closing = closing;
    f.vlan = vlan;
    if constexpr (is_same<Tuple, tuple4>)
      f.v4 = t;
    else
      f.v6 = t;
    return core_->punt(0, f, 100, {identity::make(id, 1), port, by}, now);
  }
  // Both directions of a connection, `n` frames each: identities 100 + 2n and one more.
  template <tuple_type Tuple>
  void both(const Tuple& opener, u32 id, int n = 1) {
    for (int i = 0; i < n; ++i) {
      (void)frame(opener, 1, id);
      (void)frame(reverse(opener), 2, id + 1);
    }
  }

  step next() { return core_->next(now); }
  // What the engine posts now; kind none where it posts nothing.
  command posted() {
    step s = next();
    for (u32 slices = 0; s.what == step::kind::idle && s.until <= now && slices < 100'000; ++slices) s = next();
    if (s.what != step::kind::post) return {};
    tag = s.tag;
    return *s.post;
  }
  void answer_it(answer_code code = answer_code::done, answer a = {}) {
    a.code = code;
    core_->answered(tag, a, now);
  }
  // Posts and answers until nothing is posted; the kinds, in order.
  std::vector<command_kind> settle() {
    std::vector<command_kind> kinds;
    for (;;) {
      const command c = posted();
      if (c.kind == command_kind::none) return kinds;
      kinds.push_back(c.kind);
      answer_it();
    }
  }
  void to_next_poll() { now = instant{(now.us / 1'000'000 + 1) * 1'000'000}; }
  [[nodiscard]] u64 count(pass_counter c) { return core_->counters().value(c); }
  [[nodiscard]] u64 count(reason r) { return core_->counted(r); }
  [[nodiscard]] reason last_refusal() {
    for (auto e = world.events.seen.rbegin(); e != world.events.seen.rend(); ++e)
      if (e->kind == event_kind::refused) return e->why;
    return reason::none;
  }
  [[nodiscard]] u32 references() {
    u32 all = 0;
    for (u32 i = 0; i < core_->hops().capacity(); ++i) all += core_->hops()[i].references;
    return all;
  }

  fake_world world;
  instant now;
  bool started = false;
  u64 tag = 0;

 private:
  std::vector<unsigned char> memory_;
  std::unique_ptr<engine_type> core_;
};

using kinds = std::vector<command_kind>;

}  // namespace octep::test

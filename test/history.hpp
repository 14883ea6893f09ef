// A history: inputs to an appliance whose tables overflow within a few frames, and the laws that hold after each of them.
// The property test draws histories, the fuzzer decodes them from bytes; both apply them here.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/box.hpp"
#include "sim/wide_tuple.hpp"

namespace octep::sim {

// Two slots of four places, three connections, four next hops.
struct tiny_policies {
  using atomics = builtin_atomics;
  using hash = any_hash;
  using choice = rank_and_lot;
  using tags = vector_tags;
  using refusals = refusals_by_tuple<2, 4>;
  using make_budget = plain_budget;
  static constexpr limits geometry{.slots = 2, .places = 4};
  static constexpr u32 rings = punt_rings;
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  static constexpr bool walk_resumes = true;
  static constexpr bool walk_end_clears_marks = true;
  static constexpr u32 walk_slice = 2;
  static constexpr full_table room = full_table::idle_makes_room;
  static constexpr bool ipv6 = true;
};

// One input, in words: a failing history shrinks to a few of these.
struct input {
  enum class kind { frames, wait, fault, kill, flush, discard, set, vlan, until };
  kind is;
  u32 a = 0;
  u32 b = 0;
  u32 c = 0;
};

constexpr command_fault::kind faults[] = {command_fault::kind::refuse, command_fault::kind::late,
                                          command_fault::kind::duplicate, command_fault::kind::wrong_tag,
                                          command_fault::kind::lost, command_fault::kind::ignored};
constexpr const char* fault_names[] = {"refused", "answered late", "answered twice", "answered under a wrong tag",
                                       "never answered", "ignored"};
// Moments for the next input to fall into: the command is out, its answer is not there.
constexpr command_kind moments[] = {command_kind::next_hop_set, command_kind::create, command_kind::deactivate,
                                    command_kind::reclaim};
constexpr setting switched[] = {setting::enable, setting::auto_make,    setting::fast,        setting::fast_make,
                                setting::ipv6,   setting::make_per_run, setting::make_per_sec};
constexpr u32 switches = sizeof(switched) / sizeof(switched[0]);
constexpr u32 flows = 8;  // the last two are IPv6
// Steps of time around what the engine waits for: an answer, a run, a poll, the limit, an identity's death, a state's.
constexpr u64 waits_us[] = {1, 40, 700, 5'000, 120'000, 1'000'000, 2'100'000, 11'000'000, 70'000'000};

[[nodiscard]] inline std::string in_words(const input& i) {
  switch (i.is) {
    case input::kind::frames:
      return fmt::format("{} frames of flow {}, {}", i.b, i.a, i.c == 0 ? "plain" : i.c == 1 ? "SYN first" : "FIN last");
    case input::kind::wait: return fmt::format("wait {} us", waits_us[i.a]);
    case input::kind::fault: return fmt::format("next command is {}", fault_names[i.a]);
    case input::kind::kill: return fmt::format("kill state {} of those that live", i.a);
    case input::kind::flush: return "flush all states";
    case input::kind::discard: return "discard";
    case input::kind::set: return fmt::format("{} = {}", row(switched[i.a]).name, i.b);
    case input::kind::until: return fmt::format("wait until a {} is out", name(moments[i.a]));
    case input::kind::vlan: return fmt::format("flow {} moves to VLAN {}", i.a, i.b);
  }
  return "?";
}

class history {
 public:
  explicit history(bool nat, u64 seed) : box_{options(nat, seed)}, nat_{nat} {
    box_.on_event = [this](const event& e) {
      made_ += e.kind == event_kind::made;
      const auto kind = static_cast<u32>(e.what);
      // Every command, whatever fault meets it.
      if (e.kind == event_kind::command_posted) look_at(box_.core().commands().current());
      if (e.kind == event_kind::command_unanswered) late_at_[kind] = true;
      if (e.kind != event_kind::command_answered) return;
      ++(e.code == answer_code::refused ? refused_ : done_)[kind];
      late_[kind] += late_at_[kind];
      late_at_[kind] = false;
    };
  }

  void apply(const input& i) {
    switch (i.is) {
      case input::kind::frames: frames(i); break;
      case input::kind::wait: now_ = now_ + microseconds{waits_us[i.a]}; box_.advance(now_); break;
      case input::kind::fault:
        box_.port().next_fault({faults[i.a], microseconds{i.a == 1 ? 2'500'000U : 100U}});
        break;
      case input::kind::kill: {
        const auto states = box_.rules.states();
        if (!states.empty()) (void)box_.rules.kill(states[i.a % states.size()].id);
        break;
      }
      case input::kind::flush: box_.rules.flush(); break;
      case input::kind::discard: box_.request_discard(); break;
      case input::kind::set: (void)box_.set(switched[i.a], i.b); break;
      case input::kind::until: until(moments[i.a]); break;
      case input::kind::vlan: vlan_[i.a] = static_cast<u16>(i.b); break;
    }
  }

  // The first law that does not hold, in words; empty: all do.
  [[nodiscard]] std::string broken() {
    std::string why;
    if (!box_.started()) return "it did not start";
    if (!box_.sound(&why)) return why;
    if (!wrong_.empty()) return wrong_;
    if (box_.port().overlaps() != 0) return "a command was posted while an answer was outstanding";
    auto& core = box_.core();
    // Every frame is counted exactly once.
    u64 by_reason = 0;
    for (const reason_row& r : reason_rows)
      if (is_frame_reason(r.is)) by_reason += core.counted(r.is);
    if (core.counted(ring_counter::frames) != punted_) return "a punted frame was not counted once";
    if (core.counted(ring_counter::cand_pushed) + by_reason != punted_) return "a punted frame has no reason and no candidate";
    // Each tuple stands in at most one place.
    if (stands_twice<tuple4>() || stands_twice<tuple6>()) return "a tuple stands in two places";
    if (core.counters().value(pass_counter::auto_made) != made_) return "a make was not told";
    return {};
  }

  [[nodiscard]] u64 made() const noexcept { return made_; }
  // How many commands of a kind were answered so, for tests of what histories reach.
  [[nodiscard]] u64 refused(command_kind k) const noexcept { return refused_[static_cast<u32>(k)]; }
  [[nodiscard]] u64 late(command_kind k) const noexcept { return late_[static_cast<u32>(k)]; }
  [[nodiscard]] auto& core() noexcept { return box_.core(); }

 private:
  template <tuple_type Tuple>
  [[nodiscard]] bool stands_twice() {
    std::vector<Tuple> seen;
    bool twice = false;
    for (u32 slot = 0; slot < tiny_policies::geometry.slots; ++slot)
      (void)box_.core().template candidates_for<Tuple>().for_each_place(slot, [&](u32, const candidate<Tuple>& c) {
        twice |= std::find(seen.begin(), seen.end(), c.tuple) != seen.end();
        seen.push_back(c.tuple);
      });
    return twice;
  }
  static appliance_options options(bool nat, u64 seed) {
    appliance_options o;
    o.seed = seed;
    o.nat = nat;
    o.device.forwards_ipv6 = true;
    (void)o.values.set(setting::ipv6, 1);
    o.connections = 3;
    o.next_hops = 4;
    return o;
  }
  // As the opener's frames arrive.
  [[nodiscard]] static wide_tuple opener_of(u32 flow) {
    constexpr protocol protos[flows] = {protocol::tcp,  protocol::udp, protocol::tcp, protocol::udp,
                                        protocol::icmp, protocol::tcp, protocol::tcp, protocol::udp};
    const protocol proto = protos[flow];
    const u32 ports = join_ports(port_word(static_cast<u16>(40'000 + flow)), port_word(is_echo(proto) ? 8 : 443));
    if (flow < 6) return wide_tuple{tuple4::make(0x0100'000a + (flow << 24), 0x0100'00c0, ports, proto)};
    return wide_tuple{tuple6::make({0x20, 0, 0, 1 + flow}, {0x20, 0, 0, 99}, ports, proto)};
  }

  // Both directions or neither, in the create as in the record.
  void look_at(const command& c) {
    if (c.kind != command_kind::create) return;
    const record& r = box_.core().table()[c.target.index];
    for (u32 d = 0; d < 2; ++d) {
      if (!c.microflows[d].who.names_flow()) wrong_ = "a create without one direction's identity";
      if (!(c.microflows[d].who == r.directions[d].who)) wrong_ = "a create that is not the record's";
      if (c.microflows[d].next_hop.revision == 0) wrong_ = "a create without a next hop";
    }
    if (c.target.revision != r.revision) wrong_ = "a create at another revision than the record's";
  }

  void frames(const input& i) {
    const bool tcp = opener_of(i.a).proto == protocol::tcp;
    for (u32 n = 0; n < i.b; ++n) {
      const u32 direction = n % 2;
      u8 flags = 0;
      if (tcp) {
        flags = tcp_flags::ack_bit;
        if (i.c == 1 && n < 2) flags = n == 0 ? tcp_flags::syn_bit : tcp_flags::syn_bit | tcp_flags::ack_bit;
        if (i.c == 2 && n + 1 == i.b) flags |= tcp_flags::fin_bit;
      }
      send(i.a, direction, flags);
    }
  }

  // A poll's time at the longest.
  void until(command_kind k) {
    const auto out = [&] { return box_.core().commands().outstanding() && box_.core().commands().current().kind == k; };
    for (int steps = 0; steps < 11'000 && !out(); ++steps) {
      now_ = now_ + microseconds{100};
      box_.advance(now_);
    }
  }

  static void put(frame_facts& f, const wide_tuple& t) {
    f.which = t.which;
    if (t.which == family::ipv4) f.v4 = t.as<tuple4>();
    else f.v6 = t.as<tuple6>();
  }

  void send(u32 flow, u32 direction, u8 flags) {
    frame_facts f{};
    f.why = reason::none;
    f.vlan = vlan_[flow];
    const wide_tuple opener = opener_of(flow);
    const wide_tuple reply = reverse(opener);
    put(f, direction == 0 ? opener : reply);
    f.closing = (flags & (tcp_flags::fin_bit | tcp_flags::rst_bit)) != 0;
    now_ = now_ + microseconds{10};
    if (direction == 1 && nat_ && !box_.translate_reply(f, now_)) return;
    const arrival_verdict v = box_.arrive(static_cast<u16>(1 + direction), f, 100, tcp_flags{flags}, now_);
    if (v.forwarded) {
      // What is forwarded leaves as its own connection's, never as another's.
      if (direction == 0 && !(v.device.leaves.destination == opener.destination)) wrong_ = "forwarded to another's destination";
      if (direction == 1 && !(v.device.leaves.destination == reply.destination && v.device.leaves.ports == reply.ports))
        wrong_ = "a reply was delivered to another opener";
    } else {
      ++punted_;
    }
  }

  box<tiny_policies> box_;
  bool nat_;
  instant now_;
  u16 vlan_[flows]{};
  u64 punted_ = 0;
  u64 made_ = 0;
  static constexpr u32 kinds = static_cast<u32>(command_kind::count_);
  u64 done_[kinds]{};
  u64 refused_[kinds]{};
  u64 late_[kinds]{};  // past its limit, and answered then
  bool late_at_[kinds]{};
  std::string wrong_;
};

}  // namespace octep::sim

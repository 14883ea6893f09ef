// A history: inputs to an appliance whose tables overflow within a few frames, and the laws that hold after each of them.
// The property test draws histories, the fuzzer decodes them from bytes; both apply them here.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <type_traits>
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
  enum class kind {
    frames, wait, fault, kill, flush, discard, set, vlan, until,
    stuck, silence, restart, neighbour, route, reload, remove, keep, key
  };
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
                                    command_kind::reclaim, command_kind::program, command_kind::read_entry,
                                    command_kind::read_microflow, command_kind::association_add,
                                    command_kind::association_delete, command_kind::association_read};
constexpr u32 moment_count = sizeof(moments) / sizeof(moments[0]);
// What a setting is switched to and back from.
struct two_values {
  setting of;
  u32 to[2];
};
constexpr two_values switched[] = {
    {setting::enable, {0, 1}},          {setting::auto_make, {0, 1}},      {setting::fast, {0, 1}},
    {setting::fast_make, {0, 1}},       {setting::ipv6, {0, 1}},           {setting::make_per_run, {0, 4}},
    {setting::make_per_sec, {0, 64}},   {setting::revive, {0, 1}},         {setting::keepalive, {0, 1}},
    {setting::gap_quiet_us, {300, 3000}},  {setting::hold_min_ms, {0, 5000}}, {setting::sweep_lookups, {1, 256}},
    {setting::dirty_lookups, {1, 64}},  {setting::upkeep_commands, {2, 64}}, {setting::room_reads, {0, 16}},
    {setting::probe_gap_ms, {0, 5}},    {setting::run_attempts, {1, 8}},   {setting::ipsec_flows, {0, 2}},
    {setting::ipsec_flows, {1, 2}}};
constexpr u32 switches = sizeof(switched) / sizeof(switched[0]);
constexpr u32 revive_switch = 7;
static_assert(switched[revive_switch].of == setting::revive);
constexpr u32 sweep_switch = 11;
static_assert(switched[sweep_switch].of == setting::sweep_lookups);
constexpr u32 flows = 8;  // the last two are IPv6
// Two of them go through a tunnel.
constexpr bool is_tunnelled(u32 flow) { return flow == 2 || flow == 3; }
constexpr u32 tunnel = 1;
constexpr const char* key_words[] = {"the tunnel is rekeyed", "the tunnel's oldest associations go", "the tunnel goes down",
                                     "the tunnel comes up"};
// Steps of time around what the engine waits for: an answer, a run, a poll, the limit, an identity's death, a state's.
constexpr u64 waits_us[] = {1, 40, 700, 5'000, 120'000, 1'000'000, 2'100'000, 11'000'000, 70'000'000};

[[nodiscard]] inline std::string in_words(const input& i) {
  switch (i.is) {
    case input::kind::frames:
      return fmt::format("{} frames of flow {}, {}", i.b, i.a, i.c == 0 ? "plain" : i.c == 1 ? "SYN first" : i.c == 2 ? "FIN last" : "RST last");
    case input::kind::wait: return fmt::format("wait {} us", waits_us[i.a]);
    case input::kind::fault: return fmt::format("next command is {}", fault_names[i.a]);
    case input::kind::kill: return fmt::format("kill state {} of those that live{}", i.a, i.b == 0 ? "" : ", and tell");
    case input::kind::flush: return i.a == 0 ? "flush all states" : "flush all states, and tell";
    case input::kind::discard: return "discard";
    case input::kind::set: return fmt::format("{} = {}", row(switched[i.a].of).name, switched[i.a].to[i.b]);
    case input::kind::until: return fmt::format("wait until a {} is out", name(moments[i.a]));
    case input::kind::stuck: return fmt::format("{} times the same acknowledgement of flow {}", i.b, i.a);
    case input::kind::silence: return i.a == 0 ? "the far side falls silent" : "the far side speaks again";
    case input::kind::restart: return "the far side restarts";
    case input::kind::neighbour: return fmt::format("the neighbours move to address {}", i.a);
    case input::kind::route: return i.a == 0 ? "the way out is lost" : "the way out is back";
    case input::kind::reload: return i.a == 0 ? "rules are reloaded: all states shaped" : "rules are reloaded: none shaped";
    case input::kind::remove: return i.b == 0 ? fmt::format("remove flow {}", i.a) : fmt::format("remove the host of flow {}", i.a);
    case input::kind::keep: return fmt::format("{} flow {}", i.b == 0 ? "keep out" : "let in", i.a);
    case input::kind::key: return key_words[i.a];
    case input::kind::vlan: return fmt::format("flow {} moves to VLAN {}", i.a, i.b);
  }
  return "?";
}

// `reuses`: four translated ports and two dozen identities for all flows, so that each is somebody else's soon. The firewall
// then tells what it ends, and gives nothing of it away for five milliseconds.
class history {
 public:
  explicit history(bool nat, u64 seed, bool reuses = false) : box_{options(nat, seed, reuses)}, nat_{nat}, reuses_{reuses} {
    if (reuses)
      for (source_nat_rule& r : box_.rules.rules().source_nat) r.port_most = static_cast<u16>(r.port_least + 3);
    way_out outer;
    outer.kind = way_kind::front;
    outer.ports = {2};
    outer.tunnel = tunnel;
    box_.ways.add({family::ipv4, opener_of(2).destination, 32}, outer);
    // What a peer drops as replayed, were it so.
    box_.on_encrypted = [this](u32 spi, u64 number, const wide_tuple&) {
      u64& last = numbers_[spi];
      if (number <= last) wrong_ = fmt::format("number {} of association {} left twice", number, spi);
      last = number;
    };
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
        if (i.b != 0 || reuses_) tell_states_gone();
        break;
      }
      case input::kind::flush:
        box_.rules.flush();
        if (i.a != 0 || reuses_) tell_states_gone();
        break;
      case input::kind::discard: box_.request_discard(); break;
      case input::kind::set: (void)box_.set(switched[i.a].of, switched[i.a].to[i.b]); break;
      case input::kind::stuck: stuck(i.a, i.b); break;
      case input::kind::silence:
        if (i.a == 0) box_.port().fall_silent();
        else box_.port().speak_again(now_);
        break;
      case input::kind::restart: box_.far_side_restarts(); break;
      case input::kind::neighbour: {
        const link_address mac{2, 0, 0, 0, 1, static_cast<u8>(i.a)};
        for (u32 flow = 0; flow < flows; ++flow) {
          const wide_tuple t = opener_of(flow);
          box_.ways.resolve_neighbour(t.which, t.destination, mac);
          box_.ways.resolve_neighbour(t.which, t.source, mac);
        }
        box_.tell([](auto& core) { core.changed(); });
        break;
      }
      case input::kind::route: {
        const wide_tuple t = opener_of(0);
        if (i.a == 0) box_.ways.add({family::ipv4, t.destination, 32}, {way_kind::rejected, {}});
        else (void)box_.ways.remove({family::ipv4, t.destination, 32});
        box_.tell([](auto& core) { core.changed(); });
        break;
      }
      case input::kind::reload:
        box_.rules.rules().verdict = [shaped = i.a == 0](const wide_tuple&, ingress) {
          return shaped ? reason::flow_shaped : reason::none;
        };
        box_.rules.reload();
        box_.tell([](auto& core) { core.changed(); });
        break;
      case input::kind::remove:
        box_.tell([&](auto& core) {
          const wide_tuple t = opener_of(i.a);
          if (i.b != 0) (void)core.remove_host(t.which, t.source);
          else with(t, [&](const auto& tuple) { return core.remove(tuple); });
        });
        break;
      case input::kind::keep:
        box_.tell([&](auto& core) {
          with(opener_of(i.a), [&](const auto& tuple) { return i.b == 0 ? core.keep_out(tuple) : core.let_in(tuple); });
        });
        break;
      case input::kind::key: key(i.a); break;
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
    if (const auto found = box_.core().reconcile(); found.broken != law::none)
      return fmt::format("{} does not hold at {}", name(found.broken), found.at);
    look_for_leaks();
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
    return outlived();
  }

  [[nodiscard]] u64 made() const noexcept { return made_; }
  // How many commands of a kind were answered so, for tests of what histories reach.
  [[nodiscard]] u64 refused(command_kind k) const noexcept { return refused_[static_cast<u32>(k)]; }
  [[nodiscard]] u64 late(command_kind k) const noexcept { return late_[static_cast<u32>(k)]; }
  [[nodiscard]] auto& core() noexcept { return box_.core(); }

 private:
  template <class F>
  static void with(const wide_tuple& t, F&& f) {
    if (t.which == family::ipv4) (void)f(t.as<tuple4>());
    else (void)f(t.as<tuple6>());
  }

  // While the far side answers, no microflow outlives its state by more than the bound (system.md 10).
  [[nodiscard]] std::string outlived() {
    auto& core = box_.core();
    if (box_.port().silent() || core.commands().outstanding() || core.discard_owed() || !core.values().on(setting::enable)) {
      dead_since_.clear();
      return {};
    }
    for (u32 i = 0; i < core.table().capacity(); ++i) {
      const record& r = core.table()[i];
      if (r.state != record_state::held || box_.rules.alive(r.states, now_)) {
        dead_since_.erase(i);
        continue;
      }
      const dead now_dead{r.revision, now_, core.sweep_bound()};
      const auto [known, first] = dead_since_.try_emplace(i, now_dead);
      if (known->second.revision != r.revision) known->second = now_dead;
      // The greatest since then: what is taken out meanwhile makes it smaller for others, and a smaller sweep_lookups or a make
      // greater.
      known->second.bound = std::max(known->second.bound, now_dead.bound);
      // One poll more: what died just after its turn waits for the next round.
      if (known->second.bound + from_s(1) < now_.since(known->second.since))
        return fmt::format("connection {} outlives its state by {} us, more than the bound", i,
                           now_.since(known->second.since).count);
    }
    return {};
  }

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
  void tell_states_gone() {
    box_.tell([](auto& core) { core.states_gone(); });
    if (reuses_) box_.advance(now_ = now_ + from_ms(5));
  }
  static appliance_options options(bool nat, u64 seed, bool reuses) {
    appliance_options o;
    if (reuses) o.microflows = 24;
    o.seed = seed;
    o.nat = nat;
    o.device.forwards_ipv6 = true;
    (void)o.values.set(setting::ipv6, 1);
    (void)o.values.set(setting::ipsec_flows, 2);
    o.associations = 5;  // a rekey in a rekey finds no index
    (void)o.values.set(setting::hold_min_ms, 5'000);  // longer than a poll: a walk meets what is held back
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
    if (flow < 6)
      return wide_tuple{tuple4::make(0x0100'000a + (flow << 24), is_tunnelled(flow) ? 0x0200'00c0 : 0x0100'00c0, ports, proto)};
    return wide_tuple{tuple6::make({0x20, 0, 0, 1 + flow}, {0x20, 0, 0, 99}, ports, proto)};
  }

  // Both directions or neither, in the create as in the record. A revive names none.
  void look_at(const command& c) {
    if (c.kind != command_kind::create) return;
    const record& r = box_.core().table()[c.target.index];
    if (c.target.revision != r.revision) wrong_ = "a create at another revision than the record's";
    if (!c.microflows[0].who.names_flow() && !c.microflows[1].who.names_flow() && r.made_at.us != 0) return;  // a revive
    for (u32 d = 0; d < 2; ++d) {
      if (r.directions[d].stays) {
        if (c.microflows[d].who.names_flow()) wrong_ = "a create of a direction that stays with the host";
        continue;
      }
      if (!c.microflows[d].who.names_flow()) wrong_ = "a create without one direction's identity";
      if (!(c.microflows[d].who == r.directions[d].who)) wrong_ = "a create that is not the record's";
      if (c.microflows[d].next_hop.revision == 0) wrong_ = "a create without a next hop";
    }
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
        if (i.c == 3 && n + 1 == i.b) flags |= tcp_flags::rst_bit;
      }
      send(i.a, direction, flags, 100);
    }
  }

  // The receiver asks for one segment again and again: the fast path gives such a connection back.
  void stuck(u32 flow, u32 times) {
    for (u32 n = 0; n < times; ++n) send(flow, 1, tcp_flags::ack_bit, 0);
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

  void send(u32 flow, u32 direction, u8 flags, u32 payload) {
    frame_facts f{};
    f.why = reason::none;
    f.vlan = vlan_[flow];
    const wide_tuple opener = opener_of(flow);
    const wide_tuple reply = reverse(opener);
    put(f, direction == 0 ? opener : reply);
    f.closing = (flags & (tcp_flags::fin_bit | tcp_flags::rst_bit)) != 0;
    now_ = now_ + microseconds{10};
    if (direction == 1 && nat_ && !box_.translate_reply(f, now_)) return;
    const bool decrypted = direction == 1 && is_tunnelled(flow) && box_.kernel.covers(tunnel);
    if (decrypted && in_.empty()) return;  // its peer has nothing to protect it with
    tcp_segment segment{tcp_flags{flags}, opener.proto == protocol::tcp, sent_[flow][direction], payload,
                        sent_[flow][1 - direction], 65'535};
    sent_[flow][direction] += payload;
    const arrival_verdict v =
        box_.arrive_by(decrypted ? in_.back() : 0, static_cast<u16>(1 + direction), f, 100, segment, now_);
    if (v.forwarded) {
      owns(f, v.device);
      // What is forwarded leaves as its own connection's, never as another's.
      if (direction == 0 && !(v.device.leaves.destination == opener.destination)) wrong_ = "forwarded to another's destination";
      if (direction == 1 && !(v.device.leaves.destination == reply.destination && v.device.leaves.ports == reply.ports))
        wrong_ = "a reply was delivered to another opener";
      protects(flow, direction, v.device);
    } else if (v.device.is == verdict::what::punted) {
      ++punted_;
    } else if (v.device.why == device_counter::drop_ipsec) {
      wrong_ = "a microflow names an association that is gone";
    }
  }

  // What leaves by a tunnel is encrypted under an association of that tunnel, and nothing else is.
  void protects(u32 flow, u32 direction, const verdict& v) {
    const bool may = is_tunnelled(flow) && direction == 0;
    if (v.association.revision == 0) {
      if (may && box_.kernel.covers(tunnel)) left_plain_ = true;
      return;
    }
    if (!may) wrong_ = "a frame was encrypted that no tunnel takes";
    if (!keys_.contains(box_.core().protects()[v.association.index].kernel)) wrong_ = "a frame was encrypted for another tunnel";
  }
  // A policy reaches what is in hardware within three seconds, while the far side answers and the engine may ask it.
  void look_for_leaks() {
    const auto& core = box_.core();
    if (!box_.kernel.covers(tunnel) || box_.port().silent() || core.commands().outstanding() || core.discard_owed() ||
        !core.values().on(setting::enable))
      covered_since_ = now_;
    if (left_plain_ && covered_since_ + from_s(3) < now_) wrong_ = "a frame left plain that a policy covers";
    left_plain_ = false;
  }

  void key(u32 what) {
    const auto remove = [this](std::vector<u32>& of, bool all) {
      while (!of.empty() && (all || of.size() > 1)) {
        box_.remove_association(of.front());
        of.erase(of.begin());
        if (!all) return;
      }
    };
    if (what == 2) {
      box_.cover(tunnel, false);
      remove(out_, true);
      remove(in_, true);
    }
    if (what == 1) {
      remove(out_, false);
      remove(in_, false);
    }
    if (what == 0 || what == 3) {
      out_.push_back(box_.add_association(tunnel, true));
      in_.push_back(box_.add_association(tunnel, false));
      keys_.insert(out_.back());
      box_.cover(tunnel, true);
    }
  }

  // The entry that vouched for a forwarded frame has a record, and that record is the frame's own: its tuple, its direction, the
  // identity and the place it arrived with, the next hop it left by. Anything else forwards somebody else's traffic.
  void owns(const frame_facts& f, const verdict& v) {
    auto& core = box_.core();
    const record& r = core.table()[v.connection.index];
    if (r.state == record_state::free || r.revision != v.connection.revision) {
      wrong_ = "a frame was forwarded for a connection without a record";
      return;
    }
    // Whoever sends first is the opener to the firewall, whatever he is here.
    const auto direction_in = [&](const auto& t) {
      return direction_of(core.table().template tuples_of<std::decay_t<decltype(t)>>(v.connection.index), t);
    };
    const int direction = r.which != f.which ? -1 : f.which == family::ipv4 ? direction_in(f.v4) : direction_in(f.v6);
    if (direction < 0) {
      wrong_ = "a frame was forwarded as another connection's";
      return;
    }
    const direction_record& way = r.directions[static_cast<usize>(direction)];
    if (way.stays) wrong_ = "a frame was forwarded that stays with the host";
    if (!(way.who == v.who)) wrong_ = "a frame was forwarded under an identity that is not its record's";
    if (f.vlan != way.where.vlan) wrong_ = "a frame was forwarded from a place that is not its record's";
  }

  box<tiny_policies> box_;
  bool nat_;
  bool reuses_;
  instant now_;
  u16 vlan_[flows]{};
  u32 sent_[flows][2]{};  // bytes, by direction
  // A connection whose state is gone: when that was seen first, and the bound at that moment.
  struct dead {
    u16 revision;
    instant since;
    microseconds bound;
  };
  std::map<u32, dead> dead_since_;  // by index
  std::vector<u32> out_;  // the kernel's associations of the tunnel, the youngest last
  std::vector<u32> in_;
  std::set<u32> keys_;            // all that ever encrypted for the tunnel
  std::map<u32, u64> numbers_;    // the last sequence number of each
  instant covered_since_;
  bool left_plain_ = false;  // in the step at hand
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

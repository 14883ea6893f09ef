// A history: inputs to an appliance whose tables overflow within a few frames, and the laws that hold after each of them.
// The property test draws histories, the fuzzer decodes them from bytes; both apply them here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/box.hpp"
#include "sim/flows.hpp"

namespace octep::sim {

// Two slots of four places, three connections, four next hops.
struct tiny_policies {
  using atomics = builtin_atomics;
  using hash = any_hash;
  using choice = oldest_goes;
  using refusals = refusals_by_tuple<2, 4>;
  using make_budget = plain_budget;
  static constexpr limits geometry{.slots = 2, .places = 4};
  static constexpr u32 rings = punt_rings;
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  static constexpr bool walk_resumes = true;
  static constexpr bool walk_end_clears_marks = true;
};

// One input, in words: a failing history shrinks to a few of these.
struct input {
  enum class kind { frames, wait, fault, kill, flush, discard, set, vlan };
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
constexpr setting switched[] = {setting::enable, setting::auto_make, setting::fast, setting::fast_make};
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
    case input::kind::vlan: return fmt::format("flow {} moves to VLAN {}", i.a, i.b);
  }
  return "?";
}

class history {
 public:
  explicit history(bool nat, u64 seed) : box_{options(nat, seed)}, nat_{nat} {
    box_.port().choose_faults([this](const command& c, instant) {
      look_at(c);
      return std::optional<command_fault>{};
    });
    box_.on_event = [this](const event& e) { made_ += e.kind == event_kind::made; };
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
    for (u32 flow = 0; flow < 6; ++flow) {
      int places = 0;
      for (u32 slot = 0; slot < tiny_policies::geometry.slots; ++slot)
        (void)core.template candidates_for<tuple4>().for_each_place(
            slot, [&](u32, const candidate<tuple4>& c) { places += c.tuple == ends(flow).opener; });
      if (places > 1) return "a tuple stands in two places";
    }
    if (core.counters().value(pass_counter::auto_made) != made_) return "a make was not told";
    return {};
  }

  [[nodiscard]] u64 made() const noexcept { return made_; }

 private:
  static appliance_options options(bool nat, u64 seed) {
    appliance_options o;
    o.seed = seed;
    o.nat = nat;
    o.connections = 3;
    o.next_hops = 4;
    return o;
  }
  [[nodiscard]] static flow_ends ends(u32 flow) {
    constexpr protocol protos[] = {protocol::tcp, protocol::udp, protocol::tcp, protocol::udp, protocol::icmp, protocol::tcp};
    flow_ends e = plain_flow(0x0100'000a + (flow << 24), 0, 0x0100'00c0, 443, protos[flow]);
    const u16 word = port_word(static_cast<u16>(40'000 + flow));
    e.opener.ports = join_ports(word, is_echo(protos[flow]) ? port_word(8) : port_word(443));
    e.responder = reverse(e.opener);
    return e;
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
    const bool tcp = ends(i.a).opener.proto == protocol::tcp;
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

  void send(u32 flow, u32 direction, u8 flags) {
    frame_facts f{};
    f.why = reason::none;
    f.which = family::ipv4;
    f.vlan = vlan_[flow];
    f.v4 = direction == 0 ? ends(flow).opener : ends(flow).responder;
    f.closing = (flags & (tcp_flags::fin_bit | tcp_flags::rst_bit)) != 0;
    now_ = now_ + microseconds{10};
    if (direction == 1 && nat_) {
      f.v4 = reverse(ends(flow).opener);
      if (!box_.translate_reply(f, now_)) return;
    }
    const arrival_verdict v = box_.arrive(static_cast<u16>(1 + direction), f, 100, tcp_flags{flags}, now_);
    if (v.forwarded) {
      // What is forwarded leaves as its own connection's, never as another's.
      const wide_tuple other = direction == 0 ? wide_tuple{ends(flow).opener} : reverse(wide_tuple{ends(flow).opener});
      if (direction == 0 && !(v.device.leaves.destination == other.destination)) wrong_ = "forwarded to another's destination";
      if (direction == 1 && !(v.device.leaves.destination == other.destination && v.device.leaves.ports == other.ports))
        wrong_ = "a reply was delivered to another opener";
    } else {
      ++punted_;
    }
  }

  box<tiny_policies> box_;
  bool nat_;
  instant now_;
  u16 vlan_[6]{};
  u64 punted_ = 0;
  u64 made_ = 0;
  std::string wrong_;
};

}  // namespace octep::sim

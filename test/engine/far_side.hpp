// A far side that knows what it was told, for tests of what holds over time, and a bench top whose clock runs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"

namespace octep::test {

// Entries, next hops and microflows by what commands said, nothing else.
struct far_side {
  struct programmed {
    handle connection;
    u8 direction = 0;
    handle hop;
    handle association;
  };

  std::map<u32, u16> hops;            // index: revision
  std::map<u32, next_hop> hop_words;  // what it was set to
  std::map<u32, u16> entries;         // index: revision, while valid
  std::map<u32, programmed> microflows;
  std::map<u32, u32> stamps;  // by identity word
  std::set<u32> dead;         // identity words whose microflow is gone
  std::map<u32, u16> associations;                // index: revision
  std::map<u32, association_traffic> traffic;     // by index, whoever used it

  [[nodiscard]] bool lives(identity who) const { return !dead.contains(who.word); }
  void moves(identity who) { ++stamps[who.word]; }

  void program(const command& c, u8 direction, const microflow& of) {
    if (of.who.names_flow() && lives(of.who)) microflows[of.who.word] = {c.target, direction, of.next_hop, of.association};
  }
  answer execute(const command& c) {
    answer a;
    switch (c.kind) {
      case command_kind::next_hop_set:
        hops[c.target.index] = c.target.revision;
        hop_words[c.target.index] = c.hop;
        break;
      case command_kind::next_hop_release: hops.erase(c.target.index); break;
      case command_kind::create:
        entries[c.target.index] = c.target.revision;
        for (u8 d = 0; d < 2; ++d) program(c, d, c.microflows[d]);
        break;
      case command_kind::program: program(c, c.direction, c.microflows[0]); break;
      case command_kind::deactivate: microflows.erase(c.microflows[0].who.word); break;
      case command_kind::reclaim: entries.erase(c.target.index); break;
      case command_kind::read_entry:
        if (const auto e = entries.find(c.target.index); e != entries.end()) {
          a.entry = entry_state::valid;
          a.entry_revision = e->second;
        }
        break;
      case command_kind::read_microflow:
        a.lives = lives(c.microflows[0].who) && microflows.contains(c.microflows[0].who.word);
        a.stamp = stamps[c.microflows[0].who.word];
        break;
      case command_kind::discard: forget_flows(); break;
      case command_kind::association_add:
        if (associations.contains(c.target.index)) a.code = answer_code::refused;
        associations.emplace(c.target.index, c.target.revision);
        break;
      case command_kind::association_delete: associations.erase(c.target.index); break;
      case command_kind::association_read: a.traffic = traffic[c.target.index]; break;
      case command_kind::none:
      case command_kind::count_: break;
    }
    return a;
  }
  // It knows nothing any more.
  void restart() {
    forget_flows();
    associations.clear();
    traffic.clear();
  }
  void forget_flows() {
    hops.clear();
    hop_words.clear();
    entries.clear();
    microflows.clear();
  }

  // Whether the engine and it agree, between two operations with nothing owed. Empty: they do; else the first law broken.
  template <class Engine>
  [[nodiscard]] std::string against(const Engine& core) const {
    u32 held = 0;
    std::map<u32, u32> referred;
    for (u32 i = 0; i < core.table().capacity(); ++i) {
      const record& r = core.table()[i];
      if (r.state == record_state::free) {
        if (entries.contains(i)) return fmt::format("entry {} is valid and has no record", i);
        continue;
      }
      ++held;
      if (r.state != record_state::held) continue;
      const auto e = entries.find(i);
      if (e == entries.end() || e->second != r.revision) return fmt::format("record {} has no entry at its revision", i);
      for (u8 d = 0; d < 2; ++d) {
        const direction_record& way = r.directions[d];
        if (!way.has_next_hop) return fmt::format("direction {} of record {} has no next hop", d, i);
        ++referred[way.next_hop.index];
        const auto set = hops.find(way.next_hop.index);
        if (set == hops.end() || set->second != way.next_hop.revision) return fmt::format("next hop {} is not set", way.next_hop.index);
        if (!(hop_words.at(way.next_hop.index) == core.hops()[way.next_hop.index].hop)) return "a next hop is set to another";
        const auto m = microflows.find(way.who.word);
        if (m == microflows.end()) {
          if (lives(way.who) && !way.stays) return fmt::format("direction {} of record {} is not programmed", d, i);
        } else if (!(m->second.connection == handle{i, r.revision}) || m->second.direction != d || !(m->second.hop == way.next_hop)) {
          return fmt::format("direction {} of record {} is programmed as another", d, i);
        } else if (const handle named = way.encrypted_by.none() ? handle{} : octep::associations::named_as(octep::associations::handle_of(way.encrypted_by));
                   !(m->second.association == named)) {
          return fmt::format("direction {} of record {} is encrypted by another association", d, i);
        }
      }
    }
    if (held != core.table().held()) return "the table counts wrong";
    for (const auto& [word, m] : microflows) {
      const record* r = m.connection.index < core.table().capacity() ? &core.table()[m.connection.index] : nullptr;
      if (r == nullptr || r->state == record_state::free || r->revision != m.connection.revision) return "a microflow has no record";
    }
    for (const auto& [word, m] : microflows)
      if (m.association.revision != 0) {
        const auto there = associations.find(m.association.index - 1);
        if (there == associations.end() || there->second != m.association.revision) return "a microflow names an association that is gone";
      }
    for (u32 h = 0; h < core.hops().capacity(); ++h) {
      if (core.hops()[h].references != referred[h]) return fmt::format("next hop {} is referred to {} times and counts {}", h, referred[h], core.hops()[h].references);
      if (core.hops()[h].state == next_hop_state::free && hops.contains(h)) return fmt::format("next hop {} is set and of nobody", h);
    }
    return {};
  }
};

// Room for a device's own number of connections.
struct fleet_policies {
  using atomics = builtin_atomics;
  using hash = fold_mix;
  using choice = rank_and_lot;
  using tags = scalar_tags;
  using refusals = refusals_by_tuple<64, 64>;
  using make_budget = plain_budget;
  static constexpr limits geometry{.slots = 64, .places = 16};
  static constexpr u32 rings = 1;
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  static constexpr bool walk_resumes = true;
  static constexpr bool walk_end_clears_marks = true;
  static constexpr u32 walk_slice = 1'000;
  static constexpr full_table room = full_table::idle_makes_room;
  static constexpr bool ipv6 = false;
};
struct keeps_all : fleet_policies {
  static constexpr full_table room = full_table::keeps_all;
};

// A bench top with that far side, which answers at once or after `takes`, while time goes by.
template <class Policies = fleet_policies>
class live_top : public bench_top<Policies> {
 public:
  using base = bench_top<Policies>;

  explicit live_top(u32 connections = 8, u32 next_hops = 8, instant start = {5'000'000})
      : base{{.connections = connections, .next_hops = next_hops, .ipv6_connections = false, .associations = 4}, start} {}

  far_side far;
  microseconds takes{};
  std::map<command_kind, u32> posted_of;  // how many of each kind were posted
  std::function<void(const command&)> on_post;
  std::function<void(instant, instant)> passing;  // traffic, while time goes from one instant to another

  static constexpr u32 first_id(u32 n) { return 10 * n; }

  // The connection of flow(n), whose state is `n`.
  void know(u32 n) { this->world.firewall.known4.push_back(settled_state(flow(n), n)); }
  void make(u32 from, u32 to) {
    auto& core = this->core();
    const u32 most = core.values()[setting::poll_commands];
    (void)core.set(setting::poll_commands, 1'024, this->now);
    for (u32 n = from; n <= to;) {
      for (const u32 end = std::min(n + 50, to + 1); n < end; ++n) {
        know(n);
        this->both(flow(n), first_id(n));
      }
      run_for(from_s(1));
    }
    (void)core.set(setting::poll_commands, most, this->now);
    run();
  }

  // One command, if one is posted now.
  bool one() {
    const command c = this->posted();
    if (c.kind == command_kind::none) return false;
    ++posted_of[c.kind];
    if (on_post) on_post(c);
    this->now.us += takes.count;
    this->answer_it(answer_code::done, far.execute(c));
    return true;
  }
  // All that is due now.
  void run() {
    u32 n = 0;
    while (one() && n < 2'000'000) ++n;
    EXPECT_LT(n, 2'000'000U) << "it never rests";
  }
  // Until then, at each instant that the engine names; what is due then is done.
  void run_to(instant then) {
    for (u32 n = 0; n < 20'000'000; ++n) {
      const step s = this->next();
      if (s.what == step::kind::post) {
        this->tag = s.tag;
        const command c = *s.post;
        ++posted_of[c.kind];
        if (on_post) on_post(c);
        go_to(this->now + takes);
        this->answer_it(answer_code::done, far.execute(c));
        stuck_ = 0;
        continue;
      }
      if (s.until <= this->now) {
        if (++stuck_ < 100'000) continue;
        ADD_FAILURE() << "it never rests";
        return;
      }
      stuck_ = 0;
      if (then < s.until) return go_to(then);
      go_to(s.until);
    }
  }
  void run_for(microseconds d) { run_to(this->now + d); }

  [[nodiscard]] found find(u32 n) { return this->core().table().find(flow(n), this->core().hash_of(flow(n))); }
  [[nodiscard]] const record& of(u32 n) { return this->core().table()[find(n).index]; }
  [[nodiscard]] bool holds(u32 n) {
    const found f = find(n);
    return f.is && this->core().table()[f.index].state == record_state::held;
  }
  [[nodiscard]] identity who(u32 n, u8 direction = 0) { return identity::make(first_id(n) + direction, 1); }
  [[nodiscard]] u64 told(event_kind kind) {
    u64 n = 0;
    for (const event& e : this->world.events.seen) n += e.kind == kind;
    return n;
  }
  [[nodiscard]] std::string broken() { return far.against(this->core()); }

 private:
  void go_to(instant then) {
    const instant before = this->now;
    this->now = greatest(then, before);
    if (passing && before < this->now) passing(before, this->now);
  }

  u32 stuck_ = 0;
};

}  // namespace octep::test

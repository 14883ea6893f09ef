// P2: the whole way of a punted frame (parse, hash, hot, write, count), against the same parser, one map that is asked "is
// it held" and one that is written to, both under one turn of a spinlock.
//
// A rival keeps no counters, names no reason and wakes nobody: it does less, and is not charged for it.
#include <octep/octep.hpp>

#include <cstring>
#include <memory>

#include "bench/bench_engine.hpp"
#include "bench/ours.hpp"
#include "bench/remembered.hpp"
#include "bench/rivals.hpp"
#include "bench/streams.hpp"
#include "bench/targets/targets.hpp"

namespace octep::bench {
namespace {

constexpr u32 window_length = 4'096;

// Windows of whole frames, one after the other.
struct frames {
  std::vector<frame_bytes> all;

  explicit frames(const stream& s) {
    for (const tuple4& t : s.frames()) all.push_back(frame_of(t));
  }
  [[nodiscard]] std::span<const frame_bytes> window(u64 turn) const {
    return {all.data() + turn % (all.size() / window_length) * window_length, window_length};
  }
};

template <class Map>
struct rival {
  exchange_lock lock;
  Map seen;
  Map held;  // its records are not read

  [[gnu::always_inline]] bool punt(const frame_bytes& f, const punt_metadata& from, instant now) noexcept {
    frame_facts facts;
    parse_ethernet({f.bytes, sizeof f.bytes, sizeof f.bytes}, facts);
    if (facts.why != reason::none) return false;
    const arrival how{from.who, {from.port, facts.vlan}, from.association, facts.closing, tick::at(now)};
    lock.lock();
    const bool is_held = held.find(facts.v4) != held.end();
    const auto [at, fresh] = seen.try_emplace(facts.v4);
    const write_outcome outcome = value_at(seen, at).take(facts.v4.proto, how, due_log2, !fresh);
    lock.unlock();
    return is_held || outcome.due;
  }
};

void measure(report& out, const options& o, u32 flows, order by) {
  const auto all = flows_of(flows, 2);
  const stream s{all, by, 1};
  const frames f{s};
  const auto strangers = flows_of(held_by_engine, 3);  // what is held, and never punted here
  const punt_metadata from{identity::make(7, 1), 1, {}};

  race r{window_length};
  const auto core = std::make_shared<host_engine>();
  core->hold(strangers);
  r.enter(role::ours, "octep", [core, &f, from, now = core->now().us](u64 turn) mutable {
    u64 sum = 0;
    for (const frame_bytes& b : f.window(turn)) {
      now += 12;
      const punt_result said = (*core)->punt(0, {b.bytes, sizeof b.bytes, sizeof b.bytes}, from, {now});
      sum += said.kicked + static_cast<u64>(said.why);
    }
    return sum;
  });
  for_each_map<remembered>([&]<class Map>() {
    const auto it = std::make_shared<rival<Map>>();
    it->seen.reserve(flows);
    it->held.reserve(2 * held_by_engine);
    for (u32 i = 0; i < held_by_engine; ++i) {
      it->held.try_emplace(strangers[i]);
      it->held.try_emplace(reverse(strangers[i]));
    }
    r.enter(role::rival, std::string{Map::called}, [it, &f, from, now = core->now().us](u64 turn) mutable {
      u64 sum = 0;
      for (const frame_bytes& b : f.window(turn)) {
        now += 12;
        sum += it->punt(b, from, {now});
      }
      return sum;
    });
  });
  r.run(5, o.rounds(90));
  out.add(fmt::format("P2-{}-{}", flows, by == order::zipf ? "zipf" : "uniform"),
          fmt::format("whole punt, {} flows {}, {} held", flows, name_of(by), held_by_engine), r, "octep", 0.75);
}

// What keeping connections true costs a frame that belongs to none: the same stream into an engine that holds, holds back and
// reads stamps, and into one that never held anything.
void measure_cost_of_holding(report& out, const options& o) {
  const auto all = flows_of(256, 2);
  const stream s{all, order::uniform, 1};
  const frames f{s};
  const punt_metadata from{identity::make(7, 1), 1, {}};
  race r{window_length};
  const auto enter = [&](role as, const char* name, bool holds) {
    const auto core = std::make_shared<host_engine>();
    if (holds) core->hold(flows_of(held_by_engine, 3));
    r.enter(as, name, [core, &f, from, now = core->now().us](u64 turn) mutable {
      u64 sum = 0;
      for (const frame_bytes& b : f.window(turn)) {
        now += 12;
        const punt_result said = (*core)->punt(0, {b.bytes, sizeof b.bytes, sizeof b.bytes}, from, {now});
        sum += said.kicked + static_cast<u64>(said.why);
      }
      return sum;
    });
  };
  enter(role::ours, "octep", true);
  enter(role::rival, "octep that holds nothing", false);
  r.run(5, o.rounds(90));
  out.add("P2-holding", fmt::format("whole punt, 256 flows uniform, {} held", held_by_engine), r, "octep", 1.05);
}

}  // namespace

void measure_punts(report& out, const options& o) {
  measure_cost_of_holding(out, o);
  for (const u32 flows : {64U, 256U, 1'022U})
    for (const order by : {order::uniform, order::zipf}) measure(out, o, flows, by);
}

}  // namespace octep::bench

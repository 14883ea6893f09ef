// What 1,022, 65,536, 100,000 and 2,000,000 connections cost: memory by part, filling, look-ups, taking out and making, the longest step
// that a pass takes under its lock, deadlines.
//
//   scale_bench [--quick] [--json]
//
// First the tables alone, over memory brought from outside; then the engine, pulled by a worker in virtual time, 25 us a
// command (engine_at_scale.hpp). Nanoseconds and microseconds are of this machine and this minute; what a step took is given as
// median, what one in a thousand exceeds, and the longest, without steps that the scheduler cut in two.
// --quick: without 2,000,000. --json: the same rows, for programs.
#include "bench/scale/engine_at_scale.hpp"
#include "bench/scale/timing_wheel.hpp"

#include <octep/deadlines.hpp>
#include <octep/octep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace octep;

using bench::block;
using bench::durations;
using bench::engine_at_scale;
using bench::timing_wheel;

// Nanoseconds of each of `count` calls, and of the longest.
struct timed {
  double each = 0;
  double longest = 0;
};
template <class F>
timed time_calls(u32 count, F&& call) {
  using clock = std::chrono::steady_clock;
  const auto ns = [](clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); };
  timed t;
  const auto start = clock::now();
  auto last = start;
  bench::interruptions interruptions;
  for (u32 i = 0; i < count; ++i) {
    call(i);
    const auto now = clock::now();
    const double took = ns(now - last);
    if (took > t.longest && !interruptions.during(took / 1000)) t.longest = took;
    last = now;
  }
  t.each = ns(last - start) / count;
  return t;
}

class rows {
 public:
  rows(u32 capacity, bool json) : capacity_{capacity}, json_{json} {}
  void add(std::string_view name, double value, std::string_view unit) {
    if (json_)
      text_ += fmt::format("{}{{\"held\":{},\"row\":\"{}\",\"value\":{:.1f},\"unit\":\"{}\"}}", text_.empty() ? "" : ",\n",
                           capacity_, name, value, unit);
    else
      text_ += fmt::format("{:>9}  {:<66} {:>16.1f} {}\n", capacity_, name, value, unit);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  u32 capacity_;
  bool json_;
  std::string text_;
};

void measure_tables(rows& out, u32 capacity) {
  using hot_cell = hot_table<>::cell;
  const usize buckets = hot_table<>::buckets_for(capacity);
  const auto bytes = [&](std::string_view name, usize n) {
    out.add(name, static_cast<double>(n), "bytes");
    out.add(std::string{name} + ", a connection", static_cast<double>(n) / capacity, "bytes");
  };
  bytes("connections, IPv4 only", connections::bytes_for(capacity, false));
  bytes("connections, with IPv6", connections::bytes_for(capacity, true));
  bytes("hot table", arena::bytes_for<hot_cell>(buckets));

  const block table_memory{connections::bytes_for(capacity, false)};
  connections table;
  hot_table<> hot;
  arena from = table_memory.cut();
  const auto cells = std::make_unique<hot_cell[]>(buckets);
  hot.init({cells.get(), buckets});
  if (!table.init(from, capacity, false)) std::abort();

  const keyed_mix mix;
  std::mt19937_64 random{capacity};
  const auto make = [&](u32) {
    const tuple4 t = tuple4::make(static_cast<u32>(random()), static_cast<u32>(random()), static_cast<u32>(random()),
                                  protocol::tcp);
    const tuple4 back = reverse(t);
    const u32 hash[2] = {mix(t), mix(back)};
    const u32 index = table.allocate<tuple4>({t, back}, hash[0], hash[1]);
    if (index == connections::none) std::abort();
    hot.add(hash[0]);
    hot.add(hash[1]);
  };
  const auto take_out = [&](u32 index) {
    hot.remove(table.hash_of(index, 0));
    hot.remove(table.hash_of(index, 1));
    table.release(index);
  };
  const auto both = [&](std::string_view name, timed t) {
    out.add(name, t.each, "ns");
    out.add(std::string{name} + ", longest", t.longest, "ns");
  };
  both("fill: one connection", time_calls(capacity, make));

  u32 perhaps = 0;
  constexpr u32 strangers = 1'000'000;
  for (u32 i = 0; i < strangers; ++i) perhaps += hot.perhaps(static_cast<u32>(random()));
  out.add("strangers that read as perhaps held", 100.0 * perhaps / strangers, "percent");

  const u32 pairs = std::min(capacity, 200'000U);
  both("churn: a take-out and a make", time_calls(pairs, [&](u32 i) {
         take_out(static_cast<u32>(random() % capacity));
         make(i);
       }));
}

// The heap that the engine uses, and a wheel: the same instants for both, in milliseconds, which is all that a wheel knows.
template <class Queue>
void measure_deadlines(rows& out, u32 capacity, std::string_view name) {
  const block memory{Queue::bytes_for(capacity)};
  arena from = memory.cut();
  const auto queue = std::make_unique<Queue>();
  if (!queue->init(from, capacity)) std::abort();
  std::mt19937_64 random{capacity};
  constexpr u64 day_ms = 86'400'000;
  const auto row = [&](std::string_view what, timed t) {
    out.add(fmt::format("{}: {}", name, what), t.each, "ns");
    out.add(fmt::format("{}: {}, longest", name, what), t.longest / 1000, "us");
  };
  out.add(fmt::format("{}: memory, an id", name), static_cast<double>(Queue::bytes_for(capacity)) / capacity, "bytes");
  row("armed", time_calls(capacity, [&](u32 id) { queue->set(id, instant{} + from_ms(random() % day_ms)); }));
  const u32 n = std::min(capacity * 20, 400'000U);
  row("armed anew, half a day later than any of now", time_calls(n, [&](u32) {
        queue->set(static_cast<u32>(random() % capacity), instant{} + from_ms(day_ms + random() % (day_ms / 2)));
      }));
  // Until whoever is earliest has come: a wheel's `next` may be earlier than anybody.
  row("the earliest comes and is armed anew", time_calls(n, [&](u32) {
        u32 id;
        instant at;
        do {
          at = queue->next();
          id = queue->pop_due(at);
        } while (id == Queue::none);
        queue->set(id, at + from_ms(day_ms / 2));
      }));
}

void steps(rows& out, std::string_view name, durations& took) {
  out.add(std::string{name} + ", median", took.part(0.5), "us");
  out.add(std::string{name} + ", 1 in 1,000 longer", took.part(0.999), "us");
  out.add(std::string{name} + ", longest", took.longest(), "us");
}

// More strangers than the candidate table has places for.
void crowd(engine_at_scale& e) {
  for (u32 i = 0; i < 16'384; ++i) e.punt(e.stranger());
}

// Strangers for some seconds, and what runs do about them. `others`: frames of held connections ask for a run whenever
// there may be one.
void strangers_a_second(rows& out, engine_at_scale& e, u32 a_second, bool others) {
  e.set(setting::poll_ms, 1'000);
  constexpr u32 lasts_s = 4;
  const u64 scans = e.count(pass_counter::fast_scans);
  const u64 runs = e.count(pass_counter::fast_runs);
  const u64 hot = e->counted(ring_counter::hot_frames);
  const microseconds gap{1'000'000 / a_second};
  const microseconds run_gap = from_ms(e->values()[setting::run_gap_ms]);
  e.measure();
  const instant until = e.now() + from_s(lasts_s);
  instant other = e.now();
  u64 asked = 0;
  while (e.now() < until) {
    e.punt(e.stranger());
    if (others && other <= e.now()) {
      e.punt(e.held_tuple());
      other = e.now() + run_gap;
      ++asked;
    }
    e.work();
    e.pass(gap);
  }
  const std::string name = fmt::format("{} strangers a second{}", a_second, others ? " and a run each gap" : "");
  const auto rate = [](u64 n) { return static_cast<double>(n) / lasts_s; };
  out.add(name + ": perhaps held", rate(e->counted(ring_counter::hot_frames) - hot - asked), "/s");
  out.add(name + ": runs", rate(e.count(pass_counter::fast_runs) - runs), "/s");
  out.add(name + ": wasted searches", rate(e.count(pass_counter::fast_scans) - scans), "/s");
  steps(out, name + ": a run", e.runs);
  out.add(name + ": the longest step of all", e.steps.longest(), "us");
  e.set(setting::poll_ms, 10);
}

void look_ups(rows& out, engine_at_scale& e) {
  struct question {
    tuple4 tuple;
    u32 hashed;
  };
  const auto ask = [&](std::string_view name, auto&& of) {
    std::vector<question> all(200'000);
    for (question& q : all) {
      q.tuple = of();
      q.hashed = e->hash_of(q.tuple);
    }
    u32 found = 0;
    const double us = bench::microseconds_of([&] {
      for (const question& q : all) found += e->table().find(q.tuple, q.hashed).is;
    });
    asm volatile("" : : "r"(found));
    out.add(name, us * 1000 / static_cast<double>(all.size()), "ns");
  };
  ask("a look-up that finds", [&] { return e.held_tuple(); });
  ask("a look-up that finds nobody", [&] { return e.stranger(); });
}

void measure_engine(rows& out, u32 capacity, bool quick) {
  constexpr double command_us = engine_at_scale::command_time.count;
  out.add("engine: what init cuts from the arena", static_cast<double>(engine_at_scale::bytes(capacity)), "bytes");
  out.add("engine: the same, a connection", static_cast<double>(engine_at_scale::bytes(capacity)) / capacity, "bytes");
  out.add("engine: itself, whatever the capacity", sizeof(engine_at_scale::engine_type), "bytes");
  engine_at_scale e{capacity};

  const auto commands = [&] { return e.count(pass_counter::cmd_posted); };
  const instant began = e.now();
  e.fill(capacity);
  const double each = static_cast<double>(commands()) / static_cast<double>(e.count(pass_counter::auto_made));
  out.add("fill: virtual time", static_cast<double>(e.now().since(began).count) / 1e6, "s");
  out.add("fill: commands a make", each, "");
  out.add("fill: sustainable", 1e6 / (command_us * each), "makes/s");
  out.add("fill: sustainable, where both next hops are to be programmed", 1e6 / (command_us * 3), "makes/s");
  steps(out, "fill: a step", e.steps);
  steps(out, "fill: an answer", e.answers);
  look_ups(out, e);

  e.poll();
  e.measure();
  for (u32 i = 0; i < 2'000; ++i) e.poll();
  steps(out, "quiet walk", e.steps);

  e.measure();
  for (u32 i = 0; i < (quick ? 50U : 200U); ++i) {
    crowd(e);
    e.poll();
  }
  steps(out, "every place a refused stranger: a slice of the walk", e.steps);

  for (const u32 n : {2'000U, 5'000U})
    for (const bool others : {false, true}) {
      e.fill(capacity);  // a held connection's frames may have had it taken out
      strangers_a_second(out, e, n, others);
    }

  // Upkeep: the whole table is asked whether its states live, then asked about again, as after a change of rules.
  e.fill(capacity);
  const auto upkeep = [&](std::string_view name, auto&& begin) {
    e.measure();
    for (u32 i = 0; i < (quick ? 3U : 10U); ++i) {
      begin();
      e.work();
    }
    steps(out, name, e.steps);
  };
  upkeep("sweep of all that is held: a slice", [&] { e->states_gone(); });
  upkeep("rules changed: a slice of asking again", [&] { e->changed(); });

  e.fill(capacity);
  e.measure();
  const u64 discards = e.count(pass_counter::discards);
  const u64 forgot = e.count(pass_counter::flow_forgot);
  e->request_discard();
  e.work();
  if (e.count(pass_counter::discards) != discards + 1 || e.count(pass_counter::flow_forgot) != forgot + capacity)
    std::abort();
  steps(out, "discard: a slice of forgetting", e.steps);
  out.add("discard: its answer", e.answers.longest(), "us");

  // One stays and keeps both next hops programmed; a connection whose state is gone when it was made is taken out at once.
  e.fill(1);
  e.world().firewall.state = bench::brief_state;
  const u64 before = commands();
  const u64 made = e.count(pass_counter::auto_made);
  const u64 gone = e.count(pass_counter::flow_reclaimed);
  for (u32 round = 0; round < 40; ++round) {
    for (u32 i = 0; i < 256; ++i) {
      const tuple4 t = e.host_flow();
      e.punt(t, 1);
      e.punt(reverse(t), 2);
    }
    e.poll();
  }
  const u64 pairs = e.count(pass_counter::flow_reclaimed) - gone;
  if (pairs == 0 || pairs > e.count(pass_counter::auto_made) - made) std::abort();
  const double a_pair = static_cast<double>(commands() - before) / static_cast<double>(pairs);
  out.add("churn: commands a make and its take-out", a_pair, "");
  out.add("churn: sustainable", 1e6 / (command_us * a_pair), "pairs/s");
}

std::string measure(u32 capacity, bool json, bool quick) {
  rows out{capacity, json};
  if (capacity != 100'000) {  // asked for by the bound on what holds the pass lock alone
    measure_tables(out, capacity);
    measure_deadlines<deadlines>(out, capacity, "heap");
    measure_deadlines<timing_wheel>(out, capacity, "wheel");
  }
  measure_engine(out, capacity, quick);
  return out.text();
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option{argv[i]};
    if (option == "--quick") {
      quick = true;
    } else if (option == "--json") {
      json = true;
    } else {
      fmt::print(stderr, "scale_bench [--quick] [--json]\n");
      return 2;
    }
  }
  std::string text;
  for (const u32 capacity : {1'022U, 65'536U, 100'000U, 2'000'000U})
    if (!quick || capacity < 1'000'000) text += (json && !text.empty() ? ",\n" : "") + measure(capacity, json, quick);
  if (json)
    fmt::print("{{\"rows\":[{}]}}\n", text);
  else
    fmt::print("{}", text);
  return 0;
}

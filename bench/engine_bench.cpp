// The whole way of a punted frame, the hot look-up alone, and walks: quiet, and over a table full of what cannot be made.
//
// The rival of the whole punt does the same work with the same parser: an upsert of tuple and identity into a general map
// behind a lock, and "is it held" in a second one. Same frames, same order, tables filled before.

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include <benchmark/benchmark.h>

#include <octep/octep.hpp>

#if __has_include(<absl/container/flat_hash_map.h>)
#include <absl/container/flat_hash_map.h>
#define OCTEP_HAS_ABSL 1
#endif

#include "sim/random.hpp"

namespace octep {
namespace {

struct bench_world {
  struct {
    firewall_answer<tuple4> find(const tuple4&, instant) const { return {}; }
    firewall_answer<tuple6> find(const tuple6&, instant) const { return {}; }
    bool alive(const array<state_id, 2>&, instant) const { return true; }
    void relax(const array<state_id, 2>&, instant) const {}
  } firewall;
  struct {
    next_hop_answer resolve(const next_hop_question<tuple4>&) const { return {}; }
    next_hop_answer resolve(const next_hop_question<tuple6>&) const { return {}; }
  } next_hops;
  struct {
    void enter() const {}
    void leave() const {}
  } guard;
  struct {
    void operator()(const event&) const {}
  } events;
  device_facts device = xgs3300;
  void kick() const {}
};

class started_engine {
 public:
  using engine_type = engine<bench_world>;

  started_engine() : core_{std::make_unique<engine_type>()} {
    const start_options o{.connections = 1'022, .next_hops = 254, .ipv6_connections = false};
    memory_.resize(engine_type::bytes_for(o) + arena::alignment);
    void* first = memory_.data();
    std::size_t room = memory_.size();
    std::align(arena::alignment, room - arena::alignment, first, room);
    arena from{first, room};
    if (!core_->init(world_, o, keyed_mix{1}, from, {})) std::abort();
  }
  engine_type& operator*() { return *core_; }
  engine_type* operator->() { return core_.get(); }

 private:
  bench_world world_;
  std::vector<unsigned char> memory_;
  std::unique_ptr<engine_type> core_;
};

struct frame_bytes {
  u8 bytes[64];
};

// Ethernet, IPv4, TCP with ACK: what a busy link punts.
frame_bytes tcp_frame(u32 host, u16 port) {
  frame_bytes f{};
  u8* const b = f.bytes;
  b[0] = b[6] = 2;
  store_be16(b + 12, 0x0800);
  b[14] = 0x45;
  store_be16(b + 16, 50);
  b[22] = 64;
  b[23] = 6;
  store_le32(b + 26, 0x0000'000a | (host << 8));
  store_le32(b + 30, 0x0700'63c6);
  store_be16(b + 34, port);
  store_be16(b + 36, 443);
  b[46] = 0x50;
  b[47] = 0x10;
  return f;
}

// Frames of `flows` flows in a random order, long enough that no predictor learns it.
std::vector<frame_bytes> frames_of(u32 flows) {
  sim::generator random{flows};
  std::vector<frame_bytes> all;
  for (u32 i = 0; i < 16'384; ++i) {
    const u32 flow = static_cast<u32>(random.below(flows));
    all.push_back(tcp_frame(flow / 7, static_cast<u16>(40'000 + flow)));
  }
  return all;
}

void whole_punt(benchmark::State& state) {
  started_engine core;
  const auto frames = frames_of(static_cast<u32>(state.range(0)));
  const punt_metadata from{identity::make(7, 1), 1, {}};
  u64 now = 1'000'000;
  usize i = 0;
  for (const auto& f : frames) (void)core->punt(0, {f.bytes, 64, 64}, from, {now});
  for (auto _ : state) {
    now += 12;
    benchmark::DoNotOptimize(core->punt(0, {frames[i].bytes, 64, 64}, from, {now}));
    i = (i + 1) & 16'383;
  }
}
BENCHMARK(whole_punt)->Name("punt/octep")->Arg(64)->Arg(256)->Arg(1'022);

struct tuple_hash {
  keyed_mix mix{1};
  std::size_t operator()(const tuple4& t) const noexcept { return u64{mix(t)} * 0x9e37'79b9'7f4a'7c15U; }
};

class spin_lock {
 public:
  void lock() noexcept {
    while (word_.exchange(1, std::memory_order_acquire) != 0) {
    }
  }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<int> word_{0};
};

struct remembered {
  u32 who = 0;
  u32 where = 0;
  u32 at = 0;
  u32 count = 0;
};

template <class Map, class Held>
void rival_punt(benchmark::State& state) {
  const auto frames = frames_of(static_cast<u32>(state.range(0)));
  Map seen;
  Held held;
  spin_lock lock;
  u32 now = 1'000;
  usize i = 0;
  const auto punt = [&](const frame_bytes& f) {
    frame_facts facts;
    parse_ethernet({f.bytes, 64, 64}, facts);
    if (facts.why != reason::none) return false;
    const bool is_held = held.find(facts.v4) != held.end();
    lock.lock();
    remembered& r = seen[facts.v4];
    r.who = 7;
    r.where = 1;
    r.at = now;
    ++r.count;
    lock.unlock();
    return is_held;
  };
  for (const auto& f : frames) (void)punt(f);
  for (auto _ : state) {
    ++now;
    benchmark::DoNotOptimize(punt(frames[i]));
    i = (i + 1) & 16'383;
  }
}
BENCHMARK(rival_punt<std::unordered_map<tuple4, remembered, tuple_hash>, std::unordered_map<tuple4, u32, tuple_hash>>)
    ->Name("punt/std_unordered_map")
    ->Arg(64)
    ->Arg(256)
    ->Arg(1'022);
#ifdef OCTEP_HAS_ABSL
BENCHMARK(rival_punt<absl::flat_hash_map<tuple4, remembered, tuple_hash>, absl::flat_hash_map<tuple4, u32, tuple_hash>>)
    ->Name("punt/absl_flat_hash_map")
    ->Arg(64)
    ->Arg(256)
    ->Arg(1'022);
#endif

void hot_look_up(benchmark::State& state) {
  using hot_type = hot_table<builtin_atomics>;
  std::vector<hot_type::cell> buckets(hot_type::buckets_for(1'022));
  hot_type hot;
  hot.init({buckets.data(), buckets.size()});
  sim::generator random{1};
  for (int i = 0; i < 2'044; ++i) hot.add(static_cast<u32>(random.next()));
  std::vector<u32> asked(4'096);
  for (u32& h : asked) h = static_cast<u32>(random.next());
  usize i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(hot.perhaps(asked[i]));
    i = (i + 1) & 4'095;
  }
}
BENCHMARK(hot_look_up);

// A poll: everything it does between two commands when there is nothing to do.
void walk_quiet(benchmark::State& state) {
  started_engine core;
  u64 now = 0;
  for (auto _ : state) benchmark::DoNotOptimize(core->next({now += 1'000'000}));
}
BENCHMARK(walk_quiet);

// A poll over 256 candidates that the firewall knows nothing of.
void walk_of_256_refusals(benchmark::State& state) {
  started_engine core;
  const punt_metadata from{identity::make(7, 1), 1, {}};
  std::vector<frame_bytes> frames;
  for (u32 i = 0; i < 4'096; ++i) frames.push_back(tcp_frame(i / 7, static_cast<u16>(30'000 + i)));
  u64 now = 0;
  u64 seen = 0;
  for (auto _ : state) {
    state.PauseTiming();
    now += 1'000'000;
    for (const auto& f : frames) (void)core->punt(0, {f.bytes, 64, 64}, from, {now - 1});
    const u64 before = core->counters().value(pass_counter::walk_seen);
    state.ResumeTiming();
    benchmark::DoNotOptimize(core->next({now}));
    seen = core->counters().value(pass_counter::walk_seen) - before;
  }
  state.counters["refusals"] = static_cast<double>(seen);
}
BENCHMARK(walk_of_256_refusals);

}  // namespace
}  // namespace octep

// A write to the candidate table, and a quiet walk, beside what would do the same work.
//
// Every writer gets the same stream of tuples (uniform or Zipf), the same hash (hash included in the figure), the same
// record and the same rules for count, closing mark and due. Rivals that are not shared by themselves stand behind a
// spinlock.
//
// Baseline and rivals interleaved, medians:
//   --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
//
// `forgets` is the share of frames that pushed another tuple out; a map forgets nothing and grows for ever.
#include <octep/candidates.hpp>

#include <octep/hash.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#if __has_include(<absl/container/flat_hash_map.h>)
#include <absl/container/flat_hash_map.h>
#define OCTEP_BENCH_ABSL 1
#endif
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#define OCTEP_BENCH_BOOST 1
#endif

namespace {

using namespace octep;

// --- streams ----------------------------------------------------------------------------------------------

struct stream {
  std::vector<tuple4> flows;
  std::vector<u16> order;  // which flow sends next

  stream(u32 count, bool zipf) : flows(count), order(8'192) {
    std::mt19937_64 random{count};
    for (tuple4& t : flows)
      t = tuple4::make(static_cast<u32>(random()), static_cast<u32>(random()), static_cast<u32>(random()),
                       protocol::udp);
    std::vector<double> weight(count);
    for (u32 i = 0; i < count; ++i) weight[i] = zipf ? 1.0 / (i + 1) : 1.0;
    std::discrete_distribution<u32> next(weight.begin(), weight.end());
    for (u16& n : order) n = static_cast<u16>(next(random));
  }
};

const stream& stream_of(u32 flows, bool zipf) {
  static std::unordered_map<u64, std::unique_ptr<stream>> made;
  auto& s = made[flows * 2 + zipf];
  if (!s) s = std::make_unique<stream>(flows, zipf);
  return *s;
}

const keyed_mix mix{};

// --- the same rules for everybody -------------------------------------------------------------------------

struct record {
  identity who;
  ingress where;
  association_word association;
  tick at;
  u32 count = 0;
  bool closing = false;
  bool due = false;
  bool unread = false;

  write_outcome write(const tuple4& t, const arrival& frame, u32 log2, bool same) {
    write_outcome o;
    o.lost = unread;
    o.evicted = unread && !same;
    o.evicted_read = !unread && !same && count != 0;
    count = same ? count + 1 : 1;
    o.due = is_power_of_two(count) && (count >> log2) != 0 && !frame.closing && !is_echo(t.proto);
    closing = frame.closing || (same && unread && closing);
    due = o.due || (same && unread && due);
    unread = true;
    who = frame.who;
    where = frame.where;
    association = frame.association;
    at = frame.at;
    return o;
  }
};

class spinlock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire))
      while (taken_.load(std::memory_order_relaxed)) {
      }
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

// --- writers ----------------------------------------------------------------------------------------------

struct columns {
  candidates<tuple4> table;
  [[gnu::always_inline]] write_outcome write(const tuple4& t, const arrival& frame) {
    return table.write(top_bits(mix(t), 6), t, frame, 4);
  }
};

// An array of records a slot, the same word, the same choice: what one would write first.
struct naive_records {
  struct place {
    tuple4 tuple;
    record r;
  };
  struct alignas(64) slot {
    std::atomic<u32> word{0};
    place places[4];
  };
  slot slots[64];

  [[gnu::always_inline]] write_outcome write(const tuple4& t, const arrival& frame) {
    slot& s = slots[top_bits(mix(t), 6)];
    u32 free = 0;
    if (!s.word.compare_exchange_strong(free, 1, std::memory_order_acquire)) return {.clash = true};
    place* to = nullptr;
    for (place& p : s.places)
      if (p.r.count != 0 && p.tuple == t) {
        to = &p;
        break;
      }
    const bool same = to != nullptr;
    for (place& p : s.places)
      if (to == nullptr && p.r.count == 0) to = &p;
    if (to == nullptr) {
      to = &s.places[0];
      for (place& p : s.places)
        if (p.r.at.age(frame.at) > to->r.at.age(frame.at)) to = &p;
    }
    to->tuple = t;
    const write_outcome o = to->r.write(t, frame, 4, same);
    s.word.store(0, std::memory_order_release);
    return o;
  }
};

struct tuple_hash {
  using is_avalanching = void;
  std::size_t operator()(const tuple4& t) const { return mix(t) * 0x9e37'79b9'7f4a'7c15ULL; }
};

template <class Map>
struct locked_map {
  spinlock lock;
  Map map;

  locked_map() { map.reserve(4'096); }
  [[gnu::always_inline]] write_outcome write(const tuple4& t, const arrival& frame) {
    lock.lock();
    const auto [at, fresh] = map.try_emplace(t);
    const write_outcome o = at->second.write(t, frame, 4, !fresh);
    lock.unlock();
    return o;
  }
};

template <class Writer>
void write(benchmark::State& state) {
  const stream& s = stream_of(static_cast<u32>(state.range(0)), state.range(1) != 0);
  const auto writer = std::make_unique<Writer>();
  arrival frame;
  frame.who = identity::make(7, 1);
  frame.where = {1, 0};
  u64 frames = 0;
  u64 forgotten = 0;
  // Filled before.
  for (const tuple4& t : s.flows) (void)writer->write(t, frame);
  for (auto _ : state) {
    for (const u16 n : s.order) {
      frame.at = tick{static_cast<u32>(frames++ >> 6)};
      const write_outcome o = writer->write(s.flows[n], frame);
      forgotten += o.evicted | o.evicted_read;
      benchmark::DoNotOptimize(o.due);
    }
  }
  state.SetItemsProcessed(static_cast<i64>(frames));
  state.counters["ns"] =
      benchmark::Counter(static_cast<double>(frames) / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["forgets"] = static_cast<double>(forgotten) / static_cast<double>(frames);
}

#define OCTEP_WRITERS(writer) \
  BENCHMARK(write<writer>)->ArgNames({"flows", "zipf"})->ArgsProduct({{64, 256, 1022}, {0, 1}})->Name("write/" #writer)

using unordered_map_behind_spinlock = locked_map<std::unordered_map<tuple4, record, tuple_hash>>;
OCTEP_WRITERS(columns);
OCTEP_WRITERS(naive_records);
OCTEP_WRITERS(unordered_map_behind_spinlock);
#if defined(OCTEP_BENCH_ABSL)
using absl_flat_hash_map_behind_spinlock = locked_map<absl::flat_hash_map<tuple4, record, tuple_hash>>;
OCTEP_WRITERS(absl_flat_hash_map_behind_spinlock);
#endif
#if defined(OCTEP_BENCH_BOOST)
using boost_flat_map_behind_spinlock = locked_map<boost::unordered_flat_map<tuple4, record, tuple_hash>>;
OCTEP_WRITERS(boost_flat_map_behind_spinlock);
#endif

// --- the walk over 256 places, nothing unread -------------------------------------------------------------

void walk_quiet_columns(benchmark::State& state) {
  const stream& s = stream_of(1'022, false);
  const auto writer = std::make_unique<columns>();
  candidate<tuple4> out;
  u32 place = 0;
  const auto anything = [](const auto&) { return true; };
  for (const tuple4& t : s.flows) (void)writer->write(t, {});
  for (u32 slot = 0; slot < 64; ++slot)
    while (writer->table.take(slot, 0, anything, out, place) == got::one) {
    }
  for (auto _ : state) {
    u32 found = 0;
    for (u32 slot = 0; slot < 64; ++slot) found += writer->table.take(slot, 0, anything, out, place) == got::one;
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK(walk_quiet_columns)->Name("walk_quiet/columns");

void walk_quiet_records(benchmark::State& state) {
  const stream& s = stream_of(1'022, false);
  const auto writer = std::make_unique<naive_records>();
  for (const tuple4& t : s.flows) (void)writer->write(t, {});
  for (auto& slot : writer->slots)
    for (auto& p : slot.places) p.r.unread = false;
  for (auto _ : state) {
    u32 found = 0;
    for (auto& slot : writer->slots) {
      u32 free = 0;
      if (!slot.word.compare_exchange_strong(free, 1, std::memory_order_acquire)) continue;
      for (auto& p : slot.places) found += p.r.unread;
      slot.word.store(0, std::memory_order_release);
    }
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK(walk_quiet_records)->Name("walk_quiet/cas_per_slot_over_records");

// The dearest walk: every place is unread and is taken.
void walk_full_columns(benchmark::State& state) {
  const stream& s = stream_of(1'022, false);
  const auto writer = std::make_unique<columns>();
  candidate<tuple4> out;
  const auto anything = [](const auto&) { return true; };
  for (auto _ : state) {
    state.PauseTiming();
    for (const tuple4& t : s.flows) (void)writer->write(t, {});
    state.ResumeTiming();
    u32 found = 0;
    for (u32 slot = 0; slot < 64; ++slot) {
      u32 place = 0;
      for (u32 from = 0; writer->table.take(slot, from, anything, out, place) == got::one; from = place + 1) ++found;
    }
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK(walk_full_columns)->Name("walk_full/columns");

}  // namespace

// A look-up of a connection by its tuple, beside general maps: target P4 of the performance page.
//
// Every table holds the two tuples of as many connections, is filled before, reserved for what it holds, and is asked for the
// same tuples in the same order with the same hash, whose value each rival gets in the cheapest form that is good for it
// (32 bits as they are where it indexes by the bottom, twice beside each other where it indexes by the top; a multiply
// for both was no better). The hash is part of every figure.
//
//   hit, miss     one look-up after the other, as many under way as the processor sees by itself
//   batched       32 hashes, 32 prefetches, 32 look-ups. absl: its own `prefetch`, which asks for marks and first element.
//                 boost has none: the address of the group of 15 marks that a look-up reads first is worked out from where
//                 its first element is, and when the 32 groups are here, the first element with a matching mark is asked
//                 for as well
//
// Ratios within one run, interleaved:
//   --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
#include <octep/connections.hpp>

#include <octep/hash.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <tuple>
#include <unordered_map>
#include <vector>

#if __has_include(<absl/container/flat_hash_map.h>)
#include <absl/container/flat_hash_map.h>
#define OCTEP_BENCH_ABSL 1
#endif
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/version.hpp>
#define OCTEP_BENCH_BOOST 1
#endif
#if __has_include(<tsl/robin_map.h>)
#include <tsl/robin_map.h>
#define OCTEP_BENCH_ROBIN 1
#endif

namespace {

using namespace octep;

const keyed_mix mix{};
constexpr usize batch = connections::batch;

// What is held, and whom to ask for: random connections and strangers, a random order that no predictor learns.
struct population {
  std::vector<tuple_pair<tuple4>> held;
  std::vector<tuple4> hits;
  std::vector<tuple4> misses;

  explicit population(u32 count) {
    std::mt19937_64 random{count};
    const auto any = [&] {
      return tuple4::make(static_cast<u32>(random()), static_cast<u32>(random()), static_cast<u32>(random()),
                          random() % 4 == 0 ? protocol::udp : protocol::tcp);
    };
    held.resize(count);
    for (auto& pair : held) {
      pair[0] = any();
      pair[1] = reverse(pair[0]);
    }
    const usize asked = power_of_two_at_least(greatest<usize>(usize{16'384}, count / 2));
    for (usize i = 0; i < asked; ++i) {
      hits.push_back(held[random() % count][random() % 2]);
      misses.push_back(any());
    }
  }
};

const population& population_of(u32 count) {
  static std::map<u32, std::unique_ptr<population>> made;
  auto& p = made[count];
  if (!p) p = std::make_unique<population>(count);
  return *p;
}

// --- tables: index of a tuple's connection, and whether it is held -------------------------------------------------

struct octep_connections {
  struct release {
    void operator()(void* p) const { ::operator delete(p, std::align_val_t{arena::alignment}); }
  };
  std::unique_ptr<void, release> memory;
  connections table;

  explicit octep_connections(const population& p) {
    const u32 capacity = static_cast<u32>(p.held.size());
    const usize bytes = connections::bytes_for(capacity, false);
    memory.reset(::operator new(bytes, std::align_val_t{arena::alignment}));
    arena from{memory.get(), bytes};
    if (!table.init(from, capacity, false)) std::abort();
    for (const auto& pair : p.held) (void)table.allocate(pair, mix(pair[0]), mix(pair[1]));
  }
  u32 ask(const tuple4& t) const {
    const found f = table.find(t, mix(t));
    return f.is ? f.index + 1 : 0;
  }
  u32 ask(const tuple4* t) const {
    u32 hashes[batch];
    found out[batch];
    for (usize i = 0; i < batch; ++i) hashes[i] = mix(t[i]);
    table.find_batch(t, hashes, batch, out);
    u32 sum = 0;
    for (const found& f : out) sum += f.is ? f.index + 1 : 0;
    return sum;
  }
};

struct low_hash {
  std::size_t operator()(const tuple4& t) const { return mix(t); }
};
struct both_hash {
  using is_avalanching = void;
  std::size_t operator()(const tuple4& t) const {
    const u64 h = mix(t);
    return (h << 32) | h;
  }
};

template <class Map>
struct rival {
  Map map;

  explicit rival(const population& p) {
    map.reserve(2 * p.held.size());
    for (u32 i = 0; i < p.held.size(); ++i)
      for (const tuple4& t : p.held[i]) map.emplace(t, i);
  }
  u32 ask(const tuple4& t) const {
    const auto at = map.find(t);
    return at != map.end() ? at->second + 1 : 0;
  }
};

using std_unordered_map = rival<std::unordered_map<tuple4, u32, low_hash>>;
#if defined(OCTEP_BENCH_ROBIN)
using tsl_robin_map = rival<tsl::robin_map<tuple4, u32, low_hash>>;
#endif
#if defined(OCTEP_BENCH_ABSL)
struct absl_flat_hash_map : rival<absl::flat_hash_map<tuple4, u32, low_hash>> {
  using rival::ask;
  using rival::rival;
  u32 ask(const tuple4* t) const {
    for (usize i = 0; i < batch; ++i) map.prefetch(t[i]);
    u32 sum = 0;
    for (usize i = 0; i < batch; ++i) sum += ask(t[i]);
    return sum;
  }
};
#endif
#if defined(OCTEP_BENCH_BOOST)
struct boost_flat_map : rival<boost::unordered_flat_map<tuple4, u32, both_hash>> {
  using group = boost::unordered::detail::foa::group15;

  using rival::ask;
  explicit boost_flat_map(const population& p) : rival{p} {
    // One piece of memory: 15 elements for each group less one, then the groups from the next multiple of 16 on. The first
    // element in use is that of the first place of the first group, as the check says.
    groups_count_ = (map.bucket_count() + 1) / group::N;
    elements_ = &*map.begin();
    const auto end = reinterpret_cast<std::uintptr_t>(elements_ + groups_count_ * group::N - 1);
    groups_ = reinterpret_cast<const group*>((end + sizeof(group) - 1) / sizeof(group) * sizeof(group));
    shift_ = 65 - bit_width(groups_count_);
    for (const tuple4& t : p.held[0]) {
      const std::size_t hash = both_hash{}(t);
      const int marks = groups_[hash >> shift_].match(hash);
      bool there = false;
      for (u32 i = 0; i < group::N; ++i)
        there = there || ((marks >> i & 1) != 0 && elements_[(hash >> shift_) * group::N + i].first == t);
      if (!there) layout_is_known_ = false;
    }
  }
  bool layout_is_known() const { return layout_is_known_; }

  template <bool ElementsToo>
  u32 ask_batch(const tuple4* t) const {
    std::size_t hashes[batch];
    for (usize i = 0; i < batch; ++i) {
      hashes[i] = both_hash{}(t[i]);
      __builtin_prefetch(groups_ + (hashes[i] >> shift_));
      // Without the marks nobody knows which of the group's five lines it will be.
    }
    if constexpr (ElementsToo)
      for (usize i = 0; i < batch; ++i) {
        const auto marks = static_cast<u32>(groups_[hashes[i] >> shift_].match(hashes[i]));
        if (marks != 0) __builtin_prefetch(elements_ + (hashes[i] >> shift_) * group::N + __builtin_ctz(marks));
      }
    u32 sum = 0;
    for (usize i = 0; i < batch; ++i) sum += ask(t[i]);
    return sum;
  }
  u32 ask(const tuple4* t) const { return ask_batch<true>(t); }

 private:
  const std::pair<const tuple4, u32>* elements_ = nullptr;
  const group* groups_ = nullptr;
  usize groups_count_ = 0;
  u32 shift_ = 0;
  bool layout_is_known_ = true;
};
#endif

// --- asking ------------------------------------------------------------------------------------------------------------

template <class Table>
const Table& table_of(u32 count) {
  static std::map<u32, std::unique_ptr<Table>> made;
  auto& t = made[count];
  if (!t) t = std::make_unique<Table>(population_of(count));
  return *t;
}

void report(benchmark::State& state, u64 asked) {
  state.SetItemsProcessed(static_cast<i64>(asked));
  state.counters["ns"] =
      benchmark::Counter(static_cast<double>(asked) / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

constexpr usize chunk = 4'096;

template <class Table, bool Hits>
void one_by_one(benchmark::State& state) {
  const auto count = static_cast<u32>(state.range(0));
  const auto& table = table_of<Table>(count);
  const auto& asked = Hits ? population_of(count).hits : population_of(count).misses;
  usize from = 0;
  u64 total = 0;
  for (auto _ : state) {
    u32 sum = 0;
    for (usize i = from; i < from + chunk; ++i) sum += table.ask(asked[i]);
    benchmark::DoNotOptimize(sum);
    from = (from + chunk) & (asked.size() - 1);
    total += chunk;
  }
  report(state, total);
}

template <class Table, bool Hits>
void batched(benchmark::State& state) {
  const auto count = static_cast<u32>(state.range(0));
  const auto& table = table_of<Table>(count);
  if constexpr (requires { table.layout_is_known(); })
    if (!table.layout_is_known()) return state.SkipWithError("another layout than that of 1.81");
  const auto& asked = Hits ? population_of(count).hits : population_of(count).misses;
  usize from = 0;
  u64 total = 0;
  for (auto _ : state) {
    u32 sum = 0;
    for (usize i = from; i < from + chunk; i += batch) sum += table.ask(asked.data() + i);
    benchmark::DoNotOptimize(sum);
    from = (from + chunk) & (asked.size() - 1);
    total += chunk;
  }
  report(state, total);
}

#define OCTEP_SIZES ArgName("held")->Arg(1'022)->Arg(65'536)->Arg(2'000'000)
#define OCTEP_ONE_BY_ONE(table)                                        \
  BENCHMARK(one_by_one<table, true>)->OCTEP_SIZES->Name("hit/" #table); \
  BENCHMARK(one_by_one<table, false>)->OCTEP_SIZES->Name("miss/" #table)
#define OCTEP_BATCHED(table)                                                \
  BENCHMARK(batched<table, true>)->OCTEP_SIZES->Name("batched_hit/" #table); \
  BENCHMARK(batched<table, false>)->OCTEP_SIZES->Name("batched_miss/" #table)

OCTEP_ONE_BY_ONE(octep_connections);
OCTEP_BATCHED(octep_connections);
OCTEP_ONE_BY_ONE(std_unordered_map);
#if defined(OCTEP_BENCH_ABSL)
OCTEP_ONE_BY_ONE(absl_flat_hash_map);
OCTEP_BATCHED(absl_flat_hash_map);
#endif
#if defined(OCTEP_BENCH_BOOST)
OCTEP_ONE_BY_ONE(boost_flat_map);
OCTEP_BATCHED(boost_flat_map);
#endif
#if defined(OCTEP_BENCH_ROBIN)
OCTEP_ONE_BY_ONE(tsl_robin_map);
#endif

}  // namespace

// What a hash costs, by itself: throughput over a stream that stays in the first cache, and latency (each tuple depends on
// the hash before), which the receive path does not wait for. Target P6 is held by octep_bench (targets/hashes.cpp).
//
// For ratios: --benchmark_enable_random_interleaving=true --benchmark_repetitions=9.
#include <octep/hash.hpp>

#include "bench/hashes.hpp"
#include "sim/recorded_hash_fault.hpp"

#include <benchmark/benchmark.h>

#include <vector>

namespace octep {
namespace {

template <tuple_type Tuple>
std::vector<Tuple> stream() {
  std::mt19937_64 random{1};
  std::vector<Tuple> made(1'024);
  for (Tuple& t : made) spread::draw(t, random);
  return made;
}

template <tuple_type Tuple, class Hash>
__attribute__((noinline)) u32 sum_of(const std::vector<Tuple>& tuples, const Hash& hash) {
  u32 sum = 0;
  for (const Tuple& t : tuples) sum += top_bits(hash(t), 6);
  return sum;
}

template <tuple_type Tuple, class Hash>
__attribute__((noinline)) u32 chain_of(const std::vector<Tuple>& tuples, const Hash& hash) {
  u32 last = 0;
  for (Tuple t : tuples) {
    t.ports ^= last;
    last = hash(t);
  }
  return last;
}

void report(benchmark::State& state, usize tuples) {
  state.counters["tuple"] = benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(tuples),
                                               benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class Hash>
[[nodiscard]] bool runs_here(benchmark::State& state) {
  if constexpr (requires { Hash::runs_here(); }) {
    if (!Hash::runs_here()) {
      state.SkipWithError("this processor lacks the instruction");
      return false;
    }
  }
  return true;
}

// The counter `tuple` is seconds of processor time for one tuple.
template <tuple_type Tuple, class Hash>
void throughput(benchmark::State& state) {
  if (!runs_here<Hash>(state)) return;
  const auto tuples = stream<Tuple>();
  const Hash hash{keyed_mix::fixed_seed};
  for (auto _ : state) benchmark::DoNotOptimize(sum_of(tuples, hash));
  report(state, tuples.size());
}

template <tuple_type Tuple, class Hash>
void latency(benchmark::State& state) {
  if (!runs_here<Hash>(state)) return;
  const auto tuples = stream<Tuple>();
  const Hash hash{keyed_mix::fixed_seed};
  for (auto _ : state) benchmark::DoNotOptimize(chain_of(tuples, hash));
  report(state, tuples.size());
}

// A hash that takes no key, constructed as if it took one.
template <class Hash>
struct unkeyed : Hash {
  explicit unkeyed(u64) {}
};

#define OCTEP_HASH(NAME, ...)                                              \
  BENCHMARK(throughput<tuple4, __VA_ARGS__>)->Name("v4/" NAME);            \
  BENCHMARK(throughput<tuple6, __VA_ARGS__>)->Name("v6/" NAME);            \
  BENCHMARK(latency<tuple4, __VA_ARGS__>)->Name("v4_latency/" NAME)

#ifdef OCTEP_BENCH_CRC32C
OCTEP_HASH("crc32c", unkeyed<bench::crc32c_instruction>);
#endif
OCTEP_HASH("keyed_mix", keyed_mix);
OCTEP_HASH("fold_mix", unkeyed<fold_mix>);
OCTEP_HASH("recorded_mix", unkeyed<recorded_mix>);
OCTEP_HASH("recorded_fault", unkeyed<sim::recorded_hash_fault>);
#ifdef OCTEP_BENCH_XXH3
OCTEP_HASH("xxh3", unkeyed<bench::xxh3>);
#endif
OCTEP_HASH("jenkins", spread::jenkins);
OCTEP_HASH("toeplitz", spread::toeplitz);

}  // namespace
}  // namespace octep

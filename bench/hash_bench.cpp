// What a hash costs: nanoseconds a tuple over a stream of 1,024 tuples that stays in the first cache, and its latency
// (each tuple depends on the hash before). Rivals on the same stream in the same run: CRC32C by the processor's own
// instruction, XXH3 where installed, Jenkins' lookup3 and Toeplitz of test/spread.hpp.
//
// For ratios: --benchmark_enable_random_interleaving=true --benchmark_repetitions=9. Target P6: the default at most twice
// crc32c, as throughput: the receive path's hash starts from a parsed frame and waits for nothing else.
#include <octep/hash.hpp>

#include "sim/recorded_hash_fault.hpp"
#include "test/spread.hpp"

#include <benchmark/benchmark.h>

#include <vector>

#if defined(__x86_64__)
#define OCTEP_CRC32C 1
#endif
#if __has_include(<xxhash.h>)
#define XXH_INLINE_ALL
#include <xxhash.h>
#define OCTEP_XXH3 1
#endif

namespace octep {
namespace {

#ifdef OCTEP_CRC32C
// Eight bytes an instruction over the words of the tuple. As assembly, so that it is inlined like the others although the
// build is for any x86-64; where the processor lacks the instruction, its two rows say so instead.
struct hardware_crc32c {
  [[nodiscard]] static u64 step(u64 crc, u64 word) noexcept {
    asm("crc32q %1, %0" : "+r"(crc) : "rm"(word));
    return crc;
  }
  u32 operator()(const tuple4& t) const noexcept {
    return static_cast<u32>(step(step(~0U, detail::join_words(t.source, t.destination)), detail::tail_word(t)));
  }
  u32 operator()(const tuple6& t) const noexcept {
    u64 crc = ~0U;
    for (const address6* a : {&t.source, &t.destination}) {
      crc = step(crc, detail::join_words((*a)[0], (*a)[1]));
      crc = step(crc, detail::join_words((*a)[2], (*a)[3]));
    }
    return static_cast<u32>(step(crc, detail::tail_word(t)));
  }
  [[nodiscard]] static bool runs_here() { return __builtin_cpu_supports("sse4.2") != 0; }
};
#endif

#ifdef OCTEP_XXH3
struct xxh3 {
  template <tuple_type Tuple>
  u32 operator()(const Tuple& t) const noexcept {
    // The padding-free object itself: addresses, ports, protocol, as words.
    return static_cast<u32>(XXH3_64bits_withSeed(&t, sizeof t, keyed_mix::fixed_seed) >> 32);
  }
};
static_assert(sizeof(tuple4) == 16 && sizeof(tuple6) == 40);
#endif

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

#ifdef OCTEP_CRC32C
OCTEP_HASH("crc32c", unkeyed<hardware_crc32c>);
#endif
OCTEP_HASH("keyed_mix", keyed_mix);
OCTEP_HASH("fold_mix", unkeyed<fold_mix>);
OCTEP_HASH("recorded_mix", unkeyed<recorded_mix>);
OCTEP_HASH("recorded_fault", unkeyed<sim::recorded_hash_fault>);
#ifdef OCTEP_XXH3
OCTEP_HASH("xxh3", unkeyed<xxh3>);
#endif
OCTEP_HASH("jenkins", spread::jenkins);
OCTEP_HASH("toeplitz", spread::toeplitz);

}  // namespace
}  // namespace octep

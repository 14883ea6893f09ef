// P6, the cost: nanoseconds a tuple over a stream, where the hash waits for nothing else, as in the receive path. The target
// is held against CRC32C by the processor's own instruction; the others take part so that the choice can be seen.
#include "bench/hashes.hpp"

#include <octep/engine/policies.hpp>

#include <memory>

#include "bench/dpdk/dpdk.hpp"
#include "bench/streams.hpp"
#include "bench/targets/targets.hpp"
#include "sim/recorded_hash_fault.hpp"

namespace octep::bench {
namespace {

constexpr u32 tuples_a_lap = 1'024;  // in the first cache: the work is measured, not the memory
constexpr u32 times_a_lap = 16;

template <tuple_type Tuple>
std::vector<Tuple> tuples() {
  std::mt19937_64 random{1};
  std::vector<Tuple> made(tuples_a_lap);
  for (Tuple& t : made) spread::draw(t, random);
  return made;
}

template <tuple_type Tuple, class Hash>
[[gnu::noinline]] u64 sum_of(const std::vector<Tuple>& over, const Hash& hash) {
  u32 sum = 0;
  for (const Tuple& t : over) sum += top_bits(hash(t), 6);
  return sum;
}

template <tuple_type Tuple, class Hash>
void enter(race& r, role as, const char* name, const std::vector<Tuple>& over, Hash hash) {
  r.enter(as, name, [&over, hash](u64) {
    u64 sum = 0;
    for (u32 i = 0; i < times_a_lap; ++i) {
      sum += sum_of(over, hash);
      asm volatile("" : : : "memory");  // or one pass would be enough for all
    }
    return sum;
  });
}

template <tuple_type Tuple>
void measure_family(report& out, const options& o, const char* id, const char* what) {
  if (!out.wants(id)) return;
#ifdef OCTEP_BENCH_CRC32C
  if (!crc32c_instruction::runs_here()) return out.remark(fmt::format("{}: this processor has no CRC32C instruction", id));
  const auto over = tuples<Tuple>();
  race r{u64{tuples_a_lap} * times_a_lap};
  enter(r, role::ours, "octep", over, default_policies::hash{1});
  enter(r, role::rival, "CRC32C instruction", over, crc32c_instruction{});
  enter(r, role::shown, "recorded_mix", over, recorded_mix{});
  enter(r, role::shown, "fold_mix", over, fold_mix{});
  if constexpr (Tuple::which == octep::family::ipv4) enter(r, role::shown, "wyhash shape", over, wyhash_shape{});
#ifdef OCTEP_BENCH_XXH3
  enter(r, role::shown, "XXH3", over, xxh3{});
#endif
  enter(r, role::shown, "jhash", over, spread::jenkins{1});
  enter(r, role::shown, "Toeplitz, bit by bit", over, spread::toeplitz{1});
  if constexpr (dpdk_takes_part && Tuple::which == octep::family::ipv4) {
    r.enter(role::shown, "rte_jhash", dpdk_jhash(over, times_a_lap));
    r.enter(role::shown, "rte_softrss", dpdk_toeplitz(over, times_a_lap));
  }
  r.run(5, o.rounds(60));
  out.add(id, what, r, "octep", 2.0);
  std::string others;
  for (const auto& c : r.all())
    if (c.as == role::shown) others += fmt::format("{}{} {:.2f}", others.empty() ? "" : ", ", c.name, c.median());
  out.remark(others);
#else
  out.remark(fmt::format("{}, {}: CRC32C is not one of this machine's instructions", id, what));
#endif
}

}  // namespace

void measure_hashes(report& out, const options& o) {
  measure_family<tuple4>(out, o, "P6-cost-ipv4", "default hash, a tuple of IPv4");
  measure_family<tuple6>(out, o, "P6-cost-ipv6", "default hash, a tuple of IPv6");
}

}  // namespace octep::bench

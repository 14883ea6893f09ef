// DPDK's table and hashes as contestants, where the build asks for them (OCTEP_BENCH_DPDK): everything else must build without.
//
// They live in a unit of their own: DPDK's headers want a processor of their own choice.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "bench/interleaved.hpp"
#include "bench/streams.hpp"

namespace octep::bench {

// rte_hash over 16-byte keys under the keyed hash of the other rivals.
inline constexpr std::string_view rte_hash_called = "rte_hash";

struct dpdk_look_up {
  std::function<lap(const stream& asked)> single;
  std::function<lap(const stream& asked)> bulk;  // rte_hash_lookup_with_hash_bulk, 32 at once
};

#ifdef OCTEP_BENCH_DPDK
inline constexpr bool dpdk_takes_part = true;
[[nodiscard]] lap dpdk_write(const stream& s);
// Holds what everybody holds: flow_of(i, 1) is index i in direction 0, its reverse in direction 1.
[[nodiscard]] dpdk_look_up dpdk_hold(u32 connections);
[[nodiscard]] lap dpdk_jhash(const std::vector<tuple4>& over, u32 times);
[[nodiscard]] lap dpdk_toeplitz(const std::vector<tuple4>& over, u32 times);
#else
inline constexpr bool dpdk_takes_part = false;
[[nodiscard]] inline lap dpdk_write(const stream&) { return {}; }
[[nodiscard]] inline dpdk_look_up dpdk_hold(u32) { return {}; }
[[nodiscard]] inline lap dpdk_jhash(const std::vector<tuple4>&, u32) { return {}; }
[[nodiscard]] inline lap dpdk_toeplitz(const std::vector<tuple4>&, u32) { return {}; }
#endif

}  // namespace octep::bench

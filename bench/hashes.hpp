// Hashes to compare with, as fast as this machine has them. Those that only show how they spread are in test/spread.hpp.
#pragma once

#include <octep/hash.hpp>

#include "test/spread.hpp"

#if __has_include(<xxhash.h>)
#define XXH_INLINE_ALL
#include <xxhash.h>
#define OCTEP_BENCH_XXH3 1
#endif

namespace octep::bench {

#if defined(__x86_64__)
#define OCTEP_BENCH_CRC32C 1
// Eight bytes an instruction over the words of the tuple. As assembly, so that it is inlined like the others whatever
// processor the build is for; ask `runs_here` first.
struct crc32c_instruction {
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

#ifdef OCTEP_BENCH_XXH3
struct xxh3 {
  template <tuple_type Tuple>
  u32 operator()(const Tuple& t) const noexcept {
    static_assert(sizeof(Tuple) == Tuple::words * 4);  // nothing but its words
    return static_cast<u32>(XXH3_64bits_withSeed(&t, sizeof t, keyed_mix::fixed_seed) >> 32);
  }
};
#endif

// The shape of wyhash for 16 bytes: two wide multiplies, each folded, under two keys.
struct wyhash_shape {
  u32 operator()(const tuple4& t) const noexcept {
    const u64 first = detail::multiply_wide(detail::join_words(t.source, t.destination) ^ detail::root_of_2,
                                            detail::tail_word(t) ^ detail::root_of_3)
                          .folded();
    return static_cast<u32>(detail::multiply_wide(first ^ detail::root_of_5, detail::golden_ratio).folded() >> 32);
  }
};

}  // namespace octep::bench

// Tags in a vector register: `vector_tags`, for hosts; where there is no such register it is the scalar form. A mark is
// bit i for place i.
//
// Hosted, outside the floors. The scalar form of octep/tags.hpp is its model (test/host/vector_tags_test.cpp) and what a
// kernel runs, which has no vector registers.
// Concurrency: pure functions.
#pragma once

#include <octep/tags.hpp>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace octep {

#if defined(__SSE2__)
struct vector_tags {
  template <u32 Places>
  [[nodiscard, gnu::always_inline]] static u64 alike(u64 low, u64 high, u8 tag) noexcept {
    const __m128i tags = _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
    const auto found = static_cast<u32>(_mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)))));
    return Places == 16 ? found : found & ((u32{1} << Places) - 1);
  }
  [[nodiscard, gnu::always_inline]] static u32 first_place(u64 marks) noexcept {
    return static_cast<u32>(__builtin_ctz(static_cast<u32>(marks)));
  }
};
#elif defined(__ARM_NEON) && defined(__aarch64__)
struct vector_tags {
  template <u32 Places>
  [[nodiscard, gnu::always_inline]] static u64 alike(u64 low, u64 high, u8 tag) noexcept {
    const uint8x16_t tags = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
    // Each byte that is alike leaves the bit of its place; pairs are added until a byte holds eight of them.
    constexpr u64 bits = 0x8040'2010'0804'0201;
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(bits));
    const uint8x16_t found = vandq_u8(vceqq_u8(tags, vdupq_n_u8(tag)), bit);
    const u32 both = vaddv_u8(vget_low_u8(found)) | u32{vaddv_u8(vget_high_u8(found))} << 8;
    return Places == 16 ? both : both & ((u32{1} << Places) - 1);
  }
  [[nodiscard, gnu::always_inline]] static u32 first_place(u64 marks) noexcept {
    return static_cast<u32>(__builtin_ctz(static_cast<u32>(marks)));
  }
};
#else
using vector_tags = scalar_tags;
#endif

static_assert(tag_policy<vector_tags>);

}  // namespace octep

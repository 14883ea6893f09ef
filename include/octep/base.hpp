// The words that every other header is written in: fixed-width integers, endian loads, bits, a span, an array.
//
// Floor 0.
//
// Refuses: the standard library, so that one text compiles in a kernel, on Linux and in a test without a shim.
// Buys: no include path, no runtime, no difference between the three worlds.
// Concurrency: plain values and views; nothing here is shared by itself.
#pragma once

// Out of line and compiled for size: what runs once a command, which costs a far side's 25 us, or once a wish. A kernel's text
// has a limit (performance.md of the specification, P9), and this is 12 % of it by g++, 4 % by clang.
#ifdef __clang__
#define OCTEP_SELDOM [[gnu::noinline, gnu::cold, clang::minsize]]
#else
#define OCTEP_SELDOM [[gnu::noinline, gnu::cold]]
#endif

namespace octep {

using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using u64 = __UINT64_TYPE__;
using i32 = __INT32_TYPE__;
using i64 = __INT64_TYPE__;
using usize = __SIZE_TYPE__;

// Pointers are stored in caller-supplied memory and indexes are multiplied by record sizes at two million
// connections: a 32-bit target would truncate both.
static_assert(sizeof(void*) == 8, "octep supports 64-bit targets");

// A view of `size` objects that somebody else owns. Indexing is unchecked: callers hold the bound.
template <class T>
struct span {
  T* data = nullptr;
  usize size = 0;

  [[nodiscard]] constexpr T& operator[](usize i) const noexcept { return data[i]; }
  [[nodiscard]] constexpr T* begin() const noexcept { return data; }
  [[nodiscard]] constexpr T* end() const noexcept { return data + size; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size == 0; }
};

// A fixed array as an aggregate. N is at least 1.
template <class T, usize N>
struct array {
  T items[N];

  [[nodiscard]] constexpr T& operator[](usize i) noexcept { return items[i]; }
  [[nodiscard]] constexpr const T& operator[](usize i) const noexcept { return items[i]; }
  [[nodiscard]] constexpr T* begin() noexcept { return items; }
  [[nodiscard]] constexpr T* end() noexcept { return items + N; }
  [[nodiscard]] constexpr const T* begin() const noexcept { return items; }
  [[nodiscard]] constexpr const T* end() const noexcept { return items + N; }
  [[nodiscard]] static constexpr usize size() noexcept { return N; }

  [[nodiscard]] constexpr bool operator==(const array&) const noexcept = default;
};

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

// The concept every policy contract is written with: the expression has exactly this type.
template <class A, class B>
concept same_as = is_same<A, B> && is_same<B, A>;

template <class T>
[[nodiscard]] constexpr T least(T a, T b) noexcept {
  return b < a ? b : a;
}

template <class T>
[[nodiscard]] constexpr T greatest(T a, T b) noexcept {
  return a < b ? b : a;
}

// --- byte order -------------------------------------------------------------------------------------------
// Written byte by byte: both compilers turn each into one instruction, none needs alignment, and the result is
// the same on every architecture. The caller vouches for the bytes.

[[nodiscard]] constexpr u16 load_be16(const u8* p) noexcept {
  return static_cast<u16>((p[0] << 8) | p[1]);
}
[[nodiscard]] constexpr u16 load_le16(const u8* p) noexcept {
  return static_cast<u16>((p[1] << 8) | p[0]);
}
[[nodiscard]] constexpr u32 load_be32(const u8* p) noexcept {
  return (u32{p[0]} << 24) | (u32{p[1]} << 16) | (u32{p[2]} << 8) | u32{p[3]};
}
[[nodiscard]] constexpr u32 load_le32(const u8* p) noexcept {
  return (u32{p[3]} << 24) | (u32{p[2]} << 16) | (u32{p[1]} << 8) | u32{p[0]};
}
[[nodiscard]] constexpr u64 load_be64(const u8* p) noexcept {
  return (u64{load_be32(p)} << 32) | load_be32(p + 4);
}

constexpr void store_be16(u8* p, u16 v) noexcept {
  p[0] = static_cast<u8>(v >> 8);
  p[1] = static_cast<u8>(v);
}
constexpr void store_le16(u8* p, u16 v) noexcept {
  p[0] = static_cast<u8>(v);
  p[1] = static_cast<u8>(v >> 8);
}
constexpr void store_le32(u8* p, u32 v) noexcept {
  store_le16(p, static_cast<u16>(v));
  store_le16(p + 2, static_cast<u16>(v >> 16));
}
constexpr void store_be64(u8* p, u64 v) noexcept {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<u8>(v >> (56 - 8 * i));
}

[[nodiscard]] constexpr u16 swap_bytes(u16 v) noexcept { return static_cast<u16>((v << 8) | (v >> 8)); }

// --- bits -------------------------------------------------------------------------------------------------

[[nodiscard]] constexpr u32 rotate_left(u32 x, u32 by) noexcept {
  return (x << (by & 31U)) | (x >> ((32U - by) & 31U));
}
[[nodiscard]] constexpr bool is_power_of_two(u64 x) noexcept { return x != 0 && (x & (x - 1)) == 0; }

// The number of bits that `x` needs: 0 for 0, 6 for 63, 7 for 64.
[[nodiscard]] constexpr u32 bit_width(u64 x) noexcept {
  return x == 0 ? 0U : 64U - static_cast<u32>(__builtin_clzll(x));
}

// The smallest power of two that is not below `x`; 1 for 0. `x` is at most 2^63.
[[nodiscard]] constexpr u64 power_of_two_at_least(u64 x) noexcept {
  return x <= 1 ? 1U : u64{1} << bit_width(x - 1);
}

}  // namespace octep

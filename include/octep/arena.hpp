// An arena: typed arrays cut from memory that the caller supplied at start.
//
// Floor 1.
//
// What it is: a cursor over one block. Tables say how much they need, the caller brings it, `init` of each table cuts its
// arrays and writes every element before it reads one.
// What it refuses: growing and giving back. What that buys: capacity is a boot tunable, and nothing allocates after start.
// Concurrency: start only, before any other thread knows the tables.
#pragma once

#include <octep/base.hpp>

namespace octep {

class arena {
 public:
  // A cache line: arrays that different rings write do not share one.
  static constexpr usize alignment = 64;

  constexpr arena(void* memory, usize bytes) noexcept : at_{static_cast<u8*>(memory)}, left_{bytes} {}

  // Bytes that an array of `count` elements costs an arena whose memory is aligned to `alignment`.
  template <class T>
  [[nodiscard]] static constexpr usize bytes_for(usize count) noexcept {
    static_assert(alignof(T) <= alignment);
    return (count * sizeof(T) + alignment - 1) / alignment * alignment;
  }

  // Empty where the memory does not suffice. Elements are not constructed: the taker assigns each before use.
  template <class T>
  [[nodiscard]] span<T> take(usize count) noexcept {
    const usize bytes = bytes_for<T>(count);
    if (bytes > left_) return {};
    T* const first = reinterpret_cast<T*>(at_);
    at_ += bytes;
    left_ -= bytes;
    return {first, count};
  }

  [[nodiscard]] constexpr usize left() const noexcept { return left_; }

 private:
  u8* at_;
  usize left_;
};

}  // namespace octep

// The recorded fault of the hash, kept as a policy so that the record's "before" can be run (R2, R4, R5: h0).
//
// The driver took the slot from bits 16 to 21 of the product, `(h >> 16) % 64`. A multiply carries only upwards, so those
// bits never saw bits 24 to 31 of what was multiplied, where the second byte of a source port stands (system.md 3): 256
// neighbouring ports between one pair of addresses shared one slot. This policy gives the same product shifted left by
// ten, so that the top six bits ARE those six; a table of more than 64 entries gets the bits below them.
//
// For models and tests only. Concurrency: a value.
#pragma once

#include <octep/hash.hpp>

namespace octep::sim {

struct recorded_hash_fault {
  [[nodiscard]] constexpr u32 operator()(const tuple4& t) const noexcept { return recorded_mix::product(t) << 10; }
  [[nodiscard]] constexpr u32 operator()(const tuple6& t) const noexcept {
    return static_cast<u32>(recorded_mix::product(t)) << 10;
  }
};

static_assert(hash_policy<recorded_hash_fault>);

}  // namespace octep::sim

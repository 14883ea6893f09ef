// Any of the hash policies, chosen at run time: what a tool's `--hash` names.
//
// What it is: a hash policy for models and tools. The core is instantiated with one policy and pays for no choice.
// Concurrency: a value.
#pragma once

#include <octep/hash.hpp>

#include "sim/recorded_hash_fault.hpp"

namespace octep::sim {

enum class hash_kind : u8 { recorded, fold, keyed, fault };

[[nodiscard]] constexpr const char* name(hash_kind k) noexcept {
  constexpr const char* names[] = {"recorded", "fold", "keyed", "fault"};
  return names[static_cast<usize>(k)];
}

class any_hash {
 public:
  constexpr any_hash() noexcept = default;
  constexpr any_hash(hash_kind kind, u64 seed) noexcept : kind_{kind}, keyed_{seed} {}

  template <tuple_type Tuple>
  [[nodiscard]] constexpr u32 operator()(const Tuple& t) const noexcept {
    switch (kind_) {
      case hash_kind::recorded: return recorded_mix{}(t);
      case hash_kind::fold: return fold_mix{}(t);
      case hash_kind::fault: return recorded_hash_fault{}(t);
      case hash_kind::keyed: break;
    }
    return keyed_(t);
  }

 private:
  hash_kind kind_ = hash_kind::keyed;
  keyed_mix keyed_;
};

}  // namespace octep::sim

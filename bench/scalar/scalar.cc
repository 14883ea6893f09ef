// Compiled with the kernel's flags and -D octep=ANOTHER_NAME: scalar.hpp says why.
// A table of its own, since a kernel's unit may not allocate; the loop stands in here, so that the write is inlined into it
// as it is into the kernel's punt.
#include <octep/candidates.hpp>
#include <octep/engine/policies.hpp>
#include <octep/hash.hpp>

#include "bench/remembered.hpp"

namespace {

using namespace octep;
using design = default_policies;

constexpr u32 slots = design::geometry.slots;
candidates<tuple4, design::geometry, design::choice, scalar_tags, design::atomics> table;

}  // namespace

#define OCTEP_JOIN(a, b) a##b
#define OCTEP_NAMED(a, b) OCTEP_JOIN(a, b)

extern "C" void OCTEP_NAMED(octep, _clear)() {
  for (u32 slot = 0; slot < slots; ++slot) (void)table.empty_slot(slot);
}

extern "C" u64 OCTEP_NAMED(octep, _write)(const tuple4* tuples, u64 count, u64 sent) {
  const design::hash mix{1};  // hash_key of rivals.hpp
  arrival frame = bench::first_frame();
  u64 sum = 0;
  for (u64 i = 0; i < count; ++i) {
    frame.at = tick{static_cast<u32>((sent + i) >> 6)};
    sum += bench::sum_of(table.write_for_bits(tuples[i], mix(tuples[i]), frame, bench::due_log2));
  }
  return sum;
}

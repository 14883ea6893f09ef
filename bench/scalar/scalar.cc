// Compiled with the kernel's flags and -D octep=ANOTHER_NAME: scalar.hpp says why.
// A table of its own, since a kernel's unit may not allocate; the loop stands in here, so that the write is inlined into it
// as it is into the kernel's punt.
#include <octep/candidates.hpp>
#include <octep/engine/policies.hpp>
#include <octep/hash.hpp>

namespace {

using namespace octep;
using design = default_policies;

constexpr u32 slots = design::geometry.slots;
#if __has_include(<octep/tags.hpp>)
candidates<tuple4, design::geometry, design::choice, scalar_tags, design::atomics> table;
#else
candidates<tuple4, design::geometry, design::choice, design::atomics> table;
#endif

template <class Table>
[[gnu::always_inline]] inline write_outcome write(Table& to, const tuple4& t, u32 hash, const arrival& frame) noexcept {
  constexpr u32 due_log2 = 4;  // the setting fast_make_log2 as it begins
  if constexpr (requires { to.write(t, hash, frame, due_log2); }) {
    return to.write(t, hash, frame, due_log2);
  } else {
    return to.write(top_bits(hash, bit_width(slots) - 1), t, frame, due_log2);
  }
}

union outcome_bits {
  write_outcome outcome;
  u8 bits;
};

}  // namespace

#define OCTEP_JOIN(a, b) a##b
#define OCTEP_NAMED(a, b) OCTEP_JOIN(a, b)

extern "C" void OCTEP_NAMED(octep, _clear)() {
  for (u32 slot = 0; slot < slots; ++slot) (void)table.empty_slot(slot);
}

extern "C" u64 OCTEP_NAMED(octep, _write)(const tuple4* tuples, u64 count, u64 sent) {
  const design::hash mix{1};  // hash_key of rivals.hpp
  arrival frame;
  frame.who = identity::make(7, 1);
  frame.where = {1, 0};
  u64 sum = 0;
  for (u64 i = 0; i < count; ++i) {
    frame.at = tick{static_cast<u32>((sent + i) >> 6)};
    const outcome_bits said{write(table, tuples[i], mix(tuples[i]), frame)};
    sum += said.bits;
  }
  return sum;
}

// The candidate table against the list of sentences of test/candidates_model.hpp: any sequence of writes, takes, finds,
// restarts, discards and clamps, at any time, gives the same answers, the same places and balanced books.
//
//   byte 0          which table (low three bits), where time begins (next two)
//   then 6 a step   kind and log2 | slot | tuple | from, want, closing, skew | mark | time that goes by
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "test/candidates_model.hpp"

namespace {

using octep::i32;
using octep::limits;
using octep::tuple4;
using octep::tuple6;
using octep::u32;
using octep::u64;
using octep::u8;
using octep::test::candidates_twins;
using octep::test::table_step;

constexpr std::size_t step_bytes = 6;

table_step step_from(const u8* b) {
  // Half of all steps write, so that most sequences have something to take.
  static constexpr u8 kinds[16] = {table_step::write, table_step::write, table_step::write,   table_step::write,
                                   table_step::write, table_step::write, table_step::write,   table_step::write,
                                   table_step::take,  table_step::take,  table_step::take,    table_step::find,
                                   table_step::find,  table_step::empty, table_step::restart, table_step::clamp};
  table_step s;
  s.kind = kinds[b[0] & 15];
  s.log2 = b[0] >> 4;
  s.slot = b[1];
  s.which = b[2];
  s.from = b[3] & 7;
  s.want = (b[3] >> 3) & 3;
  s.closing = ((b[3] >> 5) & 1) != 0;
  s.skew_ms = static_cast<i32>(b[3] >> 6) - 1;
  s.mark = b[4];
  s.pass_ms = b[5] < 128 ? b[5] & 3U : u32{1} << (b[5] % 28);
  return s;
}

template <octep::tuple_type Tuple, limits L>
void play(u64 start_ms, const u8* data, std::size_t size) {
  const auto twins = std::make_unique<candidates_twins<Tuple, L>>(start_ms);
  std::string wrong;
  std::size_t steps = 0;
  for (; wrong.empty() && size >= step_bytes; data += step_bytes, size -= step_bytes, ++steps)
    wrong = twins->apply(step_from(data));
  if (wrong.empty()) wrong = twins->unbalanced();
  if (wrong.empty()) return;
  fmt::print(stderr, "step {}: {}\n", steps, wrong);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static constexpr u64 starts[4] = {100, (u64{1} << 31) - 8, (u64{1} << 32) - 8, u64{5} << 32};
  const u64 start = starts[(data[0] >> 3) & 3];
  const u8* rest = data + 1;
  const std::size_t left = size - 1;
  switch (data[0] & 7) {
    case 0:
      play<tuple4, limits{1, 1}>(start, rest, left);
      break;
    case 1:
      play<tuple4, limits{1, 2}>(start, rest, left);
      break;
    case 2:
      play<tuple4, limits{2, 4}>(start, rest, left);
      break;
    case 3:
      play<tuple4, limits{1, 16}>(start, rest, left);
      break;
    case 4:
      play<tuple6, limits{1, 2}>(start, rest, left);
      break;
    case 5:
      play<tuple6, limits{2, 4}>(start, rest, left);
      break;
    case 6:
      play<tuple4, limits{4, 16}>(start, rest, left);
      break;
    default:
      play<tuple4, limits{64, 4}>(start, rest, left);
      break;
  }
  return 0;
}

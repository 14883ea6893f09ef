// Histories decoded from bytes: frames, time, faults, silence, restarts, kills, reloads, neighbours that move, removals by
// hand, rekeys, discards and settings through the whole engine, every law after every step. The first byte is whether there is NAT, and the seed; then three bytes an input.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "test/history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace octep::sim;
  if (size == 0) return 0;
  history h{(data[0] & 1) != 0, data[0]};
  // As long as a unit test may take.
  const std::size_t inputs = std::min<std::size_t>((size - 1) / 3, 200);
  for (std::size_t n = 0; n < inputs; ++n) {
    const std::uint8_t* const d = data + 1 + 3 * n;
    input i{};
    switch (d[0] % 32) {
      case 0: i = {input::kind::kill, d[1] % 4U, d[2] % 2U}; break;
      case 1: i = {input::kind::flush, d[1] % 2U}; break;
      case 2: i = {input::kind::discard}; break;
      case 3: i = {input::kind::set, d[1] % switches, d[2] % 2U}; break;
      case 4: i = {input::kind::vlan, d[1] % flows, d[2] % 3U}; break;
      case 5:
      case 6: i = {input::kind::fault, d[1] % 6U}; break;
      case 7:
      case 8: i = {input::kind::until, d[1] % moment_count}; break;
      case 9:
      case 10:
      case 11: i = {input::kind::wait, d[1] % 9U}; break;
      case 12:
      case 13:
      case 14: i = {input::kind::stuck, d[1] % flows, 1U + d[2] % 30U}; break;
      case 15: i = {input::kind::silence, d[1] % 4U == 0 ? 0U : 1U}; break;
      case 16: i = {input::kind::restart}; break;
      case 17: i = {input::kind::neighbour, d[1] % 3U}; break;
      case 18: i = {input::kind::route, d[1] % 3U == 0 ? 0U : 1U}; break;
      case 19: i = {input::kind::reload, d[1] % 4U == 0 ? 0U : 1U}; break;
      case 20: i = {input::kind::remove, d[1] % flows, d[2] % 2U}; break;
      case 21: i = {input::kind::keep, d[1] % flows, d[2] % 4U == 0 ? 0U : 1U}; break;
      case 22: i = {input::kind::key, d[1] % 4U}; break;
      default: i = {input::kind::frames, d[1] % flows, 1U + d[2] % 20U, d[2] / 20U % 4U}; break;
    }
    h.apply(i);
    if (const std::string why = h.broken(); !why.empty()) {
      std::fprintf(stderr, "after input %zu (%s): %s\n", n, in_words(i).c_str(), why.c_str());
      std::abort();
    }
  }
  return 0;
}

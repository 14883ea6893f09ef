// Histories decoded from bytes: frames, time, faults, kills, reloads, discards and settings through the whole engine, every
// law after every step. The first byte is whether there is NAT, and the seed; then three bytes an input.

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
    switch (d[0] % 16) {
      case 0: i = {input::kind::kill, d[1] % 4U}; break;
      case 1: i = {input::kind::flush}; break;
      case 2: i = {input::kind::discard}; break;
      case 3: i = {input::kind::set, d[1] % switches, d[2] % 2U}; break;
      case 4: i = {input::kind::vlan, d[1] % flows, d[2] % 3U}; break;
      case 5:
      case 6: i = {input::kind::fault, d[1] % 6U}; break;
      case 7: i = {input::kind::until, d[1] % 4U}; break;
      case 8:
      case 9: i = {input::kind::wait, d[1] % 9U}; break;
      default: i = {input::kind::frames, d[1] % flows, 1U + d[2] % 20U, d[2] / 20U % 3U}; break;
    }
    h.apply(i);
    if (const std::string why = h.broken(); !why.empty()) {
      std::fprintf(stderr, "after input %zu (%s): %s\n", n, in_words(i).c_str(), why.c_str());
      std::abort();
    }
  }
  return 0;
}

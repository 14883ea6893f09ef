#include "tools/seen_neighbours.hpp"

namespace octep::tools {

u64 seen_neighbours::address::hash() const noexcept {
  u64 h = sim::scatter(0, static_cast<u8>(which));
  for (const u32 word : who) h = sim::scatter(h, word);
  return h;
}

void seen_neighbours::learn(family which, const address6& who, u64 hardware) {
  const address a{which, who};
  hardware_.put(a.hash(), a, hardware);
  last_ = hardware;
}

sim::link_address seen_neighbours::of(family which, const address6& who) const {
  const address a{which, who};
  const u64* const known = hardware_.find(a.hash(), a);
  const u64 hardware = known == nullptr ? last_ : *known;
  sim::link_address mac{};
  for (usize i = 0; i < 6; ++i) mac[i] = static_cast<u8>(hardware >> (8 * (5 - i)));
  return mac;
}

}  // namespace octep::tools

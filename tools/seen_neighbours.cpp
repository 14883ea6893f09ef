#include "tools/seen_neighbours.hpp"

namespace octep::tools {

usize seen_neighbours::place(family which, const address6& who) noexcept {
  u64 h = sim::scatter(0, static_cast<u8>(which));
  for (const u32 word : who) h = sim::scatter(h, word);
  return h % sets;
}

void seen_neighbours::learn(family which, const address6& who, u64 hardware) {
  last_ = hardware;
  set& s = sets_[place(which, who)];
  for (entry& e : s.known)
    if (e.used && e.which == which && e.who == who) {
      e.hardware = hardware;
      return;
    }
  s.known[s.next++ % ways] = {who, hardware, which, true};
}

sim::link_address seen_neighbours::of(family which, const address6& who) const {
  u64 hardware = last_;
  for (const entry& e : sets_[place(which, who)].known)
    if (e.used && e.which == which && e.who == who) hardware = e.hardware;
  sim::link_address mac{};
  for (usize i = 0; i < 6; ++i) mac[i] = static_cast<u8>(hardware >> (8 * (5 - i)));
  return mac;
}

}  // namespace octep::tools

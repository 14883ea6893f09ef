// Behind which hardware address each IP address was seen: the neighbours of a box, as its capture shows them.
//
// What it is: the last 16,384 addresses, in sets of four. Whoever is not among them is behind the address that spoke last, which behind
// one router is right.
// What it refuses: growing. What that buys: next hops are as many as the network's, not as many as its servers.
// Concurrency: one thread.
#pragma once

#include "sim/routes.hpp"
#include "tools/recent.hpp"

namespace octep::tools {

class seen_neighbours {
 public:
  // `hardware`: as a number, see link_source.
  void learn(family which, const address6& who, u64 hardware);
  [[nodiscard]] sim::link_address of(family which, const address6& who) const;

 private:
  struct address {
    family which = family::ipv4;
    address6 who{};
    [[nodiscard]] bool operator==(const address&) const noexcept = default;
    [[nodiscard]] u64 hash() const noexcept;
  };

  recent<address, u64, 4'096, 4> hardware_;
  u64 last_ = 0;
};

}  // namespace octep::tools

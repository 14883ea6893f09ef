// Routes and neighbours: the model that answers the engine's question "where does this direction leave?".
//
// What it is: longest-prefix routes of both families to ways out (a front port, a lagg of front ports, a bridge that names no
// port, something that is no front port, this machine, a rejection), neighbours that are unresolved until told and may change
// their address or their port, and routes of states' own (route-to, reply-to). Implements next_hop_source.
// What it refuses: sending a question to a neighbour, and a pointer in an answer.
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <octep/next_hop.hpp>

#include "sim/association_engine.hpp"
#include "sim/model_constants.hpp"
#include "sim/wide_tuple.hpp"

namespace octep::sim {

using link_address = array<u8, 6>;

enum class way_kind : u8 {
  front,      // one front port
  lagg,       // several front ports: frames leave by the one where the other direction arrives, else by the first
  bridge,     // names no port: frames leave where the other direction arrives
  not_front,  // a port that is not the coprocessor's
  local,      // this machine
  rejected,   // a route that rejects or drops
};

struct way_out {
  way_kind kind = way_kind::bridge;
  std::vector<u16> ports;  // front: one; lagg: its members
  u16 vlan = 0;            // front, lagg. A bridge sends with the VLAN of the other direction
  u16 mtu = ethernet_mtu;
  link_address mac{2, 0, 0, 0, 0, 1};  // the appliance's own
  u32 tunnel = 0;  // of the kernel's associations: what leaves here is encrypted while a policy covers it; 0: never
};

struct prefix {
  family which = family::ipv4;
  address6 address{};
  u32 length = 0;  // bits; 0: everything of the family
};

// A gateway, or nothing: the destination is on the link.
struct via {
  bool named = false;
  address6 gateway{};
};

struct neighbour {
  bool resolved = false;
  link_address mac{};
};

class routes {
 public:
  routes() = default;
  // Both families, everything by one bridge, every neighbour resolved: what replay needs.
  [[nodiscard]] static routes everywhere();

  void add(const prefix& to, const way_out& way, const via& gateway = {});
  bool remove(const prefix& to);  // false: no such route
  void add_own(own_route handle, const way_out& way, const via& gateway = {});
  bool remove_own(own_route handle);

  void resolve_neighbour(family which, const address6& who, const link_address& mac);
  void forget_neighbour(family which, const address6& who);
  // Neighbours nobody named answer with an address made from theirs.
  void resolve_all(bool on) noexcept { resolve_all_ = on; }
  // Or with what `by` says of theirs.
  void resolve_by(std::function<link_address(family, const address6&)> by) { resolve_by_ = std::move(by); }
  void set_least_mtu(u16 least) noexcept { least_mtu_ = least; }
  // Whose policies and associations protect what leaves by a tunnel. Without one everything leaves plain.
  void protect_by(const association_table* kernel) noexcept { kernel_ = kernel; }
  // A route leads into a tunnel. Where none does, nobody has to ask whether a policy covers what leaves.
  [[nodiscard]] bool into_tunnels() const noexcept { return into_tunnels_; }
  // Moves with every change: a notice is due when it has.
  [[nodiscard]] u64 changes() const noexcept { return changes_; }

  [[nodiscard]] next_hop_answer resolve(const next_hop_question<tuple4>& q) const { return ask(q); }
  [[nodiscard]] next_hop_answer resolve(const next_hop_question<tuple6>& q) const { return ask(q); }

 private:
  struct route {
    prefix to;
    way_out way;
    via gateway;
  };

  void changed();
  template <tuple_type Tuple>
  [[nodiscard]] next_hop_answer ask(const next_hop_question<Tuple>& q) const;
  [[nodiscard]] next_hop_answer leave_by(const way_out& way, const via& gateway, family which, const address6& destination,
                                         ingress other) const;
  [[nodiscard]] const route* longest(family which, const address6& destination) const;
  [[nodiscard]] neighbour neighbour_of(family which, const address6& who) const;

  std::vector<route> routes_;  // longest first; equal lengths in order of addition
  std::unordered_map<u32, route> own_;
  std::unordered_map<wide_tuple, neighbour, wide_tuple_hash> neighbours_;  // keyed by family and destination
  const association_table* kernel_ = nullptr;
  bool resolve_all_ = false;
  std::function<link_address(family, const address6&)> resolve_by_;
  u16 least_mtu_ = least_mtu;
  bool into_tunnels_ = false;  // one of routes_
  u64 changes_ = 0;
};

static_assert(next_hop_source<routes>);

}  // namespace octep::sim

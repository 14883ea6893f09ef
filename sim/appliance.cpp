#include "sim/appliance.hpp"

namespace octep::sim {

namespace {

// 203.0.113.1 and 2001:db8::1, of the documentation ranges (RFC 5737, RFC 3849).
constexpr address4 translated4 = 0x01'71'00'cb;
constexpr address6 translated6{0xb8'0d'01'20, 0, 0, 0x01'00'00'00};

firewall_options firewall_for(const appliance_options& o) {
  firewall_options rules;
  rules.seed = o.seed;
  rules.judges_numbers = o.judges_numbers;
  if (!o.nat) return rules;
  const auto translate = [&rules](family which, const address6& to) {
    source_nat_rule rule;
    rule.applies = [which](const wide_tuple& t, ingress) { return t.which == which; };
    rule.to = to;
    rules.source_nat.push_back(rule);
  };
  translate(family::ipv4, widen(translated4));
  translate(family::ipv6, translated6);
  return rules;
}

fast_path_options device_for(const appliance_options& o) {
  fast_path_options far;
  far.seed = o.seed;
  far.connections = o.connections;
  far.next_hops = o.next_hops;
  far.associations = o.associations;
  far.microflows = o.microflows;
  if (o.gives_back) far.gives_back = give_back_rule::of(o.device);
  return far;
}

}  // namespace

appliance::appliance(const appliance_options& options) : rules{firewall_for(options)}, device{device_for(options)} {
  ways.protect_by(&kernel);
  device.read_numbers_by([this](u32 spi) {
    const kernel_association* const a = kernel.find(spi);
    return a == nullptr ? 0 : a->sequence;
  });
}

}  // namespace octep::sim

#include "tools/nat_pairs.hpp"

namespace octep::tools {

nat_pairs::nat_pairs(const any_address& outside)
    : which_{std::holds_alternative<address4>(outside) ? family::ipv4 : family::ipv6},
      outside_{std::visit([](const auto& a) { return sim::widen(a); }, outside)} {}

bool nat_pairs::joins(const sighting& how) const {
  return how.is == sighting::kind::translated && how.outside.which == which_ && how.outside.source == outside_;
}

bool nat_pairs::leaves_out(const observed_frame& seen, const sighting& how) {
  if (joins(how)) paired_.put(sim::scatter(how.outside), how.outside, {});
  const sim::wide_tuple& tuple = seen.tuple;
  if (tuple.which != which_) return false;
  const bool leaves = tuple.source == outside_;
  if (!leaves && tuple.destination != outside_) return false;
  const sim::wide_tuple opener = leaves ? tuple : reverse(tuple);
  return paired_.find(sim::scatter(opener), opener) != nullptr;
}

}  // namespace octep::tools

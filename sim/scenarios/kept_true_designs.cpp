// What the rows of kept_true.hpp instantiate and look into.
#include "sim/scenarios/kept_true_designs.hpp"

#include "sim/scenarios/recorded_impl.hpp"

namespace octep::sim::scenarios {

namespace {

template <class Policies>
bool count_places(appliance& of, u64& written) {
  auto* const known = dynamic_cast<box<Policies>*>(&of);
  if (known == nullptr) return false;
  written = 0;
  for (u32 slot = 0; slot < Policies::geometry.slots; ++slot)
    (void)known->core().template candidates_for<tuple4>().for_each_place(slot, [&](u32, const auto&) { ++written; });
  return true;
}

}  // namespace

design recorded_without_marks() {
  return recorded<p4_unmarked>("p4, unmarked", "four places, oldest goes, nothing is left to the poll (recorded)");
}

std::optional<u64> places_written(appliance& of) {
  using default_table =
      replay_policies<rank_and_lot, default_policies::geometry.slots, default_policies::geometry.places>;
  u64 written = 0;
  if (count_places<p4_b1>(of, written) || count_places<default_table>(of, written)) return written;
  return std::nullopt;
}

}  // namespace octep::sim::scenarios

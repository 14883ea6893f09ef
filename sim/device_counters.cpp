#include "sim/device_counters.hpp"

#include <fmt/format.h>

namespace octep::sim {

u64 device_counters::punted() const noexcept {
  u64 sum = 0;
  for (usize i = static_cast<usize>(first_punt); i <= static_cast<usize>(last_punt); ++i) sum += value_[i];
  return sum;
}

bool device_counters::conserved(u64 in_wire_queue, u64 in_host_queue, std::string* why) const {
  const auto equal = [why](const char* left_name, u64 left, const char* right_name, u64 right) {
    if (left == right) return true;
    if (why != nullptr) *why = fmt::format("{} = {}, but {} = {}", left_name, left, right_name, right);
    return false;
  };
  using c = device_counter;
  const device_counters& n = *this;
  const u64 forwarded = n[c::from_wire_to_wire] + n[c::from_wire_to_ipsec_encr];
  return equal("received", n[c::rx_wire], "forwarded + encrypted + punted + dropped",
               forwarded + punted() + n[c::drop_wire_overrun] + n[c::drop_kn_overrun] + n[c::drop_ipsec]) &&
         equal("transmitted + queued for the wire", n[c::tx_wire] + in_wire_queue, "forwarded + encrypted + sent by the host",
               forwarded + n[c::from_kn]) &&
         equal("handed up + queued for the host", n[c::tx_kn] + in_host_queue, "punted", punted());
}

}  // namespace octep::sim

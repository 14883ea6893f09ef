#include "sim/device_counters.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace octep::sim {
namespace {

TEST(DeviceCounters, EveryNameIsItsOwn) {
  std::set<std::string> names;
  for (usize i = 0; i < device_counter_count; ++i) names.insert(name(static_cast<device_counter>(i)));
  EXPECT_EQ(names.size(), device_counter_count);
}

TEST(DeviceCounters, PuntedIsTheSumOfItsReasons) {
  device_counters n;
  n.add(first_punt);
  n.add(last_punt, 2);
  n.add(device_counter::kn_mflow_not_active, 4);
  n.add(device_counter::rx_wire, 100);
  n.add(device_counter::drop_kn_overrun, 100);
  EXPECT_EQ(n.punted(), 7U);
}

// One frame each way keeps the law; any one counter that moves alone breaks it.
TEST(DeviceCounters, NoCounterMovesAlone) {
  device_counters whole;
  whole.add(device_counter::rx_wire, 2);
  whole.add(device_counter::from_wire_to_wire);
  whole.add(device_counter::kn_mflow_not_active);
  whole.add(device_counter::tx_wire);
  ASSERT_TRUE(whole.conserved(0, 1, nullptr));
  for (usize i = 0; i < device_counter_count; ++i) {
    const auto c = static_cast<device_counter>(i);
    if (c == device_counter::drop_host_overrun) continue;  // what the host could not send is no frame of the device
    device_counters broken = whole;
    broken.add(c);
    std::string why;
    EXPECT_FALSE(broken.conserved(0, 1, &why)) << name(c);
    EXPECT_FALSE(why.empty()) << name(c);
  }
  EXPECT_FALSE(whole.conserved(1, 1, nullptr));
  EXPECT_FALSE(whole.conserved(0, 0, nullptr));
}

}  // namespace
}  // namespace octep::sim

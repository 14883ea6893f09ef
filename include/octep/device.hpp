// Device facts: what one coprocessor can do and how it names things.
//
// Floor 2.
//
// What it is: a small struct of numbers and two recorded devices. The engine reads its limits here; a world supplies it.
// What it refuses: behaviour. A device that needs other code is another policy, not another number.
// Concurrency: constants.
#pragma once

#include <octep/base.hpp>
#include <octep/settings.hpp>

namespace octep {

struct device_facts {
  const char* name;
  u32 connections;      // usable entries of its connection table
  u32 next_hops;        // entries of its next-hop table
  u8 gives_back_at;     // identical ACK-bearing frames in a row; its counter then stands at `identical_limit`
  u8 identical_limit;
  bool forwards_ipv6;
  u32 associations;     // indexes of its IPsec engine
  u64 line_rate;        // bytes a second that engine can carry at most
  u32 run_gap_ms;       // the defaults of the settings of that name on this device
  u32 revive;
};

// Ten gigabit, the fastest port of either (ours).
inline constexpr u64 ten_gigabit = 1'250'000'000;

// system.md 8 and 9. The record gives 1,022 usable connections; the numbers of next hops and of associations are ours.
inline constexpr device_facts xgs3300{"xgs3300", 1'022, 254, 12, 10, false, 254, ten_gigabit, 5, 1};
inline constexpr device_facts xgs136{"xgs136", 1'022, 254, 10, 10, false, 254, ten_gigabit, 10, 0};

// The settings a device starts with: the table's defaults, then the device's own.
[[nodiscard]] constexpr settings initial_settings(const device_facts& d) noexcept {
  settings s;
  // A device's own defaults are constants inside their settings' ranges.
  (void)s.set(setting::run_gap_ms, d.run_gap_ms);
  (void)s.set(setting::revive, d.revive);
  return s;
}

}  // namespace octep

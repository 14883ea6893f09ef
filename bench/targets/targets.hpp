// The families of targets, a file each: what is measured together, because it is one race.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "bench/report.hpp"

namespace octep::bench {

void measure_writes(report& out, const options& o);
void measure_punts(report& out, const options& o);
void measure_look_ups(report& out, const options& o);
void measure_walks(report& out, const options& o);
void measure_hashes(report& out, const options& o);
void measure_spread(report& out, const options& o);
void measure_replays(report& out, const options& o);
void measure_build(report& out, const options& o);

struct family {
  std::vector<std::string_view> ids;
  void (*measure)(report&, const options&);
};

inline const std::array families{
    family{{"P1", "P3"}, measure_writes}, family{{"P2"}, measure_punts},  family{{"P4"}, measure_look_ups},
    family{{"P5"}, measure_walks},        family{{"P6"}, measure_hashes}, family{{"P6"}, measure_spread},
    family{{"P7"}, measure_replays},      family{{"P9"}, measure_build},
};

}  // namespace octep::bench

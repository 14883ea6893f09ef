// The report for programs: one object, with every key whether or not it counted anything.
#include "tools/replay.hpp"

#include <nlohmann/json.hpp>

namespace octep::tools {
namespace {

using json = nlohmann::ordered_json;

// Reasons from `first` on, to be looked up without asking whether they are there.
json counts(const by_reason& n, reason first, reason last) {
  json all = json::object();
  for (usize i = static_cast<usize>(first); i <= static_cast<usize>(last); ++i) all[reason_rows[i].name] = n[i];
  return all;
}

json in_ms(const std::optional<u64>& us) { return us ? json(static_cast<double>(*us) / 1'000) : json(nullptr); }

}  // namespace

std::string report_json(const replay_sums& sums, const replay_options& options) {
  json histogram = json::array();
  for (const auto& bucket : sums.time_to_made.powers_of_two())
    histogram.push_back({{"from", bucket.from_ms}, {"below", bucket.below_ms}, {"connections", bucket.count}});
  json counters = json::object();
  for (const auto& [name, value] : sums.counters) counters[name] = value;
  json values = json::object();
  for (const setting_row& r : setting_rows) values[r.name] = sums.values[r.is];

  const json all{
      {"capture", {{"file", options.file}, {"frames", sums.frames}, {"bytes", sums.bytes}, {"seconds", sums.seconds}}},
      {"frames",
       {{"forwarded", sums.forwarded},
        {"punted", sums.punted},
        {"candidates", sums.candidates},
        {"not_candidate", counts(sums.not_candidate, first_frame_reason, last_frame_reason)}}},
      {"connections",
       {{"seen", sums.connections},
        {"made", sums.made},
        {"picked_up", sums.picked_up},
        // A frame without an identity, or one that met a held slot word, may be all that a connection had.
        {"refused", counts(sums.not_made, reason::no_identity, last_reason)}}},
      {"time_to_made_ms",
       {{"p50", in_ms(sums.time_to_made.percentile(50))},
        {"p99", in_ms(sums.time_to_made.percentile(99))},
        {"histogram", histogram}}},
      {"counters", counters},
      {"settings", values},
  };
  // A path may be any bytes; JSON may not.
  return all.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace octep::tools

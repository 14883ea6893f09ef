// The report for programs: one object, with every key whether or not it counted anything.
#include "tools/replay.hpp"
#include "tools/tuple_text.hpp"

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

// Those of which the host had the most bytes, most first.
json worst_of(const replay_sums& sums) {
  json all = json::array();
  for (const connection& c : sums.worst)
    all.push_back({{"tuple", to_text(c.from_opener)},
                   {"frames_punted", c.frames_punted},
                   {"bytes_punted", c.bytes_punted},
                   {"frames_forwarded", c.frames_forwarded},
                   {"bytes_forwarded", c.bytes_forwarded},
                   {"why_not", c.made || c.forwarded ? json(nullptr) : json(name(c.refusal))},
                   {"sentence", sentence_about(c)}});
  return all;
}

json over_time_of(const replay_sums& sums) {
  json spans = json::array();
  for (usize n = 0; n < sums.over_time.size(); ++n) {
    const time_span& s = sums.over_time[n];
    spans.push_back({{"forwarded", s.forwarded},
                     {"forwarded_bytes", s.forwarded_bytes},
                     {"punted", s.punted},
                     {"punted_bytes", s.punted_bytes}});
  }
  return {{"span_ms", sums.over_time.length().count / 1'000}, {"spans", spans}};
}

json cannot_tell_of(const replay_sums& sums) {
  json all = json::array();
  for (const blind_spot& spot : sums.cannot_tell) all.push_back({{"what", spot.what}, {"count", spot.count}, {"sentence", spot.sentence}});
  return all;
}

json hardware_of(const replay_sums& sums) {
  const hardware_sums& h = sums.hardware;
  return {{"made", h.made},           {"most", h.most},           {"given_back", h.given_back},
          {"revived", h.revived},     {"held_back", h.held_back}, {"attached", h.attached},
          {"repointed", h.repointed}, {"idle", h.idle},           {"taken_out", h.taken_out},
          {"forgotten", h.forgotten}, {"at_end", h.now()}};
}

// What the table had no room for.
json forgotten_of(const replay_sums& sums) {
  return {{"candidates", sums.counted("cand_pushed")},
          {"unread", sums.counted("cand_evicted")},
          {"still_of_use", sums.counted("cand_evicted_read")},
          {"holds", sums.counted("hold_forgot")}};
}

json in_ms(const std::optional<u64>& us) { return us ? json(static_cast<double>(*us) / 1'000) : json(nullptr); }

json column_of(std::string_view name, const replay_sums& sums) {
  return {{"name", name},
          {"frames_forwarded", sums.forwarded},
          {"frames_punted", sums.punted},
          {"bytes_forwarded", sums.forwarded_bytes},
          {"bytes_punted", sums.punted_bytes},
          {"connections_made", sums.made},
          {"connections_not_made", sum(sums.not_made)},
          {"p50_ms", in_ms(sums.time_to_made.percentile(50))},
          {"p99_ms", in_ms(sums.time_to_made.percentile(99))},
          {"given_back", sums.hardware.given_back},
          {"revived", sums.hardware.revived},
          {"held_back", sums.hardware.held_back},
          {"most", sums.hardware.most},
          {"commands", sums.counted("cmd_posted")}};
}

json compared_of(const replay_sums& sums, const std::vector<compared_sums>& compared) {
  json all = json::array({column_of("as asked", sums)});
  for (const compared_sums& c : compared) all.push_back(column_of(c.name, c.sums));
  return all;
}

}  // namespace

std::string report_json(const replay_sums& sums, const std::vector<compared_sums>& compared, const replay_options& options) {
  json histogram = json::array();
  for (const auto& bucket : sums.time_to_made.powers_of_two())
    histogram.push_back({{"from", bucket.from_ms}, {"below", bucket.below_ms}, {"connections", bucket.count}});
  json counters = json::object();
  for (const auto& [name, value] : sums.counters) counters[name] = value;
  json values = json::object();
  for (const setting_row& r : setting_rows) values[r.name] = sums.values[r.is];

  const json all{
      {"capture", {{"file", options.file}, {"frames", sums.frames + sums.left_out}, {"bytes", sums.bytes + sums.left_out_bytes}, {"left_out", sums.left_out},
                   {"seconds", sums.seconds}, {"interrupted", sums.interrupted}}},
      {"frames",
       {{"forwarded", sums.forwarded},
        {"forwarded_bytes", sums.forwarded_bytes},
        {"punted", sums.punted},
        {"punted_bytes", sums.punted_bytes},
        {"candidates", sums.candidates},
        {"not_candidate", counts(sums.not_candidate, first_frame_reason, last_frame_reason)},
        {"not_candidate_bytes", counts(sums.not_candidate_bytes, first_frame_reason, last_frame_reason)}}},
      {"connections",
       {{"seen", sums.connections},
        {"made", sums.made},
        {"picked_up", sums.picked_up},
        // A frame without an identity, or one that met a held slot word, may be all that a connection had.
        {"refused", counts(sums.not_made, reason::no_identity, last_reason)},
        // What the host had of those.
        {"refused_frames", counts(sums.not_made_frames, reason::no_identity, last_reason)},
        {"refused_bytes", counts(sums.not_made_bytes, reason::no_identity, last_reason)},
        // And of those that were made.
        {"made_frames", sums.made_frames},
        {"made_bytes", sums.made_bytes},
        {"worst", worst_of(sums)}}},
      {"hardware", hardware_of(sums)},
      {"forgotten", forgotten_of(sums)},
      {"over_time", over_time_of(sums)},
      {"time_to_made_ms",
       {{"p50", in_ms(sums.time_to_made.percentile(50))},
        {"p99", in_ms(sums.time_to_made.percentile(99))},
        {"histogram", histogram}}},
      {"compared", compared_of(sums, compared)},
      {"cannot_tell", cannot_tell_of(sums)},
      {"warnings", sums.warnings},
      {"not_modelled", what_is_not_modelled()},
      {"counters", counters},
      {"settings", values},
  };
  // A path may be any bytes; JSON may not.
  return all.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace octep::tools

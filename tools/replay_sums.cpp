#include "tools/replay_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace octep::tools {

std::optional<std::string> contradiction(const replay_sums& sums, u64 frames_read, u64 living) {
  if (sums.forwarded + sums.punted != frames_read || sums.frames != frames_read)
    return fmt::format("{} frames forwarded and {} punted are not the {} that were read", sums.forwarded, sums.punted,
                       frames_read);
  if (sums.forwarded_bytes + sums.punted_bytes != sums.bytes)
    return fmt::format("{} bytes forwarded and {} punted are not the {} that were read", sums.forwarded_bytes,
                       sums.punted_bytes, sums.bytes);
  if (sums.candidates + sum(sums.not_candidate) != sums.punted)
    return fmt::format("{} candidates and {} others are not the {} punted frames", sums.candidates, sum(sums.not_candidate),
                       sums.punted);
  if (sums.made + sum(sums.not_made) + living != sums.connections)
    return fmt::format("{} connections made, {} not made and {} still open are not the {} seen", sums.made, sum(sums.not_made),
                       living, sums.connections);
  return {};
}

u64 replay_sums::counted(std::string_view name) const {
  for (const auto& [known, value] : counters)
    if (known == name) return value;
  return 0;
}

void replay_sums::count(const connection& c) {
  if (c.made && c.first_punted) time_to_made.add(c.made->since(*c.first_punted).count);
  // A connection that takes over the tuple of one in hardware is forwarded without being made again.
  if (c.made || c.forwarded) {
    ++made;
    made_frames += c.frames_punted;
    made_bytes += c.bytes_punted;
  } else {
    const usize why = static_cast<usize>(c.refusal);
    ++not_made[why];
    not_made_frames[why] += c.frames_punted;
    not_made_bytes[why] += c.bytes_punted;
  }
  picked_up += c.picked_up ? 1 : 0;

  // Each is over once and with all its bytes, so ten are enough to know the ten.
  const auto more = [](const connection& a, const connection& b) { return a.bytes_punted > b.bytes_punted; };
  worst.insert(std::upper_bound(worst.begin(), worst.end(), c, more), c);
  if (worst.size() > most_worst) worst.pop_back();
}

}  // namespace octep::tools

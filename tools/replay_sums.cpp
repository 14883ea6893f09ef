#include "tools/replay_sums.hpp"

#include <fmt/format.h>

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

}  // namespace octep::tools

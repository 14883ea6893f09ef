// Rows of the record about associations (R20, R23): octep's default, in virtual time.
#pragma once

#include <octep/base.hpp>

namespace octep::sim::scenarios {

// R20: a rekey under four uploads.
struct rekeyed {
  u64 made = 0;             // connections, of the uploads
  u64 moved = 0;            // directions, to the new association
  u64 taken_out = 0;
  u64 a_second_after = 0;   // the new one's sequence counter in the kernel, a second after the rekey
  u64 counter = 0;          // ... at the end
  u64 by_engine = 0;        // numbers that the far side's engine gave out under the new one
  u64 by_host = 0;          // ... for frames that the host handed over
  u64 unnamed = 0;          // the sequence counter of an association that no connection named
  u64 twice = 0;            // numbers that did not climb, over all associations: what a peer drops as replayed
};
[[nodiscard]] rekeyed rekey_under_uploads(u32 level, u64 seed);

// R23: two indexes that have carried gigabytes are used again, by an upload of five seconds and its acknowledgements.
struct index_reused {
  u64 out_before = 0;  // bytes, as the index reads
  u64 in_before = 0;
  u64 out_told = 0;    // bytes, to the kernel's lifetimes
  u64 in_told = 0;
  u64 out_carried = 0;
  u64 in_carried = 0;
  u64 rebased = 0;
};
[[nodiscard]] index_reused reused_by_an_upload(u64 seed);

// R23: 3,000 requests, ten milliseconds apart; in the middle third the tunnel is down and no policy covers its traffic.
struct tunnel_down_and_up {
  u64 answered = 0;
  u64 plain_in_hardware = 0;      // frames, while it was down
  u64 protected_in_hardware = 0;  // frames, after it was up again
  u64 leaked = 0;                 // frames that left plain while a policy covered them
  u64 made = 0;
};
[[nodiscard]] tunnel_down_and_up down_and_up(u64 seed);

}  // namespace octep::sim::scenarios

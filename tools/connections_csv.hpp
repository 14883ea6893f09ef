// A replay's connections as CSV (RFC 4180, lines end in LF), a line each, in the order in which they were
// forgotten.
//
//   protocol opener opener_port responder responder_port   as the opener's frames arrive; an echo has its identifier and nothing
//   begin end                                              seconds since the capture's first frame
//   frames_forwarded bytes_forwarded frames_punted bytes_punted
//   made                                                   seconds; empty: never
//   why_not                                                the last reason; empty: it was in hardware
//
// No field holds a comma or a quote. Concurrency: one thread.
#pragma once

#include "tools/output_file.hpp"
#include "tools/tracking.hpp"

namespace octep::tools {

class connections_csv {
 public:
  // Writes the head. `to` outlives it.
  explicit connections_csv(output_file& to);
  void add(const connection& c);

 private:
  output_file* to_;
};

}  // namespace octep::tools

// One record of a capture and what can be read from its headers, read once for whoever wants to know.
//
// Concurrency: a value. Its bytes belong to the capture, until the next record is read.
#pragma once

#include "sim/tcp_flags.hpp"
#include "sim/wide_tuple.hpp"
#include "tools/link_type.hpp"

namespace octep::tools {

struct observed_frame {
  captured_frame frame;
  frame_facts facts;
  // Of a candidate; of any other frame whatever they held.
  sim::tcp_segment tcp;  // nothing for anything but TCP
  sim::wide_tuple tuple;

  [[nodiscard]] bool candidate() const noexcept { return facts.why == reason::none; }
};

// Of `seen.frame`, what the rest of `seen` says.
inline void observe(observed_frame& seen) noexcept {
  classify(seen.frame, seen.facts);
  if (!seen.candidate()) return;
  seen.tcp = sim::tcp_segment_of(seen.frame.view, seen.facts);
  seen.tuple = sim::tuple_of(seen.facts);
}

}  // namespace octep::tools

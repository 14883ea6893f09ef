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
  sim::tcp_segment tcp;  // of a candidate; nothing for anything but TCP

  [[nodiscard]] bool candidate() const noexcept { return facts.why == reason::none; }
  [[nodiscard]] sim::wide_tuple tuple() const noexcept { return sim::tuple_of(facts); }  // of a candidate
};

[[nodiscard]] inline observed_frame observe(const captured_frame& frame) noexcept {
  observed_frame seen{frame, {}, {}};
  classify(frame, seen.facts);
  seen.tcp = sim::tcp_segment_of(frame.view, seen.facts);
  return seen;
}

}  // namespace octep::tools

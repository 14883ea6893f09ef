// One connection's story in a replay: why it is, or is not, in hardware at a moment.
//
// What it is: the decisions about one tuple and its reverse, by the core's own `why_memory`, which here is told of nobody else and
// so forgets nothing. Beside it the frames of either direction that were forwarded and punted. Where the box translates, what is
// decided about the reply's tuple as it arrives is the reply's.
// Concurrency: one thread.
#pragma once

#include "sim/appliance.hpp"
#include "tools/tuple_text.hpp"

#include <octep/why.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace octep::tools {

class replay_why {
 public:
  replay_why(const any_tuple& about, const sim::appliance_options& box);

  void hear(const event& e);
  // As the capture has it, and as it arrived at the box.
  void frame(const sim::wide_tuple& tuple, const sim::wide_tuple& arrives, bool forwarded);

  // At `now`, microseconds since the capture's first frame.
  [[nodiscard]] std::string text(instant now) const;
  [[nodiscard]] std::string json(instant now) const;

 private:
  [[nodiscard]] bool is_it(const sim::wide_tuple& t) const { return t == about_ || t == reverse(about_); }
  [[nodiscard]] explanation known() const;
  [[nodiscard]] std::string change_of(const explanation& e) const;

  sim::wide_tuple about_;
  device_facts device_;
  bool makes_;  // the box is set to make connections at all
  std::optional<std::pair<sim::wide_tuple, sim::wide_tuple>> translated_;  // the last reply: as it arrives, as the capture has it
  std::unique_ptr<why_memory<>> memory_ = std::make_unique<why_memory<>>();
  u64 forwarded_ = 0;
  u64 punted_ = 0;
};

}  // namespace octep::tools

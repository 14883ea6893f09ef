// One connection's story in a replay: why it is, or is not, in hardware at a moment.
//
// What it is: the decisions about one tuple and its reverse, by the core's own `why_memory`, which here is told of nobody else and
// so forgets nothing. Beside it the frames of the tuple that were forwarded and punted.
// Concurrency: one thread.
#pragma once

#include "tools/tuple_text.hpp"

#include <octep/why.hpp>

#include <memory>
#include <string>

namespace octep::tools {

class replay_why {
 public:
  explicit replay_why(const any_tuple& about);

  void hear(const event& e);
  void frame(const sim::wide_tuple& tuple, bool forwarded);

  // At `now`, microseconds since the capture's first frame.
  [[nodiscard]] std::string text(instant now) const;
  [[nodiscard]] std::string json(instant now) const;

 private:
  [[nodiscard]] bool is_it(const sim::wide_tuple& t) const { return t == about_ || t == reverse(about_); }
  [[nodiscard]] explanation known() const;

  sim::wide_tuple about_;
  std::unique_ptr<why_memory<>> memory_ = std::make_unique<why_memory<>>();
  u64 forwarded_ = 0;
  u64 punted_ = 0;
};

}  // namespace octep::tools

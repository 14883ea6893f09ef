// Ctrl-C as a question: whether somebody has asked to stop. A second one ends the program as usual.
//
// Concurrency: one at a time, in the main thread; the handler sets a flag and nothing else.
#pragma once

#include <csignal>

namespace octep::tools {

class interrupt_watch {
 public:
  interrupt_watch() noexcept;
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

  [[nodiscard]] bool asked() const noexcept;

 private:
  struct sigaction before_ {};
};

}  // namespace octep::tools

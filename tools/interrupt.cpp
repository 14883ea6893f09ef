#include "tools/interrupt.hpp"

namespace octep::tools {
namespace {

volatile std::sig_atomic_t stop = 0;

void on_interrupt(int) { stop = 1; }

}  // namespace

interrupt_watch::interrupt_watch() noexcept {
  stop = 0;
  struct sigaction now {};
  now.sa_handler = on_interrupt;
  // A read that waits for a pipe comes back. The second Ctrl-C finds what was there before.
  now.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&now.sa_mask);
  sigaction(SIGINT, nullptr, &before_);
  // A shell has its background jobs ignore Ctrl-C, which is meant for the one in front.
  if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &now, nullptr);
}

interrupt_watch::~interrupt_watch() { sigaction(SIGINT, &before_, nullptr); }

bool interrupt_watch::asked() const noexcept { return stop != 0; }

}  // namespace octep::tools

// What passes did to connections in hardware, counted as it is told.
//
// Concurrency: a value.
#pragma once

#include <octep/events.hpp>

namespace octep::tools {

struct hardware_sums {
  u64 made = 0;       // makes: a connection may be made more than once
  u64 most = 0;       // at one time
  u64 attached = 0;   // directions under a new identity
  u64 repointed = 0;  // directions by another next hop
  u64 given_back = 0;
  u64 revived = 0;
  u64 taken_out = 0;
  u64 held_back = 0;
  u64 idle = 0;       // found so: nothing moved over two readings
  u64 forgotten = 0;  // by discards and resets of the far side, all at once

  void hear(const event& e) noexcept {
    switch (e.kind) {
      case event_kind::made:
        ++made;
        ++now_;
        most = greatest(most, now_);
        break;
      case event_kind::taken_out:
        ++taken_out;
        if (now_ != 0) --now_;
        break;
      case event_kind::discarded:
      case event_kind::far_side_reset:
        forgotten += now_;
        now_ = 0;
        break;
      case event_kind::attached: ++attached; break;
      case event_kind::repointed: ++repointed; break;
      case event_kind::given_back: ++given_back; break;
      case event_kind::revived: ++revived; break;
      case event_kind::held_back: ++held_back; break;
      case event_kind::idle: ++idle; break;
      default: break;
    }
  }
  [[nodiscard]] u64 now() const noexcept { return now_; }

 private:
  u64 now_ = 0;
};

}  // namespace octep::tools

// A queue in front of something that takes one frame at a time: a wire, a host's CPU.
//
// What it is: first in, first out; each frame takes `frame_ns`, and at most `room` wait. A frame's departure is known when it
// joins, so a model needs no event for it.
// What it refuses: a frame when it is full; the caller counts the drop.
#pragma once

#include <deque>
#include <optional>

#include <octep/ticks.hpp>

namespace octep::sim {

class paced_queue {
 public:
  // frame_ns 0: a frame departs when it joins. room 0: no bound.
  explicit paced_queue(u64 frame_ns = 0, u32 room = 0) noexcept : frame_ns_{frame_ns}, room_{room} {}

  // When the frame will have departed, in whole microseconds rounded up; nothing where the queue is full.
  [[nodiscard]] std::optional<instant> join(instant now) {
    if (room_ != 0 && size() >= room_) return std::nullopt;
    const u64 now_ns = now.us * 1'000;
    free_at_ns_ = (free_at_ns_ < now_ns ? now_ns : free_at_ns_) + frame_ns_;
    const instant departs{(free_at_ns_ + 999) / 1'000};
    // Nobody is in front of it and nothing holds it up: it needs no place in the queue, which is the case of every frame of
    // a queue without a cost.
    if (departs <= now && waiting_.empty()) {
      ++passing_;
    } else {
      waiting_.push_back(departs);
    }
    return departs;
  }
  // How many have departed since the last call, up to and including `now`.
  [[nodiscard]] usize departed(instant now) {
    usize n = passing_;
    passing_ = 0;
    for (; !waiting_.empty() && waiting_.front() <= now; ++n) waiting_.pop_front();
    return n;
  }
  [[nodiscard]] usize size() const noexcept { return passing_ + waiting_.size(); }

 private:
  u64 frame_ns_;
  u32 room_;
  u64 free_at_ns_ = 0;
  usize passing_ = 0;  // joined when nobody waited, and departed at once
  std::deque<instant> waiting_;
};

}  // namespace octep::sim

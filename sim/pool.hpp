// Records that are found by number and stay where they are.
//
// What it is: a vector in pieces of a fixed number of records; what grows is the list of pieces. A place that was given back is
// handed out again before a new one, the last first.
// What it refuses: giving memory back, and destroying a record before the pool: a place that is taken again holds what it
// held.
// What that buys: an address that stays valid while others come, which a vector's does not, and no walk through a deque's map
// of small blocks for each record.
// Concurrency: one thread.
#pragma once

#include <memory>
#include <vector>

#include <octep/base.hpp>

namespace octep::sim {

template <class Record>
class pool {
 public:
  [[nodiscard]] Record& operator[](u32 place) noexcept { return pieces_[place / piece][place % piece]; }
  [[nodiscard]] const Record& operator[](u32 place) const noexcept { return pieces_[place / piece][place % piece]; }

  // Places 0 to size() - 1 were handed out at least once.
  [[nodiscard]] u32 size() const noexcept { return size_; }

  // One more, behind all others.
  u32 add() {
    if (size_ % piece == 0) pieces_.push_back(std::make_unique<Record[]>(piece));
    return size_++;
  }
  // One that was given back, or one more.
  u32 take() {
    if (free_.empty()) return add();
    const u32 place = free_.back();
    free_.pop_back();
    return place;
  }
  void give_back(u32 place) { free_.push_back(place); }

  void clear() noexcept {
    pieces_.clear();
    free_.clear();
    size_ = 0;
  }

 private:
  static constexpr u32 piece = 64;

  std::vector<std::unique_ptr<Record[]>> pieces_;
  std::vector<u32> free_;
  u32 size_ = 0;
};

}  // namespace octep::sim

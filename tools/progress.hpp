// How far a replay is: a line on a terminal that is written over, and nothing anywhere else.
//
// Concurrency: one thread.
#pragma once

#include <octep/base.hpp>

#include <chrono>
#include <cstdio>
#include <string>

namespace octep::tools {

// "  42 %  1,234,567 frames, 812,000 a second, 3 s left"; without a size, or before a second has gone, less of it.
[[nodiscard]] std::string progress_line(u64 frames, double seconds, u64 read, u64 size);

class progress {
 public:
  // `size`: bytes of the file, 0 where nobody knows. On no terminal it writes nothing.
  progress(std::FILE* to, u64 size);
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // Cheap: looks at the clock, and asks how much was read, once in some thousand calls.
  template <class Read>
  void at(u64 frames, Read&& read) {
    if (on_ && frames % 4'096 == 0) show(frames, read());
  }
  void clear();

 private:
  using clock = std::chrono::steady_clock;
  void show(u64 frames, u64 read);

  std::FILE* to_;
  u64 size_;
  bool on_;
  usize shown_ = 0;  // characters
  clock::time_point began_ = clock::now();
  clock::time_point next_ = began_ + std::chrono::milliseconds{300};
};

}  // namespace octep::tools

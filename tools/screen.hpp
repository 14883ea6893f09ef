// Where a report for people goes: how wide it is, and whether it shows more than ASCII.
//
// Concurrency: `screen_of` sets the process's LC_CTYPE from its environment.
#pragma once

#include <octep/base.hpp>

#include <cstdio>

namespace octep::tools {

// As it stands: a pipe or a file, which every reader shows, and where the same report is the same bytes.
struct screen {
  static constexpr usize least = 80, most = 240;  // columns

  usize width = least;
  bool utf8 = false;

  // Room beside a table for its sentences.
  [[nodiscard]] bool wide() const noexcept { return width >= 150; }
};

[[nodiscard]] screen screen_of(std::FILE* out);

}  // namespace octep::tools

// The candidate table compiled as a kernel has it: by each compiler that builds the kernel's object, with its flags, thus
// without vector registers. Each build is an object of its own in a namespace of its own (scalar.cc), so that no inline
// function of it is ever exchanged for the host's.
#pragma once

#include <octep/tuple.hpp>

#include <string_view>
#include <vector>

namespace octep::bench {

struct scalar_build {
  std::string_view compiler;
  void (*clear)();
  // Writes `count` frames of these tuples, the first being number `sent` of all; the sum of the outcomes.
  u64 (*write)(const tuple4* tuples, u64 count, u64 sent);
};

[[nodiscard]] std::vector<scalar_build> scalar_builds();

}  // namespace octep::bench

// Revisions: the 16-bit number that makes an index of a far side's table this use of it.
//
// Floor 1.
//
// What it is: the one rule by which revisions climb, for connections and for next hops.
// What it refuses: 0, which names no use at all (system.md 8), so that a handle of zeros is never anybody's.
// What that buys: whoever still names an earlier use of an index is skipped by the far side, until 65,535 uses later.
// Concurrency: values.
#pragma once

#include <octep/base.hpp>

namespace octep {

// The revision of an index's next use; 65,535 is followed by 1.
[[nodiscard]] constexpr u16 next_revision(u16 last) noexcept {
  return last == 0xffff ? u16{1} : static_cast<u16>(last + 1);
}

}  // namespace octep

// What was built, by what, from which commit. Link octep_build_info (octep_tools does so already).
//
// Nothing here is known to a header of the core: a binary that reports its commit must not make every unit depend on it.
// All functions return constants; any thread may call them at any time.
#pragma once

#include <string_view>

namespace octep::tools {

/// The project's version, "0.1.0".
[[nodiscard]] std::string_view build_version() noexcept;

/// Twelve hexadecimal digits, with "-dirty" behind them when files differed from the commit; "unknown" outside git.
[[nodiscard]] std::string_view build_commit() noexcept;

/// The compiler's name and version, "GNU 12.2.0".
[[nodiscard]] std::string_view build_compiler() noexcept;

/// The compiler's flags as the build type sets them, without warnings and sanitizers: "-O3 -DNDEBUG".
[[nodiscard]] std::string_view build_flags() noexcept;

}  // namespace octep::tools

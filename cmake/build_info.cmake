# Script mode: writes OUTPUT, the definitions of tools/build_info.hpp, unless it already says the same.
execute_process(
  COMMAND git describe --always --dirty --abbrev=12 --exclude=*
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET RESULT_VARIABLE failed)
# A source archive unpacked inside somebody's repository must not claim that repository's commit.
if(failed OR commit STREQUAL "" OR NOT EXISTS ${SOURCE_DIR}/.git)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "tools/build_info.hpp"

namespace octep::tools {

std::string_view build_version() noexcept { return "@VERSION@"; }
std::string_view build_commit() noexcept { return "@commit@"; }
std::string_view build_compiler() noexcept { return "@COMPILER@"; }
std::string_view build_flags() noexcept { return "@FLAGS@"; }

}  // namespace octep::tools
]])

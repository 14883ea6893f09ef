# What all hosted code of this project shares: warnings, sanitizers, the build's identity.
# Linked as `octep_hosted`, privately, so that nothing of it reaches a consumer.

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(OCTEP_CCACHE ccache)
  mark_as_advanced(OCTEP_CCACHE)
  if(OCTEP_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${OCTEP_CCACHE})
    if(OCTEP_PCH)
      # ccache leaves what uses a precompiled header alone unless told that this file has no __TIME__ and no macro of
      # the command line in what it precompiles.
      set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${OCTEP_CCACHE})
    endif()
    set(CMAKE_C_COMPILER_LAUNCHER ${OCTEP_CCACHE})
  endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

add_library(octep_hosted INTERFACE)
target_link_libraries(octep_hosted INTERFACE octep::octep Threads::Threads)
# "sim/x.hpp", "tools/x.hpp", "test/x.hpp"
target_include_directories(octep_hosted INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(octep_hosted INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wno-psabi>
  $<$<BOOL:${OCTEP_STRICT}>:-Werror>)

if(OCTEP_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(octep_hosted INTERFACE -fpch-preprocess)  # for ccache, which preprocesses first
endif()

if(OCTEP_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "OCTEP_LIBFUZZER needs clang++; the preset `fuzz` chooses it")
  endif()
  target_compile_options(octep_hosted INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(OCTEP_SANITIZE)
  target_compile_options(octep_hosted INTERFACE
    -fsanitize=${OCTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignorelist.txt>)
  target_link_options(octep_hosted INTERFACE -fsanitize=${OCTEP_SANITIZE})
endif()

# tools/build_info.hpp is what code includes. Its one unit is written at build time and only touched when the commit
# has changed, so a new commit costs one small compilation.
set(octep_build_info_source ${PROJECT_BINARY_DIR}/generated/build_info.cpp)
string(TOUPPER "${CMAKE_BUILD_TYPE}" octep_build_type_upper)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${octep_build_type_upper}}" octep_build_flags)
add_custom_target(octep_commit_id
  BYPRODUCTS ${octep_build_info_source}
  COMMAND ${CMAKE_COMMAND}
    -D "SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    -D "OUTPUT=${octep_build_info_source}"
    -D "VERSION=${PROJECT_VERSION}"
    -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -D "FLAGS=${octep_build_flags}"
    -P ${PROJECT_SOURCE_DIR}/cmake/build_info.cmake
  COMMENT "Commit id"
  VERBATIM)
add_library(octep_build_info STATIC ${octep_build_info_source})
add_dependencies(octep_build_info octep_commit_id)
target_link_libraries(octep_build_info PRIVATE octep_hosted)

# The charting library of `octep replay --html`: Chart.js from the npm registry, pinned by its hash and never part of this tree.
# Sets OCTEP_CHART_JS and OCTEP_CHART_LICENSE to its two files, or to nothing: then the command says that it has no charts.
#
#   OCTEP_CHARTS=OFF            without it
#   OCTEP_CHART_JS=FILE         from there, with its licence beside it or in OCTEP_CHART_LICENSE: for whoever builds without a network
option(OCTEP_CHARTS "Fetch the charting library of octep replay --html" ON)
set(OCTEP_CHART_JS "" CACHE FILEPATH "Chart.js, chart.umd.min.js; empty: fetched from the npm registry")
set(OCTEP_CHART_LICENSE "" CACHE FILEPATH "The licence of OCTEP_CHART_JS")
set(OCTEP_CHART_FOLDER ${PROJECT_BINARY_DIR}/charts CACHE PATH "Where what is fetched is kept")

set(octep_chart_version 4.6.1)
set(octep_chart_sha512
  849ca78ae72c166abffc4bd762f27a73a99a84fa08de46b1763547f1ac13689fdf0cd59e4aaaaa02b8b13095a458d37a7dc62f3d4dc79de480345358b518bad6)

# Into `file`, by CMake, or by npm where a registry of one's own is set up there.
function(octep_fetch_charts file)
  set(url https://registry.npmjs.org/chart.js/-/chart.js-${octep_chart_version}.tgz)
  foreach(try RANGE 1 3)
    file(DOWNLOAD ${url} ${file} TIMEOUT 60 TLS_VERIFY ON STATUS status)
    list(GET status 0 code)
    if(code EQUAL 0)
      return()
    endif()
  endforeach()
  find_program(octep_npm npm)
  mark_as_advanced(octep_npm)
  get_filename_component(folder ${file} DIRECTORY)
  if(octep_npm)
    execute_process(COMMAND ${octep_npm} pack --silent chart.js@${octep_chart_version} --pack-destination ${folder}
      OUTPUT_QUIET ERROR_QUIET)
  endif()
endfunction()

if(OCTEP_CHARTS AND NOT OCTEP_CHART_JS)
  set(octep_chart_archive ${OCTEP_CHART_FOLDER}/chart.js-${octep_chart_version}.tgz)
  if(NOT EXISTS ${octep_chart_archive})
    octep_fetch_charts(${octep_chart_archive})
  endif()
  set(octep_chart_found "")
  if(EXISTS ${octep_chart_archive})
    file(SHA512 ${octep_chart_archive} octep_chart_found)
  endif()
  if(octep_chart_found STREQUAL octep_chart_sha512)
    file(ARCHIVE_EXTRACT INPUT ${octep_chart_archive} DESTINATION ${OCTEP_CHART_FOLDER})
    set(OCTEP_CHART_JS ${OCTEP_CHART_FOLDER}/package/dist/chart.umd.min.js)
    set(OCTEP_CHART_LICENSE ${OCTEP_CHART_FOLDER}/package/LICENSE.md)
  else()
    # What came may be a message of a proxy, or half a file.
    file(REMOVE ${octep_chart_archive})
    if(OCTEP_STRICT)
      message(FATAL_ERROR "Chart.js ${octep_chart_version} could not be fetched; OCTEP_STRICT wants octep replay --html")
    endif()
    message(STATUS "Chart.js ${octep_chart_version} could not be fetched: octep replay has no --html")
  endif()
endif()

#!/bin/sh
# consume.sh HOW SOURCE BUILD CXX: builds and runs main.cpp against octep as its users get it.
#   find_package      from a prefix that octep was installed to
#   add_subdirectory  from octep's sources
#   pkg_config        from a prefix that was moved after the install, by the compiler alone
# BUILD is a configured build of octep; everything else happens in a temporary folder.
set -eu
how=$1
source=$2
build=$3
cxx=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cmake --install "$build" --component development --prefix "$dir/prefix" > install.log
diff -r "$source/include" prefix/include

case $how in
  find_package | add_subdirectory)
    cmake -S "$source/test/consumer/project" -B consumer -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D OCTEP_BY=$how \
      -D CMAKE_PREFIX_PATH="$dir/prefix" -D OCTEP_SOURCE="$source"
    cmake --build consumer
    consumer/consumer
    # What a release breaks, it says: another minor version is another library until 1.0.
    if [ $how = find_package ]; then
      sed 's/find_package(octep 0.1 /find_package(octep 0.2 /' "$source/test/consumer/project/CMakeLists.txt" > later.txt
      mkdir later
      mv later.txt later/CMakeLists.txt
      if cmake -S later -B later/build -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D OCTEP_BY=$how \
        -D CMAKE_PREFIX_PATH="$dir/prefix" > later.log 2>&1; then
        echo "find_package(octep 0.2) accepts this version"
        exit 1
      fi
      tr -s ' \n' ' ' < later.log | grep -o 'compatible with requested version "0.2"'
    fi
    ;;
  pkg_config)
    mv prefix moved
    PKG_CONFIG_PATH=$dir/moved/share/pkgconfig
    export PKG_CONFIG_PATH
    echo "octep $(pkg-config --modversion octep): $(pkg-config --cflags --libs octep)"
    # Unquoted: flags are words.
    # shellcheck disable=SC2046
    "$cxx" -std=c++20 "$source/test/consumer/main.cpp" $(pkg-config --cflags --libs octep) -o consumer
    ./consumer
    ;;
  *)
    echo "consume.sh: $how?" >&2
    exit 2
    ;;
esac

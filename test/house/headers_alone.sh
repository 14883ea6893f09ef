#!/bin/sh
# headers_alone.sh INCLUDE_DIR COMPILER [FLAG...]: every header of the core compiles alone, twice in one unit, with
# nothing of any standard library in reach. INCLUDE_DIR/octep/host is hosted and not a part of the core.
set -eu
include=$1
shift
count=0
failed=0
for header in $(cd "$include" && find octep -name '*.hpp' ! -path 'octep/host/*' | sort); do
  count=$((count + 1))
  printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
    "$@" -std=c++20 -ffreestanding -nostdinc -nostdinc++ -fno-exceptions -fno-rtti \
      -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -I "$include" -x c++ - ||
    { echo "$header does not compile alone with: $*"; failed=$((failed + 1)); }
done
echo "$count headers, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]

#!/bin/sh
# check_kernel_object.sh OBJECT: may a FreeBSD kernel load this? Says what is wrong, or the object's size and, where
# -fstack-usage left a file beside it, its largest stack frame.
set -eu
LC_ALL=C
export LC_ALL
object=$1
max_text=65536       # code (performance.md, P9)
max_constants=32768  # the definitions of settings, counters and reasons: a sentence or two each (ours)
status=0

wrong() {
  printf '%s: %s\n' "${object##*/}" "$1" >&2
  status=1
}

# What a kernel has for every module, and the hooks of the C half of ours.
for symbol in $(nm --undefined-only --format=just-symbols "$object"); do
  case $symbol in
    memcpy | memmove | memset | memcmp | strlen | __stack_chk_fail | __stack_chk_guard | octep_*) ;;
    *) wrong "needs the symbol $(c++filt "$symbol"), which no kernel has" ;;
  esac
done

# All modules and the kernel share one name space.
for symbol in $(nm --defined-only --extern-only "$object" | awk '$2 ~ /[TDBRGS]/ {print $3}'); do
  case $symbol in
    octep_*) ;;
    *) wrong "exports $(c++filt "$symbol"); only octep_* may leave the unit" ;;
  esac
done

# Guards of local statics are defined where they are used, so the list above does not see them.
for symbol in $(nm --format=just-symbols "$object" | grep '^_ZGV' || true); do
  wrong "has the guard variable $(c++filt "$symbol")"
done

# Nobody runs constructors, unwinds a stack or sets up thread-local storage.
for section in $(readelf --wide --section-headers "$object" | sed -n 's/^ *\[ *[0-9]*\] \(\.[^ ]*\).*/\1/p'); do
  case $section in
    .init_array* | .fini_array* | .ctors* | .dtors* | .tbss* | .tdata* | .eh_frame* | .gcc_except_table*)
      wrong "has the section $section" ;;
  esac
done

bytes_in() { size --format=sysv "$object" | awk -v named="$1" '$1 ~ named {sum += $2} END {print sum + 0}'; }
text=$(bytes_in '^[.]text')
constants=$(bytes_in '^[.]rodata')
[ "$text" -lt $max_text ] || wrong "has $text bytes of text; less than $max_text are allowed"
[ "$constants" -lt $max_constants ] || wrong "has $constants bytes of constants; less than $max_constants are allowed"

if [ $status -eq 0 ]; then
  printf '%s: %s bytes of text, %s of constants' "${object##*/}" "$text" "$constants"
  usage=${object%.o}.su
  if [ -f "$usage" ]; then
    sort -t '	' -k2,2nr "$usage" | awk -F '\t' 'NR == 1 {sub(/.*\//, "", $1); printf ", largest stack frame %s bytes (%s)", $2, $1}'
  fi
  printf '\n'
fi
exit $status

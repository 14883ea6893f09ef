#!/bin/sh
# kernel_object_check_test.sh CHECK COMPILER FLAG...: the check of the kernel's object refuses what it is there to
# refuse, and the flags refuse a large stack frame. Each bad unit below is the smallest that shows its fault.
set -eu
check=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

# expect NAME 'PATTERN': compiles standard input; the check must fail and say PATTERN.
expect() {
  cat > "$1.cc"
  if ! compile "$1" > compiler.log 2>&1; then
    echo "$1: does not compile"
    cat compiler.log
    failed=1
  elif "$check" "$1.o" > check.log 2>&1; then
    echo "$1: passed, and should not"
    failed=1
  elif ! grep -q -e "$2" check.log; then
    echo "$1: refused for another reason than $2:"
    cat check.log
    failed=1
  else
    echo "$1: refused: $(grep -m1 -e "$2" check.log)"
  fi
}
compile() { name=$1; eval "$command"' -c "$name.cc" -o "$name.o"'; }

# The compiler and its flags, quoted for the functions above. The bad units are not meant to be free of warnings.
command=
for word; do
  case $word in
    -Werror) ;;
    *) command="$command '$word'" ;;
  esac
done

expect libc_call 'needs the symbol malloc' << 'UNIT'
extern "C" void* malloc(unsigned long);
extern "C" void* octep_f(unsigned long n) { return malloc(n); }
UNIT

expect heap 'needs the symbol operator new' << 'UNIT'
extern "C" int* octep_f() { return new int[9]; }
UNIT

expect wide_division 'needs the symbol __u' << 'UNIT'
extern "C" unsigned octep_f(unsigned __int128 a, unsigned __int128 b) { return static_cast<unsigned>(a / b); }
UNIT

expect export 'exports helper(int)' << 'UNIT'
int helper(int x) { return x + 1; }
extern "C" int octep_f(int x) { return helper(x); }
UNIT

expect constructor 'has the section .*_array\|has the section .ctors' << 'UNIT'
extern "C" int octep_seed();
namespace { int at_start = octep_seed(); }
extern "C" int octep_f() { return ++at_start; }
UNIT

expect guard 'has the guard variable' << 'UNIT'
extern "C" int octep_seed();
extern "C" int octep_f() { static int once = octep_seed(); return ++once; }
UNIT

expect thread_local 'has the section .tbss' << 'UNIT'
namespace { thread_local int mine; }
extern "C" int octep_f() { return ++mine; }
UNIT

expect destructor 'has the section .*_array\|needs the symbol __cxa_atexit' << 'UNIT'
extern "C" void octep_bye(int*);
namespace { struct ends { int x = 0; ~ends() { octep_bye(&x); } } at_end; }
extern "C" int octep_f() { return ++at_end.x; }
UNIT

expect text 'bytes of text; less than' << 'UNIT'
asm(".text\n.skip 70000\n");
UNIT

expect constants 'bytes of constants; less than' << 'UNIT'
extern "C" const unsigned char octep_table[];
const unsigned char octep_table[70000] = {1, 2, 3};
UNIT

cat > frame.cc << 'UNIT'
extern "C" void octep_fill(char*);
extern "C" void octep_f() { char buffer[600]; octep_fill(buffer); }
UNIT
if compile frame > compiler.log 2>&1; then
  echo "frame: 600 bytes on the stack compile"
  failed=1
else
  echo "frame: refused: $(grep -m1 'frame' compiler.log)"
fi

cat > good.cc << 'UNIT'
extern "C" void octep_fill(char*);
extern "C" char octep_f() { char buffer[400]; octep_fill(buffer); return buffer[7]; }
UNIT
compile good
"$check" good.o || failed=1
exit $failed

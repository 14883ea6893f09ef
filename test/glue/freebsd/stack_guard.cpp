// The canary that a FreeBSD kernel keeps for -fstack-protector, for host tests that link the kernel's object.
// A failed check calls __stack_chk_fail, which the C library has.
extern "C" {
extern const unsigned long __stack_chk_guard;
const unsigned long __stack_chk_guard = 0x0a00'ff0d'5aa5'c33cUL;
}

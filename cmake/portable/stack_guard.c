/* The stack protector's guard value in portable aarch64 programs and libraries.
 *
 * On x86-64 the guard is in the thread's control block, where glibc puts a random value. On aarch64 it is the variable
 * __stack_chk_guard, which the loader exports. The compiler of cmake/portable brings a weak definition of its own with a constant
 * value, which the linker prefers to the loader's, so an attacker would know the guard. This definition replaces it in each file
 * and takes the value that glibc would: the first bytes that the kernel gives every process (AT_RANDOM), with a zero byte where
 * string functions stop. The section has a name for tools/check_elf.py, because the files are stripped. */
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Not 0, which would make it a variable of .bss. */
__attribute__((visibility("hidden"), section(".gpuprof.guard"))) uintptr_t __stack_chk_guard = 1;

/* Before all other constructors of this file: a function that is running must not see its guard change. */
__attribute__((constructor(101), no_stack_protector)) static void seed_stack_guard(void) {
    const void* random = (const void*)getauxval(AT_RANDOM);
    if (random) memcpy(&__stack_chk_guard, random, sizeof __stack_chk_guard);
    __stack_chk_guard &= ~(uintptr_t)0xff;
}

/*
 * Semihosting: text and an exit code through a debugger, or through QEMU with -semihosting-config enable=on. Without either,
 * the first call stops the processor.
 */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stdint.h>

enum { SEMIHOSTING_WRITE0 = 0x04, SEMIHOSTING_EXIT_EXTENDED = 0x20, SEMIHOSTING_APPLICATION_EXIT = 0x20026 };

static inline void semihosting_call(uint32_t operation, const void *argument) {
#if defined(__arm__)
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
#elif defined(__riscv)
    register uint32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".balign 16\n .option push\n .option norvc\n"
                     " slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n .option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
#else
#error "no semihosting known for this machine"
#endif
}

static inline void semihosting_write(const char *text) {
    semihosting_call(SEMIHOSTING_WRITE0, text);
}

/* Ends the program. QEMU exits with this code. */
static inline void semihosting_exit(uint32_t code) {
    const uint32_t block[2] = { SEMIHOSTING_APPLICATION_EXIT, code };
    for (;;)
        semihosting_call(SEMIHOSTING_EXIT_EXTENDED, block);
}

#endif

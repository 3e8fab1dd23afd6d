/*
 * From reset to main on a 32-bit RISC-V core: calls main and exits with what it returns. A trap exits with 255. QEMU loads
 * the whole program into RAM, so there is no memory to set up.
 */
#include "semihosting.h"

int main(void);
void start(void);
void trap(void);

__asm__(".globl _start\n"
        "_start: la sp, stack_top\n"
        " la t0, trap\n"
        " csrw mtvec, t0\n"
        " call start\n");

void start(void) {
    semihosting_exit((uint32_t)main());
}

__attribute__((aligned(4))) void trap(void) {
    semihosting_write("trap\n");
    semihosting_exit(255);
}

/*
 * From reset to main on a Cortex-M: sets up memory, calls main and exits with what it returns. A fault exits with 255.
 */
#include "semihosting.h"

/* The linker script defines these. */
extern uint32_t stack_top[], data_start[], data_end[], data_load[], bss_start[], bss_end[];

int main(void);
void reset(void);

void reset(void) {
    const uint32_t *from = data_load;
    uint32_t *to;

    for (to = data_start; to < data_end; to++)
        *to = *from++;
    for (to = bss_start; to < bss_end; to++)
        *to = 0;
    semihosting_exit((uint32_t)main());
}

static void fault(void) {
    semihosting_write("fault\n");
    semihosting_exit(255);
}

/* The top of the stack, the start of the program, and the handlers of NMI, hard fault and so on. */
static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    stack_top,
    { reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault },
};

/* Firmware that runs the vectors and calls every function, and prints how much stack each used: see stack.S. */
#define main workload
#include "../check/freestanding.c"
#undef main
#include "semihosting.h"

struct wrapped {
    const char *name;
    const uint32_t *depth;
};

extern const struct wrapped wrapped[];

int main(void);

int main(void) {
    const struct wrapped *function;
    int failed = workload();

    for (function = wrapped; function->name != 0; function++) {
        char text[8] = "       ";
        uint32_t rest = *function->depth, i = 7;
        text[--i] = '\n';
        do
            text[--i] = (char)('0' + rest % 10);
        while ((rest /= 10) != 0);
        semihosting_write(function->name);
        semihosting_write(text);
    }
    return failed;
}

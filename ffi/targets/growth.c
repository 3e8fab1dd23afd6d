/*
 * Firmware that counts the instructions of selecting half of n pods, by SysTick: QEMU's -icount gives every instruction the
 * same time. For the scale, it first prints the ticks of 10000 instructions. Then it prints for each n how the pods are listed,
 * n, and the ticks.
 */
#include "podrank.h"
#include "semihosting.h"

enum { MOST = 500, TICKS = 1 << 24 };
#define NOW INT64_C(1767268800000000000)

int main(void);

static podrank_pod pods[MOST];
static uint32_t victims[MOST / 2];
static podrank_scratch scratch[MOST / 2];

static volatile uint32_t *const systick = (volatile uint32_t *)0xe000e010u;

static uint32_t ticks(void) {
    return systick[2];
}

static void print(const char *name, uint32_t n, uint32_t number) {
    uint32_t numbers[2], i;

    numbers[0] = n;
    numbers[1] = number;
    semihosting_write(name);
    for (i = 0; i < 2; i++) {
        char text[12] = "           ";
        uint32_t rest = numbers[i], at = 11;
        text[at] = '\0';
        do
            text[--at] = (char)('0' + rest % 10);
        while ((rest /= 10) != 0);
        text[--at] = ' ';
        semihosting_write(text + at);
    }
    semihosting_write("\n");
}

/* Pods that differ only in restarts, so that a late rule decides. */
static void fill(uint32_t n, int worst) {
    static const podrank_pod unset = PODRANK_POD_INIT;
    uint32_t i, state = 1;

    for (i = 0; i < n; i++) {
        podrank_pod pod = unset;
        pod.flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
        pod.phase = PODRANK_PHASE_RUNNING;
        pod.ready_time = pod.creation_time = NOW - 3600;
        pod.uid[15] = (uint8_t)i;
        state = state * 1664525u + 1013904223u;
        /* In the worst case, each pod is deleted before all pods that are listed before it. */
        pod.restarts = worst ? i : state >> 8;
        pods[i] = pod;
    }
}

static int measure(const char *name, uint32_t n, int worst, size_t room) {
    static const podrank_options options = { sizeof(podrank_options), PODRANK_OPTIONS_NOW, NOW };
    size_t selected = 0;
    uint32_t start, end;

    fill(n, worst);
    start = ticks();
    if (podrank_select(pods, n, &options, victims, n / 2, room == 0 ? 0 : scratch, room, &selected) != PODRANK_OK ||
        selected != n / 2)
        return 1;
    end = ticks();
    print(name, n, (start - end) % TICKS);
    return 0;
}

int main(void) {
    static const uint32_t sizes[] = { 10, 100, 500 };
    uint32_t i, start, count = 5000;
    int failed = 0;

    systick[1] = TICKS - 1;
    systick[2] = 0;
    systick[0] = 5; /* on, with the processor's clock */
    start = ticks();
    __asm__ volatile("1: subs %0, #1\n bne 1b" : "+r"(count) : : "cc");
    print("instructions", 10000, (start - ticks()) % TICKS);
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        failed |= measure("random", sizes[i], 0, 0);
        failed |= measure("worst", sizes[i], 1, 0);
        failed |= measure("random-with-scratch", sizes[i], 0, sizes[i] / 2);
        failed |= measure("worst-with-scratch", sizes[i], 1, sizes[i] / 2);
    }
    return failed;
}

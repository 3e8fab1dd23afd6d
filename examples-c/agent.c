/*
 * An edge agent: keeps the wanted number of worker processes on this machine, as a ReplicaSet keeps pods. It records what it
 * expects before it starts or stops workers, waits until it has observed that, starts slowly, and stops the youngest first.
 *
 *     cc agent.c $(pkg-config --cflags --libs podrank) && ./a.out
 */
#define _POSIX_C_SOURCE 200809L
#include <podrank/controller.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 16, BURST = 8, LOOK_AGAIN_MS = 100 };
/* The workers that the agent has observed: their records, with the process ID as the node number. */
static podrank_pod workers[WORKERS_MAX];
static uint32_t count;
static podrank_expectations expectations = PODRANK_EXPECTATIONS_INIT;
static podrank_pod_key room[BURST];
static int events[2];                  /* a pipe, to which every worker writes its record */
static uint16_t started, fails_at = 6; /* how many starts were tried, and which of them fails */

static void check(int is_well, const char *what) {
    if (!is_well) {
        fprintf(stderr, "agent: %s failed\n", what);
        exit(EXIT_FAILURE);
    }
}

/* Nanoseconds since this machine started. */
static int64_t now(void) {
    struct timespec time;
    check(clock_gettime(CLOCK_MONOTONIC, &time) == 0, "clock_gettime");
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static unsigned number_of(const podrank_pod *worker) {
    return worker->uid[14] * 256u + worker->uid[15];
}

/* Starts a worker, which runs until it is stopped or the agent ends. Returns 0 if it cannot be started. */
static int start_worker(void) {
    podrank_pod worker = PODRANK_POD_INIT;
    pid_t agent = getpid(), pid;
    started++;
    worker.uid[14] = (uint8_t)(started >> 8);
    worker.uid[15] = (uint8_t)started;
    worker.creation_time = worker.ready_time = now();
    worker.phase = PODRANK_PHASE_RUNNING;
    worker.flags = PODRANK_POD_READY;
    pid = started == fails_at ? -1 : fork();
    if (pid == 0) {
        worker.node = (uint32_t)getpid();
        if (write(events[1], &worker, sizeof worker) == (ssize_t)sizeof worker)
            while (getppid() == agent)
                sleep(1);
        _exit(EXIT_SUCCESS);
    }
    return pid > 0;
}

/* Reads which workers have started. Waits up to this long for the first. */
static void observe_started(int milliseconds) {
    struct pollfd said = { events[0], POLLIN, 0 };
    for (; count < WORKERS_MAX && poll(&said, 1, milliseconds) > 0; milliseconds = 0) {
        check(read(events[0], &workers[count++], sizeof *workers) == (ssize_t)sizeof *workers, "read");
        podrank_expectations_creations_observed(&expectations, 1);
    }
}

/* Waits a while for events, and observes which workers have ended. */
static void observe(void) {
    pid_t pid;
    observe_started(LOOK_AGAIN_MS);
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        uint32_t i = 0;
        observe_started(0); /* its own record, if it wrote one */
        while (i < count && workers[i].node != (uint32_t)pid)
            i++;
        if (i < count) { /* otherwise it ended before it ran, and stays pending until the timeout */
            int32_t counted;
            podrank_pod_key key;
            memcpy(key.bytes, workers[i].uid, sizeof key.bytes);
            check(podrank_expectations_deletion_observed(&expectations, room, BURST, &key, &counted) == PODRANK_OK, "deletion");
            if (!counted)
                printf("worker %u ended, and nobody asked it to\n", number_of(&workers[i]));
            workers[i] = workers[--count];
        }
    }
}

static void start_workers(uint32_t creations) {
    podrank_slow_start start;
    podrank_expectations_expect_creations(&expectations, creations, now());
    for (podrank_slow_start_begin(creations, &start); start.batch > 0;) {
        uint32_t i, failures = 0;
        printf("  starts %u of %u\n", (unsigned)start.batch, (unsigned)start.missing);
        for (i = 0; i < start.batch; i++)
            failures += !start_worker();
        podrank_slow_start_report(&start, failures);
    }
    podrank_expectations_creations_observed(&expectations, start.missing); /* no one will observe those */
}

static void stop_workers(uint32_t deletions) {
    uint32_t i, victims[BURST];
    podrank_pod_key keys[BURST];
    size_t selected;
    check(podrank_select(workers, count, NULL, victims, deletions, NULL, 0, &selected) == PODRANK_OK, "select");
    for (i = 0; i < deletions; i++)
        memcpy(keys[i].bytes, workers[victims[i]].uid, sizeof keys[i].bytes);
    check(podrank_expectations_expect_deletions(&expectations, room, BURST, keys, deletions, now()) == PODRANK_OK, "expect");
    for (i = 0; i < deletions; i++) {
        printf("  stops worker %u\n", number_of(&workers[victims[i]]));
        check(kill((pid_t)workers[victims[i]].node, SIGKILL) == 0, "kill");
    }
}

/* Keeps this many workers running. */
static void keep(uint32_t wanted) {
    uint32_t creations, deletions;
    int32_t satisfied;
    printf("%u wanted, %u there\n", (unsigned)wanted, (unsigned)count);
    do {
        podrank_expectations_satisfied(&expectations, now(), &satisfied);
        podrank_plan(wanted, count, BURST, satisfied, 0, &creations, &deletions);
        if (creations > 0)
            start_workers(creations);
        if (deletions > 0)
            stop_workers(deletions);
        observe();
    } while (!satisfied || creations > 0 || deletions > 0);
}

int main(void) {
    PODRANK_REQUIRE_ABI();
    check(pipe(events) == 0, "pipe");
    keep(7);
    for (uint32_t i = 0; i < count; i++)
        if (number_of(&workers[i]) == 2)
            check(kill((pid_t)workers[i].node, SIGKILL) == 0, "kill");
    while (count == 7)
        observe();
    keep(7);
    keep(3);
    keep(0);
}

/*
 * An edge agent: keeps as many worker processes on this machine as are wanted, as a ReplicaSet keeps pods. It writes down
 * what it expects before it asks for it, does nothing until it has seen that, starts slowly, and stops the youngest first.
 *
 *     cc agent.c $(pkg-config --cflags --libs podrank) && ./a.out
 */
#define _POSIX_C_SOURCE 200809L
#include <podrank.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 16, BURST = 8 };

/* The workers that run, as far as the agent has heard: their records, with the process in the place of the node. */
static podrank_pod workers[WORKERS_MAX];
static uint32_t count;

static podrank_expectations expectations = PODRANK_EXPECTATIONS_INIT;
static podrank_pod_key room[BURST];
static int news[2];               /* a pipe, into which every worker that runs puts its record */
static uint8_t started, fails_at; /* how many were tried; which of them cannot be started */

static void check(int is_well, const char *what) {
    if (!is_well) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

/* Nanoseconds since this machine started. */
static int64_t now(void) {
    struct timespec time;
    check(clock_gettime(CLOCK_MONOTONIC, &time) == 0, "clock_gettime");
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int is_satisfied(void) {
    int32_t satisfied;
    check(podrank_expectations_satisfied(&expectations, now(), &satisfied) == PODRANK_OK, "satisfied");
    return satisfied;
}

static podrank_pod_key key_of(const podrank_pod *worker) {
    podrank_pod_key key;
    memcpy(key.bytes, worker->uid, sizeof key.bytes);
    return key;
}

/* Starts a worker, which works until it is stopped; 0 if it cannot be started. */
static int start_worker(void) {
    podrank_pod worker = PODRANK_POD_INIT;
    worker.uid[15] = ++started;
    worker.creation_time = worker.ready_time = now();
    worker.phase = PODRANK_PHASE_RUNNING;
    worker.flags = PODRANK_POD_READY;
    pid_t pid = started == fails_at ? -1 : fork();
    if (pid == 0) {
        alarm(60); /* should the agent be gone */
        worker.node = (uint32_t)getpid();
        check(write(news[1], &worker, sizeof worker) == (ssize_t)sizeof worker, "write");
        for (;;)
            pause();
    }
    return pid > 0;
}

/* Waits until a worker says that it runs or has ended. (Another agent would poll, and look again after a timeout.) */
static void wait_for_news(void) {
    if (expectations.creations > 0) {
        check(read(news[0], &workers[count++], sizeof *workers) == (ssize_t)sizeof *workers, "read");
        podrank_creations_observed(&expectations, 1);
    } else {
        pid_t pid = wait(NULL);
        int32_t counted;
        podrank_pod_key key;
        uint32_t i = 0;
        check(pid > 0, "wait");
        while (i < count - 1 && workers[i].node != (uint32_t)pid)
            i++;
        key = key_of(&workers[i]);
        check(podrank_deletion_observed(&expectations, room, BURST, &key, &counted) == PODRANK_OK, "deletion");
        if (!counted)
            printf("worker %d ended, and nobody asked it to\n", key.bytes[15]);
        workers[i] = workers[--count];
    }
}

static void start_workers(uint32_t creations) {
    podrank_slow_start start;
    podrank_expect_creations(&expectations, creations, now());
    for (podrank_slow_start_begin(creations, &start); start.batch > 0;) {
        uint32_t i, failures = 0;
        printf("  starts %u of %u\n", (unsigned)start.batch, (unsigned)start.missing);
        for (i = 0; i < start.batch; i++)
            failures += !start_worker();
        podrank_slow_start_report(&start, failures);
    }
    podrank_creations_observed(&expectations, start.missing); /* nobody will ever see those */
}

static void stop_workers(uint32_t deletions) {
    uint32_t i, victims[BURST];
    podrank_pod_key keys[BURST];
    size_t selected;
    check(podrank_select(workers, count, NULL, victims, deletions, NULL, 0, &selected) == PODRANK_OK, "select");
    for (i = 0; i < deletions; i++)
        keys[i] = key_of(&workers[victims[i]]);
    check(podrank_expect_deletions(&expectations, room, BURST, keys, deletions, now()) == PODRANK_OK, "expect");
    for (i = 0; i < deletions; i++) {
        printf("  stops worker %d\n", keys[i].bytes[15]);
        check(kill((pid_t)workers[victims[i]].node, SIGKILL) == 0, "kill");
    }
}

/* Sees to it that so many workers run. */
static void keep(uint32_t wanted) {
    uint32_t creations, deletions;
    printf("%u wanted, %u there\n", (unsigned)wanted, (unsigned)count);
    do {
        while (!is_satisfied())
            wait_for_news();
        podrank_plan(wanted, count, BURST, is_satisfied(), 0, &creations, &deletions);
        if (creations > 0)
            start_workers(creations);
        else if (deletions > 0)
            stop_workers(deletions);
    } while (creations > 0 || deletions > 0);
}

int main(void) {
    uint32_t i = 0;
    PODRANK_REQUIRE_ABI();
    check(pipe(news) == 0, "pipe");
    fails_at = 6;
    keep(7);
    while (workers[i].uid[15] != 2)
        i++;
    check(kill((pid_t)workers[i].node, SIGKILL) == 0, "kill");
    wait_for_news();
    keep(7);
    keep(3);
    keep(0);
    return EXIT_SUCCESS;
}

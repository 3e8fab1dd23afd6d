/* A node agent with fixed memory: keeps worker processes running as a ReplicaSet keeps pods. It starts slowly, stops the youngest
 * first, and waits until it has observed what it asked for: cc agent.c $(pkg-config --cflags --libs podrank) && ./a.out */
#define _POSIX_C_SOURCE 200809L
#include <podrank/controller.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 16, BURST = 8 };
static podrank_pod workers[WORKERS_MAX]; /* those that run, with the process ID as the node number */
static uint32_t count, started, fails_at = 6; /* the workers, the starts that were tried, and which of them fails */
static podrank_expectations expectations = PODRANK_EXPECTATIONS_INIT;
static podrank_pod_key room[BURST];

/* These calls fail only by mistakes of this program, such as too little room. Trying again would not help, so stop. */
static void check(int32_t status, const char *what) {
    if (status != PODRANK_OK) {
        fprintf(stderr, "agent: %s: %s\n", what, podrank_status_str(status));
        exit(EXIT_FAILURE);
    }
}

/* Nanoseconds since this machine started. */
static int64_t now(void) {
    struct timespec time = { 0, 0 };
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* In batches of 1, 2, 4 and so on, until one fails. A worker sleeps until it is stopped. */
static void start_workers(uint32_t creations) {
    podrank_slow_start start;
    check(podrank_expectations_expect_creations(&expectations, creations, now()), "expect starts");
    for (check(podrank_slow_start_begin(creations, &start), "begin"); start.batch > 0;) {
        uint32_t i, before = count;
        printf("  starts %u of %u\n", (unsigned)start.batch, (unsigned)start.missing);
        for (i = 0; i < start.batch; i++) {
            podrank_pod worker = PODRANK_POD_INIT;
            pid_t pid = ++started == fails_at || count == WORKERS_MAX ? -1 : fork();
            while (pid == 0)
                pause();
            worker.uid[0] = (uint8_t)started;
            worker.node = (uint32_t)pid;
            worker.creation_time = now();
            if (pid > 0)
                workers[count++] = worker;
        }
        check(podrank_expectations_creations_observed(&expectations, count - before), "starts");
        check(podrank_slow_start_report(&start, start.batch - (count - before)), "report");
    }
    check(podrank_expectations_creations_observed(&expectations, start.missing), "starts that nobody will observe");
}

static void stop_workers(uint32_t deletions) {
    uint32_t i, victims[BURST];
    podrank_pod_key keys[BURST];
    size_t selected;
    check(podrank_select(workers, count, NULL, victims, deletions, NULL, 0, &selected), "select");
    for (i = 0; i < deletions; i++)
        memcpy(keys[i].bytes, workers[victims[i]].uid, sizeof keys[i].bytes);
    check(podrank_expectations_expect_deletions(&expectations, room, BURST, keys, deletions, now()), "expect ends");
    for (i = 0; i < deletions; i++) {
        printf("  stops worker %u\n", workers[victims[i]].uid[0]);
        kill((pid_t)workers[victims[i]].node, SIGKILL);
    }
}

/* Waits until a worker ends, and forgets it. */
static void observe_end(void) {
    podrank_pod *worker = workers;
    podrank_pod_key key;
    int32_t counted;
    pid_t ended = wait(NULL);
    if (ended < 0)
        exit(EXIT_FAILURE);
    while ((pid_t)worker->node != ended)
        worker++;
    memcpy(key.bytes, worker->uid, sizeof key.bytes);
    check(podrank_expectations_deletion_observed(&expectations, room, BURST, &key, &counted), "end");
    if (!counted)
        printf("worker %u ended, and nobody asked it to\n", key.bytes[0]);
    *worker = workers[--count];
}

static void keep(uint32_t wanted) {
    uint32_t creations = 1, deletions = 0;
    printf("%u wanted, %u there\n", (unsigned)wanted, (unsigned)count);
    for (int32_t satisfied = 0; !satisfied || creations + deletions > 0;) {
        check(podrank_expectations_satisfied(&expectations, now(), &satisfied), "satisfied");
        const podrank_plan_state state = { wanted, count, BURST, satisfied ? PODRANK_PLAN_SATISFIED : 0 };
        check(podrank_plan(&state, &creations, &deletions), "plan");
        if (creations > 0)
            start_workers(creations);
        if (deletions > 0)
            stop_workers(deletions);
        if (!satisfied)
            observe_end();
    }
}

int main(void) {
    keep(7);
    kill((pid_t)workers[1].node, SIGKILL);
    observe_end();
    keep(7);
    keep(3);
    keep(0);
}

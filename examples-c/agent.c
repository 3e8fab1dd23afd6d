/* A node agent with fixed memory: keeps worker processes running as a ReplicaSet keeps pods. It starts slowly, stops the youngest
 * first, and waits until it has observed what it asked for:
 *
 *     cc agent.c $(pkg-config --cflags podrank) $(pkg-config --variable=libdir podrank)/libpodrank.a && ./a.out
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#define PODRANK_UNSTABLE /* controller.h may change with any release */
#include <podrank/controller.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 16, BURST = 8 };
static podrank_pod workers[WORKERS_MAX]; /* those that run */
static pid_t processes[WORKERS_MAX];     /* the process of each */
static uint32_t count;                   /* how many run */
static uint64_t started, fails_at = 6;   /* the starts that were tried, and which of them fails */
static podrank_expectations expectations = PODRANK_EXPECTATIONS_INIT;
static podrank_pod_key key_storage[BURST];

/* These calls fail only by mistakes of this program, such as too little room. Trying again would not help, so stop. */
static void check(int32_t status, const char *what) {
    if (status != PODRANK_OK) {
        fprintf(stderr, "agent: %s: %s\n", what, podrank_status_str(status));
        exit(EXIT_FAILURE);
    }
}

/* The same for a call of the system, which says why in errno. */
static void check_system(int succeeded, const char *what) {
    if (!succeeded) {
        fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
        exit(EXIT_FAILURE);
    }
}

/* Nanoseconds since this machine started. */
static int64_t now(void) {
    struct timespec time = { 0, 0 };
    check_system(clock_gettime(CLOCK_MONOTONIC, &time) == 0, "clock");
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Makes a UID of the number of a start, so that no two workers ever have the same. The smaller UID goes first, so that is the one of
 * the younger worker, even if both were created at the same time of a coarse clock. */
static void make_uid(uint8_t uid[16], uint64_t start) {
    const uint64_t rest = UINT64_MAX - start;
    for (int i = 0; i < 8; i++)
        uid[i] = (uint8_t)(rest >> (56 - 8 * i)); /* the most significant byte first */
}

/* The number of the start that made a worker. */
static unsigned long long number(const uint8_t uid[16]) {
    uint64_t rest = 0;
    for (int i = 0; i < 8; i++)
        rest = rest << 8 | uid[i];
    return UINT64_MAX - rest;
}

/* Returns whether a worker was started. It sleeps until it is stopped, or until this program has ended. */
static int start_worker(void) {
    podrank_pod worker = PODRANK_POD_INIT;
    const pid_t agent = getpid();
    pid_t process;
    if (++started == fails_at || count == WORKERS_MAX)
        return 0;
    process = fork();
    if (process < 0)
        return 0;
    if (process == 0) {
        while (getppid() == agent)
            sleep(1);
        _exit(EXIT_SUCCESS);
    }
    make_uid(worker.uid, started);
    worker.phase = PODRANK_PHASE_RUNNING;
    worker.flags = PODRANK_POD_ASSIGNED; /* all to node 0, this machine */
    worker.creation_time = now();
    processes[count] = process;
    workers[count++] = worker;
    return 1;
}

/* In batches of 1, 2, 4 and so on, until one fails. */
static void start_workers(uint32_t creations) {
    const struct timespec before_retry = { 0, 100000000 };
    podrank_slow_start start;
    check(podrank_expectations_expect_creations(&expectations, creations, now()), "expect starts");
    for (check(podrank_slow_start_begin(creations, &start), "begin"); start.batch > 0;) {
        uint32_t i, before = count;
        printf("  starts %u of %u\n", (unsigned)start.batch, (unsigned)start.missing);
        for (i = 0; i < start.batch; i++)
            start_worker();
        check(podrank_expectations_creations_observed(&expectations, count - before), "starts");
        check(podrank_slow_start_report(&start, start.batch - (count - before)), "report");
    }
    check(podrank_expectations_creations_observed(&expectations, start.missing), "starts that nobody will observe");
    if (start.missing > 0)
        nanosleep(&before_retry, NULL);
}

static void stop_workers(uint32_t deletions) {
    uint32_t victims[BURST];
    podrank_pod_key keys[BURST];
    size_t i, selected;
    check(podrank_select(workers, count, NULL, victims, deletions, NULL, 0, &selected), "select");
    for (i = 0; i < selected; i++)
        memcpy(keys[i].bytes, workers[victims[i]].uid, sizeof keys[i].bytes);
    check(podrank_expectations_expect_deletions(&expectations, key_storage, BURST, keys, selected, now()), "expect ends");
    for (i = 0; i < selected; i++) {
        printf("  stops worker %llu\n", number(workers[victims[i]].uid));
        check_system(kill(processes[victims[i]], SIGKILL) == 0, "kill");
    }
}

/* Waits until a worker ends, and forgets it. Other children may end before: a program keeps those of the one that it replaced. The end
 * of a child is never lost, so this waits without a limit. Where events can be lost, wait at most PODRANK_EXPECTATIONS_TIMEOUT. */
static void observe_end(void) {
    uint32_t i = count;
    podrank_pod_key key;
    int32_t counted;
    while (i == count) {
        const pid_t ended = wait(NULL);
        check_system(ended > 0 || errno == EINTR, "wait");
        for (i = 0; i < count && processes[i] != ended;)
            i++;
    }
    memcpy(key.bytes, workers[i].uid, sizeof key.bytes);
    check(podrank_expectations_deletion_observed(&expectations, key_storage, BURST, &key, &counted), "end");
    if (!counted)
        printf("worker %llu ended, and nobody asked it to\n", number(key.bytes));
    workers[i] = workers[--count];
    processes[i] = processes[count];
}

static void keep(uint32_t desired) {
    uint32_t creations = 1, deletions = 0;
    if (desired > WORKERS_MAX) {
        fprintf(stderr, "agent: %u workers are desired, but there is memory for %d\n", (unsigned)desired, WORKERS_MAX);
        exit(EXIT_FAILURE);
    }
    printf("%u desired, %u there\n", (unsigned)desired, (unsigned)count);
    for (int32_t satisfied = 0; !satisfied || creations + deletions > 0;) {
        check(podrank_expectations_satisfied(&expectations, now(), &satisfied), "satisfied");
        podrank_plan_state state = PODRANK_PLAN_STATE_INIT;
        state.desired = desired;
        state.active = count;
        state.burst_replicas = BURST;
        state.flags = satisfied ? PODRANK_PLAN_SATISFIED : 0;
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
    check_system(kill(processes[1], SIGKILL) == 0, "kill");
    observe_end();
    keep(7);
    keep(3);
    keep(0);
    return EXIT_SUCCESS;
}

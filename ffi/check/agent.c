/*
 * What the run of examples-c/agent.c doesn't reach: a child that isn't a worker, and more starts than a byte counts. Includes the
 * program, and looks at its workers after each start.
 */
#define main example
#include "../../examples-c/agent.c"
#undef main

enum { STARTS = 600 };

static void require(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "agent: FAILED after %llu starts: %s\n", (unsigned long long)started, what);
        exit(EXIT_FAILURE);
    }
}

static void check_workers(uint32_t wanted) {
    require(count == wanted, "the number of workers");
    for (uint32_t i = 0; i < count; i++) {
        require(workers[i].node == 0, "all workers are on this machine, which is node 0");
        for (uint32_t j = 0; j < i; j++) {
            require(memcmp(workers[i].uid, workers[j].uid, sizeof workers[i].uid) != 0, "two workers have one UID");
            require(processes[i] != processes[j], "two workers are one process");
        }
    }
}

/* Starts a child that the agent doesn't know, and that ends before any worker does. */
static void start_stranger(void) {
    const pid_t stranger = fork();
    check_system(stranger >= 0, "fork");
    if (stranger == 0)
        _exit(EXIT_SUCCESS);
    siginfo_t ended;
    check_system(waitid(P_PID, (id_t)stranger, &ended, WEXITED | WNOWAIT) == 0, "waitid");
}

int main(void) {
    fails_at = 0;
    keep(3);
    while (started < STARTS) {
        /* Nobody expects this end. The other two are older, and so have smaller numbers. */
        const uint32_t youngest = count - 1;
        start_stranger();
        check_system(kill(processes[youngest], SIGKILL) == 0, "kill");
        observe_end();
        check_workers(2);
        keep(3);
        check_workers(3);
    }
    start_stranger();
    keep(0);
    check_workers(0);
    return EXIT_SUCCESS;
}

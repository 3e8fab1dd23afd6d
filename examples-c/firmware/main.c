/*
 * Firmware for a Cortex-M3, without operating system, C library or heap. It prints which pods of a table in flash are
 * deleted when a ReplicaSet is scaled down, and why the first of them is deleted before the first that is kept. It
 * exits with 0, or with the status of the call that failed.
 *
 *     make -C examples-c/firmware run
 */
#include "semihosting.h"
#include <podrank.h>

enum { PODS = 6, DELETE = 2 };
#define SECONDS INT64_C(1000000000)
#define NOW (1767268800 * SECONDS) /* 2026-01-01T12:00:00Z */
#define READY (PODRANK_POD_ASSIGNED | PODRANK_POD_READY)

static const char *const names[PODS] = { "pump-1", "pump-2", "pump-3", "pump-4", "pump-5", "pump-6" };

/* The records are const, so they are in flash. Without PODRANK_POD_INIT, set both times: PODRANK_TIME_UNSET if there is none, because 0 is
 * the epoch. A rank is the number of pods on the pod's node. */
static const podrank_pod pods[PODS] = {
    { .uid = { 0x7d, 1 }, .phase = PODRANK_PHASE_RUNNING, .flags = READY, .rank = 2, .ready_time = NOW - 90 * SECONDS,
      .creation_time = NOW - 100 * SECONDS },
    { .uid = { 0x7d, 2 }, .phase = PODRANK_PHASE_RUNNING, .flags = READY, .rank = 2, .ready_time = NOW - 9000 * SECONDS,
      .creation_time = NOW - 9010 * SECONDS, .restarts = 3 },
    { .uid = { 0x7d, 3 }, .phase = PODRANK_PHASE_RUNNING, .flags = READY, .rank = 1, .ready_time = NOW - 60 * SECONDS,
      .creation_time = NOW - 70 * SECONDS },
    { .uid = { 0x7d, 4 }, .phase = PODRANK_PHASE_RUNNING, .flags = READY, .rank = 3, .ready_time = NOW - 700 * SECONDS,
      .creation_time = NOW - 710 * SECONDS, .deletion_cost = 10 },
    { .uid = { 0x7d, 5 }, .phase = PODRANK_PHASE_RUNNING, .flags = READY, .rank = 3, .ready_time = NOW - 500 * SECONDS,
      .creation_time = NOW - 510 * SECONDS },
    { .uid = { 0x7d, 6 }, .phase = PODRANK_PHASE_RUNNING, .flags = READY, .rank = 3, .ready_time = NOW - 400 * SECONDS,
      .creation_time = NOW - 410 * SECONDS, .restarts = 1 },
};

static const podrank_options options = PODRANK_OPTIONS_AT(NOW);

static void line(const char *a, const char *b, const char *c) {
    semihosting_write(a);
    semihosting_write(b);
    semihosting_write(c);
    semihosting_write("\n");
}

int main(void) {
    uint32_t order[DELETE + 1];
    podrank_row rows[PODRANK_ROW_MAX];
    size_t selected, len, i;
    int32_t status;

    PODRANK_REQUIRE_ABI();
    /* One more than DELETE: the last of them is the first that is kept. */
    status = podrank_select(pods, PODS, &options, order, DELETE + 1, NULL, 0, &selected);
    if (status == PODRANK_OK)
        status = podrank_explain(&pods[order[0]], &pods[order[DELETE]], &options, rows, PODRANK_ROW_MAX, &len);
    if (status != PODRANK_OK) {
        line(podrank_status_str(status), "", "");
        return status;
    }

    for (i = 0; i < DELETE; i++)
        line(names[order[i]], " goes", "");
    line(names[order[0]], " rather than ", names[order[DELETE]]);
    for (i = 0; i < len; i++)
        if (rows[i].applies)
            line(podrank_rule_str(rows[i].rule), rows[i].decides ? ": this decides" : ": ",
                 rows[i].decides ? "" : rows[i].ordering < 0 ? "for it" : rows[i].ordering > 0 ? "against it" : "tie");
    return PODRANK_OK;
}

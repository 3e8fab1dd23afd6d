/*
 * You want to delete pods on pay-per-use nodes first, so that these nodes become empty and cost nothing. Kubernetes
 * does not prefer them, but with these deletion costs it deletes them first.
 *
 *     cc steer.c $(pkg-config --cflags podrank) $(pkg-config --variable=libdir podrank)/libpodrank.a && ./a.out
 */
#define PODRANK_UNSTABLE /* steer.h may change with any release */
#include <podrank/steer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { NOW = 1767268800, DELETE = 4 }; /* 2026-01-01T12:00:00Z */

static const struct {
    const char *name, *node;
    int ready;
    int32_t cost; /* annotation controller.kubernetes.io/pod-deletion-cost */
} set[] = {
    { "web-1", "reserved-1", 1, 0 },      { "web-2", "reserved-1", 1, 0 },    { "web-3", "reserved-2", 1, 0 },
    { "web-4", "pay-per-use-1", 1, 0 },   { "web-5", "pay-per-use-1", 1, 100 }, { "web-6", "pay-per-use-2", 1, 0 },
    { "web-7", "reserved-2", 0, 0 },
};

static void check(int32_t status, const char *what) {
    if (status != PODRANK_OK) {
        fprintf(stderr, "%s: %s\n", what, podrank_status_str(status));
        exit(EXIT_FAILURE);
    }
}

/* Up to 65,536 pods get different UIDs. */
static void set_uid(podrank_pod *pod, size_t number) {
    pod->uid[14] = (uint8_t)(number >> 8);
    pod->uid[15] = (uint8_t)number;
}

int main(void) {
    podrank_pod pods[COUNT(set)];
    podrank_options options = PODRANK_OPTIONS_AT((int64_t)NOW * 1000000000);
    podrank_steer_scratch scratch[COUNT(set)];
    podrank_unsteerable unsteerable[COUNT(set)];
    podrank_steered steered;
    int32_t costs[COUNT(set)];
    uint32_t order[COUNT(set)];
    uint64_t scores[COUNT(set)];
    size_t i, certain, possible;

    PODRANK_REQUIRE_ABI();
    for (i = 0; i < COUNT(set); i++) {
        podrank_pod pod = PODRANK_POD_INIT;
        set_uid(&pod, i);
        pod.phase = PODRANK_PHASE_RUNNING;
        pod.flags = PODRANK_POD_ASSIGNED;
        check(podrank_time_from_unix(NOW - 3605, 0, &pod.creation_time), set[i].name);
        if (set[i].ready) {
            pod.flags |= PODRANK_POD_READY;
            check(podrank_time_from_unix(NOW - 3600, 0, &pod.ready_time), set[i].name);
        }
        pod.deletion_cost = set[i].cost;
        /* Lower tiers are deleted first. */
        pod.tier = strncmp(set[i].node, "pay-per-use", strlen("pay-per-use")) != 0;
        pods[i] = pod;
    }
    /* No cost is fixed. */
    check(podrank_steer(pods, COUNT(set), &options, NULL, 0, costs, COUNT(costs), scratch, COUNT(scratch), unsteerable,
                        COUNT(unsteerable), &steered), "steer");
    printf("%u of %zu deletion costs change:\n", (unsigned)steered.changed, COUNT(set));
    for (i = 0; i < COUNT(set); i++) {
        if (costs[i] != set[i].cost)
            printf("  %s on %s: %ld to %ld\n", set[i].name, set[i].node, (long)set[i].cost, (long)costs[i]);
        pods[i].deletion_cost = costs[i];
    }
    /* There can be more of them than fit. */
    for (i = 0; i < steered.unsteerable && i < COUNT(unsteerable); i++)
        printf("%s is still deleted before them: %s\n", set[unsteerable[i].pod].name, podrank_rule_str(unsteerable[i].rule));

    /* The ranks are 0, as Kubernetes counts none for a ReplicaSet that no Deployment controls. For other sets, call
     * podrank_count_ranks. */
    check(podrank_predict(pods, COUNT(set), &options, DELETE, order, COUNT(order), scores, COUNT(scores), &certain,
                         &possible), "predict");
    printf("if Kubernetes deletes %d pods, it certainly deletes:", DELETE);
    for (i = 0; i < certain; i++)
        printf(" %s", set[order[i]].name);
    printf("\n");
    return EXIT_SUCCESS;
}

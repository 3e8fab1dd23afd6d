/*
 * Chooses the pods to delete when a ReplicaSet is scaled down, as an autoscaler does, while a budget says how many must
 * remain available. The pods are as Kubernetes' API returns them: UID, phase and deletion cost as text, nodes by name.
 *
 *     cc victims.c $(pkg-config --cflags podrank) $(pkg-config --variable=libdir podrank)/libpodrank.a && ./a.out
 */
#define PODRANK_UNSTABLE /* controller.h may change with any release */
#include <podrank/controller.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MINUTES(n) (NOW - 60 * (n))

enum { NOW = 1767268800, WANTED = 2, MIN_AVAILABLE = 3, MIN_READY_SECONDS = 30 }; /* 2026-01-01T12:00:00Z */

/* An active pod, as an agent may have read it. */
static const struct api_pod {
    const char *name;
    const char *uid;
    const char *node;  /* spec.nodeName, or "" */
    const char *phase; /* status.phase */
    const char *cost;  /* annotation controller.kubernetes.io/pod-deletion-cost, or NULL */
    int64_t created;   /* metadata.creationTimestamp */
    int64_t ready;     /* lastTransitionTime of the condition Ready if it is True, or 0 */
    uint32_t restarts; /* the most of any container */
} set[] = {
    { "web-adele", "7d1e0c6a-52c1-4b7e-8a43-000000000001", "node-a", "Running", NULL, MINUTES(61), MINUTES(60), 0 },
    { "web-bruno", "7d1e0c6a-52c1-4b7e-8a43-000000000002", "node-a", "Running", "+10", MINUTES(121), MINUTES(120), 0 },
    { "web-carla", "7d1e0c6a-52c1-4b7e-8a43-000000000003", "node-a", "Running", "10", MINUTES(61), MINUTES(60), 0 },
    { "web-david", "7d1e0c6a-52c1-4b7e-8a43-000000000004", "node-b", "Running", NULL, MINUTES(181), MINUTES(180), 3 },
    { "web-ellen", "7d1e0c6a-52c1-4b7e-8a43-000000000005", "node-b", "Running", "10", MINUTES(61), 0, 0 },
    { "web-fritz", "7d1e0c6a-52c1-4b7e-8a43-000000000006", "", "Pending", "10", MINUTES(1), 0, 0 },
};

static void check(int32_t status, const char *what) {
    if (status != PODRANK_OK) {
        fprintf(stderr, "%s: %s\n", what, podrank_status_str(status));
        exit(EXIT_FAILURE);
    }
}

/* Returns the record of a pod. Its rank is counted later, over all pods. Give the table a third more slots than nodes. */
static podrank_pod record(const struct api_pod *api, podrank_node_name *nodes, size_t nodes_len) {
    podrank_pod pod = PODRANK_POD_INIT;

    check(podrank_uid_parse(api->uid, strlen(api->uid), pod.uid, sizeof pod.uid), api->name);
    /* Succeeded and Failed are PODRANK_ERR_INACTIVE: leave such pods out. */
    check(podrank_phase_parse(api->phase, strlen(api->phase), &pod.phase), api->name);
    check(podrank_time_from_unix(api->created, 0, &pod.creation_time), api->name);
    pod.restarts = api->restarts;
    if (api->node[0] != '\0') {
        pod.flags |= PODRANK_POD_ASSIGNED;
        check(podrank_node_number(nodes, nodes_len, api->node, strlen(api->node), &pod.node), api->name);
    }
    if (api->ready != 0) {
        pod.flags |= PODRANK_POD_READY;
        check(podrank_time_from_unix(api->ready, 0, &pod.ready_time), api->name);
    }
    /* Kubernetes counts text that is not a cost as 0. So does this program, as the cost is left at 0. */
    if (api->cost != NULL) {
        const int32_t status = podrank_deletion_cost_parse(api->cost, strlen(api->cost), &pod.deletion_cost);
        if (status >= PODRANK_ERR_COST_EMPTY && status <= PODRANK_ERR_COST_RANGE)
            printf("%s: cost \"%s\" counts as 0\n", api->name, api->cost);
        else
            check(status, api->name);
    }
    return pod;
}

int main(void) {
    podrank_pod pods[COUNT(set)];
    podrank_node_name nodes[8] = { PODRANK_NODE_NAME_INIT };
    podrank_options options = PODRANK_OPTIONS_AT(NOW * INT64_C(1000000000));
    uint32_t counts[COUNT(nodes)], order[COUNT(set)];
    size_t i, ready, available;
    uint64_t next_check_after;

    for (i = 0; i < COUNT(set); i++)
        pods[i] = record(&set[i], nodes, COUNT(nodes));
    check(podrank_count_ranks(pods, COUNT(set), NULL, 0, counts, COUNT(nodes)), "ranks");
    check(podrank_availability(pods, COUNT(set), MIN_READY_SECONDS, options.now, &ready, &available, &next_check_after), "availability");
    check(podrank_sort(pods, COUNT(set), &options, order, COUNT(order), NULL, 0), "order");

    printf("%zu of %zu pods are available, and %d must be:\n", available, COUNT(set), MIN_AVAILABLE);
    for (i = 0; i + WANTED < COUNT(set); i++) {
        const struct api_pod *api = &set[order[i]];
        size_t is_available;
        check(podrank_availability(&pods[order[i]], 1, MIN_READY_SECONDS, options.now, &ready, &is_available, &next_check_after), api->name);
        /* A pod that is not available costs the budget nothing. */
        if (is_available && available <= MIN_AVAILABLE) {
            printf("  %s waits\n", api->name);
            continue;
        }
        available -= is_available;
        printf("  %s is deleted\n", api->name);
    }
    return EXIT_SUCCESS;
}

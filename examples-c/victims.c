/*
 * Selects the victims when a Deployment is scaled down in the middle of a rollout. The pods are as Kubernetes' API returns
 * them: UID, phase and deletion cost as text, nodes by name, and times in seconds.
 *
 *     cc victims.c $(pkg-config --cflags --libs podrank) && ./a.out
 */
#include <podrank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MINUTES(n) (NOW - 60 * (n))

enum { NOW = 1767268800, DELETE = 4 }; /* 2026-01-01T12:00:00Z */

/* An active pod, as an agent may have read it. */
struct api_pod {
    const char *name;
    const char *uid;
    const char *node;  /* spec.nodeName, or "" */
    const char *phase; /* status.phase */
    const char *cost;  /* annotation controller.kubernetes.io/pod-deletion-cost, or NULL */
    int64_t created;   /* metadata.creationTimestamp */
    int64_t ready;     /* lastTransitionTime of the condition Ready if it is True, or 0 */
    uint32_t restarts; /* the most of any container */
};

/* The ReplicaSet that is scaled down. */
static const struct api_pod set[] = {
    { "web-2-adele", "7d1e0c6a-52c1-4b7e-8a43-000000000001", "node-a", "Running", NULL, MINUTES(61), MINUTES(60), 0 },
    { "web-2-bruno", "7d1e0c6a-52c1-4b7e-8a43-000000000002", "node-a", "Running", "+10", MINUTES(121), MINUTES(120), 0 },
    { "web-2-carla", "7d1e0c6a-52c1-4b7e-8a43-000000000003", "node-a", "Running", "10", MINUTES(61), MINUTES(60), 0 },
    { "web-2-david", "7d1e0c6a-52c1-4b7e-8a43-000000000004", "node-b", "Running", NULL, MINUTES(181), MINUTES(180), 3 },
    { "web-2-ellen", "7d1e0c6a-52c1-4b7e-8a43-000000000005", "node-b", "Running", "10", MINUTES(61), 0, 0 },
    { "web-2-fritz", "7d1e0c6a-52c1-4b7e-8a43-000000000006", "", "Pending", "10", MINUTES(1), 0, 0 },
    { "web-2-greta", "7d1e0c6a-52c1-4b7e-8a43-000000000007", "node-c", "Running", "-5", MINUTES(61), MINUTES(60), 0 },
};

/* The Deployment's older ReplicaSet. Its pods cannot be victims, but they count in the ranks. */
static const struct api_pod older[] = {
    { "web-1-heike", "3b9f5d20-0d6e-4c4f-9d0a-000000000001", "node-b", "Running", NULL, MINUTES(900), MINUTES(899), 0 },
    { "web-1-ivana", "3b9f5d20-0d6e-4c4f-9d0a-000000000002", "node-b", "Running", NULL, MINUTES(900), MINUTES(899), 0 },
};

/* The table of node names, zeroed, with at least a third more slots than there are nodes. */
static podrank_node_name nodes[8];

static void check(int32_t status, const char *what) {
    if (status != PODRANK_OK) {
        fprintf(stderr, "%s: %s\n", what, podrank_status_str(status));
        exit(EXIT_FAILURE);
    }
}

/* Returns the record of a pod. Its rank is counted later, over all pods. */
static podrank_pod record(const struct api_pod *api) {
    podrank_pod pod = PODRANK_POD_INIT;
    int32_t status;

    check(podrank_uid_parse(api->uid, strlen(api->uid), pod.uid), api->name);
    /* Succeeded and Failed are PODRANK_ERR_INACTIVE: leave such pods out. */
    check(podrank_phase_parse(api->phase, strlen(api->phase), &pod.phase), api->name);
    check(podrank_time_from_unix(api->created, 0, &pod.creation_time), api->name);
    pod.restarts = api->restarts;
    if (api->node[0] != '\0') {
        pod.flags |= PODRANK_POD_ASSIGNED;
        check(podrank_node_number(nodes, COUNT(nodes), api->node, strlen(api->node), &pod.node), api->name);
    }
    if (api->ready != 0) {
        pod.flags |= PODRANK_POD_READY;
        check(podrank_time_from_unix(api->ready, 0, &pod.ready_time), api->name);
    }
    if (api->cost != NULL) {
        /* Kubernetes counts text that is not a cost as 0. So does this program, and warns. */
        status = podrank_deletion_cost_parse(api->cost, strlen(api->cost), &pod.deletion_cost);
        if (status != PODRANK_OK)
            printf("%s: cost \"%s\" counts as 0: %s\n", api->name, api->cost, podrank_status_str(status));
    }
    return pod;
}

int main(void) {
    podrank_pod pods[COUNT(set)], others[COUNT(older)];
    podrank_options options = PODRANK_OPTIONS_INIT;
    uint32_t counts[COUNT(nodes)], victims[DELETE];
    size_t i, selected;

    PODRANK_REQUIRE_ABI();
    for (i = 0; i < COUNT(set); i++)
        pods[i] = record(&set[i]);
    for (i = 0; i < COUNT(older); i++)
        others[i] = record(&older[i]);
    check(podrank_count_ranks(pods, COUNT(set), others, COUNT(older), counts, COUNT(nodes)), "ranks");

    options.flags = PODRANK_OPTIONS_NOW;
    check(podrank_time_from_unix(NOW, 0, &options.now), "now");
    check(podrank_select(pods, COUNT(set), &options, victims, DELETE, NULL, 0, &selected), "victims");

    printf("%zu of %zu pods go:\n", selected, COUNT(set));
    for (i = 0; i < selected; i++) {
        const struct api_pod *api = &set[victims[i]];
        printf("  %s on %s\n", api->name, api->node[0] == '\0' ? "no node" : api->node);
    }
    return EXIT_SUCCESS;
}

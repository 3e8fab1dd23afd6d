/*
 * Keys: the order as bytes, for qsort, a database index or a sorted file. Sorting keys with memcmp gives the order of
 * podrank_sort; this program fails if it does not. Compare only keys that one release made with the same
 * options.
 *
 *     cc sort_keys.c $(pkg-config --cflags --libs podrank) && ./a.out
 */
#include <podrank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keyed {
    uint8_t key[PODRANK_KEY_LEN];
    uint32_t index;
};

static void check(int32_t status, const char *what) {
    if (status != PODRANK_OK) {
        fprintf(stderr, "%s: %s\n", what, podrank_status_str(status));
        exit(EXIT_FAILURE);
    }
}

/* By key, and pods that tie by index, as podrank_sort does. */
static int compare(const void *a, const void *b) {
    const struct keyed *p = a, *q = b;
    int order = memcmp(p->key, q->key, sizeof p->key);
    return order != 0 ? order : (p->index > q->index) - (p->index < q->index);
}

int main(void) {
    static const char *const names[] = { "calm",      "calm too",  "restarted",   "sidecar restarted", "cheap",
                                         "expensive", "not ready", "higher rank", "unknown",           "no node" };
    enum { LEN = sizeof names / sizeof *names };
    podrank_pod *pods = malloc(LEN * sizeof *pods);
    struct keyed *keyed = malloc(LEN * sizeof *keyed);
    uint32_t *order = malloc(LEN * sizeof *order);
    uint32_t i, wrong = 0;

    if (pods == NULL || keyed == NULL || order == NULL)
        return EXIT_FAILURE;
    for (i = 0; i < LEN; i++) {
        podrank_pod calm = PODRANK_POD_INIT;
        calm.phase = PODRANK_PHASE_RUNNING;
        calm.flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
        calm.rank = 1;
        pods[i] = calm; /* All UIDs are zero, so the first two tie. */
    }
    pods[2].restarts = 1;
    pods[3].sidecar_restarts = 4;
    pods[4].deletion_cost = -1;
    pods[5].deletion_cost = 1;
    pods[6].flags = PODRANK_POD_ASSIGNED;
    pods[7].rank = 2;
    pods[8].phase = PODRANK_PHASE_UNKNOWN;
    pods[9].flags = 0;

    for (i = 0; i < LEN; i++) {
        keyed[i].index = i;
        check(podrank_key(&pods[i], NULL, keyed[i].key), names[i]);
    }
    qsort(keyed, LEN, sizeof *keyed, compare);
    check(podrank_sort(pods, LEN, NULL, order, LEN), "sort");

    for (i = 0; i < LEN; i++) {
        printf("%s\n", names[keyed[i].index]);
        wrong += keyed[i].index != order[i];
    }
    free(order);
    free(keyed);
    free(pods);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * Keeps the keys of pods in a sorted store, so that the next victim is always the first entry: here a file, whose bytes
 * memcmp compares. A store says which format its keys have, and is built again if the library has another.
 *
 *     cc sorted_store.c $(pkg-config --cflags --libs podrank) && ./a.out
 */
#include <podrank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PODS = 6 };
static const char *const names[PODS] = { "calm", "cheap", "restarted", "no node", "crowded", "not ready" };

/* An entry: the key first, so that entries compare by it. */
struct entry {
    uint8_t key[PODRANK_KEY_LEN];
    char name[16];
};

static void check(int is_well, const char *what) {
    if (!is_well) {
        fprintf(stderr, "sorted_store: %s failed\n", what);
        exit(EXIT_FAILURE);
    }
}

static int compare(const void *a, const void *b) {
    return memcmp(a, b, PODRANK_KEY_LEN);
}

/* Up to 65,536 pods get different UIDs. */
static void set_uid(podrank_pod *pod, size_t number) {
    pod->uid[14] = (uint8_t)(number >> 8);
    pod->uid[15] = (uint8_t)number;
}

static void describe(podrank_pod pods[PODS]) {
    const podrank_pod blank = PODRANK_POD_INIT;
    for (size_t i = 0; i < PODS; i++) {
        pods[i] = blank;
        set_uid(&pods[i], i);
        pods[i].phase = PODRANK_PHASE_RUNNING;
        pods[i].flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
    }
    pods[1].deletion_cost = -1;
    pods[2].restarts = 1;
    pods[3].flags = 0;
    pods[4].rank = 2;
    pods[5].flags = PODRANK_POD_ASSIGNED;
}

/* Writes the format, in a byte so that the store is the same on every machine, and the entries in their order. Without a now in the
   options, keys do not depend on when they are made, but Kubernetes' order does, because it compares ages. Keys hold ranks: when a pod
   comes to a node or leaves it, make the keys of all pods there again. */
static void make(FILE *store) {
    const uint8_t format = (uint8_t)podrank_key_format();
    struct entry entries[PODS];
    podrank_pod pods[PODS];

    check(podrank_key_format() <= UINT8_MAX, "a format in a byte");
    describe(pods);
    memset(entries, 0, sizeof entries);
    for (size_t i = 0; i < PODS; i++) {
        check(podrank_key(&pods[i], NULL, entries[i].key, sizeof entries[i].key) == PODRANK_OK, names[i]);
        strncpy(entries[i].name, names[i], sizeof entries[i].name - 1);
    }
    qsort(entries, PODS, sizeof *entries, compare);
    rewind(store);
    check(fwrite(&format, sizeof format, 1, store) == 1 && fwrite(entries, sizeof *entries, PODS, store) == PODS, "write");
    printf("made with format %u\n", (unsigned)format);
}

/* Prints the first two victims. Returns 0 if the library makes keys of another format. */
static int look(FILE *store) {
    struct entry entry;
    uint8_t format;

    rewind(store);
    check(fread(&format, sizeof format, 1, store) == 1, "read");
    if (format != podrank_key_format()) {
        printf("the store has format %u\n", (unsigned)format);
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        check(fread(&entry, sizeof entry, 1, store) == 1, "read");
        /* The file may have a name without an end. */
        printf("%d: %.*s\n", i + 1, (int)sizeof entry.name, entry.name);
    }
    return 1;
}

int main(void) {
    const uint8_t old = 0;
    FILE *store = tmpfile();

    check(store != NULL && fwrite(&old, sizeof old, 1, store) == 1, "tmpfile");
    if (!look(store))
        make(store);
    check(look(store), "look");
    check(fclose(store) == 0, "close");
    return EXIT_SUCCESS;
}

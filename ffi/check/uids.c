/* EXAMPLE is a program of examples-c. It gives 300 pods different UIDs. */
#define main example
#include EXAMPLE
#undef main

int main(void) {
    podrank_pod pods[300] = { PODRANK_POD_INIT };
    for (size_t i = 0; i < sizeof pods / sizeof *pods; i++) {
        set_uid(&pods[i], i);
        for (size_t j = 0; j < i; j++) {
            if (memcmp(pods[i].uid, pods[j].uid, sizeof pods[i].uid) == 0) {
                fprintf(stderr, "pods %zu and %zu have the same UID\n", j, i);
                return EXIT_FAILURE;
            }
        }
    }
    return EXIT_SUCCESS;
}

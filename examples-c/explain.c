/*
 * Explains why one pod is deleted before another: the values that each rule reads, and the rule that decides.
 *
 *     cc explain.c $(pkg-config --cflags --libs podrank) && ./a.out
 */
#include <podrank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { WIDTH = 40 };

static void check(int32_t status, const char *what) {
    if (status != PODRANK_OK) {
        fprintf(stderr, "%s: %s\n", what, podrank_status_str(status));
        exit(EXIT_FAILURE);
    }
}

/* Writes the value that a rule reads from a pod. */
static void describe(char text[WIDTH], uint8_t kind, int64_t value, const podrank_pod *pod) {
    static const char *const phases[] = { "Pending", "Unknown", "Running" };

    switch (kind) {
    case PODRANK_ROW_KIND_BOOL:
        snprintf(text, WIDTH, "%s", value != 0 ? "yes" : "no");
        break;
    case PODRANK_ROW_KIND_PHASE:
        /* A later library may have more phases. */
        snprintf(text, WIDTH, "%s", value >= 0 && value < (int64_t)COUNT(phases) ? phases[value] : "?");
        break;
    case PODRANK_ROW_KIND_TIME:
    case PODRANK_ROW_KIND_AGE_BUCKET:
        if (value == PODRANK_TIME_UNSET)
            snprintf(text, WIDTH, "unset");
        else if (kind == PODRANK_ROW_KIND_TIME)
            snprintf(text, WIDTH, "%lld s", (long long)(value / 1000000000));
        else if (value < 0)
            snprintf(text, WIDTH, "in the future");
        else
            snprintf(text, WIDTH, "2^%lld ns or more", (long long)value);
        break;
    case PODRANK_ROW_KIND_UID:
        check(podrank_uid_format(pod->uid, text, WIDTH), "UID");
        break;
    case PODRANK_ROW_KIND_NUMBER:
        snprintf(text, WIDTH, "%lld", (long long)value);
        break;
    default: /* of a later library */
        snprintf(text, WIDTH, "?");
    }
}

int main(void) {
    static const char uid_a[] = "7d1e0c6a-52c1-4b7e-8a43-000000000002";
    static const char uid_b[] = "7d1e0c6a-52c1-4b7e-8a43-000000000001";
    podrank_pod a = PODRANK_POD_INIT, b = PODRANK_POD_INIT;
    podrank_options options = PODRANK_OPTIONS_AT(INT64_C(1767268800) * 1000000000); /* noon on 2026-01-01 */
    podrank_row rows[PODRANK_ROW_MAX];
    const char *winner = "neither";
    size_t len, i;

    /* Two pods on one node, ready since 2026-01-01T10:30:00Z and 10:10:00Z. b was restarted twice, a never. */
    a.flags = b.flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
    a.phase = b.phase = PODRANK_PHASE_RUNNING;
    a.rank = b.rank = 2;
    b.restarts = 2;
    check(podrank_uid_parse(uid_a, strlen(uid_a), a.uid, sizeof a.uid), "UID of a");
    check(podrank_uid_parse(uid_b, strlen(uid_b), b.uid, sizeof b.uid), "UID of b");
    check(podrank_time_from_unix(1767263400, 0, &a.ready_time), "ready time of a");
    check(podrank_time_from_unix(1767262200, 0, &b.ready_time), "ready time of b");
    check(podrank_time_from_unix(1767263300, 0, &a.creation_time), "creation time of a");

    /* At noon they have been ready for 90 and 110 minutes. Both are between 2^42 and 2^43 ns, so they tie. */
    check(podrank_explain(&a, &b, &options, rows, PODRANK_ROW_MAX, &len), "explain");
    printf("%-16s %-37s %-37s deleted first\n", "rule", "a", "b");
    for (i = 0; i < len; i++) {
        const podrank_row *row = &rows[i];
        const char *first = row->ordering < 0 ? "a" : row->ordering > 0 ? "b" : "tie";
        char text_a[WIDTH], text_b[WIDTH];

        describe(text_a, row->kind, row->a, &a);
        describe(text_b, row->kind, row->b, &b);
        printf("%-16s %-37s %-37s %s%s\n", podrank_rule_str(row->rule), text_a, text_b,
               row->applies ? first : "does not apply", row->decides ? ": this decides" : "");
        if (row->decides)
            winner = first;
    }
    printf("%s is deleted first\n", winner);
    return EXIT_SUCCESS;
}

/*
 * Runs the cases of tests/vectors/ about the order and about texts through the C functions. Everything but the main program at the
 * end works without a C library, so that firmware can run it, too. It allocates nothing, prints nothing and needs about 2 KiB of
 * stack. The cases about a controller's other decisions and about steering are run in ffi/tests.
 *
 *     python3 tests/vectors/c_table.py > vectors_table.h
 *     cc -DPODRANK_VECTORS_MAIN -Iinclude -I. ffi/check/vectors.c libpodrank.a
 */
#include "podrank.h"

#ifdef PODRANK_VECTORS_MAIN
#include <stdio.h>
#include <string.h>
#else
int memcmp(const void *a, const void *b, size_t len);
#endif

/* first is deleted before second by this rule. With PODRANK_RULE_NONE, they tie. */
struct vector_pair {
    podrank_pod first, second;
    uint8_t options;
    uint8_t rule;
};

/* The victims among these pods. Positions and lengths refer to vector_pods and vector_victims. */
struct vector_selection {
    uint16_t pods, pods_len;
    uint16_t others, others_len;
    /* Whether counting the ranks among both gives the ranks in the records. */
    uint8_t counted;
    uint8_t options;
    uint16_t asked; /* how many victims to select, possibly more than there are pods */
    uint16_t victims, victims_len;
    uint8_t any_order; /* the victims may be in any order */
};

/* The deletion cost that a text is read as, or the error. */
struct vector_cost {
    const char *text;
    uint8_t len;
    int32_t status;
    int32_t cost;
};

struct vector_uid {
    const char *text;
    uint8_t len;
    int32_t status;
    uint8_t uid[16];
};

/* What kube-controller-manager says about two of vector_relation_pods: first is before second, or they tie. */
struct vector_relation {
    uint16_t first, second;
    uint8_t options;
    int8_t ordering;
};

#include "vectors_table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

int podrank_run_vectors(void);
void podrank_vector_keys(void (*put)(const uint8_t *key));

/* What failed, for a debugger and for the message of the main program. */
const char *podrank_vectors_what;

/* Use it as a statement: it returns 0 from the function unless the condition holds. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            podrank_vectors_what = #condition;                                                                         \
            return 0;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int sign(int value) {
    return (value > 0) - (value < 0);
}

/* compare, decide, explain and the keys all say that a and b have this ordering, by this rule. */
static int one_way(const podrank_pod *a, const podrank_pod *b, const podrank_options *options, int ordering,
                   uint8_t rule) {
    int32_t found = 99;
    uint8_t by = 99;
    podrank_row rows[PODRANK_ROW_MAX];
    size_t rows_len = 99, i, deciding = 0;
    uint8_t key_a[PODRANK_KEY_LEN], key_b[PODRANK_KEY_LEN];

    MUST(podrank_compare(a, b, options, &found) == PODRANK_OK);
    MUST(found == ordering);

    found = 99;
    MUST(podrank_decide(a, b, options, &found, &by) == PODRANK_OK);
    MUST(found == ordering);
    MUST(by == rule);
    MUST((podrank_rule_str(by) == NULL) == (by == PODRANK_RULE_NONE));

    MUST(podrank_explain(a, b, options, rows, PODRANK_ROW_MAX, &rows_len) == PODRANK_OK);
    MUST(rows_len > 0 && rows_len <= PODRANK_ROW_MAX);
    for (i = 0; i < rows_len; i++) {
        MUST(i == 0 || rows[i - 1].rule < rows[i].rule);
        MUST(rows[i].applies || rows[i].ordering == 0);
        if (rows[i].decides) {
            deciding++;
            MUST(rows[i].rule == rule);
            MUST(rows[i].ordering == ordering);
        }
        /* All rules before the one that decides tie. */
        MUST(rows[i].rule >= rule || rows[i].ordering == 0 || rule == PODRANK_RULE_NONE);
    }
    MUST(deciding == (rule != PODRANK_RULE_NONE));

    MUST(podrank_key(a, options, key_a, sizeof key_a) == PODRANK_OK);
    MUST(podrank_key(b, options, key_b, sizeof key_b) == PODRANK_OK);
    MUST(sign(memcmp(key_a, key_b, PODRANK_KEY_LEN)) == ordering);
    return 1;
}

static int pair_holds(const struct vector_pair *pair) {
    const podrank_options *options = &vector_options[pair->options];
    int ordering = pair->rule == PODRANK_RULE_NONE ? 0 : -1;
    return one_way(&pair->first, &pair->second, options, ordering, pair->rule) &&
           one_way(&pair->second, &pair->first, options, -ordering, pair->rule);
}

/* podrank_count_ranks gives the pods the ranks that they have in the table, which c_table.py counted. */
static int ranks_hold(const podrank_pod *pods, size_t len, const podrank_pod *others, size_t others_len) {
    podrank_pod ranked[VECTOR_PODS_MAX];
    uint32_t counts[VECTOR_NODES];
    size_t i;

    for (i = 0; i < len; i++) {
        ranked[i] = pods[i];
        ranked[i].rank = 99;
    }
    MUST(podrank_count_ranks(ranked, len, others_len == 0 ? NULL : others, others_len, counts, VECTOR_NODES) ==
         PODRANK_OK);
    for (i = 0; i < len; i++)
        MUST(ranked[i].rank == pods[i].rank);
    return 1;
}

/* Each of these numbers is below len, and no two are equal. */
static int all_different(const uint32_t *numbers, size_t count, size_t len) {
    size_t i, j;
    for (i = 0; i < count; i++) {
        MUST(numbers[i] < len);
        for (j = 0; j < i; j++)
            MUST(numbers[i] != numbers[j]);
    }
    return 1;
}

static int selection_holds(const struct vector_selection *selection) {
    const podrank_options *options = &vector_options[selection->options];
    const podrank_pod *pods = &vector_pods[selection->pods];
    const uint32_t *expected = &vector_victims[selection->victims];
    size_t len = selection->pods_len, expected_len = selection->victims_len, i, round;
    uint32_t order[VECTOR_PODS_MAX], victims[VECTOR_PODS_MAX + 1];
    podrank_scratch scratch[VECTOR_PODS_MAX];

    /* Space for one more than any case has pods. */
    MUST(selection->asked <= COUNT(victims) && len <= VECTOR_PODS_MAX);
    if (selection->counted && !ranks_hold(pods, len, &vector_pods[selection->others], selection->others_len))
        return 0;

    MUST(podrank_sort(pods, len, options, order, len, scratch, VECTOR_PODS_MAX) == PODRANK_OK);
    if (!all_different(order, len, len))
        return 0;

    /* Without scratch memory, with too little, with enough. */
    for (round = 0; round < 3; round++) {
        size_t selected = 99, room = round == 0 || expected_len == 0 ? 0 : expected_len - (round == 1);
        for (i = 0; i < COUNT(victims); i++)
            victims[i] = 99;
        MUST(podrank_select(pods, len, options, victims, selection->asked, room == 0 ? NULL : scratch, room,
                            &selected) == PODRANK_OK);
        MUST(selected == expected_len);
        if (!all_different(victims, selected, len))
            return 0;
        for (i = 0; i < selected; i++) {
            /* If all go in any order, they only need to be all different. */
            MUST(selection->any_order ? expected_len == len : victims[i] == expected[i]);
            MUST(victims[i] == order[i]);
        }
        for (; i < COUNT(victims); i++)
            MUST(victims[i] == 99);
    }
    return 1;
}

/* An error leaves the value as it was. */
static int cost_holds(const struct vector_cost *text) {
    int32_t cost = 99;
    MUST(podrank_deletion_cost_parse(text->text, text->len, &cost) == text->status);
    MUST(cost == (text->status == PODRANK_OK ? text->cost : 99));
    return 1;
}

static int uid_holds(const struct vector_uid *text) {
    uint8_t uid[16] = { 99 };
    char back[PODRANK_UID_TEXT_LEN + 1];
    MUST(podrank_uid_parse(text->text, text->len, uid, sizeof uid) == text->status);
    if (text->status != PODRANK_OK) {
        MUST(uid[0] == 99);
        return 1;
    }
    MUST(memcmp(uid, text->uid, sizeof uid) == 0);
    MUST(podrank_uid_format(uid, back, sizeof back) == PODRANK_OK);
    MUST(memcmp(back, text->text, PODRANK_UID_TEXT_LEN) == 0 && back[PODRANK_UID_TEXT_LEN] == '\0');
    return 1;
}

#ifdef PODRANK_WITHOUT_KUBERNETES
#define relation_holds(pair) 1
#else
/* The relation holds both ways. */
static int relation_holds(const struct vector_relation *pair) {
    const podrank_pod *first = &vector_relation_pods[pair->first], *second = &vector_relation_pods[pair->second];
    const podrank_options *options = &vector_options[pair->options];
    int32_t ordering = 99;
    uint8_t rule = 99;

    MUST(podrank_kubernetes_compare(first, second, options, &ordering, &rule) == PODRANK_OK);
    MUST(ordering == pair->ordering);
    MUST((rule == PODRANK_RULE_NONE) == (ordering == 0));
    MUST(podrank_kubernetes_compare(second, first, options, &ordering, &rule) == PODRANK_OK);
    MUST(ordering == -pair->ordering);
    return 1;
}
#endif

/* Every case of the array holds, or the number of the first that does not is returned. */
#define RUN(array, holds)                                                                                              \
    for (i = 0; i < COUNT(array); i++)                                                                                 \
        if (number++, !holds(&(array)[i]))                                                                             \
            return number

/* Returns 0 if every case holds, or the number of the first that does not: see vectors_table.h. */
int podrank_run_vectors(void) {
    size_t i;
    int number = 0;

    RUN(vector_pairs, pair_holds);
    RUN(vector_selections, selection_holds);
    RUN(vector_costs, cost_holds);
    RUN(vector_uids, uid_holds);
    RUN(vector_relations, relation_holds);
    podrank_vectors_what = "every case of the table was run";
    return number == (int)VECTOR_CASES ? 0 : number;
}

static void put_key(void (*put)(const uint8_t *key), const podrank_pod *pod, uint8_t options) {
    uint8_t key[PODRANK_KEY_LEN] = { 0 };
    if (podrank_key(pod, &vector_options[options], key, sizeof key) == PODRANK_OK)
        put(key);
}

/* Passes the key of every pod in the cases to put, in the order of the cases: the same on every machine. */
void podrank_vector_keys(void (*put)(const uint8_t *key)) {
    size_t i, j;

    for (i = 0; i < COUNT(vector_pairs); i++) {
        put_key(put, &vector_pairs[i].first, vector_pairs[i].options);
        put_key(put, &vector_pairs[i].second, vector_pairs[i].options);
    }
    for (i = 0; i < COUNT(vector_selections); i++)
        for (j = 0; j < vector_selections[i].pods_len; j++)
            put_key(put, &vector_pods[vector_selections[i].pods + j], vector_selections[i].options);
    for (i = 0; i < COUNT(vector_relations); i++) {
        put_key(put, &vector_relation_pods[vector_relations[i].first], vector_relations[i].options);
        put_key(put, &vector_relation_pods[vector_relations[i].second], vector_relations[i].options);
    }
}

#ifdef PODRANK_VECTORS_MAIN
static void print_key(const uint8_t *key) {
    size_t i;
    for (i = 0; i < PODRANK_KEY_LEN; i++)
        printf("%02x", key[i]);
    putchar('\n');
}

/* With the argument `keys`, prints the keys. */
int main(int argc, char **argv) {
    int failed = podrank_run_vectors();
    if (failed != 0) {
        fprintf(stderr, "case %d, %s: not so: %s\n", failed, vector_names[failed - 1], podrank_vectors_what);
        return 1;
    }
    if (argc == 2 && strcmp(argv[1], "keys") == 0)
        podrank_vector_keys(print_key);
    else
        printf("%u cases\n", VECTOR_CASES);
    return 0;
}
#endif

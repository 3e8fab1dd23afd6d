/*
 * The cases of vectors/, through the C functions. Everything but the main program at the end does without a C library,
 * so that firmware can run it too: it allocates nothing, prints nothing and keeps about 2 KiB on the stack.
 *
 *     python3 vectors/c_table.py > vectors_table.h
 *     cc -DPODRANK_VECTORS_MAIN -Iinclude -I. ffi/check/vectors.c libpodrank.a
 */
#include "podrank.h"

#ifdef PODRANK_VECTORS_MAIN
#include <stdio.h>
#include <string.h>
#else
int memcmp(const void *a, const void *b, size_t len);
#endif

/* first goes before second by this rule; by PODRANK_RULE_NONE, they tie. */
struct vector_pair {
    podrank_pod first, second;
    uint8_t options;
    uint8_t rule;
};

/* Of these pods, these are the victims. Places and lengths are those in vector_pods and vector_victims. */
struct vector_selection {
    uint16_t pods, pods_len;
    uint16_t others, others_len;
    /* Counting the ranks of the pods among both gives the ranks that the pods have. */
    uint8_t counted;
    uint8_t options;
    uint16_t asked; /* victims to choose: may be more than there are pods */
    uint16_t victims, victims_len;
    uint8_t any_order; /* the victims are a set */
};

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

/* What kube-controller-manager says of two of vector_relation_pods: first is before second, or they tie. */
struct vector_relation {
    uint16_t first, second;
    uint8_t options;
    uint8_t relation;
};

#include "vectors_table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

int podrank_run_vectors(void);

/* What failed, for a debugger and for the message of the main program. */
const char *podrank_vectors_what;

/* To be used as a statement: leaves the function with 0 unless the condition holds. */
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

/* compare, decide, explain and the keys all say that a and b stand like this, by this rule. */
static int one_way(const podrank_pod *a, const podrank_pod *b, const podrank_options *options, int ordering,
                   uint8_t rule) {
    int32_t found = 99;
    uint8_t by = 99;
    podrank_row rows[PODRANK_ROWS_MAX];
    size_t rows_len = 99, i, deciding = 0;
    uint8_t key_a[PODRANK_KEY_LEN], key_b[PODRANK_KEY_LEN];

    MUST(podrank_compare(a, b, options, &found) == PODRANK_OK);
    MUST(found == ordering);

    found = 99;
    MUST(podrank_decide(a, b, options, &found, &by) == PODRANK_OK);
    MUST(found == ordering);
    MUST(by == rule);
    MUST((podrank_rule_str(by) == NULL) == (by == PODRANK_RULE_NONE));

    MUST(podrank_explain(a, b, options, rows, &rows_len) == PODRANK_OK);
    MUST(rows_len > 0 && rows_len <= PODRANK_ROWS_MAX);
    for (i = 0; i < rows_len; i++) {
        MUST(i == 0 || rows[i - 1].rule < rows[i].rule);
        MUST(rows[i].applies || rows[i].ordering == 0);
        if (rows[i].decides) {
            deciding++;
            MUST(rows[i].rule == rule);
            MUST(rows[i].ordering == ordering);
        }
        /* Nothing before the rule that decides tells the two apart. */
        MUST(rows[i].rule >= rule || rows[i].ordering == 0 || rule == PODRANK_RULE_NONE);
    }
    MUST(deciding == (rule != PODRANK_RULE_NONE));

    MUST(podrank_key(a, options, key_a) == PODRANK_OK);
    MUST(podrank_key(b, options, key_b) == PODRANK_OK);
    MUST(sign(memcmp(key_a, key_b, PODRANK_KEY_LEN)) == ordering);
    return 1;
}

static int pair_holds(const struct vector_pair *pair) {
    const podrank_options *options = &vector_options[pair->options];
    int ordering = pair->rule == PODRANK_RULE_NONE ? 0 : -1;
    return one_way(&pair->first, &pair->second, options, ordering, pair->rule) &&
           one_way(&pair->second, &pair->first, options, -ordering, pair->rule);
}

/* podrank_count_ranks gives the pods the ranks that they have in the table, which its maker has counted. */
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

/* Each of these numbers is below len, and none is there twice. */
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

    /* Room for one more than any of them has pods. */
    MUST(selection->asked <= COUNT(victims) && len <= VECTOR_PODS_MAX);
    if (selection->counted && !ranks_hold(pods, len, &vector_pods[selection->others], selection->others_len))
        return 0;

    MUST(podrank_sort(pods, len, options, order) == PODRANK_OK);
    if (!all_different(order, len, len))
        return 0;

    /* Without scratch, with one too few to be used, with enough. */
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
            /* Where all go in any order, that they are all different is all there is to say. */
            MUST(selection->any_order ? expected_len == len : victims[i] == expected[i]);
            MUST(victims[i] == order[i]);
        }
        for (; i < COUNT(victims); i++)
            MUST(victims[i] == 99);
    }
    return 1;
}

static int cost_holds(const struct vector_cost *text) {
    int32_t cost = 99;
    MUST(podrank_deletion_cost(text->text, text->len, &cost) == text->status);
    MUST(cost == (text->status == PODRANK_OK ? text->cost : 99));
    return 1;
}

static int uid_holds(const struct vector_uid *text) {
    uint8_t uid[16] = { 99 };
    char back[PODRANK_UID_TEXT_LEN + 1];
    MUST(podrank_uid_parse(text->text, text->len, uid) == text->status);
    if (text->status != PODRANK_OK) {
        MUST(uid[0] == 99);
        return 1;
    }
    MUST(memcmp(uid, text->uid, sizeof uid) == 0);
    MUST(podrank_uid_format(uid, back) == PODRANK_OK);
    MUST(memcmp(back, text->text, PODRANK_UID_TEXT_LEN) == 0 && back[PODRANK_UID_TEXT_LEN] == '\0');
    return 1;
}

/* The relation holds both ways. */
static int relation_holds(const struct vector_relation *pair) {
    const podrank_pod *first = &vector_relation_pods[pair->first], *second = &vector_relation_pods[pair->second];
    const podrank_options *options = &vector_options[pair->options];
    int32_t relation = 99, back = pair->relation == PODRANK_RELATION_TIE ? PODRANK_RELATION_TIE : PODRANK_RELATION_AFTER;
    uint8_t rule = 99;

    MUST(podrank_upstream(first, second, options, &relation, &rule) == PODRANK_OK);
    MUST(relation == pair->relation);
    MUST((rule == PODRANK_RULE_NONE) == (relation == PODRANK_RELATION_TIE));
    MUST(podrank_upstream(second, first, options, &relation, &rule) == PODRANK_OK);
    MUST(relation == back);
    return 1;
}

/* 0 if every case holds, else the number of the first that does not: see vectors_table.h. */
int podrank_run_vectors(void) {
    size_t i;
    int number = 0;

    for (i = 0; i < COUNT(vector_pairs); i++)
        if (number++, !pair_holds(&vector_pairs[i]))
            return number;
    for (i = 0; i < COUNT(vector_selections); i++)
        if (number++, !selection_holds(&vector_selections[i]))
            return number;
    for (i = 0; i < COUNT(vector_costs); i++)
        if (number++, !cost_holds(&vector_costs[i]))
            return number;
    for (i = 0; i < COUNT(vector_uids); i++)
        if (number++, !uid_holds(&vector_uids[i]))
            return number;
    for (i = 0; i < COUNT(vector_relations); i++)
        if (number++, !relation_holds(&vector_relations[i]))
            return number;
    return 0;
}

#ifdef PODRANK_VECTORS_MAIN
int main(void) {
    int failed = podrank_run_vectors();
    if (failed != 0) {
        fprintf(stderr, "case %d, %s: not so: %s\n", failed, vector_names[failed - 1], podrank_vectors_what);
        return 1;
    }
    printf("%u cases\n", VECTOR_CASES);
    return 0;
}
#endif

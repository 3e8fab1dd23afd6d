/*
 * A program without a C library that runs the vectors and calls every function of the header. It takes the mem functions from
 * examples-c/firmware. On Linux it has its own start code, and in firmware (ffi/targets), it uses the firmware's. It exits with 0,
 * with 1 if a vector fails, or with 2 if a result below is wrong.
 */
#define PODRANK_UNSTABLE
#include "podrank/controller.h"
#include "podrank/probabilities.h"
#include "podrank/steer.h"

int podrank_run_vectors(void);
int memcmp(const void *a, const void *b, size_t len);

static int around_the_order_answers(const podrank_pod *pods) {
    podrank_expectations expectations = PODRANK_EXPECTATIONS_INIT;
    podrank_pod_key room[2], keys[2] = { { { 1 } }, { { 2 } } };
    podrank_plan_state state = PODRANK_PLAN_STATE_INIT;
    podrank_slow_start start;
    uint32_t creations = 9, deletions = 9;
    size_t ready = 9, available = 9;
    uint64_t next_check_after = 9;
    int32_t answer = 9;

    state.desired = 1;
    state.active = 4;
    state.burst_replicas = 2;
    state.flags = PODRANK_PLAN_SATISFIED;
    if (podrank_plan(&state, &creations, &deletions) != 0 || creations != 0 || deletions != 2)
        return 0;
    if (podrank_slow_start_begin(4, &start) != 0 || start.batch != 1 || podrank_slow_start_report(&start, 0) != 0 ||
        start.batch != 2 || podrank_slow_start_report(&start, 1) != 0 || start.batch != 0 || start.missing != 2)
        return 0;
    if (podrank_expectations_expect_creations(&expectations, 4, 0) != 0 || podrank_expectations_creations_observed(&expectations, 3) != 0 ||
        podrank_expectations_satisfied(&expectations, 0, &answer) != 0 || answer != 0)
        return 0;
    if (podrank_expectations_expect_deletions(&expectations, room, 2, keys, 2, 0) != 0 ||
        podrank_expectations_deletion_observed(&expectations, room, 2, &keys[0], &answer) != 0 || answer != 1 ||
        podrank_expectations_deletion_observed(&expectations, room, 2, &keys[0], &answer) != 0 || answer != 0 ||
        podrank_expectations_satisfied(&expectations, PODRANK_EXPECTATIONS_TIMEOUT + 1, &answer) != 0 || answer != 1)
        return 0;
    /* pods[1] became ready at 1000000005 ns. */
    return podrank_availability(pods, 2, 10, 2000000005, &ready, &available, &next_check_after) == 0 && ready == 1 &&
           available == 0 && next_check_after == 9000000000;
}

/* The second pod, of the lower tier, gets a lower cost. The first is still deleted before it. */
static int steering_answers(const podrank_pod *pods) {
    podrank_pod tiered[2];
    podrank_steer_scratch scratch[2];
    podrank_unsteerable unsteerable;
    podrank_steered steered;
    uint32_t counts[2], order[2];
    int32_t costs[2] = { 9, 9 };

    tiered[0] = pods[0];
    tiered[1] = pods[1];
    tiered[0].tier = 1;
    tiered[0].deletion_cost = tiered[1].deletion_cost;
    if (podrank_steer(tiered, 2, NULL, NULL, 0, costs, 2, scratch, 2, &unsteerable, 1, &steered) != 0 || costs[1] >= costs[0] ||
        steered.changed != 1 || steered.unsteerable != 1 || unsteerable.rule != PODRANK_RULE_UNASSIGNED)
        return 0;
    tiered[0] = tiered[1];
    return podrank_spread(tiered, 2, NULL, 0, NULL, counts, 2, order, 2) == 0 && tiered[0].rank == 2 && tiered[1].rank == 1;
}

/* Another set's pod keeps node 0, so the pod on node 1 is deleted first. */
static int whole_nodes_go(void) {
    podrank_pod pods[3] = { PODRANK_POD_INIT, PODRANK_POD_INIT, PODRANK_POD_INIT };
    podrank_neighbour neighbour = { 1, 0 };
    podrank_empty_nodes_scratch scratch[3];
    uint64_t weights[2] = { 0, 0 };
    uint32_t counts[4], domains[2] = { 0, 1 };
    pods[0].flags = pods[1].flags = pods[2].flags = PODRANK_POD_ASSIGNED;
    pods[0].node = pods[1].node = 0;
    pods[2].node = 1;
    return podrank_node_weights(&neighbour, 1, weights, 2) == 0 && weights[0] == (uint64_t)1 << 32 && weights[1] == 0 &&
        podrank_empty_nodes(pods, 3, weights, 2, domains, 2, counts, 4, scratch, 3) == 0 &&
        pods[2].tier == 0 && pods[0].tier == 1 && pods[1].tier == 1;
}

static int every_function_answers(void) {
    podrank_pod pods[2] = { PODRANK_POD_INIT, PODRANK_POD_INIT };
    podrank_options options = PODRANK_OPTIONS_INIT;
    podrank_node_name names[2] = { { NULL, 0 }, { NULL, 0 } };
    podrank_row rows[PODRANK_ROW_MAX];
    podrank_scratch scratch[2];
    uint8_t keys[2][PODRANK_KEY_LEN], rule = 0;
    uint32_t order[2] = { 9, 9 }, counts[2];
    size_t len = 9, possible = 9;
    uint64_t scores[2];
    podrank_probability odds[2];
    podrank_probability_scratch lists[2];
    int32_t answer = 9;
    char text[PODRANK_UID_TEXT_LEN + 1];
    static const char uid[] = "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01";

    PODRANK_REQUIRE_ABI();
    if (podrank_abi_1() != PODRANK_ABI || podrank_version()[0] == '\0' || podrank_status_str(0)[0] != 's')
        return 0;
    /* pods[1] is on a node, running, ready, and has a low cost. It is still deleted after the one without a node. */
    if (podrank_uid_parse(uid, sizeof uid - 1, pods[1].uid, sizeof pods[1].uid) != 0 ||
        podrank_uid_format(pods[1].uid, text, sizeof text) != 0 || memcmp(uid, text, sizeof uid) != 0)
        return 0;
    if (podrank_node_number(names, 2, "node-a", 6, &pods[1].node) != 0 || pods[1].node > 1)
        return 0;
    if (podrank_phase_parse("Running", 7, &pods[1].phase) != 0 || podrank_deletion_cost_parse("-5", 2, &answer) != 0 ||
        answer != -5 || podrank_time_from_unix(1, 5, &pods[1].ready_time) != 0 || pods[1].ready_time != 1000000005)
        return 0;
    pods[1].deletion_cost = answer;
    pods[1].flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
    if (podrank_count_ranks(pods, 2, NULL, 0, counts, 2) != 0 || pods[0].rank != 1 || pods[1].rank != 1)
        return 0;
    if (podrank_validate(pods, 2, &len, &answer) != 0 || len != 2 || answer != PODRANK_OK)
        return 0;
    if (podrank_compare(&pods[0], &pods[1], &options, &answer) != 0 || answer != -1)
        return 0;
    if (podrank_decide(&pods[0], &pods[1], NULL, &answer, &rule) != 0 || rule != PODRANK_RULE_UNASSIGNED ||
        podrank_rule_str(rule)[0] != 'u')
        return 0;
    if (podrank_explain(&pods[0], &pods[1], NULL, rows, PODRANK_ROW_MAX, &len) != 0 || !rows[0].decides)
        return 0;
    if (podrank_key(&pods[0], NULL, keys[0], sizeof keys[0]) != 0 || podrank_key(&pods[1], NULL, keys[1], sizeof keys[1]) != 0 ||
        podrank_key_format() != PODRANK_KEY_FORMAT || memcmp(keys[0], keys[1], PODRANK_KEY_LEN) >= 0)
        return 0;
    if (podrank_kubernetes_compare(&pods[0], &pods[1], &options, &answer, &rule) != 0 || answer != -1)
        return 0;
    if (podrank_probabilities(pods, 2, NULL, 1, 0, order, 2, odds, 2, lists, 2, &len, &possible) != 0 || odds[0].deleted != 1 ||
        odds[1].deleted != 0)
        return 0;
    order[0] = 1, order[1] = 0;
    if (podrank_kubernetes_sort(pods, 2, NULL, order, 2, lists, 2) != 0 || order[0] != 0)
        return 0;
    if (podrank_predict(pods, 2, NULL, 1, order, 2, scores, 2, &len, &possible) != 0 || len != 1 || possible != 0)
        return 0;
    if (podrank_sort(pods, 2, NULL, order, 2, scratch, 1) != 0 || order[0] != 0 || order[1] != 1)
        return 0;
    if (podrank_select(pods, 2, NULL, order, 1, scratch, 2, &len) != 0 || len != 1 || order[0] != 0)
        return 0;
    return around_the_order_answers(pods) && steering_answers(pods) && whole_nodes_go();
}

int main(void);
int main(void) {
    return podrank_run_vectors() != 0 ? 1 : every_function_answers() ? 0 : 2;
}

#ifdef __linux__
#if defined(__x86_64__)
__asm__(".globl _start\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call run\n");

static void leave(long status) {
    __asm__ volatile("syscall" : : "a"(231L), "D"(status) : "rcx", "r11", "memory");
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x29, xzr\n bl run\n");

static void leave(long status) {
    register long x0 __asm__("x0") = status;
    register long x8 __asm__("x8") = 94;
    __asm__ volatile("svc 0" : : "r"(x0), "r"(x8) : "memory");
}
#elif defined(__s390x__)
__asm__(".globl _start\n_start: aghi %r15, -160\n brasl %r14, run\n");

static void leave(long status) {
    register long r2 __asm__("r2") = status;
    __asm__ volatile("svc 248" : : "r"(r2) : "memory");
}
#else
#error "no start and no exit known for this machine"
#endif

_Noreturn void run(void);
_Noreturn void run(void) {
    leave(main());
    for (;;) {
    }
}
#endif

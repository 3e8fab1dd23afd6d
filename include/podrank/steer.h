// podrank: deletion costs that make Kubernetes delete the pods you want, and ranks that keep pods spread.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_STEER_H
#define PODRANK_STEER_H

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

// To have Kubernetes delete some pods before others, give them lower tiers. podrank_steer turns tiers into
// deletion costs, which Kubernetes compares; you write them into the annotations of the pods. podrank_spread sets ranks
// such that podrank_select keeps the remaining pods spread over nodes, zones or both.

// Scratch memory of podrank_steer for one pod. Its contents are private and need not be initialised.
typedef struct podrank_steer_scratch {
    // Private.
    uint64_t words[2];
} podrank_steer_scratch;

// `struct podrank_steer_scratch it = PODRANK_STEER_SCRATCH_INIT;`
#define PODRANK_STEER_SCRATCH_INIT \
    { { 0 } }

// What podrank_steer returns besides the costs.
typedef struct podrank_steered {
    // How many costs change, and so how many annotations you have to write.
    uint32_t changed;
    // How many pods are blocked. This can be more than blocked_len.
    uint32_t blocked;
    // With PODRANK_ERR_NO_ROOM: the index of the pod of the lower tier. Otherwise 0.
    uint32_t lower;
    // With PODRANK_ERR_NO_ROOM: the index of the pod of the higher tier. Otherwise 0.
    uint32_t higher;
} podrank_steered;

// `struct podrank_steered it = PODRANK_STEERED_INIT;`
#define PODRANK_STEERED_INIT \
    { 0, 0, 0, 0 }

// A blocked pod: it goes before some pod of a lower tier whatever their costs, because an earlier rule decides.
typedef struct podrank_blocked {
    // The index of the blocked pod. It has the higher tier, but goes first.
    uint32_t pod;
    // The index of a pod of a lower tier before which the blocked pod goes. If there are several, this is
    // one of those that come last by the rules before PODRANK_RULE_TIER.
    uint32_t before;
    // The rule that decides: PODRANK_RULE_UNASSIGNED, PODRANK_RULE_PHASE or PODRANK_RULE_NOT_READY.
    uint8_t rule;
    // Zero.
    uint8_t reserved[3];
} podrank_blocked;

// `struct podrank_blocked it = PODRANK_BLOCKED_INIT;`
#define PODRANK_BLOCKED_INIT \
    { 0, 0, 0, { 0 } }

// Sets ranks such that each victim comes from the node that has the most pods at that moment, as if you
// deleted one pod at a time and counted again after each. The rules before PODRANK_RULE_RANK still come
// first. Kubernetes counts once, as podrank_count_ranks does: with three pods on one node and two on
// another, if three are deleted, all three are from the first node.
//
// A pod's rank becomes the number of pods that are left on its node when its turn comes: this counts both
// arrays, and includes the pod itself. The array others has the related active pods that cannot be victims,
// as for podrank_count_ranks. others may be NULL with others_len 0.
//
// The ranks are input and output: the old ranks take part in the order of the pods of each node, and then
// they are overwritten. So set them to 0 before you spread, but not between levels. A node can be any domain
// with a number, such as a zone. To spread over zones and, within each zone, over nodes: call this with the
// node numbers; keep the ranks, but set each pod's node to the number of its zone, also in others; and call
// it again. Any number of levels is possible: start with the innermost.
//
// counts is scratch memory, and counts_len must be above every assigned pod's node: use table_len if
// podrank_node_number chose the numbers. If a node is not below counts_len: PODRANK_ERR_NODE. If scratch_len,
// the length of more scratch memory, is below pods_len: PODRANK_ERR_SHORT_BUFFER.
// The time grows with n log n for n pods, and with others_len and counts_len.
int32_t podrank_spread(struct podrank_pod *pods,
                       size_t pods_len,
                       const struct podrank_pod *others,
                       size_t others_len,
                       const struct podrank_options *options,
                       uint32_t *counts,
                       size_t counts_len,
                       uint32_t *scratch,
                       size_t scratch_len);

// A price of podrank_steer: the pod keeps its cost.
#define PODRANK_STEER_PRICE_FIXED 255u

// Writes deletion costs that make Kubernetes follow the tiers: every pod of a lower tier gets a strictly
// lower cost than every pod of a higher one. With these costs in the pods' annotations, Kubernetes deletes
// the pods of the lower tier first, except for blocked pods (below), at any time and for any number of
// victims. Within a tier, it decides by its own rules with the new costs. The prices of the changes sum to the least
// possible, and the new costs are close to those that stay.
//
// pods are the pods with their tiers and present costs. Of the options, only the gate PodDeletionCost matters. If
// it is off, costs have no effect: PODRANK_ERR_GATE.
//
// prices has one byte for each of the first prices_len pods: what changing the pod's cost is worth to you. It is 1
// for the pods after these, and where the byte is 0. With 1 for all, the fewest costs change. If you take the
// costs off again that remaining pods got, make those 2, as they take two requests. A pod whose byte is
// PODRANK_STEER_PRICE_FIXED keeps its cost, for instance because somebody else set it. prices may be NULL with
// prices_len 0. With more than 16 million pods, the highest price is 2^32 divided by their number.
//
// costs gets the cost of every pod, by index, whether it changes or not. scratch is scratch memory. If costs_len or
// scratch_len is below pods_len: PODRANK_ERR_SHORT_BUFFER.
//
// No cost can change what Kubernetes compares earlier: whether a pod is assigned, running and ready. So a pod can
// go before a pod of a lower tier whatever the costs. The pod that goes too early is called blocked. This is not
// an error. blocked gets the first blocked_len of the blocked pods, and steered->blocked is how many there are.
// blocked may be NULL with blocked_len 0.
//
// If the fixed costs leave no room for the tiers: PODRANK_ERR_NO_ROOM. In that case the function writes *steered
// although it fails: steered->lower and steered->higher are the indices of two pods, and steered->changed and
// steered->blocked are 0. The first of the two pods has to cost less than the second, with room between the two
// for a cost of each tier in between. Either both pods have fixed costs and these are too close together, or only
// one has, and it is too close to a limit of int32_t.
// The time grows with n log n, for n pods.
int32_t podrank_steer(const struct podrank_pod *pods,
                      size_t pods_len,
                      const struct podrank_options *options,
                      const uint8_t *prices,
                      size_t prices_len,
                      int32_t *costs,
                      size_t costs_len,
                      struct podrank_steer_scratch *scratch,
                      size_t scratch_len,
                      struct podrank_blocked *blocked,
                      size_t blocked_len,
                      struct podrank_steered *steered);

// The layout, as the library has it. If one of these does not hold, it declares an array of negative size, which no
// C or C++ compiler accepts.
#define PODRANK_ASSERT_NAMED(line, condition) extern char podrank_layout_differs_##line[(condition) ? 1 : -1]
#define PODRANK_ASSERT_AT(line, condition) PODRANK_ASSERT_NAMED(line, condition)
#define PODRANK_ASSERT(condition) PODRANK_ASSERT_AT(__LINE__, condition)

PODRANK_ASSERT(sizeof(podrank_steer_scratch) == 16);
PODRANK_ASSERT(offsetof(podrank_steer_scratch, words) == 0);
PODRANK_ASSERT(sizeof(podrank_steered) == 16);
PODRANK_ASSERT(offsetof(podrank_steered, changed) == 0);
PODRANK_ASSERT(offsetof(podrank_steered, blocked) == 4);
PODRANK_ASSERT(offsetof(podrank_steered, lower) == 8);
PODRANK_ASSERT(offsetof(podrank_steered, higher) == 12);
PODRANK_ASSERT(sizeof(podrank_blocked) == 12);
PODRANK_ASSERT(offsetof(podrank_blocked, pod) == 0);
PODRANK_ASSERT(offsetof(podrank_blocked, before) == 4);
PODRANK_ASSERT(offsetof(podrank_blocked, rule) == 8);
PODRANK_ASSERT(offsetof(podrank_blocked, reserved) == 9);

#undef PODRANK_ASSERT
#undef PODRANK_ASSERT_AT
#undef PODRANK_ASSERT_NAMED

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_STEER_H

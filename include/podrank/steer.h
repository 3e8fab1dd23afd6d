// podrank: deletion costs that make Kubernetes delete the selected pods, ranks that keep pods spread, and tiers that
// empty nodes.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_STEER_H
#define PODRANK_STEER_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

// To have Kubernetes delete some pods before others, give them lower tiers. podrank_steer turns tiers into
// deletion costs, which Kubernetes compares; you write them into the annotations of the pods. podrank_spread sets ranks
// such that podrank_select keeps the remaining pods spread over nodes, zones or both. podrank_empty_nodes makes tiers
// by nodes, so that as many nodes as possible become empty and can be removed.

// Scratch memory of podrank_steer for one pod. Its contents are private and need not be initialised.
typedef struct podrank_steer_scratch {
    // Private.
    uint64_t words[2];
} podrank_steer_scratch;

// `struct podrank_steer_scratch it = PODRANK_STEER_SCRATCH_INIT;`
#define PODRANK_STEER_SCRATCH_INIT \
    { { 0 } }

// What podrank_steer returns in addition to the costs.
typedef struct podrank_steered {
    // How many costs change, and so how many annotations you have to write.
    uint32_t changed;
    // How many pods are unsteerable. This can be more than unsteerable_len.
    uint32_t unsteerable;
    // With PODRANK_ERR_NO_ROOM: the index of the pod of the lower tier. Otherwise 0.
    uint32_t lower;
    // With PODRANK_ERR_NO_ROOM: the index of the pod of the higher tier. Otherwise 0.
    uint32_t higher;
} podrank_steered;

// `struct podrank_steered it = PODRANK_STEERED_INIT;`
#define PODRANK_STEERED_INIT \
    { 0, 0, 0, 0 }

// An unsteerable pod: it is deleted before some pod of a lower tier whatever their costs, because an earlier rule
// decides.
typedef struct podrank_unsteerable {
    // The index of the unsteerable pod. It has the higher tier, but is deleted first.
    uint32_t pod;
    // The index of a pod of a lower tier that is deleted after the unsteerable pod. If there are several, this is
    // one of those that come last by the rules before PODRANK_RULE_TIER.
    uint32_t before;
    // The rule that decides: PODRANK_RULE_UNASSIGNED, PODRANK_RULE_PHASE or PODRANK_RULE_NOT_READY.
    uint8_t rule;
    // Zero.
    uint8_t reserved[3];
} podrank_unsteerable;

// `struct podrank_unsteerable it = PODRANK_UNSTEERABLE_INIT;`
#define PODRANK_UNSTEERABLE_INIT \
    { 0, 0, 0, { 0 } }

// Sets ranks such that each victim comes from the node that has the most pods at that time, as if you
// deleted one pod at a time and counted again after each. The rules before PODRANK_RULE_RANK still come
// first. Kubernetes counts once, as podrank_count_ranks does: with three pods on one node and two on
// another, if three are deleted, all three are from the first node.
//
// A pod's rank becomes the number of pods that remain on its node when its turn comes: this counts both
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
PODRANK_NODISCARD
int32_t podrank_spread(struct podrank_pod *pods,
                       size_t pods_len,
                       const struct podrank_pod *others,
                       size_t others_len,
                       const struct podrank_options *options,
                       uint32_t *counts,
                       size_t counts_len,
                       uint32_t *scratch,
                       size_t scratch_len);

// A pod of another set than the one that loses pods, for podrank_node_weights.
typedef struct podrank_neighbour {
    // The number of its set, which is its controller: any number of your choice. A pod without one is a set of its own,
    // and needs a number that no other pod has.
    uint32_t set;
    // The number of its node.
    uint32_t node;
} podrank_neighbour;

// `struct podrank_neighbour it = PODRANK_NEIGHBOUR_INIT;`
#define PODRANK_NEIGHBOUR_INIT \
    { 0, 0 }

// Scratch memory of podrank_empty_nodes for one pod. Its contents are private and need not be initialised.
typedef struct podrank_empty_nodes_scratch {
    // Private.
    uint64_t words[4];
} podrank_empty_nodes_scratch;

// `struct podrank_empty_nodes_scratch it = PODRANK_EMPTY_NODES_SCRATCH_INIT;`
#define PODRANK_EMPTY_NODES_SCRATCH_INIT \
    { { 0 } }

// Adds to each node's weight what the pods of other sets weigh there. A set weighs the share of its pods that are on the
// node, in units of 2^-32, rounded down. So a set weighs at most 2^32, however many pods it has. podrank_empty_nodes reads the weights.
//
// neighbours are the active pods of all other sets that are assigned to a node. Leave out pods that end with their
// node: those of DaemonSets, and mirror pods. The function sorts the array. weights has one number for each node
// number, which you set to 0 before. If a node is not below weights_len: PODRANK_ERR_NODE, and nothing changes. The
// time grows with n log n, for n neighbours.
PODRANK_NODISCARD
int32_t podrank_node_weights(struct podrank_neighbour *neighbours,
                             size_t neighbours_len,
                             uint64_t *weights,
                             size_t weights_len);

// Splits each tier by nodes, such that the nodes that can become empty with the fewest deletions come first. With these tiers,
// for any number of victims, no other choice that follows the rules before PODRANK_RULE_TIER and the tiers that the pods have
// makes more nodes empty. Within a node, the usual order decides. podrank_steer makes Kubernetes follow the tiers.
//
// The next node is the one with the smallest remainder: weights[node], and 2^32 for each pod of the array on the node
// that is deleted later, by its tier or an earlier rule. Of equal nodes, it is the one with the fewest pods of this
// tier, then one whose domain has the most remaining pods, then the one with the lower number. So if you have a
// preference, such as cordoned nodes, number these lower yourself: podrank_node_number knows no preference. A node
// that cannot become empty comes last, but is not left out.
//
// pods are all active pods of the set. The tiers are input and output: they become 0, 1, 2 and so on, and pods of a lower tier get
// lower ones. Unassigned pods have no node, and those of a tier stay together. If more than 65,536 tiers were
// needed: PODRANK_ERR_TIERS.
//
// weights has a number for each node: see podrank_node_weights. If an assigned pod's node is not below weights_len:
// PODRANK_ERR_NODE. domains has the levels to spread over, the outermost first: domains[level * weights_len + node] is
// the number of the node's domain. For a node without a domain, store UINT32_MAX: no pod may be on it. If
// domains_len ends within a level, the other nodes have no domain on it. A number is for one level, and a domain lies in
// one domain of the level before: rack 1 of zone a is not rack 1 of zone b. domains may be NULL with domains_len 0.
//
// counts and scratch are scratch memory. If counts_len is below weights_len, or scratch_len is below pods_len:
// PODRANK_ERR_SHORT_BUFFER. counts_len must be at least weights_len + 1 + the highest domain number, or weights_len
// without domains: if a pod's node has a domain that is not below counts_len - weights_len, or none on some level:
// PODRANK_ERR_DOMAIN. If the function fails, no tier changes. The time grows with n log n for n pods, with each level,
// and with counts_len.
PODRANK_NODISCARD
int32_t podrank_empty_nodes(struct podrank_pod *pods,
                            size_t pods_len,
                            const uint64_t *weights,
                            size_t weights_len,
                            const uint32_t *domains,
                            size_t domains_len,
                            uint32_t *counts,
                            size_t counts_len,
                            struct podrank_empty_nodes_scratch *scratch,
                            size_t scratch_len);

// A price of podrank_steer: the pod keeps its cost.
#define PODRANK_STEER_PRICE_FIXED 255u

// Writes deletion costs that make Kubernetes follow the tiers: every pod of a lower tier gets a strictly
// lower cost than every pod of a higher one. With these costs in the pods' annotations, Kubernetes deletes
// the pods of the lower tier first, except for unsteerable pods (below), at any time and for any number of
// victims. Within a tier, it decides by its own rules with the new costs. The prices of the changes sum to the least
// possible, and the new costs are close to the costs that do not change.
//
// pods are the pods with their tiers and present costs. Of the options, only the gate PodDeletionCost matters. If
// it is off, costs have no effect: PODRANK_ERR_GATE.
//
// prices has one byte for each of the first prices_len pods: the price of changing the pod's cost. The price is 1 for
// the pods after these, and where the byte is 0. With 1 for all, the fewest costs change. If you later remove the
// costs of the pods that are kept, make their price 2, because they need two requests. A pod whose byte is
// PODRANK_STEER_PRICE_FIXED keeps its cost, for instance because somebody else set it. prices may be NULL with
// prices_len 0. With more than 16 million pods, the highest price is 2^32 divided by their number.
//
// costs gets the cost of every pod, by index, whether it changes or not. scratch is scratch memory. If costs_len or
// scratch_len is below pods_len: PODRANK_ERR_SHORT_BUFFER.
//
// No cost can change what Kubernetes compares earlier: whether a pod is assigned, running and ready. So Kubernetes can
// delete a pod before one of a lower tier, whatever the costs. That pod is called unsteerable. This is not an error.
// unsteerable gets the first unsteerable_len of the unsteerable pods, and steered->unsteerable is how many there are.
// unsteerable may be NULL with unsteerable_len 0.
//
// If the fixed costs leave no room for the tiers: PODRANK_ERR_NO_ROOM. In that case the function writes *steered
// although it fails: steered->lower and steered->higher are the indices of two pods, and steered->changed and
// steered->unsteerable are 0. The first of the two pods has to cost less than the second, with room between the two
// for a cost of each tier in between. Either both pods have fixed costs and these are too close together, or only
// one has, and it is too close to a limit of int32_t.
// The time grows with n log n, for n pods.
PODRANK_NODISCARD
int32_t podrank_steer(const struct podrank_pod *pods,
                      size_t pods_len,
                      const struct podrank_options *options,
                      const uint8_t *prices,
                      size_t prices_len,
                      int32_t *costs,
                      size_t costs_len,
                      struct podrank_steer_scratch *scratch,
                      size_t scratch_len,
                      struct podrank_unsteerable *unsteerable,
                      size_t unsteerable_len,
                      struct podrank_steered *steered);

// The sizes, as the library has them. No struct has padding, so with the right size each member is in its place. If one of these does not
// hold, it declares an array of negative size, which no C or C++ compiler accepts.
#define PODRANK_ASSERT_NAMED(line, condition) extern char podrank_layout_differs_in_steer_##line[(condition) ? 1 : -1]
#define PODRANK_ASSERT_AT(line, condition) PODRANK_ASSERT_NAMED(line, condition)
#define PODRANK_ASSERT(condition) PODRANK_ASSERT_AT(__LINE__, condition)

PODRANK_ASSERT(sizeof(podrank_steer_scratch) == 16);
PODRANK_ASSERT(sizeof(podrank_steered) == 16);
PODRANK_ASSERT(sizeof(podrank_unsteerable) == 12);
PODRANK_ASSERT(sizeof(podrank_neighbour) == 8);
PODRANK_ASSERT(sizeof(podrank_empty_nodes_scratch) == 32);

#undef PODRANK_ASSERT
#undef PODRANK_ASSERT_AT
#undef PODRANK_ASSERT_NAMED

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_STEER_H

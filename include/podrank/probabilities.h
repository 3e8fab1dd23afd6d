// podrank: how likely Kubernetes deletes each pod.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_PROBABILITIES_H
#define PODRANK_PROBABILITIES_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

// How likely a possible pod is deleted. Nobody outside the controller can know the order in which it lists pods. Over all
// lists, each pod is among the victims with a certain share, which depends on Kubernetes' comparator and on Go's sort.

// How likely a pod is deleted: in deleted of samples lists that were looked at.
typedef struct podrank_probability {
    // In how many lists the pod is deleted.
    uint32_t deleted;
    // Of how many, which is never 0. Pods can have different numbers here.
    uint32_t samples;
    // The standard error of deleted / samples in millionths, because the lists are a sample, or 0 if the probabilities are exact.
    uint32_t std_error_ppm;
} podrank_probability;

// `struct podrank_probability it = PODRANK_PROBABILITY_INIT;`
#define PODRANK_PROBABILITY_INIT \
    { 0, 0, 0 }

// Scratch memory of podrank_probabilities and podrank_kubernetes_sort for one pod. Its contents are private and need not be
// initialised.
typedef struct podrank_probability_scratch {
    // Private.
    uint64_t words[4];
} podrank_probability_scratch;

// `struct podrank_probability_scratch it = PODRANK_PROBABILITY_SCRATCH_INIT;`
#define PODRANK_PROBABILITY_SCRATCH_INIT \
    { { 0 } }

// Finds what podrank_predict finds, and how likely kube-controller-manager deletes each pod when it deletes k of them. A
// probability is the share of all lists of these pods in which its sort puts the pod among the first k.
//
// order, deleted_len and possible_len get what podrank_predict stores there. probabilities[i] is that of pods[i]: 1 of 1 if it
// is deleted in every list order, 0 of 1 if in none. The others are exact in two cases: all possible pods relate alike to
// every other pod; or there are at most 12 pods, of which at most 7 are possible. Otherwise they are estimated from
// pseudo-random list orders, the same in every call and release. samples is their number; 0 means 4096, with which the
// standard error is at most 0.8 percentage points. A possible pod that is deleted in none or in all of them is possible all
// the same. All probabilities add up to k, or to pods_len if that is less. The same pods have the
// same probabilities in any list and on any machine, if their UIDs are distinct.
//
// The probabilities hold for one sync, as what podrank_predict finds does, and as long as nothing is known of the list: a
// controller that deletes the same pods twice starts from similar lists.
//
// If order_len, probabilities_len or scratch_len is below pods_len: PODRANK_ERR_SHORT_BUFFER.
// The time grows with n log n, for n pods. If there are possible pods whose probabilities are not exact, it takes samples times as long:
// with 4096, on a fast machine, less than a quarter of a second for 1000 pods, and more than a second for 20,000.
PODRANK_NODISCARD
int32_t podrank_probabilities(const struct podrank_pod *pods,
                              size_t pods_len,
                              const struct podrank_options *options,
                              size_t k,
                              uint16_t samples,
                              uint32_t *order,
                              size_t order_len,
                              struct podrank_probability *probabilities,
                              size_t probabilities_len,
                              struct podrank_probability_scratch *scratch,
                              size_t scratch_len,
                              size_t *deleted_len,
                              size_t *possible_len);

// Sorts a list of pods as kube-controller-manager does. It uses that controller's comparator, which podrank_kubernetes_compare
// asks, and Go's sort. Because the comparator can contradict itself, the result depends on the order of the list, and on how Go sorts.
//
// list has indices in pods, in the order in which the controller lists them, which nobody outside the controller can know. An
// index that is not below pods_len stays in the list, at no particular place. The records do not move. If scratch_len is below
// list_len: PODRANK_ERR_SHORT_BUFFER.
// The time grows with n log n, for n elements of the list.
PODRANK_NODISCARD
int32_t podrank_kubernetes_sort(const struct podrank_pod *pods,
                                size_t pods_len,
                                const struct podrank_options *options,
                                uint32_t *list,
                                size_t list_len,
                                struct podrank_probability_scratch *scratch,
                                size_t scratch_len);

// The sizes, as the library has them. No struct has padding, so with the right size each member is in its place. If one of these does not
// hold, it declares an array of negative size, which no C or C++ compiler accepts.
#define PODRANK_ASSERT_NAMED(line, condition) extern char podrank_layout_differs_in_probabilities_##line[(condition) ? 1 : -1]
#define PODRANK_ASSERT_AT(line, condition) PODRANK_ASSERT_NAMED(line, condition)
#define PODRANK_ASSERT(condition) PODRANK_ASSERT_AT(__LINE__, condition)

PODRANK_ASSERT(sizeof(podrank_probability) == 12);
PODRANK_ASSERT(sizeof(podrank_probability_scratch) == 32);

#undef PODRANK_ASSERT
#undef PODRANK_ASSERT_AT
#undef PODRANK_ASSERT_NAMED

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_PROBABILITIES_H

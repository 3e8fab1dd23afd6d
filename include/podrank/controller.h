// podrank: the other decisions of a ReplicaSet controller, for a controller of your own.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_CONTROLLER_H
#define PODRANK_CONTROLLER_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

// podrank_plan says how many pods to create or delete. podrank_slow_start_begin and _report say in which batches to
// create them; deletions need no batches. podrank_expectations_expect_ and podrank_..._observed record requested
// changes that have not been observed yet, so that nothing is requested twice. podrank_availability counts ready and
// available pods. You can use each without the others; where one takes the result of another, it says so.
//
// One sync, without the checks of statuses. examples-c/agent.c has it in full. victims, keys and key_storage have burst_replicas elements:
//
//     podrank_expectations_satisfied(&expectations, now, &satisfied);          may it act?
//     now list the pods, and not before: see PODRANK_PLAN_SATISFIED            count them in state.active
//     podrank_plan(&state, &creations, &deletions);                            how many, with that in state.flags?
//     if (creations > 0)
//         podrank_expectations_expect_creations(&expectations, creations, now);    then create, in a slow start
//     if (deletions > 0) {
//         podrank_count_ranks(pods, pods_len, others, others_len, counts, counts_len);      if nodes matter
//         podrank_select(pods, pods_len, &options, victims, deletions, ...);       which to delete?
//         podrank_expectations_expect_deletions(&expectations, key_storage, key_storage_len, keys, selected, now);    then delete them
//     }
//
// and as you observe that pods have come or gone, podrank_expectations_creations_observed and _deletion_observed.
//
// Sync a set when it changes; when one of its pods, or a pod that it could adopt, changes; some time after a request
// has failed; once as many nanoseconds have passed as podrank_availability stored in *next_check_after; and as soon as more
// than PODRANK_EXPECTATIONS_TIMEOUT has passed since expectations were set.

// The most pods that kube-controller-manager creates or deletes in one sync.
#define PODRANK_PLAN_BURST_REPLICAS 500u

// How long a set waits at most for what it expects to be observed, in nanoseconds: 5 minutes.
#define PODRANK_EXPECTATIONS_TIMEOUT 300000000000

// What podrank_plan reads of a set. Start from PODRANK_PLAN_STATE_INIT, which has the burst of Kubernetes and is not
// satisfied.
typedef struct podrank_plan_state {
    // How many pods the set should have: spec.replicas.
    uint32_t desired;
    // How many active pods it has: those that are neither Succeeded nor Failed and have no metadata.deletionTimestamp.
    uint32_t active;
    // The most pods that one sync creates or deletes.
    uint32_t burst_replicas;
    // Any of PODRANK_PLAN_SATISFIED and _BEING_DELETED.
    uint32_t flags;
} podrank_plan_state;

// `struct podrank_plan_state it = PODRANK_PLAN_STATE_INIT;`
#define PODRANK_PLAN_STATE_INIT \
    { 0, 0, PODRANK_PLAN_BURST_REPLICAS, 0 }

// podrank_expectations_satisfied said so, before you listed the pods. A list from before that call could lack changes that
// have been observed.
#define PODRANK_PLAN_SATISFIED 1u

// The set is being deleted: it has a metadata.deletionTimestamp.
#define PODRANK_PLAN_BEING_DELETED 2u

// The state of a slow start, in which you create pods in batches of 1, 2, 4 and so on, until a creation in a
// batch fails. Only podrank_slow_start_begin and _report may write it. You may read it.
typedef struct podrank_slow_start {
    // How many pods to create next, in parallel if you like. 0 at the end.
    uint32_t batch;
    // How many pods have not been created so far, because they failed or were not tried. At the end, report
    // this number to podrank_expectations_creations_observed, because no one will observe those pods.
    uint32_t missing;
} podrank_slow_start;

// `struct podrank_slow_start it = PODRANK_SLOW_START_INIT;`
#define PODRANK_SLOW_START_INIT \
    { 0, 0 }

// What one set expects to observe. Start from PODRANK_EXPECTATIONS_INIT, all zeros, which expects nothing,
// and reset it to that when the set is gone. If events and syncs run on different threads, protect all calls
// with a lock.
typedef struct podrank_expectations {
    // When expectations were set, in nanoseconds.
    int64_t since;
    // How many creations are pending. Negative if more were observed than expected.
    int64_t creations;
    // How many deletions are pending. Negative if more were observed than expected.
    int64_t deletions;
    // How many keys are now in key_storage, the buffer of podrank_expectations_expect_deletions.
    uint32_t keys;
    // 0 if no expectations are set.
    uint32_t is_set;
} podrank_expectations;

// `struct podrank_expectations it = PODRANK_EXPECTATIONS_INIT;`
#define PODRANK_EXPECTATIONS_INIT \
    { 0, 0, 0, 0, 0 }

// Identifies a pod of a set while it is being deleted: 16 bytes of your choice, such as the pod's UID.
// Kubernetes uses namespace and name.
typedef struct podrank_pod_key {
    // The bytes.
    uint8_t bytes[16];
} podrank_pod_key;

// `struct podrank_pod_key it = PODRANK_POD_KEY_INIT;`
#define PODRANK_POD_KEY_INIT \
    { { 0 } }

// Plans one sync of a set: how many pods to create (the shortfall) or to delete (the surplus), at most
// burst_replicas of them. The next sync does the rest. Writes the numbers to creations and deletions, of which at least one
// is 0. Both are 0 unless the set is satisfied, and if it is being deleted.
//
// If the flags have a bit that is unknown: PODRANK_ERR_FLAGS.
PODRANK_NODISCARD
int32_t podrank_plan(const struct podrank_plan_state *state,
                     uint32_t *creations,
                     uint32_t *deletions);

// Begins a slow start for count pods: writes its state, with the size of the first batch, to start. You
// create the pods:
//
//     podrank_expectations_expect_creations(&expectations, count, now);
//     podrank_slow_start_begin(count, &start);
//     while (start.batch > 0)
//         podrank_slow_start_report(&start, count_of_failures_when_creating(start.batch));
//     podrank_expectations_creations_observed(&expectations, start.missing);
PODRANK_NODISCARD
int32_t podrank_slow_start_begin(uint32_t count, struct podrank_slow_start *start);

// Reports how many pods of the batch could not be created. A number above the batch counts as the whole
// batch. A batch with a failure is the last. If a creation is rejected because the namespace is being
// terminated, that is not a failure, and the creation stays pending.
PODRANK_NODISCARD
int32_t podrank_slow_start_report(struct podrank_slow_start *start, uint32_t failures);

// Expects count creations and no deletion. Call it before you create pods. It replaces all earlier
// expectations, so the number of pending deletions becomes 0. As in Kubernetes, however, their keys are not
// removed: if you report one of them later, the number falls below zero, which counts as satisfied.
//
// now is in nanoseconds. Only differences count, so any monotonic clock works, if all calls use the same
// one. With PODRANK_TIME_UNSET there is no timeout.
PODRANK_NODISCARD
int32_t podrank_expectations_expect_creations(struct podrank_expectations *expectations,
                                              uint32_t count,
                                              int64_t now);

// Expects the deletion of the pods with these keys and no creation. Call it before you delete pods. It
// replaces all earlier expectations. A duplicate key counts once. Each key is compared with those before it,
// so the time grows with the square of keys_len. For the parameter now, see podrank_expectations_expect_creations.
//
// key_storage is your buffer for the keys. Pass the same one in every call for a set. Only podrank_expectations_expect_deletions
// and podrank_expectations_deletion_observed may write it. It needs one element per pod that a plan may delete, and need
// not be initialised. If keys_len is above key_storage_len: PODRANK_ERR_KEYS_FULL.
PODRANK_NODISCARD
int32_t podrank_expectations_expect_deletions(struct podrank_expectations *expectations,
                                              struct podrank_pod_key *key_storage,
                                              size_t key_storage_len,
                                              const struct podrank_pod_key *keys,
                                              size_t keys_len,
                                              int64_t now);

// Records count creations as observed. Does nothing if no expectations are set.
//
// Report 1 when you first observe a pod that this set controls. After a slow start, also report
// podrank_slow_start.missing, the number of pods that were not created: you will never observe them. Do not
// report a pod twice, nor one that the set adopts. A pod that is already being deleted when you first
// observe it is a deletion, not a creation. The number of pending creations may go below zero.
PODRANK_NODISCARD
int32_t podrank_expectations_creations_observed(struct podrank_expectations *expectations, uint32_t count);

// Counts the deletion of the pod with this key as observed. Stores 1 in *counted if it was pending. If not,
// stores 0, and nothing else changes, so you may report a deletion as often as you observe it.
//
// Report a pod that is being deleted, is gone or could not be deleted, even if another set controls it by
// now.
// The time grows with the number of pending keys.
PODRANK_NODISCARD
int32_t podrank_expectations_deletion_observed(struct podrank_expectations *expectations,
                                               struct podrank_pod_key *key_storage,
                                               size_t key_storage_len,
                                               const struct podrank_pod_key *key,
                                               int32_t *counted);

// Stores in *satisfied whether the set may act. It is 1 if no expectations are set, if nothing is pending, or if they were
// set more than PODRANK_EXPECTATIONS_TIMEOUT nanoseconds before now, which is of the clock by which they were set.
// Otherwise it is 0. Check again after that time, because an event can be lost.
PODRANK_NODISCARD
int32_t podrank_expectations_satisfied(const struct podrank_expectations *expectations,
                                       int64_t now,
                                       int32_t *satisfied);

// Counts the ready and the available pods. A pod is available if it has been ready for at least
// min_ready_seconds (spec.minReadySeconds) at now, which is in nanoseconds of the clock of the pods' times. If
// min_ready_seconds is 0, every ready pod is available. Otherwise, a pod without a ready time is not
// available. Nor is any pod if the argument now is PODRANK_TIME_UNSET.
//
// Stores in *next_check_after the number of nanoseconds until the next pod becomes available if it stays ready, or
// 0 if there is no pod to wait for. Round it up to your timer's unit.
// The time grows with pods_len.
PODRANK_NODISCARD
int32_t podrank_availability(const struct podrank_pod *pods,
                             size_t pods_len,
                             uint32_t min_ready_seconds,
                             int64_t now,
                             size_t *ready,
                             size_t *available,
                             uint64_t *next_check_after);

// The sizes, as the library has them. No struct has padding, so with the right size each member is in its place. If one of these does not
// hold, it declares an array of negative size, which no C or C++ compiler accepts.
#define PODRANK_ASSERT_NAMED(line, condition) extern char podrank_layout_differs_in_controller_##line[(condition) ? 1 : -1]
#define PODRANK_ASSERT_AT(line, condition) PODRANK_ASSERT_NAMED(line, condition)
#define PODRANK_ASSERT(condition) PODRANK_ASSERT_AT(__LINE__, condition)

PODRANK_ASSERT(sizeof(podrank_plan_state) == 16);
PODRANK_ASSERT(sizeof(podrank_slow_start) == 8);
PODRANK_ASSERT(sizeof(podrank_expectations) == 32);
PODRANK_ASSERT(sizeof(podrank_pod_key) == 16);

#undef PODRANK_ASSERT
#undef PODRANK_ASSERT_AT
#undef PODRANK_ASSERT_NAMED

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_CONTROLLER_H

// podrank: which pods the next sync of a Deployment, StatefulSet, DaemonSet or Job deletes, and why.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_PREDICT_H
#define PODRANK_PREDICT_H

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

// What is written in place of the index of a pod, a node or a ReplicaSet if there is none.
#define PODRANK_NONE UINT32_MAX

// The pod stays.
#define PODRANK_VERDICT_KEEP 0u

// The pod certainly goes.
#define PODRANK_VERDICT_DELETE 1u

// The pod goes or stays by chance.
#define PODRANK_VERDICT_CONTESTED 2u

// The pod would go, but waits.
#define PODRANK_VERDICT_BLOCKED 3u

// What a sync does to one pod.
typedef struct podrank_outcome {
    // If the pod is contested, the index of one pod of its group. It is the same for all pods of the group. Otherwise 0.
    uint32_t group;
    // If the pod is contested, how many pods of its group go: at least 1, and fewer than there are. Otherwise 0.
    uint32_t quota;
    // Whether the pod goes: PODRANK_VERDICT_..., which keeps its number for ever.
    uint8_t verdict;
    // Why: PODRANK_JOB_REASON_... or PODRANK_DAEMON_SET_REASON_..., which keeps its number for ever.
    uint8_t reason;
    // Zero.
    uint8_t reserved[2];
} podrank_outcome;

// `struct podrank_outcome it = PODRANK_OUTCOME_INIT;`
#define PODRANK_OUTCOME_INIT \
    { 0, 0, 0, 0, { 0 } }

// ---------------------------------------------------------------------------------------------------------------------
// DEPLOYMENTS. A Deployment changes the sizes of its ReplicaSets, and each ReplicaSet creates and deletes its own pods.
// podrank_deployment_next predicts the sizes that the next sync of the Deployment writes, and says why.
// podrank_percent_parse and podrank_replica_set_annotations read texts for it. Below, the size of a set is its
// spec.replicas; the count is spec.replicas of the Deployment; the new set is the one with the pod template of the
// Deployment or, if several have it, the oldest of them; every other set is old; a set is active if its size is above 0;
// the budgets are maxSurge and maxUnavailable as numbers of pods.

// The largest percentage that is accepted.
#define PODRANK_PERCENT_MAX 4194304u

// What podrank_deployment_next reads from a Deployment. Start from all zeros. No number may be negative.
typedef struct podrank_deployment {
    // spec.replicas: the count.
    int32_t replicas;
    // status.replicas.
    int32_t status_replicas;
    // spec.strategy.rollingUpdate.maxSurge: a number of pods, or a percentage if PODRANK_DEPLOYMENT_SURGE_PERCENT
    // is set. Not used with PODRANK_DEPLOYMENT_RECREATE.
    int32_t max_surge;
    // spec.strategy.rollingUpdate.maxUnavailable: a number of pods, or a percentage if
    // PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT is set. Not used with PODRANK_DEPLOYMENT_RECREATE.
    int32_t max_unavailable;
    // Any of PODRANK_DEPLOYMENT_...
    uint32_t flags;
    // Zero.
    uint8_t reserved[12];
} podrank_deployment;

// `struct podrank_deployment it = PODRANK_DEPLOYMENT_INIT;`
#define PODRANK_DEPLOYMENT_INIT \
    { 0, 0, 0, 0, 0, { 0 } }

// spec.paused is true.
#define PODRANK_DEPLOYMENT_PAUSED 1u

// The Deployment has a metadata.deletionTimestamp.
#define PODRANK_DEPLOYMENT_BEING_DELETED 2u

// The annotation deprecated.deployment.rollback.to is a 64-bit integer, which asks for a rollback.
#define PODRANK_DEPLOYMENT_ROLLING_BACK 4u

// spec.strategy.type is Recreate, not RollingUpdate.
#define PODRANK_DEPLOYMENT_RECREATE 8u

// max_surge is a percentage, up to PODRANK_PERCENT_MAX.
#define PODRANK_DEPLOYMENT_SURGE_PERCENT 16u

// max_unavailable is a percentage, up to PODRANK_PERCENT_MAX.
#define PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT 32u

// Some pod of an old set is neither Succeeded nor Failed. Read only with PODRANK_DEPLOYMENT_RECREATE.
#define PODRANK_DEPLOYMENT_OLD_PODS_RUN 64u

// What podrank_deployment_next reads from one ReplicaSet. Start from PODRANK_REPLICA_SET_INIT.
typedef struct podrank_replica_set {
    // metadata.creationTimestamp, as in podrank_pod. A set without one counts as the oldest.
    int64_t creation_time;
    // The position of metadata.name among the names of all sets, sorted by their bytes: the smaller name has the
    // smaller number. It decides between sets with equal creation times. If it is equal, too, the index decides.
    uint32_t name_order;
    // spec.replicas: the set's size.
    int32_t replicas;
    // status.replicas.
    int32_t status_replicas;
    // status.availableReplicas.
    int32_t available_replicas;
    // The number in the annotation deployment.kubernetes.io/desired-replicas. podrank_replica_set_annotations
    // writes it and its flags.
    int32_t desired_replicas;
    // The number in the annotation deployment.kubernetes.io/max-replicas. podrank_replica_set_annotations writes
    // it and its flag.
    int32_t max_replicas;
    // Any of PODRANK_REPLICA_SET_...
    uint8_t flags;
    // Zero.
    uint8_t reserved[15];
} podrank_replica_set;

// `struct podrank_replica_set it = PODRANK_REPLICA_SET_INIT;`
#define PODRANK_REPLICA_SET_INIT \
    { PODRANK_TIME_UNSET, 0, 0, 0, 0, 0, 0, 0, { 0 } }

// The set's pod template equals the Deployment's, apart from the label pod-template-hash. Kubernetes compares
// templates semantically: nil equals empty, and 1000m equals 1. The oldest set with this flag is the new set, and
// all others are old.
#define PODRANK_REPLICA_SET_CURRENT_TEMPLATE 1u

// The annotation deployment.kubernetes.io/desired-replicas is valid: only digits, and at most 2147483647.
#define PODRANK_REPLICA_SET_DESIRED 2u

// That annotation is not valid, but it is a 64-bit integer, with or without a sign. desired_replicas is its low
// 32 bits.
#define PODRANK_REPLICA_SET_DESIRED_LENIENT 4u

// The annotation deployment.kubernetes.io/max-replicas is valid: only digits, and at most 2147483647.
#define PODRANK_REPLICA_SET_MAX 8u

// What a sync does to one ReplicaSet.
typedef struct podrank_replica_set_change {
    // The size that the set gets: its new spec.replicas.
    int32_t replicas;
    // The part of the change in size that was decided first, negative if the set shrinks. With
    // PODRANK_DEPLOYMENT_REASON_SHARE_AND_LEFTOVER, it is the share, and the rest is the leftover. With
    // PODRANK_DEPLOYMENT_REASON_UNHEALTHY_AND_AVAILABLE, it is the pods that are not available. With any other reason, it is
    // the whole change.
    int32_t part;
    // Why the set gets this size: PODRANK_DEPLOYMENT_REASON_..., which keeps its number for ever.
    uint8_t reason;
    // 1 if the sync also writes the set's annotations: the Deployment's count to desired-replicas, and the count plus
    // podrank_deployment_step.surge to max-replicas. It does so whenever it changes the size or creates the set, and when it
    // scales in proportion even if the size stays. If the size stays and this is 0, the sync writes nothing that a sync reads.
    uint8_t annotates;
    // Zero.
    uint8_t reserved[6];
} podrank_replica_set_change;

// `struct podrank_replica_set_change it = PODRANK_REPLICA_SET_CHANGE_INIT;`
#define PODRANK_REPLICA_SET_CHANGE_INIT \
    { 0, 0, 0, 0, { 0 } }

// What a sync does, apart from the changes to the sets that exist.
typedef struct podrank_deployment_step {
    // How many pods there may be above the count. A percentage is rounded up. 0 with Recreate.
    int32_t surge;
    // How many of the Deployment's pods may be unavailable. A percentage is rounded down. At most the count, and 0 with
    // Recreate. A rollout could never start if both budgets were 0, so with RollingUpdate this one is then 1, unless the
    // count is 0.
    int32_t unavailable;
    // The index of the new set, or PODRANK_NONE if it does not exist yet.
    uint32_t new_set;
    // What kind of sync it is: PODRANK_DEPLOYMENT_PATH_..., which keeps its number for ever.
    uint8_t path;
    // 1 if the sync creates the new set, with size new_change.replicas, which can be 0. Otherwise 0.
    uint8_t creates;
    // 1 if another step follows at once: the next sync, too, changes a size, an annotation that records one, or creates
    // the new set, although nothing changes but what this sync leads to. Otherwise 0.
    //
    // This sync leads to the following. The ReplicaSet controllers create and delete pods until each set has as many as
    // its size, and the statuses follow. A set that shrinks loses pods that are not available first. Pods that are
    // created do not become available, and with Recreate, pods that are deleted still run. What only the Deployment's
    // status records does not count.
    //
    // If it is 0, this sync is the last one, or the Deployment waits. The sync is the last one, whatever the statuses
    // become, if it leaves every old set at 0 and the new set, which exists by then, at the count. Otherwise, a
    // RollingUpdate waits until more pods of the new set are available, and Recreate until no pod of an old set runs. A
    // Deployment that is paused, or whose annotations still record another count, only scales.
    //
    // The prediction has limits:
    //
    // - If minReadySeconds is not 0, deletion costs and ranks can make a set lose an available pod before one that is
    //   ready but not yet available.
    // - If the controller syncs before it sees all new statuses, it can change more sizes than this says.
    // - Deleting a pod without a node ends it at once, so the next sync of a Recreate may follow at once, too.
    // - After a rollback it is 1: the sync changes the template, and another set may become the new one.
    // - If a size is rejected (PODRANK_DEPLOYMENT_REASON_REJECTED) it is 1: the controller tries again.
    uint8_t goes_on;
    // Zero.
    uint8_t reserved;
    // What happens to the new set. If it does not exist yet, this is the size with which it is created, or why it
    // is not created.
    struct podrank_replica_set_change new_change;
} podrank_deployment_step;

// `struct podrank_deployment_step it = PODRANK_DEPLOYMENT_STEP_INIT;`
#define PODRANK_DEPLOYMENT_STEP_INIT \
    { 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, { 0 } } }

// The Deployment is being deleted, so no set changes.
#define PODRANK_DEPLOYMENT_PATH_NOTHING 0u

// The sync scales the sets that exist, because the Deployment is paused or its count changed.
#define PODRANK_DEPLOYMENT_PATH_SCALE 10u

// The sync replaces old pods with new ones, within the budgets.
#define PODRANK_DEPLOYMENT_PATH_ROLL 20u

// The sync deletes all old pods, and only then creates new ones.
#define PODRANK_DEPLOYMENT_PATH_RECREATE 30u

// The sync changes the Deployment's template, as its rollback annotation demands. No set changes, but the new set is
// created if it does not exist yet.
#define PODRANK_DEPLOYMENT_PATH_ROLLBACK 40u

// The sync does not consider the set. This is the reason of every set if the path is PODRANK_DEPLOYMENT_PATH_NOTHING or
// PODRANK_DEPLOYMENT_PATH_ROLLBACK. On the other paths, it is the reason of a set of size 0 about which there is nothing to decide.
// "Scale", "Roll" and "Recreate" at the start of the other reasons name the path on which they occur.
#define PODRANK_DEPLOYMENT_REASON_UNTOUCHED 1u

// Scale: the set gets the whole count, because it is the only active one. If no set is active, the new set gets
// it, or the newest set if the new set does not exist yet.
#define PODRANK_DEPLOYMENT_REASON_ONLY_ACTIVE 4u

// Scale: the new set already has the whole count, all available. So it keeps its size, and old sets get 0.
#define PODRANK_DEPLOYMENT_REASON_SATURATED 7u

// Scale: the set gets its proportional share.
#define PODRANK_DEPLOYMENT_REASON_SHARE 10u

// Scale: the set's proportional share is more than what is left to add or remove, so it gets only that.
#define PODRANK_DEPLOYMENT_REASON_CUT_SHARE 11u

// Scale: the set is the largest. Besides its proportional share, it gets the remainder that no set's share
// covers.
#define PODRANK_DEPLOYMENT_REASON_SHARE_AND_LEFTOVER 12u

// Scale: the set keeps its size, because nothing is left to add or remove.
#define PODRANK_DEPLOYMENT_REASON_USED_UP 13u

// Scale: the set keeps its size, because its share cannot be computed: its annotation max-replicas is missing,
// invalid or 0, and the Deployment's status.replicas is 0.
#define PODRANK_DEPLOYMENT_REASON_NO_SHARE 14u

// Scale: the set keeps its size, because several sets are active and the strategy is Recreate.
#define PODRANK_DEPLOYMENT_REASON_NOT_ROLLING 15u

// The new set already has the count.
#define PODRANK_DEPLOYMENT_REASON_AT_COUNT 18u

// The new set gets the count as its size, because its size is above the count, or because the strategy is
// Recreate and no old pod is left.
#define PODRANK_DEPLOYMENT_REASON_TO_COUNT 19u

// Roll: the new set grows as far as the count and the surge allow.
#define PODRANK_DEPLOYMENT_REASON_GROWS 20u

// Roll: the new set cannot grow, because there are already as many pods as the count and the surge allow.
#define PODRANK_DEPLOYMENT_REASON_NO_SURGE 21u

// Roll: the old set keeps its size in this sync, because the new set changes first.
#define PODRANK_DEPLOYMENT_REASON_AFTER_NEW_SET 24u

// Roll: the old set shrinks by pods that are not available.
#define PODRANK_DEPLOYMENT_REASON_UNHEALTHY 25u

// Roll: the old set shrinks as far as it can while enough pods stay available.
#define PODRANK_DEPLOYMENT_REASON_AVAILABLE 26u

// Roll: the old set shrinks by pods that are not available, and then as far as it can while enough pods stay
// available.
#define PODRANK_DEPLOYMENT_REASON_UNHEALTHY_AND_AVAILABLE 27u

// Roll: the old set keeps its size, so that enough pods are available.
#define PODRANK_DEPLOYMENT_REASON_HELD_BACK 28u

// Recreate: the old set gets 0.
#define PODRANK_DEPLOYMENT_REASON_RECREATED 31u

// Recreate: the new set waits until no pod of an old set is left.
#define PODRANK_DEPLOYMENT_REASON_WAITS 32u

// The size overflowed 32 bits and is below 0. The API server rejects it, so the set does not change, and the sync
// ends.
#define PODRANK_DEPLOYMENT_REASON_REJECTED 35u

// Roll: the old set has more available pods than its size, because its status lags behind. The sync ends.
#define PODRANK_DEPLOYMENT_REASON_LAGS 36u

// The sync ended before it reached the set.
#define PODRANK_DEPLOYMENT_REASON_NOT_REACHED 37u

// Reads a maxSurge or maxUnavailable that is a text, such as "25%": one or more digits and '%'. Writes the number
// to percent, which is at most PODRANK_PERCENT_MAX. The text "3" is PODRANK_ERR_PERCENT_SIGN, as in Kubernetes,
// because a number of pods must be an integer, not a text.
int32_t podrank_percent_parse(const char *text,
                              size_t text_len,
                              uint32_t *percent);

// Reads the texts of a ReplicaSet's annotations deployment.kubernetes.io/desired-replicas and
// deployment.kubernetes.io/max-replicas as Kubernetes does. Pass length 0 for a missing annotation. A text that
// Kubernetes does not accept counts as missing and is not an error.
//
// Writes set->desired_replicas and set->max_replicas, and sets or clears PODRANK_REPLICA_SET_DESIRED,
// PODRANK_REPLICA_SET_DESIRED_LENIENT and PODRANK_REPLICA_SET_MAX in set->flags. Nothing else in set changes, so initialise it
// first.
int32_t podrank_replica_set_annotations(const char *desired,
                                        size_t desired_len,
                                        const char *max,
                                        size_t max_len,
                                        struct podrank_replica_set *set);

// Predicts the next sync of a Deployment, as in Kubernetes 1.37. Writes to changes, at the index of each
// set, the size that the set gets and why. Stores in *step what else the sync does. Kubernetes' Deployment
// controller never touches a pod: podrank_settle predicts which pods a set then deletes.
//
// sets are the ReplicaSets that the Deployment owns and its selector matches, in any order, including those of
// size 0. If changes_len is below sets_len: PODRANK_ERR_SHORT_BUFFER. The prediction relies on the sizes and statuses that you
// pass. If Kubernetes has newer ones by then, it may decide differently. The time grows with sets_len times the
// number of active sets.
//
// If a number of replicas or a budget is negative: PODRANK_ERR_NEGATIVE. (With PODRANK_REPLICA_SET_DESIRED_LENIENT,
// desired_replicas may be.) If a percentage is above PODRANK_PERCENT_MAX: PODRANK_ERR_PERCENT_RANGE. If
// deployment or a set has an unknown flag or a reserved byte that is not zero: PODRANK_ERR_FLAGS or
// PODRANK_ERR_RESERVED.
int32_t podrank_deployment_next(const struct podrank_deployment *deployment,
                                const struct podrank_replica_set *sets,
                                size_t sets_len,
                                struct podrank_replica_set_change *changes,
                                size_t changes_len,
                                struct podrank_deployment_step *step);

// Returns the name of a reason, such as "share-and-leftover", or NULL for any other number. The text is static:
// do not free it.
const char *podrank_deployment_reason_str(uint8_t reason);

// ---------------------------------------------------------------------------------------------------------------------
// STATEFULSETS, like DaemonSets and Jobs, delete pods themselves. The predictions say which pods the next sync deletes: those
// that certainly go, and contested ones, among which list order or chance decides. How many of the contested pods go is
// unknown for a StatefulSet, and known for the others.

// What podrank_stateful_set_next reads from a StatefulSet. Start from all zeros. No number may be negative.
typedef struct podrank_stateful_set {
    // spec.replicas.
    int32_t replicas;
    // spec.ordinals.start: the first ordinal of the range, which ends at start + replicas - 1.
    int32_t start;
    // spec.updateStrategy.rollingUpdate.partition: pods whose ordinal minus start is below it are not updated. Not used
    // with PODRANK_STATEFUL_SET_ON_DELETE and PODRANK_STATEFUL_SET_RECREATE.
    int32_t partition;
    // spec.updateStrategy.rollingUpdate.maxUnavailable: a number of pods, or a percentage if
    // PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT is set. 0 counts as 1. Not used with PODRANK_STATEFUL_SET_ON_DELETE,
    // PODRANK_STATEFUL_SET_RECREATE and PODRANK_STATEFUL_SET_NO_MAX_UNAVAILABLE.
    int32_t max_unavailable;
    // Any of PODRANK_STATEFUL_SET_...
    uint32_t flags;
    // Zero.
    uint8_t reserved[12];
} podrank_stateful_set;

// `struct podrank_stateful_set it = PODRANK_STATEFUL_SET_INIT;`
#define PODRANK_STATEFUL_SET_INIT \
    { 0, 0, 0, 0, 0, { 0 } }

// spec.podManagementPolicy is Parallel, not OrderedReady.
#define PODRANK_STATEFUL_SET_PARALLEL 1u

// The StatefulSet has a metadata.deletionTimestamp.
#define PODRANK_STATEFUL_SET_BEING_DELETED 2u

// spec.updateStrategy.type is OnDelete, not RollingUpdate.
#define PODRANK_STATEFUL_SET_ON_DELETE 4u

// spec.updateStrategy.type is Recreate, not RollingUpdate.
#define PODRANK_STATEFUL_SET_RECREATE 8u

// max_unavailable is a percentage, up to PODRANK_PERCENT_MAX.
#define PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT 16u

// Set this if Kubernetes' feature gate MaxUnavailableStatefulSet is off. By default, it is on since 1.37.
#define PODRANK_STATEFUL_SET_NO_MAX_UNAVAILABLE 32u

// Set this if Kubernetes' feature gate StatefulSetRecreateStrategy is on. By default, it is off in 1.37.
#define PODRANK_STATEFUL_SET_RECREATE_GATE 64u

// What podrank_stateful_set_next reads from one pod.
typedef struct podrank_stateful_set_pod {
    // The ordinal in its name: podrank_stateful_set_ordinal.
    int32_t ordinal;
    // Any of PODRANK_STATEFUL_SET_POD_...
    uint8_t flags;
    // Zero.
    uint8_t reserved[3];
} podrank_stateful_set_pod;

// `struct podrank_stateful_set_pod it = PODRANK_STATEFUL_SET_POD_INIT;`
#define PODRANK_STATEFUL_SET_POD_INIT \
    { 0, 0, { 0 } }

// status.phase is Running. Ignored if PODRANK_STATEFUL_SET_POD_FINISHED is set.
#define PODRANK_STATEFUL_SET_POD_RUNNING 1u

// status.phase is Succeeded or Failed.
#define PODRANK_STATEFUL_SET_POD_FINISHED 2u

// The condition Ready is True.
#define PODRANK_STATEFUL_SET_POD_READY 4u

// The condition Ready is True, and has been for spec.minReadySeconds of the StatefulSet.
#define PODRANK_STATEFUL_SET_POD_AVAILABLE 8u

// The pod has a metadata.deletionTimestamp.
#define PODRANK_STATEFUL_SET_POD_TERMINATING 16u

// The label controller-revision-hash is the StatefulSet's status.updateRevision. A pod without this flag is old.
#define PODRANK_STATEFUL_SET_POD_UPDATED 32u

// What a sync does with one pod.
typedef struct podrank_stateful_set_outcome {
    // The index of the pod in members.
    uint32_t member;
    // The index of the pod that reason refers to, or PODRANK_NONE.
    uint32_t by;
    // The ordinal of that pod. If reason is PODRANK_STATEFUL_SET_REASON_WAITS_FOR_MISSING, or if it is PODRANK_STATEFUL_SET_REASON_BUDGET and by
    // is PODRANK_NONE, this is the ordinal that has no pod. 0 if reason refers neither to a pod nor to an ordinal.
    int32_t by_ordinal;
    // What happens to the pod at index member: PODRANK_VERDICT_..., which keeps its number for ever.
    uint8_t verdict;
    // Why: PODRANK_STATEFUL_SET_REASON_..., which keeps its number for ever.
    uint8_t reason;
    // Zero.
    uint8_t reserved[2];
} podrank_stateful_set_outcome;

// `struct podrank_stateful_set_outcome it = PODRANK_STATEFUL_SET_OUTCOME_INIT;`
#define PODRANK_STATEFUL_SET_OUTCOME_INIT \
    { 0, 0, 0, 0, 0, { 0 } }

// What a sync does in all.
typedef struct podrank_stateful_set_step {
    // How many pods certainly go.
    uint32_t deleted;
    // How many pods are contested. Any number of them may go.
    uint32_t contested;
    // How many pods would go, but wait.
    uint32_t blocked;
    // Zero.
    uint32_t reserved;
} podrank_stateful_set_step;

// `struct podrank_stateful_set_step it = PODRANK_STATEFUL_SET_STEP_INIT;`
#define PODRANK_STATEFUL_SET_STEP_INIT \
    { 0, 0, 0, 0 }

// Keep: the ordinal is in the range, and the pod is neither finished nor old. (In the reasons that follow, by and
// by_ordinal are those of podrank_stateful_set_outcome.)
#define PODRANK_STATEFUL_SET_REASON_IN_RANGE 61u

// Keep: the pod is already being deleted.
#define PODRANK_STATEFUL_SET_REASON_TERMINATING 62u

// Keep: the set is being deleted, and does nothing.
#define PODRANK_STATEFUL_SET_REASON_SET_DELETED 63u

// Keep: the set's strategy is Recreate, whose feature gate is off, so every sync fails.
#define PODRANK_STATEFUL_SET_REASON_RECREATE_OFF 64u

// Never returned by podrank_stateful_set_next, which rejects a negative ordinal with PODRANK_ERR_NEGATIVE.
#define PODRANK_STATEFUL_SET_REASON_NO_ORDINAL 65u

// Keep: the pod is old, but its ordinal minus start is below the partition.
#define PODRANK_STATEFUL_SET_REASON_BELOW_PARTITION 66u

// Keep: the pod is old, but with the strategy OnDelete only a user replaces pods.
#define PODRANK_STATEFUL_SET_REASON_ON_DELETE 67u

// Delete: the ordinal is not in the range.
#define PODRANK_STATEFUL_SET_REASON_OUT_OF_RANGE 70u

// Delete: the pod is finished. Kubernetes deletes it and creates it anew.
#define PODRANK_STATEFUL_SET_REASON_FINISHED 71u

// Delete: the pod is old, and it is replaced.
#define PODRANK_STATEFUL_SET_REASON_OLD 72u

// Delete: the pod is old and unavailable, so replacing it takes nothing from the budget.
#define PODRANK_STATEFUL_SET_REASON_OLD_UNAVAILABLE 73u

// Contested: members[by] shares its ordinal with another pod of the set, and it is open which of the two
// Kubernetes sees. The outcome of this pod depends on that, even if its own ordinal is unique.
#define PODRANK_STATEFUL_SET_REASON_TWINS 76u

// Blocked: the ordinal by_ordinal is in the range and has no pod. It is created first.
#define PODRANK_STATEFUL_SET_REASON_WAITS_FOR_MISSING 79u

// Blocked: members[by] is finished. It is deleted and created anew first.
#define PODRANK_STATEFUL_SET_REASON_WAITS_FOR_FINISHED 80u

// Blocked: members[by] is being deleted.
#define PODRANK_STATEFUL_SET_REASON_WAITS_FOR_TERMINATION 81u

// Blocked: members[by] is not Running.
#define PODRANK_STATEFUL_SET_REASON_WAITS_FOR_RUNNING 82u

// Blocked: members[by] is not ready.
#define PODRANK_STATEFUL_SET_REASON_WAITS_FOR_READY 83u

// Blocked: members[by] has not been ready for minReadySeconds.
#define PODRANK_STATEFUL_SET_REASON_WAITS_FOR_AVAILABLE 84u

// Blocked: neither this pod, which is next, nor members[by], which has a lower ordinal, is available. This pod
// goes as soon as one of the two is available.
#define PODRANK_STATEFUL_SET_REASON_WAITS_FOR_EITHER 85u

// Blocked: members[by] goes first, because pods go one at a time.
#define PODRANK_STATEFUL_SET_REASON_ONE_AT_A_TIME 86u

// Blocked: members[by] has to go first, because scaling down comes before updating.
#define PODRANK_STATEFUL_SET_REASON_AFTER_SCALING 87u

// Blocked: max_unavailable is used up by pods that are missing, unavailable or deleted in this sync. One of them is
// members[by]. If by is PODRANK_NONE, it is the missing pod with the ordinal by_ordinal.
#define PODRANK_STATEFUL_SET_REASON_BUDGET 88u

// Blocked: with the strategy Recreate, members[by], which is old, has to go first.
#define PODRANK_STATEFUL_SET_REASON_AFTER_RECREATE 89u

// Writes the ordinal in a pod's name to ordinal, or -1 if the pod is no member of the StatefulSet called set: its name
// must be the set's, a hyphen and one or more digits, which are at most 2147483647. As in Kubernetes, leading zeros are
// accepted, so "web-1" and "web-01" have the same ordinal.
int32_t podrank_stateful_set_ordinal(const char *set,
                                     size_t set_len,
                                     const char *pod,
                                     size_t pod_len,
                                     int32_t *ordinal);

// Predicts the next sync of a StatefulSet, as in Kubernetes 1.37. Writes an outcome for each pod to outcomes, the highest
// ordinal first, and the totals to step. With OrderedReady, one pod goes at a time, and only while the others are
// available, so a single broken pod keeps a StatefulSet from being scaled down: the outcome names it.
//
// members are the pods that the StatefulSet owns and its selector matches, in any order, including those that are finished
// or being deleted, but only those with an ordinal. If outcomes_len is below members_len: PODRANK_ERR_SHORT_BUFFER. The prediction relies
// on the states that you pass. If creating or deleting a pod fails, or a PersistentVolumeClaim cannot be created,
// Kubernetes ends the sync there, and fewer pods go. The time grows with n log n.
//
// If a number or an ordinal is negative: PODRANK_ERR_NEGATIVE. If a percentage is above PODRANK_PERCENT_MAX:
// PODRANK_ERR_PERCENT_RANGE. If set or a member has an unknown flag, or set has both PODRANK_STATEFUL_SET_ON_DELETE and
// PODRANK_STATEFUL_SET_RECREATE: PODRANK_ERR_FLAGS. If a reserved byte is not zero: PODRANK_ERR_RESERVED.
int32_t podrank_stateful_set_next(const struct podrank_stateful_set *set,
                                  const struct podrank_stateful_set_pod *members,
                                  size_t members_len,
                                  struct podrank_stateful_set_outcome *outcomes,
                                  size_t outcomes_len,
                                  struct podrank_stateful_set_step *step);

// Returns the name of the reason of an outcome, such as "waits-for-ready", or NULL for any other number. The text is
// static: do not free it.
const char *podrank_stateful_set_reason_str(uint8_t reason);

// ---------------------------------------------------------------------------------------------------------------------
// DAEMONSETS

// How many pods each of the two parts of a DaemonSet's sync deletes at most. The first part gives every node
// the pods that it should have; the second, the update, replaces old pods.
#define PODRANK_DAEMON_SET_BURST_REPLICAS 250u

// What podrank_daemon_set_next reads from a DaemonSet. Start from all zeros. No number may be negative.
typedef struct podrank_daemon_set {
    // spec.updateStrategy.rollingUpdate.maxSurge: a number of pods, or a percentage if PODRANK_DAEMON_SET_SURGE_PERCENT is set.
    // Not used with PODRANK_DAEMON_SET_ON_DELETE.
    int32_t max_surge;
    // spec.updateStrategy.rollingUpdate.maxUnavailable: a number of pods, or a percentage if
    // PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT is set. Not used with PODRANK_DAEMON_SET_ON_DELETE.
    int32_t max_unavailable;
    // Any of PODRANK_DAEMON_SET_...
    uint32_t flags;
    // Zero.
    uint8_t reserved[20];
} podrank_daemon_set;

// `struct podrank_daemon_set it = PODRANK_DAEMON_SET_INIT;`
#define PODRANK_DAEMON_SET_INIT \
    { 0, 0, 0, { 0 } }

// spec.updateStrategy.type is OnDelete, not RollingUpdate.
#define PODRANK_DAEMON_SET_ON_DELETE 1u

// The DaemonSet has a metadata.deletionTimestamp.
#define PODRANK_DAEMON_SET_BEING_DELETED 2u

// max_surge is a percentage, up to PODRANK_PERCENT_MAX.
#define PODRANK_DAEMON_SET_SURGE_PERCENT 4u

// max_unavailable is a percentage, up to PODRANK_PERCENT_MAX.
#define PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT 8u

// What podrank_daemon_set_next reads from one pod. Start from all zeros with creation_time PODRANK_TIME_UNSET.
typedef struct podrank_daemon_set_pod {
    // metadata.creationTimestamp, as in podrank_pod. A pod without one counts as the oldest.
    int64_t creation_time;
    // The position of metadata.name among the names of all pods, sorted by their bytes: the smaller name has the smaller
    // number. It decides between pods with equal creation times.
    uint32_t name_order;
    // The index of the pod's node: that of spec.nodeName, or if the pod is not assigned, the one that its affinity names. If
    // that names none, PODRANK_NONE.
    uint32_t node;
    // Any of PODRANK_DAEMON_SET_POD_...
    uint8_t flags;
    // Zero.
    uint8_t reserved[7];
} podrank_daemon_set_pod;

// `struct podrank_daemon_set_pod it = PODRANK_DAEMON_SET_POD_INIT;`
#define PODRANK_DAEMON_SET_POD_INIT \
    { PODRANK_TIME_UNSET, 0, 0, 0, { 0 } }

// spec.nodeName is not empty.
#define PODRANK_DAEMON_SET_POD_ASSIGNED 1u

// The first condition of type Ready has status True.
#define PODRANK_DAEMON_SET_POD_READY 2u

// The pod is available, as podrank_availability counts it.
#define PODRANK_DAEMON_SET_POD_AVAILABLE 4u

// The label controller-revision-hash is that of the DaemonSet's current revision.
#define PODRANK_DAEMON_SET_POD_CURRENT_REVISION 8u

// The label pod-template-generation is the number in the DaemonSet's annotation
// deprecated.daemonset.template.generation. For the update, such a pod is up to date whatever its revision.
#define PODRANK_DAEMON_SET_POD_CURRENT_GENERATION 16u

// status.phase is Succeeded.
#define PODRANK_DAEMON_SET_POD_SUCCEEDED 32u

// status.phase is Failed.
#define PODRANK_DAEMON_SET_POD_FAILED 64u

// The pod has a metadata.deletionTimestamp.
#define PODRANK_DAEMON_SET_POD_BEING_DELETED 128u

// The node exists. The other flags have no meaning without this one.
#define PODRANK_DAEMON_SET_NODE_EXISTS 1u

// A pod may start here: the node's name, labels and taints allow it.
#define PODRANK_DAEMON_SET_NODE_MAY_START 2u

// A pod that runs here may stay: the node's name, labels and taints with the effect NoExecute allow it. Other taints do
// not count. Set it wherever PODRANK_DAEMON_SET_NODE_MAY_START is set.
#define PODRANK_DAEMON_SET_NODE_MAY_KEEP 4u

// The controller has deleted a failed pod here so recently that it leaves the next one for later.
#define PODRANK_DAEMON_SET_NODE_IN_BACKOFF 8u

// What a sync does, apart from the outcome of each pod.
typedef struct podrank_daemon_set_step {
    // maxSurge as a number of nodes. This and the next four are 0 unless is_update is 1.
    int64_t surge;
    // maxUnavailable as a number of nodes.
    int64_t unavailable;
    // On how many nodes a pod may start.
    uint32_t wanted;
    // How much of the budget is used. Without surge, this is the number of unavailable nodes. A node is available if, not
    // counting pods being deleted, it has exactly one pod and that pod is available. A node that has no pod at all, not
    // even one being deleted, counts as unavailable only if a pod may start there. With surge, this is the number of nodes
    // that have a second pod that is not yet available.
    uint32_t used;
    // With surge, how many nodes have an available pod.
    uint32_t available;
    // How many pods the sync deletes.
    uint32_t deleted;
    // How many pods it creates.
    uint32_t creates;
    // How many more pods a later sync deletes, because one part of a sync deletes at most
    // PODRANK_DAEMON_SET_BURST_REPLICAS.
    uint32_t later;
    // With surge, the update fails if an old pod is the only one of a node that no longer exists. This is the index of
    // such a pod, or PODRANK_NONE if there is none.
    uint32_t blocked_by;
    // 1 if the sync reaches its second part, the update, because its first part has nothing to do. Otherwise 0.
    uint8_t is_update;
    // Zero.
    uint8_t reserved[3];
} podrank_daemon_set_step;

// `struct podrank_daemon_set_step it = PODRANK_DAEMON_SET_STEP_INIT;`
#define PODRANK_DAEMON_SET_STEP_INIT \
    { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 } }

// It stays: nothing asks for its deletion, or it is being deleted already.
#define PODRANK_DAEMON_SET_REASON_KEPT 121u

// It is not allowed to stay on its node.
#define PODRANK_DAEMON_SET_REASON_NOT_WANTED 124u

// It has succeeded.
#define PODRANK_DAEMON_SET_REASON_SUCCEEDED 125u

// It has failed. Of several failed pods of a node, one goes in each sync, and chance decides which.
#define PODRANK_DAEMON_SET_REASON_FAILED 126u

// It has failed, but the controller deleted another failed pod of the node only recently.
#define PODRANK_DAEMON_SET_REASON_BACKED_OFF 127u

// Another pod of the node is kept: preferably an assigned one, then the oldest, then the one with the
// smallest name.
#define PODRANK_DAEMON_SET_REASON_SURPLUS 128u

// With surge: the node has a new pod, and the old one is not ready.
#define PODRANK_DAEMON_SET_REASON_OLD_NOT_READY 129u

// The new pod of the node is available, so the old one goes.
#define PODRANK_DAEMON_SET_REASON_REPLACED 130u

// It is not assigned, and its node does not exist.
#define PODRANK_DAEMON_SET_REASON_NO_NODE 131u

// Update: the old pod is not available, so deleting it takes nothing from the budget.
#define PODRANK_DAEMON_SET_REASON_OLD_UNAVAILABLE 134u

// Update: the old pod is available. Such pods go while maxUnavailable allows it.
#define PODRANK_DAEMON_SET_REASON_OLD_AVAILABLE 135u

// Update with surge: the old pod stays until the new one of its node is available. The new one may not have
// been created yet.
#define PODRANK_DAEMON_SET_REASON_AWAITS_NEW 136u

// Update with surge: no pod may start on the node any more, and the old pod is not available.
#define PODRANK_DAEMON_SET_REASON_NOT_STARTABLE 137u

// Update with surge: no pod may start on the node any more. Such pods go only while
// podrank_daemon_set_step.available is above podrank_daemon_set_step.wanted.
#define PODRANK_DAEMON_SET_REASON_NOT_STARTABLE_AVAILABLE 138u

// Update: the node has several old or several new pods or, without surge, an old and a new one. Pods that
// are being deleted do not count. The first part of a later sync deletes the surplus.
#define PODRANK_DAEMON_SET_REASON_UNSETTLED 139u

// The old pod stays until somebody deletes it, because the strategy is OnDelete.
#define PODRANK_DAEMON_SET_REASON_ON_DELETE 142u

// The old pod stays until a later sync, because this sync first has to create or delete pods in its first
// part.
#define PODRANK_DAEMON_SET_REASON_AFTER_FIRST_PART 143u

// Update with surge: the sync fails, because an old pod is alone on a node that does not exist.
#define PODRANK_DAEMON_SET_REASON_NODE_MISSING 144u

// It goes in a later sync, because one part of a sync deletes at most PODRANK_DAEMON_SET_BURST_REPLICAS pods.
#define PODRANK_DAEMON_SET_REASON_NEXT_SYNC 147u

// Predicts the next sync of a DaemonSet, as in Kubernetes 1.37. Writes to outcomes, at the index of each pod, whether it
// goes and why. Stores in *step what else the sync does.
//
// nodes has one element per node: any of PODRANK_DAEMON_SET_NODE_.... If pods of this DaemonSet name a node that no longer exists,
// that node needs an element, too: 0. pods are the DaemonSet's pods, in any order, including those that have ended or are
// being deleted. order is scratch memory. If order_len or outcomes_len is below pods_len: PODRANK_ERR_SHORT_BUFFER. The time
// grows with n log n.
//
// A sync has two parts. The first gives every node the pods that it should have: it creates missing pods, and deletes
// failed, surplus and unwanted ones. Only if it had nothing to do does the second part follow, the update, which replaces
// old pods within the budgets maxSurge and maxUnavailable. Kubernetes walks the nodes in random order, so if the budget is
// smaller than the number of old available pods, these are contested.
//
// If a budget is negative: PODRANK_ERR_NEGATIVE. If a percentage is above PODRANK_PERCENT_MAX: PODRANK_ERR_PERCENT_RANGE.
// If a pod's node is neither PODRANK_NONE nor below nodes_len: PODRANK_ERR_NODE. If the set, a node or a pod has an
// unknown flag, or if a pod has the flags of both success and failure: PODRANK_ERR_FLAGS. If a reserved byte is not zero:
// PODRANK_ERR_RESERVED.
int32_t podrank_daemon_set_next(const struct podrank_daemon_set *set,
                                const uint8_t *nodes,
                                size_t nodes_len,
                                const struct podrank_daemon_set_pod *pods,
                                size_t pods_len,
                                uint32_t *order,
                                size_t order_len,
                                struct podrank_outcome *outcomes,
                                size_t outcomes_len,
                                struct podrank_daemon_set_step *step);

// Returns the name of a reason, such as "old-available", or NULL for any other number. The text is static: do not free it.
const char *podrank_daemon_set_reason_str(uint8_t reason);

// ---------------------------------------------------------------------------------------------------------------------
// JOBS

// How many pods one sync of a Job deletes at most, unless it deletes all.
#define PODRANK_JOB_DELETIONS_MAX 500u

// What podrank_job_next reads from a Job. Start from all zeros. No number but start_time may be negative.
typedef struct podrank_job {
    // spec.parallelism.
    int32_t parallelism;
    // spec.completions. Read only with PODRANK_JOB_COMPLETIONS or PODRANK_JOB_INDEXED.
    int32_t completions;
    // How many pods have succeeded: the sum of status.succeeded, the length of status.uncountedTerminatedPods.succeeded,
    // and the number of succeeded pods that are not in that list but have the finalizer batch.kubernetes.io/job-tracking.
    // For an Indexed Job, how many of its indexes have succeeded: those in status.completedIndexes and those of succeeded
    // pods with that finalizer.
    int32_t succeeded;
    // Any of PODRANK_JOB_...
    uint32_t flags;
    // How many pods have failed: the sum of status.failed, the length of status.uncountedTerminatedPods.failed, and the
    // number of failed pods that are not in that list but have the finalizer batch.kubernetes.io/job-tracking and, for an
    // Indexed Job, an index below the completions. Unless spec.podReplacementPolicy is Failed, pods that are being deleted
    // and have not succeeded count as failed. Pods that a rule of spec.podFailurePolicy ignores do not count.
    int32_t failed;
    // spec.backoffLimit.
    int32_t backoff_limit;
    // If the pods' restart policy is OnFailure: the sum of the restarts of all containers, including init containers, of the
    // running and pending pods, even of those that are being deleted. 0 for another policy.
    int32_t restarts;
    // How many indexes have failed: those in status.failedIndexes below the completions, and those of the pods that have
    // failed since. 0 without spec.backoffLimitPerIndex. Read only for an Indexed Job, as is max_failed_indexes.
    int32_t failed_indexes;
    // spec.activeDeadlineSeconds. Read only with PODRANK_JOB_DEADLINE.
    int64_t active_deadline_seconds;
    // status.startTime, in nanoseconds since the Unix epoch, or PODRANK_TIME_UNSET, and then the deadline begins to count
    // now. Read only with PODRANK_JOB_DEADLINE.
    int64_t start_time;
    // spec.maxFailedIndexes. Read only with PODRANK_JOB_MAX_FAILED_INDEXES.
    int32_t max_failed_indexes;
    // Zero.
    uint8_t reserved[12];
} podrank_job;

// `struct podrank_job it = PODRANK_JOB_INIT;`
#define PODRANK_JOB_INIT \
    { 0, 0, 0, 0, 0, 0, 0, 0, 0, PODRANK_TIME_UNSET, 0, { 0 } }

// spec.completions is set.
#define PODRANK_JOB_COMPLETIONS 1u

// spec.completionMode is Indexed. Then spec.completions is always set.
#define PODRANK_JOB_INDEXED 2u

// spec.suspend is true.
#define PODRANK_JOB_SUSPENDED 4u

// The Job fails or has met its success criteria: its condition FailureTarget or SuccessCriteriaMet is true.
#define PODRANK_JOB_ENDING 8u

// The controller leaves the Job alone: its condition Complete or Failed is true, or spec.managedBy names another
// controller.
#define PODRANK_JOB_LEFT_ALONE 16u

// The Job has a metadata.deletionTimestamp.
#define PODRANK_JOB_BEING_DELETED 32u

// A failed pod matches a rule of spec.podFailurePolicy whose action is FailJob.
#define PODRANK_JOB_POD_FAILURE_POLICY 64u

// The succeeded indexes meet a rule of spec.successPolicy.
#define PODRANK_JOB_SUCCESS_POLICY 128u

// spec.activeDeadlineSeconds is set.
#define PODRANK_JOB_DEADLINE 256u

// spec.maxFailedIndexes is set.
#define PODRANK_JOB_MAX_FAILED_INDEXES 512u

// What a sync does, apart from the outcome of each pod.
typedef struct podrank_job_step {
    // How many active pods the controller wants.
    uint32_t wanted;
    // How many pods the sync deletes.
    uint32_t deleted;
    // How many more pods a later sync deletes, because this one deletes at most PODRANK_JOB_DELETIONS_MAX.
    uint32_t later;
    // Zero.
    uint32_t reserved;
} podrank_job_step;

// `struct podrank_job_step it = PODRANK_JOB_STEP_INIT;`
#define PODRANK_JOB_STEP_INIT \
    { 0, 0, 0, 0 }

// It stays: nothing asks for its deletion.
#define PODRANK_JOB_REASON_KEPT 181u

// All pods go, because the Job is suspended.
#define PODRANK_JOB_REASON_SUSPENDED 184u

// All pods go, because the Job fails or has met its success criteria: its condition FailureTarget or SuccessCriteriaMet
// is true.
#define PODRANK_JOB_REASON_ENDING 185u

// All pods go, because a failed pod makes the Job fail: a rule of its podFailurePolicy says so.
#define PODRANK_JOB_REASON_POD_FAILURE_POLICY 186u

// All pods go, because the Job fails: more pods have failed than its backoffLimit.
#define PODRANK_JOB_REASON_BACKOFF_LIMIT 187u

// All pods go, because the Job fails: the containers of its pods have restarted as often as its backoffLimit or, if that is
// 0, once.
#define PODRANK_JOB_REASON_RESTARTS 188u

// All pods go, because the Job fails: its activeDeadlineSeconds have passed.
#define PODRANK_JOB_REASON_DEADLINE 189u

// All pods go, because the Job fails: more indexes have failed than its maxFailedIndexes.
#define PODRANK_JOB_REASON_MAX_FAILED_INDEXES 190u

// All pods go, because the Job fails: each index has succeeded or failed, and at least one has failed.
#define PODRANK_JOB_REASON_FAILED_INDEXES 191u

// All pods go, because the Job succeeds: the indexes that have succeeded meet its successPolicy.
#define PODRANK_JOB_REASON_SUCCESS_POLICY 192u

// The Job is Indexed, but the pod has no completion index.
#define PODRANK_JOB_REASON_NO_INDEX 195u

// The pod's index is not below the Job's completions.
#define PODRANK_JOB_REASON_BEYOND_COMPLETIONS 196u

// Several pods have the same index. Only the one that comes last by Kubernetes' ActivePods stays.
#define PODRANK_JOB_REASON_DUPLICATE 197u

// More pods run than the Job wants, and this one is among the first by Kubernetes' ActivePods.
#define PODRANK_JOB_REASON_SURPLUS 200u

// It can go only in a later sync, because one sync deletes at most PODRANK_JOB_DELETIONS_MAX pods. Chance can decide which
// of these pods go then.
#define PODRANK_JOB_REASON_NEXT_SYNC 203u

// Predicts the next sync of a Job, as in Kubernetes 1.37. Writes to outcomes, at the index of each pod, whether it goes
// and why. Stores in *step what else the sync does. now is the time of the sync, in nanoseconds since the Unix epoch: a
// deadline that has passed by then ends the Job. With PODRANK_TIME_UNSET, no deadline passes.
//
// pods are the active pods that the Job controls, in any order. Their ranks, deletion costs and tiers are not read.
// indexes are their completion indexes, at the same positions, as podrank_job_index_parse returns them. Only an Indexed Job
// reads them, so with other Jobs indexes_len may be 0. order is scratch memory. If order_len or outcomes_len is below pods_len,
// or indexes_len is for an Indexed Job: PODRANK_ERR_SHORT_BUFFER. The time grows with n log n.
//
// Pods tie if they are equal in everything that Kubernetes compares. If only some of the pods that tie go, no rule says
// which, so all of them are contested. Chance decides among the pods of one index, and among those of a Job without
// indexes. If no two pods of an Indexed Job share an index, Kubernetes' sort decides, which this prediction does not model.
// An Indexed Job can have several groups of contested pods: one for each index whose pods tie, and one for the pods that
// tie across the boundary between the last pod that goes and the first that stays.
//
// If a number of the job is negative: PODRANK_ERR_NEGATIVE. If the job or a pod has an unknown flag, an unknown phase or a
// reserved byte that is not zero: PODRANK_ERR_FLAGS, PODRANK_ERR_PHASE or PODRANK_ERR_RESERVED.
int32_t podrank_job_next(const struct podrank_job *job,
                         int64_t now,
                         const struct podrank_pod *pods,
                         size_t pods_len,
                         const int64_t *indexes,
                         size_t indexes_len,
                         uint32_t *order,
                         size_t order_len,
                         struct podrank_outcome *outcomes,
                         size_t outcomes_len,
                         struct podrank_job_step *step);

// Reads the text of the annotation batch.kubernetes.io/job-completion-index as Kubernetes does. Writes -1 if it is not a
// decimal number, is negative, or does not fit in 64 bits, which is not an error.
int32_t podrank_job_index_parse(const char *text,
                                size_t text_len,
                                int64_t *index);

// Returns the nanoseconds until Kubernetes deletes a finished Job, negative if that is overdue. finished and now are
// nanoseconds since the Unix epoch. ttl_seconds is spec.ttlSecondsAfterFinished, and finished is the lastTransitionTime of
// the first condition Complete or Failed that is true. Returns PODRANK_TIME_UNSET, for never, if a time is
// PODRANK_TIME_UNSET.
int64_t podrank_job_time_left(int32_t ttl_seconds,
                              int64_t finished,
                              int64_t now);

// Returns the name of a reason, such as "duplicate", or NULL for any other number. The text is static: do not free it.
const char *podrank_job_reason_str(uint8_t reason);

// The layout, as the library has it. If one of these does not hold, it declares an array of negative size, which no
// C or C++ compiler accepts.
#define PODRANK_ASSERT_NAMED(line, condition) extern char podrank_layout_differs_in_predict_##line[(condition) ? 1 : -1]
#define PODRANK_ASSERT_AT(line, condition) PODRANK_ASSERT_NAMED(line, condition)
#define PODRANK_ASSERT(condition) PODRANK_ASSERT_AT(__LINE__, condition)

PODRANK_ASSERT(sizeof(podrank_outcome) == 12);
PODRANK_ASSERT(offsetof(podrank_outcome, group) == 0);
PODRANK_ASSERT(offsetof(podrank_outcome, quota) == 4);
PODRANK_ASSERT(offsetof(podrank_outcome, verdict) == 8);
PODRANK_ASSERT(offsetof(podrank_outcome, reason) == 9);
PODRANK_ASSERT(offsetof(podrank_outcome, reserved) == 10);
PODRANK_ASSERT(sizeof(podrank_deployment) == 32);
PODRANK_ASSERT(offsetof(podrank_deployment, replicas) == 0);
PODRANK_ASSERT(offsetof(podrank_deployment, status_replicas) == 4);
PODRANK_ASSERT(offsetof(podrank_deployment, max_surge) == 8);
PODRANK_ASSERT(offsetof(podrank_deployment, max_unavailable) == 12);
PODRANK_ASSERT(offsetof(podrank_deployment, flags) == 16);
PODRANK_ASSERT(offsetof(podrank_deployment, reserved) == 20);
PODRANK_ASSERT(sizeof(podrank_replica_set) == 48);
PODRANK_ASSERT(offsetof(podrank_replica_set, creation_time) == 0);
PODRANK_ASSERT(offsetof(podrank_replica_set, name_order) == 8);
PODRANK_ASSERT(offsetof(podrank_replica_set, replicas) == 12);
PODRANK_ASSERT(offsetof(podrank_replica_set, status_replicas) == 16);
PODRANK_ASSERT(offsetof(podrank_replica_set, available_replicas) == 20);
PODRANK_ASSERT(offsetof(podrank_replica_set, desired_replicas) == 24);
PODRANK_ASSERT(offsetof(podrank_replica_set, max_replicas) == 28);
PODRANK_ASSERT(offsetof(podrank_replica_set, flags) == 32);
PODRANK_ASSERT(offsetof(podrank_replica_set, reserved) == 33);
PODRANK_ASSERT(sizeof(podrank_replica_set_change) == 16);
PODRANK_ASSERT(offsetof(podrank_replica_set_change, replicas) == 0);
PODRANK_ASSERT(offsetof(podrank_replica_set_change, part) == 4);
PODRANK_ASSERT(offsetof(podrank_replica_set_change, reason) == 8);
PODRANK_ASSERT(offsetof(podrank_replica_set_change, annotates) == 9);
PODRANK_ASSERT(offsetof(podrank_replica_set_change, reserved) == 10);
PODRANK_ASSERT(sizeof(podrank_deployment_step) == 32);
PODRANK_ASSERT(offsetof(podrank_deployment_step, surge) == 0);
PODRANK_ASSERT(offsetof(podrank_deployment_step, unavailable) == 4);
PODRANK_ASSERT(offsetof(podrank_deployment_step, new_set) == 8);
PODRANK_ASSERT(offsetof(podrank_deployment_step, path) == 12);
PODRANK_ASSERT(offsetof(podrank_deployment_step, creates) == 13);
PODRANK_ASSERT(offsetof(podrank_deployment_step, goes_on) == 14);
PODRANK_ASSERT(offsetof(podrank_deployment_step, reserved) == 15);
PODRANK_ASSERT(offsetof(podrank_deployment_step, new_change) == 16);
PODRANK_ASSERT(sizeof(podrank_stateful_set) == 32);
PODRANK_ASSERT(offsetof(podrank_stateful_set, replicas) == 0);
PODRANK_ASSERT(offsetof(podrank_stateful_set, start) == 4);
PODRANK_ASSERT(offsetof(podrank_stateful_set, partition) == 8);
PODRANK_ASSERT(offsetof(podrank_stateful_set, max_unavailable) == 12);
PODRANK_ASSERT(offsetof(podrank_stateful_set, flags) == 16);
PODRANK_ASSERT(offsetof(podrank_stateful_set, reserved) == 20);
PODRANK_ASSERT(sizeof(podrank_stateful_set_pod) == 8);
PODRANK_ASSERT(offsetof(podrank_stateful_set_pod, ordinal) == 0);
PODRANK_ASSERT(offsetof(podrank_stateful_set_pod, flags) == 4);
PODRANK_ASSERT(offsetof(podrank_stateful_set_pod, reserved) == 5);
PODRANK_ASSERT(sizeof(podrank_stateful_set_outcome) == 16);
PODRANK_ASSERT(offsetof(podrank_stateful_set_outcome, member) == 0);
PODRANK_ASSERT(offsetof(podrank_stateful_set_outcome, by) == 4);
PODRANK_ASSERT(offsetof(podrank_stateful_set_outcome, by_ordinal) == 8);
PODRANK_ASSERT(offsetof(podrank_stateful_set_outcome, verdict) == 12);
PODRANK_ASSERT(offsetof(podrank_stateful_set_outcome, reason) == 13);
PODRANK_ASSERT(offsetof(podrank_stateful_set_outcome, reserved) == 14);
PODRANK_ASSERT(sizeof(podrank_stateful_set_step) == 16);
PODRANK_ASSERT(offsetof(podrank_stateful_set_step, deleted) == 0);
PODRANK_ASSERT(offsetof(podrank_stateful_set_step, contested) == 4);
PODRANK_ASSERT(offsetof(podrank_stateful_set_step, blocked) == 8);
PODRANK_ASSERT(offsetof(podrank_stateful_set_step, reserved) == 12);
PODRANK_ASSERT(sizeof(podrank_daemon_set) == 32);
PODRANK_ASSERT(offsetof(podrank_daemon_set, max_surge) == 0);
PODRANK_ASSERT(offsetof(podrank_daemon_set, max_unavailable) == 4);
PODRANK_ASSERT(offsetof(podrank_daemon_set, flags) == 8);
PODRANK_ASSERT(offsetof(podrank_daemon_set, reserved) == 12);
PODRANK_ASSERT(sizeof(podrank_daemon_set_pod) == 24);
PODRANK_ASSERT(offsetof(podrank_daemon_set_pod, creation_time) == 0);
PODRANK_ASSERT(offsetof(podrank_daemon_set_pod, name_order) == 8);
PODRANK_ASSERT(offsetof(podrank_daemon_set_pod, node) == 12);
PODRANK_ASSERT(offsetof(podrank_daemon_set_pod, flags) == 16);
PODRANK_ASSERT(offsetof(podrank_daemon_set_pod, reserved) == 17);
PODRANK_ASSERT(sizeof(podrank_daemon_set_step) == 48);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, surge) == 0);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, unavailable) == 8);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, wanted) == 16);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, used) == 20);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, available) == 24);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, deleted) == 28);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, creates) == 32);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, later) == 36);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, blocked_by) == 40);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, is_update) == 44);
PODRANK_ASSERT(offsetof(podrank_daemon_set_step, reserved) == 45);
PODRANK_ASSERT(sizeof(podrank_job) == 64);
PODRANK_ASSERT(offsetof(podrank_job, parallelism) == 0);
PODRANK_ASSERT(offsetof(podrank_job, completions) == 4);
PODRANK_ASSERT(offsetof(podrank_job, succeeded) == 8);
PODRANK_ASSERT(offsetof(podrank_job, flags) == 12);
PODRANK_ASSERT(offsetof(podrank_job, failed) == 16);
PODRANK_ASSERT(offsetof(podrank_job, backoff_limit) == 20);
PODRANK_ASSERT(offsetof(podrank_job, restarts) == 24);
PODRANK_ASSERT(offsetof(podrank_job, failed_indexes) == 28);
PODRANK_ASSERT(offsetof(podrank_job, active_deadline_seconds) == 32);
PODRANK_ASSERT(offsetof(podrank_job, start_time) == 40);
PODRANK_ASSERT(offsetof(podrank_job, max_failed_indexes) == 48);
PODRANK_ASSERT(offsetof(podrank_job, reserved) == 52);
PODRANK_ASSERT(sizeof(podrank_job_step) == 16);
PODRANK_ASSERT(offsetof(podrank_job_step, wanted) == 0);
PODRANK_ASSERT(offsetof(podrank_job_step, deleted) == 4);
PODRANK_ASSERT(offsetof(podrank_job_step, later) == 8);
PODRANK_ASSERT(offsetof(podrank_job_step, reserved) == 12);

#undef PODRANK_ASSERT
#undef PODRANK_ASSERT_AT
#undef PODRANK_ASSERT_NAMED

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_PREDICT_H

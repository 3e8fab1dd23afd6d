// podrank: which pods are deleted first when Kubernetes scales down, as one total order.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.
//
//     #include <podrank.h>
//     #include <stdio.h>
//
//     int main(void) {
//         podrank_pod pods[2] = { PODRANK_POD_INIT, PODRANK_POD_INIT };
//         podrank_options options = PODRANK_OPTIONS_AT(1773144000000000000); /* when you decide, in nanoseconds */
//         uint32_t victims[1];
//         size_t selected;
//         PODRANK_REQUIRE_ABI(); /* does not link with a library of another ABI */
//         pods[0].phase = pods[1].phase = PODRANK_PHASE_RUNNING;
//         pods[0].flags = pods[1].flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
//         pods[0].restarts = 3; /* so it is deleted first */
//         if (podrank_select(pods, 2, &options, victims, 1, NULL, 0, &selected) != PODRANK_OK)
//             return 1;
//         printf("delete pod %u\n", (unsigned)victims[0]);
//         return 0;
//     }
//
// STABILITY. A program that was compiled with this header works with every library that has the same PODRANK_ABI, older or
// newer, if it uses only what the older of the two has: ffi/ABI.md in podrank's repository says how the rest shows.
// podrank_predict and podrank_kubernetes_compare reproduce Kubernetes PODRANK_KUBERNETES, and follow later releases of it,
// as the changelog says.
//
// Three more headers include this one. They are not stable: any release may change them, and nothing notices at run time,
// so name libpodrank.a, the archive, in the link command of such a program. -lpodrank takes the shared library if there is
// one, unless the linker has -static or -Bstatic, and pkg-config --static prints neither. The three headers need
// PODRANK_UNSTABLE to be defined: podrank/controller.h for the other decisions of a controller, podrank/probabilities.h for
// how likely Kubernetes deletes each pod, podrank/steer.h to make it delete the pods that you select.
//
// WHAT EVERY CALL PROMISES, by number. Each promise has a test with its number.
//
//  1. Status. Functions return PODRANK_OK (0) or a PODRANK_ERR_ number, which podrank_status_str describes. No later
//     release gives a number another meaning. Treat one that you do not know as an error, because later releases add some. If
//     several apply, any of them is returned. A function's description names the statuses that are its own. Those of promises
//     3 to 7 can come from every function that has such arguments, and PODRANK_ERR_OPTIONS_SIZE, _FLAGS and _NOW from every
//     function that has options. A compiler warns of a call that ignores the status: see PODRANK_NODISCARD. (Functions that
//     return a static text, or the number of the ABI or of the format of keys, return no status.)
//  2. Outputs are written only on success, with one exception: if podrank_steer returns PODRANK_ERR_NO_ROOM, it has stored
//     the indices of two pods in *steered. Outputs and scratch memory need not be initialised, except for outputs that the
//     function also reads, as podrank_count_ranks reads pods. Scratch memory, a buffer that you lend until the call returns, may
//     change in any case.
//  3. A pointer may be NULL if its length is 0. Options may be NULL, which means the defaults. Where a pointer may be
//     NULL in other cases, its function says so. Any other NULL is PODRANK_ERR_NULL.
//  4. Every pointer must be aligned as its type is in C, unless its length is 0. If not: PODRANK_ERR_MISALIGNED.
//  5. What a function writes, also a single value such as *selected, must not overlap anything else that it reads or
//     writes. If it does: PODRANK_ERR_OVERLAP. What it only reads may
//     overlap. podrank_node_number does not check the names that its table already holds: they must be apart from the table and *node.
//  6. Lengths count elements, not bytes, up to UINT32_MAX. Above that: PODRANK_ERR_TOO_LONG. Every array that a function
//     writes has a length. The function's description says how long the array must be. If it is shorter, the status is
//     PODRANK_ERR_SHORT_BUFFER, unless the description names another one.
//  7. Records must be valid: a known phase, known flags, and reserved bytes of zero. If not: PODRANK_ERR_PHASE,
//     PODRANK_ERR_FLAGS or PODRANK_ERR_RESERVED. podrank_validate finds the first invalid record.
//  8. Functions do not allocate, lock or keep global state, and never write through a pointer to const. So any thread and
//     any signal or interrupt handler may call any function, and they may share inputs.
//  9. No pointer is kept after the call, except those to node names in the table of podrank_node_number.
// 10. Every call returns, whatever the buffers hold: no panic, no abort, no waiting. A function that does not say how its time grows
//     takes constant time, or time in proportion to the text that it reads. The one exception to this promise is the
//     table of podrank_node_number: every pointer in it must be one that podrank_node_number stored there and must still
//     be valid.
//
// Your part: a pointer that is not NULL must point to as many elements as its length says, one if it has no length, 16 bytes for a
// UID, and options->size bytes for options. They must be readable for inputs and writable for outputs, and no one else may
// write them during the call.
//
// WHAT THE LIBRARY NEEDS. At most 1 KiB of stack on a Cortex-M3, however many pods there are, and a few KiB on 64-bit
// machines: `make budget` measures each function. No recursion and no floating point. Of functions, at most memcpy,
// memmove, memset and memcmp; on 32-bit ARM also the __aeabi_ names of the first three; on a Cortex-M0 also integer
// arithmetic from the compiler's runtime. `make needs` prints which functions each machine needs. Without a C library, copy
// examples-c/firmware/memory.c. The archive is one object. With -Wl,--gc-sections, which `pkg-config --static --libs podrank`
// prints, a program that is linked with it has only what it calls.

#ifndef PODRANK_H
#define PODRANK_H

#include <stddef.h>
#include <stdint.h>

// Precedes each function that returns a status, so that the compiler warns if a call ignores it (MSVC: only with /analyze).
// Before C23 and C++17, GCC also warns of a call that is cast to void: store the status. Define it as nothing before this
// header to turn that off.
#ifndef PODRANK_NODISCARD
#if defined(__cplusplus) ? __cplusplus >= 201703L : defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L
#define PODRANK_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define PODRANK_NODISCARD __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#include <sal.h>
#define PODRANK_NODISCARD _Check_return_
#else
#define PODRANK_NODISCARD
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The release of the library that this header came with; podrank_version() returns that of the library linked in.
#define PODRANK_VERSION "0.1.0"
#define PODRANK_VERSION_MAJOR 0
#define PODRANK_VERSION_MINOR 1
#define PODRANK_VERSION_PATCH 0

// The release of Kubernetes whose behavior podrank_predict and podrank_kubernetes_compare reproduce in the library that this
// header came with. Another library of this ABI can reproduce another release: its changelog says which.
#define PODRANK_KUBERNETES "1.37"

// Put it into a function that the program calls, such as main: the program then links only with a library that has the ABI
// of this header.
#define PODRANK_REQUIRE_ABI() ((void)podrank_abi_1())

// Returns the release of the library, such as "1.2.3". The text is static: do not free it.
const char *podrank_version(void);

// The number of the ABI that this header describes. It changes only if programs would break.
#define PODRANK_ABI 1

// Returns PODRANK_ABI. Every library with ABI 1 has this function, and no other has it. So a program that
// calls it, as PODRANK_REQUIRE_ABI does, links only with ABI 1.
uint32_t podrank_abi_1(void);

// ---------------------------------------------------------------------------------------------------------------------
// STATUS

// Success.
#define PODRANK_OK 0

// A pointer is NULL that must not be: see promise 3.
#define PODRANK_ERR_NULL 1

// A pointer is not aligned for its type.
#define PODRANK_ERR_MISALIGNED 2

// A buffer that the function writes overlaps another buffer.
#define PODRANK_ERR_OVERLAP 3

// A length is above UINT32_MAX, or the buffer does not fit the address space.
#define PODRANK_ERR_TOO_LONG 4

// The options' size is smaller than podrank_options has been in any release (0, for instance), or above
// PODRANK_OPTIONS_SIZE_MAX, or a byte beyond the length that this library knows is not zero. Start from
// PODRANK_OPTIONS_INIT or PODRANK_OPTIONS_AT.
#define PODRANK_ERR_OPTIONS_SIZE 5

// The options' flags have a bit that this library does not know.
#define PODRANK_ERR_OPTIONS_FLAGS 6

// A record's phase is not a PODRANK_PHASE_ value.
#define PODRANK_ERR_PHASE 7

// A record, or the state of podrank_plan, has a flag that this library does not know.
#define PODRANK_ERR_FLAGS 8

// A record's reserved bytes are not all zero.
#define PODRANK_ERR_RESERVED 9

// An assigned pod's node is not below counts_len, or weights_len in podrank/steer.h.
#define PODRANK_ERR_NODE 10

// The node name is new, and the table has no free slot.
#define PODRANK_ERR_NODES_FULL 11

// The node name is empty. A pod without a node is not assigned and needs no number.
#define PODRANK_ERR_NODE_NAME 12

// The phase is Succeeded or Failed. Such a pod is not active: leave it out.
#define PODRANK_ERR_INACTIVE 13

// The UID's text is not 36 bytes long.
#define PODRANK_ERR_UID_LENGTH 14

// The UID's text lacks a hyphen at offset 8, 13, 18 or 23.
#define PODRANK_ERR_UID_HYPHEN 15

// The UID's text has a byte other than 0-9 and a-f where it needs a digit. Upper case is rejected, too.
#define PODRANK_ERR_UID_DIGIT 16

// The deletion cost's text is empty.
#define PODRANK_ERR_COST_EMPTY 17

// The deletion cost's text starts with '+'.
#define PODRANK_ERR_COST_PLUS 18

// The deletion cost's text starts with '0' and has more bytes.
#define PODRANK_ERR_COST_ZERO 19

// The deletion cost's text is only '-'.
#define PODRANK_ERR_COST_NO_DIGITS 20

// The deletion cost's text has a byte that is not a digit.
#define PODRANK_ERR_COST_DIGIT 21

// The deletion cost is outside -2147483648 to 2147483647.
#define PODRANK_ERR_COST_RANGE 22

// There are more keys than key_storage_len: see podrank_expectations_expect_deletions in podrank/controller.h.
#define PODRANK_ERR_KEYS_FULL 23

// The options' now is not 0, but their flags lack PODRANK_OPTIONS_NOW; or the flag is set, and now is PODRANK_TIME_UNSET.
// Start from PODRANK_OPTIONS_AT.
#define PODRANK_ERR_OPTIONS_NOW 24

// A buffer is shorter than the function's description demands.
#define PODRANK_ERR_SHORT_BUFFER 25

// The fixed deletion costs leave no room for the tiers: see podrank_steer.
#define PODRANK_ERR_NO_ROOM 26

// The feature gate PodDeletionCost is off, so deletion costs have no effect.
#define PODRANK_ERR_GATE 27

// A pod's node has no domain (a group of nodes, such as a zone) on some level, or a domain number that is too large: see
// podrank_empty_nodes in podrank/steer.h.
#define PODRANK_ERR_DOMAIN 28

// The pods would need more than 65,536 tiers.
#define PODRANK_ERR_TIERS 29

// Returns the text of a status, in English, without a full stop, or "unknown status" for any other number.
// The text is static: do not free it.
const char *podrank_status_str(int32_t status);

// ---------------------------------------------------------------------------------------------------------------------
// PODS

// What the order reads from one active pod. Only active pods become records: the phase is neither Succeeded
// nor Failed, and there is no metadata.deletionTimestamp. Start from PODRANK_POD_INIT, which unsets both
// times.
//
// Times are nanoseconds of one clock, the same for all pods and for now: for Kubernetes' timestamps, nanoseconds since
// the Unix epoch. They are PODRANK_TIME_UNSET if a timestamp is missing, null or 0001-01-01T00:00:00Z.
// podrank_time_from_unix makes them from seconds.
typedef struct podrank_pod {
    // metadata.uid as 16 bytes, the most significant first: see podrank_uid_parse.
    uint8_t uid[16];
    // lastTransitionTime of the Ready condition. It is read only if the pod is ready.
    int64_t ready_time;
    // metadata.creationTimestamp.
    int64_t creation_time;
    // The annotation controller.kubernetes.io/pod-deletion-cost: see podrank_deletion_cost_parse. 0 if it is
    // missing or invalid.
    int32_t deletion_cost;
    // How many active related pods are on this pod's node, including the pod itself: see podrank_count_ranks.
    uint32_t rank;
    // The largest restartCount of status.containerStatuses.
    uint32_t restarts;
    // The largest restartCount of the sidecars: those of status.initContainerStatuses whose container in
    // spec.initContainers has restartPolicy Always.
    uint32_t sidecar_restarts;
    // The node, as a small number of your choice: see podrank_node_number. Only podrank_count_ranks, podrank_spread and
    // podrank_empty_nodes read it, and only if the pod is assigned.
    uint32_t node;
    // status.phase: PODRANK_PHASE_PENDING, _UNKNOWN or _RUNNING.
    uint8_t phase;
    // Any of PODRANK_POD_ASSIGNED, _READY and _PREFERRED.
    uint8_t flags;
    // The pod's tier, which you choose for whatever reason: pods of a lower tier are deleted before pods of a higher
    // one. Kubernetes does not know tiers. See podrank_steer.
    uint16_t tier;
    // Zero. Reserved for rules that later releases add.
    uint8_t reserved[8];
} podrank_pod;

// `struct podrank_pod it = PODRANK_POD_INIT;`
#define PODRANK_POD_INIT \
    { { 0 }, PODRANK_TIME_UNSET, PODRANK_TIME_UNSET, 0, 0, 0, 0, 0, 0, 0, 0, { 0 } }

// An unset time, distinct from the epoch (0).
#define PODRANK_TIME_UNSET INT64_MIN

// Pending, and any text that is not a phase of Kubernetes.
#define PODRANK_PHASE_PENDING 0u

// Unknown.
#define PODRANK_PHASE_UNKNOWN 1u

// Running.
#define PODRANK_PHASE_RUNNING 2u

// spec.nodeName is not empty.
#define PODRANK_POD_ASSIGNED 1u

// The first condition of type Ready has status True.
#define PODRANK_POD_READY 2u

// The label kubernetes.io/prefer-for-scale-down is present, whatever its value.
#define PODRANK_POD_PREFERRED 4u

// Finds the first invalid record. Every other function also checks its records, but does not say which record is
// invalid. RETURNS PODRANK_OK ALSO IF IT FINDS ONE: compare *first_invalid with pods_len.
//
// Stores the index of that record in *first_invalid, and in *why the status that other functions would
// return for it: PODRANK_ERR_PHASE, PODRANK_ERR_FLAGS or PODRANK_ERR_RESERVED. If all are valid, it stores
// pods_len and PODRANK_OK. It does not check the member node, which has its range where it is read.
// The time grows with pods_len.
PODRANK_NODISCARD
int32_t podrank_validate(const struct podrank_pod *pods,
                         size_t pods_len,
                         size_t *first_invalid,
                         int32_t *why);

// Sets the rank of each pod in the array pods to the number of pods on its node, counting both arrays. The
// array others has the related active pods that cannot be victims, such as those of another ReplicaSet of
// the same Deployment, and none that is in the array pods, because it would count twice. others may be NULL with
// others_len 0. Unassigned pods share one count. Kubernetes counts ranks once, before it sorts.
//
// counts is scratch memory, and counts_len must be above every assigned pod's node: use table_len if
// podrank_node_number chose the numbers. If a node is not below counts_len: PODRANK_ERR_NODE.
// The time grows with pods_len + others_len + counts_len.
PODRANK_NODISCARD
int32_t podrank_count_ranks(struct podrank_pod *pods,
                            size_t pods_len,
                            const struct podrank_pod *others,
                            size_t others_len,
                            uint32_t *counts,
                            size_t counts_len);

// Converts the seconds and nanoseconds since the Unix epoch into one number of nanoseconds since the Unix epoch, and
// stores it in *time. nanoseconds are added, also to negative seconds, and may be 1000000000 or more. Times outside
// 1677-09-21 to 2262-04-11 become the nearest time inside, with one exception: 0001-01-01T00:00:00Z, however it is split
// into seconds and nanoseconds, is PODRANK_TIME_UNSET, because that is how Kubernetes writes missing times.
PODRANK_NODISCARD
int32_t podrank_time_from_unix(int64_t seconds,
                               uint32_t nanoseconds,
                               int64_t *time);

// ---------------------------------------------------------------------------------------------------------------------
// OPTIONS

// The time and the feature gates by which to decide. Start from PODRANK_OPTIONS_AT(now), which compares ages by age
// bucket, as kube-controller-manager does.
//
// NULL means the defaults, as do options that are all zero except for their size: Kubernetes' default feature gates, and
// times compared as they are, because without a now there are no ages. Kubernetes has not compared times in that way
// since 1.31, so do not predict its deletions without a now.
typedef struct podrank_options {
    // sizeof(podrank_options). Options may grow. A library accepts the smaller size of an older header, and
    // reads the rest as zero. It accepts a larger size, up to PODRANK_OPTIONS_SIZE_MAX, if all bytes that it
    // does not know are zero.
    uint32_t size;
    // PODRANK_OPTIONS_NOW, and the flags of the gates that differ from the default. 0 is the default.
    uint32_t flags;
    // The time at which ages are taken, in nanoseconds of the clock of the pods' times. It needs PODRANK_OPTIONS_NOW in flags:
    // a value other than 0 without it is PODRANK_ERR_OPTIONS_NOW, and so is PODRANK_TIME_UNSET with it.
    int64_t now;
} podrank_options;

// `struct podrank_options it = PODRANK_OPTIONS_INIT;`
#define PODRANK_OPTIONS_INIT \
    { (uint32_t)sizeof(podrank_options), 0, 0 }

// The options' now is set. Ages are compared by age bucket.
#define PODRANK_OPTIONS_NOW 1u

// Turns the feature gate PodDeletionCost off (on by default: beta since Kubernetes 1.22).
#define PODRANK_OPTIONS_POD_DELETION_COST_OFF 2u

// Turns the feature gate LogarithmicScaleDown off (on by default since Kubernetes 1.22, always on since 1.31).
#define PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF 4u

// Turns PreferForScaleDown on (off by default: no release of Kubernetes has it).
#define PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON 8u

// The largest size of options that a library accepts.
#define PODRANK_OPTIONS_SIZE_MAX 1024u

// Kubernetes' default gates, and ages at the time now, in nanoseconds of the clock of the pods' times:
// `podrank_options options = PODRANK_OPTIONS_AT(now);`
#define PODRANK_OPTIONS_AT(now) \
    { (uint32_t)sizeof(podrank_options), PODRANK_OPTIONS_NOW, (now) }

// ---------------------------------------------------------------------------------------------------------------------
// THE ORDER. These rules apply in turn, and the first that does not tie decides: unassigned first; lower phase; not ready;
// lower tier (if you set any); lower deletion cost; higher rank; preferred (if turned on); ready for a shorter time,
// unset first; more restarts; more sidecar restarts; created later, unset first; smaller UID. With PODRANK_OPTIONS_NOW, unless
// PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF is set, ages are compared by age bucket, floor(log2(age in ns)): two ages in one
// bucket tie, and the next rule decides. Pods with one UID can tie in all rules, as those do whose uid you leave at the zeros of
// PODRANK_POD_INIT. Of pods that tie in all rules, podrank_select and podrank_sort put the one with the lower index first.

// Scratch memory of podrank_select for one victim, or of podrank_sort for four pods. Its contents are private and need
// not be initialised.
typedef struct podrank_scratch {
    // Private.
    uint64_t words[8];
} podrank_scratch;

// `struct podrank_scratch it = PODRANK_SCRATCH_INIT;`
#define PODRANK_SCRATCH_INIT \
    { { 0 } }

// Compares two pods. Writes -1 to ordering if a is deleted first, 1 if b is deleted first, and 0 if every rule ties.
// Pods with distinct UIDs never tie. It has no statuses of its own, only those of promise 1.
PODRANK_NODISCARD
int32_t podrank_compare(const struct podrank_pod *a,
                        const struct podrank_pod *b,
                        const struct podrank_options *options,
                        int32_t *ordering);

// Compares two pods as podrank_compare does, and stores the rule that decides in *rule. It is the first rule
// that does not tie, or PODRANK_RULE_NONE if all tie.
PODRANK_NODISCARD
int32_t podrank_decide(const struct podrank_pod *a,
                       const struct podrank_pod *b,
                       const struct podrank_options *options,
                       int32_t *ordering,
                       uint8_t *rule);

// Selects the first victims_len pods of the order, or all if there are fewer. Writes their indices in pods
// to victims, in deletion order, and their number to selected. Of pods that tie, the one with the lower
// index is deleted first. The records do not move. To prefer pods on crowded nodes, call podrank_count_ranks before.
// Kubernetes' own result can differ: see podrank_predict. podrank_select has no statuses of its own, only those of promise 1. A
// victims_len below or above pods_len is not an error.
//
// scratch is scratch memory for speed, and may be NULL with scratch_len 0. With one element per victim,
// selecting more than a few victims is usually faster. A shorter buffer is allowed but may be
// ignored. On machines without 64-bit atomics, such as Cortex-M and 32-bit RISC-V, scratch is always ignored.
// The time grows with n log k, for n pods and k victims.
PODRANK_NODISCARD
int32_t podrank_select(const struct podrank_pod *pods,
                       size_t pods_len,
                       const struct podrank_options *options,
                       uint32_t *victims,
                       size_t victims_len,
                       struct podrank_scratch *scratch,
                       size_t scratch_len,
                       size_t *selected);

// Sorts all pods: fills the array order with their indices, starting with the pod that is deleted first. Of pods
// that tie, the one with the lower index is deleted first. The records do not move. If order_len is below
// pods_len: PODRANK_ERR_SHORT_BUFFER.
//
// scratch is scratch memory for speed, and may be NULL with scratch_len 0. With pods_len / 4 + 1 elements, sorting a
// long list is several times faster. A shorter buffer helps less, and a longer one no more. On machines without 64-bit
// atomics, such as Cortex-M and 32-bit RISC-V, scratch is always ignored.
// The time grows with n log n, for n pods. With 64-bit atomics, it grows with n if they are in the order or in its
// reverse.
PODRANK_NODISCARD
int32_t podrank_sort(const struct podrank_pod *pods,
                     size_t pods_len,
                     const struct podrank_options *options,
                     uint32_t *order,
                     size_t order_len,
                     struct podrank_scratch *scratch,
                     size_t scratch_len);

// ---------------------------------------------------------------------------------------------------------------------
// PREDICTION. Kubernetes itself has no total order, for two reasons. If two times differ but their ages
// are in one bucket, its comparator skips the other rules and compares the UIDs, so it can contradict itself: X before
// Z, Z before Y, but X and Y tie, or even Y before X. And if no two times differ in this way, it never compares UIDs, so
// pods can tie in everything that it compares. In both cases the list order decides. podrank_predict separates the pods
// that are deleted in every list order, those that are kept in every list order, and the possible ones in
// between, of which a known number is deleted, but the list order decides which. podrank_select has no possible pods: it
// gives one answer, by the order.

// Says how kube-controller-manager's comparator orders two pods. Stores -1 in *ordering if a is before b, 1 if b is before
// a, and 0 if neither is, which is a tie. Stores the rule that decides, or PODRANK_RULE_NONE for a tie, in *rule.
//
// The comparator differs from the order in four ways. It has neither tiers nor PreferForScaleDown. If two
// times differ, but their ages are in one age bucket, it skips the other rules and compares the UIDs: *rule
// is then PODRANK_RULE_UID. Only there does it compare UIDs, so pods with different UIDs can tie. And from
// 2^49 ns (6.5 days) on, its age buckets begin a little below the powers of two.
//
// NEVER SORT BY IT, because it contradicts itself: of three pods, each can be before the next and the last before the
// first; or two pods tie, but a third is after one and before the other. The reason is that different times in one age bucket let
// the UIDs decide, but equal times let later rules decide.
PODRANK_NODISCARD
int32_t podrank_kubernetes_compare(const struct podrank_pod *a,
                                   const struct podrank_pod *b,
                                   const struct podrank_options *options,
                                   int32_t *ordering,
                                   uint8_t *rule);

// Finds which pods kube-controller-manager deletes when it deletes k of them. Its comparator can contradict itself
// (see podrank_kubernetes_compare), and pods can tie in everything that it compares, because it does not compare UIDs at
// the end. In both cases its list order decides.
//
// Fills the array order with the indices of all pods. It deletes the first *deleted_len of them in every list order. The
// next *possible_len are possible: it deletes min(k, pods_len) - *deleted_len of them, and the list order decides
// which. It keeps the rest. If k is pods_len or more, all are deleted. scores is scratch memory.
// If order_len or scores_len is below pods_len: PODRANK_ERR_SHORT_BUFFER.
//
// Call podrank_count_ranks first, as before podrank_select. But leave the ranks at 0 if Kubernetes counts none, as for a ReplicaSet
// that no other object controls.
//
// The result holds for one sync, at the time in options->now. A sync deletes at most 500
// pods, so for a larger k, later syncs can choose other pods. The result can also differ if an age reaches
// the next power of two before the controller runs.
// The time grows with n log n, for n pods.
PODRANK_NODISCARD
int32_t podrank_predict(const struct podrank_pod *pods,
                        size_t pods_len,
                        const struct podrank_options *options,
                        size_t k,
                        uint32_t *order,
                        size_t order_len,
                        uint64_t *scores,
                        size_t scores_len,
                        size_t *deleted_len,
                        size_t *possible_len);

// ---------------------------------------------------------------------------------------------------------------------
// EXPLANATIONS

// No rule. The rules follow in the order in which they apply. A rule's number never changes. Rules that
// later releases add get numbers in between. In the row of a rule that you do not know, applies, decides and ordering mean the
// same, and podrank_rule_str names the rule. Do not interpret a and b of a kind that you do not know.
#define PODRANK_RULE_NONE 0u

// Unassigned before assigned.
#define PODRANK_RULE_UNASSIGNED 10u

// Pending before unknown before running.
#define PODRANK_RULE_PHASE 20u

// Not ready before ready.
#define PODRANK_RULE_NOT_READY 30u

// Lower tier before higher.
#define PODRANK_RULE_TIER 35u

// Lower deletion cost before higher.
#define PODRANK_RULE_DELETION_COST 40u

// Higher rank before lower.
#define PODRANK_RULE_RANK 50u

// Preferred before not preferred. Off unless PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON.
#define PODRANK_RULE_PREFERRED 60u

// Among ready pods: an unset ready time before any other, then ready for a shorter time before longer.
#define PODRANK_RULE_READY_TIME 70u

// More restarts before fewer.
#define PODRANK_RULE_RESTARTS 80u

// More sidecar restarts before fewer.
#define PODRANK_RULE_SIDECAR_RESTARTS 85u

// An unset creation time before any other, then younger before older.
#define PODRANK_RULE_CREATION_TIME 90u

// Smaller UID before larger.
#define PODRANK_RULE_UID 100u

// Returns the name of a rule, such as "deletion-cost", or NULL for PODRANK_RULE_NONE and any other number.
// The text is static: do not free it.
const char *podrank_rule_str(uint8_t rule);

// The most rows that podrank_explain writes, in any library with this ABI.
#define PODRANK_ROW_MAX 16u

// What one rule says about two pods a and b.
typedef struct podrank_row {
    // The value that the rule reads from pod a. kind says what it is.
    int64_t a;
    // The value that the rule reads from pod b.
    int64_t b;
    // PODRANK_RULE_...
    uint8_t rule;
    // 1 if the rule applies: its gate is on and, for PODRANK_RULE_READY_TIME, both pods are ready. Otherwise
    // 0.
    uint8_t applies;
    // 1 in the row of the rule that decides: the first whose ordering is not 0. Otherwise 0.
    uint8_t decides;
    // PODRANK_ROW_KIND_...
    uint8_t kind;
    // -1 if a is deleted first by this rule alone, 1 if b is, 0 if it ties or does not apply.
    int32_t ordering;
} podrank_row;

// `struct podrank_row it = PODRANK_ROW_INIT;`
#define PODRANK_ROW_INIT \
    { 0, 0, 0, 0, 0, 0, 0 }

// In podrank_row, a and b say whether each of the two pods is assigned (in the row of
// PODRANK_RULE_UNASSIGNED), ready (PODRANK_RULE_NOT_READY) or preferred (PODRANK_RULE_PREFERRED): 1 if so,
// and otherwise 0.
#define PODRANK_ROW_KIND_BOOL 1u

// a and b are PODRANK_PHASE_ values.
#define PODRANK_ROW_KIND_PHASE 2u

// a and b are plain numbers.
#define PODRANK_ROW_KIND_NUMBER 3u

// a and b are nanoseconds of the clock of the pods' times, or PODRANK_TIME_UNSET.
#define PODRANK_ROW_KIND_TIME 4u

// a and b are age buckets: the base-2 logarithm of the age in nanoseconds, rounded down, from 0 to 62. -1
// for a time that is not before now, and PODRANK_TIME_UNSET for an unset time.
#define PODRANK_ROW_KIND_AGE_BUCKET 5u

// a and b are 0, because UIDs do not fit. Read them from the pods.
#define PODRANK_ROW_KIND_UID 6u

// Explains a comparison: writes to rows what each rule says about the two pods, in rule order, whether it
// applies or not. Stores the number of rows in *count. If rows_len is below PODRANK_ROW_MAX: PODRANK_ERR_SHORT_BUFFER.
PODRANK_NODISCARD
int32_t podrank_explain(const struct podrank_pod *a,
                        const struct podrank_pod *b,
                        const struct podrank_options *options,
                        struct podrank_row *rows,
                        size_t rows_len,
                        size_t *count);

// ---------------------------------------------------------------------------------------------------------------------
// TEXTS: what Kubernetes' objects have as text, and records have as numbers. Texts that functions read need no NUL at their
// end, and their lengths must not count one: with it, "Running" would not be a phase and would count as Pending.

// The length of a UID's text, without the NUL.
#define PODRANK_UID_TEXT_LEN 36u

// Reads metadata.uid. It must be a lower-case UUID in groups of 8-4-4-4-12 hex digits, the only form that
// kube-apiserver writes. Writes 16 bytes to uid. If uid_len is below 16: PODRANK_ERR_SHORT_BUFFER. If the text is another:
// PODRANK_ERR_UID_LENGTH, PODRANK_ERR_UID_HYPHEN or PODRANK_ERR_UID_DIGIT.
PODRANK_NODISCARD
int32_t podrank_uid_parse(const char *text,
                          size_t text_len,
                          uint8_t *uid,
                          size_t uid_len);

// Writes the text of a UID of 16 bytes, and a NUL: PODRANK_UID_TEXT_LEN + 1 bytes. If text_len is below that:
// PODRANK_ERR_SHORT_BUFFER.
PODRANK_NODISCARD
int32_t podrank_uid_format(const uint8_t *uid, char *text, size_t text_len);

// Reads status.phase and writes a PODRANK_PHASE_ value. Text that is not a phase counts as Pending, as it
// does in Kubernetes. Succeeded and Failed are PODRANK_ERR_INACTIVE, because such a pod has no place in the
// order.
PODRANK_NODISCARD
int32_t podrank_phase_parse(const char *text, size_t text_len, uint8_t *phase);

// Reads the annotation controller.kubernetes.io/pod-deletion-cost as Kubernetes does. A cost is a base-10 int32
// that is "0", or digits of which the first is not 0, or '-' and digits, which may start with 0. If the annotation is missing,
// the cost is 0. If the status is from PODRANK_ERR_COST_EMPTY to PODRANK_ERR_COST_RANGE, Kubernetes rejects the text and
// uses 0, so do the same.
PODRANK_NODISCARD
int32_t podrank_deletion_cost_parse(const char *text,
                                    size_t text_len,
                                    int32_t *cost);

// A slot in a table of node names. Start from all zeros. After that, only podrank_node_number may write it.
typedef struct podrank_node_name {
    // The name's bytes, or NULL if the slot is free.
    const char *name;
    // The number of bytes.
    size_t len;
} podrank_node_name;

// `struct podrank_node_name it = PODRANK_NODE_NAME_INIT;`
#define PODRANK_NODE_NAME_INIT \
    { 0, 0 }

// Stores the number of the node with this name in *node. The number is below table_len, and it is the same
// in every call with this table, this table_len and this name. So pass the same table_len in every call.
//
// You own the table: zero it before the first call. It keeps the pointers to the names, so a name's bytes must
// stay unchanged in the same place for as long as you use the table. Give it a third more slots than there are
// nodes: the fuller it is, the longer it takes to find a name.
//
// If the name is new and no slot is free: PODRANK_ERR_NODES_FULL. If the name is empty: PODRANK_ERR_NODE_NAME. Names
// cannot be removed, and a table cannot grow: to forget names or to have more slots, zero a whole table and number all
// nodes again, in every record. A call may write the table, so threads that share one need a lock. With a third more
// slots than names, the time does not grow with the table on average. In a full one, it grows with table_len.
PODRANK_NODISCARD
int32_t podrank_node_number(struct podrank_node_name *table,
                            size_t table_len,
                            const char *name,
                            size_t name_len,
                            uint32_t *node);

// ---------------------------------------------------------------------------------------------------------------------
// KEYS, for pods in a sorted store

// The length of a key, in bytes.
#define PODRANK_KEY_LEN 64u

// The number of the format of keys. It changes whenever some pods' keys get other bytes, as with a new rule. So a
// store of keys compares the number that it stored with podrank_key_format() of the library that it runs with, and if they
// differ, makes all keys again from the pods.
#define PODRANK_KEY_FORMAT 1u

// Returns the format of the keys that the linked library makes. It can differ from the PODRANK_KEY_FORMAT of the header that
// you compiled with.
uint32_t podrank_key_format(void);

// Writes the pod's place in the order to key, as PODRANK_KEY_LEN bytes that memcmp compares as
// podrank_compare compares the pods. COMPARE ONLY KEYS OF ONE FORMAT THAT WERE MADE WITH THE SAME now AND GATES,
// whichever release made them.
// The bytes do not depend on the machine. If key_len is below PODRANK_KEY_LEN: PODRANK_ERR_SHORT_BUFFER.
//
// To store keys, store podrank_key_format() with them, and make them without a now, by which they would age: with options
// NULL, or without PODRANK_OPTIONS_NOW. A key also holds the rank, which changes when another pod comes to the node or leaves it:
// make the keys of all pods on that node again, or leave all ranks at 0.
PODRANK_NODISCARD
int32_t podrank_key(const struct podrank_pod *pod,
                    const struct podrank_options *options,
                    uint8_t *key,
                    size_t key_len);

// The sizes, as the library has them. No struct has padding, so with the right size each member is in its place. If one of these does not
// hold, it declares an array of negative size, which no C or C++ compiler accepts.
#define PODRANK_ASSERT_NAMED(line, condition) extern char podrank_layout_differs_in_podrank_##line[(condition) ? 1 : -1]
#define PODRANK_ASSERT_AT(line, condition) PODRANK_ASSERT_NAMED(line, condition)
#define PODRANK_ASSERT(condition) PODRANK_ASSERT_AT(__LINE__, condition)

PODRANK_ASSERT(sizeof(podrank_pod) == 64);
PODRANK_ASSERT(sizeof(podrank_options) == 16);
PODRANK_ASSERT(sizeof(podrank_scratch) == 64);
PODRANK_ASSERT(sizeof(podrank_row) == 24);
PODRANK_ASSERT(sizeof(podrank_node_name) == 2 * sizeof(void *));

#undef PODRANK_ASSERT
#undef PODRANK_ASSERT_AT
#undef PODRANK_ASSERT_NAMED

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_H

// podrank: the other decisions of a ReplicaSet controller, for a controller of your own.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_CONTROLLER_H
#define PODRANK_CONTROLLER_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

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

// podrank: how likely Kubernetes deletes each pod.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_PROBABILITIES_H
#define PODRANK_PROBABILITIES_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

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

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

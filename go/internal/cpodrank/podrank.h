// podrank: which pods go first when Kubernetes scales down, as one total order.
// SPDX-License-Identifier: Apache-2.0
//
// Made by cbindgen from ffi/: do not edit.
//
// WHAT EVERY CALL PROMISES, by number; each has a test of that number.
//
//  1. Status. Functions return PODRANK_OK (0) or a PODRANK_ERR_ number, which podrank_status_str puts in words. Numbers
//     are never used again. (The functions that give a static text or the ABI number return it.)
//  2. Outputs are written only on success. Scratch and counts may change in any case.
//  3. NULL is allowed where the length is 0, and for options, where it means the defaults. Else PODRANK_ERR_NULL.
//  4. Every pointer is aligned as its type is in C. Else PODRANK_ERR_MISALIGNED.
//  5. A buffer that is written overlaps no other. Else PODRANK_ERR_OVERLAP.
//  6. Lengths count elements, not bytes, up to UINT32_MAX. Else PODRANK_ERR_TOO_LONG.
//  7. Records are sound: a known phase, known flags, reserved bytes zero. Else PODRANK_ERR_PHASE, PODRANK_ERR_FLAGS or
//     PODRANK_ERR_RESERVED; podrank_validate says which record.
//  8. Nothing is allocated, locked or kept in globals, and const means read only: any function may be called from any
//     thread, on shared inputs too.
//  9. No pointer is kept after the call, but for those to node names in the table of podrank_node_number.
// 10. Every call returns: no panic, no abort, no unbounded wait, whatever the buffers hold.
//
// What is left to you: a pointer that is not NULL points to as many readable (or, for outputs, writable) elements as the
// length says, and nobody else writes them meanwhile.
//
// ORDER. These rules are asked in turn; the first that tells two pods apart decides: unassigned first; lower phase; not
// ready; lower deletion cost; higher rank; preferred (if turned on); ready for a shorter time, unset first; more restarts;
// more sidecar restarts; created later, unset first; smaller UID. With PODRANK_NOW, two ages between the same powers of
// two nanoseconds are equal, and the next rule decides.
//
// CERTAIN AND CONTESTED. Kubernetes itself does not sort by an order: of two such ages it asks the UID at once, and so can
// go in a circle, X before Z before Y before X. Then the order of its list decides who goes. podrank_settle tells apart
// what does not depend on that: pods that CERTAINLY go whatever the list, pods that certainly stay, and CONTESTED ones in
// between, bound together by such circles, of which a known number goes but nobody can say which. podrank_select has no
// such pods: it gives one answer, by the order.
//
// AROUND THE ORDER. What a ReplicaSet controller decides to keep as many pods as are wanted, for a controller of your own:
// podrank_plan says how many to create or delete; podrank_slow_start_begin and _report, in what batches to create, for
// deletions may all be asked for at once; podrank_expect_ and podrank_..._observed keep what was asked for and not yet seen,
// so that nothing is asked for twice; podrank_availability counts the ready and the available. None needs another. Look at a
// set whenever it or a pod of it changes (and one that it could adopt), when a request failed (after a pause of yours), when
// look_again says so, and
// after PODRANK_EXPECTATIONS_TIMEOUT where expectations are not satisfied.
//
// DEPLOYMENTS. A Deployment sizes ReplicaSets, and each ReplicaSet deletes its own pods. podrank_deployment_next predicts the
// sizes that the Deployment's next sync writes, and says why. podrank_percent_parse and podrank_replica_set_annotations read
// texts that it depends on.


#ifndef PODRANK_H
#define PODRANK_H

#include <stddef.h>
#include <stdint.h>
// Zero but for the times, which are unset: `podrank_pod pod = PODRANK_POD_INIT;`
#define PODRANK_POD_INIT \
    { { 0 }, PODRANK_TIME_UNSET, PODRANK_TIME_UNSET, 0, 0, 0, 0, 0, 0, 0, { 0 } }

// The default options: `podrank_options options = PODRANK_OPTIONS_INIT;`
#define PODRANK_OPTIONS_INIT \
    { (uint32_t)sizeof(podrank_options), 0, 0 }

// No expectations: `podrank_expectations expectations = PODRANK_EXPECTATIONS_INIT;`
#define PODRANK_EXPECTATIONS_INIT \
    { 0, 0, 0, 0, 0 }

// An old ReplicaSet of size 0: `podrank_replica_set set = PODRANK_REPLICA_SET_INIT;`
#define PODRANK_REPLICA_SET_INIT \
    { PODRANK_TIME_UNSET, 0, 0, 0, 0, 0, 0, 0, { 0 } }

// Put into a function, it makes the program link with a library of this header's ABI alone.
#define PODRANK_REQUIRE_ABI() ((void)podrank_abi_1())


// The number of the ABI that this header describes.
#define PODRANK_ABI 1

// now is set: ages are log-scaled, as in kube-controller-manager.
#define PODRANK_NOW 1

// Turns the feature gate PodDeletionCost off (on by default: beta since Kubernetes 1.22).
#define PODRANK_POD_DELETION_COST_OFF 2

// Turns the feature gate LogarithmicScaleDown off (on by default since Kubernetes 1.22, always on since 1.31).
#define PODRANK_LOGARITHMIC_SCALE_DOWN_OFF 4

// Turns PreferForScaleDown on (off by default: no release of Kubernetes has it).
#define PODRANK_PREFER_FOR_SCALE_DOWN_ON 8

// The largest size of options that any library takes.
#define PODRANK_OPTIONS_SIZE_MAX 1024

// The length of a key in bytes.
#define PODRANK_KEY_LEN 64

// No moment at all. Not the epoch.
#define PODRANK_TIME_UNSET INT64_MIN

// Pending, and any phase that Kubernetes does not know.
#define PODRANK_PHASE_PENDING 0

// Unknown.
#define PODRANK_PHASE_UNKNOWN 1

// Running.
#define PODRANK_PHASE_RUNNING 2

// spec.nodeName is not empty.
#define PODRANK_POD_ASSIGNED 1

// The first condition of type Ready has status True.
#define PODRANK_POD_READY 2

// The label kubernetes.io/prefer-for-scale-down is present, whatever its value.
#define PODRANK_POD_PREFERRED 4

// The rules, in the order in which they are asked. A rule keeps its number for ever; rules to come get numbers between.
#define PODRANK_RULE_NONE 0

// Unassigned before assigned.
#define PODRANK_RULE_UNASSIGNED 10

// Pending before unknown before running.
#define PODRANK_RULE_PHASE 20

// Not ready before ready.
#define PODRANK_RULE_NOT_READY 30

// Lower deletion cost before higher.
#define PODRANK_RULE_DELETION_COST 40

// Higher rank before lower.
#define PODRANK_RULE_RANK 50

// Preferred before not preferred. Off unless PODRANK_PREFER_FOR_SCALE_DOWN_ON.
#define PODRANK_RULE_PREFERRED 60

// Among ready pods: no ready time before any, then ready for a shorter time before longer.
#define PODRANK_RULE_READY_TIME 70

// More restarts before fewer.
#define PODRANK_RULE_RESTARTS 80

// More sidecar restarts before fewer.
#define PODRANK_RULE_SIDECAR_RESTARTS 85

// No creation time before any, then younger before older.
#define PODRANK_RULE_CREATION_TIME 90

// Smaller UID before larger.
#define PODRANK_RULE_UID 100

// Room for the rows of podrank_explain, of rules to come as well.
#define PODRANK_ROWS_MAX 16

// a and b are 0 for no and 1 for yes.
#define PODRANK_KIND_BOOL 1

// a and b are PODRANK_PHASE_ values.
#define PODRANK_KIND_PHASE 2

// a and b are plain numbers.
#define PODRANK_KIND_NUMBER 3

// a and b are nanoseconds since the Unix epoch, or PODRANK_TIME_UNSET.
#define PODRANK_KIND_TIME 4

// a and b are the power of two that the age in nanoseconds reaches (0 to 62), -1 for a time that is not before now, or
// PODRANK_TIME_UNSET.
#define PODRANK_KIND_AGE_BUCKET 5

// UIDs do not fit an integer: a and b are 0, read the pods.
#define PODRANK_KIND_UID 6

// Done.
#define PODRANK_OK 0

// A pointer is NULL where its length is not 0.
#define PODRANK_ERR_NULL 1

// A pointer is not aligned for what it points to.
#define PODRANK_ERR_MISALIGNED 2

// A buffer that is written overlaps another.
#define PODRANK_ERR_OVERLAP 3

// A length is above UINT32_MAX, or the buffer does not fit the address space.
#define PODRANK_ERR_TOO_LONG 4

// The options' size is one this library does not know, and more than zeros stand beyond what it knows.
#define PODRANK_ERR_OPTIONS_SIZE 5

// The options' flags have a bit without meaning.
#define PODRANK_ERR_OPTIONS_FLAGS 6

// A record's phase is none of the PODRANK_PHASE_ values.
#define PODRANK_ERR_PHASE 7

// A record's flags have a bit without meaning.
#define PODRANK_ERR_FLAGS 8

// A record's reserved bytes are not all zero.
#define PODRANK_ERR_RESERVED 9

// An assigned pod's node number is not below the number of counts.
#define PODRANK_ERR_NODE 10

// The table has no room for another node name.
#define PODRANK_ERR_NODES_FULL 11

// The node name is empty: a pod without a node is not assigned.
#define PODRANK_ERR_NODE_NAME 12

// The phase is Succeeded or Failed: such a pod is not active and never ranked.
#define PODRANK_ERR_INACTIVE 13

// The UID's text is not 36 bytes long.
#define PODRANK_ERR_UID_LENGTH 14

// The UID's text has no hyphen where one belongs.
#define PODRANK_ERR_UID_HYPHEN 15

// The UID's text has a byte that is none of 0-9 and a-f.
#define PODRANK_ERR_UID_DIGIT 16

// The deletion cost's text is empty.
#define PODRANK_ERR_COST_EMPTY 17

// The deletion cost's text starts with '+'.
#define PODRANK_ERR_COST_PLUS 18

// The deletion cost's text has a leading zero.
#define PODRANK_ERR_COST_ZERO 19

// The deletion cost's text is '-' alone.
#define PODRANK_ERR_COST_NO_DIGITS 20

// The deletion cost's text has a byte that is not a digit.
#define PODRANK_ERR_COST_DIGIT 21

// The deletion cost is outside -2147483648 to 2147483647.
#define PODRANK_ERR_COST_RANGE 22

// There are more keys than the room has places.
#define PODRANK_ERR_KEYS_FULL 23

// The percentage's text does not end with '%': a number of pods is an integer, not a text.
#define PODRANK_ERR_PERCENT_SIGN 40

// The percentage's text has no digits before '%'.
#define PODRANK_ERR_PERCENT_NO_DIGITS 41

// The percentage's text has a byte before '%' that is not a digit.
#define PODRANK_ERR_PERCENT_DIGIT 42

// The percentage is above PODRANK_PERCENT_MAX.
#define PODRANK_ERR_PERCENT_RANGE 43

// A number of replicas or of pods is negative.
#define PODRANK_ERR_NEGATIVE 44

// The length of a UID's text, without a NUL.
#define PODRANK_UID_TEXT_LEN 36

// Neither pod is before the other.
#define PODRANK_RELATION_TIE 0

// a is before b.
#define PODRANK_RELATION_BEFORE 1

// b is before a.
#define PODRANK_RELATION_AFTER 2

// How many pods kube-controller-manager creates or deletes in one sync at most.
#define PODRANK_BURST_REPLICAS 500

// How long expectations are waited for, in nanoseconds: 5 minutes.
#define PODRANK_EXPECTATIONS_TIMEOUT 300000000000

// The largest percentage.
#define PODRANK_PERCENT_MAX 4194304

// spec.paused.
#define PODRANK_DEPLOYMENT_PAUSED 1

// It has a metadata.deletionTimestamp.
#define PODRANK_DEPLOYMENT_BEING_DELETED 2

// Its annotation deprecated.deployment.rollback.to is a 64-bit integer.
#define PODRANK_DEPLOYMENT_ROLLING_BACK 4

// spec.strategy.type is Recreate, not RollingUpdate.
#define PODRANK_DEPLOYMENT_RECREATE 8

// max_surge is a percentage.
#define PODRANK_DEPLOYMENT_SURGE_PERCENT 16

// max_unavailable is a percentage.
#define PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT 32

// A pod of one of its sets, the new set left out, is neither Succeeded nor Failed. Read only with
// PODRANK_DEPLOYMENT_RECREATE.
#define PODRANK_DEPLOYMENT_OLD_PODS_RUN 64

// The set's pod template equals the Deployment's by Kubernetes' semantic equality (nil is empty, 1000m is 1), the label
// pod-template-hash left out. The oldest such set is the new set, all others are old.
#define PODRANK_SET_CURRENT_TEMPLATE 1

// The annotation deployment.kubernetes.io/desired-replicas is valid: digits, at most 2147483647.
#define PODRANK_SET_DESIRED 2

// That annotation is not valid, but a 64-bit integer with or without a sign, and the number is its low 32 bits.
#define PODRANK_SET_DESIRED_LENIENT 4

// The annotation deployment.kubernetes.io/max-replicas is valid: digits, at most 2147483647.
#define PODRANK_SET_MAX 8

// There is no new set.
#define PODRANK_NO_SET UINT32_MAX

// The Deployment is being deleted: no set changes.
#define PODRANK_PATH_NOTHING 0

// The sync scales the sets there are: the Deployment is paused, or its count changed.
#define PODRANK_PATH_SCALE 10

// The sync replaces old pods by new ones, within the budgets.
#define PODRANK_PATH_ROLL 20

// The sync takes all old pods first, then creates the new ones.
#define PODRANK_PATH_RECREATE 30

// The sync only changes the Deployment's template, by its rollback annotation.
#define PODRANK_PATH_ROLLBACK 40

// The reasons. A reason keeps its number for ever. The sync has no say in the set.
#define PODRANK_REASON_UNTOUCHED 0

// Scale: the only active set, or none is and it is the new or newest one, gets the whole count.
#define PODRANK_REASON_ONLY_ACTIVE 10

// Scale: the new set has all the pods that the Deployment wants, available; old sets get 0.
#define PODRANK_REASON_SATURATED 20

// Scale: the set gets its proportional share.
#define PODRANK_REASON_SHARE 30

// Scale: the set gets as much of its proportional share as was left.
#define PODRANK_REASON_CUT_SHARE 31

// Scale: as the first set it gets its proportional share and what all shares left over.
#define PODRANK_REASON_SHARE_AND_LEFTOVER 32

// Scale: nothing is left for the set.
#define PODRANK_REASON_USED_UP 33

// Scale: the set has no share: max-replicas is missing, invalid or 0, and so is the Deployment's status.replicas.
#define PODRANK_REASON_NO_SHARE 34

// Scale: several sets are active and the strategy is Recreate: Kubernetes leaves them as they are.
#define PODRANK_REASON_NOT_ROLLING 35

// The new set has the count already.
#define PODRANK_REASON_AT_COUNT 40

// The new set gets the count: it was above it, or the strategy is Recreate and no old pod is left.
#define PODRANK_REASON_TO_COUNT 41

// Roll: the new set grows by what the count and the surge leave.
#define PODRANK_REASON_GROWS 42

// Roll: the new set cannot grow: there are as many pods as the count and the surge allow.
#define PODRANK_REASON_NO_SURGE 43

// Roll: the old set keeps its pods until the new set has changed; the next sync looks at it.
#define PODRANK_REASON_AFTER_NEW_SET 50

// Roll: pods of the old set that are not available go.
#define PODRANK_REASON_UNHEALTHY 51

// Roll: pods of the old set go as far as enough pods stay available.
#define PODRANK_REASON_AVAILABLE 52

// Roll: pods that are not available go first, then others as far as enough pods stay available.
#define PODRANK_REASON_UNHEALTHY_AND_AVAILABLE 53

// Roll: the old set keeps its pods, so that enough pods are available.
#define PODRANK_REASON_HELD_BACK 54

// Recreate: the old set gets 0.
#define PODRANK_REASON_RECREATED 60

// Recreate: the new set waits until no pod of another set is left.
#define PODRANK_REASON_WAITS 61

// The size would be below 0, after sums that do not fit 32 bits: the API server rejects that, and the sync ends.
#define PODRANK_REASON_REJECTED 90

// Roll: the old set has more available pods than it wants, as its status lags: the sync ends.
#define PODRANK_REASON_LAGS 91

// The sync ended before it came to the set.
#define PODRANK_REASON_NOT_REACHED 92

// What the order reads of one active pod. Only active pods become records: phase neither Succeeded nor Failed,
// and no metadata.deletionTimestamp. Start from PODRANK_POD_INIT, which unsets both times.
//
// Times are nanoseconds since the Unix epoch, or PODRANK_TIME_UNSET where a timestamp is missing, null or
// 0001-01-01T00:00:00Z. podrank_time_from_unix makes them of seconds.
typedef struct podrank_pod {
    // metadata.uid as 16 bytes, most significant first: see podrank_uid_parse.
    uint8_t uid[16];
    // lastTransitionTime of the Ready condition. Read only of ready pods.
    int64_t ready_time;
    // metadata.creationTimestamp.
    int64_t creation_time;
    // Annotation controller.kubernetes.io/pod-deletion-cost: see podrank_deletion_cost. 0 if missing or invalid.
    int32_t deletion_cost;
    // How many active related pods share this pod's node, itself included: see podrank_count_ranks.
    uint32_t rank;
    // The largest restartCount of status.containerStatuses.
    uint32_t restarts;
    // The largest restartCount of the sidecars: those of status.initContainerStatuses whose container in
    // spec.initContainers has restartPolicy Always.
    uint32_t sidecar_restarts;
    // The node as a small number of your choice, for counting ranks: see podrank_node_number. The order does not
    // read it, and nothing reads it of an unassigned pod.
    uint32_t node;
    // status.phase: one of PODRANK_PHASE_PENDING, _UNKNOWN and _RUNNING.
    uint8_t phase;
    // Any of PODRANK_POD_ASSIGNED, _READY and _PREFERRED.
    uint8_t flags;
    // Zero.
    uint8_t reserved[10];
} podrank_pod;

// How to decide. NULL means the defaults, as do options that are all zero but for their size: Kubernetes' own feature
// gates, and no moment, which compares times as they are.
typedef struct podrank_options {
    // sizeof(podrank_options). Options may grow: a library takes the size of an older header and reads the rest as
    // default, and takes a larger size if all beyond what it knows is zero (up to PODRANK_OPTIONS_SIZE_MAX).
    uint32_t size;
    // Any of PODRANK_NOW and the changed gates. 0 is the default.
    uint32_t flags;
    // With PODRANK_NOW: the moment at which ages are taken, in nanoseconds since the Unix epoch. Else not read.
    int64_t now;
} podrank_options;

// What one rule says of two pods a and b.
typedef struct podrank_row {
    // The value of a that the rule looks at; kind says what it is.
    int64_t a;
    // The value of b.
    int64_t b;
    // PODRANK_RULE_...
    uint8_t rule;
    // 1 if the rule is asked at all: its gate is on and, for PODRANK_RULE_READY_TIME, both pods are ready.
    uint8_t applies;
    // 1 in the row that settles the pair: the first whose ordering is not 0. Else 0.
    uint8_t decides;
    // PODRANK_KIND_...
    uint8_t kind;
    // -1 if a goes first by this rule alone, 1 if b does, 0 if it ties or does not apply.
    int32_t ordering;
} podrank_row;

// Scratch of podrank_select for one victim. What stands in it means nothing to you.
typedef struct podrank_scratch {
    // Private.
    uint64_t words[8];
} podrank_scratch;

// A slot of a table of node names. Start from all zeros; then only podrank_node_number writes it.
typedef struct podrank_node_name {
    // The name's bytes, NULL of a free slot.
    const char *name;
    // Their number.
    size_t len;
} podrank_node_name;

// Creating pods in batches of 1, 2, 4 and so on, until one has a failure. podrank_slow_start_begin and _report write
// it; read it as you like.
typedef struct podrank_slow_start {
    // How many pods to create next, at once if you like; 0 at the end.
    uint32_t batch;
    // How many pods have not been created: failed or not tried, so far. At the end, nobody will ever see them: hand
    // the number to podrank_creations_observed.
    uint32_t missing;
} podrank_slow_start;

// What one set expects to see. PODRANK_EXPECTATIONS_INIT, all zeros, is none; make it that again when the set is gone. Where
// events come on another thread than syncs, all calls with it need a lock of yours.
typedef struct podrank_expectations {
    // When they were set.
    int64_t since;
    // How many creations are yet to be seen; negative if more were seen than expected.
    int64_t creations;
    // How many deletions are yet to be seen; negative if more were seen than expected.
    int64_t deletions;
    // How many keys stand in the room.
    uint32_t keys;
    // 0 if none are set.
    uint32_t is_set;
} podrank_expectations;

// What tells the pods of a set apart while they are being deleted: 16 bytes of your choice. The pod's UID does well;
// Kubernetes takes namespace and name.
typedef struct podrank_pod_key {
    // The bytes.
    uint8_t bytes[16];
} podrank_pod_key;

// What podrank_deployment_next reads of one ReplicaSet. Start from PODRANK_REPLICA_SET_INIT.
typedef struct podrank_replica_set {
    // metadata.creationTimestamp, as in podrank_pod.
    int64_t creation_time;
    // The place of metadata.name among the names of the sets, in the order of their bytes: a smaller name has a smaller
    // number. Sets created in one second are told apart by it.
    uint32_t name_order;
    // spec.replicas: the set's size.
    int32_t replicas;
    // status.replicas.
    int32_t status_replicas;
    // status.availableReplicas.
    int32_t available_replicas;
    // The number in an annotation: podrank_replica_set_annotations writes it, and its flags.
    int32_t desired_replicas;
    // The number in an annotation: podrank_replica_set_annotations writes it, and its flag.
    int32_t max_replicas;
    // Any of PODRANK_SET_...
    uint8_t flags;
    // Zero.
    uint8_t reserved[15];
} podrank_replica_set;

// What podrank_deployment_next reads of a Deployment. Start from all zeros.
typedef struct podrank_deployment {
    // spec.replicas: the count.
    int32_t replicas;
    // status.replicas.
    int32_t status_replicas;
    // spec.strategy.rollingUpdate.maxSurge: a number of pods, or with PODRANK_DEPLOYMENT_SURGE_PERCENT a percentage.
    int32_t max_surge;
    // spec.strategy.rollingUpdate.maxUnavailable: a number of pods, or with PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT a percentage.
    int32_t max_unavailable;
    // Any of PODRANK_DEPLOYMENT_...
    uint32_t flags;
    // Zero.
    uint8_t reserved[12];
} podrank_deployment;

// What a sync does to one ReplicaSet.
typedef struct podrank_replica_set_change {
    // The size that the set gets: its new spec.replicas.
    int32_t replicas;
    // How much of the change comes first, negative if pods go: the share of PODRANK_REASON_SHARE_AND_LEFTOVER, the pods
    // not available of PODRANK_REASON_UNHEALTHY_AND_AVAILABLE. For other reasons the whole change.
    int32_t part;
    // Why: PODRANK_REASON_...
    uint8_t reason;
    // Zero.
    uint8_t reserved[7];
} podrank_replica_set_change;

// What a sync does besides.
typedef struct podrank_deployment_step {
    // The budget maxSurge in pods, rounded up; 0 with Recreate.
    int32_t surge;
    // The budget maxUnavailable in pods, rounded down, but 1 if both came to 0, and at most the count; 0 with Recreate.
    int32_t unavailable;
    // The index of the new set; PODRANK_NO_SET if it does not exist yet.
    uint32_t new_set;
    // PODRANK_PATH_...
    uint8_t path;
    // 1 if the sync creates the new set, of size new_change.replicas, which can be 0. Else 0.
    uint8_t creates;
    // 1 if later syncs may change sizes, as statuses follow: the Deployment is neither paused nor being deleted, and after
    // this sync an old set still wants pods or the new set is missing or not of the Deployment's count. Else 0.
    uint8_t goes_on;
    // Zero.
    uint8_t reserved;
    // What becomes of the new set. If it does not exist yet: of which size it is created, or why it is not.
    struct podrank_replica_set_change new_change;
} podrank_deployment_step;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The release of the library, such as "1.2.3". The text is static: never free it.
const char *podrank_version(void);

// Exists in every library of ABI 1, and writes its number. A program that names it, as PODRANK_REQUIRE_ABI does, does
// not link with a library of another ABI.
uint32_t podrank_abi_1(void);

// Which of two pods goes first. Writes -1 if a does, 1 if b does, and 0 only if every rule ties, which pods with
// distinct UIDs never do.
int32_t podrank_compare(const struct podrank_pod *a,
                        const struct podrank_pod *b,
                        const struct podrank_options *options,
                        int32_t *ordering);

// As podrank_compare, with the rule that settled it: the first that tells the two apart, PODRANK_RULE_NONE if none
// does.
int32_t podrank_decide(const struct podrank_pod *a,
                       const struct podrank_pod *b,
                       const struct podrank_options *options,
                       int32_t *ordering,
                       uint8_t *rule);

// What every rule says of two pods. rows has room for PODRANK_ROWS_MAX rows; one is written per rule, in rule order,
// whether it applies or not, and their number to rows_len.
int32_t podrank_explain(const struct podrank_pod *a,
                        const struct podrank_pod *b,
                        const struct podrank_options *options,
                        struct podrank_row *rows,
                        size_t *rows_len);

// The pod's place in the order as PODRANK_KEY_LEN bytes, which memcmp compares as podrank_compare compares the pods. ONLY
// KEYS MADE WITH THE SAME now AND GATES COMPARE. The bytes are the same on every machine.
int32_t podrank_key(const struct podrank_pod *pod,
                    const struct podrank_options *options,
                    uint8_t *key);

// The first victims_len pods of the order, or all if there are fewer, as indices into pods: first to go first, equal
// pods by lower index. Writes their number to selected. The records do not move.
//
// scratch may be NULL and scratch_len 0. With as many as there are victims, selecting more than a few of them is mostly
// several times faster; less may be left alone, and so is any where pointers have fewer than 64 bits.
int32_t podrank_select(const struct podrank_pod *pods,
                       size_t pods_len,
                       const struct podrank_options *options,
                       uint32_t *victims,
                       size_t victims_len,
                       struct podrank_scratch *scratch,
                       size_t scratch_len,
                       size_t *selected);

// All pods in the order, as indices into pods: podrank_select of all. order has room for pods_len.
int32_t podrank_sort(const struct podrank_pod *pods,
                     size_t pods_len,
                     const struct podrank_options *options,
                     uint32_t *order);

// The name of a rule, such as "deletion-cost"; NULL of PODRANK_RULE_NONE and any other number. The text is static: never
// free it.
const char *podrank_rule_str(uint8_t rule);

// Finds the first record that no function would take. Every other function checks its records by itself and
// refuses; this one says which and why, for records from a file or another machine.
//
// Writes the index of the first such record and the status the others would return for it: PODRANK_ERR_PHASE,
// PODRANK_ERR_FLAGS or PODRANK_ERR_RESERVED. If all are sound, pods_len and PODRANK_OK.
int32_t podrank_validate(const struct podrank_pod *pods,
                         size_t pods_len,
                         size_t *first_unsound,
                         int32_t *why);

// Sets the rank of each pod to the number of pods on its node, among the pods and the others together. The others are
// active pods related to them but not to be chosen, such as those of the Deployment's other ReplicaSet; NULL and 0 if
// there are none. Unassigned pods share one count. Kubernetes fixes ranks before it sorts and does not count again.
//
// counts is scratch of one number per node: every assigned pod's node is below counts_len, or PODRANK_ERR_NODE.
int32_t podrank_count_ranks(struct podrank_pod *pods,
                            size_t pods_len,
                            const struct podrank_pod *others,
                            size_t others_len,
                            uint32_t *counts,
                            size_t counts_len);

// The time of this many seconds and nanoseconds since the Unix epoch. Times outside 1677-09-21 to 2262-04-11 become
// the nearest inside, never PODRANK_TIME_UNSET.
int32_t podrank_time_from_unix(int64_t seconds,
                               uint32_t nanoseconds,
                               int64_t *time);

// The text of a status, in English, without a full stop; "unknown status" of any other number. The text is
// static: never free it.
const char *podrank_status_str(int32_t status);

// Reads the text of metadata.uid: a lower-case UUID in groups of 8-4-4-4-12 hex digits, the one form that kube-apiserver
// writes. Writes 16 bytes to uid.
int32_t podrank_uid_parse(const char *text,
                          size_t text_len,
                          uint8_t *uid);

// Writes the text of a UID of 16 bytes and a NUL: PODRANK_UID_TEXT_LEN + 1 bytes in all.
int32_t podrank_uid_format(const uint8_t *uid, char *text);

// Reads the text of status.phase: Pending, Unknown, Running or any other text Kubernetes might have, which counts as Pending.
// Writes a PODRANK_PHASE_ value. Succeeded and Failed are PODRANK_ERR_INACTIVE: such a pod is never ranked.
int32_t podrank_phase_parse(const char *text,
                            size_t text_len,
                            uint8_t *phase);

// Reads the text of annotation controller.kubernetes.io/pod-deletion-cost as Kubernetes does: '-' or a digit from 1 to 9
// first (or exactly "0"), then a base-10 int32. A text that is refused (PODRANK_ERR_COST_...) counts as 0 in Kubernetes,
// and a missing annotation is 0.
int32_t podrank_deletion_cost(const char *text,
                              size_t text_len,
                              int32_t *cost);

// Numbers node names: writes to node the number of this name in a table that you own and zeroed before the first call,
// the same number for the same name, below table_len. The table keeps the pointer: the name's bytes stay where and
// what they are for as long as the table is used.
//
// Give the table a third more slots than there are nodes; fuller, names take longer to find. PODRANK_ERR_NODES_FULL if
// the name is new and no slot is free.
int32_t podrank_node_number(struct podrank_node_name *table,
                            size_t table_len,
                            const char *name,
                            size_t name_len,
                            uint32_t *node);

// What the comparator of kube-controller-manager says of two pods: a PODRANK_RELATION_ value, and the rule that settled it,
// PODRANK_RULE_NONE of a tie. PreferForScaleDown does not exist there and is not looked at.
//
// NEVER SORT BY IT. Three pods can each be before the next, in a circle: where two different times fall between the same
// powers of two nanoseconds of age, it asks the UID at once, and where they are the same, the restarts first.
int32_t podrank_upstream(const struct podrank_pod *a,
                         const struct podrank_pod *b,
                         const struct podrank_options *options,
                         int32_t *relation,
                         uint8_t *rule);

// Which of the pods kube-controller-manager deletes when it deletes k of them. Since its comparator goes in circles, it
// is sometimes the order of its list that decides. So order gets the indices of all pods, first those that are CERTAIN
// to go (certain_len of them, first to go first), then the CONTESTED ones (contested_len), of which k - certain_len go,
// nobody can say which; the rest stay. If k is pods_len or more, all are certain. Ranks are for you to count, or to leave at 0 where Kubernetes counts none.
//
// It holds for this now: a pod whose age reaches a power of two before the controller looks may change its place. order
// has room for pods_len indices, scores is scratch of pods_len numbers.
int32_t podrank_settle(const struct podrank_pod *pods,
                       size_t pods_len,
                       const struct podrank_options *options,
                       size_t k,
                       uint32_t *order,
                       uint64_t *scores,
                       size_t *certain_len,
                       size_t *contested_len);

// What one sync of a set does: creates so many pods or deletes so many, or writes 0 to both. wanted is spec.replicas,
// active the number of its active pods: neither Succeeded nor Failed nor with a metadata.deletionTimestamp. As many are
// created or deleted as are missing or too many, and burst_replicas at most (PODRANK_BURST_REPLICAS in Kubernetes); the
// next sync goes on.
//
// Nothing is done while satisfied is 0 (podrank_expectations_satisfied, asked before you list the pods: else the list may
// be older than the answer), nor if being_deleted is not 0: the set is being deleted.
int32_t podrank_plan(uint32_t wanted,
                     uint32_t active,
                     uint32_t burst_replicas,
                     int32_t satisfied,
                     int32_t being_deleted,
                     uint32_t *creations,
                     uint32_t *deletions);

// Starts to create count pods:
//
//     podrank_expect_creations(&expectations, count, now);
//     podrank_slow_start_begin(count, &start);
//     while (start.batch > 0)
//         podrank_slow_start_report(&start, count_of_failures_when_creating(start.batch));
//     podrank_creations_observed(&expectations, start.missing);
int32_t podrank_slow_start_begin(uint32_t count, struct podrank_slow_start *start);

// Says how many pods of the batch could not be created; more than the batch has count as all of it. A batch with a
// failure is the last. A refusal because the namespace is being terminated is no failure: that pod stays expected.
int32_t podrank_slow_start_report(struct podrank_slow_start *start,
                                  uint32_t failures);

// Expects so many creations and no deletion, from now on: call it before you create. Replaces what was expected, but for
// the keys of deletions not yet seen: seen now, they lower the number of deletions below zero.
//
// now is nanoseconds since any moment you like, the same one in all calls: only differences count. PODRANK_TIME_UNSET
// makes expectations wait for ever.
int32_t podrank_expect_creations(struct podrank_expectations *expectations,
                                 uint32_t count,
                                 int64_t now);

// Expects the deletion of the pods with these keys, each once, and no creation, from now on: call it before you delete.
// Replaces what was expected.
//
// room is memory for the keys, yours and the same in all calls for one set; only podrank_expect_deletions and
// podrank_deletion_observed write it. PODRANK_ERR_KEYS_FULL if there are more keys than it has places; one
// for each pod that a plan may delete is enough. Each key is compared with those before it.
int32_t podrank_expect_deletions(struct podrank_expectations *expectations,
                                 struct podrank_pod_key *room,
                                 size_t room_len,
                                 const struct podrank_pod_key *keys,
                                 size_t keys_len,
                                 int64_t now);

// Takes count creations for seen: 1 for each pod that is first seen with this set as its controller, and as many as could
// not be created and never will be seen. Not for an orphan that the set adopts, nor for a pod that is being deleted when
// it is first seen: that is a deletion. Do not report one pod twice. The number may go below zero. Does nothing if no
// expectations are set.
int32_t podrank_creations_observed(struct podrank_expectations *expectations,
                                   uint32_t count);

// Takes the deletion of the pod with this key for seen: it is being deleted, or gone, or could not be deleted, whoever
// controls it by now. Writes 1 to counted if it was expected and not seen before; else 0, and nothing else changes.
// Report a deletion as often as you hear of it.
int32_t podrank_deletion_observed(struct podrank_expectations *expectations,
                                  struct podrank_pod_key *room,
                                  size_t room_len,
                                  const struct podrank_pod_key *key,
                                  int32_t *counted);

// Whether the set may act: writes 1 if no expectations are set, if neither number is above 0, or if they were set more
// than PODRANK_EXPECTATIONS_TIMEOUT nanoseconds ago; else 0. An event can be lost: if it is 0, ask again after that time, too.
int32_t podrank_expectations_satisfied(const struct podrank_expectations *expectations,
                                       int64_t now,
                                       int32_t *satisfied);

// How many of the pods are ready and how many available: ready for min_ready_seconds (spec.minReadySeconds) or longer at
// this now, in nanoseconds since the Unix epoch. With min_ready_seconds 0, every ready pod is available; else a pod without
// a ready time is not, nor is any with PODRANK_TIME_UNSET for now.
//
// Writes to look_again in how many nanoseconds the next of them is available if it stays ready, and not a nanosecond
// earlier: round it up to what your timer knows. 0 if there is none to wait for.
int32_t podrank_availability(const struct podrank_pod *pods,
                             size_t pods_len,
                             uint32_t min_ready_seconds,
                             int64_t now,
                             size_t *ready,
                             size_t *available,
                             uint64_t *look_again);

// Reads maxSurge or maxUnavailable where it is a text: one or more digits and '%'. Writes the percentage. The text "3" is
// PODRANK_ERR_PERCENT_SIGN, as in Kubernetes: a number of pods is an integer.
int32_t podrank_percent_parse(const char *text,
                              size_t text_len,
                              uint32_t *percent);

// Reads the texts of a ReplicaSet's annotations deployment.kubernetes.io/desired-replicas and
// deployment.kubernetes.io/max-replicas as Kubernetes does, and writes desired_replicas, max_replicas and their flags of
// set. A missing annotation has length 0. A text that Kubernetes does not accept is as good as missing, and no error.
int32_t podrank_replica_set_annotations(const char *desired,
                                        size_t desired_len,
                                        const char *max,
                                        size_t max_len,
                                        struct podrank_replica_set *set);

// Predicts the next sync of a Deployment: writes to changes, at the index of each set, the size that the set gets and why, and
// to step what else happens. Kubernetes' Deployment controller (release 1.37) never touches a pod: it sizes ReplicaSets.
//
// sets are the ReplicaSets that the Deployment owns and selects, in any order, those of size 0 included; changes has as many
// elements. Each set with pods takes one walk through all of them. A negative number is PODRANK_ERR_NEGATIVE.
int32_t podrank_deployment_next(const struct podrank_deployment *deployment,
                                const struct podrank_replica_set *sets,
                                size_t sets_len,
                                struct podrank_replica_set_change *changes,
                                struct podrank_deployment_step *step);

// The name of a reason, such as "share-and-leftover"; NULL for any other number. The text is static: never free it.
const char *podrank_reason_str(uint8_t reason);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PODRANK_H */

// Declares an array of negative size where a condition does not hold: no C or C++ compiler takes that.
#define PODRANK_ASSERT(condition) extern char podrank_h_does_not_fit_this_compiler[(condition) ? 1 : -1]

PODRANK_ASSERT(sizeof(podrank_pod) == 64);
PODRANK_ASSERT(offsetof(podrank_pod, uid) == 0);
PODRANK_ASSERT(offsetof(podrank_pod, ready_time) == 16);
PODRANK_ASSERT(offsetof(podrank_pod, creation_time) == 24);
PODRANK_ASSERT(offsetof(podrank_pod, deletion_cost) == 32);
PODRANK_ASSERT(offsetof(podrank_pod, rank) == 36);
PODRANK_ASSERT(offsetof(podrank_pod, restarts) == 40);
PODRANK_ASSERT(offsetof(podrank_pod, sidecar_restarts) == 44);
PODRANK_ASSERT(offsetof(podrank_pod, node) == 48);
PODRANK_ASSERT(offsetof(podrank_pod, phase) == 52);
PODRANK_ASSERT(offsetof(podrank_pod, flags) == 53);
PODRANK_ASSERT(offsetof(podrank_pod, reserved) == 54);
PODRANK_ASSERT(sizeof(podrank_options) == 16);
PODRANK_ASSERT(offsetof(podrank_options, size) == 0);
PODRANK_ASSERT(offsetof(podrank_options, flags) == 4);
PODRANK_ASSERT(offsetof(podrank_options, now) == 8);
PODRANK_ASSERT(sizeof(podrank_row) == 24);
PODRANK_ASSERT(offsetof(podrank_row, a) == 0);
PODRANK_ASSERT(offsetof(podrank_row, b) == 8);
PODRANK_ASSERT(offsetof(podrank_row, rule) == 16);
PODRANK_ASSERT(offsetof(podrank_row, applies) == 17);
PODRANK_ASSERT(offsetof(podrank_row, decides) == 18);
PODRANK_ASSERT(offsetof(podrank_row, kind) == 19);
PODRANK_ASSERT(offsetof(podrank_row, ordering) == 20);
PODRANK_ASSERT(sizeof(podrank_scratch) == 64);
PODRANK_ASSERT(sizeof(podrank_slow_start) == 8);
PODRANK_ASSERT(offsetof(podrank_slow_start, batch) == 0);
PODRANK_ASSERT(offsetof(podrank_slow_start, missing) == 4);
PODRANK_ASSERT(sizeof(podrank_expectations) == 32);
PODRANK_ASSERT(offsetof(podrank_expectations, since) == 0);
PODRANK_ASSERT(offsetof(podrank_expectations, creations) == 8);
PODRANK_ASSERT(offsetof(podrank_expectations, deletions) == 16);
PODRANK_ASSERT(offsetof(podrank_expectations, keys) == 24);
PODRANK_ASSERT(offsetof(podrank_expectations, is_set) == 28);
PODRANK_ASSERT(sizeof(podrank_pod_key) == 16);
PODRANK_ASSERT(offsetof(podrank_pod_key, bytes) == 0);
PODRANK_ASSERT(sizeof(podrank_node_name) == 2 * sizeof(void *));
PODRANK_ASSERT(offsetof(podrank_node_name, name) == 0);
PODRANK_ASSERT(offsetof(podrank_node_name, len) == sizeof(void *));
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
PODRANK_ASSERT(offsetof(podrank_replica_set_change, reserved) == 9);
PODRANK_ASSERT(sizeof(podrank_deployment_step) == 32);
PODRANK_ASSERT(offsetof(podrank_deployment_step, surge) == 0);
PODRANK_ASSERT(offsetof(podrank_deployment_step, unavailable) == 4);
PODRANK_ASSERT(offsetof(podrank_deployment_step, new_set) == 8);
PODRANK_ASSERT(offsetof(podrank_deployment_step, path) == 12);
PODRANK_ASSERT(offsetof(podrank_deployment_step, creates) == 13);
PODRANK_ASSERT(offsetof(podrank_deployment_step, goes_on) == 14);
PODRANK_ASSERT(offsetof(podrank_deployment_step, reserved) == 15);
PODRANK_ASSERT(offsetof(podrank_deployment_step, new_change) == 16);

#undef PODRANK_ASSERT

package podrank

// A Rule is the name of a rule of the order. The constants are in the order in which the rules apply. Later releases may add
// rules.
type Rule string

// The rules.
const (
	// RuleUnassigned: pods without a node go before pods on one.
	RuleUnassigned Rule = "unassigned"
	// RulePhase: pending pods go before those whose phase is unknown, and these before running ones.
	RulePhase Rule = "phase"
	// RuleNotReady: pods that are not ready go before ready ones.
	RuleNotReady Rule = "not-ready"
	// RuleTier: pods of a lower tier go first. The tiers are those of [WithTier]; Kubernetes does not know them.
	RuleTier Rule = "tier"
	// RuleDeletionCost: pods with a lower deletion cost go first. [WithPodDeletionCost] can turn the rule off.
	RuleDeletionCost Rule = "deletion-cost"
	// RuleRank: pods with a higher rank go first. The rank is the number of related pods on the pod's node, unless [WithRanks] or
	// [WithSpread] changes it.
	RuleRank Rule = "rank"
	// RulePreferred: pods with [PreferForScaleDownLabel] go first. The rule applies only with [WithPreferForScaleDown].
	RulePreferred Rule = "preferred"
	// RuleReadyTime: of two ready pods, the one that has been ready for less time goes first, and one without a ready time goes
	// before any other. Times between the same powers of two nanoseconds tie: see [WithLogarithmicScaleDown].
	RuleReadyTime Rule = "ready-time"
	// RuleRestarts: pods with more restarts of a container go first.
	RuleRestarts Rule = "restarts"
	// RuleSidecarRestarts: pods with more restarts of a sidecar go first.
	RuleSidecarRestarts Rule = "sidecar-restarts"
	// RuleCreationTime: the younger pod goes first, and one without a creation time goes before any other. Ages tie as in
	// RuleReadyTime.
	RuleCreationTime Rule = "creation-time"
	// RuleUID: the pod with the smaller UID goes first. Kubernetes has no such rule: there, such pods tie.
	RuleUID Rule = "uid"
)

// A Reason says why a predicted sync does what it does to a pod or a ReplicaSet. The constants of each workload begin with its
// name. Later releases may add reasons.
type Reason string

// The reasons of [NextDeployment]. "Scale", "Roll" and "Recreate" at the start of a text name the [Path] on which it occurs.
const (
	// DeploymentReasonUntouched: the sync does not consider the set. This is the reason of every set on [PathNothing] and
	// [PathRollback], and elsewhere of a set of size 0 about which there is nothing to decide.
	DeploymentReasonUntouched Reason = "untouched"
	// DeploymentReasonOnlyActive: Scale: the set gets the whole count, because it is the only active one. If no set is active, the
	// new set gets it, or the newest set if the new set does not exist yet.
	DeploymentReasonOnlyActive Reason = "only-active"
	// DeploymentReasonSaturated: Scale: the new set already has the whole count, all available. So it keeps its size, and old sets
	// get 0.
	DeploymentReasonSaturated Reason = "saturated"
	// DeploymentReasonShare: Scale: the set gets its proportional share.
	DeploymentReasonShare Reason = "share"
	// DeploymentReasonCutShare: Scale: the set's proportional share is more than what is left to add or remove, so it gets only
	// that.
	DeploymentReasonCutShare Reason = "cut-share"
	// DeploymentReasonShareAndLeftover: Scale: the set is the largest. Besides its proportional share, it gets the remainder that
	// no set's share covers.
	DeploymentReasonShareAndLeftover Reason = "share-and-leftover"
	// DeploymentReasonUsedUp: Scale: the set keeps its size, because nothing is left to add or remove.
	DeploymentReasonUsedUp Reason = "used-up"
	// DeploymentReasonNoShare: Scale: the set keeps its size, because its share cannot be computed: [MaxReplicasAnnotation] is
	// missing, invalid or 0, and the Deployment's status.replicas is 0.
	DeploymentReasonNoShare Reason = "no-share"
	// DeploymentReasonNotRolling: Scale: the set keeps its size, because several sets are active and the strategy is Recreate.
	DeploymentReasonNotRolling Reason = "not-rolling"
	// DeploymentReasonAtCount: the new set already has the count.
	DeploymentReasonAtCount Reason = "at-count"
	// DeploymentReasonToCount: the new set gets the count as its size, because its size is above the count, or because the strategy
	// is Recreate and no old pod is left.
	DeploymentReasonToCount Reason = "to-count"
	// DeploymentReasonGrows: Roll: the new set grows as far as the count and the surge allow.
	DeploymentReasonGrows Reason = "grows"
	// DeploymentReasonNoSurge: Roll: the new set cannot grow, because there are already as many pods as the count and the surge
	// allow.
	DeploymentReasonNoSurge Reason = "no-surge"
	// DeploymentReasonAfterNewSet: Roll: the old set keeps its size in this sync, because the new set changes first.
	DeploymentReasonAfterNewSet Reason = "after-new-set"
	// DeploymentReasonUnhealthy: Roll: the old set shrinks by pods that are not available.
	DeploymentReasonUnhealthy Reason = "unhealthy"
	// DeploymentReasonAvailable: Roll: the old set shrinks as far as it can while enough pods stay available.
	DeploymentReasonAvailable Reason = "available"
	// DeploymentReasonUnhealthyAndAvailable: Roll: the old set shrinks by pods that are not available, and then as far as it can
	// while enough pods stay available.
	DeploymentReasonUnhealthyAndAvailable Reason = "unhealthy-and-available"
	// DeploymentReasonHeldBack: Roll: the old set keeps its size, so that enough pods are available.
	DeploymentReasonHeldBack Reason = "held-back"
	// DeploymentReasonRecreated: Recreate: the old set gets 0.
	DeploymentReasonRecreated Reason = "recreated"
	// DeploymentReasonWaits: Recreate: the new set waits until no pod of an old set is left.
	DeploymentReasonWaits Reason = "waits"
	// DeploymentReasonRejected: the size overflowed 32 bits and is below 0. The API server rejects it, so the set does not change,
	// and the sync ends.
	DeploymentReasonRejected Reason = "rejected"
	// DeploymentReasonLags: Roll: the old set has more available pods than its size, because its status lags behind. The sync ends.
	DeploymentReasonLags Reason = "lags"
	// DeploymentReasonNotReached: the sync ended before it reached the set.
	DeploymentReasonNotReached Reason = "not-reached"
)

// The reasons of [NextStatefulSet]. The [Verdict] is at the start of each text. By is the pod in [StatefulSetOutcome].
const (
	// StatefulSetReasonInRange: Keep: the ordinal is in the range, and the pod is neither finished nor old.
	StatefulSetReasonInRange Reason = "in-range"
	// StatefulSetReasonTerminating: Keep: the pod is already being deleted.
	StatefulSetReasonTerminating Reason = "terminating"
	// StatefulSetReasonSetDeleted: Keep: the StatefulSet is being deleted, and does nothing.
	StatefulSetReasonSetDeleted Reason = "set-deleted"
	// StatefulSetReasonRecreateOff: Keep: the strategy is Recreate, whose feature gate is off, so every sync fails.
	StatefulSetReasonRecreateOff Reason = "recreate-off"
	// StatefulSetReasonBelowPartition: Keep: the pod is old, but its ordinal minus spec.ordinals.start is below the partition.
	StatefulSetReasonBelowPartition Reason = "below-partition"
	// StatefulSetReasonOnDelete: Keep: the pod is old, but with the strategy OnDelete only a user replaces pods.
	StatefulSetReasonOnDelete Reason = "on-delete"
	// StatefulSetReasonOutOfRange: Delete: the ordinal is not in the range.
	StatefulSetReasonOutOfRange Reason = "out-of-range"
	// StatefulSetReasonFinished: Delete: the pod is finished. Kubernetes deletes it and creates it anew.
	StatefulSetReasonFinished Reason = "finished"
	// StatefulSetReasonOld: Delete: the pod is old, and it is replaced.
	StatefulSetReasonOld Reason = "old"
	// StatefulSetReasonOldUnavailable: Delete: the pod is old and unavailable, so replacing it takes nothing from maxUnavailable.
	StatefulSetReasonOldUnavailable Reason = "old-unavailable"
	// StatefulSetReasonTwins: Contested: By shares its ordinal with another pod, and it is open which of the two Kubernetes sees.
	// The outcome of this pod depends on that, even if its own ordinal is unique.
	StatefulSetReasonTwins Reason = "twins"
	// StatefulSetReasonWaitsForMissing: Blocked: the pod called ByName does not exist. It is created first.
	StatefulSetReasonWaitsForMissing Reason = "waits-for-missing"
	// StatefulSetReasonWaitsForFinished: Blocked: By is finished. It is deleted and created anew first.
	StatefulSetReasonWaitsForFinished Reason = "waits-for-finished"
	// StatefulSetReasonWaitsForTermination: Blocked: By is being deleted.
	StatefulSetReasonWaitsForTermination Reason = "waits-for-termination"
	// StatefulSetReasonWaitsForRunning: Blocked: By is not Running.
	StatefulSetReasonWaitsForRunning Reason = "waits-for-running"
	// StatefulSetReasonWaitsForReady: Blocked: By is not ready.
	StatefulSetReasonWaitsForReady Reason = "waits-for-ready"
	// StatefulSetReasonWaitsForAvailable: Blocked: By has not been ready for minReadySeconds.
	StatefulSetReasonWaitsForAvailable Reason = "waits-for-available"
	// StatefulSetReasonWaitsForEither: Blocked: neither this pod, which is next, nor By, which has a lower ordinal, is available.
	// This pod goes as soon as one of the two is available.
	StatefulSetReasonWaitsForEither Reason = "waits-for-either"
	// StatefulSetReasonOneAtATime: Blocked: By goes first, because pods go one at a time.
	StatefulSetReasonOneAtATime Reason = "one-at-a-time"
	// StatefulSetReasonAfterScaling: Blocked: By has to go first, because scaling down comes before updating.
	StatefulSetReasonAfterScaling Reason = "after-scaling"
	// StatefulSetReasonBudget: Blocked: maxUnavailable is used up by pods that are missing, unavailable or deleted in this sync. One
	// of them is By, or, if By is nil, the missing pod called ByName.
	StatefulSetReasonBudget Reason = "budget"
	// StatefulSetReasonAfterRecreate: Blocked: with the strategy Recreate, By, which is old, has to go first.
	StatefulSetReasonAfterRecreate Reason = "after-recreate"
)

// The reasons of [NextJob].
const (
	// JobReasonKept: the pod stays: nothing asks for its deletion.
	JobReasonKept Reason = "kept"
	// JobReasonSuspended: all pods go, because the Job is suspended.
	JobReasonSuspended Reason = "suspended"
	// JobReasonEnding: all pods go, because the Job fails or has met its success criteria: its condition FailureTarget or
	// SuccessCriteriaMet is true.
	JobReasonEnding Reason = "ending"
	// JobReasonPodFailurePolicy: all pods go, because a failed pod makes the Job fail: a rule of its podFailurePolicy says so.
	JobReasonPodFailurePolicy Reason = "pod-failure-policy"
	// JobReasonBackoffLimit: all pods go, because the Job fails: more pods have failed than its backoffLimit.
	JobReasonBackoffLimit Reason = "backoff-limit"
	// JobReasonRestarts: all pods go, because the Job fails: the containers of its pods have restarted as often as its
	// backoffLimit or, if that is 0, once.
	JobReasonRestarts Reason = "restarts"
	// JobReasonDeadline: all pods go, because the Job fails: its activeDeadlineSeconds have passed.
	JobReasonDeadline Reason = "deadline"
	// JobReasonMaxFailedIndexes: all pods go, because the Job fails: more indexes have failed than its maxFailedIndexes.
	JobReasonMaxFailedIndexes Reason = "max-failed-indexes"
	// JobReasonFailedIndexes: all pods go, because the Job fails: each index has succeeded or failed, and at least one has failed.
	JobReasonFailedIndexes Reason = "failed-indexes"
	// JobReasonSuccessPolicy: all pods go, because the Job succeeds: the indexes that have succeeded meet its successPolicy.
	JobReasonSuccessPolicy Reason = "success-policy"
	// JobReasonNoIndex: the Job is Indexed, but the pod has no completion index.
	JobReasonNoIndex Reason = "no-index"
	// JobReasonBeyondCompletions: the pod's index is not below the Job's completions.
	JobReasonBeyondCompletions Reason = "beyond-completions"
	// JobReasonDuplicate: several pods have the same index. Only the one that comes last in Kubernetes' order stays.
	JobReasonDuplicate Reason = "duplicate"
	// JobReasonSurplus: more pods run than the Job wants, and this one is among the first in Kubernetes' order.
	JobReasonSurplus Reason = "surplus"
	// JobReasonNextSync: the pod can go only in a later sync, because one sync deletes at most 500 pods. Chance can decide which of
	// these pods go then.
	JobReasonNextSync Reason = "next-sync"
)

// The reasons of [NextDaemonSet].
const (
	// DaemonSetReasonKept: the pod stays: nothing asks for its deletion, or it is being deleted already.
	DaemonSetReasonKept Reason = "kept"
	// DaemonSetReasonNotWanted: the pod is not allowed to stay on its node.
	DaemonSetReasonNotWanted Reason = "not-wanted"
	// DaemonSetReasonSucceeded: the pod has succeeded.
	DaemonSetReasonSucceeded Reason = "succeeded"
	// DaemonSetReasonFailed: the pod has failed. Of several failed pods of a node, one goes in each sync, and chance decides which.
	DaemonSetReasonFailed Reason = "failed"
	// DaemonSetReasonBackedOff: the pod has failed, but the controller deleted another failed pod of the node only recently.
	DaemonSetReasonBackedOff Reason = "backed-off"
	// DaemonSetReasonSurplus: another pod of the node is kept: preferably an assigned one, then the oldest, then the one with the
	// smallest name.
	DaemonSetReasonSurplus Reason = "surplus"
	// DaemonSetReasonOldNotReady: with surge: the node has a new pod, and the old one is not ready.
	DaemonSetReasonOldNotReady Reason = "old-not-ready"
	// DaemonSetReasonReplaced: the new pod of the node is available, so the old one goes.
	DaemonSetReasonReplaced Reason = "replaced"
	// DaemonSetReasonNoNode: the pod is not assigned, and its node does not exist.
	DaemonSetReasonNoNode Reason = "no-node"
	// DaemonSetReasonOldUnavailable: update: the old pod is not available, so deleting it takes nothing from maxUnavailable.
	DaemonSetReasonOldUnavailable Reason = "old-unavailable"
	// DaemonSetReasonOldAvailable: update: the old pod is available. Such pods go while maxUnavailable allows it.
	DaemonSetReasonOldAvailable Reason = "old-available"
	// DaemonSetReasonAwaitsNew: update with surge: the old pod stays until the new one of its node is available. The new one may not
	// have been created yet.
	DaemonSetReasonAwaitsNew Reason = "awaits-new"
	// DaemonSetReasonNotStartable: update with surge: no pod may start on the node any more, and the old pod is not available.
	DaemonSetReasonNotStartable Reason = "not-startable"
	// DaemonSetReasonNotStartableAvailable: update with surge: no pod may start on the node any more. Such pods go only while
	// Available is above Wanted in [DaemonSetStep].
	DaemonSetReasonNotStartableAvailable Reason = "not-startable-available"
	// DaemonSetReasonUnsettled: update: the node has several old or several new pods or, without surge, an old and a new one. Pods
	// that are being deleted do not count. The first part of a later sync deletes the surplus.
	DaemonSetReasonUnsettled Reason = "unsettled"
	// DaemonSetReasonOnDelete: the old pod stays until somebody deletes it, because the strategy is OnDelete.
	DaemonSetReasonOnDelete Reason = "on-delete"
	// DaemonSetReasonAfterFirstPart: the old pod stays until a later sync, because this sync first has to create or delete pods in
	// its first part.
	DaemonSetReasonAfterFirstPart Reason = "after-first-part"
	// DaemonSetReasonNodeMissing: update with surge: the sync fails, because an old pod is alone on a node that does not exist.
	DaemonSetReasonNodeMissing Reason = "node-missing"
	// DaemonSetReasonNextSync: the pod goes in a later sync, because one part of a sync deletes at most 250 pods.
	DaemonSetReasonNextSync Reason = "next-sync"
)

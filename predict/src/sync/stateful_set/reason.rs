//! Why a pod of a `StatefulSet` is deleted, is kept or waits.

use crate::sync::named;

named! {
    /// Why a pod is deleted, is kept or waits.
    MemberReason {
        /// Keep: its ordinal is in the range, and it is neither finished nor old.
        InRange = "in-range",
        /// Keep: it is already being deleted.
        Terminating = "terminating",
        /// Keep: the set is being deleted, and does nothing.
        SetDeleted = "set-deleted",
        /// Keep: the set's strategy is `Recreate`, whose feature gate is off, so every sync fails.
        RecreateOff = "recreate-off",
        /// Keep: its name has no ordinal, so Kubernetes ignores it.
        NoOrdinal = "no-ordinal",
        /// Keep: it is old, but its ordinal minus the start is below the partition.
        BelowPartition = "below-partition",
        /// Keep: it is old, but with the strategy `OnDelete` only a user replaces pods.
        OnDelete = "on-delete",

        /// Delete: its ordinal is not in the range.
        OutOfRange = "out-of-range",
        /// Delete: it is finished. Kubernetes deletes it and creates it again.
        Finished = "finished",
        /// Delete: it is old, and it is replaced.
        Old = "old",
        /// Delete: it is old and unavailable, so replacing it takes nothing from the budget.
        OldUnavailable = "old-unavailable",

        /// Contested: the pod at index `by` shares its ordinal with another pod of the set, and it is open which of the two
        /// Kubernetes sees. The outcome of this pod depends on that, even if its own ordinal is unique.
        Twins = "twins",

        /// Contested: the ordinal `by_ordinal` is in the range and has no pod. The same sync creates it first, and deletes this pod
        /// only if that succeeds.
        AfterCreation = "after-creation",

        /// Blocked: the ordinal `by_ordinal` is in the range and has no pod. It is created first.
        WaitsForMissing = "waits-for-missing",
        /// Blocked: the pod at index `by` is finished. It is deleted and created again first.
        WaitsForFinished = "waits-for-finished",
        /// Blocked: the pod at index `by` is being deleted.
        WaitsForTermination = "waits-for-termination",
        /// Blocked: the pod at index `by` is not `Running`.
        WaitsForRunning = "waits-for-running",
        /// Blocked: the pod at index `by` is not ready.
        WaitsForReady = "waits-for-ready",
        /// Blocked: the pod at index `by` has not been ready for `minReadySeconds`.
        WaitsForAvailable = "waits-for-available",
        /// Blocked: neither this pod, which is next, nor the pod at index `by`, which has a lower ordinal, is available. This
        /// pod is deleted as soon as one of the two is available: Kubernetes does not require both.
        WaitsForEither = "waits-for-either",
        /// Blocked: the pod at index `by` is deleted first, because Kubernetes deletes one pod at a time.
        OneAtATime = "one-at-a-time",
        /// Blocked: the pod at index `by` has to be deleted first, because scaling down comes before updating.
        AfterScaling = "after-scaling",
        /// Blocked: the pods that are missing, are unavailable or are deleted in this sync use up `maxUnavailable`. One
        /// of them is the pod at index `by` or, if that is none, the missing one with the ordinal `by_ordinal`.
        Budget = "budget",
        /// Blocked: with the strategy `Recreate`, the pod at index `by`, which is old, has to be deleted first.
        AfterRecreate = "after-recreate",
    }
}

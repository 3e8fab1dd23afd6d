//! Why a pod of a Job goes or stays.

use crate::sync::named;

named! {
    /// Why a pod of a Job goes or stays.
    JobReason {
        /// It stays: nothing asks for its deletion.
        Kept = "kept",
        /// All pods go, because the Job is suspended.
        Suspended = "suspended",
        /// All pods go, because the Job fails or has met its success criteria: its condition `FailureTarget` or `SuccessCriteriaMet`
        /// is true.
        Ending = "ending",
        /// All pods go, because a failed pod makes the Job fail: a rule of its `podFailurePolicy` says so.
        PodFailurePolicy = "pod-failure-policy",
        /// All pods go, because the Job fails: more pods have failed than its `backoffLimit`.
        BackoffLimit = "backoff-limit",
        /// All pods go, because the Job fails: the containers of its pods have restarted as often as its `backoffLimit` or, if that is
        /// 0, once.
        Restarts = "restarts",
        /// All pods go, because the Job fails: its `activeDeadlineSeconds` have passed.
        Deadline = "deadline",
        /// All pods go, because the Job fails: more indexes have failed than its `maxFailedIndexes`.
        MaxFailedIndexes = "max-failed-indexes",
        /// All pods go, because the Job fails: each index has succeeded or failed, and at least one has failed.
        FailedIndexes = "failed-indexes",
        /// All pods go, because the Job succeeds: the indexes that have succeeded meet its `successPolicy`.
        SuccessPolicy = "success-policy",
        /// The Job is Indexed, but the pod has no completion index.
        NoIndex = "no-index",
        /// The pod's index is not below the Job's completions.
        BeyondCompletions = "beyond-completions",
        /// Several pods have the same index. All but the last of them in the order go.
        Duplicate = "duplicate",
        /// More pods run than the Job wants, and this one is among the first in the order.
        Surplus = "surplus",
        /// It can go only in a later sync, because one sync deletes at most [`MAX_DELETIONS`](super::MAX_DELETIONS) pods. Chance can
        /// decide which of these pods go then.
        NextSync = "next-sync",
    }
}

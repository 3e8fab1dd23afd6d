//! Why a pod of a Job goes or stays.

use crate::controller::names::{name_of, named, names};
use core::ffi::CStr;
use core::fmt;

/// Why a pod of a Job goes or stays. A reason keeps its number for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reason {
    /// It stays: nothing asks for its deletion.
    #[default]
    Kept = 181,
    /// All pods go, because the Job is suspended.
    Suspended = 184,
    /// All pods go, because the Job fails or has met its success criteria: its condition `FailureTarget` or `SuccessCriteriaMet`
    /// is true.
    Ending = 185,
    /// All pods go, because a failed pod makes the Job fail: a rule of its `podFailurePolicy` says so.
    PodFailurePolicy = 186,
    /// All pods go, because the Job fails: more pods have failed than its `backoffLimit`.
    BackoffLimit = 187,
    /// All pods go, because the Job fails: the containers of its pods have restarted as often as its `backoffLimit` or, if that is
    /// 0, once.
    Restarts = 188,
    /// All pods go, because the Job fails: its `activeDeadlineSeconds` have passed.
    Deadline = 189,
    /// All pods go, because the Job fails: more indexes have failed than its `maxFailedIndexes`.
    MaxFailedIndexes = 190,
    /// All pods go, because the Job fails: each index has succeeded or failed, and at least one has failed.
    FailedIndexes = 191,
    /// All pods go, because the Job succeeds: the indexes that have succeeded meet its `successPolicy`.
    SuccessPolicy = 192,
    /// The Job is Indexed, but the pod has no completion index.
    NoIndex = 195,
    /// The pod's index is not below the Job's completions.
    BeyondCompletions = 196,
    /// Several pods have the same index. All but the last of them in the order go.
    Duplicate = 197,
    /// More pods run than the Job wants, and this one is among the first in the order.
    Surplus = 200,
    /// It can go only in a later sync, because one sync deletes at most [`MAX_DELETIONS`](super::MAX_DELETIONS) pods. Chance can
    /// decide which of these pods go then.
    NextSync = 203,
}

names! { Reason, 24:
    Kept c"kept",
    Suspended c"suspended",
    Ending c"ending",
    PodFailurePolicy c"pod-failure-policy",
    BackoffLimit c"backoff-limit",
    Restarts c"restarts",
    Deadline c"deadline",
    MaxFailedIndexes c"max-failed-indexes",
    FailedIndexes c"failed-indexes",
    SuccessPolicy c"success-policy",
    NoIndex c"no-index",
    BeyondCompletions c"beyond-completions",
    Duplicate c"duplicate",
    Surplus c"surplus",
    NextSync c"next-sync",
}

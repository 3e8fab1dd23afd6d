//! Which pods count: the filter before all other decisions.

use crate::Phase;

/// Returns whether a pod counts as one of its set's replicas: Kubernetes' `IsPodActive`. The controller of a
/// `ReplicaSet` neither claims, ranks nor deletes pods that are not active.
///
/// `phase` is what [`Phase::parse`] returns for `status.phase`: `None` for `Succeeded` and `Failed`. A pod is
/// being deleted if it has a `metadata.deletionTimestamp`.
#[must_use]
pub const fn is_active(phase: Option<Phase>, is_being_deleted: bool) -> bool {
    phase.is_some() && !is_being_deleted
}

/// Returns whether a pod is being deleted and has not ended yet: Kubernetes' `IsPodTerminating`. If the set
/// owns such a pod and its selector matches, it counts in
/// [`terminating_replicas`](super::Status::terminating_replicas).
#[must_use]
pub const fn is_terminating(phase: Option<Phase>, is_being_deleted: bool) -> bool {
    phase.is_some() && is_being_deleted
}

//! Which pods count: the filter before all else.

use crate::Phase;

/// Whether a pod counts as one of its set's replicas: Kubernetes' `IsPodActive`. Others are neither claimed nor
/// ranked nor deleted.
///
/// The phase is what [`Phase::parse`] makes of `status.phase`, `None` for `Succeeded` and `Failed`; a pod is being
/// deleted once it has a `metadata.deletionTimestamp`.
#[must_use]
pub const fn is_active(phase: Option<Phase>, is_being_deleted: bool) -> bool {
    phase.is_some() && !is_being_deleted
}

/// Whether a pod still runs but is being deleted: Kubernetes' `IsPodTerminating`. Those of them that are the set's own
/// and match its selector are its [`terminating_replicas`](super::Status::terminating_replicas).
#[must_use]
pub const fn is_terminating(phase: Option<Phase>, is_being_deleted: bool) -> bool {
    phase.is_some() && is_being_deleted
}

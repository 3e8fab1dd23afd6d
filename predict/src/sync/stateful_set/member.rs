//! The record: what a sync reads from one pod of a `StatefulSet`, and the ordinal in its name.

/// What a sync reads from one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Member {
    /// The [`ordinal`] in its name.
    pub ordinal: i32,
    /// `status.phase` is `Running`. It is not read if the pod is finished.
    pub is_running: bool,
    /// `status.phase` is `Succeeded` or `Failed`.
    pub is_finished: bool,
    /// The condition `Ready` is `True`.
    pub is_ready: bool,
    /// The condition `Ready` is `True`, and has been for `spec.minReadySeconds` of the set.
    pub is_available: bool,
    /// The pod has a `metadata.deletionTimestamp`.
    pub is_terminating: bool,
    /// The label `controller-revision-hash` is the set's `status.updateRevision`. If not, the pod is old.
    pub is_updated: bool,
}

impl Member {
    /// Kubernetes' `isUnavailable`, which does not read the phase.
    pub(super) fn is_unavailable(self) -> bool {
        !self.is_available || self.is_terminating
    }
}

/// Returns the ordinal of a pod of this name, if the pod is a member of the `StatefulSet` called `set`: its name is the set's, a hyphen
/// and one or more digits, which are at most 2147483647.
///
/// Leading zeros are accepted unless names are `exact`, as [`Behavior::exact_names`](super::Behavior::exact_names) says: so `web-1`
/// and `web-01` have the same ordinal. A pod whose number is too large has no ordinal, and Kubernetes never touches it.
pub fn ordinal(set: &str, pod: &str, exact: bool) -> Option<i32> {
    let digits = pod.strip_prefix(set)?.strip_prefix('-')?;
    let has_zeros = digits.len() > 1 && digits.starts_with('0');
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !(exact && has_zeros);
    is_number.then(|| digits.parse().ok())?
}

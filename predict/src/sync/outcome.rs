//! What a sync does to one pod.

use crate::sync::named;
use serde::Serialize;

named! {
    /// What Kubernetes does to a pod. Its name is its word in JSON and in tables.
    #[derive(PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    Verdict {
        /// It is deleted for certain.
        Deleted = "deleted",
        /// It is deleted or kept: Kubernetes' rules leave it open, and something else decides, such as the controller's list order.
        Possible = "possible",
        /// It is deleted once another pod is available or deleted, and kept until then for certain.
        Waiting = "waiting",
        /// It is kept for certain.
        Kept = "kept",
    }
}

/// What a sync does to one pod that never waits for another, and why. `R` is the reason of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodOutcome<R> {
    /// Whether the pod goes.
    pub verdict: Verdict,
    /// Why.
    pub reason: R,
    /// If the pod is contested, the index of one pod of its group. It is the same for all pods of the group.
    pub group: usize,
    /// If the pod is contested, how many pods of its group go: at least 1, and fewer than there are.
    pub quota: usize,
}

impl<R> PodOutcome<R> {
    /// Returns the outcome of a pod that is not contested.
    pub(super) fn new(verdict: Verdict, reason: R) -> Self {
        Self { verdict, reason, group: 0, quota: 0 }
    }

    /// Makes the pod one of a group of which `quota` go.
    pub(crate) fn contest(&mut self, group: usize, quota: usize) {
        (self.verdict, self.group, self.quota) = (Verdict::Possible, group, quota);
    }

    /// Decides the pod, which keeps its reason.
    pub(crate) fn decide(&mut self, verdict: Verdict) {
        (self.verdict, self.group, self.quota) = (verdict, 0, 0);
    }
}

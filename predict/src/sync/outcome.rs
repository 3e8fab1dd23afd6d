//! What a sync does to one pod.

use serde::Serialize;

/// What happens to a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It certainly goes.
    Delete,
    /// It may go or stay: Kubernetes' rules leave it open, and something else decides, such as the controller's list order.
    Contested,
    /// It would go, but waits.
    Blocked,
    /// It certainly stays until the rollout goes on, and goes then.
    Later,
    /// It certainly stays.
    Keep,
}

impl Verdict {
    /// Returns it as a word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Delete => "deleted",
            Self::Contested => "possible",
            Self::Blocked | Self::Later => "waiting",
            Self::Keep => "kept",
        }
    }

    /// Returns it as a word, as in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Contested => "contested",
            Self::Blocked => "blocked",
            Self::Later => "later",
            Self::Keep => "keep",
        }
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
        (self.verdict, self.group, self.quota) = (Verdict::Contested, group, quota);
    }

    /// Decides the pod, which keeps its reason.
    pub(crate) fn decide(&mut self, verdict: Verdict) {
        (self.verdict, self.group, self.quota) = (verdict, 0, 0);
    }
}

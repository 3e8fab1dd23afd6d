//! What a set reports: its counts, and whether creating or deleting failed.

use super::{Availability, Plan};

/// The numbers in a `ReplicaSet`'s status. Write the status if it differs from the last one written, also if
/// only the generation differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status {
    /// `observedGeneration`: `metadata.generation` of the set, as it was read for this sync.
    pub observed_generation: i64,
    /// `replicas`: how many active pods the set has.
    pub replicas: u32,
    /// `fullyLabeledReplicas`: how many of them have all labels of the pod template.
    pub fully_labeled_replicas: u32,
    /// `readyReplicas`: how many of them are ready.
    pub ready_replicas: u32,
    /// `availableReplicas`: how many of them are available.
    pub available_replicas: u32,
    /// `terminatingReplicas`: how many [terminating](super::is_terminating) pods the set owns that its
    /// selector matches.
    pub terminating_replicas: u32,
}

impl Status {
    /// Returns the status of a set without pods, with this `metadata.generation`.
    #[must_use]
    pub fn new(generation: i64) -> Self {
        Self { observed_generation: generation, ..Self::default() }
    }

    /// Counts an active pod that the set keeps or adopts. Kubernetes counts pods as they were before the sync
    /// created or deleted any.
    pub fn add(&mut self, is_fully_labeled: bool, availability: Availability) {
        let is_available = availability == Availability::Available;
        for (count, counts) in [
            (&mut self.replicas, true),
            (&mut self.fully_labeled_replicas, is_fully_labeled),
            (&mut self.ready_replicas, availability.is_ready()),
            (&mut self.available_replicas, is_available),
        ] {
            *count = count.saturating_add(counts.into());
        }
    }

    /// Counts a terminating pod of the set.
    pub fn add_terminating(&mut self) {
        self.terminating_replicas = self.terminating_replicas.saturating_add(1);
    }
}

/// The reason of the condition `ReplicaFailure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureReason {
    /// A pod could not be created.
    FailedCreate,
    /// A pod could not be deleted.
    FailedDelete,
}

impl FailureReason {
    /// Returns the reason to report if a request of this plan fails. `None` for [`Plan::Nothing`], which makes no
    /// requests.
    #[must_use]
    pub const fn of(plan: Plan) -> Option<Self> {
        match plan {
            Plan::Nothing => None,
            Plan::Create(_) => Some(Self::FailedCreate),
            Plan::Delete(_) => Some(Self::FailedDelete),
        }
    }

    /// Returns the condition's `reason`: `FailedCreate` or `FailedDelete`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FailedCreate => "FailedCreate",
            Self::FailedDelete => "FailedDelete",
        }
    }
}

/// How the condition `ReplicaFailure` changes.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionChange {
    /// Unchanged, whether present or absent.
    Leave,
    /// Added, with status `True` and this reason.
    Add(FailureReason),
    /// Removed.
    Remove,
}

/// Returns how the condition `ReplicaFailure` changes after a sync: Kubernetes' `calculateStatus`.
///
/// `failed` is the reason if a request of this sync failed. It is not a failure if a pod is already gone when
/// it is deleted, or if a creation is rejected because the namespace is being terminated. `is_there` says
/// whether the set has the condition.
///
/// While requests keep failing, the condition keeps its first reason. A sync without a failure removes it,
/// even if it sent no request.
pub const fn failure_condition(failed: Option<FailureReason>, is_there: bool) -> ConditionChange {
    match failed {
        Some(reason) if !is_there => ConditionChange::Add(reason),
        None if is_there => ConditionChange::Remove,
        _ => ConditionChange::Leave,
    }
}

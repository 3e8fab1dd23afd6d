//! What a set reports: counts, and whether creating or deleting failed.

use super::{Availability, Plan};

/// A `ReplicaSet`'s status in numbers. To be written if it is another than the one last written: the generation
/// counts as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status {
    /// `observedGeneration`: `metadata.generation` of the set that was looked at.
    pub observed_generation: i64,
    /// `replicas`: the set's active pods.
    pub replicas: u32,
    /// `fullyLabeledReplicas`: those of them with all labels of the pod template, and perhaps more.
    pub fully_labeled_replicas: u32,
    /// `readyReplicas`: those of them that are ready.
    pub ready_replicas: u32,
    /// `availableReplicas`: those of them that are available.
    pub available_replicas: u32,
    /// `terminatingReplicas`: pods that are the set's own, match its selector and are
    /// [terminating](super::is_terminating).
    pub terminating_replicas: u32,
}

impl Status {
    /// No pods, for this `metadata.generation`.
    #[must_use]
    pub fn new(generation: i64) -> Self {
        Self { observed_generation: generation, ..Self::default() }
    }

    /// Counts an active pod of the set: one kept or adopted, not one released. Kubernetes counts them as they were
    /// before the sync created or deleted any.
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

/// Why a set has the condition `ReplicaFailure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureReason {
    /// A pod could not be created.
    FailedCreate,
    /// A pod could not be deleted.
    FailedDelete,
}

impl FailureReason {
    /// The reason if a request of this plan failed.
    #[must_use]
    pub const fn of(plan: Plan) -> Option<Self> {
        match plan {
            Plan::Nothing => None,
            Plan::Create(_) => Some(Self::FailedCreate),
            Plan::Delete(_) => Some(Self::FailedDelete),
        }
    }

    /// The condition's `reason`: `FailedCreate` or `FailedDelete`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FailedCreate => "FailedCreate",
            Self::FailedDelete => "FailedDelete",
        }
    }
}

/// What becomes of the condition `ReplicaFailure`.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionChange {
    /// It stays, or stays away.
    Leave,
    /// It is added, with status `True` and this reason.
    Add(FailureReason),
    /// It is removed.
    Remove,
}

/// What becomes of the condition `ReplicaFailure` after a sync, by why a request of it failed, if one did. A pod that
/// is gone when it is to be deleted is no failure, nor is a creation refused because the namespace is being
/// terminated.
///
/// A condition that is there keeps its first reason while requests go on failing; a sync without a failure removes
/// it, also one that did nothing. So does Kubernetes' `calculateStatus`.
pub const fn failure_condition(failed: Option<FailureReason>, is_there: bool) -> ConditionChange {
    match failed {
        Some(reason) if !is_there => ConditionChange::Add(reason),
        None if is_there => ConditionChange::Remove,
        _ => ConditionChange::Leave,
    }
}

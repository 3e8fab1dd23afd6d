//! The next sync of a `StatefulSet`: which pods it deletes, which it would delete but for a pod that it waits for, and
//! that pod.
//!
//! Kubernetes identifies the pods of a `StatefulSet` by the ordinal in their names, so neither age nor cost decides
//! which is deleted: the highest ordinal does. But a sync that deletes one pod at a time waits until all other pods are
//! available, and a single broken pod can keep a set from being scaled down or updated.
//!
//! | term | meaning |
//! |---|---|
//! | member | a pod whose name is the set's, a hyphen and an ordinal: [`ordinal`] |
//! | range | the ordinals from `start` to `start + replicas - 1` |
//! | condemned | a member whose ordinal is not in the range |
//! | old | not of the update revision |
//! | unavailable | has not been ready for `minReadySeconds` yet, or is being deleted |

mod member;
mod reason;
mod syncing;

pub use member::{Member, ordinal};
pub use reason::MemberReason;

use super::{IntOrPercent, Verdict};

/// What a sync reads from a `StatefulSet`.
#[derive(Clone, Copy, Debug)]
pub struct StatefulSetState {
    /// `spec.replicas`.
    pub replicas: i32,
    /// `spec.ordinals.start`: the first ordinal of the range.
    pub start: i32,
    /// `spec.podManagementPolicy`.
    pub management: PodManagement,
    /// `spec.updateStrategy`.
    pub update: Update,
    /// Whether the set has a `metadata.deletionTimestamp`.
    pub is_being_deleted: bool,
    /// What depends on the release of Kubernetes.
    pub behavior: Behavior,
}

/// What differs between releases of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Behavior {
    /// The feature gate `MaxUnavailableStatefulSet`.
    pub max_unavailable_gate: bool,
    /// The feature gate `StatefulSetRecreateStrategy`.
    pub recreate_gate: bool,
    /// Whether an update with [`PodManagement::Parallel`] replaces all old pods that are unavailable, and then others within the
    /// budget. If not, all that it replaces are within the budget.
    pub unavailable_first: bool,
    /// Whether a sync with [`PodManagement::Parallel`] creates missing pods before it deletes those out of the range.
    pub creates_first: bool,
    /// Whether the budget of an update is for the pods from the partition on alone. If not, it is for all pods.
    pub budget_from_partition: bool,
    /// Whether a pod is a member only if its name has no leading zeros in the ordinal.
    pub exact_names: bool,
}

impl StatefulSetState {
    /// Whether it wants a pod of this ordinal.
    pub(crate) fn is_in_range(&self, ordinal: i32) -> bool {
        ordinal >= self.start && i64::from(ordinal) < self.end()
    }

    /// The first ordinal after the range.
    pub(crate) fn end(&self) -> i64 {
        i64::from(self.start) + i64::from(self.replicas)
    }

    /// How many pods may be unavailable during an update. 0 without one.
    pub(crate) fn budget(&self) -> i64 {
        match self.update {
            Update::RollingUpdate { max_unavailable, .. } if self.behavior.max_unavailable_gate => {
                let of = i32::try_from(self.budgeted()).unwrap_or(i32::MAX);
                max_unavailable.resolve(of, false).max(1)
            }
            Update::RollingUpdate { .. } => 1,
            Update::OnDelete | Update::Recreate => 0,
        }
    }

    /// Of how many pods the budget is a part.
    fn budgeted(&self) -> i64 {
        (i64::from(self.replicas) - self.first_in_budget()).max(0)
    }

    /// The offset from `start` of the first pod that the budget is about.
    fn first_in_budget(&self) -> i64 {
        match self.update {
            Update::RollingUpdate { partition, .. } if self.behavior.budget_from_partition => {
                partition.into()
            }
            _ => 0,
        }
    }
}

/// How many pods a sync takes when it scales: `spec.podManagementPolicy`. How many an update replaces depends on [`Update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodManagement {
    /// One at a time, and only while the other pods are available.
    OrderedReady,
    /// All simultaneously.
    Parallel,
}

/// How a `StatefulSet` replaces its old pods: `spec.updateStrategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// From the highest ordinal down.
    RollingUpdate {
        /// Pods whose ordinal minus `start` is below this number are not updated.
        partition: i32,
        /// How many pods may be unavailable, at least 1. A percentage is rounded down. It is ignored if
        /// [`Behavior::max_unavailable_gate`] is off.
        max_unavailable: IntOrPercent,
    },
    /// Only when a user deletes a pod.
    OnDelete,
    /// All simultaneously. If [`Behavior::recreate_gate`] is off, every sync fails and does nothing.
    Recreate,
}

/// What a sync does with one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberOutcome {
    /// The index of the pod in `members`.
    pub member: usize,
    /// Whether it is deleted.
    pub verdict: Verdict,
    /// Why.
    pub reason: MemberReason,
    /// The pod that the reason refers to.
    pub by: Option<By>,
}

/// The pod that a reason refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct By {
    /// Its index in `members`. `None` if the ordinal has no pod.
    pub member: Option<usize>,
    /// Its ordinal.
    pub ordinal: i32,
}

/// Predicts the next sync of a `StatefulSet`. Returns an outcome for each member, the highest ordinal first.
///
/// `members` are the pods that the set owns and its selector matches, in any order, including those that are finished or being deleted.
/// If creating or deleting a pod fails, or a `PersistentVolumeClaim` cannot be created, Kubernetes ends the sync there, and fewer pods go.
/// If a number is negative, which Kubernetes does not allow, the result has no meaning.
pub fn next_sync(set: &StatefulSetState, members: &[Member]) -> Vec<MemberOutcome> {
    syncing::Syncing::new(set, members).run()
}

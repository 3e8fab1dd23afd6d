//! What a Deployment's next sync does to its `ReplicaSets`: which of them shrink or grow, by how much and why.
//!
//! Kubernetes' Deployment controller never touches a pod. It changes the sizes of `ReplicaSets`, and their controller then creates and
//! deletes the pods. The arithmetic agrees with Kubernetes even where 32-bit numbers overflow.
//!
//! | term | meaning |
//! |---|---|
//! | size | a set's `spec.replicas` |
//! | count | the Deployment's `spec.replicas` |
//! | new set | the oldest set that has the Deployment's pod template |
//! | old set | any other set |
//! | active set | a set whose size is above 0 |
//! | budgets | `maxSurge` and `maxUnavailable` as numbers of pods: [`Budgets`] |

mod budgets;
mod goes_on;
mod reason;
mod replica_set;
mod roll;
mod scale;
mod sets;

pub use budgets::Budgets;
pub use reason::SizeReason;
pub use replica_set::{Annotation, DESIRED_REPLICAS_ANNOTATION, MAX_REPLICAS_ANNOTATION, ReplicaSetState};
pub(crate) use sets::new_set;

use super::{IntOrPercent, named};
use sets::Sets;

/// What a sync reads from a Deployment.
#[derive(Clone, Copy, Debug)]
pub struct DeploymentState {
    /// `spec.replicas`: the count.
    pub replicas: i32,
    /// `status.replicas`.
    pub status_replicas: i32,
    /// `spec.strategy`.
    pub strategy: Strategy,
    /// `spec.paused`.
    pub is_paused: bool,
    /// Whether the Deployment has a `metadata.deletionTimestamp`.
    pub is_being_deleted: bool,
    /// Whether the annotation `deprecated.deployment.rollback.to` is a 64-bit integer, which asks for a rollback.
    pub is_rolling_back: bool,
}

/// How a Deployment replaces its pods.
#[derive(Clone, Copy, Debug)]
pub enum Strategy {
    /// A few at a time, within the [`Budgets`].
    RollingUpdate {
        /// `maxSurge`.
        max_surge: IntOrPercent,
        /// `maxUnavailable`.
        max_unavailable: IntOrPercent,
    },
    /// Deletes all old pods before it creates new ones.
    Recreate {
        /// Whether any pod of an old set is neither `Succeeded` nor `Failed`.
        old_pods_run: bool,
    },
}

named! {
    /// What kind of sync it is.
    Path {
        /// The Deployment is being deleted, so no set changes.
        Nothing = "nothing",
        /// Scales the sets that exist, because the Deployment is paused or its count changed.
        Scale = "scale",
        /// Replaces old pods with new ones, within the budgets.
        Roll = "roll",
        /// Deletes all old pods, and only then creates new ones.
        Recreate = "recreate",
        /// Changes the Deployment's template, as its rollback annotation demands. No set changes, but the new set is created if it does
        /// not exist yet.
        Rollback = "rollback",
    }
}

/// What a sync does to one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeChange {
    /// The size that the set gets: its new `spec.replicas`.
    pub replicas: i32,
    /// The part of the change in size that was decided first, negative if the set shrinks. With [`SizeReason::ShareAndLeftover`], it is
    /// the share, and the rest is the leftover. With [`SizeReason::UnhealthyAndAvailable`], it is the pods that are not available. With
    /// any other reason, it is the whole change.
    pub part: i32,
    /// Why.
    pub reason: SizeReason,
    /// Whether the sync also writes the set's annotations: the Deployment's count to desired-replicas, and the count plus the surge to
    /// max-replicas. It does so whenever it changes the size or creates the set, and when it scales in proportion even if the size
    /// does not change. If the size does not change and this is false, the sync writes nothing that a sync reads.
    pub annotates: bool,
}

/// What one sync does.
#[derive(Clone, Debug)]
pub struct Sync {
    /// What kind of sync it is.
    pub path: Path,
    /// The budgets that it applies.
    pub budgets: Budgets,
    /// What happens to each set.
    pub changes: Vec<SizeChange>,
    /// The index of the new set, or `None` if it does not exist yet.
    pub new_set: Option<usize>,
    /// What happens to the new set. If it does not exist yet, this is the size with which it is created, or why it is not created.
    pub new_change: SizeChange,
    /// Whether the sync creates the new set, perhaps with size 0.
    pub creates: bool,
}

impl Sync {
    /// Whether the API server rejects a size, so that the controller tries again and again.
    pub(crate) fn is_rejected(&self) -> bool {
        self.changes.iter().chain([&self.new_change]).any(|change| change.reason == SizeReason::Rejected)
    }
}

/// Predicts the next sync of a Deployment.
///
/// `sets` are the `ReplicaSets` that the Deployment owns and its selector matches, empty ones included: the oldest first, and of
/// equally old ones the one with the smaller name. If a number is negative, which Kubernetes does not allow, the result has no meaning.
pub fn next_sync(deployment: &DeploymentState, sets: &[ReplicaSetState]) -> Sync {
    let mut syncing = Syncing {
        deployment,
        budgets: Budgets::new(&deployment.strategy, deployment.replicas),
        sets: Sets::new(sets),
        changes: sets.iter().map(|set| SizeChange::keep(set.replicas, SizeReason::Untouched)).collect(),
        missing: SizeChange::keep(0, SizeReason::Untouched),
        creates: false,
    };
    let path = path(deployment, sets);
    match (path, &deployment.strategy) {
        (Path::Scale, _) => syncing.scale(),
        (Path::Rollback, _) if syncing.sets.new.is_none() => _ = syncing.create(),
        (Path::Rollback | Path::Nothing, _) => {}
        (_, Strategy::RollingUpdate { .. }) => syncing.roll(),
        (_, Strategy::Recreate { old_pods_run }) => syncing.recreate(*old_pods_run),
    }
    Sync {
        path,
        budgets: syncing.budgets,
        new_set: syncing.sets.new,
        new_change: syncing.sets.new.map_or(syncing.missing, |index| syncing.changes[index]),
        creates: syncing.creates,
        changes: syncing.changes,
    }
}

/// Returns the path of the sync. The conditions are in the order in which Kubernetes checks them.
fn path(deployment: &DeploymentState, sets: &[ReplicaSetState]) -> Path {
    let is_scaling = || {
        let mut active = sets.iter().filter(|set| set.is_active());
        active.any(|set| set.desired.valid().is_some_and(|desired| desired != deployment.replicas))
    };
    match deployment.strategy {
        _ if deployment.is_being_deleted => Path::Nothing,
        _ if deployment.is_paused => Path::Scale,
        _ if deployment.is_rolling_back => Path::Rollback,
        _ if is_scaling() => Path::Scale,
        Strategy::RollingUpdate { .. } => Path::Roll,
        Strategy::Recreate { .. } => Path::Recreate,
    }
}

/// A sync in progress.
struct Syncing<'a> {
    deployment: &'a DeploymentState,
    budgets: Budgets,
    sets: Sets<'a>,
    /// One for each set.
    changes: Vec<SizeChange>,
    /// What happens to the new set if it does not exist yet.
    missing: SizeChange,
    creates: bool,
}

impl Syncing<'_> {
    /// Records why the new set, which may not exist yet, does not change.
    fn give_new_set(&mut self, reason: SizeReason) {
        self.sets.new.map_or(&mut self.missing, |index| &mut self.changes[index]).reason = reason;
    }
}

impl SizeChange {
    /// Returns the change of a set that keeps this size, for this reason.
    fn keep(replicas: i32, reason: SizeReason) -> Self {
        Self { replicas, part: 0, reason, annotates: false }
    }

    /// Gives the set this size, for this reason.
    fn set(&mut self, replicas: i32, reason: SizeReason) {
        self.part = replicas.wrapping_sub(self.replicas);
        self.replicas = replicas;
        self.reason = reason;
        self.annotates = self.part != 0;
    }
}

//! What a Deployment's next sync does to its `ReplicaSet`s: which of them shrink or grow, by how much and why.
//!
//! Kubernetes' Deployment controller never touches a pod. It changes the sizes of `ReplicaSet`s, and the
//! `ReplicaSet` controller then creates and deletes the pods. [`next_sync`] predicts these sizes. It is pure
//! arithmetic that agrees with Kubernetes 1.37, even where 32-bit numbers overflow.
//! [`Policy::settle`](crate::Policy::settle) predicts which pods of a set are deleted.
//!
//! | term | meaning |
//! |---|---|
//! | size | a set's `spec.replicas` |
//! | count | the Deployment's `spec.replicas` |
//! | new set | the oldest set that has the Deployment's pod template |
//! | old set | any other set |
//! | active set | a set whose size is above 0 |
//! | budgets | `maxSurge` and `maxUnavailable` as numbers of pods: [`Budgets`] |
//!
//! ```
//! use podrank::Time;
//! use podrank::controller::IntOrPercent;
//! use podrank::controller::deployment::{Change, Deployment, Path, Reason, ReplicaSet, SetFlags, Strategy, next_sync};
//!
//! // A Deployment is scaled from 10 pods to 5 in the middle of a rollout.
//! let mut old = ReplicaSet { name_order: 0, replicas: 8, available_replicas: 8, ..ReplicaSet::new() };
//! old.creation_time = Time::from_unix(1_700_000_000, 0);
//! old.set_annotations("10", "13");
//! let mut new =
//!     ReplicaSet { name_order: 1, replicas: 5, available_replicas: 5, flags: SetFlags::CURRENT_TEMPLATE, ..old };
//! new.creation_time = Time::from_unix(1_700_000_600, 0);
//! new.set_annotations("10", "13");
//!
//! let quarter = IntOrPercent::Percent(25);
//! let deployment = Deployment {
//!     replicas: 5,
//!     strategy: Strategy::RollingUpdate { max_surge: quarter, max_unavailable: quarter },
//!     ..Deployment::default()
//! };
//! let mut changes = [Change::default(); 2];
//! let step = next_sync(&deployment, &[old, new], &mut changes).unwrap();
//! assert_eq!(step.path, Path::Scale);
//! assert_eq!(changes.map(|change| change.replicas), [4, 3]);
//! assert_eq!(changes.map(|change| change.reason), [Reason::Share, Reason::Share]);
//! assert!(step.goes_on, "more pods are available than must be, so the next sync deletes old ones");
//! ```

mod budgets;
mod goes_on;
mod replica_set;
mod roll;
mod scale;
mod sets;
mod step;

pub use budgets::Budgets;
pub use replica_set::{
    DESIRED_REPLICAS_ANNOTATION, InvalidReplicaSet, MAX_REPLICAS_ANNOTATION, ReplicaSet, SetFlags,
};
pub use step::{Change, Path, Reason, Step};

use super::IntOrPercent;
use core::fmt;
use sets::Sets;

/// What a sync reads from a Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deployment {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// The error for fewer changes than sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewChanges;

impl Default for Deployment {
    /// Returns a Deployment that wants no pods and has Kubernetes' default strategy: `RollingUpdate` with a
    /// `maxSurge` and a `maxUnavailable` of 25 %.
    fn default() -> Self {
        let quarter = IntOrPercent::Percent(25);
        Self {
            replicas: 0,
            status_replicas: 0,
            strategy: Strategy::RollingUpdate { max_surge: quarter, max_unavailable: quarter },
            is_paused: false,
            is_being_deleted: false,
            is_rolling_back: false,
        }
    }
}

/// Predicts the next sync of a Deployment. Writes to `changes`, at the index of each set, the size that the set
/// gets and why. Returns what else the sync does.
///
/// `sets` are the `ReplicaSet`s that the Deployment owns and its selector matches, in any order, empty ones
/// included. The prediction relies on the sizes and statuses that you pass. If Kubernetes has newer ones by then,
/// it may decide differently. If a number is negative, which Kubernetes does not allow, the result has no meaning.
///
/// The time grows with the number of sets times the number of active sets.
///
/// # Errors
/// [`TooFewChanges`] if `changes` is shorter than `sets`. In that case nothing is written.
pub fn next_sync(
    deployment: &Deployment,
    sets: &[ReplicaSet],
    changes: &mut [Change],
) -> Result<Step, TooFewChanges> {
    let changes = changes.get_mut(..sets.len()).ok_or(TooFewChanges)?;
    for (change, set) in changes.iter_mut().zip(sets) {
        *change = Change::keep(set.replicas, Reason::Untouched);
    }
    let mut sync = Sync {
        deployment,
        budgets: Budgets::new(&deployment.strategy, deployment.replicas),
        sets: Sets::new(sets),
        changes,
        missing: Change::keep(0, Reason::Untouched),
        creates: false,
    };
    let path = path(deployment, sets);
    match (path, &deployment.strategy) {
        (Path::Scale, _) => sync.scale(),
        (Path::Rollback, _) if sync.sets.new.is_none() => _ = sync.create(),
        (Path::Rollback | Path::Nothing, _) => {}
        (_, Strategy::RollingUpdate { .. }) => sync.roll(),
        (_, Strategy::Recreate { old_pods_run }) => sync.recreate(*old_pods_run),
    }
    sync.changes.iter_mut().for_each(Change::note_annotations);
    sync.missing.annotates = sync.creates;
    Ok(sync.step(path))
}

/// Returns the path of the sync. The conditions are in the order in which Kubernetes checks them.
fn path(deployment: &Deployment, sets: &[ReplicaSet]) -> Path {
    let is_scaling = || {
        let mut active = sets.iter().filter(|set| set.is_active());
        active.any(|set| set.desired().is_some_and(|desired| desired != deployment.replicas))
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
struct Sync<'a> {
    deployment: &'a Deployment,
    budgets: Budgets,
    sets: Sets<'a>,
    /// One for each set.
    changes: &'a mut [Change],
    /// What happens to the new set if it does not exist yet.
    missing: Change,
    creates: bool,
}

impl Sync<'_> {
    fn change(&mut self, index: usize, change: impl FnOnce(&mut Change)) {
        if let Some(entry) = self.changes.get_mut(index) {
            change(entry);
        }
    }

    /// Records why the new set, which may not exist yet, stays as it is.
    fn give_new_set(&mut self, reason: Reason) {
        match self.sets.new {
            Some(index) => self.change(index, |change| change.reason = reason),
            None => self.missing.reason = reason,
        }
    }

    fn step(&self, path: Path) -> Step {
        let Self { budgets, sets, missing, creates, .. } = *self;
        let new_change = sets.new.and_then(|index| self.changes.get(index)).copied().unwrap_or(missing);
        Step {
            path,
            budgets,
            new_set: sets.new.and_then(|index| u32::try_from(index).ok()),
            new_change,
            creates,
            goes_on: self.goes_on(path),
        }
    }
}

impl fmt::Display for TooFewChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are fewer changes than sets: make room for one change per set")
    }
}

impl core::error::Error for TooFewChanges {}

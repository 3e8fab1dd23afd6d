//! What follows a Deployment's sync. A pure function of the sync.

use crate::sync::deployment::{
    DeploymentState, Path, ReplicaSetState, SizeChange, SizeReason, Strategy, Sync,
};

/// What follows the sync.
pub(crate) enum Next {
    /// Another sync follows immediately.
    Step,
    /// Old pods are deleted once more pods of the new set are available.
    NewPods,
    /// The new set gets all its pods once no old pod is left.
    OldPods,
    /// All old pods are deleted once all pods of the new set are available, even if the Deployment is paused.
    AllNewPods,
    /// Nothing, unless somebody changes the Deployment.
    Nothing,
}

pub(crate) fn what_is_next(deployment: &DeploymentState, sync: &Sync, sets: &[ReplicaSetState]) -> Next {
    let count = deployment.replicas;
    let mut old = sync.changes.iter().enumerate().filter(|(index, _)| Some(*index) != sync.new_set);
    let keeps_old_pods = old.any(|(_, change)| change.replicas > 0);
    let has_count = (sync.new_set.is_some() || sync.creates) && sync.new_change.replicas == count;
    // The annotation of a set still records another count, so each sync scales, and none rolls.
    let does_not_roll = |change: &SizeChange| {
        change.reason == SizeReason::NotRolling || change.reason == SizeReason::OnlyActive && change.part == 0
    };
    let scales_again =
        deployment.is_paused || sync.path == Path::Scale && sync.changes.iter().any(does_not_roll);
    let records_count = || {
        let new = sync.new_set.and_then(|index| sets.get(index));
        new.is_some_and(|new| new.desired.leniently() == Some(count))
    };
    match deployment.strategy {
        _ if sync.goes_on(deployment, sets) => Next::Step,
        _ if sync.path == Path::Nothing || has_count && !keeps_old_pods => Next::Nothing,
        Strategy::RollingUpdate { .. } if !scales_again => Next::NewPods,
        Strategy::Recreate { .. } if !scales_again => Next::OldPods,
        // Proportional scaling has just recorded it.
        Strategy::RollingUpdate { .. } if has_count => Next::AllNewPods,
        Strategy::Recreate { .. } if has_count && records_count() => Next::AllNewPods,
        _ => Next::Nothing,
    }
}

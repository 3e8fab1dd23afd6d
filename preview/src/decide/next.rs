//! What follows a Deployment's step. A pure function on what the core said of the step.

use podrank::controller::deployment::{
    Change, Deployment, Path, Reason, ReplicaSet, SetFlags, Step, Strategy,
};

/// What follows the step.
pub(crate) enum Next {
    /// Another step, at once.
    Step,
    /// Old pods are deleted once more pods of the new set are available.
    NewPods,
    /// The new set gets so many pods once no old pod is left.
    OldPods(u32),
    /// All old pods are deleted once so many pods of the new set are available, even if the Deployment is paused.
    AllNewPods(u32),
    /// Nothing, unless somebody changes the Deployment.
    Nothing,
}

pub(crate) fn what_is_next(
    deployment: &Deployment,
    step: &Step,
    changes: &[Change],
    sets: &[&ReplicaSet],
) -> Next {
    let count = deployment.replicas;
    let new = step.new_set.map(|index| index as usize);
    let mut old = changes.iter().enumerate().filter(|(index, _)| Some(*index) != new);
    let keeps_old_pods = old.any(|(_, change)| change.replicas > 0);
    let has_count = (new.is_some() || step.creates) && step.new_change.replicas == count;
    // The annotation of a set still records another count, so each sync scales, and none rolls.
    let does_not_roll = |change: &Change| {
        change.reason == Reason::NotRolling || change.reason == Reason::OnlyActive && change.part == 0
    };
    let scales_again = deployment.is_paused || step.path == Path::Scale && changes.iter().any(does_not_roll);
    let records_count = || {
        let new = new.and_then(|index| sets.get(index));
        new.is_some_and(|new| {
            let flags = [SetFlags::DESIRED, SetFlags::DESIRED_LENIENT];
            flags.iter().any(|flag| new.flags.contains(*flag)) && new.desired_replicas == count
        })
    };
    let pods = count.unsigned_abs();
    match deployment.strategy {
        _ if step.goes_on => Next::Step,
        _ if step.path == Path::Nothing || has_count && !keeps_old_pods => Next::Nothing,
        Strategy::RollingUpdate { .. } if !scales_again => Next::NewPods,
        Strategy::Recreate { .. } if !scales_again => Next::OldPods(pods),
        // Proportional scaling has just recorded it.
        Strategy::RollingUpdate { .. } if has_count => Next::AllNewPods(pods),
        Strategy::Recreate { .. } if has_count && records_count() => Next::AllNewPods(pods),
        _ => Next::Nothing,
    }
}

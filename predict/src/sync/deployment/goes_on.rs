//! Whether another sync follows immediately. Computes the next sync after all controllers have acted on the sizes that
//! this one writes.

use super::{DeploymentState, Path, ReplicaSetState, Sync, one_sync};

/// Returns [`Sync::goes_on`] of this sync.
pub(super) fn goes_on(deployment: &DeploymentState, sets: &[ReplicaSetState], sync: &Sync) -> bool {
    match sync.path {
        Path::Nothing => false,
        Path::Rollback => true,
        _ if sync.is_rejected() => true,
        _ => {
            let next = followed(deployment, sets, sync);
            let again = one_sync(deployment, &next);
            let mut changes = again.changes.iter().zip(&next);
            again.creates
                || again.is_rejected()
                || changes.any(|(change, set)| change.replicas != set.replicas)
        }
    }
}

/// The sets once their pods and statuses have followed the sizes that a sync writes.
fn followed(deployment: &DeploymentState, sets: &[ReplicaSetState], sync: &Sync) -> Vec<ReplicaSetState> {
    let created = ReplicaSetState { has_template: true, ..ReplicaSetState::default() };
    let sets = sets.iter().zip(&sync.changes);
    let all = sets.chain(sync.creates.then_some((&created, &sync.new_change)));
    all.map(|(set, change)| {
        let mut set = *set;
        set.apply(change, deployment, sync);
        set.status_replicas = set.replicas;
        // Pods that are created are not available, and pods that are not available go first.
        set.available_replicas = set.available_replicas.min(set.replicas);
        set
    })
    .collect()
}

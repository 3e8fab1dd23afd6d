//! Whether another sync follows immediately. Computes the next sync after all controllers have acted on the sizes that
//! this one writes.

use super::{DeploymentState, Path, ReplicaSetState, Sync, next_sync};

impl Sync {
    /// Whether another sync follows immediately: whether the next one, too, changes a size, an annotation that records
    /// one, or creates the new set, although nothing has changed except the results of this sync, which is that of these records.
    ///
    /// This sync leads to the following. The `ReplicaSet` controllers create and delete pods until each set has as many as its size,
    /// and the statuses follow. A set that shrinks first deletes pods that are not available. Pods that are created do
    /// not become available, and with `Recreate`, pods that are deleted still run. Values that only the Deployment's
    /// status records do not count.
    ///
    /// If it is false, this sync is the last one, or the Deployment waits: a `RollingUpdate` until more pods of the new set are
    /// available, and `Recreate` until no pod of an old set runs. A Deployment that is paused, or whose annotations still record another
    /// count, only scales. After a rollback, or if a size is [rejected](super::SizeReason::Rejected), it is true: the controller syncs
    /// again.
    pub fn goes_on(&self, deployment: &DeploymentState, sets: &[ReplicaSetState]) -> bool {
        match self.path {
            Path::Nothing => false,
            Path::Rollback => true,
            _ if self.is_rejected() => true,
            _ => {
                let next = followed(deployment, sets, self);
                let again = next_sync(deployment, &next);
                let mut changes = again.changes.iter().zip(&next);
                again.creates
                    || again.is_rejected()
                    || changes.any(|(change, set)| change.replicas != set.replicas)
            }
        }
    }
}

/// The sets once their pods and statuses have followed the sizes that a sync writes.
fn followed(deployment: &DeploymentState, sets: &[ReplicaSetState], sync: &Sync) -> Vec<ReplicaSetState> {
    let created = ReplicaSetState { has_template: true, ..ReplicaSetState::default() };
    let sets = sets.iter().zip(&sync.changes);
    let all = sets.chain(sync.creates.then_some((&created, &sync.new_change)));
    all.map(|(set, change)| {
        let set = set.with(change, deployment, sync);
        // Pods that are created are not available, and pods that are not available go first.
        let available_replicas = set.available_replicas.min(set.replicas);
        ReplicaSetState { status_replicas: set.replicas, available_replicas, ..set }
    })
    .collect()
}

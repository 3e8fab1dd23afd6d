//! Whether another sync follows at once: the conditions of a whole sync, on the sizes that this one writes.

use super::{Path, ReplicaSet, SizeChange, SizeReason, Strategy, Syncing};

/// The sets once their pods and statuses have followed the sizes that a sync writes.
#[derive(Default)]
struct After {
    /// The sizes of all sets.
    total: i32,
    /// The sizes of the old sets.
    old: i32,
    /// How many sets are active, and how many of them are old.
    active: u32,
    active_old: u32,
    /// The available pods of all sets.
    available: i32,
    /// Whether an old set has pods that are not available.
    has_unavailable_old: bool,
    /// Whether an active set's annotation records another count than the Deployment's.
    records_another_count: bool,
    new: Option<NewSet>,
}

struct NewSet {
    replicas: i32,
    available: i32,
    /// The count that its annotation records.
    desired: Option<i32>,
}

impl Syncing<'_> {
    /// Returns [`Sync::goes_on`](super::Sync::goes_on).
    pub(super) fn goes_on(&self, path: Path) -> bool {
        let mut written = self.changes.iter().chain([&self.missing]);
        match path {
            Path::Nothing => false,
            Path::Rollback => true,
            _ => {
                written.any(|change| change.reason == SizeReason::Rejected)
                    || self.next_sync_changes(&self.after())
            }
        }
    }

    fn after(&self) -> After {
        let mut after = After::default();
        for (index, (set, change)) in self.sets.all.iter().zip(&self.changes).enumerate() {
            after.add(self.deployment.replicas, self.sets.is_old(index), set, change);
        }
        if self.creates {
            after.add(self.deployment.replicas, false, &ReplicaSet::default(), &self.missing);
        }
        after
    }

    fn next_sync_changes(&self, after: &After) -> bool {
        let count = self.deployment.replicas;
        if self.deployment.is_paused || after.records_another_count {
            return self.scaling_changes(after);
        }
        // A new set that does not exist is created.
        let new = after.new.as_ref();
        match self.deployment.strategy {
            Strategy::Recreate { old_pods_run } => {
                after.active_old != 0 || !old_pods_run && new.is_none_or(|new| new.replicas != count)
            }
            Strategy::RollingUpdate { .. } => new.is_none_or(|new| self.rolling_changes(after, new)),
        }
    }

    fn scaling_changes(&self, after: &After) -> bool {
        let count = self.deployment.replicas;
        if after.active < 2 {
            // The only active set gets the count, or else the new or the newest set.
            return after.total != count && !self.changes.is_empty();
        }
        let is_saturated =
            |new: &NewSet| [Some(new.replicas), Some(new.available), new.desired] == [Some(count); 3];
        let rolls = matches!(self.deployment.strategy, Strategy::RollingUpdate { .. });
        after.new.as_ref().is_some_and(is_saturated) || rolls && after.total != self.allowed()
    }

    fn rolling_changes(&self, after: &After, new: &NewSet) -> bool {
        let count = self.deployment.replicas;
        if new.replicas > count
            || new.replicas < count && after.total < count.wrapping_add(self.budgets.surge)
        {
            return true;
        }
        let least_available = count.wrapping_sub(self.budgets.unavailable);
        let new_unavailable = new.replicas.wrapping_sub(new.available);
        let cap = after.total.wrapping_sub(least_available).wrapping_sub(new_unavailable);
        after.old != 0 && cap > 0 && (after.has_unavailable_old || after.available > least_available)
    }
}

impl After {
    fn add(&mut self, count: i32, is_old: bool, set: &ReplicaSet, change: &SizeChange) {
        let replicas = change.replicas;
        // Pods that are created are not available, and pods that are not available go first.
        let available = set.available_replicas.min(replicas);
        let annotates = change.annotates;
        let is_active = replicas > 0;
        self.total = self.total.wrapping_add(replicas);
        self.available = self.available.wrapping_add(available);
        self.active += u32::from(is_active);
        self.records_another_count |=
            is_active && !annotates && set.desired.valid().is_some_and(|desired| desired != count);
        if is_old {
            self.old = self.old.wrapping_add(replicas);
            self.active_old += u32::from(is_active);
            self.has_unavailable_old |= available < replicas;
        } else {
            let desired = if annotates { Some(count) } else { set.desired.leniently() };
            self.new = Some(NewSet { replicas, available, desired });
        }
    }
}

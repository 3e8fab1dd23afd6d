//! Replacing old pods with new ones: a few in each sync within the budgets, or all of them before any new one.

use super::sets::sum;
use super::{SizeReason, Strategy, Syncing};
use std::cmp::Ordering;

/// The new set as the rest of a sync sees it: as it was, or as it was just created.
pub(super) struct NewSet {
    replicas: i32,
    available: i32,
}

impl Syncing<'_> {
    /// Kubernetes' `rolloutRolling`.
    pub(super) fn roll(&mut self) {
        match self.grow_new_set() {
            Ok(new) => self.shrink_old_sets(&new),
            Err(reason) => self.give_active_old_sets(reason),
        }
    }

    /// Creates the new set, which is missing. An error is the reason why old sets do not change.
    pub(super) fn create(&mut self) -> Result<NewSet, SizeReason> {
        let size = self.new_size(0);
        if size < 0 {
            self.missing.reason = SizeReason::Rejected;
            return Err(SizeReason::NotReached);
        }
        let reason = match self.deployment.strategy {
            Strategy::Recreate { .. } => SizeReason::ToCount,
            Strategy::RollingUpdate { .. } if self.deployment.replicas == 0 => SizeReason::AtCount,
            Strategy::RollingUpdate { .. } if size > 0 => SizeReason::Grows,
            Strategy::RollingUpdate { .. } => SizeReason::NoSurge,
        };
        self.missing.set(size, reason);
        self.missing.annotates = true;
        self.creates = true;
        Ok(NewSet { replicas: size, available: 0 })
    }

    /// Moves the new set towards the count. An error ends the sync, and is the reason why old sets do not change.
    fn grow_new_set(&mut self) -> Result<NewSet, SizeReason> {
        let count = self.deployment.replicas;
        let Some((index, new)) = self.sets.new_set() else {
            // It cannot grow beyond the size with which it is created: it has the count, or no surge is left.
            return self.create();
        };
        let (size, reason, end) = match new.replicas.cmp(&count) {
            Ordering::Equal => (count, SizeReason::AtCount, None),
            Ordering::Greater => (count, SizeReason::ToCount, Some(SizeReason::AfterNewSet)),
            Ordering::Less => match self.new_size(new.replicas) {
                size if size == new.replicas => (size, SizeReason::NoSurge, None),
                size if size < 0 => (new.replicas, SizeReason::Rejected, Some(SizeReason::NotReached)),
                size => (size, SizeReason::Grows, Some(SizeReason::AfterNewSet)),
            },
        };
        self.changes[index].set(size, reason);
        end.map_or(Ok(NewSet { replicas: new.replicas, available: new.available_replicas }), Err)
    }

    /// Returns the size that the new set gets if its size is `replicas`, below the count. Kubernetes'
    /// `NewRSNewReplicas`.
    fn new_size(&self, replicas: i32) -> i32 {
        let count = self.deployment.replicas;
        if matches!(self.deployment.strategy, Strategy::Recreate { .. }) {
            return count;
        }
        let total = sum(self.sets.all.iter().enumerate(), |set| set.replicas);
        let most = count.wrapping_add(self.budgets.surge);
        if total >= most {
            return replicas;
        }
        replicas.wrapping_add(most.wrapping_sub(total).min(count.wrapping_sub(replicas)))
    }

    /// Kubernetes' `reconcileOldReplicaSets`: first pods that are not available, then others.
    fn shrink_old_sets(&mut self, new: &NewSet) {
        self.give_active_old_sets(SizeReason::HeldBack);
        let old = sum(self.sets.active_old(), |set| set.replicas);
        let available = sum(self.sets.active_old(), |set| set.available_replicas).wrapping_add(new.available);
        let total = sum(self.sets.old(), |set| set.replicas).wrapping_add(new.replicas);

        let least_available = self.deployment.replicas.wrapping_sub(self.budgets.unavailable);
        let cap = total.wrapping_sub(least_available).wrapping_sub(new.replicas.wrapping_sub(new.available));
        if old == 0 || cap <= 0 || !self.clean_up(cap) || available <= least_available {
            return;
        }
        let mut left = available.wrapping_sub(least_available);
        for (index, _) in self.sets.active_old() {
            if left <= 0 {
                return;
            }
            let change = &mut self.changes[index];
            let unhealthy = change.part;
            let taken = change.replicas.min(left);
            left = left.wrapping_sub(taken);
            if taken > 0 {
                change.set(change.replicas.wrapping_sub(taken), SizeReason::Available);
                if unhealthy != 0 {
                    (change.part, change.reason) = (unhealthy, SizeReason::UnhealthyAndAvailable);
                }
            }
        }
    }

    /// Takes at most `most` pods that are not available from old sets, oldest first. Returns false if a set with more
    /// available pods than its size ended the sync.
    fn clean_up(&mut self, most: i32) -> bool {
        let mut left = most;
        for (index, set) in self.sets.active_old() {
            if left <= 0 {
                break;
            }
            let unavailable = set.replicas.wrapping_sub(set.available_replicas);
            if unavailable < 0 {
                for change in self.changes.iter_mut().filter(|change| change.reason == SizeReason::HeldBack) {
                    change.reason = SizeReason::NotReached;
                }
                self.changes[index].reason = SizeReason::Lags;
                return false;
            }
            let taken = unavailable.min(left);
            left = left.wrapping_sub(taken);
            if taken > 0 {
                self.changes[index].set(set.replicas.wrapping_sub(taken), SizeReason::Unhealthy);
            }
        }
        true
    }

    /// Kubernetes' `rolloutRecreate`.
    pub(super) fn recreate(&mut self, pods_run: bool) {
        let mut has_active_old = false;
        for (index, _) in self.sets.active_old() {
            self.changes[index].set(0, SizeReason::Recreated);
            has_active_old = true;
        }
        let running = sum(self.sets.old(), |set| set.status_replicas);
        if has_active_old || running > 0 || pods_run {
            self.give_new_set(SizeReason::Waits);
        } else if let Some((index, new)) = self.sets.new_set() {
            let count = self.deployment.replicas;
            let reason = if new.replicas == count { SizeReason::AtCount } else { SizeReason::ToCount };
            self.changes[index].set(count, reason);
        } else {
            _ = self.create();
        }
    }

    fn give_active_old_sets(&mut self, reason: SizeReason) {
        for (index, _) in self.sets.active_old() {
            self.changes[index].reason = reason;
        }
    }
}

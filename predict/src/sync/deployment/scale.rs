//! Scaling the sets that exist: Kubernetes' `scale`, for a Deployment that is paused or whose count changed.

use super::sets::sum;
use super::{ReplicaSetState, SizeChange, SizeReason, Strategy, Syncing};

impl Syncing<'_> {
    pub(super) fn scale(&mut self) {
        let count = self.deployment.replicas;
        if let Some(only) = self.only_active_or_latest() {
            self.changes[only].set(count, SizeReason::OnlyActive);
        } else if self.is_saturated() {
            for (index, _) in self.sets.active_old() {
                self.changes[index].set(0, SizeReason::Saturated);
            }
            self.give_new_set(SizeReason::Saturated);
        } else if matches!(self.deployment.strategy, Strategy::Recreate { .. }) {
            for (index, _) in self.sets.active() {
                self.changes[index].reason = SizeReason::NotRolling;
            }
        } else {
            self.scale_proportionally();
        }
    }

    /// Returns the only active set. If no set is active, returns the new set, or else the newest. Returns `None` if
    /// several sets are active, or if there is no set at all.
    fn only_active_or_latest(&self) -> Option<usize> {
        let mut active = self.sets.active();
        match (active.next(), active.next()) {
            (Some((only, _)), None) => Some(only),
            (None, _) => self.sets.new.or_else(|| self.sets.all.len().checked_sub(1)),
            _ => None,
        }
    }

    /// Returns whether the new set has all the pods that the Deployment wants, and its annotation says so, too.
    fn is_saturated(&self) -> bool {
        let count = self.deployment.replicas;
        self.sets.new_set().is_some_and(|(_, new)| {
            new.replicas == count && new.desired.leniently() == Some(count) && new.available_replicas == count
        })
    }

    fn scale_proportionally(&mut self) {
        let count = self.deployment.replicas;
        let allowed = if count > 0 { count.wrapping_add(self.budgets.surge) } else { 0 };
        let to_add = allowed.wrapping_sub(sum(self.sets.active(), |set| set.replicas));
        let adds = to_add.is_positive();
        let largest_first = self.sets.largest(adds);
        let mut left = to_add;
        for &(index, set) in &largest_first {
            let (share, reason) = self.share(set, left, adds);
            self.changes[index].set(set.replicas.wrapping_add(share), reason);
            self.changes[index].annotates = true;
            left = left.wrapping_sub(share);
        }
        // Kubernetes writes the sizes in this order, until the API server rejects one.
        let mut is_over = false;
        for (place, (index, set)) in largest_first.into_iter().enumerate() {
            let change = &mut self.changes[index];
            if place == 0 && to_add != 0 {
                change.replicas = change.replicas.wrapping_add(left).max(0);
                if left != 0 {
                    change.reason = SizeReason::ShareAndLeftover;
                }
            }
            if is_over {
                *change = SizeChange::keep(set.replicas, SizeReason::NotReached);
            } else if change.replicas < 0 {
                *change = SizeChange::keep(set.replicas, SizeReason::Rejected);
                is_over = true;
            }
        }
    }

    /// Returns by how much a set changes if `left` pods are left to add, or to remove if it is negative. Kubernetes'
    /// `GetReplicaSetProportion`.
    fn share(&self, set: &ReplicaSetState, left: i32, adds: bool) -> (i32, SizeReason) {
        if left == 0 {
            return (0, SizeReason::UsedUp);
        }
        let whole = self.whole_share(set);
        let share = whole.unwrap_or(0);
        // What is left has the other sign if earlier shares took more than there was.
        let cut = if adds { share.min(left) } else { share.max(left) };
        let reason = match whole {
            _ if cut != share => SizeReason::CutShare,
            Some(_) => SizeReason::Share,
            None => SizeReason::NoShare,
        };
        (cut, reason)
    }

    /// Returns the set's whole share: Kubernetes' `getReplicaSetFraction`, which divides and rounds in float64.
    ///
    /// Integers give the same result. Let `n` and `m` be the two numbers, both below 2^32. Their quotient is
    /// either halfway between two integers, which a float represents exactly, or at least 1/(2m) away from
    /// halfway. The float is off by at most n/m 2^-53, which is less.
    fn whole_share(&self, set: &ReplicaSetState) -> Option<i32> {
        let (count, surge) = (self.deployment.replicas, self.budgets.surge);
        if count == 0 {
            return Some(set.replicas.wrapping_neg());
        }
        let max = set.max.valid().filter(|max| *max != 0).unwrap_or(self.deployment.status_replicas);
        let product = set.replicas.wrapping_mul(count.wrapping_add(surge));
        let (n, m) = (product.unsigned_abs(), max.unsigned_abs());
        let (whole, rest) = (n.checked_div(m)?, n.checked_rem(m)?);
        // Halves away from zero.
        let rounded = whole.wrapping_add(u32::from(rest >= m.wrapping_sub(rest))).cast_signed();
        let is_negative = (product < 0) != (max < 0);
        let size = if is_negative { rounded.wrapping_neg() } else { rounded };
        Some(size.wrapping_sub(set.replicas))
    }
}

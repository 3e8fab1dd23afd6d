//! Scaling the sets that exist: Kubernetes' `scale`, for a Deployment that is paused or whose count changed.

use super::sets::{Order, Which};
use super::{Change, Reason, ReplicaSet, Strategy, Sync};

impl Sync<'_> {
    pub(super) fn scale(&mut self) {
        let count = self.deployment.replicas;
        if let Some(only) = self.only_active_or_latest() {
            self.change(only, |change| change.set(count, Reason::OnlyActive));
        } else if self.is_saturated() {
            for (index, _) in self.sets.active_old() {
                self.change(index, |change| change.set(0, Reason::Saturated));
            }
            self.give_new_set(Reason::Saturated);
        } else if matches!(self.deployment.strategy, Strategy::Recreate { .. }) {
            for (change, set) in self.changes.iter_mut().zip(self.sets.all) {
                if set.is_active() {
                    change.reason = Reason::NotRolling;
                }
            }
        } else {
            self.scale_proportionally();
        }
    }

    /// Returns the only active set. If no set is active, returns the new set, or else the newest. Returns `None` if
    /// several sets are active, or if there is no set at all.
    fn only_active_or_latest(&self) -> Option<usize> {
        let mut active = self.sets.all.iter().enumerate().filter(|(_, set)| set.is_active());
        match (active.next(), active.next()) {
            (Some((only, _)), None) => Some(only),
            (None, _) => {
                let newest = || Some(self.sets.walk(Order::Newest, Which::All).next()?.0);
                self.sets.new.or_else(newest)
            }
            _ => None,
        }
    }

    /// Returns whether the new set has all the pods that the Deployment wants, and its annotation says so, too.
    fn is_saturated(&self) -> bool {
        let count = self.deployment.replicas;
        self.sets.new_set().is_some_and(|(_, new)| {
            new.replicas == count && new.desired_leniently() == Some(count) && new.available_replicas == count
        })
    }

    /// How many pods all sets may want together.
    pub(super) const fn allowed(&self) -> i32 {
        let count = self.deployment.replicas;
        if count > 0 { count.wrapping_add(self.budgets.surge) } else { 0 }
    }

    fn scale_proportionally(&mut self) {
        let to_add = self.allowed().wrapping_sub(self.sets.sum(Which::Active, |set| set.replicas));
        let adds = to_add.is_positive();
        let order = if adds { Order::LargestNewest } else { Order::LargestOldest };
        let sets = self.sets;
        let largest_first = || sets.walk(order, Which::Active);

        let mut left = to_add;
        for (index, set) in largest_first() {
            let (share, reason) = self.share(set, left, adds);
            self.change(index, |change| change.set(set.replicas.wrapping_add(share), reason));
            left = left.wrapping_sub(share);
        }
        // Kubernetes writes the sizes in this order, until the API server rejects one.
        let mut is_first = to_add != 0;
        let mut is_over = false;
        for (index, set) in largest_first() {
            self.change(index, |change| {
                if is_first {
                    change.replicas = change.replicas.wrapping_add(left).max(0);
                    if left != 0 {
                        change.reason = Reason::ShareAndLeftover;
                    }
                }
                if is_over {
                    *change = Change::keep(set.replicas, Reason::NotReached);
                } else if change.replicas < 0 {
                    *change = Change::keep(set.replicas, Reason::Rejected);
                    is_over = true;
                }
            });
            is_first = false;
        }
    }

    /// Returns by how much a set changes if `left` pods are left to add, or to remove if it is negative. Kubernetes'
    /// `GetReplicaSetProportion`.
    fn share(&self, set: &ReplicaSet, left: i32, adds: bool) -> (i32, Reason) {
        if left == 0 {
            return (0, Reason::UsedUp);
        }
        let whole = self.whole_share(set);
        let share = whole.unwrap_or(0);
        // What is left has the other sign if earlier shares took more than there was.
        let cut = if adds { share.min(left) } else { share.max(left) };
        let reason = match whole {
            _ if cut != share => Reason::CutShare,
            Some(_) => Reason::Share,
            None => Reason::NoShare,
        };
        (cut, reason)
    }

    /// Returns the set's whole share: Kubernetes' `getReplicaSetFraction`, which divides and rounds in float64.
    ///
    /// Integers give the same result. Let `n` and `m` be the two numbers, both below 2^32. Their quotient is
    /// either halfway between two integers, which a float represents exactly, or at least 1/(2m) away from
    /// halfway. The float is off by at most n/m 2^-53, which is less.
    fn whole_share(&self, set: &ReplicaSet) -> Option<i32> {
        let (count, surge) = (self.deployment.replicas, self.budgets.surge);
        if count == 0 {
            return Some(set.replicas.wrapping_neg());
        }
        let max = set.max().filter(|max| *max != 0).unwrap_or(self.deployment.status_replicas);
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

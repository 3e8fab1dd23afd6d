//! The sets of a Deployment in the orders in which Kubernetes walks them.

use super::ReplicaSetState;

/// The sets, the oldest first, and the index of the new one.
#[derive(Clone, Copy)]
pub(super) struct Sets<'a> {
    pub(super) all: &'a [ReplicaSetState],
    pub(super) new: Option<usize>,
}

impl<'a> Sets<'a> {
    pub(super) fn new(all: &'a [ReplicaSetState]) -> Self {
        Self { all, new: new_set(all) }
    }

    pub(super) fn new_set(&self) -> Option<(usize, &'a ReplicaSetState)> {
        self.new.map(|index| (index, &self.all[index]))
    }

    /// Returns all sets but the new one.
    pub(super) fn old(self) -> impl Iterator<Item = (usize, &'a ReplicaSetState)> {
        self.all.iter().enumerate().filter(move |(index, _)| self.new != Some(*index))
    }

    /// Returns the old sets that want pods.
    pub(super) fn active_old(self) -> impl Iterator<Item = (usize, &'a ReplicaSetState)> {
        self.old().filter(|(_, set)| set.is_active())
    }

    /// Returns the sets that want pods.
    pub(super) fn active(self) -> impl Iterator<Item = (usize, &'a ReplicaSetState)> {
        self.all.iter().enumerate().filter(|(_, set)| set.is_active())
    }

    /// Returns the sets that want pods, the largest first, and of equally large ones the newest or the oldest first.
    pub(super) fn largest(self, newest_first: bool) -> Vec<(usize, &'a ReplicaSetState)> {
        let mut sets: Vec<_> = self.active().collect();
        if newest_first {
            sets.reverse();
        }
        sets.sort_by_key(|(_, set)| !set.replicas);
        sets
    }
}

/// Kubernetes' `FindNewReplicaSet`: the new set is the oldest of those with the current template.
pub(crate) fn new_set(sets: &[ReplicaSetState]) -> Option<usize> {
    sets.iter().position(|set| set.has_template)
}

/// Returns the sum of a number over these sets, in 32 bits as upstream does.
pub(super) fn sum<'a>(
    sets: impl Iterator<Item = (usize, &'a ReplicaSetState)>,
    number: fn(&ReplicaSetState) -> i32,
) -> i32 {
    sets.fold(0, |sum, (_, set)| sum.wrapping_add(number(set)))
}

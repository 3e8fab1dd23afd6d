//! The sets of a Deployment as a list that is walked in several orders, without memory for any of them.

use super::ReplicaSet;

/// The list, and which of it is the new set.
#[derive(Clone, Copy)]
pub(super) struct Sets<'a> {
    pub(super) all: &'a [ReplicaSet],
    pub(super) new: Option<usize>,
}

/// The orders in which Kubernetes walks sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Oldest first; of one time, the smaller name first.
    Oldest,
    /// The reverse.
    Newest,
    /// Largest first; of one size, as `Oldest`.
    LargestOldest,
    /// Largest first; of one size, as `Newest`.
    LargestNewest,
}

impl<'a> Sets<'a> {
    /// Kubernetes' `FindNewReplicaSet`: the new set is the oldest of those with the current template.
    pub(super) fn new(all: &'a [ReplicaSet]) -> Self {
        let sets = Self { all, new: None };
        let is_current = |_, set: &ReplicaSet| set.flags.contains(super::SetFlags::CURRENT_TEMPLATE);
        Self { new: sets.in_order(Order::Oldest, is_current).next().map(|(index, _)| index), ..sets }
    }

    pub(super) fn new_set(&self) -> Option<(usize, &'a ReplicaSet)> {
        let index = self.new?;
        Some((index, self.all.get(index)?))
    }

    pub(super) fn is_old(&self, index: usize) -> bool {
        self.new != Some(index)
    }

    /// The old sets that want pods, oldest first.
    pub(super) fn active_old(self) -> impl Iterator<Item = (usize, &'a ReplicaSet)> {
        self.in_order(Order::Oldest, move |index, set| self.is_old(index) && set.is_active())
    }

    /// The size of all sets together, in 32 bits, as upstream's `GetReplicaCountForReplicaSets`.
    pub(super) fn replicas(&self) -> i32 {
        self.all.iter().fold(0, |sum, set| sum.wrapping_add(set.replicas))
    }

    /// The sets that `include` accepts, in this order: looks at all sets for each one that it gives.
    pub(super) fn in_order(
        self,
        order: Order,
        include: impl Fn(usize, &ReplicaSet) -> bool,
    ) -> impl Iterator<Item = (usize, &'a ReplicaSet)> {
        let mut last = None;
        core::iter::from_fn(move || {
            let places = self.all.iter().enumerate().filter(|(index, set)| include(*index, set));
            let next = places
                .map(|(index, set)| (order.key(set), index, set))
                .filter(|&(key, index, _)| last.is_none_or(|last| (key, index) > last))
                .min_by_key(|&(key, index, _)| (key, index));
            let (key, index, set) = next?;
            last = Some((key, index));
            Some((index, set))
        })
    }
}

impl Order {
    /// A smaller key is walked first.
    fn key(self, set: &ReplicaSet) -> (i32, i64, u32) {
        let size = match self {
            Self::Oldest | Self::Newest => 0,
            Self::LargestOldest | Self::LargestNewest => !set.replicas,
        };
        // Unset is the smallest number there is, and before all.
        let (time, name) = (set.creation_time.bits(), set.name_order);
        match self {
            Self::Oldest | Self::LargestOldest => (size, time, name),
            Self::Newest | Self::LargestNewest => (size, !time, !name),
        }
    }
}

//! The sets of a Deployment as a list that can be walked in several orders, without memory for any of them.

use super::{ReplicaSet, SetFlags};

/// The list, and the index of the new set.
#[derive(Clone, Copy)]
pub(super) struct Sets<'a> {
    pub(super) all: &'a [ReplicaSet],
    pub(super) new: Option<usize>,
}

/// The sets that a walk goes through.
#[derive(Clone, Copy)]
pub(super) enum Which {
    All,
    /// Those with the current template.
    Current,
    /// Those that want pods.
    Active,
    /// All but the new one.
    Old,
    /// The old ones that want pods.
    ActiveOld,
}

/// The orders in which Kubernetes walks sets.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// Oldest first. With equal times, the smaller name first.
    Oldest,
    /// The reverse.
    Newest,
    /// Largest first. With equal sizes, as `Oldest`.
    LargestOldest,
    /// Largest first. With equal sizes, as `Newest`.
    LargestNewest,
}

/// A walk. Each step inspects all sets.
pub(super) struct Walk<'a> {
    sets: Sets<'a>,
    which: Which,
    order: Order,
    last: Option<Place>,
}

/// A set's place in an order, with its index at the end. The smaller place comes first.
type Place = (i32, i64, u32, usize);

impl<'a> Sets<'a> {
    /// Kubernetes' `FindNewReplicaSet`: the new set is the oldest of those with the current template.
    pub(super) fn new(all: &'a [ReplicaSet]) -> Self {
        let sets = Self { all, new: None };
        Self { new: sets.walk(Order::Oldest, Which::Current).next().map(|(index, _)| index), ..sets }
    }

    pub(super) fn new_set(&self) -> Option<(usize, &'a ReplicaSet)> {
        let index = self.new?;
        Some((index, self.all.get(index)?))
    }

    pub(super) fn is_old(&self, index: usize) -> bool {
        self.new != Some(index)
    }

    /// Returns these sets in this order.
    pub(super) const fn walk(self, order: Order, which: Which) -> Walk<'a> {
        Walk { sets: self, which, order, last: None }
    }

    /// Returns the old sets that want pods, oldest first.
    pub(super) const fn active_old(self) -> Walk<'a> {
        self.walk(Order::Oldest, Which::ActiveOld)
    }

    /// Returns the sum of a number over these sets, in 32 bits as upstream does.
    #[inline(never)]
    pub(super) fn sum(&self, which: Which, number: fn(&ReplicaSet) -> i32) -> i32 {
        let included = self.all.iter().enumerate().filter(|(index, set)| self.includes(which, *index, set));
        included.fold(0, |sum, (_, set)| sum.wrapping_add(number(set)))
    }

    fn includes(&self, which: Which, index: usize, set: &ReplicaSet) -> bool {
        match which {
            Which::All => true,
            Which::Current => set.flags.contains(SetFlags::CURRENT_TEMPLATE),
            Which::Active => set.is_active(),
            Which::Old => self.is_old(index),
            Which::ActiveOld => set.is_active() && self.is_old(index),
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = (usize, &'a ReplicaSet);

    #[inline(never)]
    fn next(&mut self) -> Option<Self::Item> {
        let mut next: Option<(Place, &ReplicaSet)> = None;
        for (index, set) in self.sets.all.iter().enumerate() {
            let place = self.order.place(index, set);
            if self.sets.includes(self.which, index, set)
                && self.last.is_none_or(|last| place > last)
                && next.is_none_or(|(least, _)| place < least)
            {
                next = Some((place, set));
            }
        }
        let (place, set) = next?;
        self.last = Some(place);
        Some((place.3, set))
    }
}

impl Order {
    fn place(self, index: usize, set: &ReplicaSet) -> Place {
        // An unset time is the smallest number, so it comes before all others.
        let (time, name) = (set.creation_time.bits(), set.name_order);
        match self {
            Self::Oldest => (0, time, name, index),
            Self::Newest => (0, !time, !name, index),
            Self::LargestOldest => (!set.replicas, time, name, index),
            Self::LargestNewest => (!set.replicas, !time, !name, index),
        }
    }
}

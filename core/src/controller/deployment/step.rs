//! What one sync of a Deployment does to each of its sets, and why.

use super::Budgets;
use crate::controller::names::{name_of, named, names};
use core::ffi::CStr;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// What kind of sync it is. A path keeps its number for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Path {
    /// The Deployment is being deleted, so no set changes.
    #[default]
    Nothing = 0,
    /// Scales the sets that exist, because the Deployment is paused or its count changed.
    Scale = 10,
    /// Replaces old pods with new ones, within the budgets.
    Roll = 20,
    /// Deletes all old pods, and only then creates new ones.
    Recreate = 30,
    /// Changes the Deployment's template, as its rollback annotation demands. No set changes, but the new set is
    /// created if it does not exist yet.
    Rollback = 40,
}

/// Why a set gets its size. A reason keeps its number for ever.
///
/// The [module](super) explains the terms. "Scale", "Roll" and "Recreate" name the [`Path`] on which a reason occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reason {
    /// The sync does not consider the set. This is the reason of every set if the path is [`Path::Nothing`] or
    /// [`Path::Rollback`]. On the other paths, it is the reason of a set of size 0 about which there is nothing to decide.
    #[default]
    Untouched = 1,
    /// Scale: the set gets the whole count, because it is the only active one. If no set is active, the new set
    /// gets it, or the newest set if the new set does not exist yet.
    OnlyActive = 4,
    /// Scale: the new set already has the whole count, all available. So it keeps its size, and old sets get 0.
    Saturated = 7,
    /// Scale: the set gets its proportional share.
    Share = 10,
    /// Scale: the set's proportional share is more than what is left to add or remove, so it gets only that.
    CutShare = 11,
    /// Scale: the set is the largest. Besides its proportional share, it gets the remainder that no set's share
    /// covers.
    ShareAndLeftover = 12,
    /// Scale: the set keeps its size, because nothing is left to add or remove.
    UsedUp = 13,
    /// Scale: the set keeps its size, because its share cannot be computed: its annotation max-replicas is missing,
    /// invalid or 0, and the Deployment's `status.replicas` is 0.
    NoShare = 14,
    /// Scale: the set keeps its size, because several sets are active and the strategy is `Recreate`.
    NotRolling = 15,
    /// The new set already has the count.
    AtCount = 18,
    /// The new set gets the count, because it is above the count, or because the strategy is `Recreate` and no old
    /// pod is left.
    ToCount = 19,
    /// Roll: the new set grows as far as the count and the surge allow.
    Grows = 20,
    /// Roll: the new set cannot grow, because there are already as many pods as the count and the surge allow.
    NoSurge = 21,
    /// Roll: the old set keeps its size in this sync, because the new set changes first.
    AfterNewSet = 24,
    /// Roll: the old set shrinks by pods that are not available.
    Unhealthy = 25,
    /// Roll: the old set shrinks as far as it can while enough pods stay available.
    Available = 26,
    /// Roll: the old set shrinks by pods that are not available, and then as far as it can while enough pods stay
    /// available.
    UnhealthyAndAvailable = 27,
    /// Roll: the old set keeps its size, so that enough pods are available.
    HeldBack = 28,
    /// Recreate: the old set gets 0.
    Recreated = 31,
    /// Recreate: the new set waits until no pod of an old set is left.
    Waits = 32,
    /// The size overflowed 32 bits and is below 0. The API server rejects it, so the set does not change, and the
    /// sync ends.
    Rejected = 35,
    /// Roll: the old set has more available pods than its size, because its status lags behind. The sync ends.
    Lags = 36,
    /// The sync ended before it reached the set.
    NotReached = 37,
}

/// What a sync does to one set, with the same layout in Rust and C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Change {
    /// The size that the set gets: its new `spec.replicas`.
    pub replicas: i32,
    /// The part of the change in size that was decided first, negative if the set shrinks. With
    /// [`Reason::ShareAndLeftover`], it is the share, and the rest is the leftover. With
    /// [`Reason::UnhealthyAndAvailable`], it is the pods that are not available. With any other reason, it is the
    /// whole change.
    pub part: i32,
    /// Why.
    pub reason: Reason,
    /// Whether the sync also writes the set's annotations: the Deployment's count to desired-replicas, and the count plus
    /// the surge to max-replicas. It does so whenever it changes the size or creates the set, and when it scales in
    /// proportion even if the size stays. If the size stays and this is false, the sync writes nothing that a sync reads.
    pub annotates: bool,
    reserved: [u8; 6],
}

const _: () = {
    assert!(size_of::<Change>() == 16);
    assert!(align_of::<Change>() == align_of::<i32>());
    assert!(offset_of!(Change, replicas) == 0);
    assert!(offset_of!(Change, part) == 4);
    assert!(offset_of!(Change, reason) == 8);
    assert!(offset_of!(Change, annotates) == 9);
    assert!(offset_of!(Change, reserved) == 10);
};

impl Change {
    /// Returns the change of a set that keeps this size, for this reason.
    pub(super) const fn keep(replicas: i32, reason: Reason) -> Self {
        Self { replicas, part: 0, reason, annotates: false, reserved: [0; 6] }
    }

    /// Gives the set this size, for this reason.
    pub(super) const fn set(&mut self, replicas: i32, reason: Reason) {
        self.part = replicas.wrapping_sub(self.replicas);
        self.replicas = replicas;
        self.reason = reason;
    }

    /// Notes whether the sync writes annotations, once the size and the reason are known.
    pub(super) const fn note_annotations(&mut self) {
        use Reason::{CutShare, NoShare, Share, ShareAndLeftover, UsedUp};
        self.annotates =
            self.part != 0 || matches!(self.reason, Share | CutShare | ShareAndLeftover | UsedUp | NoShare);
    }
}

/// What one sync does, apart from the changes to the sets that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// What kind of sync it is.
    pub path: Path,
    /// The budgets that it applies.
    pub budgets: Budgets,
    /// The index of the new set, or `None` if it does not exist yet.
    pub new_set: Option<u32>,
    /// What happens to the new set. If it does not exist yet, this is the size with which it is created, or why it
    /// is not created.
    pub new_change: Change,
    /// Whether the sync creates the new set, perhaps with size 0.
    pub creates: bool,
    /// Whether another step follows at once: whether the next sync, too, changes a size, an annotation that records one, or
    /// creates the new set, although nothing changes but what this sync leads to.
    ///
    /// This sync leads to the following. The `ReplicaSet` controllers create and delete pods until each set has as many
    /// as its size, and the statuses follow. A set that shrinks loses pods that are not available first. Pods that are
    /// created do not become available, and with `Recreate`, pods that are deleted still run. What only the Deployment's
    /// status records does not count.
    ///
    /// If it is false, this sync is the last one, or the Deployment waits. The sync is the last one, whatever the
    /// statuses become, if it leaves every old set at 0 and the new set, which exists by then, at the count. Otherwise, a
    /// `RollingUpdate` waits until more pods of the new set are available, and `Recreate` until no pod of an old set
    /// runs. A Deployment that is paused, or whose annotations still record another count, only scales.
    ///
    /// The prediction has limits:
    ///
    /// - If `minReadySeconds` is not 0, deletion costs and ranks can make a set lose an available pod before one that is
    ///   ready but not yet available.
    /// - If the controller syncs before it sees all new statuses, it can change more sizes than this says.
    /// - Deleting a pod without a node ends it at once, so the next sync of a `Recreate` may follow at once, too.
    /// - After a rollback it is true: the sync changes the template, and another set may become the new one.
    /// - If a size is [rejected](Reason::Rejected) it is true: the controller tries again.
    pub goes_on: bool,
}

impl Path {
    /// Returns the path's number, which never changes.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

names! { Reason, 24:
    Untouched c"untouched",
    OnlyActive c"only-active",
    Saturated c"saturated",
    Share c"share",
    CutShare c"cut-share",
    ShareAndLeftover c"share-and-leftover",
    UsedUp c"used-up",
    NoShare c"no-share",
    NotRolling c"not-rolling",
    AtCount c"at-count",
    ToCount c"to-count",
    Grows c"grows",
    NoSurge c"no-surge",
    AfterNewSet c"after-new-set",
    Unhealthy c"unhealthy",
    Available c"available",
    UnhealthyAndAvailable c"unhealthy-and-available",
    HeldBack c"held-back",
    Recreated c"recreated",
    Waits c"waits",
    Rejected c"rejected",
    Lags c"lags",
    NotReached c"not-reached",
}

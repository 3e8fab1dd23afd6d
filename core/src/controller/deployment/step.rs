//! What one sync of a Deployment does: to each of its sets, and why.

use super::Budgets;
use core::ffi::CStr;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// Which way a sync takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Path {
    /// The Deployment is being deleted: no set changes.
    #[default]
    Nothing = 0,
    /// It scales the sets it has: the Deployment is paused, or its count changed.
    Scale = 10,
    /// It replaces old pods by new ones, within the budgets.
    Roll = 20,
    /// It takes all old pods first, then creates the new ones.
    Recreate = 30,
    /// It only changes the Deployment's template, by its rollback annotation.
    Rollback = 40,
}

/// Why a set gets the size that it gets. A reason keeps its number for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reason {
    /// The sync has no say in it: an old set of size 0, or any set if the sync only rolls back or does nothing.
    #[default]
    Untouched = 0,
    /// Scale: it is the only active set, or none is and it is the new or newest one. It gets the whole count.
    OnlyActive = 10,
    /// Scale: the new set has all the pods that the Deployment wants, available. Old sets get 0.
    Saturated = 20,
    /// Scale: it gets its proportional share.
    Share = 30,
    /// Scale: it gets as much of its proportional share as was left.
    CutShare = 31,
    /// Scale: as the first set it gets its proportional share and what all shares left over.
    ShareAndLeftover = 32,
    /// Scale: nothing is left for it.
    UsedUp = 33,
    /// Scale: it has no share. Its annotation max-replicas is missing, invalid or 0, and so is the Deployment's
    /// `status.replicas`.
    NoShare = 34,
    /// Scale: several sets are active and the strategy is `Recreate`. Kubernetes leaves them as they are.
    NotRolling = 35,
    /// The new set has the count already.
    AtCount = 40,
    /// The new set gets the count: it was above it, or the strategy is `Recreate` and no old pod is left.
    ToCount = 41,
    /// Roll: the new set grows by what the count and the surge leave.
    Grows = 42,
    /// Roll: the new set cannot grow, because there are as many pods as the count and the surge allow.
    NoSurge = 43,
    /// Roll: the old set keeps its pods until the new set has changed: the next sync looks at it.
    AfterNewSet = 50,
    /// Roll: pods of the old set that are not available go.
    Unhealthy = 51,
    /// Roll: pods of the old set go as far as enough pods stay available.
    Available = 52,
    /// Roll: pods that are not available go first, then others as far as enough pods stay available.
    UnhealthyAndAvailable = 53,
    /// Roll: the old set keeps its pods, so that enough pods are available.
    HeldBack = 54,
    /// Recreate: the old set gets 0.
    Recreated = 60,
    /// Recreate: the new set waits until no pod of another set is left.
    Waits = 61,
    /// The size would be below 0, after sums that do not fit 32 bits. The API server rejects that, and the sync ends.
    Rejected = 90,
    /// Roll: the old set has more available pods than it wants, as its status lags. The sync ends.
    Lags = 91,
    /// The sync ended before it came to the set.
    NotReached = 92,
}

/// What a sync does to one set, with the same layout in Rust and C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Change {
    /// The size that the set gets: its new `spec.replicas`.
    pub replicas: i32,
    /// How much of the change comes first, negative if pods go: the share of [`Reason::ShareAndLeftover`], the pods not
    /// available of [`Reason::UnhealthyAndAvailable`]. For other reasons the whole change.
    pub part: i32,
    /// Why.
    pub reason: Reason,
    reserved: [u8; 7],
}

const _: () = {
    assert!(size_of::<Change>() == 16);
    assert!(align_of::<Change>() == align_of::<i32>());
    assert!(offset_of!(Change, replicas) == 0);
    assert!(offset_of!(Change, part) == 4);
    assert!(offset_of!(Change, reason) == 8);
    assert!(offset_of!(Change, reserved) == 9);
};

impl Change {
    /// A set of this size keeps it, for this reason.
    pub(super) const fn keep(replicas: i32, reason: Reason) -> Self {
        Self { replicas, part: 0, reason, reserved: [0; 7] }
    }

    /// The set gets this size, for this reason.
    pub(super) const fn set(&mut self, replicas: i32, reason: Reason) {
        self.part = replicas.wrapping_sub(self.replicas);
        self.replicas = replicas;
        self.reason = reason;
    }
}

/// What one sync does besides the changes of the sets listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Which way it takes.
    pub path: Path,
    /// The budgets it takes it with.
    pub budgets: Budgets,
    /// The index of the new set in the list; `None` if it does not exist yet.
    pub new_set: Option<u32>,
    /// What becomes of the new set. If it does not exist yet: of which size it is created, or why it is not.
    pub new_change: Change,
    /// Whether the new set is created. It can be of size 0.
    pub creates: bool,
    /// Whether later syncs may change sizes, as statuses follow.
    ///
    /// They may until the new set is there with the Deployment's count and no old set wants pods, and after a rollback. If
    /// the Deployment is being deleted, none does.
    ///
    /// A paused Deployment only scales. It does so again if fewer than two sets want pods and they do not have the count;
    /// or, of several, if the new set has the count, because it replaces the others once its pods are available, or if
    /// with `RollingUpdate` the sets do not add up to the count and the surge. The same holds if it is not paused, but this
    /// sync scaled without writing anything, so that the next one scales as well.
    pub goes_on: bool,
}

impl Path {
    /// The stable number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl Reason {
    /// Every reason, by number.
    pub const ALL: &'static [Self] = &[
        Self::Untouched,
        Self::OnlyActive,
        Self::Saturated,
        Self::Share,
        Self::CutShare,
        Self::ShareAndLeftover,
        Self::UsedUp,
        Self::NoShare,
        Self::NotRolling,
        Self::AtCount,
        Self::ToCount,
        Self::Grows,
        Self::NoSurge,
        Self::AfterNewSet,
        Self::Unhealthy,
        Self::Available,
        Self::UnhealthyAndAvailable,
        Self::HeldBack,
        Self::Recreated,
        Self::Waits,
        Self::Rejected,
        Self::Lags,
        Self::NotReached,
    ];

    // Not a `match`: the code that compilers make of it contains traps for the numbers between. And bytes instead of
    // texts, because a list of addresses is memory that a loader writes.
    const NAMES: &'static [(Self, [u8; 24])] = &[
        (Self::Untouched, padded(c"untouched")),
        (Self::OnlyActive, padded(c"only-active")),
        (Self::Saturated, padded(c"saturated")),
        (Self::Share, padded(c"share")),
        (Self::CutShare, padded(c"cut-share")),
        (Self::ShareAndLeftover, padded(c"share-and-leftover")),
        (Self::UsedUp, padded(c"used-up")),
        (Self::NoShare, padded(c"no-share")),
        (Self::NotRolling, padded(c"not-rolling")),
        (Self::AtCount, padded(c"at-count")),
        (Self::ToCount, padded(c"to-count")),
        (Self::Grows, padded(c"grows")),
        (Self::NoSurge, padded(c"no-surge")),
        (Self::AfterNewSet, padded(c"after-new-set")),
        (Self::Unhealthy, padded(c"unhealthy")),
        (Self::Available, padded(c"available")),
        (Self::UnhealthyAndAvailable, padded(c"unhealthy-and-available")),
        (Self::HeldBack, padded(c"held-back")),
        (Self::Recreated, padded(c"recreated")),
        (Self::Waits, padded(c"waits")),
        (Self::Rejected, padded(c"rejected")),
        (Self::Lags, padded(c"lags")),
        (Self::NotReached, padded(c"not-reached")),
    ];

    /// The stable number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The reason with this number, or `None`.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.number() == number)
    }

    /// The name: lower-case words with hyphens.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.c_name().to_str().unwrap_or("")
    }

    /// The name, NUL-terminated.
    #[must_use]
    pub fn c_name(self) -> &'static CStr {
        let name = Self::NAMES.iter().find(|(reason, _)| *reason == self);
        name.and_then(|(_, name)| CStr::from_bytes_until_nul(name).ok()).unwrap_or_default()
    }
}

/// Fills a text up with zeros, of which one must fit.
const fn padded<const LEN: usize>(text: &CStr) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let (mut from, mut to): (&[u8], &mut [u8]) = (text.to_bytes_with_nul(), &mut bytes);
    assert!(from.len() <= to.len(), "too long a text");
    while let ([byte, more @ ..], [slot, space @ ..]) = (from, to) {
        *slot = *byte;
        (from, to) = (more, space);
    }
    bytes
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

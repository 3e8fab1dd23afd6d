//! What one sync of a `StatefulSet` does with each of its pods, and why.

pub use crate::controller::outcome::Verdict;

use crate::controller::names::{name_of, named, names};
use core::ffi::CStr;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// The value of [`Outcome::by`] if the reason refers to no member, or to an ordinal without a member.
pub const NO_MEMBER: u32 = u32::MAX;

/// Why a pod goes, stays or waits. A reason keeps its number for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reason {
    /// Keep: its ordinal is in the range, and it is neither finished nor old.
    #[default]
    InRange = 61,
    /// Keep: it is already being deleted.
    Terminating = 62,
    /// Keep: the set is being deleted, and does nothing.
    SetDeleted = 63,
    /// Keep: the set's strategy is `Recreate`, whose feature gate is off, so every sync fails.
    RecreateOff = 64,
    /// Keep: its ordinal is negative, so Kubernetes ignores it.
    NoOrdinal = 65,
    /// Keep: it is old, but its ordinal minus the start is below the partition.
    BelowPartition = 66,
    /// Keep: it is old, but with the strategy `OnDelete` only a user replaces pods.
    OnDelete = 67,

    /// Delete: its ordinal is not in the range.
    OutOfRange = 70,
    /// Delete: it is finished. Kubernetes deletes it and creates it anew.
    Finished = 71,
    /// Delete: it is old, and it is replaced.
    Old = 72,
    /// Delete: it is old and unavailable, so replacing it takes nothing from the budget.
    OldUnavailable = 73,

    /// Contested: the pod at index `by` shares its ordinal with another pod of the set, and it is open which of the two
    /// Kubernetes sees. The outcome of this pod depends on that, even if its own ordinal is unique.
    Twins = 76,

    /// Blocked: the ordinal `by_ordinal` is in the range and has no pod. It is created first.
    WaitsForMissing = 79,
    /// Blocked: the pod at index `by` is finished. It is deleted and created anew first.
    WaitsForFinished = 80,
    /// Blocked: the pod at index `by` is being deleted.
    WaitsForTermination = 81,
    /// Blocked: the pod at index `by` is not `Running`.
    WaitsForRunning = 82,
    /// Blocked: the pod at index `by` is not ready.
    WaitsForReady = 83,
    /// Blocked: the pod at index `by` has not been ready for `minReadySeconds`.
    WaitsForAvailable = 84,
    /// Blocked: neither this pod, which is next, nor the pod at index `by`, which has a lower ordinal, is available. This
    /// pod goes as soon as one of the two is available: Kubernetes does not require both.
    WaitsForEither = 85,
    /// Blocked: the pod at index `by` goes first, because pods go one at a time.
    OneAtATime = 86,
    /// Blocked: the pod at index `by` has to go first, because scaling down comes before updating.
    AfterScaling = 87,
    /// Blocked: the pods that are missing, are unavailable or go in this sync use up `maxUnavailable`. One of them is the
    /// pod at index `by` or, if that is [`NO_MEMBER`], the missing one with the ordinal `by_ordinal`.
    Budget = 88,
    /// Blocked: with the strategy `Recreate`, the pod at index `by`, which is old, has to go first.
    AfterRecreate = 89,
}

/// What a sync does with one member, with the same layout in Rust and C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Outcome {
    /// The index of the pod in `members`.
    pub member: u32,
    /// The index of the pod that the reason refers to, or [`NO_MEMBER`].
    pub by: u32,
    /// The ordinal of that pod. With [`Reason::WaitsForMissing`], and with [`Reason::Budget`] if `by` is [`NO_MEMBER`],
    /// the ordinal that has no pod. 0 if the reason refers to neither.
    pub by_ordinal: i32,
    /// What happens to it.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    pub(super) reserved: [u8; 2],
}

const _: () = {
    assert!(size_of::<Outcome>() == 16);
    assert!(align_of::<Outcome>() == align_of::<i32>());
    assert!(offset_of!(Outcome, member) == 0);
    assert!(offset_of!(Outcome, by) == 4);
    assert!(offset_of!(Outcome, by_ordinal) == 8);
    assert!(offset_of!(Outcome, verdict) == 12);
    assert!(offset_of!(Outcome, reason) == 13);
    assert!(offset_of!(Outcome, reserved) == 14);
};

/// What a sync does in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Step {
    /// How many pods certainly go.
    pub delete: u32,
    /// How many pods are contested. Any number of them may go.
    pub contested: u32,
    /// How many pods would go, but wait.
    pub blocked: u32,
}

impl Default for Outcome {
    fn default() -> Self {
        Self::keep(NO_MEMBER, Reason::InRange)
    }
}

impl Outcome {
    pub(super) const fn keep(member: u32, reason: Reason) -> Self {
        Self { member, by: NO_MEMBER, by_ordinal: 0, verdict: Verdict::Keep, reason, reserved: [0; 2] }
    }
}

names! { Reason, 24:
    InRange c"in-range",
    Terminating c"terminating",
    SetDeleted c"set-deleted",
    RecreateOff c"recreate-off",
    NoOrdinal c"no-ordinal",
    BelowPartition c"below-partition",
    OnDelete c"on-delete",
    OutOfRange c"out-of-range",
    Finished c"finished",
    Old c"old",
    OldUnavailable c"old-unavailable",
    Twins c"twins",
    WaitsForMissing c"waits-for-missing",
    WaitsForFinished c"waits-for-finished",
    WaitsForTermination c"waits-for-termination",
    WaitsForRunning c"waits-for-running",
    WaitsForReady c"waits-for-ready",
    WaitsForAvailable c"waits-for-available",
    WaitsForEither c"waits-for-either",
    OneAtATime c"one-at-a-time",
    AfterScaling c"after-scaling",
    Budget c"budget",
    AfterRecreate c"after-recreate",
}

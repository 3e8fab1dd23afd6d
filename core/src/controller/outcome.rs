//! What a sync does to one pod: the form in which the controllers that delete pods themselves report it.

use core::mem::{align_of, offset_of, size_of};

/// What a sync does with a pod. A verdict keeps its number for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Verdict {
    /// It stays in this sync.
    #[default]
    Keep = 0,
    /// It certainly goes.
    Delete = 1,
    /// It goes or stays by chance.
    Contested = 2,
    /// It would go, but waits. Only a `StatefulSet` has such pods.
    Blocked = 3,
}

/// What a sync does to one pod, and why, with the same layout in Rust and C. `R` is the reason of one kind of workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Outcome<R> {
    /// If the pod is contested, the index of one pod of its group. It is the same for all pods of the group.
    pub group: u32,
    /// If the pod is contested, how many pods of its group go: at least 1, and fewer than there are.
    pub quota: u32,
    /// Whether the pod goes.
    pub verdict: Verdict,
    /// Why.
    pub reason: R,
    reserved: [u8; 2],
}

const _: () = {
    assert!(size_of::<Outcome<u8>>() == 12);
    assert!(align_of::<Outcome<u8>>() == 4);
    assert!(offset_of!(Outcome<u8>, group) == 0);
    assert!(offset_of!(Outcome<u8>, quota) == 4);
    assert!(offset_of!(Outcome<u8>, verdict) == 8);
    assert!(offset_of!(Outcome<u8>, reason) == 9);
    assert!(offset_of!(Outcome<u8>, reserved) == 10);
};

impl Verdict {
    /// Returns the verdict's number, which never changes.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl<R> Outcome<R> {
    /// Returns the outcome of a pod that is not contested.
    pub(super) const fn new(verdict: Verdict, reason: R) -> Self {
        Self { group: 0, quota: 0, verdict, reason, reserved: [0; 2] }
    }

    /// Makes the pod one of a group of which `quota` go.
    pub(super) const fn contest(&mut self, group: u32, quota: u32) {
        (self.verdict, self.group, self.quota) = (Verdict::Contested, group, quota);
    }

    /// Decides the pod, which keeps its reason.
    pub(super) const fn decide(&mut self, verdict: Verdict) {
        (self.verdict, self.group, self.quota) = (verdict, 0, 0);
    }
}

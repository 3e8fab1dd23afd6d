//! Expectations: what a set has asked for and not yet seen, so that it does not ask again.

use crate::Time;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// How long to wait for what is expected, in nanoseconds: 5 minutes (Kubernetes' `ExpectationsTimeout`).
pub const EXPECTATIONS_TIMEOUT_NANOS: i64 = 300_000_000_000;

/// What tells the pods of a set apart while they are being deleted: 16 bytes of the caller's choice. The pod's UID does
/// well; Kubernetes takes `namespace/name`.
pub type PodKey = [u8; 16];

/// There is no room for so many keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeysFull;

/// The expectations of one set, with memory for the keys of up to `KEYS` deletions: as many as one sync may delete,
/// at most [`BURST_REPLICAS`](super::BURST_REPLICAS). This is one entry of Kubernetes'
/// `UIDTrackingControllerExpectations`.
///
/// A controller sees the outcome of its requests later than it made them. If it counted its pods meanwhile, it would
/// create and delete too many. So it first writes down what it expects to see, then asks for it, and does nothing more
/// until all of it was seen ([`are_satisfied`](Expectations::are_satisfied)).
///
/// Deletions are known by key and each counts once, for a deletion can be seen twice: when it begins and when the pod
/// is gone. Creations are only counted: do not report one pod twice.
///
/// ```
/// use podrank::Time;
/// use podrank::controller::Expectations;
///
/// let now = Time::from_unix(1_700_000_000, 0);
/// let mut expectations = Expectations::<4>::new();
/// assert!(expectations.are_satisfied(now), "none are set");
///
/// expectations.expect_deletions(&[[1; 16], [2; 16]], now).unwrap();
/// assert!(expectations.deletion_observed(&[1; 16]));
/// assert!(!expectations.deletion_observed(&[1; 16]), "seen before");
/// assert!(!expectations.deletion_observed(&[3; 16]), "not expected");
/// assert!(!expectations.are_satisfied(now));
/// assert!(expectations.deletion_observed(&[2; 16]));
/// assert!(expectations.are_satisfied(now));
/// ```
#[derive(Clone, Debug)]
pub struct Expectations<const KEYS: usize> {
    expected: Expected,
    room: [PodKey; KEYS],
}

impl<const KEYS: usize> Expectations<KEYS> {
    /// None are set.
    #[must_use]
    pub const fn new() -> Self {
        Self { expected: Expected::NONE, room: [[0; 16]; KEYS] }
    }

    /// Expects so many creations and no deletion, from now on. Replaces what was expected, but for the keys of
    /// deletions not yet seen: seen now, they lower the number of deletions below zero.
    pub fn expect_creations(&mut self, count: u32, now: Time) {
        self.expected.expect_creations(count, now);
    }

    /// Expects the deletion of the pods with these keys, each once, and no creation, from now on. Replaces what was
    /// expected, keys included.
    ///
    /// # Errors
    /// [`KeysFull`] for more than `KEYS` keys, one given twice counting twice; then all is as it was.
    pub fn expect_deletions(&mut self, keys: &[PodKey], now: Time) -> Result<(), KeysFull> {
        self.expected.expect_deletions(&mut self.room, keys, now)
    }

    /// Takes `count` creations for seen: 1 for a pod that is first seen with this set as its controller, or as many as could
    /// not be created and never will be seen. Not for an orphan that the set adopts, nor for a pod that is being deleted
    /// when it is first seen: that is a deletion. The number may go below zero. Does nothing if no expectations are set.
    pub fn creations_observed(&mut self, count: u32) {
        self.expected.creations_observed(count);
    }

    /// Takes the deletion of the pod with this key for seen: it is being deleted, or gone, or could not be
    /// deleted, whoever controls it by now. Whether it was expected; else nothing changes.
    pub fn deletion_observed(&mut self, key: &PodKey) -> bool {
        self.expected.deletion_observed(&mut self.room, key)
    }

    /// Whether the set may act: none are set, or all creations and deletions were seen, or they were set more than
    /// [5 minutes](EXPECTATIONS_TIMEOUT_NANOS) ago.
    ///
    /// Only differences of times count, so any clock will do that is never put back. If either moment is unset, there
    /// is no timeout.
    #[must_use]
    pub fn are_satisfied(&self, now: Time) -> bool {
        self.expected.are_satisfied(now)
    }

    /// None are set any more: for when the set is gone, so that another of its name starts anew.
    pub fn clear(&mut self) {
        self.expected = Expected::NONE;
    }

    /// How many creations are yet to be seen; negative if more were seen than expected, 0 if none are set.
    #[must_use]
    pub const fn creations(&self) -> i64 {
        self.expected.creations()
    }

    /// How many deletions are yet to be seen; negative if more were seen than expected, 0 if none are set.
    #[must_use]
    pub const fn deletions(&self) -> i64 {
        self.expected.deletions()
    }
}

impl<const KEYS: usize> Default for Expectations<KEYS> {
    /// [`Expectations::new`].
    fn default() -> Self {
        Self::new()
    }
}

/// [`Expectations`] without the memory for the keys, for callers who keep it elsewhere, such as in C. Every method
/// takes the same `room`, and otherwise does what the one of the same name does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Expected {
    since: Time,
    creations: i64,
    deletions: i64,
    keys: u32,
    is_set: u32,
}

// The C ABI hands out the same memory.
const _: () = {
    assert!(size_of::<Expected>() == 32);
    assert!(align_of::<Expected>() == align_of::<i64>());
    assert!(offset_of!(Expected, since) == 0);
    assert!(offset_of!(Expected, creations) == 8);
    assert!(offset_of!(Expected, deletions) == 16);
    assert!(offset_of!(Expected, keys) == 24);
    assert!(offset_of!(Expected, is_set) == 28);
};

impl Expected {
    /// None are set. All bits are zero.
    pub const NONE: Self =
        Self { since: Time::from_unix_nanos(0), creations: 0, deletions: 0, keys: 0, is_set: 0 };

    /// Returns how many keys the room holds.
    #[must_use]
    pub const fn keys(&self) -> usize {
        self.keys as usize
    }

    /// See [`Expectations::expect_creations`].
    pub fn expect_creations(&mut self, count: u32, now: Time) {
        *self = Self { since: now, creations: count.into(), deletions: 0, is_set: 1, ..*self };
    }

    /// See [`Expectations::expect_deletions`]. Compares each key with those before it.
    ///
    /// # Errors
    /// [`KeysFull`] for more keys than `room` has slots; then all is as it was.
    pub fn expect_deletions(
        &mut self,
        room: &mut [PodKey],
        keys: &[PodKey],
        now: Time,
    ) -> Result<(), KeysFull> {
        if keys.len() > room.len() {
            return Err(KeysFull);
        }
        let mut len = 0_u32;
        for key in keys {
            let known = find(room, len, key).is_some();
            if let Some(slot) = room.get_mut(len as usize).filter(|_| !known) {
                *slot = *key;
                len = len.saturating_add(1);
            }
        }
        *self = Self { since: now, creations: 0, deletions: len.into(), keys: len, is_set: 1 };
        Ok(())
    }

    /// See [`Expectations::creations_observed`].
    pub fn creations_observed(&mut self, count: u32) {
        if self.is_set != 0 {
            self.creations = self.creations.saturating_sub(count.into());
        }
    }

    /// See [`Expectations::deletion_observed`].
    pub fn deletion_observed(&mut self, room: &mut [PodKey], key: &PodKey) -> bool {
        let Some(slot) = find(room, self.keys, key) else { return false };
        self.keys = self.keys.saturating_sub(1);
        self.deletions = self.deletions.saturating_sub(1);
        // The last one takes its place.
        if let Some(&last) = room.get(self.keys as usize)
            && let Some(slot) = room.get_mut(slot)
        {
            *slot = last;
        }
        true
    }

    /// See [`Expectations::are_satisfied`].
    #[must_use]
    pub fn are_satisfied(&self, now: Time) -> bool {
        let age = now.nanos_since(self.since);
        self.creations <= 0 && self.deletions <= 0 || age.is_some_and(|age| age > EXPECTATIONS_TIMEOUT_NANOS)
    }

    /// See [`Expectations::creations`].
    #[must_use]
    pub const fn creations(&self) -> i64 {
        self.creations
    }

    /// See [`Expectations::deletions`].
    #[must_use]
    pub const fn deletions(&self) -> i64 {
        self.deletions
    }
}

/// Where `key` stands among the first `len` keys.
fn find(keys: &[PodKey], len: u32, key: &PodKey) -> Option<usize> {
    // As numbers: as bytes they might be compared by `bcmp`, which bare C libraries lack.
    let key = u128::from_ne_bytes(*key);
    keys.iter().take(len as usize).position(|other| u128::from_ne_bytes(*other) == key)
}

impl fmt::Display for KeysFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no room for so many keys")
    }
}

impl core::error::Error for KeysFull {}

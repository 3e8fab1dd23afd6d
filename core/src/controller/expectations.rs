//! Expectations: the changes that a set has requested and not yet observed, so that it does not request them
//! again.

use crate::Time;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// How long a set waits for what it expects, in nanoseconds: 5 minutes, Kubernetes' `ExpectationsTimeout`.
pub const EXPECTATIONS_TIMEOUT_NANOS: i64 = 300_000_000_000;

/// Identifies a pod of a set while it is being deleted: 16 bytes of your choice, such as the pod's UID.
/// Kubernetes uses `namespace/name`.
pub type PodKey = [u8; 16];

/// The error for more keys than the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeysFull;

/// The expectations of one set, with a capacity of `KEYS` deletions. One sync deletes at most
/// [`BURST_REPLICAS`](super::BURST_REPLICAS) pods. This is one entry of Kubernetes'
/// `UIDTrackingControllerExpectations`.
///
/// A controller observes the results of its requests with a delay. If it counted its pods in between, it
/// would create or delete too many. So it first records what it expects, then sends the requests, and does
/// nothing more until it has observed all of it ([`are_satisfied`](Expectations::are_satisfied)).
///
/// Deletions are identified by key, and each counts once, because a controller can observe a deletion twice:
/// when it begins and when the pod is gone. Creations are only counted, so do not report a pod twice.
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
/// assert!(!expectations.deletion_observed(&[1; 16]), "observed before");
/// assert!(!expectations.deletion_observed(&[3; 16]), "not expected");
/// assert!(!expectations.are_satisfied(now));
/// assert!(expectations.deletion_observed(&[2; 16]));
/// assert!(expectations.are_satisfied(now));
/// ```
#[derive(Clone, Debug)]
pub struct Expectations<const KEYS: usize> {
    expected: Expected,
    key_storage: [PodKey; KEYS],
}

impl<const KEYS: usize> Expectations<KEYS> {
    /// Returns an empty record: nothing is expected.
    #[must_use]
    pub const fn new() -> Self {
        Self { expected: Expected::NONE, key_storage: [[0; 16]; KEYS] }
    }

    /// Expects `count` creations and no deletion. Call it before you create pods.
    ///
    /// It replaces all earlier expectations, so the number of pending deletions becomes 0. As in Kubernetes,
    /// however, their keys are not removed: if you report one of them later, the number falls below zero, which
    /// counts as satisfied.
    pub fn expect_creations(&mut self, count: u32, now: Time) {
        self.expected.expect_creations(count, now);
    }

    /// Expects the deletion of the pods with these keys and no creation. Call it before you delete pods. It
    /// replaces all earlier expectations, including the keys.
    ///
    /// # Errors
    /// [`KeysFull`] for more than `KEYS` keys, where a duplicate counts twice. In that case nothing
    /// changes.
    pub fn expect_deletions(&mut self, keys: &[PodKey], now: Time) -> Result<(), KeysFull> {
        self.expected.expect_deletions(&mut self.key_storage, keys, now)
    }

    /// Records `count` creations as observed. Does nothing if no expectations are set.
    ///
    /// Report 1 when you first observe a pod that this set controls. You will never observe pods that could not be
    /// created, so report them, too: their number, in one call. Do not report a pod that the set adopts. A pod that
    /// is already being deleted when you first observe it is a deletion, not a creation. The number of creations
    /// may go below zero.
    pub fn creations_observed(&mut self, count: u32) {
        self.expected.creations_observed(count);
    }

    /// Counts the deletion of the pod with this key as observed. Returns whether it was pending. If not,
    /// nothing changes.
    ///
    /// Report a pod that is being deleted, is gone or could not be deleted, even if another set controls it by now.
    pub fn deletion_observed(&mut self, key: &PodKey) -> bool {
        self.expected.deletion_observed(&mut self.key_storage, key)
    }

    /// Returns whether the set may act: no expectations are set, or all creations and deletions have been
    /// observed, or the expectations were set more than [5 minutes](EXPECTATIONS_TIMEOUT_NANOS) ago.
    ///
    /// Only differences of times count, so any monotonic clock works. If one of the times is unset, there is
    /// no timeout.
    #[must_use]
    pub fn are_satisfied(&self, now: Time) -> bool {
        self.expected.are_satisfied(now)
    }

    /// Removes all expectations. Call it when the set is gone, so that a new set with the same name starts
    /// without any.
    pub fn clear(&mut self) {
        self.expected = Expected::NONE;
    }

    /// Returns how many creations are pending. Negative if more were observed than expected, and 0 if no
    /// expectations are set.
    #[must_use]
    pub const fn creations(&self) -> i64 {
        self.expected.creations()
    }

    /// Returns how many deletions are pending. Negative if more were observed than expected, and 0 if no
    /// expectations are set.
    #[must_use]
    pub const fn deletions(&self) -> i64 {
        self.expected.deletions()
    }
}

impl<const KEYS: usize> Default for Expectations<KEYS> {
    /// Returns [`Expectations::new`].
    fn default() -> Self {
        Self::new()
    }
}

/// [`Expectations`] without the memory for the keys, which C callers own. Pass the same `key_storage` for the keys to
/// every method that takes one. Apart from that, each method does what the method of `Expectations` with the same
/// name does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Expected {
    since: Time,
    creations: i64,
    deletions: i64,
    keys: u32,
    is_set: u32,
}

// C has the same memory.
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
    /// No expectations are set. All bits are zero.
    pub const NONE: Self =
        Self { since: Time::from_unix_nanos(0), creations: 0, deletions: 0, keys: 0, is_set: 0 };

    /// Returns how many keys are stored.
    #[must_use]
    pub const fn keys(&self) -> usize {
        self.keys as usize
    }

    /// See [`Expectations::expect_creations`].
    pub fn expect_creations(&mut self, count: u32, now: Time) {
        *self = Self { since: now, creations: count.into(), deletions: 0, is_set: 1, ..*self };
    }

    /// See [`Expectations::expect_deletions`]. Looks for duplicates, so the time grows with the square of the
    /// number of keys.
    ///
    /// # Errors
    /// [`KeysFull`] for more keys than `key_storage` has slots. In that case nothing changes.
    pub fn expect_deletions(
        &mut self,
        key_storage: &mut [PodKey],
        keys: &[PodKey],
        now: Time,
    ) -> Result<(), KeysFull> {
        if keys.len() > key_storage.len() {
            return Err(KeysFull);
        }
        let mut len = 0_u32;
        for key in keys {
            let known = find(key_storage, len, key).is_some();
            if let Some(slot) = key_storage.get_mut(len as usize).filter(|_| !known) {
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
    pub fn deletion_observed(&mut self, key_storage: &mut [PodKey], key: &PodKey) -> bool {
        let Some(slot) = find(key_storage, self.keys, key) else { return false };
        self.keys = self.keys.saturating_sub(1);
        self.deletions = self.deletions.saturating_sub(1);
        // The last key takes its place.
        if let Some(&last) = key_storage.get(self.keys as usize)
            && let Some(slot) = key_storage.get_mut(slot)
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

/// Returns the position of `key` among the first `len` keys.
fn find(keys: &[PodKey], len: u32, key: &PodKey) -> Option<usize> {
    // As numbers, because bytes may be compared by `bcmp`, which minimal C libraries lack.
    let key = u128::from_ne_bytes(*key);
    keys.iter().take(len as usize).position(|other| u128::from_ne_bytes(*other) == key)
}

impl fmt::Display for KeysFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are more keys than the capacity: give it room for one key per deletion")
    }
}

impl core::error::Error for KeysFull {}

//! Creating in batches that double: when all fail for one reason, few requests are wasted on it.

use core::mem::{align_of, offset_of, size_of};

/// Creates pods in batches of 1, 2, 4 and so on, until one has a failure: Kubernetes' `slowStartBatch`.
///
/// Ask for the [`next_batch`](SlowStart::next_batch), create that many pods, at once if you like, and
/// [`report`](SlowStart::report) the failures once all are answered.
///
/// ```
/// use podrank::controller::SlowStart;
///
/// let mut start = SlowStart::new(10);
/// let mut batches = vec![];
/// while start.next_batch() > 0 {
///     batches.push(start.next_batch());
///     // Of the third batch, two fail: the last three pods are not tried.
///     start.report(if batches.len() == 3 { 2 } else { 0 });
/// }
/// assert_eq!(batches, [1, 2, 4]);
/// assert_eq!(start.missing(), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct SlowStart {
    batch: u32,
    missing: u32,
}

// The C ABI hands out the same memory.
const _: () = {
    assert!(size_of::<SlowStart>() == 8);
    assert!(align_of::<SlowStart>() == align_of::<u32>());
    assert!(offset_of!(SlowStart, batch) == 0);
    assert!(offset_of!(SlowStart, missing) == 4);
};

impl SlowStart {
    /// Starts to create `count` pods.
    #[must_use]
    pub const fn new(count: u32) -> Self {
        Self { batch: if count > 0 { 1 } else { 0 }, missing: count }
    }

    /// How many pods to create next; 0 at the end. Stays the same until it is reported on.
    #[must_use]
    pub const fn next_batch(&self) -> u32 {
        self.batch
    }

    /// Says how many pods of the batch could not be created; more than the batch has count as all of it. A batch
    /// with a failure is the last.
    ///
    /// A refusal because the namespace is being terminated is no failure: nothing can be created there any
    /// more, and the set goes soon. That pod stays expected.
    pub fn report(&mut self, failures: u32) {
        self.missing = self.missing.saturating_sub(self.batch.saturating_sub(failures));
        let next = if failures > 0 { 0 } else { self.batch.saturating_mul(2) };
        self.batch = next.min(self.missing);
    }

    /// How many pods have not been created: failed or not tried, so far. At the end, nobody will ever see them, and
    /// [`creations_observed`](super::Expectations::creations_observed) takes them back.
    #[must_use]
    pub const fn missing(&self) -> u32 {
        self.missing
    }
}

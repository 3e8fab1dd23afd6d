//! Creates pods in batches that double, so that few requests are wasted if all fail for one reason.

use core::mem::{align_of, offset_of, size_of};

/// Creates pods in batches of 1, 2, 4 and so on, until a creation in a batch fails: Kubernetes' `slowStartBatch`.
///
/// Create [`next_batch`](SlowStart::next_batch) pods, in parallel if you like. When all requests are answered,
/// [`report`](SlowStart::report) how many failed. Repeat until the next batch is 0.
///
/// ```
/// use podrank::controller::SlowStart;
///
/// let mut start = SlowStart::new(10);
/// let mut batches = vec![];
/// while start.next_batch() > 0 {
///     batches.push(start.next_batch());
///     // Two creations of the third batch fail, so the last three pods are not tried.
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

// C has the same memory.
const _: () = {
    assert!(size_of::<SlowStart>() == 8);
    assert!(align_of::<SlowStart>() == align_of::<u32>());
    assert!(offset_of!(SlowStart, batch) == 0);
    assert!(offset_of!(SlowStart, missing) == 4);
};

impl SlowStart {
    /// Starts creating `count` pods.
    #[must_use]
    pub const fn new(count: u32) -> Self {
        Self { batch: if count > 0 { 1 } else { 0 }, missing: count }
    }

    /// Returns how many pods to create next, or 0 at the end. It stays the same until
    /// [`report`](SlowStart::report).
    #[must_use]
    pub const fn next_batch(&self) -> u32 {
        self.batch
    }

    /// Reports how many pods of the batch could not be created. A number above the batch counts as the whole
    /// batch. A batch with a failure is the last.
    ///
    /// If a creation is rejected because the namespace is being terminated, that is not a failure: the set
    /// goes away soon, and the creation stays pending.
    pub fn report(&mut self, failures: u32) {
        self.missing = self.missing.saturating_sub(self.batch.saturating_sub(failures));
        let next = if failures > 0 { 0 } else { self.batch.saturating_mul(2) };
        self.batch = next.min(self.missing);
    }

    /// Returns how many pods have not been created so far, because they failed or were not tried. At the end,
    /// report this number to [`creations_observed`](super::Expectations::creations_observed), because nobody
    /// will observe those pods.
    #[must_use]
    pub const fn missing(&self) -> u32 {
        self.missing
    }
}

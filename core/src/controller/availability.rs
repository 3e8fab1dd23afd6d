//! Availability: whether a pod has been ready for long enough, and when to check again.

use crate::{Pod, Time};

/// Whether a pod is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Availability {
    /// It is not ready.
    NotReady,
    /// It is ready, but its ready time or `now` is unset, so it is unknown for how long. Checking again does
    /// not help.
    ReadySinceUnknown,
    /// It is ready. If it stays ready, it will be available after this many nanoseconds, at least 1.
    AvailableIn(u64),
    /// It is ready and available.
    Available,
}

impl Availability {
    /// Returns whether the pod is ready, so that it counts in `status.readyReplicas`.
    #[must_use]
    pub const fn is_ready(self) -> bool {
        !matches!(self, Self::NotReady)
    }

    /// Returns after how many nanoseconds to check the pod again, or `None` if there is nothing to wait for.
    /// Check the set again after the least of its pods' waits.
    #[must_use]
    pub const fn next_check_after(self) -> Option<u64> {
        match self {
            Self::AvailableIn(nanos) => Some(nanos),
            _ => None,
        }
    }
}

/// Returns whether a pod is available: whether it has been ready for at least `min_ready_seconds`
/// (`spec.minReadySeconds`), to the nanosecond. If that is 0, every ready pod is available. This is
/// Kubernetes' `IsPodAvailable`, which in older releases asks for more than `min_ready_seconds`.
///
/// A pod that stays ready becomes available exactly [`next_check_after`](Availability::next_check_after) nanoseconds after
/// `now`. A wait of more than 292 years is reported as 292 years.
#[must_use]
pub fn availability(pod: &Pod, min_ready_seconds: u32, now: Time) -> Availability {
    if !pod.is_ready() {
        return Availability::NotReady;
    }
    if min_ready_seconds == 0 {
        return Availability::Available;
    }
    let Some(elapsed) = now.nanos_since(pod.ready_time) else { return Availability::ReadySinceUnknown };
    // This cannot wrap: 2^32 s are less than half of what 64 bits hold.
    let left = i64::from(min_ready_seconds).wrapping_mul(1_000_000_000).saturating_sub(elapsed);
    if left > 0 { Availability::AvailableIn(left.cast_unsigned()) } else { Availability::Available }
}

//! Availability: ready for long enough, and when to look again.

use crate::{Pod, Time};

/// How far a pod has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Availability {
    /// It is not ready.
    NotReady,
    /// It is ready, but its ready time is unset, or `now` is: it cannot be told since when. Only a change of the pod
    /// will change that.
    ReadySinceUnknown,
    /// It is ready, and will be available in so many nanoseconds if it stays so: look again then. At least 1.
    AvailableIn(u64),
    /// It is ready and available.
    Available,
}

impl Availability {
    /// Whether the pod is ready, and so counts in `status.readyReplicas`.
    #[must_use]
    pub const fn is_ready(self) -> bool {
        !matches!(self, Self::NotReady)
    }

    /// In how many nanoseconds to look again, if there is something to wait for. The least of all pods is when to
    /// look at the set again.
    #[must_use]
    pub const fn look_again(self) -> Option<u64> {
        match self {
            Self::AvailableIn(nanos) => Some(nanos),
            _ => None,
        }
    }
}

/// Whether a pod is available: ready, and for `min_ready_seconds` (`spec.minReadySeconds`) or longer, to the
/// nanosecond. Kubernetes' `IsPodAvailable`, which used to ask for longer.
///
/// Asked [`look_again`](Availability::look_again) nanoseconds later, the answer is [`Availability::Available`], and not
/// a nanosecond earlier (a wait of more than 292 years is cut). With `min_ready_seconds` 0, ready is available.
#[must_use]
pub fn availability(pod: &Pod, min_ready_seconds: u32, now: Time) -> Availability {
    if !pod.is_ready() {
        return Availability::NotReady;
    }
    if min_ready_seconds == 0 {
        return Availability::Available;
    }
    let Some(elapsed) = now.nanos_since(pod.ready_time) else { return Availability::ReadySinceUnknown };
    // 2^32 s are less than half of what 64 bits hold: it does not wrap.
    let left = i64::from(min_ready_seconds).wrapping_mul(1_000_000_000).saturating_sub(elapsed);
    if left > 0 { Availability::AvailableIn(left.cast_unsigned()) } else { Availability::Available }
}

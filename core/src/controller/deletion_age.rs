//! How old the victims are compared with the youngest pod: what Kubernetes measures about its choice.

use crate::{Pod, Time};

/// The age of a victim and of the youngest ready pod of its set, in whole milliseconds. Kubernetes' metric
/// `sorting_deletion_age_ratio` is the first divided by the second.
///
/// kube-controller-manager divides by the youngest pod's age without a check, and crashes if that is 0 ms. This can
/// happen only if a pod is ready within a millisecond of its creation. Here it is never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeletionAge {
    /// The victim's age in milliseconds, negative if it was created after `now`.
    pub victim_ms: i64,
    /// The age in milliseconds of the ready pod that was created last, negative if that was after `now`.
    /// Never 0.
    pub youngest_ms: i64,
}

/// Returns the ages to report for the victims: one for each victim that is ready. There are none if the youngest
/// ready pod was created within a millisecond of `now`, or if `now` is unset. A pod without a creation time counts
/// as created at [`Time::MIN`].
///
/// `pods` are the active pods of the set, and `victims` are indices into them, as [`select`](crate::Policy::select)
/// returns them. If a sync deletes all pods, Kubernetes reports no ages, so do not call this.
pub fn deletion_ages<'a>(
    pods: &'a [Pod],
    victims: &'a [u32],
    now: Time,
) -> impl Iterator<Item = DeletionAge> + 'a {
    let age_ms = move |pod: &Pod| {
        let created = if pod.creation_time.is_unset() { Time::MIN } else { pod.creation_time };
        now.nanos_since(created).map(|nanos| nanos / 1_000_000)
    };
    let youngest = pods.iter().filter(|pod| pod.is_ready()).filter_map(age_ms).min().filter(|&ms| ms != 0);
    victims.iter().filter_map(move |&index| {
        let victim = pods.get(index as usize).filter(|pod| pod.is_ready())?;
        Some(DeletionAge { victim_ms: age_ms(victim)?, youngest_ms: youngest? })
    })
}

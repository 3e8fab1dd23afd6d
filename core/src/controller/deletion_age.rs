//! How old the victims are, against the youngest pod: what Kubernetes measures of its choice.

use crate::{Pod, Time};

/// The age of a victim and of the youngest ready pod of its set, in whole milliseconds. Kubernetes' metric
/// `sorting_deletion_age_ratio` is the first by the second.
///
/// kube-controller-manager divides without a look at the second, and crashes if it is 0: a pod that became ready
/// within a millisecond of its creation. Here it never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeletionAge {
    /// The victim's age; negative if it was created after `now`.
    pub victim_ms: i64,
    /// The age of the ready pod created last; negative if that was after `now`. Never 0.
    pub youngest_ms: i64,
}

/// The ages to report for the victims: indices into `pods`, the active pods of the set, as
/// [`select`](crate::Policy::select) gives them. One for each victim that is ready; none if the youngest ready pod is
/// not a millisecond old, or `now` is unset. A pod without a creation time is as old as can be.
///
/// Kubernetes reports none where all pods go.
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

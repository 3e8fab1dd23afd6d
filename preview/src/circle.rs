//! Three pods that Kubernetes' rules put in a circle: each goes before the next, so none of them is first. Knows pods and
//! ranks, not the input.

use crate::members::RankedPod;
use crate::why::why;
use podrank::{Policy, Relation};
use serde::Serialize;

/// The most comparisons to find a circle. A circle that takes more is not shown.
const MOST_COMPARISONS: usize = 4_000_000;

/// One pod of a circle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arrow {
    /// The UID of this pod, which goes before the next.
    pub uid: String,
    /// Its name.
    pub name: String,
    /// The rule that puts it before the next pod.
    pub rule: &'static str,
    /// The values that this rule compares, as a short sentence.
    pub why: String,
}

/// Returns a circle of three pods that begins with the pod at `start`: each goes before the next, and the last before the
/// first. `None` if there is none, or none was found in time.
pub(crate) fn circle(policy: &Policy, own: &[RankedPod<'_, '_>], start: usize) -> Option<[Arrow; 3]> {
    let relation = |a: usize, b: usize| policy.upstream(&own[a].1, &own[b].1).0;
    let (mut later, mut earlier) = (Vec::new(), Vec::new());
    for other in 0..own.len() {
        match relation(start, other) {
            Relation::Before => later.push(other),
            Relation::After => earlier.push(other),
            _ => {}
        }
    }
    let pairs = later.iter().flat_map(|&second| earlier.iter().map(move |&third| (second, third)));
    let (second, third) =
        pairs.take(MOST_COMPARISONS).find(|&(second, third)| relation(second, third) == Relation::Before)?;
    let arrow = |from: usize, to: usize| {
        let ((member, pod), (next, their_pod)) = (&own[from], &own[to]);
        let rule = policy.upstream(pod, their_pod).1?;
        Some(Arrow {
            uid: pod.uid.to_string(),
            name: member.entry.name.clone(),
            rule: rule.name(),
            why: why(policy, rule, pod, their_pod, &next.entry.name),
        })
    };
    Some([arrow(start, second)?, arrow(second, third)?, arrow(third, start)?])
}

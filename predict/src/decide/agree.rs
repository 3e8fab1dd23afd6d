//! Combines the verdicts of several cases: a pod is certainly deleted or kept only if it is in each case. Pure
//! functions on previews.

use crate::answer::{Cases, PodAnswer, Probability, Verdict};
use crate::reason::{Chance, Reason};
use podrank::Uid;
use std::collections::HashMap;

/// Combines the verdicts about the same pods in several cases, of which each later one deletes at least as many.
/// `chance` is for pods about which the cases disagree.
pub(crate) fn agree<'a>(
    mut cases: Vec<Vec<PodAnswer<'a>>>,
    how: Cases<'_>,
    chance: Chance,
) -> Vec<PodAnswer<'a>> {
    let [first, .., last] = &*cases else { return cases.pop().unwrap_or_default() };
    let by_uid: Vec<HashMap<Uid, &PodAnswer<'a>>> =
        cases.iter().map(|pods| pods.iter().map(|pod| (pod.uid(), pod)).collect()).collect();
    let seen = |pod: &PodAnswer<'a>| {
        let uid = pod.uid();
        by_uid.iter().map(move |pods| pods[&uid])
    };
    // The verdict on which all cases agree.
    let agreed =
        |pod: &PodAnswer<'a>| seen(pod).all(|other| other.verdict == pod.verdict).then_some(pod.verdict);
    let is_open = |pod: &&PodAnswer<'a>| matches!(agreed(pod), None | Some(Verdict::Possible));
    let goes = |pod: &&PodAnswer<'a>| agreed(pod) == Some(Verdict::Deleted);
    let certain = first.iter().filter(goes).cloned();
    let contested = last.iter().filter(is_open).map(|pod| {
        let is_same = seen(pod).all(|other| other.verdict == Verdict::Possible);
        PodAnswer {
            verdict: Verdict::Possible,
            reason: if is_same { pod.reason.clone() } else { Reason::Open(chance) },
            probability: Probability::together(seen(pod).map(PodAnswer::chance), how),
            ..pod.clone()
        }
    });
    let others = last.iter().filter(|pod| !is_open(pod) && !goes(pod));
    certain.chain(contested).chain(others.cloned()).collect()
}

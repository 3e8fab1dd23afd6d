//! What holds of pods in several cases: a pod is certain to go, or to stay, only if it is in each of them. Pure functions on previews.

use crate::answer::preview::{Contest, PodPreview, Verdict};
use crate::answer::probability::{Cases, Odds};
use std::collections::HashMap;

/// Combines what becomes of the same pods in several cases, of which each later one takes at least as many. `contest` and `why` are
/// for pods about which the cases disagree.
pub(crate) fn agree<'a>(
    cases: Vec<Vec<PodPreview<'a>>>,
    how: Cases<'_>,
    contest: Contest,
    why: &str,
) -> Vec<PodPreview<'a>> {
    let mut cases = cases;
    if cases.len() < 2 {
        return cases.pop().unwrap_or_default();
    }
    let by_uid: Vec<HashMap<&str, &PodPreview<'a>>> =
        cases.iter().map(|pods| pods.iter().map(|pod| (&*pod.uid, pod)).collect()).collect();
    let (first, last) = (&cases[0], &cases[cases.len() - 1]);
    let seen = |pod: &PodPreview<'a>| -> Vec<&PodPreview<'a>> {
        by_uid.iter().filter_map(|pods| pods.get(&*pod.uid).copied()).collect()
    };
    // The verdict on which all cases agree.
    let agreed = |pod: &PodPreview<'a>| {
        let seen = seen(pod);
        let is_same = seen.len() == by_uid.len() && seen.iter().all(|other| other.verdict == pod.verdict);
        is_same.then_some(pod.verdict)
    };
    let is_open = |pod: &&PodPreview<'a>| matches!(agreed(pod), None | Some(Verdict::Contested));
    let goes = |pod: &&PodPreview<'a>| agreed(pod) == Some(Verdict::Delete);
    let certain = first.iter().filter(goes).cloned();
    let contested = last.iter().filter(is_open);
    let contested = contested.map(|pod| {
        let seen = seen(pod);
        let is_same = seen.iter().all(|other| other.verdict == Verdict::Contested);
        PodPreview {
            verdict: Verdict::Contested,
            rule: None,
            why: if is_same { pod.why.clone() } else { why.to_owned() },
            contest: if is_same { pod.contest } else { Some(contest) },
            odds: Odds::together(seen.iter().map(|pod| pod.chance()), how),
            ..pod.clone()
        }
    });
    let others = last.iter().filter(|pod| !is_open(pod) && !goes(pod));
    let all = certain.chain(contested).chain(others.cloned());
    all.zip(1..).map(|(pod, position)| PodPreview { position, ..pod }).collect()
}

//! Why Kubernetes' rules do not put some pods in one line: all of them tie, or three of them contradict each other. Knows pods
//! and ranks, not the input.

use crate::answer::preview::Contest;
use crate::decide::members::RankedPod;
use crate::reason::comparison::why;
use crate::text::age::ages;
use podrank::{Flags, KubernetesOrdering, Pod, Policy, Rule, Time};
use serde::Serialize;
use std::collections::HashMap;

/// The most comparisons to find three pods to show. Those that take more are not shown.
const MOST_COMPARISONS: usize = 4_000_000;

/// Why these pods are one group, which the rules leave open.
///
/// Sorting can mix pods that contradict each other, and then three of them do: each goes before the next or ties with it, and
/// the last likewise with the first. If two of these pairs tie, so does the third, because pods tie only if they
/// are equal in all that is compared but their UIDs. So one pair of the three ties, or none.
pub(crate) fn contest(policy: &Policy, pods: &[&Pod]) -> Contest {
    let ties =
        |pod: &&Pod| pods.first().is_none_or(|first| policy.kubernetes_compare(first, pod).1.is_none());
    if pods.iter().all(ties) {
        Contest::Tie
    } else if cycle(policy, pods).is_some() {
        Contest::Cycle
    } else {
        Contest::Between
    }
}

/// Returns three pods of a group of which each goes before the next, and the last before the first, or `None` if there are
/// none. Takes O(n log n) steps.
///
/// Going up by UID never leads back. So a cycle has a pod that goes before one with a smaller UID, and only pods that became ready
/// at the same time do that. It returns through a pod that became ready at another time and whose UID is between
/// those two. Here, the pods go by UID, and each is compared with the last in line of those that became ready with it, before a
/// pod that did not.
fn cycle<'p>(policy: &Policy, pods: &[&'p Pod]) -> Option<[&'p Pod; 3]> {
    /// Pods that became ready at the same time, as far as they were met.
    struct Class<'p> {
        /// The last in line of those that were met before `other`, a pod of another class.
        before: Option<(&'p Pod, &'p Pod)>,
        /// The last in line of those that were met since. No pod met since goes before those met before, or there is a cycle.
        latest: &'p Pod,
    }
    let is_before = |a, b| policy.kubernetes_compare(a, b).0 == KubernetesOrdering::Before;
    let mut by_uid = pods.to_vec();
    by_uid.sort_unstable_by_key(|pod| pod.uid);
    let mut classes = HashMap::<Time, Class<'p>>::new();
    let mut previous: Option<&Pod> = None;
    for pod in by_uid {
        let other = previous.filter(|previous| since(previous) != since(pod));
        let class = classes.entry(since(pod)).or_insert(Class { before: None, latest: pod });
        if let Some(other) = other {
            class.before = Some((class.latest, other));
            class.latest = pod;
        } else if is_before(class.latest, pod) {
            class.latest = pod;
        }
        if let Some((last, other)) = class.before
            && [(pod, last), (last, other), (other, pod)].into_iter().all(|(a, b)| is_before(a, b))
        {
            return Some([pod, last, other]);
        }
        previous = Some(pod);
    }
    None
}

/// When the pod became ready, if it is.
fn since(pod: &Pod) -> Time {
    if pod.flags.contains(Flags::READY) { pod.ready_time } else { Time::UNSET }
}

/// One of three pods that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arrow {
    /// The UID of this pod, which goes before the next or ties with it.
    pub uid: String,
    /// Its name.
    pub name: String,
    /// The rule that puts it before the next pod. `None` if the two tie.
    pub rule: Option<&'static str>,
    /// The values that this rule compares, as a short sentence.
    pub why: String,
    /// Why their ages do not decide, as a short sentence.
    pub equal: String,
}

/// Returns three pods that contradict each other, the pod at `start` first: each goes before the next, and the last before the
/// first, but one of these three pairs may tie. Prefers those of which no pair ties. `None` if there are none, or none
/// were found in time.
pub(crate) fn circle(policy: &Policy, own: &[RankedPod<'_, '_>], start: usize) -> Option<[Arrow; 3]> {
    let relation = |a: usize, b: usize| policy.kubernetes_compare(&own[a].1, &own[b].1).0;
    let (mut later, mut earlier, mut ties) = (Vec::new(), Vec::new(), Vec::new());
    for other in (0..own.len()).filter(|&other| other != start) {
        match relation(start, other) {
            KubernetesOrdering::Before => later.push(other),
            KubernetesOrdering::After => earlier.push(other),
            KubernetesOrdering::Tie => ties.push(other),
        }
    }
    let find = |seconds: &[usize], thirds: &[usize], wanted| {
        let pairs = seconds.iter().flat_map(|&second| thirds.iter().map(move |&third| (second, third)));
        pairs.take(MOST_COMPARISONS).find(|&(second, third)| relation(second, third) == wanted)
    };
    let (second, third) = find(&later, &earlier, KubernetesOrdering::Before)
        .or_else(|| find(&later, &earlier, KubernetesOrdering::Tie))
        .or_else(|| find(&later, &ties, KubernetesOrdering::Before))
        .or_else(|| find(&ties, &earlier, KubernetesOrdering::Before))?;
    let arrow = |from: usize, to: usize| {
        let ((member, pod), (next, their_pod)) = (&own[from], &own[to]);
        let rule = policy.kubernetes_compare(pod, their_pod).1;
        Arrow {
            uid: pod.uid.to_string(),
            name: member.entry.name.clone(),
            rule: rule.map(Rule::name),
            why: rule.map_or_else(
                || "no rule separates them".to_owned(),
                |rule| why(policy, rule, pod, their_pod, &next.entry.name),
            ),
            equal: equal(policy, rule, pod, their_pod),
        }
    };
    Some([arrow(start, second), arrow(second, third), arrow(third, start)])
}

/// Why the ages of two pods do not decide. Both are ready, or neither is, because no rule before the ready time separates pods
/// that contradict each other.
fn equal(policy: &Policy, rule: Option<Rule>, pod: &Pod, other: &Pod) -> String {
    let bucket = |what: &str, [a, b]: [Option<String>; 2]| {
        let [a, b] = [a, b].map(Option::unwrap_or_default);
        format!("{what} {a} and {b}, the same age bucket")
    };
    if since(pod) != since(other) {
        return bucket("ready for", ages(policy.now, pod.ready_time, other.ready_time));
    }
    let ready = if pod.flags.contains(Flags::READY) { "ready at the same time" } else { "not ready" };
    match rule {
        None => format!("{ready}; created at the same time"),
        Some(Rule::Uid) => {
            bucket(&format!("{ready}; age"), ages(policy.now, pod.creation_time, other.creation_time))
        }
        Some(_) => ready.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Contest;
    use crate::{Input, Options, circle, preview_workload};

    const CONTESTED: &str = include_str!("../../examples/contested.yaml");
    const RESTARTED: &str = "c94e2d17-0b7a-4f63-8f0d-2a9be6d41c05";
    const SMALLEST: &str = "1b6f8a02-5d0e-4c1b-9a44-70a3f1f0c2d1";
    const EARLIER: &str = "7d20c3b8-6e9f-4a75-b3c2-91f4e80d5a6b";

    fn arrows(uid: &str) -> Option<Vec<[String; 4]>> {
        let input = Input::read(CONTESTED.as_bytes()).expect("an example");
        let options = Options::new(2, "2026-03-10T12:00:00Z".parse().expect("a time"));
        let circle = circle(&input, &options, uid).expect("sound");
        let row =
            |arrow: super::Arrow| [arrow.uid, arrow.rule.unwrap_or("-").to_owned(), arrow.why, arrow.equal];
        circle.map(|circle| circle.map(row).to_vec())
    }

    #[test]
    fn each_pod_of_a_circle_goes_before_the_next() {
        let mut expected = [
            [RESTARTED, "restarts", "5 restarts, api-6c9d8f7b5-4kq2n has 0", "ready at the same time"],
            [
                SMALLEST,
                "uid",
                "UID 1b6f8a02…, api-6c9d8f7b5-t7xjd has 7d20c3b8…",
                "ready for 60s and 61s, the same age bucket",
            ],
            [
                EARLIER,
                "uid",
                "UID 7d20c3b8…, api-6c9d8f7b5-8wz5c has c94e2d17…",
                "ready for 61s and 60s, the same age bucket",
            ],
        ]
        .map(|row| row.map(str::to_owned));
        for _ in 0..3 {
            assert_eq!(arrows(&expected[0][0]).as_deref(), Some(&expected[..]));
            expected.rotate_left(1);
        }
    }

    /// With equal restarts, two of the three tie, and by UID the third goes between them.
    #[test]
    fn two_that_tie_with_another_between_them() {
        let restarted = CONTESTED.replace("restartCount: 5", "restartCount: 0");
        let input = Input::read(restarted.as_bytes()).expect("an example");
        let options = Options::new(3, "2026-03-10T12:00:00Z".parse().expect("a time"));
        let preview = preview_workload(&input, &options).expect("sound");
        let pods: Vec<_> = preview.pods().collect();
        assert_eq!(pods.iter().filter(|pod| pod.contest == Some(Contest::Between)).count(), 3);
        for start in [RESTARTED, SMALLEST, EARLIER] {
            let mut arrows = circle(&input, &options, start).expect("sound").expect("three pods").to_vec();
            assert_eq!(arrows[0].uid, start);
            let first = arrows.iter().position(|arrow| arrow.uid == SMALLEST).expect("one of them");
            arrows.rotate_left(first);
            let told: Vec<_> = arrows.iter().map(|arrow| (&*arrow.uid, arrow.rule, &*arrow.equal)).collect();
            let equal =
                ["ready for 60s and 61s, the same age bucket", "ready for 61s and 60s, the same age bucket"];
            let tie = (RESTARTED, None, "ready at the same time; created at the same time");
            assert_eq!(told, [(SMALLEST, Some("uid"), equal[0]), (EARLIER, Some("uid"), equal[1]), tie]);
            assert_eq!(arrows[2].why, "no rule separates them");
        }
    }
}

//! Three pods that Kubernetes' rules put in a circle: each goes before the next, so none of them is first. Knows pods and
//! ranks, not the input.

use crate::age::ages;
use crate::members::RankedPod;
use crate::why::why;
use podrank::{Pod, Policy, Relation, Rule};
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
    /// Why their ages do not decide, as a short sentence.
    pub equal: String,
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
            Relation::Tie => {}
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
            equal: equal(policy, rule, pod, their_pod),
        })
    };
    Some([arrow(start, second)?, arrow(second, third)?, arrow(third, start)?])
}

/// Why the ages of two pods in a circle do not decide. Such pods are all ready, because no rule before the ready time can be
/// part of a circle.
fn equal(policy: &Policy, rule: Rule, pod: &Pod, other: &Pod) -> String {
    let bucket = |what: &str, [a, b]: [Option<String>; 2]| {
        let [a, b] = [a, b].map(Option::unwrap_or_default);
        format!("{what} {a} and {b}, the same age bucket")
    };
    if pod.ready_time != other.ready_time {
        bucket("ready for", ages(policy.now, pod.ready_time, other.ready_time))
    } else if rule == Rule::Uid {
        bucket("ready at the same time; age", ages(policy.now, pod.creation_time, other.creation_time))
    } else {
        "ready at the same time".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Input, Options, circle};

    const CONTESTED: &str = include_str!("../examples/contested.yaml");
    const RESTARTED: &str = "c94e2d17-0b7a-4f63-8f0d-2a9be6d41c05";
    const SMALLEST: &str = "1b6f8a02-5d0e-4c1b-9a44-70a3f1f0c2d1";
    const EARLIER: &str = "7d20c3b8-6e9f-4a75-b3c2-91f4e80d5a6b";

    fn arrows(uid: &str, change: impl Fn(&mut Options)) -> Option<Vec<[String; 4]>> {
        let input = Input::read(CONTESTED.as_bytes()).expect("an example");
        let mut options = Options::new(2, "2026-03-10T12:00:00Z".parse().expect("a time"));
        change(&mut options);
        let circle = circle(&input, &options, uid).expect("sound");
        let row = |arrow: super::Arrow| [arrow.uid, arrow.rule.to_owned(), arrow.why, arrow.equal];
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
            assert_eq!(arrows(&expected[0][0], |_| {}).as_deref(), Some(&expected[..]));
            expected.rotate_left(1);
        }
    }

    #[test]
    fn without_age_buckets_and_outside_there_is_no_circle() {
        assert_eq!(arrows(RESTARTED, |options| options.gates.logarithmic_scale_down = false), None);
        // 4 s later, their ages are of different buckets.
        let apart = |options: &mut Options| options.now = "2026-03-10T12:00:08Z".parse().expect("a time");
        assert_eq!(arrows(RESTARTED, apart), None);
        assert_eq!(arrows("e5a1b6f3-2c48-4d9e-a7f0-c83d9b172e40", |_| {}), None);
        let input = Input::read(CONTESTED.as_bytes()).expect("an example");
        let options = Options::new(2, "2026-03-10T12:00:00Z".parse().expect("a time"));
        let error = circle(&input, &options, "none").expect_err("no such pod");
        assert_eq!(error.to_string(), "no active pod of a set has the UID none");
    }
}

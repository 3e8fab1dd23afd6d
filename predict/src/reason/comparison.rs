//! What separates two pods, as a sentence. Pure functions.

use crate::text;
use crate::text::age::ages;
use crate::text::count;
use podrank::{Pod, Policy, Row, Rule, Time, ValueKind};

/// Returns a short sentence with the values that `rule` reads from `pod` and from the `other` pod, whose name is `name`.
pub(crate) fn why(policy: &Policy, rule: Rule, pod: &Pod, other: &Pod, name: &str) -> String {
    let name = &*text::name(name);
    let explanation = policy.explain(pod, other);
    let row = explanation.rows().iter().find(|row| row.rule == rule).expect("every rule has a row");
    let (a, b) = (row.a, row.b);
    let yes_no = |what: &str| {
        if a == 1 { format!("{what}, but {name} is not") } else { format!("not {what}, but {name} is") }
    };
    match rule {
        Rule::Unassigned => yes_no("assigned to a node"),
        Rule::Phase => format!("{}, {name} is {}", phase_name(a), phase_name(b)),
        Rule::NotReady => yes_no("ready"),
        Rule::DeletionCost => format!("deletion cost {a}, {name} has {b}"),
        Rule::Rank => format!("{} on its node, {name} has {b}", count(a.unsigned_abs(), "related pod")),
        Rule::Preferred => yes_no("preferred for scale-down"),
        Rule::ReadyTime => {
            let words = TimeWords { this: "ready for", that: "for", future: "ready", noun: "ready time" };
            times(policy, row, pod.ready_time, other.ready_time, &words, name)
        }
        Rule::Restarts => format!("{}, {name} has {b}", count(a.unsigned_abs(), "restart")),
        Rule::SidecarRestarts => format!("{}, {name} has {b}", count(a.unsigned_abs(), "sidecar restart")),
        Rule::CreationTime => {
            let words = TimeWords { this: "age", that: "has", future: "created", noun: "creation time" };
            times(policy, row, pod.creation_time, other.creation_time, &words, name)
        }
        Rule::Uid => {
            let (a, b) = shortened(&pod.uid.to_string(), &other.uid.to_string());
            format!("UID {a}, {name} has {b}")
        }
        // A rule of a later core: its name and integers still describe it.
        rule => format!("{rule} {a}, {name} has {b}"),
    }
}

/// The phase of this ordinal.
pub(crate) fn phase_name(ordinal: i64) -> &'static str {
    match ordinal {
        0 => "Pending",
        1 => "Unknown",
        _ => "Running",
    }
}

/// The words for a time.
struct TimeWords {
    /// Before the age of this pod.
    this: &'static str,
    /// Before the age of the other pod.
    that: &'static str,
    /// What happens at a time after the decision.
    future: &'static str,
    noun: &'static str,
}

fn times(policy: &Policy, row: &Row, a: Time, b: Time, words: &TimeWords, name: &str) -> String {
    let TimeWords { this, that, future, noun } = words;
    let told = |lead: &str, age: &str| match age.strip_prefix('-') {
        Some(later) => format!("{future} {later} after this decision"),
        None => format!("{lead} {age}"),
    };
    match ages(policy.now, a, b) {
        [Some(a), Some(b)] => {
            let buckets = if row.kind == ValueKind::AgeBucket { ": different age buckets" } else { "" };
            format!("{}, {name} {}{buckets}", told(this, &a), told(that, &b))
        }
        // One that has no age, although it is set, is too far away.
        [Some(age), None] if b.is_unset() => format!("{}, {name} has no {noun}", told(this, &age)),
        [None, Some(age)] if a.is_unset() => format!("no {noun}, {name} {}", told(that, &age)),
        _ => format!("the {noun}s are too far apart for an age"),
    }
}

/// Cuts two UIDs after the first character that differs, but not within the first group.
fn shortened(a: &str, b: &str) -> (String, String) {
    const FIRST_GROUP: usize = 8;
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let cut = |uid: &str| uid.chars().take((same + 1).max(FIRST_GROUP)).collect::<String>() + "…";
    (cut(a), cut(b))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn uids_are_cut_after_the_first_difference() {
        let cut = |a, b| {
            let (a, b) = shortened(a, b);
            [a, b]
        };
        assert_eq!(cut("a4441acb-e00d", "a4451acb-e00d"), ["a4441acb…", "a4451acb…"]);
        assert_eq!(cut("a4441acb-e00d", "a4441acb-e10d"), ["a4441acb-e0…", "a4441acb-e1…"]);
    }
}

//! What separates two pods, as a sentence.

use crate::age::ages;
use podrank::{Pod, Policy, Row, Rule, Time, ValueKind};

/// A short sentence on what `rule` sees in `pod` and in the `other` one called `name`.
pub(crate) fn why(policy: &Policy, rule: Rule, pod: &Pod, other: &Pod, name: &str) -> String {
    let explanation = policy.explain(pod, other);
    let row = explanation.rows().iter().find(|row| row.rule == rule).expect("every rule has a row");
    let (a, b) = (row.a, row.b);
    let yes_no =
        |what: &str| if a == 1 { format!("{what}, {name} is not") } else { format!("not {what}, {name} is") };
    match rule {
        Rule::Unassigned => yes_no("assigned to a node"),
        Rule::Phase => format!("{}, {name} is {}", phase_name(a), phase_name(b)),
        Rule::NotReady => yes_no("ready"),
        Rule::DeletionCost => format!("deletion cost {a}, {name} has {b}"),
        Rule::Rank => format!("{} on its node, {name} has {b}", count(a, "related pod")),
        Rule::Preferred => yes_no("preferred for scale-down"),
        Rule::ReadyTime => {
            times(policy, row, pod.ready_time, other.ready_time, ["ready for ", "for ", "ready time"], name)
        }
        Rule::Restarts => format!("{}, {name} has {b}", count(a, "restart")),
        Rule::SidecarRestarts => format!("{}, {name} has {b}", count(a, "sidecar restart")),
        Rule::CreationTime => times(
            policy,
            row,
            pod.creation_time,
            other.creation_time,
            ["age ", "has ", "creation time"],
            name,
        ),
        Rule::Uid => {
            let (a, b) = shortened(&pod.uid.to_string(), &other.uid.to_string());
            format!("UID {a}, {name} has {b}")
        }
        // A rule of a later core: its name and integers still say it.
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

fn count(number: i64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// `words`: what leads to this pod's age, to the other's, and the name of the time.
fn times(policy: &Policy, row: &Row, a: Time, b: Time, words: [&str; 3], name: &str) -> String {
    let [this, that, noun] = words;
    match ages(policy.now, a, b) {
        [Some(a), Some(b)] => {
            let band = if row.kind == ValueKind::AgeBucket { ": different age bands" } else { "" };
            format!("{this}{a}, {name} {that}{b}{band}")
        }
        [Some(a), None] => format!("{this}{a}, {name} has no {noun}"),
        [None, b] => format!("no {noun}, {name} {that}{}", b.unwrap_or_default()),
    }
}

/// Two UIDs cut where one sees that they differ: after at least the first group.
fn shortened(a: &str, b: &str) -> (String, String) {
    const FIRST_GROUP: usize = 8;
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let cut = |uid: &str| uid.chars().take((same + 1).max(FIRST_GROUP)).collect::<String>() + "…";
    (cut(a), cut(b))
}

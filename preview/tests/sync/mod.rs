//! The next syncs of the four kinds: vectors that Kubernetes' own code made, facts that are known by hand, and what is true of all.
//! Kubernetes' own code judges the whole preview from Go: `judge/code`.

mod daemon_set;
mod deployment;
mod job;
mod stateful_set;

use podrank_preview::Verdict;
use podrank_preview::sync::{IntOrPercent, PodOutcome};
use serde::Deserialize;

/// A number of pods, or a percentage.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Budget {
    Number(i32),
    Text(String),
}

impl Budget {
    fn read(&self) -> IntOrPercent {
        match self {
            Self::Number(number) => IntOrPercent::Int(*number),
            Self::Text(text) => IntOrPercent::parse(text).expect(text),
        }
    }
}

/// What becomes of pods, as the vectors write it. `name` is that of a reason.
fn told<R: Copy>(outcomes: &[PodOutcome<R>], name: fn(R) -> &'static str) -> Vec<String> {
    let mut groups = vec![];
    let tell = |outcome: &PodOutcome<R>| {
        let (verdict, reason) = (outcome.verdict.name(), name(outcome.reason));
        if outcome.verdict != Verdict::Contested {
            return format!("{verdict} {reason}");
        }
        let number = groups.iter().position(|group| *group == outcome.group).unwrap_or_else(|| {
            groups.push(outcome.group);
            groups.len() - 1
        });
        format!("{verdict} {reason} {} of {}", outcome.quota, char::from(b"abc"[number]))
    };
    outcomes.iter().map(tell).collect()
}

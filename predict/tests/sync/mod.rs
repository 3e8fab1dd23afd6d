//! The next syncs of the four kinds: vectors that Kubernetes' own code made, facts that are known by hand, and what is true of all.
//! Kubernetes' own code judges the whole preview from Go: `judge/code`.

mod daemon_set;
mod deployment;
mod job;
mod stateful_set;

use podrank_laws::objects::list;
use podrank_predict::Verdict;
use podrank_predict::sync::{IntOrPercent, PodOutcome};
use serde_json::Value;

/// A number of pods, or a percentage.
fn budget(value: &Value) -> IntOrPercent {
    let text = || value.as_str().expect("a number or a text");
    match value.as_i64() {
        Some(number) => IntOrPercent::Int(number.try_into().expect("32 bits")),
        None => IntOrPercent::parse(text()).expect("a percentage"),
    }
}

/// A number in a field. If it is missing, it is 0.
fn int(of: &Value, field: &str) -> i32 {
    let number = |value: &Value| value.as_i64().expect("an integer").try_into().expect("32 bits");
    of.get(field).map_or(0, number)
}

fn is(of: &Value, field: &str) -> bool {
    of.get(field).is_some_and(|value| value.as_bool().expect("true or false"))
}

fn text<'v>(of: &'v Value, field: &str) -> &'v str {
    of.get(field).map_or("", |value| value.as_str().expect("a text"))
}

fn texts(value: &Value) -> Vec<&str> {
    list(value).map(|value| value.as_str().expect("a text")).collect()
}

/// The outcomes of pods, as the vectors write them. `name` returns the name of a reason.
fn told<R: Copy>(outcomes: &[PodOutcome<R>], name: fn(R) -> &'static str) -> Vec<String> {
    let mut groups = vec![];
    let tell = |outcome: &PodOutcome<R>| {
        let (verdict, reason) = (outcome.verdict.name(), name(outcome.reason));
        if outcome.verdict != Verdict::Possible {
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

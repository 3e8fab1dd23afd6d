//! What separates two pods.

use crate::question::Order;
use crate::snapshot::{CostOwner, Pod};
use crate::text::{self, age, ages, count};
use jiff::Timestamp;
use podrank::{Flags, Policy, Row, Rule, Time, ValueKind};
use serde::Serialize;

/// A pod and what the rules read of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedPod<'a> {
    pub(crate) pod: &'a Pod,
    /// Its record with its rank.
    pub(crate) record: podrank::Pod,
}

impl RankedPod<'_> {
    /// Whether podrank alone wrote its deletion cost, which counts.
    pub(crate) fn has_own_cost(&self, policy: &Policy) -> bool {
        let cost = self.pod.cost.as_ref().filter(|_| policy.gates.pod_deletion_cost);
        cost.is_some_and(|cost| cost.owner(None) == CostOwner::Podrank)
    }
}

/// What a rule finds in two pods.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    pub(crate) policy: Policy,
    pub(crate) rule: Rule,
    pub(crate) own: RankedPod<'a>,
    /// The other pod. `None` if the rank decides, whichever set's pods are deleted first.
    pub(crate) other: Option<RankedPod<'a>>,
}

/// What a rule reads from a pod. A time is `None` if it is not set.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Flag(bool),
    Number(i64),
    Time(Option<Timestamp>),
    Text(String),
}

impl<'a> Comparison<'a> {
    /// By the first rule that separates the pods. `None` if none does.
    pub(crate) fn new(
        policy: Policy,
        order: Order,
        own: RankedPod<'a>,
        other: RankedPod<'a>,
    ) -> Option<Self> {
        let rule = match order {
            Order::Total => policy.decide(&own.record, &other.record).1,
            Order::Kubernetes => policy.kubernetes_compare(&own.record, &other.record).1,
        };
        Some(Self { policy, rule: rule?, own, other: Some(other) })
    }

    /// What the rule finds in the pod.
    pub(super) fn short(&self) -> String {
        let Self { policy, rule, own: RankedPod { pod, record }, .. } = self;
        // The rules after the cost separate it only from pods with the same cost.
        let is_before_cost = matches!(rule, Rule::Unassigned | Rule::Phase | Rule::NotReady | Rule::Tier);
        if !is_before_cost && self.own.has_own_cost(policy) {
            return format!("podrank's cost {}", record.deletion_cost);
        }
        let age = |time, lead: &str, without: &str| {
            age(policy.now, time).map_or_else(|| without.to_owned(), |age| format!("{lead} {age}"))
        };
        match rule {
            Rule::Unassigned if pod.node().is_none() => "has no node".to_owned(),
            Rule::Unassigned => "has a node".to_owned(),
            Rule::Phase => phase_name(record.phase.ordinal().into()).to_owned(),
            Rule::NotReady if record.flags.contains(Flags::READY) => "ready".to_owned(),
            Rule::NotReady => "not ready".to_owned(),
            Rule::DeletionCost => format!("deletion cost {}", record.deletion_cost),
            Rule::Rank => format!("{} on its node", count(record.rank, "related pod")),
            Rule::ReadyTime => age(record.ready_time, "ready for", "no ready time"),
            Rule::Restarts => count(record.restarts, "restart"),
            Rule::SidecarRestarts => count(record.sidecar_restarts, "sidecar restart"),
            Rule::CreationTime => age(record.creation_time, "age", "no creation time"),
            Rule::Uid => "order of UIDs".to_owned(),
            rule => rule.name().to_owned(),
        }
    }

    /// What the rule reads from the pod, and the other one with what the rule reads from it.
    pub(crate) fn values(&self) -> (Value, Option<(&'a Pod, Value)>) {
        let Self { policy, rule, own: RankedPod { record: own, .. }, other } = self;
        let Some(RankedPod { pod, record: other }) = other else {
            return (Value::Number(own.rank.into()), None);
        };
        let explanation = policy.explain(own, other);
        let row = explanation.rows().iter().find(|row| row.rule == *rule).expect("every rule has a row");
        let timestamp = |time: Time| Timestamp::from_nanosecond(time.unix_nanos()?.into()).ok();
        let value = |pod: &podrank::Pod, number: i64| match rule {
            Rule::Unassigned | Rule::NotReady | Rule::Preferred => Value::Flag(number == 1),
            Rule::Phase => Value::Text(phase_name(number).to_owned()),
            Rule::ReadyTime => Value::Time(timestamp(pod.ready_time)),
            Rule::CreationTime => Value::Time(timestamp(pod.creation_time)),
            Rule::Uid => Value::Text(pod.uid.to_string()),
            _ => Value::Number(number),
        };
        (value(own, row.a), Some((*pod, value(other, row.b))))
    }

    /// The values that the rule reads from both.
    pub(crate) fn sentence(&self) -> String {
        let Self { policy, rule, own: RankedPod { record: pod, .. }, other } = self;
        let Some(RankedPod { pod: named, record: other }) = other else {
            let pods = count(pod.rank, "related pod");
            return format!("{pods} on its node, whichever ReplicaSet's pods are deleted first");
        };
        let name = &*text::name(named.name());
        let explanation = policy.explain(pod, other);
        let row = explanation.rows().iter().find(|row| row.rule == *rule).expect("every rule has a row");
        let (a, b) = (row.a, row.b);
        let yes_no = |what: &str| {
            if a == 1 { format!("{what}, but {name} is not") } else { format!("not {what}, but {name} is") }
        };
        match rule {
            Rule::Unassigned => yes_no("assigned to a node"),
            Rule::Phase => format!("{} ({name}: {})", phase_name(a), phase_name(b)),
            Rule::NotReady => yes_no("ready"),
            Rule::DeletionCost => format!("deletion cost {a} ({name}: {b})"),
            Rule::Rank => format!("{} on its node ({name}: {b})", count(a.unsigned_abs(), "related pod")),
            Rule::Preferred => yes_no("preferred for scale-down"),
            Rule::ReadyTime => {
                let words = ["ready for ", "ready", "ready time"];
                times(policy, row, [pod.ready_time, other.ready_time], words, name)
            }
            Rule::Restarts => format!("{} ({name}: {b})", count(a.unsigned_abs(), "restart")),
            Rule::SidecarRestarts => format!("{} ({name}: {b})", count(a.unsigned_abs(), "sidecar restart")),
            Rule::CreationTime => {
                let words = ["age ", "created", "creation time"];
                times(policy, row, [pod.creation_time, other.creation_time], words, name)
            }
            Rule::Uid => {
                let [a, b] = shortened(&pod.uid.to_string(), &other.uid.to_string());
                format!("UID {a} ({name}: {b})")
            }
            // A rule of a later core: its name and integers still describe it.
            rule => format!("{rule} {a} ({name}: {b})"),
        }
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

/// The ages of both. The words: before the age of this pod, what happens at a time after the decision, and the name of the time.
fn times(policy: &Policy, row: &Row, [a, b]: [Time; 2], words: [&str; 3], name: &str) -> String {
    let [lead, future, noun] = words;
    let told = |lead: &str, age: &str| match age.strip_prefix('-') {
        Some(later) => format!("{future} {later} after this decision"),
        None => format!("{lead}{age}"),
    };
    match ages(policy.now, a, b) {
        [Some(a), Some(b)] => {
            let buckets = if row.kind == ValueKind::AgeBucket { ", in different age buckets" } else { "" };
            format!("{} ({name}: {}){buckets}", told(lead, &a), told("", &b))
        }
        // One that has no age, although it is set, is too far away.
        [Some(age), None] if b.is_unset() => format!("{} ({name}: no {noun})", told(lead, &age)),
        [None, Some(age)] if a.is_unset() => format!("no {noun} ({name}: {})", told(lead, &age)),
        _ => format!("the {noun}s are too far apart for an age"),
    }
}

/// Cuts two UIDs after the first character that differs, but not within the first group.
fn shortened(a: &str, b: &str) -> [String; 2] {
    const FIRST_GROUP: usize = 8;
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    [a, b].map(|uid| uid.chars().take((same + 1).max(FIRST_GROUP)).collect::<String>() + "…")
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn uids_are_cut_after_the_first_difference() {
        assert_eq!(shortened("a4441acb-e00d", "a4451acb-e00d"), ["a4441acb…", "a4451acb…"]);
        assert_eq!(shortened("a4441acb-e00d", "a4441acb-e10d"), ["a4441acb-e0…", "a4441acb-e1…"]);
    }
}

//! A second, naive implementation of the order: a plain tuple of the fields.
//!
//! It is written from the documentation and shares no code with the core, from which it takes only the types.

use podrank::{Flags, Pod, Policy, Row, Rule, Time, ValueKind};
use std::cmp::{Ordering, Reverse};

/// How old a time is, youngest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    Unset,
    Bucket(i32),
    Moment(Reverse<i64>),
}

/// A pod's place in the order: the values that the twelve rules compare, in their order.
type Place = (
    bool,
    u8,
    bool,
    u16,
    Option<i32>,
    Reverse<u32>,
    Option<Reverse<bool>>,
    Option<Age>,
    Reverse<u32>,
    Reverse<u32>,
    Age,
    [u8; 16],
);

fn age(time: Time, policy: &Policy) -> Age {
    let Some(time) = time.unix_nanos() else { return Age::Unset };
    match policy.now.unix_nanos() {
        Some(now) if policy.gates.logarithmic_scale_down => {
            let elapsed = (i128::from(now) - i128::from(time)).min(i128::from(i64::MAX));
            // The number of times the age can be halved until nothing is left, minus one.
            let halvings = std::iter::successors(Some(elapsed.max(0)), |age| Some(age / 2));
            Age::Bucket(i32::try_from(halvings.take_while(|age| *age > 0).count()).unwrap() - 1)
        }
        _ => Age::Moment(Reverse(time)),
    }
}

fn place(pod: &Pod, policy: &Policy) -> Place {
    let ready = pod.flags.contains(Flags::READY);
    (
        pod.flags.contains(Flags::ASSIGNED),
        pod.phase.ordinal(),
        ready,
        pod.tier,
        policy.gates.pod_deletion_cost.then_some(pod.deletion_cost),
        Reverse(pod.rank),
        policy.gates.prefer_for_scale_down.then_some(Reverse(pod.flags.contains(Flags::PREFERRED))),
        ready.then(|| age(pod.ready_time, policy)),
        Reverse(pod.restarts),
        Reverse(pod.sidecar_restarts),
        age(pod.creation_time, policy),
        pod.uid.to_bytes(),
    )
}

/// Returns which pod goes first.
pub fn compare(policy: &Policy, a: &Pod, b: &Pod) -> Ordering {
    place(a, policy).cmp(&place(b, policy))
}

/// Returns each rule's answer on its own.
pub fn orderings(policy: &Policy, a: &Pod, b: &Pod) -> [(Rule, Ordering); 12] {
    let (a, b) = (place(a, policy), place(b, policy));
    let both_ready = a.2 && b.2;
    [
        (Rule::Unassigned, a.0.cmp(&b.0)),
        (Rule::Phase, a.1.cmp(&b.1)),
        (Rule::NotReady, a.2.cmp(&b.2)),
        (Rule::Tier, a.3.cmp(&b.3)),
        (Rule::DeletionCost, a.4.cmp(&b.4)),
        (Rule::Rank, a.5.cmp(&b.5)),
        (Rule::Preferred, a.6.cmp(&b.6)),
        (Rule::ReadyTime, if both_ready { a.7.cmp(&b.7) } else { Ordering::Equal }),
        (Rule::Restarts, a.8.cmp(&b.8)),
        (Rule::SidecarRestarts, a.9.cmp(&b.9)),
        (Rule::CreationTime, a.10.cmp(&b.10)),
        (Rule::Uid, a.11.cmp(&b.11)),
    ]
}

/// Returns the explanation of a pair: one row for each rule, whether it applies or not.
pub fn rows(policy: &Policy, a: &Pod, b: &Pod) -> Vec<Row> {
    let orderings = orderings(policy, a, b);
    let deciding = orderings.iter().position(|(_, ordering)| ordering.is_ne());
    let row = |(position, (rule, ordering)): (usize, (Rule, Ordering))| Row {
        rule,
        applies: match rule {
            Rule::DeletionCost => policy.gates.pod_deletion_cost,
            Rule::Preferred => policy.gates.prefer_for_scale_down,
            Rule::ReadyTime => [a, b].iter().all(|pod| pod.flags.contains(Flags::READY)),
            _ => true,
        },
        ordering,
        decides: deciding == Some(position),
        kind: kind(rule, policy),
        a: shown(rule, a, policy),
        b: shown(rule, b, policy),
    };
    orderings.into_iter().enumerate().map(row).collect()
}

fn kind(rule: Rule, policy: &Policy) -> ValueKind {
    match rule {
        Rule::Unassigned | Rule::NotReady | Rule::Preferred => ValueKind::Bool,
        Rule::Phase => ValueKind::Phase,
        Rule::ReadyTime | Rule::CreationTime => {
            let log_scaled = policy.gates.logarithmic_scale_down && policy.now != Time::UNSET;
            if log_scaled { ValueKind::AgeBucket } else { ValueKind::Time }
        }
        Rule::Uid => ValueKind::Uid,
        _ => ValueKind::Number,
    }
}

fn shown(rule: Rule, pod: &Pod, policy: &Policy) -> i64 {
    let time = |time| match age(time, policy) {
        Age::Unset => i64::MIN,
        Age::Bucket(bucket) => bucket.into(),
        Age::Moment(Reverse(nanos)) => nanos,
    };
    match rule {
        Rule::Unassigned => pod.flags.contains(Flags::ASSIGNED).into(),
        Rule::Phase => pod.phase.ordinal().into(),
        Rule::NotReady => pod.flags.contains(Flags::READY).into(),
        Rule::Tier => pod.tier.into(),
        Rule::DeletionCost => pod.deletion_cost.into(),
        Rule::Rank => pod.rank.into(),
        Rule::Preferred => pod.flags.contains(Flags::PREFERRED).into(),
        Rule::ReadyTime => time(pod.ready_time),
        Rule::Restarts => pod.restarts.into(),
        Rule::SidecarRestarts => pod.sidecar_restarts.into(),
        Rule::CreationTime => time(pod.creation_time),
        _ => 0,
    }
}

/// Returns the indices of all pods in the order.
pub fn sort(policy: &Policy, pods: &[Pod]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(pods.len()).unwrap()).collect();
    let places: Vec<Place> = pods.iter().map(|pod| place(pod, policy)).collect();
    // The sort is stable, so equal pods stay in index order.
    order.sort_by_key(|&index| places[index as usize]);
    order
}

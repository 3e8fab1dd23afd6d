//! The order in one page: start here to learn which pod is deleted first.
//!
//! `Place` says what the rules compare, in the order in which they apply, and [`compare`] compares two places field by field. That
//! is the whole order, written as plainly as possible from [the rules](../../../docs/how-kubernetes-picks-pods.md), without a thought for speed,
//! memory or the C ABI. It shares no code with core, from which it takes only the types, so the tests hold core against it: each
//! function of core that compares, explains, selects or sorts must agree with this file on every pair that they make.
//!
//! The rest of the file says which rule decides a pair, and what `explain` shows of each rule.

use podrank::{Flags, Pod, Policy, Row, Rule, Time, ValueKind};
use std::cmp::{Ordering, Reverse};

/// What the rules compare of a pod. The first field that differs decides, and the smaller value comes first:
/// `false` before `true`, `None` before `Some`, and with `Reverse` the larger number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// A pod without a node is deleted before one with a node.
    assigned: bool,
    /// Pending, Unknown, Running.
    phase: u8,
    /// A pod that is not ready is deleted before one that is.
    ready: bool,
    /// What the caller wants: lower tiers first. All are 0 unless asked for, and Kubernetes has no such rule.
    tier: u16,
    /// The lower deletion cost comes first. `None` for all pods if the gate `PodDeletionCost` is off.
    deletion_cost: Option<i32>,
    /// The pod with more related pods on its node is deleted first.
    rank: Reverse<u32>,
    /// A pod with the label `prefer-for-scale-down` is deleted first. `None` for all pods unless the gate is on.
    preferred: Option<Reverse<bool>>,
    /// The pod that became ready more recently is deleted first. `None` if the pod is not ready. Both pods are ready or
    /// both are not: an earlier rule would have decided otherwise.
    ready_time: Option<Age>,
    /// The pod whose containers restarted more often is deleted first.
    restarts: Reverse<u32>,
    /// The pod whose sidecars restarted more often is deleted first.
    sidecar_restarts: Reverse<u32>,
    /// The pod that was created more recently is deleted first.
    creation_time: Age,
    /// UIDs differ, so no two pods have the same place.
    uid: [u8; 16],
}

/// How old a time is. The younger comes first, and an unset time comes before all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    Unset,
    /// Ages of one bucket tie: those from 2^n up to 2^(n+1) nanoseconds are in the bucket n, and the future is in -1.
    Bucket(i32),
    /// Without log-scaled ages, the later time comes first.
    Moment(Reverse<i64>),
}

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
    let is = |flag| pod.flags.contains(flag);
    Place {
        assigned: is(Flags::ASSIGNED),
        phase: pod.phase.ordinal(),
        ready: is(Flags::READY),
        tier: pod.tier,
        deletion_cost: policy.gates.pod_deletion_cost.then_some(pod.deletion_cost),
        rank: Reverse(pod.rank),
        preferred: policy.gates.prefer_for_scale_down.then_some(Reverse(is(Flags::PREFERRED))),
        ready_time: is(Flags::READY).then(|| age(pod.ready_time, policy)),
        restarts: Reverse(pod.restarts),
        sidecar_restarts: Reverse(pod.sidecar_restarts),
        creation_time: age(pod.creation_time, policy),
        uid: pod.uid.to_bytes(),
    }
}

/// Returns which pod is deleted first.
pub fn compare(policy: &Policy, a: &Pod, b: &Pod) -> Ordering {
    place(a, policy).cmp(&place(b, policy))
}

/// Returns each rule's answer on its own.
pub fn orderings(policy: &Policy, a: &Pod, b: &Pod) -> [(Rule, Ordering); 12] {
    let (a, b) = (place(a, policy), place(b, policy));
    [
        (Rule::Unassigned, a.assigned.cmp(&b.assigned)),
        (Rule::Phase, a.phase.cmp(&b.phase)),
        (Rule::NotReady, a.ready.cmp(&b.ready)),
        (Rule::Tier, a.tier.cmp(&b.tier)),
        (Rule::DeletionCost, a.deletion_cost.cmp(&b.deletion_cost)),
        (Rule::Rank, a.rank.cmp(&b.rank)),
        (Rule::Preferred, a.preferred.cmp(&b.preferred)),
        (Rule::ReadyTime, if a.ready && b.ready { a.ready_time.cmp(&b.ready_time) } else { Ordering::Equal }),
        (Rule::Restarts, a.restarts.cmp(&b.restarts)),
        (Rule::SidecarRestarts, a.sidecar_restarts.cmp(&b.sidecar_restarts)),
        (Rule::CreationTime, a.creation_time.cmp(&b.creation_time)),
        (Rule::Uid, a.uid.cmp(&b.uid)),
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
    // The sort is stable, so equal pods keep the order of their indices.
    order.sort_by_key(|&index| places[index as usize]);
    order
}

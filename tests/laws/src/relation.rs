//! A second, naive implementation of Kubernetes' relation, and of what the relation determines, by looking at all pairs.

use crate::oracle;
use podrank::{Flags, KubernetesOrdering, Pod, Policy, Rule, Time};

/// Where Go's `int64(math.Log2(float64(age)))` rounds up: for so many of the last ns below 2^e, from e = 49 on, it is e.
/// `judge/code` measures it.
const EARLY: [i64; 15] = [1, 2, 5, 11, 22, 45, 90, 180, 360, 720, 1440, 2880, 5760, 11520, 23040];

/// Returns Kubernetes' age bucket.
fn bucket(age: i64) -> i32 {
    if age <= 0 {
        return -1;
    }
    let is_early =
        |(e, w): &(u32, &i64)| i128::from(age) >= (1_i128 << e) - i128::from(**w) && age.ilog2() < *e;
    (49..).zip(&EARLY).find(is_early).map_or(age.ilog2(), |(e, _)| e).try_into().unwrap()
}

/// `ActivePodsWithRanks.Less`, step by step: whether `a` is before `b`.
pub fn less(policy: &Policy, a: &Pod, b: &Pod) -> bool {
    first_difference(policy, a, b).0
}

/// What [`less`] returns, and the rule that it rests on: `None` if no step tells the two pods apart.
fn first_difference(policy: &Policy, a: &Pod, b: &Pod) -> (bool, Option<Rule>) {
    let has = |pod: &Pod, flag| pod.flags.contains(flag);
    if has(a, Flags::ASSIGNED) != has(b, Flags::ASSIGNED) {
        return (!has(a, Flags::ASSIGNED), Some(Rule::Unassigned));
    }
    if a.phase.ordinal() != b.phase.ordinal() {
        return (a.phase.ordinal() < b.phase.ordinal(), Some(Rule::Phase));
    }
    if has(a, Flags::READY) != has(b, Flags::READY) {
        return (!has(a, Flags::READY), Some(Rule::NotReady));
    }
    if policy.gates.pod_deletion_cost && a.deletion_cost != b.deletion_cost {
        return (a.deletion_cost < b.deletion_cost, Some(Rule::DeletionCost));
    }
    if a.rank != b.rank {
        return (a.rank > b.rank, Some(Rule::Rank));
    }
    if has(a, Flags::READY) && has(b, Flags::READY) && a.ready_time != b.ready_time {
        return younger(policy, a, b, Rule::ReadyTime, a.ready_time, b.ready_time);
    }
    if a.restarts != b.restarts {
        return (a.restarts > b.restarts, Some(Rule::Restarts));
    }
    if a.sidecar_restarts != b.sidecar_restarts {
        return (a.sidecar_restarts > b.sidecar_restarts, Some(Rule::SidecarRestarts));
    }
    if a.creation_time != b.creation_time {
        return younger(policy, a, b, Rule::CreationTime, a.creation_time, b.creation_time);
    }
    (false, None)
}

/// A step on two times that differ. Within one age bucket, the UID decides, and equal UIDs end the comparison.
fn younger(policy: &Policy, a: &Pod, b: &Pod, rule: Rule, s: Time, t: Time) -> (bool, Option<Rule>) {
    let (Some(s), Some(t)) = (s.unix_nanos(), t.unix_nanos()) else { return (s.is_unset(), Some(rule)) };
    match policy.now.unix_nanos() {
        Some(now) if policy.gates.logarithmic_scale_down => {
            let (s, t) = (bucket(now.saturating_sub(s)), bucket(now.saturating_sub(t)));
            if s == t { (a.uid < b.uid, (a.uid != b.uid).then_some(Rule::Uid)) } else { (s < t, Some(rule)) }
        }
        _ => (s > t, Some(rule)),
    }
}

/// The relation, asked both ways, and the rule that decides.
pub fn relation(policy: &Policy, a: &Pod, b: &Pod) -> (KubernetesOrdering, Option<Rule>) {
    let ((before, rule), (after, reverse_rule)) =
        (first_difference(policy, a, b), first_difference(policy, b, a));
    assert_eq!(rule, reverse_rule, "{policy:?} {a:?} {b:?}");
    let relation = match (before, after) {
        (true, false) => KubernetesOrdering::Before,
        (false, true) => KubernetesOrdering::After,
        (false, false) => KubernetesOrdering::Tie,
        (true, true) => panic!("both before each other: {policy:?} {a:?} {b:?}"),
    };
    assert_eq!(rule.is_none(), relation == KubernetesOrdering::Tie, "{policy:?} {a:?} {b:?}");
    (relation, rule)
}

/// What is determined of a pod when `k` are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is deleted in every list order.
    Certain,
    /// It is deleted in some list orders.
    Possible,
    /// It is deleted in no list order.
    Safe,
}

/// What every list order has in common when some pods of a list are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The indices of all pods, component by component, and each component in podrank's order: first the certain pods,
    /// then the possible ones, then the safe ones.
    pub order: Vec<u32>,
    /// The number of certain pods.
    pub certain: usize,
    /// The number of possible pods.
    pub possible: usize,
}

/// For each pod, the number of pods in the components before its own, and the number of pods in its own. The components
/// are the strongly connected ones of "not after", found by reachability.
fn components(policy: &Policy, pods: &[Pod]) -> Vec<(usize, usize)> {
    let n = pods.len();
    let mut reaches: Vec<Vec<bool>> =
        pods.iter().map(|a| pods.iter().map(|b| !less(policy, b, a)).collect()).collect();
    for via in 0..n {
        let through = reaches[via].clone();
        for row in reaches.iter_mut().filter(|row| row[via]) {
            for (reached, through) in row.iter_mut().zip(&through) {
                *reached |= through;
            }
        }
    }
    (0..n)
        .map(|pod| {
            // A pod in an earlier component reaches this one, and this one does not reach it.
            let before = (0..n).filter(|&other| reaches[other][pod] && !reaches[pod][other]).count();
            let with = (0..n).filter(|&other| reaches[other][pod] && reaches[pod][other]).count();
            (before, with)
        })
        .collect()
}

fn verdict((before, with): (usize, usize), k: usize) -> Verdict {
    if before + with <= k {
        Verdict::Certain
    } else if before >= k {
        Verdict::Safe
    } else {
        Verdict::Possible
    }
}

/// Returns each pod's verdict when `k` are deleted.
pub fn verdicts(policy: &Policy, pods: &[Pod], k: usize) -> Vec<Verdict> {
    components(policy, pods).into_iter().map(|component| verdict(component, k)).collect()
}

/// Returns what is determined of the list when `k` pods are deleted.
pub fn settled(policy: &Policy, pods: &[Pod], k: usize) -> Prediction {
    let components = components(policy, pods);
    let mut order = oracle::sort(policy, pods);
    order.sort_by_key(|&index| components[index as usize].0);
    let count = |wanted| components.iter().filter(|component| verdict(**component, k) == wanted).count();
    Prediction { order, certain: count(Verdict::Certain), possible: count(Verdict::Possible) }
}

//! Kubernetes' relation a second time, naively, and what it determines by looking at all pairs.

use podrank::{Flags, Pod, Policy, Relation, Time};

/// Go's `int64(math.Log2(float64(age)))`, from where it turns early: for the last `w` ns below 2^e it is e.
/// (order.md 3; `go/judge` measures it.)
const EARLY: [(u32, i64); 15] = [
    (49, 1),
    (50, 2),
    (51, 5),
    (52, 11),
    (53, 22),
    (54, 45),
    (55, 90),
    (56, 180),
    (57, 360),
    (58, 720),
    (59, 1440),
    (60, 2880),
    (61, 5760),
    (62, 11520),
    (63, 23040),
];

/// Kubernetes' age bucket.
pub fn bucket(age: i64) -> i32 {
    if age <= 0 {
        return -1;
    }
    let early =
        EARLY.iter().find(|(e, w)| i128::from(age) >= (1_i128 << e) - i128::from(*w) && age.ilog2() < *e);
    early.map_or(age.ilog2(), |(e, _)| *e).try_into().unwrap()
}

/// `ActivePodsWithRanks.Less`, step by step.
pub fn less(policy: &Policy, a: &Pod, b: &Pod) -> bool {
    let has = |pod: &Pod, flag| pod.flags.contains(flag);
    if has(a, Flags::ASSIGNED) != has(b, Flags::ASSIGNED) {
        return !has(a, Flags::ASSIGNED);
    }
    if a.phase.ordinal() != b.phase.ordinal() {
        return a.phase.ordinal() < b.phase.ordinal();
    }
    if has(a, Flags::READY) != has(b, Flags::READY) {
        return !has(a, Flags::READY);
    }
    if policy.gates.pod_deletion_cost && a.deletion_cost != b.deletion_cost {
        return a.deletion_cost < b.deletion_cost;
    }
    if a.rank != b.rank {
        return a.rank > b.rank;
    }
    if has(a, Flags::READY) && has(b, Flags::READY) && a.ready_time != b.ready_time {
        return younger(policy, a, b, a.ready_time, b.ready_time);
    }
    if a.restarts != b.restarts {
        return a.restarts > b.restarts;
    }
    if a.sidecar_restarts != b.sidecar_restarts {
        return a.sidecar_restarts > b.sidecar_restarts;
    }
    if a.creation_time != b.creation_time {
        return younger(policy, a, b, a.creation_time, b.creation_time);
    }
    false
}

fn younger(policy: &Policy, a: &Pod, b: &Pod, s: Time, t: Time) -> bool {
    let (Some(s), Some(t)) = (s.unix_nanos(), t.unix_nanos()) else { return s.is_unset() };
    match policy.now.unix_nanos() {
        Some(now) if policy.gates.logarithmic_scale_down => {
            let (s, t) = (bucket(now.saturating_sub(s)), bucket(now.saturating_sub(t)));
            if s == t { a.uid < b.uid } else { s < t }
        }
        _ => s > t,
    }
}

/// The relation, asked both ways.
pub fn relation(policy: &Policy, a: &Pod, b: &Pod) -> Relation {
    match (less(policy, a, b), less(policy, b, a)) {
        (true, false) => Relation::Before,
        (false, true) => Relation::After,
        (false, false) => Relation::Tie,
        (true, true) => panic!("both before each other: {policy:?} {a:?} {b:?}"),
    }
}

/// What is determined of a pod when `k` are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes.
    Certain,
    /// It may go or stay.
    Contested,
    /// It stays.
    Safe,
}

/// The verdicts by looking at all pairs: the strongly connected components of "not after", found by reachability.
pub fn verdicts(policy: &Policy, pods: &[Pod], k: usize) -> Vec<Verdict> {
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
            // A component before the pod's own reaches it and is not reached by it.
            let before = (0..n).filter(|&other| reaches[other][pod] && !reaches[pod][other]).count();
            let with = (0..n).filter(|&other| reaches[other][pod] && reaches[pod][other]).count();
            if before + with <= k {
                Verdict::Certain
            } else if before >= k {
                Verdict::Safe
            } else {
                Verdict::Contested
            }
        })
        .collect()
}

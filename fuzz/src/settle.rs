//! `settle`: Kubernetes' relation against a naive one, and what it determines against all pairs.

use crate::case::Case;
use podrank::{OrderError, Pod, Policy, Relation, Rule};
use podrank_laws::oracle;
use podrank_laws::relation::{self, Verdict};

/// The target.
pub fn run(data: &[u8]) {
    let Case { policy, pods, k, .. } = Case::of(data, 0..=24);
    check(&policy, &pods, k);
}

/// Checks all pairs and the verdicts.
pub fn check(policy: &Policy, pods: &[Pod], k: usize) {
    // All pairs of the first few: the verdicts rest on all of them anyway.
    for a in pods.iter().take(8) {
        for b in pods.iter().take(8) {
            pair(policy, a, b);
        }
    }
    assert_eq!(settle(policy, pods, k), relation::verdicts(policy, pods, k), "k = {k}: {policy:?} {pods:?}");
    if let Some(short) = pods.len().checked_sub(1) {
        let (mut order, mut scores) = (vec![77; pods.len()], vec![77; pods.len()]);
        let error = Err(OrderError::ShortBuffer { len: short, pods: pods.len() });
        assert_eq!(policy.settle(pods, k, &mut order[..short], &mut scores), error);
        assert_eq!(policy.settle(pods, k, &mut order, &mut scores[..short]), error);
        assert!(order.iter().all(|&index| index == 77) && scores.iter().all(|&score| score == 77));
    }
}

/// The relation is the naive one, and the rule is one that says so.
fn pair(policy: &Policy, a: &Pod, b: &Pod) {
    let pair = (policy, a, b);
    let (says, rule) = policy.upstream(a, b);
    assert_eq!(says, relation::relation(policy, a, b), "{pair:?}");
    assert_eq!(rule, settling(policy, a, b), "{pair:?}");
    assert_eq!(rule.is_none(), says == Relation::Tie, "{pair:?}");
}

/// The rule that settles a pair: the first that tells it apart, or the UID where a time that differs does not.
fn settling(policy: &Policy, a: &Pod, b: &Pod) -> Option<Rule> {
    for (rule, ordering) in oracle::orderings(policy, a, b) {
        let times = match rule {
            Rule::Preferred | Rule::Uid => continue,
            Rule::ReadyTime if !a.flags.contains(podrank::Flags::READY) => continue,
            Rule::ReadyTime => [a.ready_time, b.ready_time],
            Rule::CreationTime => [a.creation_time, b.creation_time],
            _ if ordering.is_ne() => return Some(rule),
            _ => continue,
        };
        if times[0] == times[1] {
            continue;
        }
        let nanos = |time: podrank::Time| time.unix_nanos();
        return match (nanos(times[0]), nanos(times[1]), nanos(policy.now)) {
            (Some(s), Some(t), Some(now)) if policy.gates.logarithmic_scale_down => {
                let bucket = |time| relation::bucket(now.saturating_sub(time));
                let by = if bucket(s) == bucket(t) { Rule::Uid } else { rule };
                (by == rule || a.uid != b.uid).then_some(by)
            }
            _ => Some(rule),
        };
    }
    None
}

/// The verdicts, by index. The order is the groups in line, each by the total order.
fn settle(policy: &Policy, pods: &[Pod], k: usize) -> Vec<Verdict> {
    let (mut order, mut scores) = (vec![u32::MAX; pods.len()], vec![u64::MAX; pods.len()]);
    let settled = policy.settle(pods, k, &mut order, &mut scores).expect("enough memory");
    let (certain, contested, safe) = (settled.certain(), settled.contested(), settled.safe());
    let quota = settled.quota();
    assert_eq!(certain.len() + quota, k.min(pods.len()));
    assert!(contested.is_empty() && quota == 0 || (1..contested.len()).contains(&quota));
    let mut verdicts = vec![None; pods.len()];
    let parts = [(certain, Verdict::Certain), (contested, Verdict::Contested), (safe, Verdict::Safe)];
    for (indices, verdict) in parts {
        for &index in indices {
            assert_eq!(verdicts[index as usize].replace(verdict), None, "{index} twice");
        }
    }
    for pair in order.windows(2) {
        let (a, b) = (&pods[pair[0] as usize], &pods[pair[1] as usize]);
        let in_order = oracle::compare(policy, a, b).then(pair[0].cmp(&pair[1])).is_lt();
        assert!(in_order || relation::less(policy, a, b), "{policy:?} {a:?} and {b:?}");
    }
    verdicts.into_iter().map(|verdict| verdict.expect("every pod has a place")).collect()
}

//! `settle`: Kubernetes' relation against the naive one, and what it determines against all pairs.

use crate::case::Case;
use podrank::{Error, Pod, Policy};
use podrank_laws::{Core, laws};

/// The target.
pub fn run(data: &[u8]) {
    let Case { policy, pods, k, .. } = Case::of(data, 0..=24);
    check(&policy, &pods, k);
}

/// Checks all pairs and the verdicts.
pub fn check(policy: &Policy, pods: &[Pod], k: usize) {
    // The first few pods are enough, because the verdicts rest on all pairs anyway.
    for a in pods.iter().take(8) {
        for b in pods.iter().take(8) {
            laws::relation_is_upstreams(&Core, policy, a, b);
        }
    }
    laws::settles_as_all_pairs_say(&Core, policy, pods, k);
    if let Some(short) = pods.len().checked_sub(1) {
        let (mut order, mut scores) = (vec![77; pods.len()], vec![77; pods.len()]);
        let error = Err(Error::ShortBuffer { len: short, needed: pods.len() });
        assert_eq!(policy.predict(pods, k, &mut order[..short], &mut scores), error);
        assert_eq!(policy.predict(pods, k, &mut order, &mut scores[..short]), error);
        assert!(order.iter().all(|&index| index == 77) && scores.iter().all(|&score| score == 77));
    }
}

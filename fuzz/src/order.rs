//! `order`: the order is total, antisymmetric and transitive, and `compare`, `decide`, `explain`, `key` and `select` give
//! the oracle's answer, on pods that collide.

use crate::case::Case;
use podrank::{Pod, Policy, Rule};
use podrank_laws::{Core, laws};

/// The target.
pub fn run(data: &[u8]) {
    let Case { policy, pods, .. } = Case::of(data, 1..=6);
    check(&policy, &pods);
}

fn check(policy: &Policy, pods: &[Pod]) {
    for a in pods {
        for b in pods {
            laws::one_answer(&Core, policy, a, b);
            for row in policy.explain(a, b).rows() {
                assert_eq!(row.rule.to_string(), row.rule.name());
                assert_eq!(Rule::from_number(row.rule.number()), Some(row.rule));
            }
            for c in pods {
                let before = |a, b| policy.compare(a, b).is_lt();
                let ties = |a, b| policy.compare(a, b).is_eq();
                let triple = (policy, a, b, c);
                assert!(!before(a, b) || !before(b, c) || before(a, c), "not transitive: {triple:?}");
                assert!(!ties(a, b) || !ties(b, c) || ties(a, c), "ties are not transitive: {triple:?}");
            }
        }
        assert!(policy.compare(a, a).is_eq(), "{policy:?} {a:?}");
    }
    laws::total_order(&Core, policy, pods);
}

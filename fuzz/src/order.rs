//! `order`: totality, antisymmetry, transitivity, and that compare, decide, explain and key are of one mind, on pods
//! that collide.

use crate::case::Case;
use podrank::{Explanation, Pod, Policy, Rule, Time, ValueKind};
use podrank_laws::{Core, laws};
use std::cmp::{Ordering, Reverse};

/// The target.
pub fn run(data: &[u8]) {
    let Case { policy, pods, .. } = Case::of(data, 1..=6);
    check(&policy, &pods);
}

fn check(policy: &Policy, pods: &[Pod]) {
    for a in pods {
        for b in pods {
            laws::one_answer(&Core, policy, a, b);
            says_what_it_shows(policy, a, b);
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

/// What an explanation shows of the two pods is what its orderings rest on.
fn says_what_it_shows(policy: &Policy, a: &Pod, b: &Pod) {
    let explanation: Explanation = policy.explain(a, b);
    for row in explanation.rows() {
        let shown = |a: i64, b: i64| match (row.rule, row.kind) {
            (Rule::Rank | Rule::Restarts | Rule::SidecarRestarts | Rule::Preferred, _) => b.cmp(&a),
            (_, ValueKind::Time) => {
                let latest_first = |nanos| (nanos != i64::MIN, Reverse(nanos));
                latest_first(a).cmp(&latest_first(b))
            }
            (_, ValueKind::Uid) => row.ordering,
            _ => a.cmp(&b),
        };
        let ordering = if row.applies { shown(row.a, row.b) } else { Ordering::Equal };
        assert_eq!(row.ordering, ordering, "{row:?} {policy:?} {a:?} {b:?}");
        assert_eq!(row.rule.to_string(), row.rule.name());
        assert_eq!(Rule::from_number(row.rule.number()), Some(row.rule));
        let is_bucket = row.kind == ValueKind::AgeBucket;
        let has_buckets = policy.gates.logarithmic_scale_down && policy.now != Time::UNSET;
        assert!(!is_bucket || has_buckets, "{row:?} {policy:?}");
    }
    let deciding = explanation.deciding().map(|row| (row.ordering, Some(row.rule)));
    assert_eq!(deciding.unwrap_or((Ordering::Equal, None)), policy.decide(a, b), "{policy:?} {a:?} {b:?}");
}

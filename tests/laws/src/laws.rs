//! The laws, as checks of one implementation on given pods.

use crate::{Implementation, oracle};
use podrank::{Pod, Policy};
use std::cmp::Ordering;

/// On a pair: compare, decide, explain and key agree, with each other, with the pair the other way round, and
/// with the oracle.
pub fn one_answer(order: &impl Implementation, policy: &Policy, a: &Pod, b: &Pod) {
    let expected = oracle::orderings(policy, a, b);
    let first = expected.iter().find(|(_, ordering)| ordering.is_ne());
    let ordering = first.map_or(Ordering::Equal, |(_, ordering)| *ordering);
    let rule = first.map(|(rule, _)| *rule);
    let pair = (policy, a, b);

    assert_eq!(oracle::compare(policy, a, b), ordering, "the oracle with itself: {pair:?}");
    assert_eq!(order.compare(policy, a, b), ordering, "compare: {pair:?}");
    assert_eq!(order.compare(policy, b, a), ordering.reverse(), "compare, swapped: {pair:?}");
    assert_eq!(order.decide(policy, a, b), (ordering, rule), "decide: {pair:?}");
    assert_eq!(order.decide(policy, b, a), (ordering.reverse(), rule), "decide, swapped: {pair:?}");
    assert_eq!(order.key(policy, a).cmp(&order.key(policy, b)), ordering, "key: {pair:?}");

    let rows = order.explain(policy, a, b);
    let answers: Vec<_> = rows.iter().map(|row| (row.rule, row.ordering)).collect();
    assert_eq!(answers, expected, "explain: {pair:?}");
    for row in rows {
        assert_eq!(row.decides, Some(row.rule) == rule, "explain, deciding: {row:?} {pair:?}");
        assert!(row.applies || row.ordering.is_eq(), "explain, applying: {row:?} {pair:?}");
    }
}

/// On a list: what the implementation calls sorted is in order pairwise, between all pairs: a total order with
/// ties, hence transitive. And it is the oracle's.
pub fn total_order(order: &impl Implementation, policy: &Policy, pods: &[Pod]) {
    let sorted = order.sort(policy, pods);
    for (i, &a) in sorted.iter().enumerate() {
        for &b in &sorted[i + 1..] {
            let ordering = order.compare(policy, &pods[a as usize], &pods[b as usize]);
            assert!(ordering.then(a.cmp(&b)).is_lt(), "{a} stands before {b}: {policy:?} {pods:?}");
        }
    }
    assert_eq!(sorted, oracle::sort(policy, pods), "{policy:?} {pods:?}");
}

/// `select(k)` is the first `k` of the sort, with every size of scratch; more than all is all.
pub fn selects_a_prefix(order: &impl Implementation, policy: &Policy, pods: &[Pod], k: usize) {
    let sorted = order.sort(policy, pods);
    let expected = &sorted[..k.min(sorted.len())];
    assert_eq!(order.select(policy, pods, k), expected, "k = {k}: {policy:?} {pods:?}");
    for scratch in [k / 4, k / 2, k.div_ceil(2), k, 2 * k, pods.len().div_ceil(4)] {
        let selected = order.select_with(policy, pods, k, scratch);
        assert_eq!(selected, expected, "k = {k}, scratch {scratch}: {policy:?} {pods:?}");
    }
}

/// With distinct UIDs, the victims are the same pods however the list is shuffled.
pub fn input_order_is_nothing(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    shuffled: &[Pod],
    k: usize,
) {
    let victims = |pods: &[Pod]| -> Vec<_> {
        order.select(policy, pods, k).iter().map(|&index| pods[index as usize].uid).collect()
    };
    assert_eq!(victims(pods), victims(shuffled), "k = {k}: {policy:?} {pods:?}");
}

/// Lowering a pod's deletion cost never moves it later.
pub fn cheaper_is_never_later(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    pod: usize,
    cost: i32,
) {
    let position = |pods: &[Pod]| order.sort(policy, pods).iter().position(|&index| index as usize == pod);
    let mut cheaper = pods.to_vec();
    cheaper[pod].deletion_cost = cheaper[pod].deletion_cost.min(cost);
    assert!(position(&cheaper) <= position(pods), "pod {pod} at cost {cost}: {policy:?} {pods:?}");
}

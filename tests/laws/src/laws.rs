//! The laws: each checks one implementation on the pods it is given.

use crate::{Implementation, oracle, relation};
use podrank::{Flags, KubernetesOrdering, Phase, Pod, Policy, Uid};
use std::cmp::Ordering;

/// On a pair of pods, `compare`, `decide`, `explain`, `key` and `select` give the oracle's answer, in both directions.
pub fn one_answer(order: &impl Implementation, policy: &Policy, a: &Pod, b: &Pod) {
    let expected = oracle::orderings(policy, a, b);
    let first = expected.iter().find(|(_, ordering)| ordering.is_ne());
    let ordering = first.map_or(Ordering::Equal, |(_, ordering)| *ordering);
    let rule = first.map(|(rule, _)| *rule);
    let pair = (policy, a, b);

    assert_eq!(order.compare(policy, a, b), ordering, "compare: {pair:?}");
    assert_eq!(order.compare(policy, b, a), ordering.reverse(), "compare, swapped: {pair:?}");
    assert_eq!(order.decide(policy, a, b), (ordering, rule), "decide: {pair:?}");
    assert_eq!(order.decide(policy, b, a), (ordering.reverse(), rule), "decide, swapped: {pair:?}");
    assert_eq!(order.key(policy, a).cmp(&order.key(policy, b)), ordering, "key: {pair:?}");
    assert_eq!(order.explain(policy, a, b), oracle::rows(policy, a, b), "explain: {pair:?}");

    // Two candidates, compared as a selection with a scratch buffer compares them.
    let first = [u32::from(ordering.is_gt())];
    assert_eq!(order.select_with(policy, &[*a, *b], 1, 1), first, "select: {pair:?}");
    // And a pod that comes after the scratch buffer has been full: it is a victim only if it is deleted before all
    // others.
    let late = [if ordering.is_gt() { 5 } else { 0 }];
    assert_eq!(order.select_with(policy, &[*a, *a, *a, *a, *a, *b], 1, 1), late, "select, late: {pair:?}");
}

/// On a list, the sorted pods are in order between all pairs, so the order is a total order with ties, and transitive.
/// It is also the oracle's order, in whatever pattern the pods are listed and with a scratch buffer of any size.
pub fn total_order(order: &impl Implementation, policy: &Policy, pods: &[Pod]) {
    let sorted = order.sort(policy, pods);
    for (i, &a) in sorted.iter().enumerate() {
        for &b in &sorted[i + 1..] {
            let ordering = order.compare(policy, &pods[a as usize], &pods[b as usize]);
            assert!(ordering.then(a.cmp(&b)).is_lt(), "{a} is sorted before {b}: {policy:?} {pods:?}");
        }
    }
    let expected = oracle::sort(policy, pods);
    assert_eq!(sorted, expected, "{policy:?} {pods:?}");
    let in_order: Vec<Pod> = expected.iter().map(|&index| pods[index as usize]).collect();
    let reversed: Vec<Pod> = in_order.iter().rev().copied().collect();
    let sawtooth = [&in_order[in_order.len() / 2..], &in_order[..], &reversed[..]].concat();
    for pods in [pods, &in_order, &reversed, &sawtooth] {
        let expected = oracle::sort(policy, pods);
        assert_eq!(order.sort(policy, pods), expected, "{policy:?} {pods:?}");
        // Each element has four candidates.
        for scratch in [1, pods.len() / 8, pods.len() / 4 + 1, pods.len()] {
            let sorted = order.sort_with(policy, pods, scratch);
            assert_eq!(sorted, expected, "scratch {scratch}: {policy:?} {pods:?}");
        }
    }
}

/// `select(k)` returns the first `k` pods of the sorted list, with a scratch buffer of any size. If `k` is larger than
/// the list, it returns the whole list.
pub fn selects_a_prefix(order: &impl Implementation, policy: &Policy, pods: &[Pod], k: usize) {
    let sorted = oracle::sort(policy, pods);
    let expected = &sorted[..k.min(sorted.len())];
    assert_eq!(order.select(policy, pods, k), expected, "k = {k}: {policy:?} {pods:?}");
    // Each element has four candidates. The lengths go from too short to as long as the list.
    for scratch in [k / 4, k / 2, k / 2 + 1, k, 2 * k, pods.len() / 4, pods.len() / 4 + 1] {
        let selected = order.select_with(policy, pods, k, scratch);
        assert_eq!(selected, expected, "k = {k}, scratch {scratch}: {policy:?} {pods:?}");
    }
}

/// With distinct UIDs, the victims are the same pods in every list order.
pub fn list_order_does_not_matter(
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

/// Lowering a pod's deletion cost never moves the pod to a later position.
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

/// On a pair of pods, `upstream` gives the naive relation and the rule that decides it, in both directions.
pub fn relation_is_upstreams(order: &impl Implementation, policy: &Policy, a: &Pod, b: &Pod) {
    let (expected, rule) = relation::relation(policy, a, b);
    let swapped = match expected {
        KubernetesOrdering::Before => KubernetesOrdering::After,
        KubernetesOrdering::After => KubernetesOrdering::Before,
        KubernetesOrdering::Tie => KubernetesOrdering::Tie,
    };
    assert_eq!(order.kubernetes_compare(policy, a, b), (expected, rule), "{policy:?} {a:?} {b:?}");
    assert_eq!(order.kubernetes_compare(policy, b, a), (swapped, rule), "swapped: {policy:?} {a:?} {b:?}");
}

/// On a list, `settle` finds what the naive relation determines.
pub fn settles_as_all_pairs_say(order: &impl Implementation, policy: &Policy, pods: &[Pod], k: usize) {
    assert_eq!(
        order.predict(policy, pods, k),
        relation::settled(policy, pods, k),
        "k = {k}: {policy:?} {pods:?}"
    );
}

/// The number of pods in [`long_lists`]: more than 20 bits can count.
const LONG: u32 = (1 << 20) + (1 << 17) + 3;

/// A long list gets the same answers as a short one: no index, position or sum in an implementation is too narrow for
/// it, and no part of the list is forgotten.
///
/// It takes a few seconds.
pub fn long_lists(order: &impl Implementation) {
    // An odd multiplier permutes the 32-bit numbers.
    let mixed = |i: u32| i.wrapping_mul(0x9e37_79b9);
    let pod = |i: u32| Pod {
        phase: Phase::RUNNING,
        flags: Flags::ASSIGNED,
        // In each list, rules early and late in the order decide.
        deletion_cost: (mixed(i) >> 28).cast_signed(),
        restarts: mixed(i) >> 16 & 0xfff,
        uid: Uid::from_bytes(u128::from(mixed(i)).to_be_bytes()),
        ..Pod::new()
    };
    let policy = Policy::without_now();
    let key = |pod: &Pod| (pod.deletion_cost, std::cmp::Reverse(pod.restarts), pod.uid);
    let mixed: Vec<Pod> = (0..LONG).map(pod).collect();
    let sorted_by_key = |pods: &[Pod]| {
        let mut indices: Vec<u32> = (0..LONG).collect();
        indices.sort_by_key(|&index| key(&pods[index as usize]));
        indices
    };
    // The lists are too long to print if they differ.
    let expected = sorted_by_key(&mixed);
    for (k, scratch) in [(500, 500), (500, 20_000), (70_000, 0), (70_000, 50_000)] {
        let selected = order.select_with(&policy, &mixed, k, scratch);
        assert!(selected == expected[..k], "k = {k}, scratch {scratch}");
    }
    assert!(order.sort(&policy, &mixed) == expected, "sort");
    assert!(order.sort_with(&policy, &mixed, mixed.len() / 4 + 1) == expected, "sort with a scratch buffer");
    assert!(order.sort(&policy, &vec![Pod::new(); mixed.len()]).into_iter().eq(0..LONG), "ties");

    let sorted: Vec<Pod> = expected.iter().map(|&index| mixed[index as usize]).collect();
    let reversed: Vec<Pod> = sorted.iter().rev().copied().collect();
    for pods in [mixed, sorted, reversed] {
        let selected = order.select_with(&policy, &pods, pods.len(), pods.len() / 4 + 1);
        assert!(selected == sorted_by_key(&pods), "all of them, with scratch");
    }
}

/// As [`long_lists`], for what Kubernetes' relation determines.
pub fn settles_long_lists(order: &impl Implementation) {
    // The sum of the scores, n(n-1), needs more than 32 bits.
    let len = 70_000_u32;
    let policy = Policy::without_now();
    let pod = |i: u32| Pod { deletion_cost: i.wrapping_mul(0x9e37_79b9).cast_signed(), ..Pod::new() };
    // Each pod has a deletion cost of its own, but for the last 1000, which tie.
    let (tied, apart) = (1000_u32, len - 1000);
    let pods: Vec<Pod> = (0..len)
        .map(|i| if i < apart { pod(i) } else { Pod { deletion_cost: i32::MAX, ..Pod::new() } })
        .collect();
    let mut expected: Vec<u32> = (0..len).collect();
    expected.sort_by_key(|&index| pods[index as usize].deletion_cost);
    for (k, certain, possible) in [
        (66_000, 66_000, 0),
        (apart, apart, 0),
        (apart + 1, apart, tied),
        (len - 1, apart, tied),
        (len, len, 0),
    ] {
        let settled = order.predict(&policy, &pods, k as usize);
        assert_eq!((settled.certain, settled.possible), (certain as usize, possible as usize), "k = {k}");
        assert!(settled.order == expected, "k = {k}");
    }
}

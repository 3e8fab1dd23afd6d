//! What spreading must do: sorting by its ranks gives the same list as taking one pod at a time and counting again.

use crate::{Implementation, oracle};
use podrank::{Flags, Pod, Policy};
use std::collections::BTreeMap;

/// Where a pod is: all that are unassigned are in one place.
fn domain(pod: &Pod) -> Option<u32> {
    pod.flags.contains(Flags::ASSIGNED).then_some(pod.node)
}

/// The ranks that spread: how many pods on the node of a pod are not deleted before it, with the other related pods.
pub fn ranks(policy: &Policy, pods: &[Pod], others: &[Pod]) -> Vec<u32> {
    let rank = |(index, pod): (usize, &Pod)| {
        let at_its_turn = |(other_index, other): &(usize, &Pod)| {
            oracle::compare(policy, other, pod).then(other_index.cmp(&index)).is_ge()
        };
        let own = pods.iter().enumerate().filter(at_its_turn).map(|(_, pod)| pod);
        own.chain(others).filter(|other| domain(other) == domain(pod)).count().try_into().unwrap()
    };
    pods.iter().enumerate().map(rank).collect()
}

/// How many of these pods are where each is.
fn count<'a>(pods: impl Iterator<Item = &'a Pod>) -> BTreeMap<Option<u32>, u32> {
    let mut counts = BTreeMap::new();
    for pod in pods {
        *counts.entry(domain(pod)).or_default() += 1;
    }
    counts
}

/// The first of these indices by the order, with the ranks that `rank` gives.
fn first(policy: &Policy, pods: &[Pod], left: &[usize], rank: impl Fn(&Pod) -> u32) -> usize {
    let ranked = |index: usize| Pod { rank: rank(&pods[index]), ..pods[index] };
    let least = left.iter().copied().reduce(|best, index| {
        // Of equal pods, the one with the lower index comes first.
        if oracle::compare(policy, &ranked(index), &ranked(best)).is_lt() { index } else { best }
    });
    least.expect("some are left")
}

/// Calls `take` for one pod after the other until none is left.
fn one_at_a_time(len: usize, mut take: impl FnMut(&[usize]) -> usize) -> Vec<u32> {
    let mut left: Vec<usize> = (0..len).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let next = take(&left);
        left.retain(|index| *index != next);
        order.push(u32::try_from(next).unwrap());
    }
    order
}

/// With one level, the order is that of counting again after each pick. Earlier ranks order the pods within a node, and
/// here the pods have none.
pub fn counts_anew(order: &impl Implementation, policy: &Policy, pods: &[Pod], others: &[Pod], nodes: usize) {
    let pods: Vec<Pod> = pods.iter().map(|pod| Pod { rank: 0, ..*pod }).collect();
    let expected = one_at_a_time(pods.len(), |left| {
        let counts = count(left.iter().map(|index| &pods[*index]).chain(others));
        first(policy, &pods, left, |pod| counts[&domain(pod)])
    });
    let mut spread = pods.clone();
    order.spread(policy, &mut spread, others, nodes);
    assert_eq!(order.sort(policy, &spread), expected, "{policy:?} {pods:?} {others:?}");
    changes_ranks_alone(&pods, &spread);
    let given: Vec<u32> = spread.iter().map(|pod| pod.rank).collect();
    assert_eq!(given, ranks(policy, &pods, others));
}

/// With two levels, every zone nominates the pod that keeps its own nodes balanced. Of these pods, that of the zone
/// with the most pods is deleted. Between zones with equally many pods, the later rules decide.
pub fn zones_send_champions(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    others: &[Pod],
    nodes: usize,
    zone: impl Fn(u32) -> u32,
) {
    let pods: Vec<Pod> = pods.iter().map(|pod| Pod { rank: 0, ..*pod }).collect();
    let in_zone = |pod: &Pod| Pod { node: zone(pod.node), ..*pod };
    let expected = one_at_a_time(pods.len(), |left| {
        let on_nodes = count(left.iter().map(|index| &pods[*index]).chain(others));
        let zoned: Vec<Pod> = left.iter().map(|index| in_zone(&pods[*index])).collect();
        let others: Vec<Pod> = others.iter().map(in_zone).collect();
        let in_zones = count(zoned.iter().chain(&others));
        let of_zone = |place: &Option<u32>| -> Vec<usize> {
            left.iter().copied().filter(|index| domain(&in_zone(&pods[*index])) == *place).collect()
        };
        let mut champions: Vec<usize> = in_zones
            .keys()
            .map(of_zone)
            .filter(|own| !own.is_empty())
            .map(|own| first(policy, &pods, &own, |pod| on_nodes[&domain(pod)]))
            .collect();
        champions.sort_unstable();
        first(policy, &pods, &champions, |pod| in_zones[&domain(&in_zone(pod))])
    });
    let mut spread = pods.clone();
    order.spread(policy, &mut spread, others, nodes);
    let others: Vec<Pod> = others.iter().map(in_zone).collect();
    for pod in &mut spread {
        *pod = in_zone(pod);
    }
    order.spread(policy, &mut spread, &others, nodes);
    assert_eq!(order.sort(policy, &spread), expected, "{policy:?} {pods:?} {others:?}");
}

/// Nothing but the rank is written.
fn changes_ranks_alone(before: &[Pod], after: &[Pod]) {
    for (before, after) in before.iter().zip(after) {
        assert_eq!(Pod { rank: before.rank, ..*after }, *before);
    }
}

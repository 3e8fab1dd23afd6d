//! What taking whole nodes must do: sorting by its tiers gives the same list as taking one pod at a time by the rule, and no
//! other choice makes more nodes empty.

use crate::{Implementation, oracle};
use podrank::{Flags, Neighbour, Pod, Policy};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A whole set, as a weight.
const ONE: u64 = 1 << 32;

/// The nodes, from the point of view of one set.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// What the other sets weigh on each.
    pub weights: Vec<u64>,
    /// The domain of each, for each level: the outermost first. A number is on one level only.
    pub levels: Vec<Vec<u32>>,
}

/// What the rules say that are asked before the tier, and the tier.
fn stage(pod: &Pod) -> (bool, u8, bool, u16) {
    let [assigned, ready] = [Flags::ASSIGNED, Flags::READY].map(|flag| pod.flags.contains(flag));
    (assigned, pod.phase.ordinal(), ready, pod.tier)
}

fn node(pod: &Pod) -> Option<usize> {
    pod.flags.contains(Flags::ASSIGNED).then_some(pod.node as usize)
}

/// The pods in the order in which the rule takes them, one at a time.
pub fn one_at_a_time(policy: &Policy, pods: &[Pod], nodes: &Nodes) -> Vec<usize> {
    let mut left: Vec<usize> = (0..pods.len()).collect();
    let mut taken = Vec::new();
    while let Some(stage_now) = left.iter().map(|&index| stage(&pods[index])).min() {
        let count = |is: &dyn Fn(&Pod) -> bool| left.iter().filter(|&&index| is(&pods[index])).count() as u64;
        let place = |at: usize| {
            let later = count(&|pod| node(pod) == Some(at) && stage(pod) > stage_now);
            let own = count(&|pod| node(pod) == Some(at) && stage(pod) == stage_now);
            let in_domain = |level: &Vec<u32>| {
                Reverse(count(&|pod| node(pod).is_some_and(|node| level[node] == level[at])))
            };
            let domains: Vec<_> = nodes.levels.iter().map(in_domain).collect();
            (nodes.weights[at].saturating_add(later * ONE), own, domains, at)
        };
        let candidates = || left.iter().copied().filter(|&index| stage(&pods[index]) == stage_now);
        let next = candidates().filter_map(|index| node(&pods[index])).collect::<BTreeSet<_>>();
        let next = next.into_iter().min_by_key(|&at| place(at));
        let first = candidates().filter(|&index| node(&pods[index]) == next).reduce(|best, index| {
            if oracle::compare(policy, &pods[index], &pods[best]).is_lt() { index } else { best }
        });
        let first = first.expect("a candidate");
        left.retain(|&index| index != first);
        taken.push(first);
    }
    taken
}

/// The tiers give the order of the rule, and split those that the pods had.
pub fn follows_the_rule(order: &impl Implementation, policy: &Policy, pods: &[Pod], nodes: &Nodes) {
    let tiered = with_tiers(order, pods, nodes);
    let expected = one_at_a_time(policy, pods, nodes);
    let got: Vec<usize> = order.sort(policy, &tiered).into_iter().map(|index| index as usize).collect();
    assert_eq!(got, expected, "{policy:?} {pods:?} {nodes:?}");
    for (a, new_a) in pods.iter().zip(&tiered) {
        assert_eq!(Pod { tier: a.tier, ..*new_a }, *a, "more than the tier changed");
        for (b, new_b) in pods.iter().zip(&tiered) {
            assert!(
                a.tier >= b.tier || new_a.tier < new_b.tier,
                "{a:?} {b:?}: {} {}",
                new_a.tier,
                new_b.tier
            );
        }
    }
    let used: BTreeSet<u16> = tiered.iter().map(|pod| pod.tier).collect();
    assert!(used.iter().copied().eq((0..).take(used.len())), "{used:?}");
}

/// Deleting some pods and asking again about the rest has the same result as deleting all in one step.
pub fn steps_add_up(order: &impl Implementation, policy: &Policy, pods: &[Pod], nodes: &Nodes, k: usize) {
    let all = order.sort(policy, &with_tiers(order, pods, nodes));
    let (_, rest) = all.split_at(k);
    let rest: BTreeSet<u32> = rest.iter().copied().collect();
    let left: Vec<Pod> = rest.iter().map(|&index| pods[index as usize]).collect();
    let again = order.sort(policy, &with_tiers(order, &left, nodes));
    let rest: Vec<u32> = rest.into_iter().collect();
    let again: Vec<u32> = again.into_iter().map(|index| rest[index as usize]).collect();
    assert_eq!(again, all[k..], "{policy:?} {pods:?} {nodes:?} after {k}");
}

/// No choice makes more nodes empty of those that take pods by the rules before the tier and by the tiers: for each number of
/// victims, it is compared with all of them. Returns how many choices there were.
pub fn no_choice_is_better(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    nodes: &Nodes,
) -> usize {
    let taken = order.sort(policy, &with_tiers(order, pods, nodes));
    let emptied = |is_gone: &dyn Fn(usize) -> bool| {
        let can_go = |at: &usize| {
            let mut own = (0..pods.len()).filter(|&index| node(&pods[index]) == Some(*at)).peekable();
            nodes.weights[*at] == 0 && own.peek().is_some() && own.all(is_gone)
        };
        (0..nodes.weights.len()).filter(can_go).count()
    };
    let mut best = vec![0; pods.len() + 1];
    let mut choices = 0;
    for choice in 0_u32..1 << pods.len() {
        let is_gone = |index: usize| choice >> index & 1 == 1;
        let latest = (0..pods.len()).filter(|&index| is_gone(index)).map(|index| stage(&pods[index])).max();
        let earliest =
            (0..pods.len()).filter(|&index| !is_gone(index)).map(|index| stage(&pods[index])).min();
        if latest.zip(earliest).is_some_and(|(latest, earliest)| latest > earliest) {
            continue;
        }
        choices += 1;
        let most = &mut best[choice.count_ones() as usize];
        *most = emptied(&is_gone).max(*most);
    }
    for (k, best) in best.into_iter().enumerate() {
        let gone: BTreeSet<usize> = taken[..k].iter().map(|&index| index as usize).collect();
        let got = emptied(&|index| gone.contains(&index));
        assert_eq!(got, best, "{policy:?} {pods:?} {nodes:?}: {k} go, and {best} nodes could be empty");
    }
    choices
}

/// What each node weighs, counted one by one.
pub fn weights(others: &[Neighbour], nodes: usize) -> Vec<u64> {
    let mut sets = BTreeMap::<u32, u64>::new();
    let mut parts = BTreeMap::<(u32, u32), u64>::new();
    for pod in others {
        *sets.entry(pod.set).or_default() += 1;
        *parts.entry((pod.set, pod.node)).or_default() += 1;
    }
    let share = |(&(set, node), pods): (&(u32, u32), &u64)| (node as usize, pods * ONE / sets[&set]);
    let mut weights = vec![0; nodes];
    for (node, share) in parts.iter().map(share) {
        weights[node] += share;
    }
    weights
}

/// The weights are those counted one by one, whatever the order of the list. If a pod is deleted, its node does not get
/// heavier, and no other node gets lighter.
pub fn weighs_sets(order: &impl Implementation, others: &[Neighbour], nodes: usize) {
    let expected = weights(others, nodes);
    assert_eq!(order.node_weights(others, nodes), expected, "{others:?}");
    let reversed: Vec<_> = others.iter().rev().copied().collect();
    assert_eq!(order.node_weights(&reversed, nodes), expected, "{others:?}");
    for gone in 0..others.len() {
        let mut rest = others.to_vec();
        let at = rest.remove(gone).node as usize;
        for (node, (before, after)) in expected.iter().zip(order.node_weights(&rest, nodes)).enumerate() {
            assert!(
                if node == at { after <= *before } else { after >= *before },
                "{others:?} without {gone}"
            );
        }
    }
}

fn with_tiers(order: &impl Implementation, pods: &[Pod], nodes: &Nodes) -> Vec<Pod> {
    let mut tiered = pods.to_vec();
    order.empty_nodes(&mut tiered, &nodes.weights, &nodes.levels.concat());
    tiered
}

//! Tiers that take whole nodes, so that as many as possible become empty.
//!
//! Within the pods of one class (the rules before the tier) and one tier, deletions continue on one node until it is
//! empty, because its remainder only shrinks. So nodes are emptied one after the other, and their order is known before
//! the first deletion. From one node to the next, only the number of remaining pods in its domain changes. This number
//! only matters between nodes with equally many pods to delete, say m. There, a domain with C pods offers its nodes at
//! C, C - m, C - 2m and so on, and sorting by these numbers has the same result as counting again after each node.

use crate::order::class;
use crate::sort::{runs, sort};
use crate::{Error, Pod};

/// A pod of another set than the one that is scaled down, as [`node_weights`] reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Neighbour {
    /// The number of its set, which is its controller: any number of your choice. A pod without one is a set of its own, and
    /// needs a number that no other pod has.
    pub set: u32,
    /// The number of its node.
    pub node: u32,
}

/// Scratch memory of [`empty_nodes`] for one pod: make a buffer of `EmptyNodesScratch::default()`. Its contents are
/// private, and have no meaning before the call.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct EmptyNodesScratch {
    /// First: the class and the tier. Then: the weight of the other pods on the node, which keep it from becoming
    /// empty.
    rest: u64,
    /// How many pods of this class and tier are on the node.
    own: u32,
    /// How many pods remain in its domain when its turn comes.
    domain: u32,
    /// First: the pod's place among those of its class and tier. Then: the node's place.
    place: u32,
    node: u32,
    index: u32,
    /// What would be padding, on some machines alone.
    unused: u32,
}

const _: () = assert!(size_of::<EmptyNodesScratch>() == 32);

/// Adds to each node's weight what the pods of other sets weigh there: of each set, the share of its pods that are on the node,
/// in units of 2<sup>-32</sup>. So a set weighs one in all, however many pods it has. `weights` has one number per node, which
/// you set to 0 before.
///
/// Leave out the pods of the set that is scaled down, and pods that end with their node: those of `DaemonSet`s and
/// mirror pods. Sorts the list, and takes O(n log n) steps.
///
/// # Errors
/// [`Error::UnknownNode`] if a node number is not below the number of weights. In that case no weight changes.
pub fn node_weights(others: &mut [Neighbour], weights: &mut [u64]) -> Result<(), Error> {
    let nodes = weights.len();
    if let Some(pod) = others.iter().find(|pod| pod.node as usize >= nodes) {
        return Err(Error::UnknownNode { node: pod.node, nodes });
    }
    sort(others, &|a, b| (a.set, a.node) < (b.set, b.node));
    for set in runs(others, |a, b| a.set == b.set) {
        let all = set.len();
        for on_node in runs(set, |a, b| a.node == b.node) {
            let share = share(on_node.len(), all);
            if let Some(weight) = on_node.first().and_then(|pod| weights.get_mut(pod.node as usize)) {
                *weight = weight.saturating_add(share);
            }
        }
    }
    Ok(())
}

/// A whole set, as a weight.
const ONE: u64 = 1 << 32;

/// How much of a set a part of it is, as a weight, rounded down. It divides bit by bit: where words have 32 bits, `/` would need
/// a function of the compiler's runtime.
fn share(part: usize, all: usize) -> u64 {
    if part >= all {
        return ONE;
    }
    let mut rest = part;
    let share = (0..u32::BITS).fold(0_u32, |share, _| {
        // Twice the rest is compared with all, but might not fit.
        let missing = all.saturating_sub(rest);
        let bit = rest >= missing;
        rest = if bit { rest.saturating_sub(missing) } else { rest.saturating_add(rest) };
        share << 1 | u32::from(bit)
    });
    share.into()
}

/// Splits each tier by nodes, such that the nodes that can become empty with the fewest deletions come first: with these
/// tiers, for any number of victims, no other choice that follows the rules before [`Rule::Tier`](crate::Rule::Tier)
/// and the tiers that the pods have makes more nodes empty. Within a node, the usual order decides. Steps add up:
/// deleting some pods and asking again about the rest has the same result as deleting all in one step.
///
/// The next node is the one with the smallest remainder: its weight (see [`node_weights`]), and 2<sup>32</sup> for each
/// of the set's own pods there that is deleted later. Of equal nodes, it is the one with the fewest pods, then one
/// whose domain has the most remaining pods of the set, then the one with the lower number. So if you have a
/// preference, such as cordoned nodes, number these lower. A node that cannot become empty comes last, but is not left
/// out.
///
/// `weights` has one number per node. `domains` has the levels to spread over, the outermost first: for each, the
/// number of every node's domain, and so `weights.len()` numbers. A number is for one level, and a domain lies in one
/// domain of the level before: rack 1 of zone a is not rack 1 of zone b. If it is empty, there are no levels. The pods'
/// tiers are input and output: they become 0, 1, 2 and so on, and pods of a lower tier get lower ones. Unassigned pods
/// have no node, and those of a tier stay together.
///
/// `counts` and `scratch` are scratch memory: one `u32` per node and one per domain, and one element per pod. The call
/// takes O(n log n) steps for each level.
///
/// # Errors
/// [`Error::UnknownNode`], [`Error::UnknownDomain`], [`Error::TooManyTiers`], [`Error::TooManyPods`], and
/// [`Error::ShortBuffer`] if `counts` or `scratch` is too short. In that case no tier changes.
pub fn empty_nodes(
    pods: &mut [Pod],
    weights: &[u64],
    domains: &[u32],
    counts: &mut [u32],
    scratch: &mut [EmptyNodesScratch],
) -> Result<(), Error> {
    if u32::try_from(pods.len()).is_err() {
        return Err(Error::TooManyPods);
    }
    let short = |len, needed| Error::ShortBuffer { len, needed };
    let len = scratch.len();
    let scratch = scratch.get_mut(..pods.len()).ok_or_else(|| short(len, pods.len()))?;
    let len = counts.len();
    let (nodes, counts) =
        counts.split_at_mut_checked(weights.len()).ok_or_else(|| short(len, weights.len()))?;
    let mut map = Map { weights, domains, nodes, counts };
    map.count(pods)?;
    for ((index, pod), place) in (0_u32..).zip(&*pods).zip(&mut *scratch) {
        let rest = class(pod) << TIER_BITS | u64::from(pod.tier);
        let node = if pod.is_assigned() { pod.node } else { u32::MAX };
        *place = EmptyNodesScratch { rest, node, index, ..EmptyNodesScratch::default() };
    }
    sort(scratch, &|a, b| (a.rest, a.node) < (b.rest, b.node));
    for alike in runs(scratch, |a, b| a.rest == b.rest) {
        map.line_up(alike);
        for place in alike {
            let Some(pod) = pods.get(place.index as usize) else { continue };
            place.rest = u64::from(pod.tier) << (64 - TIER_BITS) | class(pod);
        }
    }
    // Pods of a lower tier get a lower one, whatever their class.
    sort(scratch, &|a, b| (a.rest, a.place) < (b.rest, b.place));
    let tiers = runs(scratch, |a, b| (a.rest, a.place) == (b.rest, b.place)).count();
    if tiers > MOST_TIERS {
        return Err(Error::TooManyTiers);
    }
    for (tier, alike) in (0..=u16::MAX).zip(runs(scratch, |a, b| (a.rest, a.place) == (b.rest, b.place))) {
        for place in alike {
            if let Some(pod) = pods.get_mut(place.index as usize) {
                pod.tier = tier;
            }
        }
    }
    Ok(())
}

const TIER_BITS: u32 = u16::BITS;
const MOST_TIERS: usize = 1 << TIER_BITS;

/// The nodes, and how many of the set's pods are left on each and in each domain.
struct Map<'a> {
    weights: &'a [u64],
    domains: &'a [u32],
    nodes: &'a mut [u32],
    counts: &'a mut [u32],
}

impl<'a> Map<'a> {
    /// The domain of each node, for each level: the outermost first.
    fn levels(&self) -> impl DoubleEndedIterator<Item = &'a [u32]> + ExactSizeIterator + use<'a> {
        self.domains.chunks(self.weights.len().max(1))
    }

    /// Counts the assigned pods.
    fn count(&mut self, pods: &[Pod]) -> Result<(), Error> {
        let Self { weights, nodes, counts, .. } = self;
        nodes.fill(0);
        counts.fill(0);
        let levels = self.domains.chunks(weights.len().max(1));
        for pod in pods.iter().filter(|pod| pod.is_assigned()) {
            let node = pod.node;
            let unknown = Error::UnknownNode { node, nodes: weights.len() };
            let count = nodes.get_mut(node as usize).ok_or(unknown)?;
            *count = count.saturating_add(1);
            for level in levels.clone() {
                let domain = level.get(node as usize).and_then(|domain| counts.get_mut(*domain as usize));
                let count = domain.ok_or(Error::UnknownDomain { node })?;
                *count = count.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Puts the pods of one class and tier, which are sorted by node, in the order in which their nodes are taken, and
    /// takes them.
    fn line_up(&mut self, alike: &mut [EmptyNodesScratch]) {
        if alike.first().is_none_or(|place| place.node == u32::MAX) {
            // They are unassigned. (No assigned pod has this number, since there are no 2^32 nodes.)
            return;
        }
        for on_node in runs(alike, |a, b| a.node == b.node) {
            let Some(node) = on_node.first().map(|place| place.node as usize) else { continue };
            let own = u32::try_from(on_node.len()).unwrap_or(u32::MAX);
            let left = self.nodes.get_mut(node);
            let later = left.map_or(0, |left| {
                *left = left.saturating_sub(own);
                *left
            });
            let weight = self.weights.get(node).copied().unwrap_or(0);
            let rest = weight.saturating_add(ONE.saturating_mul(later.into()));
            for place in on_node {
                (place.rest, place.own) = (rest, own);
            }
        }
        sort(alike, &|a, b| (a.rest, a.own, a.node) < (b.rest, b.own, b.node));
        for equal in runs(alike, |a, b| (a.rest, a.own) == (b.rest, b.own)) {
            for level in self.levels().rev() {
                self.spread(equal, level);
            }
        }
        for (place, on_node) in (0..).zip(runs(alike, |a, b| a.node == b.node)) {
            for pod in on_node {
                pod.place = place;
            }
        }
    }

    /// Sorts nodes with equally many pods to delete by how many pods remain in their domain when their turn comes.
    /// Equal nodes keep their order.
    fn spread(&mut self, equal: &mut [EmptyNodesScratch], level: &[u32]) {
        for (place, on_node) in (0..).zip(runs(equal, |a, b| a.node == b.node)) {
            let Some((node, own)) = on_node.first().map(|place| (place.node as usize, place.own)) else {
                continue;
            };
            let left = level.get(node).and_then(|domain| self.counts.get_mut(*domain as usize));
            let domain = left.map_or(0, |left| {
                let domain = *left;
                *left = domain.saturating_sub(own);
                domain
            });
            for pod in on_node {
                (pod.domain, pod.place) = (domain, place);
            }
        }
        sort(equal, &|a, b| (b.domain, a.place) < (a.domain, b.place));
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "the numbers are small, or wider than they need to be")]
mod tests {
    extern crate std;
    use super::share;
    use podrank_laws::generate::config;
    use proptest::prelude::*;
    use proptest::sample::select;
    use std::vec::Vec;

    /// Lengths of lists: few, any, and those on both sides of each power of two.
    fn lengths() -> impl Strategy<Value = usize> {
        let edges = (0..usize::BITS).map(|bits| 1_usize << bits).flat_map(|edge| [edge - 1, edge, edge + 1]);
        let edges = edges.chain([usize::MAX - 1, usize::MAX]).collect::<Vec<_>>();
        let any_width = (any::<usize>(), 0..usize::BITS).prop_map(|(len, bits)| len >> bits);
        prop_oneof![0..20_usize, any_width, select(edges)]
    }

    proptest! {
        #![proptest_config(config(100_000))]

        #[test]
        fn a_share_is_the_quotient_rounded_down(a in lengths(), b in lengths()) {
            let (part, all) = (a.min(b), a.max(b).max(1));
            prop_assert_eq!(u128::from(share(part, all)), ((part as u128) << 32) / all as u128);
        }
    }
}

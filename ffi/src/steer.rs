//! Steering: ranks that spread, tiers that take whole nodes, and deletion costs that make Kubernetes follow tiers.

use crate::layout::same_layout;
use crate::memory::{InOut, Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::record::{podrank_pod, valid};
use crate::status::run;
use podrank::ffi::{fit, steer_fitted};
use podrank::{EmptyNodesScratch, Neighbour, Pod, SteerScratch, empty_nodes, node_weights};

/// Scratch memory of podrank_steer for one pod. Its contents are private and need not be initialised.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_steer_scratch {
    /// Private.
    pub words: [u64; 2],
}

/// What podrank_steer returns in addition to the costs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_steered {
    /// How many costs change, and so how many annotations you have to write.
    pub changed: u32,
    /// How many pods are unsteerable. This can be more than unsteerable_len.
    pub unsteerable: u32,
    /// With PODRANK_ERR_NO_ROOM: the index of the pod of the lower tier. Otherwise 0.
    pub lower: u32,
    /// With PODRANK_ERR_NO_ROOM: the index of the pod of the higher tier. Otherwise 0.
    pub higher: u32,
}

/// An unsteerable pod: it is deleted before some pod of a lower tier whatever their costs, because an earlier rule
/// decides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_unsteerable {
    /// The index of the unsteerable pod. It has the higher tier, but is deleted first.
    pub pod: u32,
    /// The index of a pod of a lower tier that is deleted after the unsteerable pod. If there are several, this is
    /// one of those that come last by the rules before PODRANK_RULE_TIER.
    pub before: u32,
    /// The rule that decides: PODRANK_RULE_UNASSIGNED, PODRANK_RULE_PHASE or PODRANK_RULE_NOT_READY.
    pub rule: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

same_layout!(podrank_steer_scratch, SteerScratch, 16:);

/// Sets ranks such that each victim comes from the node that has the most pods at that time, as if you
/// deleted one pod at a time and counted again after each. The rules before PODRANK_RULE_RANK still come
/// first. Kubernetes counts once, as podrank_count_ranks does: with three pods on one node and two on
/// another, if three are deleted, all three are from the first node.
///
/// A pod's rank becomes the number of pods that remain on its node when its turn comes: this counts both
/// arrays, and includes the pod itself. The array others has the related active pods that cannot be victims,
/// as for podrank_count_ranks. others may be NULL with others_len 0.
///
/// The ranks are input and output: the old ranks take part in the order of the pods of each node, and then
/// they are overwritten. So set them to 0 before you spread, but not between levels. A node can be any domain
/// with a number, such as a zone. To spread over zones and, within each zone, over nodes: call this with the
/// node numbers; keep the ranks, but set each pod's node to the number of its zone, also in others; and call
/// it again. Any number of levels is possible: start with the innermost.
///
/// counts is scratch memory, and counts_len must be above every assigned pod's node: use table_len if
/// podrank_node_number chose the numbers. If a node is not below counts_len: PODRANK_ERR_NODE. If scratch_len,
/// the length of more scratch memory, is below pods_len: PODRANK_ERR_SHORT_BUFFER.
/// The time grows with n log n for n pods, and with others_len and counts_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_spread(
    pods: *mut podrank_pod,
    pods_len: usize,
    others: *const podrank_pod,
    others_len: usize,
    options: *const podrank_options,
    counts: *mut u32,
    counts_len: usize,
    scratch: *mut u32,
    scratch_len: usize,
) -> i32 {
    run(|| {
        let pods = InOut::new(pods.cast::<Pod>(), pods_len)?;
        let others = Input::new(others.cast::<Pod>(), others_len)?;
        let (counts, scratch) = (Output::new(counts, counts_len)?, Output::new(scratch, scratch_len)?);
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        apart(&[pods.span(), counts.span(), scratch.span()], &[others.span(), options])?;
        scratch.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let (pods, others) = (pods.all(), valid(others.read())?);
            valid(pods)?;
            let (counts, scratch) = (counts.filled(counts_len, 0), scratch.filled(pods_len, 0));
            Ok(policy.spread(pods, others, counts, scratch)?)
        }
    })
}

/// A pod of another set than the one that loses pods, for podrank_node_weights.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_neighbour {
    /// The number of its set, which is its controller: any number of your choice. A pod without one is a set of its own,
    /// and needs a number that no other pod has.
    pub set: u32,
    /// The number of its node.
    pub node: u32,
}

/// Scratch memory of podrank_empty_nodes for one pod. Its contents are private and need not be initialised.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_empty_nodes_scratch {
    /// Private.
    pub words: [u64; 4],
}

same_layout!(podrank_empty_nodes_scratch, EmptyNodesScratch, 32:);
same_layout!(podrank_neighbour, Neighbour, 8: set node);

/// Adds to each node's weight what the pods of other sets weigh there. A set weighs the share of its pods that are on the
/// node, in units of 2^-32, rounded down. So a set weighs at most 2^32, however many pods it has. podrank_empty_nodes reads the weights.
///
/// neighbours are the active pods of all other sets that are assigned to a node. Leave out pods that end with their
/// node: those of DaemonSets, and mirror pods. The function sorts the array. weights has one number for each node
/// number, which you set to 0 before. If a node is not below weights_len: PODRANK_ERR_NODE, and nothing changes. The
/// time grows with n log n, for n neighbours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_node_weights(
    neighbours: *mut podrank_neighbour,
    neighbours_len: usize,
    weights: *mut u64,
    weights_len: usize,
) -> i32 {
    run(|| {
        let neighbours = InOut::new(neighbours.cast::<Neighbour>(), neighbours_len)?;
        let weights = InOut::new(weights, weights_len)?;
        apart(&[neighbours.span(), weights.span()], &[])?;
        // SAFETY: checked above; the rest is promised in the header.
        Ok(unsafe { node_weights(neighbours.all(), weights.all()) }?)
    })
}

/// Splits each tier by nodes, such that the nodes that can become empty with the fewest deletions come first. With these tiers,
/// for any number of victims, no other choice that follows the rules before PODRANK_RULE_TIER and the tiers that the pods have
/// makes more nodes empty. Within a node, the usual order decides. podrank_steer makes Kubernetes follow the tiers.
///
/// The next node is the one with the smallest remainder: weights[node], and 2^32 for each pod of the array on the node
/// that is deleted later, by its tier or an earlier rule. Of equal nodes, it is the one with the fewest pods of this
/// tier, then one whose domain has the most remaining pods, then the one with the lower number. So if you have a
/// preference, such as cordoned nodes, number these lower yourself: podrank_node_number knows no preference. A node
/// that cannot become empty comes last, but is not left out.
///
/// pods are all active pods of the set. The tiers are input and output: they become 0, 1, 2 and so on, and pods of a lower tier get
/// lower ones. Unassigned pods have no node, and those of a tier stay together. If more than 65,536 tiers were
/// needed: PODRANK_ERR_TIERS.
///
/// weights has a number for each node: see podrank_node_weights. If an assigned pod's node is not below weights_len:
/// PODRANK_ERR_NODE. domains has the levels to spread over, the outermost first: domains[level * weights_len + node] is
/// the number of the node's domain. For a node without a domain, store UINT32_MAX: no pod may be on it. If
/// domains_len ends within a level, the other nodes have no domain on it. A number is for one level, and a domain lies in
/// one domain of the level before: rack 1 of zone a is not rack 1 of zone b. domains may be NULL with domains_len 0.
///
/// counts and scratch are scratch memory. If counts_len is below weights_len, or scratch_len is below pods_len:
/// PODRANK_ERR_SHORT_BUFFER. counts_len must be at least weights_len + 1 + the highest domain number, or weights_len
/// without domains: if a pod's node has a domain that is not below counts_len - weights_len, or none on some level:
/// PODRANK_ERR_DOMAIN. If the function fails, no tier changes. The time grows with n log n for n pods, with each level,
/// and with counts_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_empty_nodes(
    pods: *mut podrank_pod,
    pods_len: usize,
    weights: *const u64,
    weights_len: usize,
    domains: *const u32,
    domains_len: usize,
    counts: *mut u32,
    counts_len: usize,
    scratch: *mut podrank_empty_nodes_scratch,
    scratch_len: usize,
) -> i32 {
    run(|| {
        let pods = InOut::new(pods.cast::<Pod>(), pods_len)?;
        let (weights, domains) = (Input::new(weights, weights_len)?, Input::new(domains, domains_len)?);
        let counts = Output::new(counts, counts_len)?;
        let scratch = Output::new(scratch.cast::<EmptyNodesScratch>(), scratch_len)?;
        apart(&[pods.span(), counts.span(), scratch.span()], &[weights.span(), domains.span()])?;
        counts.needs(weights_len)?;
        scratch.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let pods = pods.all();
            valid(pods)?;
            let scratch = scratch.filled(pods_len, EmptyNodesScratch::default());
            Ok(empty_nodes(pods, weights.read(), domains.read(), counts.filled(counts_len, 0), scratch)?)
        }
    })
}

/// A price of podrank_steer: the pod keeps its cost.
pub const PODRANK_STEER_PRICE_FIXED: u8 = 255;

/// Writes deletion costs that make Kubernetes follow the tiers: every pod of a lower tier gets a strictly
/// lower cost than every pod of a higher one. With these costs in the pods' annotations, Kubernetes deletes
/// the pods of the lower tier first, except for unsteerable pods (below), at any time and for any number of
/// victims. Within a tier, it decides by its own rules with the new costs. The prices of the changes sum to the least
/// possible, and the new costs are close to the costs that do not change.
///
/// pods are the pods with their tiers and present costs. Of the options, only the gate PodDeletionCost matters. If
/// it is off, costs have no effect: PODRANK_ERR_GATE.
///
/// prices has one byte for each of the first prices_len pods: the price of changing the pod's cost. The price is 1 for
/// the pods after these, and where the byte is 0. With 1 for all, the fewest costs change. If you later remove the
/// costs of the pods that are kept, make their price 2, because they need two requests. A pod whose byte is
/// PODRANK_STEER_PRICE_FIXED keeps its cost, for instance because somebody else set it. prices may be NULL with
/// prices_len 0. With more than 16 million pods, the highest price is 2^32 divided by their number.
///
/// costs gets the cost of every pod, by index, whether it changes or not. scratch is scratch memory. If costs_len or
/// scratch_len is below pods_len: PODRANK_ERR_SHORT_BUFFER.
///
/// No cost can change what Kubernetes compares earlier: whether a pod is assigned, running and ready. So Kubernetes can
/// delete a pod before one of a lower tier, whatever the costs. That pod is called unsteerable. This is not an error.
/// unsteerable gets the first unsteerable_len of the unsteerable pods, and steered->unsteerable is how many there are.
/// unsteerable may be NULL with unsteerable_len 0.
///
/// If the fixed costs leave no room for the tiers: PODRANK_ERR_NO_ROOM. In that case the function writes *steered
/// although it fails: steered->lower and steered->higher are the indices of two pods, and steered->changed and
/// steered->unsteerable are 0. The first of the two pods has to cost less than the second, with room between the two
/// for a cost of each tier in between. Either both pods have fixed costs and these are too close together, or only
/// one has, and it is too close to a limit of int32_t.
/// The time grows with n log n, for n pods.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_steer(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    prices: *const u8,
    prices_len: usize,
    costs: *mut i32,
    costs_len: usize,
    scratch: *mut podrank_steer_scratch,
    scratch_len: usize,
    unsteerable: *mut podrank_unsteerable,
    unsteerable_len: usize,
    steered: *mut podrank_steered,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let prices = Input::new(prices, prices_len)?;
        let (costs, scratch) =
            (Output::new(costs, costs_len)?, Output::new(scratch.cast::<SteerScratch>(), scratch_len)?);
        let (unsteerable, steered) = (Output::new(unsteerable, unsteerable_len)?, Output::one(steered)?);
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        let written = [costs.span(), scratch.span(), unsteerable.span(), steered.span()];
        apart(&written, &[pods.span(), prices.span(), options])?;
        costs.needs(pods_len)?;
        scratch.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        let (pods, prices, scratch) = unsafe {
            (valid(pods.read())?, prices.read(), scratch.filled(pods_len, SteerScratch::default()))
        };
        let price = |index: usize| {
            Some(prices.get(index).copied().unwrap_or(1)).filter(|byte| *byte != PODRANK_STEER_PRICE_FIXED)
        };
        let mut found = podrank_steered { changed: 0, unsteerable: 0, lower: 0, higher: 0 };
        if let Err(error) = fit(&policy, pods, price, scratch) {
            if let podrank::Error::NoRoom { lower, higher } = error {
                (found.lower, found.higher) = (lower, higher);
                // SAFETY: as above.
                unsafe { steered.set(found) };
            }
            return Err(error.into());
        }
        // SAFETY: as above.
        let answer = steer_fitted(&policy, pods, price, unsafe { costs.filled(pods_len, 0) }, scratch);
        let pairs = answer.unsteerable().map(|pair| {
            let (pod, before, rule) = (pair.pod, pair.before, pair.rule.number());
            podrank_unsteerable { pod, before, rule, reserved: [0; 3] }
        });
        found.unsteerable = u32::try_from(answer.unsteerable().count()).unwrap_or(u32::MAX);
        found.changed = u32::try_from(answer.changed()).unwrap_or(u32::MAX);
        // SAFETY: as above.
        unsafe {
            unsteerable.write(pairs);
            steered.set(found);
        }
        Ok(())
    })
}

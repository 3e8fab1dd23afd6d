//! What a `DaemonSet` deletes: a naive implementation that follows Kubernetes' code line by line, in every order of nodes and pods.

use crate::permute;
use podrank::controller::IntOrPercent::{self, Int, Percent};
use podrank::controller::Verdict::{Contested, Delete, Keep};
use podrank::controller::daemon_set::{
    DaemonSet, NO_NODE, NodeFlags, Outcome, Pod, PodFlags, Strategy, next_sync,
};
use proptest::prelude::{Just, Strategy as Generator, prop};
use proptest::prop_oneof;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};

/// In every order of nodes and pods, certain pods go, others stay, and of what is contested the quota goes.
///
/// # Panics
/// If that is not so. The number of orders is the product of the factorials of the numbers of nodes and pods.
pub fn sync_is_upstreams(set: &DaemonSet, nodes: &[NodeFlags], pods: &[Pod]) {
    let (mut order, mut outcomes) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
    let step = next_sync(set, nodes, pods, &mut order, &mut outcomes).unwrap();
    let mut fates = vec![BTreeSet::new(); pods.len()];
    permute(&mut (0..nodes.len()).collect::<Vec<_>>(), &mut |walk| {
        permute(&mut (0..pods.len()).collect::<Vec<_>>(), &mut |list| {
            let result = Upstream { set, nodes, pods, walk, list }.run();
            assert_eq!(result.is_none(), step.blocked_by.is_some());
            let (gone, created) = result.unwrap_or_default();
            assert_eq!((gone.len(), created), (step.deleted as usize, step.creates), "{outcomes:?}");
            for (pod, fate) in fates.iter_mut().enumerate() {
                fate.insert(gone.contains(&pod));
            }
        });
    });
    for (fate, outcome) in fates.iter().zip(&outcomes) {
        let expected = match outcome.verdict {
            Keep => vec![false],
            Delete => vec![true],
            _ => vec![false, true],
        };
        assert!(fate.iter().eq(&expected), "{fate:?} {outcome:?} {step:?}");
    }
    let contested = outcomes.iter().filter(|outcome| outcome.verdict == Contested);
    let quotas: BTreeMap<u32, u32> = contested.map(|outcome| (outcome.group, outcome.quota)).collect();
    let certain = outcomes.iter().filter(|outcome| outcome.verdict == Delete).count();
    assert_eq!(step.deleted as usize, certain + quotas.values().sum::<u32>() as usize);
}

/// What upstream deletes, and how many it creates; `None` if its sync fails.
type Result = Option<(BTreeSet<usize>, u32)>;

struct Upstream<'a> {
    set: &'a DaemonSet,
    nodes: &'a [NodeFlags],
    pods: &'a [Pod],
    /// The order of the nodes, and that of the pods.
    walk: &'a [usize],
    list: &'a [usize],
}

impl Upstream<'_> {
    fn is(&self, pod: usize, flag: PodFlags) -> bool {
        self.pods[pod].flags.contains(flag)
    }

    fn updated(&self, pod: usize) -> bool {
        self.is(pod, PodFlags::CURRENT_REVISION) || self.is(pod, PodFlags::CURRENT_GENERATION)
    }

    fn node(&self, node: usize, flag: NodeFlags) -> bool {
        self.nodes[node].contains(NodeFlags::EXISTS) && self.nodes[node].contains(flag)
    }

    fn on_nodes(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut map = BTreeMap::<_, Vec<_>>::new();
        for &pod in self.list {
            let has_ended = self.is(pod, PodFlags::SUCCEEDED) || self.is(pod, PodFlags::FAILED);
            if !(has_ended && self.is(pod, PodFlags::BEING_DELETED)) && self.pods[pod].node != NO_NODE {
                map.entry(self.pods[pod].node as usize).or_default().push(pod);
            }
        }
        map
    }

    fn run(&self) -> Result {
        if self.set.is_being_deleted {
            return Some((BTreeSet::new(), 0));
        }
        let (deleted, created) = self.manage();
        if !deleted.is_empty() || created > 0 {
            return Some((deleted.into_iter().collect(), created));
        }
        let Strategy::RollingUpdate { max_surge, max_unavailable } = self.set.strategy else {
            return Some((BTreeSet::new(), 0));
        };
        let (deleted, created) = self.rolling_update(max_surge, max_unavailable)?;
        Some((deleted.into_iter().collect(), created))
    }

    fn manage(&self) -> (Vec<usize>, u32) {
        let map = self.on_nodes();
        let (mut gone, mut created) = (vec![], 0);
        let allows_surge = matches!(self.set.strategy,
            Strategy::RollingUpdate { max_surge, .. } if max_surge.rounded_up(1) > 0);
        for &node in self.walk.iter().filter(|node| self.node(**node, NodeFlags::NONE)) {
            let (may_start, may_keep) =
                (self.node(node, NodeFlags::MAY_START), self.node(node, NodeFlags::MAY_KEEP));
            let here = map.get(&node);
            if may_start && here.is_none() {
                created += 1;
            } else if may_keep {
                let (mut running, mut backoff) = (vec![], self.node(node, NodeFlags::IN_BACKOFF));
                for &pod in here.into_iter().flatten().filter(|pod| !self.is(**pod, PodFlags::BEING_DELETED))
                {
                    if self.is(pod, PodFlags::FAILED) {
                        if !backoff {
                            backoff = true;
                            gone.push(pod);
                        }
                    } else if self.is(pod, PodFlags::SUCCEEDED) {
                        gone.push(pod);
                    } else {
                        running.push(pod);
                    }
                }
                let oldest = |pod: &usize| {
                    let p = &self.pods[*pod];
                    (!self.is(*pod, PodFlags::ASSIGNED), p.creation_time.unix_nanos(), p.name_order)
                };
                running.sort_by_key(oldest);
                if !allows_surge {
                    gone.extend(running.into_iter().skip(1));
                    continue;
                }
                if running.is_empty() && may_start {
                    created += 1;
                }
                let (new, old): (Vec<_>, Vec<_>) =
                    running.iter().partition(|pod| self.is(**pod, PodFlags::CURRENT_REVISION));
                gone.extend(new.iter().skip(1).chain(old.iter().skip(1)));
                if let (Some(new), Some(old)) = (new.first(), old.first())
                    && (!self.is(*old, PodFlags::READY) || self.is(*new, PodFlags::AVAILABLE))
                {
                    gone.push(*old);
                }
            } else {
                let here = here.into_iter().flatten().copied();
                gone.extend(here.filter(|pod| !self.is(*pod, PodFlags::BEING_DELETED)));
            }
        }
        for node in self.walk.iter().filter(|node| !self.node(**node, NodeFlags::NONE)) {
            let here = map.get(node).into_iter().flatten().copied();
            gone.extend(here.filter(|pod| !self.is(*pod, PodFlags::ASSIGNED)));
        }
        (gone, created)
    }

    fn rolling_update(
        &self,
        max_surge: IntOrPercent,
        max_unavailable: IntOrPercent,
    ) -> Option<(Vec<usize>, u32)> {
        let mut map = self.on_nodes();
        let wanted =
            (0..self.nodes.len()).filter(|node| self.node(*node, NodeFlags::MAY_START)).collect::<Vec<_>>();
        for node in &wanted {
            map.entry(*node).or_default();
        }
        let count = i32::try_from(wanted.len()).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "upstream calculates in floating point")]
        let percent = |value| match value {
            Int(number) => number,
            Percent(percent) => (f64::from(percent) * f64::from(count) / 100.0).ceil() as i32,
        };
        let (surge, mut unavailable) = (percent(max_surge), percent(max_unavailable));
        if count > 0 && surge == 0 && unavailable == 0 {
            unavailable = 1;
        }
        let (mut first, mut second, mut used, mut available) = (vec![], vec![], 0, 0);
        let (mut allowed, mut candidates) = (0, 0);
        for (node, here) in self.walk.iter().filter_map(|node| Some((*node, map.get(node)?))) {
            let staying: Vec<usize> =
                here.iter().copied().filter(|pod| !self.is(*pod, PodFlags::BEING_DELETED)).collect();
            let new: Vec<_> = staying.iter().copied().filter(|pod| self.updated(*pod)).collect();
            let old: Vec<_> = staying.iter().copied().filter(|pod| !self.updated(*pod)).collect();
            let is_available = |pod: usize| self.is(pod, PodFlags::AVAILABLE);
            if new.len() > 1 || old.len() > 1 {
                used += 1;
            } else if surge == 0 {
                match (new.first(), old.first()) {
                    (Some(new), None) => used += i32::from(!is_available(*new)),
                    (None, Some(old)) if !is_available(*old) => {
                        first.push(*old);
                        used += 1;
                    }
                    (None, Some(_)) if used >= unavailable => {}
                    (None, Some(old)) => second.push(*old),
                    _ => used += 1,
                }
            } else {
                available += i32::from(old.first().or(new.first()).is_some_and(|pod| is_available(*pod)));
                let Some(&old) = old.first() else { continue };
                if let Some(new) = new.first() {
                    if is_available(*new) {
                        first.push(old);
                    } else {
                        used += 1;
                    }
                    continue;
                }
                if !self.node(node, NodeFlags::NONE) {
                    return None;
                }
                match (self.node(node, NodeFlags::MAY_START), is_available(old)) {
                    (false, false) => first.push(old),
                    (false, true) => second.push(old),
                    (true, false) => allowed += 1,
                    (true, true) => candidates += i32::from(used < surge),
                }
            }
        }
        let quota = if surge == 0 { unavailable - used } else { available - count };
        second.truncate(usize::try_from(quota).unwrap_or(0));
        let created = if surge == 0 { 0 } else { allowed + candidates.min((surge - used).max(0)) };
        first.append(&mut second);
        Some((first, created.cast_unsigned()))
    }
}

/// Old pods, pods of the current revision, and pods of the current generation alone: each assigned, then ready, then available.
const OLD: [u8; 3] = [0x01, 0x03, 0x07];
const NEW: [u8; 3] = [0x09, 0x0b, 0x0f];
const NEW_BY_GENERATION: [u8; 3] = [0x11, 0x13, 0x17];
const BEING_DELETED: u8 = 0x87;
const FAILED: [u8; 2] = [0x41, 0x49];

/// The flags of a node and those of its pods, such that the first part of a sync mostly has nothing to do there.
fn tidy_nodes(with_surge: bool) -> impl Generator<Value = (u8, Vec<u8>)> {
    let any_pod =
        || prop_oneof![3 => select(&OLD[..]), 2 => select(&NEW[..]), 1 => select(&NEW_BY_GENERATION[..])];
    let one = || any_pod().prop_map(|pod| vec![pod]);
    // Without surge, the second pod would be surplus.
    let waiting = || (select(vec![0x03, 0x07, 0x13, 0x17]), select(vec![0x09, 0x0b, 0x0b, 0x0f]));
    let two =
        move || waiting().prop_map(move |(old, new)| if with_surge { vec![old, new] } else { vec![old] });
    let replaced = || any_pod().prop_map(|pod| vec![BEING_DELETED, pod]);
    let kept = || prop_oneof![4 => one(), 2 => two(), 1 => replaced()];
    // Nobody tidies up assigned pods on a node that does not exist.
    let abandoned = prop_oneof![
        3 => (select(&OLD[..]), prop_oneof![select(&NEW[..]), select(&NEW_BY_GENERATION[..])])
            .prop_map(|(old, new)| vec![old, new]),
        1 => prop::collection::vec(any_pod(), 2),
        2 => select(&NEW[..]).prop_map(|pod| vec![pod]),
        1 => one(),
    ];
    let failed = (select(&FAILED[..]), prop::option::weighted(0.7, any_pod()))
        .prop_map(|(failed, other)| [failed].into_iter().chain(other).collect());
    prop_oneof![
        6 => (Just(7), kept()),
        2 => (Just(5), prop_oneof![3 => kept(), 1 => Just(vec![])]),
        2 => (Just(0), abandoned),
        1 => (Just(1), select(vec![vec![], vec![BEING_DELETED]])),
        1 => (select(vec![13, 15]), failed),
    ]
}

/// Nodes and pods whose sync mostly reaches its second part, the update.
pub fn updates(with_surge: bool) -> impl Generator<Value = (Vec<NodeFlags>, Vec<Pod>)> {
    (prop::collection::vec(tidy_nodes(with_surge), 1..4), name_orders(6)).prop_map(|(nodes, names)| {
        let on_node = |(node, (_, pods)): (u32, &(u8, Vec<u8>))| -> Vec<_> {
            pods.iter().map(|flags| Pod { node, flags: PodFlags::from_bits(*flags), ..Pod::new() }).collect()
        };
        let pods = (0..).zip(&nodes).flat_map(on_node).zip(names);
        let pods = pods.map(|(pod, name_order)| Pod { name_order, ..pod }).collect();
        (nodes.iter().map(|(flags, _)| NodeFlags::from_bits(*flags)).collect(), pods)
    })
}

/// The places of this many names, shuffled.
pub fn name_orders(count: u32) -> impl Generator<Value = Vec<u32>> {
    Just((0..count).collect::<Vec<_>>()).prop_shuffle()
}

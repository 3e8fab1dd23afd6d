//! What DaemonSets delete: facts of Kubernetes' code, and a second writing that follows it line by line, in every order of nodes
//! and pods.

use podrank::controller::IntOrPercent::{self, Int, Percent};
use podrank::controller::Verdict::{Contested, Delete, Keep};
use podrank::controller::daemon_set::{
    DaemonSet, DaemonSetError, NO_NODE, NodeFlags, Outcome, Pod, PodFlags, Reason, Step, Strategy, next_sync,
};
use podrank::Time;
use proptest::prelude::{Strategy as _, prop};
use proptest::{prop_assert, prop_assert_eq, proptest};
use std::collections::{BTreeMap, BTreeSet};

const GOOD: NodeFlags = NodeFlags::from_bits(7);
const ASSIGNED: u8 = 1;
const AVAILABLE: u8 = 1 | 2 | 4;
const NEW: u8 = 8;

fn rolling(max_surge: IntOrPercent, max_unavailable: IntOrPercent) -> DaemonSet {
    DaemonSet { strategy: Strategy::RollingUpdate { max_surge, max_unavailable }, is_being_deleted: false }
}

fn pod(node: u32, name_order: u32, flags: u8) -> Pod {
    Pod { node, name_order, flags: PodFlags::from_bits(flags), ..Pod::new() }
}

fn sync(set: &DaemonSet, nodes: &[NodeFlags], pods: &[Pod]) -> (Step, Vec<Outcome>) {
    let (mut order, mut outcomes) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
    let step = next_sync(set, nodes, pods, &mut order, &mut outcomes).unwrap();
    (step, outcomes)
}

/// Ten nodes with an old available pod each.
fn ten() -> Vec<Pod> {
    (0..10).map(|node| pod(node, node, AVAILABLE)).collect()
}

#[test]
fn budgets_are_rounded_up() {
    for (unavailable, goes) in [(Int(3), 3), (Percent(30), 3), (Percent(21), 3), (Percent(20), 2), (Int(0), 1), (Percent(1), 1)] {
        let (step, outcomes) = sync(&rolling(Int(0), unavailable), &[GOOD; 10], &ten());
        assert!(step.is_update);
        assert_eq!((step.deleted, step.unavailable), (goes, goes.into()));
        assert!(outcomes.iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, goes)));
    }
    // With surge, none goes before its successor is available. A percentage of ten nodes is rounded up, too.
    let (step, outcomes) = sync(&rolling(Percent(11), Int(0)), &[GOOD; 10], &ten());
    assert_eq!((step.deleted, step.creates, step.surge), (0, 2, 2));
    assert!(outcomes.iter().all(|outcome| outcome.reason == Reason::AwaitsNew));
}

#[test]
fn unavailable_pods_use_up_the_budget() {
    let mut pods = ten();
    pods[4].flags = PodFlags::ASSIGNED;
    pods[7].flags = PodFlags::from_bits(ASSIGNED | NEW);
    let (step, outcomes) = sync(&rolling(Int(0), Int(3)), &[GOOD; 10], &pods);
    assert_eq!((step.used, step.deleted), (2, 2));
    assert_eq!((outcomes[4].verdict, outcomes[4].reason), (Delete, Reason::OldUnavailable));
    assert_eq!(outcomes[7].verdict, Keep);
    assert_eq!((outcomes[0].verdict, outcomes[0].quota), (Contested, 1));
}

#[test]
fn surplus_of_a_node() {
    let at = |seconds, pod: Pod| Pod { creation_time: Time::from_unix(seconds, 0), ..pod };
    // An assigned pod stays before an older one that is not, the oldest before others, and the smaller name.
    let pods = [at(0, pod(0, 0, 0)), at(5, pod(0, 2, ASSIGNED)), at(5, pod(0, 1, ASSIGNED)), at(6, pod(0, 3, ASSIGNED))];
    let (step, outcomes) = sync(&DaemonSet::default(), &[GOOD], &pods);
    assert_eq!((step.deleted, step.is_update), (3, false));
    assert_eq!(outcomes.iter().map(|outcome| outcome.verdict).collect::<Vec<_>>(), [Delete, Delete, Keep, Delete]);
    assert_eq!(outcomes[0].reason, Reason::Surplus);
}

#[test]
fn at_most_250() {
    let pods: Vec<Pod> = (0..260).map(|node| pod(node, node, AVAILABLE)).collect();
    let (step, outcomes) = sync(&DaemonSet::default(), &[NodeFlags::EXISTS; 260], &pods);
    assert_eq!((step.deleted, step.later), (250, 10));
    assert!(outcomes.iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, 250)));
    // Pods whose node does not exist come after those.
    let pods = [&pods[..250], &[pod(250, 300, 0)]].concat();
    let nodes = [&[NodeFlags::EXISTS; 250][..], &[NodeFlags::NONE]].concat();
    let (step, outcomes) = sync(&DaemonSet::default(), &nodes, &pods);
    assert_eq!((step.deleted, step.later), (250, 1));
    assert_eq!((outcomes[250].verdict, outcomes[250].reason), (Keep, Reason::NextSync));
    assert!(outcomes[..250].iter().all(|outcome| outcome.verdict == Delete));
}

#[test]
fn an_unknown_node_is_an_error() {
    let (mut order, mut outcomes) = ([9], [Outcome::default()]);
    let pods = [pod(1, 0, ASSIGNED)];
    let error = next_sync(&DaemonSet::default(), &[GOOD], &pods, &mut order, &mut outcomes);
    assert_eq!(error, Err(DaemonSetError::UnknownNode(0)));
    assert_eq!(order, [9]);
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
            let (may_start, may_keep) = (self.node(node, NodeFlags::MAY_START), self.node(node, NodeFlags::MAY_KEEP));
            let here = map.get(&node);
            if may_start && here.is_none() {
                created += 1;
            } else if may_keep {
                let (mut running, mut backoff) = (vec![], self.node(node, NodeFlags::IN_BACKOFF));
                for &pod in here.into_iter().flatten().filter(|pod| !self.is(**pod, PodFlags::BEING_DELETED)) {
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
                if let (Some(new), Some(old)) = (new.first(), old.first()) {
                    if !self.is(*old, PodFlags::READY) || self.is(*new, PodFlags::AVAILABLE) {
                        gone.push(*old);
                    }
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

    fn rolling_update(&self, max_surge: IntOrPercent, max_unavailable: IntOrPercent) -> Option<(Vec<usize>, u32)> {
        let mut map = self.on_nodes();
        let wanted = (0..self.nodes.len()).filter(|node| self.node(*node, NodeFlags::MAY_START)).collect::<Vec<_>>();
        for node in &wanted {
            map.entry(*node).or_default();
        }
        let count = i32::try_from(wanted.len()).unwrap();
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
                    if is_available(*new) { first.push(old) } else { used += 1 }
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

fn permute(list: &mut [usize], from: usize, then: &mut impl FnMut(&[usize])) {
    if from >= list.len() {
        return then(list);
    }
    for other in from..list.len() {
        list.swap(from, other);
        permute(list, from + 1, then);
        list.swap(from, other);
    }
}

proptest! {
    /// In every order of nodes and pods, certain pods go, others stay, and of what is contested the quota goes.
    #[test]
    fn every_order(
        // Nodes that may start a pod may keep it.
        nodes in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 5, 7, 7, 7, 13, 15]), 1..4),
        pods in prop::collection::vec((0..4_u32, 0..3_i64, 0..256_u16, 0..4_u8), 0..5),
        surge in prop::sample::select(vec![Int(0), Int(0), Int(1), Percent(34), Percent(50)]),
        unavailable in prop::sample::select(vec![Int(0), Int(1), Int(2), Percent(34), Percent(51)]),
    ) {
        let nodes: Vec<NodeFlags> = nodes.into_iter().map(NodeFlags::from_bits).collect();
        let pods: Vec<Pod> = (0..).zip(pods).map(|(name, (node, seconds, flags, tidy))| {
            // Most neither end nor are deleted.
            let flags = if tidy > 0 { flags & 0x1f } else if flags & 0x60 == 0x60 { flags & 0xdf } else { flags };
            let node = if node as usize >= nodes.len() { NO_NODE } else { node };
            Pod { creation_time: Time::from_unix(seconds, 0), ..pod(node, name, u8::try_from(flags).unwrap()) }
        }).collect();
        let set = rolling(surge, unavailable);
        let (step, outcomes) = sync(&set, &nodes, &pods);
        let mut fates = vec![BTreeSet::new(); pods.len()];
        permute(&mut (0..nodes.len()).collect::<Vec<_>>(), 0, &mut |walk| {
            permute(&mut (0..pods.len()).collect::<Vec<_>>(), 0, &mut |list| {
                let result = Upstream { set: &set, nodes: &nodes, pods: &pods, walk, list }.run();
                assert_eq!(result.is_none(), step.blocked_by.is_some());
                let (gone, created) = result.unwrap_or_default();
                assert_eq!((gone.len(), created), (step.deleted as usize, step.creates), "{outcomes:?}");
                for pod in 0..pods.len() {
                    fates[pod].insert(gone.contains(&pod));
                }
            });
        });
        for (fate, outcome) in fates.iter().zip(&outcomes) {
            let expected = match outcome.verdict { Keep => vec![false], Delete => vec![true], _ => vec![false, true] };
            prop_assert!(fate.iter().eq(&expected), "{:?} {:?} {:?}", fate, outcome, step);
        }
        let quotas: BTreeMap<u32, u32> =
            outcomes.iter().filter(|o| o.verdict == Contested).map(|o| (o.group, o.quota)).collect();
        let certain = outcomes.iter().filter(|o| o.verdict == Delete).count();
        prop_assert_eq!(step.deleted as usize, certain + quotas.values().sum::<u32>() as usize);
    }
}

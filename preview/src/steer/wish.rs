//! What a user wants from a scale-down, and the tier that this gives each pod.

use crate::error::Error;
use crate::input::Input;
use crate::members::RankedPod;
use crate::options::Options;
use crate::pod::{PodEntry, Record};
use podrank::{Flags, Policy, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A scale-down and its wishes.
#[derive(Clone, Debug)]
pub struct Request {
    /// The workload, its namespace, the feature gates and the time.
    pub options: Options,
    /// How many pods should stay.
    pub count: Count,
    /// The names of pods that must go.
    pub named: BTreeSet<String>,
    /// What else is wanted. An earlier wish counts before a later one.
    pub wishes: Vec<Wish>,
    /// Whether costs that somebody else set may be overwritten.
    pub force: bool,
    /// Whether no cost is written if Kubernetes takes the wanted pods anyway.
    pub only_if_needed: bool,
    /// Whether deletion costs decide which pods go. If not, pods are evicted, and the rules before the deletion cost do not
    /// matter.
    pub by_cost: bool,
}

/// How many pods should stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// This many.
    To(u32),
    /// All but the named ones.
    AllButNamed,
    /// All but the named ones and those that go before them whatever their costs.
    AllButNamedAndAhead,
}

/// Which pods go first.
#[derive(Clone, Debug)]
pub enum Wish {
    /// Those with these names.
    Pods(HashSet<String>),
    /// Those on nodes with these names.
    Nodes(HashSet<String>),
    /// Those with the lowest value. Pods without a value come last.
    Values(HashMap<String, f64>),
    /// Those that are not ready, or not for as long as `minReadySeconds`.
    NotAvailable,
    /// Those on the nodes with the fewest pods: the number of pods by node.
    EmptiestNodes(HashMap<String, u64>),
    /// Those in the domain that has the most of them left: the domain by node, the outermost level first.
    Spread(Vec<HashMap<String, String>>),
}

/// The number of active pods of the input on each node, not counting those of `DaemonSets`, which go with their node.
pub fn pods_by_node(input: &Input) -> HashMap<String, u64> {
    let is_of_daemon_set = |pod: &&PodEntry| pod.controller.as_ref().is_some_and(|it| it.kind == "DaemonSet");
    let mut counts = HashMap::new();
    for pod in input.pods.iter().filter(|pod| !is_of_daemon_set(pod)) {
        if let Some(Ok(Record { node: Some(node), .. })) = &pod.record {
            *counts.entry(node.clone()).or_default() += 1;
        }
    }
    counts
}

/// A wish's view of one pod: a lower one goes first. Of the emptiest nodes, those with more pods of the set come first.
#[derive(Clone, Debug, PartialEq)]
enum Place<'a> {
    Number(f64),
    Node(u64, Reverse<usize>, Option<&'a str>),
}

impl Wish {
    /// The pods' places.
    fn places<'a>(&self, own: &[RankedPod<'_, 'a>], available: &[bool]) -> Vec<Place<'a>> {
        let node = |pod: &RankedPod<'_, 'a>| pod.0.record.node.as_deref();
        let first = |goes_first: bool| Place::Number(f64::from(u8::from(!goes_first)));
        let mut mine = HashMap::<_, usize>::new();
        for pod in own {
            *mine.entry(node(pod)).or_default() += 1;
        }
        let places = own.iter().zip(available).map(|(pod, available)| match self {
            Self::Pods(names) => first(names.contains(&pod.0.entry.name)),
            Self::Nodes(names) => first(node(pod).is_some_and(|node| names.contains(node))),
            Self::Values(values) => {
                Place::Number(values.get(&pod.0.entry.name).copied().unwrap_or(f64::INFINITY))
            }
            Self::NotAvailable => first(!available),
            Self::EmptiestNodes(counts) => {
                let count = node(pod).and_then(|node| counts.get(node)).copied().unwrap_or(0);
                Place::Node(count, Reverse(mine[&node(pod)]), node(pod))
            }
            // This wish changes ranks, not tiers.
            Self::Spread(_) => Place::Number(0.0),
        });
        places.collect()
    }
}

impl PartialOrd for Place<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(a.total_cmp(b)),
            (Self::Node(count, mine, name), Self::Node(their_count, theirs, their_name)) => {
                Some((count, mine, name).cmp(&(their_count, theirs, their_name)))
            }
            _ => None,
        }
    }
}

/// The tier of each pod by the wishes, named pods first: 0, 1, 2 and so on.
pub(super) fn tiers(
    request: &Request,
    own: &[RankedPod<'_, '_>],
    min_ready_seconds: i32,
) -> Result<Vec<u16>, Error> {
    let now = crate::pod::to_time(request.options.now);
    let available: Vec<_> = own.iter().map(|(_, pod)| is_available(pod, now, min_ready_seconds)).collect();
    let named = Wish::Pods(request.named.iter().cloned().collect());
    let wishes = [&named].into_iter().chain(&request.wishes);
    let places: Vec<_> = wishes.map(|wish| wish.places(own, &available)).collect();
    let compare = |a: usize, b: usize| {
        let mut orders = places.iter().filter_map(|places| places[a].partial_cmp(&places[b]));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut indices: Vec<_> = (0..own.len()).collect();
    indices.sort_by(|&a, &b| compare(a, b));
    let mut tiers = vec![0; own.len()];
    let mut tier = 0_u16;
    for pair in indices.windows(2) {
        if compare(pair[0], pair[1]).is_ne() {
            tier = tier.checked_add(1).ok_or_else(|| {
                let pod = own[pair[1]].0.entry;
                Error::new(format!(
                    "{pod}: the wishes make more than 65,536 groups of pods: use fewer or coarser wishes"
                ))
            })?;
        }
        tiers[pair[1]] = tier;
    }
    Ok(tiers)
}

/// Whether the pod has been ready for `minReadySeconds`.
fn is_available(pod: &podrank::Pod, now: Time, min_ready_seconds: i32) -> bool {
    let is_ready = pod.flags.contains(Flags::READY);
    let since = pod.ready_time.unix_nanos().zip(now.unix_nanos());
    let seconds = |(since, now): (i64, i64)| i128::from(now) - i128::from(since);
    is_ready
        && (min_ready_seconds <= 0
            || since.is_some_and(|times| seconds(times) >= i128::from(min_ready_seconds) * 1_000_000_000))
}

/// Sets the ranks as the wish to spread wants them, if there is one. `related` are the other pods that count, by node.
pub(super) fn spread(
    request: &Request,
    policy: Policy,
    own: &[RankedPod<'_, '_>],
    pods: &mut [podrank::Pod],
    related: &[Option<&str>],
) {
    let levels = request.wishes.iter().filter_map(|wish| match wish {
        Wish::Spread(levels) => Some(levels),
        _ => None,
    });
    for levels in levels {
        for pod in &mut *pods {
            pod.rank = 0;
        }
        for level in levels.iter().rev() {
            let mut numbers = HashMap::<&str, u32>::new();
            let mut number = |node: Option<&str>| {
                // Pods without a domain share one.
                let domain = node.and_then(|node| level.get(node)).map_or("", String::as_str);
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry(domain).or_insert(next)
            };
            for (pod, (member, _)) in pods.iter_mut().zip(own) {
                pod.node = number(member.record.node.as_deref());
            }
            let others: Vec<_> = related
                .iter()
                .map(|node| {
                    let flags = Flags::NONE.with(Flags::ASSIGNED, node.is_some());
                    podrank::Pod { node: number(*node), flags, ..podrank::Pod::new() }
                })
                .collect();
            let mut counts = vec![0; numbers.len()];
            let mut order = vec![0; pods.len()];
            policy.spread(pods, &others, &mut counts, &mut order).expect("every domain has a number");
        }
    }
}

//! The preferences of a user for a scale-down: the tier that they give each pod, and which pods match each.

use crate::plan::{Cluster, Target, TopologyLevel, Values, too_many_groups};
use crate::question::Options;
use crate::reason::RankedPod;
use crate::snapshot::selector;
use crate::text::{self, Error};
use podrank::{Flags, Phase, Pod, Policy};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A scale-down and its preferences.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The workload, its namespace, the feature gates and the time.
    pub options: Options,
    /// The desired number of pods.
    pub count: PlanSize,
    /// The names of pods that must go.
    pub named: BTreeSet<String>,
    /// The preferences. An earlier one counts before a later one.
    pub preferences: Vec<Preference>,
    /// How to treat foreign costs.
    pub foreign_costs: ForeignCosts,
    /// The UIDs of the pods whose costs this run has written, if another run may be at work: then costs of podrank's on other pods
    /// belong to somebody else. `None` if there can be no other run, so that all of podrank's costs are left over.
    pub own_costs: Option<BTreeSet<String>>,
}

impl PlanRequest {
    /// What is known of the cluster, if nodes should become empty.
    pub(super) fn empty_nodes(&self) -> Option<&Cluster> {
        self.preferences.iter().find_map(|preference| {
            if let Preference::EmptyNodes(cluster) = preference { Some(cluster) } else { None }
        })
    }

    /// Keeps of the preferences those alone that are still asked for if the pods to delete are named: that no busy pod is deleted, and
    /// whether nodes become empty, if that matters.
    pub fn retain_conditions(&mut self, with_nodes: bool) {
        self.preferences.retain(|preference| match preference {
            Preference::Values(values) => values.only_idle.is_some(),
            Preference::EmptyNodes(_) => with_nodes,
            _ => false,
        });
    }

    /// Whether only idle pods may be deleted, and this one is busy: its value is too high, or it is ready and has none.
    pub(super) fn is_busy(&self, pod: &RankedPod<'_>) -> bool {
        self.preferences.iter().any(|preference| {
            let Preference::Values(Values { only_idle: Some(most), of, .. }) = preference else {
                return false;
            };
            let is_ready = pod.record.flags.contains(Flags::READY);
            of.get(pod.pod.name()).map_or(is_ready, |value| value > most)
        })
    }

    /// The levels to spread over. If nodes should become empty, the levels only decide between equally good nodes.
    fn levels(&self) -> Option<&[TopologyLevel]> {
        self.preferences.iter().find_map(|preference| {
            if let Preference::Spread(levels) = preference { Some(&**levels) } else { None }
        })
    }
}

/// How a plan treats foreign costs. No mode overwrites the cost of a pod that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForeignCosts {
    /// It keeps them. As in Kubernetes, they decide between pods that the preferences do not tell apart.
    #[default]
    Keep,
    /// Those of pods that go may be overwritten. They decide nothing.
    Override,
}

/// The desired number of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanSize {
    /// This many.
    To(u32),
    /// All but the named ones.
    AllButNamed,
    /// All but the named ones and those that go before them whatever their costs.
    AllButNamedAndAhead,
}

/// Which pods go first.
#[derive(Clone, Debug)]
pub enum Preference {
    /// Those that a label selector selects.
    Pods(Selected),
    /// Those on the nodes that a label selector selects.
    Nodes(Selected),
    /// Those with the lowest value. Pods without a value come last.
    Values(Values),
    /// Those that are not ready, or not for as long as `minReadySeconds`.
    NotAvailable,
    /// Those on the nodes that can become empty with the fewest deletions.
    EmptyNodes(Cluster),
    /// Those in the domain that has the most of them left, the outermost level first.
    Spread(Vec<TopologyLevel>),
}

/// What a label selector selects.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The selector, as the user gave it.
    pub selector: String,
    /// The names of what it selects.
    pub names: HashSet<String>,
}

/// Why a pod is selected, or would be if more pods were. Serialized, it is part of the JSON that docs/schemas
/// describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// The reason: `named`, the name of a preference's flag without its dashes, or `order`.
    #[serde(rename = "rule")]
    pub by: &'static str,
    /// What about the pod this is: the selector that it matches, its value, its domain or its state.
    pub text: String,
    /// The position of the preference in the request. `None` if the reason is not a preference.
    #[serde(skip)]
    pub preference: Option<usize>,
}

impl Preference {
    /// The flag as the user gave it, if the preference is for some of the pods and not an order of all.
    pub(super) fn for_some(&self) -> Option<String> {
        match self {
            Self::Pods(selected) => Some(format!("--prefer-pods {}", selected.selector)),
            Self::Nodes(selected) => Some(format!("--prefer-nodes {}", selected.selector)),
            Self::Values(values) => Some(values.flag.clone()),
            Self::NotAvailable => Some("--not-available-first".to_owned()),
            Self::EmptyNodes(_) | Self::Spread(_) => None,
        }
    }

    /// What makes the pod match, in the words of the flag and for a reader. Empty if it does not match.
    fn matches(&self, pod: &RankedPod<'_>, is_available: bool) -> Vec<(&'static str, String)> {
        let (name, node) = (pod.pod.name(), pod.pod.node());
        let selects = |selected: &Selected, name: Option<&str>| {
            selected.names.contains(name?).then(|| selected.selector.clone())
        };
        let (by, text) = match self {
            Self::Pods(selected) => ("prefer-pods", selects(selected, Some(name))),
            Self::Nodes(selected) => ("prefer-nodes", selects(selected, node)),
            Self::Values(values) => (values.by(), values.text(name)),
            Self::NotAvailable => {
                ("not-available-first", (!is_available).then(|| "not available".to_owned()))
            }
            Self::EmptyNodes(_) => ("empty-nodes", node.map(|_| "whole node".to_owned())),
            Self::Spread(levels) => {
                let text = |level: &TopologyLevel| match node.and_then(|node| level.domains.get(node)) {
                    Some(domain) => format!("{}={domain}", level.key),
                    None => format!("no {}", level.key),
                };
                return levels.iter().map(|level| ("spread", text(level))).collect();
            }
        };
        text.map(|text| (by, text)).into_iter().collect()
    }

    /// Whether it is a label selector that selects all of the pods, so that it makes no difference.
    pub(super) fn selects_all(&self, own: &[RankedPod<'_>]) -> bool {
        matches!(self, Self::Pods(_) | Self::Nodes(_))
            && own.iter().all(|pod| !self.matches(pod, true).is_empty())
    }

    /// Returns an error if the preference matches none of the pods, so that it would do nothing, or too few to be measured. `target` is
    /// the workload.
    pub(super) fn check(&self, target: &Target, own: &[RankedPod<'_>]) -> Result<(), Error> {
        let matching = own.iter().filter(|pod| !self.matches(pod, true).is_empty()).count();
        let flag = self.for_some().unwrap_or_default();
        let sorted = |names: BTreeSet<&String>| text::list(&names.into_iter().collect::<Vec<_>>());
        Err(match self {
            // No name was mistyped: there may be no such pods.
            Self::NotAvailable | Self::EmptyNodes(_) => return Ok(()),
            Self::Spread(levels) => {
                let nodes: Vec<_> = own.iter().filter_map(|pod| pod.pod.node()).collect();
                let is_useless =
                    |level: &&TopologyLevel| !nodes.iter().any(|node| level.domains.contains_key(*node));
                let useless = levels.iter().find(is_useless).filter(|_| !nodes.is_empty());
                let Some(TopologyLevel { key, .. }) = useless else { return Ok(()) };
                Error::new(format!(
                    "--spread {key}: no active pod of {target} is on a node that has this label"
                ))
            }
            Self::Values(Values { measure: Some(_), .. }) if matching == 0 => {
                Error::new(format!("{flag}: no active pod of {target} has a value"))
            }
            // Pods without a value are busy, for all that is known, and those with one may be the busiest.
            Self::Values(Values { measure: Some(_), .. }) if 2 * matching < own.len() => {
                let (of, have) = (own.len(), if matching == 1 { "has" } else { "have" });
                Error::new(format!("{flag}: too few pods have a value"))
                    .because(format!("Only {matching} of the {of} active pods of {target} {have} a value."))
                    .advise("Make sure that at least half of the pods have one.")
            }
            _ if matching > 0 => return Ok(()),
            Self::Nodes(selected) => {
                let nodes = match selected.names.len() {
                    0 => "No node matches it.".to_owned(),
                    _ => format!("The nodes that match are {}.", sorted(selected.names.iter().collect())),
                };
                Error::new(format!("no active pod of {target} is on a node that matches {flag}"))
                    .because(nodes)
            }
            Self::Pods(selected) => {
                let labels: Vec<_> = own.iter().map(|pod| &pod.pod.meta.labels).collect();
                let error = Error::new(format!("no active pod of {target} matches {flag}"));
                selector::explain(error, &selected.selector, "of these pods", &labels)
            }
            Self::Values(values) if values.of.is_empty() => Error::new(format!("{flag} names no pod")),
            Self::Values(values) => Error::new(format!("{flag} names no active pod of {target}"))
                .because(format!("It names {}.", sorted(values.of.keys().collect()))),
        })
    }
}

/// Says that no node matches a label selector, and which label or value none of the nodes has, given the labels of each.
pub fn no_node(selector: &str, labels: &[&BTreeMap<String, String>]) -> Error {
    let error = Error::new(format!("no node matches --prefer-nodes {selector}"));
    selector::explain(error, selector, "of the nodes", labels)
}

/// Says that no node has a label to spread by, given the labels of each.
pub fn no_domain(key: &str, labels: &[&BTreeMap<String, String>]) -> Error {
    selector::explain(Error::new(format!("no node matches --spread {key}")), key, "of the nodes", labels)
}

/// Why the pod is selected, or would be if more pods were: its name, the preferences that it matches, or the order.
pub(super) fn why(request: &PlanRequest, pod: &RankedPod<'_>, is_available: bool) -> Vec<Why> {
    let of_order = |text: &str| Why { by: "order", text: text.to_owned(), preference: None };
    if request.named.contains(&pod.pod.meta.name) {
        return vec![Why { by: "named", text: "named".to_owned(), preference: None }];
    }
    let early = early(&pod.record);
    let preferences = (0..).zip(&request.preferences);
    // The domain does not matter for a pod that is deleted early in any case.
    let preferences =
        preferences.filter(|(_, preference)| early.is_none() || preference.for_some().is_some());
    let matches = preferences.flat_map(|(place, preference)| {
        let matches = preference.matches(pod, is_available).into_iter();
        matches.map(move |(by, text)| Why { by, text, preference: Some(place) })
    });
    let mut why: Vec<_> = matches.collect();
    why.extend(early.map(of_order));
    if why.is_empty() {
        why.push(of_order("order"));
    }
    why
}

/// The state in which a pod is deleted before those that are ready, whatever its cost.
pub(super) fn early(pod: &Pod) -> Option<&'static str> {
    match pod.phase {
        _ if !pod.flags.contains(Flags::ASSIGNED) => Some("not assigned"),
        phase if phase != Phase::RUNNING => Some("not running"),
        _ => (!pod.flags.contains(Flags::READY)).then_some("not ready"),
    }
}

/// The tier of each pod by the preferences, named pods first, and busy ones last if only idle ones may be deleted: 0, 1, 2 and so on.
pub(super) fn tiers(
    request: &PlanRequest,
    own: &[RankedPod<'_>],
    available: &[bool],
) -> Result<Vec<u16>, Error> {
    // What has a lower value is deleted first.
    let first = |goes_first: bool| f64::from(u8::from(!goes_first));
    let named = own.iter().map(|pod| first(request.named.contains(pod.pod.name())));
    let busy = own.iter().map(|pod| first(!request.is_busy(pod)));
    let mut places: Vec<Vec<f64>> = vec![named.collect(), busy.collect()];
    for preference in &request.preferences {
        places.push(match preference {
            Preference::EmptyNodes(cluster) => {
                let levels = request.levels().unwrap_or_default();
                cluster.places(own, &numbered(own, &places)?, levels)?.into_iter().map(f64::from).collect()
            }
            Preference::Values(Values { of, .. }) => {
                own.iter().map(|pod| of.get(pod.pod.name()).copied().unwrap_or(f64::INFINITY)).collect()
            }
            // It changes ranks, not tiers.
            Preference::Spread(_) => continue,
            _ => {
                let pods = own.iter().zip(available);
                pods.map(|(pod, available)| first(!preference.matches(pod, *available).is_empty())).collect()
            }
        });
    }
    numbered(own, &places)
}

/// The tier of each pod by its places, of which an earlier one counts before a later one.
fn numbered(own: &[RankedPod<'_>], places: &[Vec<f64>]) -> Result<Vec<u16>, Error> {
    let compare = |a: usize, b: usize| {
        let mut orders = places.iter().map(|places| places[a].total_cmp(&places[b]));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut indices: Vec<_> = (0..own.len()).collect();
    indices.sort_by(|&a, &b| compare(a, b));
    let mut tiers = vec![0; own.len()];
    for (tier, equal) in indices.chunk_by(|&a, &b| compare(a, b).is_eq()).enumerate() {
        let tier = u16::try_from(tier).map_err(|_| too_many_groups())?;
        for &index in equal {
            tiers[index] = tier;
        }
    }
    Ok(tiers)
}

/// Sets the ranks for the preference to spread, if there is one: level by level, the outermost last. `related` are the other pods that
/// count, by node.
pub(super) fn spread(
    request: &PlanRequest,
    policy: Policy,
    own: &[RankedPod<'_>],
    pods: &mut [Pod],
    related: &[Option<&str>],
) {
    let Some(levels) = request.levels().filter(|_| request.empty_nodes().is_none()) else { return };
    for pod in &mut *pods {
        pod.rank = 0;
    }
    for level in levels.iter().rev() {
        let mut numbers = HashMap::<&str, u32>::new();
        let mut number = |node: Option<&str>| {
            // Pods without a domain share one.
            let domain = node.and_then(|node| level.domains.get(node)).map_or("", String::as_str);
            let next = text::number(numbers.len());
            *numbers.entry(domain).or_insert(next)
        };
        for (pod, ranked) in pods.iter_mut().zip(own) {
            pod.node = number(ranked.pod.node());
        }
        let others = related.iter().map(|node| {
            let flags = Flags::NONE.with(Flags::ASSIGNED, node.is_some());
            Pod { node: number(*node), flags, ..Pod::new() }
        });
        let others: Vec<_> = others.collect();
        let mut counts = vec![0; numbers.len()];
        let mut order = vec![0; pods.len()];
        policy.spread(pods, &others, &mut counts, &mut order).expect("every domain has a number");
    }
}

//! Whole nodes: what other sets have on each, in which order the core takes them, and which become empty.

use crate::reason::RankedPod;
use crate::snapshot::budget::Budget;
use crate::snapshot::{Pod, Snapshot};
use crate::text::{self, Error};
use podrank::{EmptyNodesScratch, Neighbour, empty_nodes, node_weights};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The active pods of a cluster that are on nodes and don't leave with them, and the nodes that are about to go.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    pub(super) pods: Vec<Pod>,
    leaving: HashSet<String>,
    /// The budgets that allow no disruption.
    closed: Vec<Budget>,
}

/// A node label whose values are domains.
#[derive(Clone, Debug)]
pub struct TopologyLevel {
    /// The key of the label.
    pub key: String,
    /// The label's value by node. Nodes without the label are missing.
    pub domains: HashMap<String, String>,
}

/// A node that loses pods. Serialized, it is part of the JSON that docs/schemas describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedNode {
    /// Its name.
    pub name: String,
    /// Whether nothing is left on it but what leaves with it.
    pub becomes_empty: bool,
    /// The other pods on it: their owners, and how many they are.
    pub remaining: Vec<RemainingPods>,
}

/// The pods of one owner that remain on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemainingPods {
    /// Their controller, or the pod without one.
    pub owner: String,
    /// How many.
    pub pods: usize,
    /// What keeps a drain from moving one of them: an annotation, or a budget that allows no disruption. A scale-down asks neither.
    pub held_by: Option<String>,
}

impl Cluster {
    /// The nodes of an input that has the pods of all namespaces. `leaving` are names of nodes that are emptied first
    /// among equally good ones.
    pub fn of(input: &Snapshot, leaving: impl IntoIterator<Item = String>) -> Self {
        let stays = |pod: &&Pod| {
            !pod.is_mirror
                && pod.meta.controller.as_ref().is_none_or(|it| it.kind != "DaemonSet" && it.kind != "Node")
        };
        let is_placed = |pod: &&Pod| pod.node.is_some() && pod.is_active();
        let pods = input.pods.iter().filter(stays).filter(is_placed).cloned().collect();
        Self { pods, leaving: leaving.into_iter().collect(), closed: Vec::new() }
    }

    /// Adds the disruption budgets of an input, of which a plan names those that keep a drain from moving pods.
    pub(super) fn add_budgets(&mut self, input: &Snapshot) {
        let allows_none =
            |budget: &&Budget| budget.status().is_some_and(|it| it.disruptions_allowed == Some(0));
        self.closed.extend(input.budgets.iter().filter(allows_none).cloned());
    }

    /// What keeps a drain from moving a pod.
    fn held_by(&self, pod: &Pod) -> Option<String> {
        let covers =
            |budget: &&Budget| budget.meta.namespace == pod.meta.namespace && budget.covers(&pod.meta.labels);
        let closed = || self.closed.iter().find(covers);
        let budget = || closed().map(|budget| format!("PodDisruptionBudget {}", budget.meta.name));
        pod.held_by.clone().or_else(budget)
    }

    /// The position of each pod if whole nodes become empty, given its tier by earlier preferences. Unassigned, pending
    /// and not ready pods come first, whatever their tier.
    pub(super) fn places(
        &self,
        own: &[RankedPod<'_>],
        tiers: &[u16],
        levels: &[TopologyLevel],
    ) -> Result<Vec<u16>, Error> {
        let mut names: Vec<_> = own.iter().filter_map(|pod| pod.pod.node()).collect();
        // Of equally good nodes, the one with the lower number is emptied first.
        names.sort_unstable_by_key(|name| (!self.leaving.contains(*name), *name));
        names.dedup();
        let numbers: HashMap<_, _> = (0_u32..).zip(&names).map(|(number, name)| (*name, number)).collect();
        let record = |(pod, &tier): (&RankedPod<'_>, &u16)| {
            let node = pod.pod.node().map_or(0, |name| numbers[name]);
            podrank::Pod { node, tier, ..pod.record }
        };
        let mut pods: Vec<_> = own.iter().zip(tiers).map(record).collect();
        let weights = self.weights(own, &numbers);
        let (domains, most) = domains(&names, levels);
        let mut counts = vec![0; names.len() + most];
        let mut scratch = vec![EmptyNodesScratch::default(); pods.len()];
        let split = empty_nodes(&mut pods, &weights, &domains, &mut counts, &mut scratch);
        split.map_err(|error| match error {
            podrank::Error::TooManyTiers => too_many_groups(),
            other => Error::new(other.to_string()),
        })?;
        Ok(pods.iter().map(|pod| pod.tier).collect())
    }

    fn weights(&self, own: &[RankedPod<'_>], numbers: &HashMap<&str, u32>) -> Vec<u64> {
        let own: HashSet<_> = own.iter().map(|pod| pod.pod.uid()).collect();
        // All other nodes are as one: their pods only count in their sets.
        let elsewhere = text::number(numbers.len());
        let mut sets = HashMap::<&str, u32>::new();
        let mut neighbours = Vec::new();
        for pod in self.pods.iter().filter(|pod| !own.contains(&pod.uid())) {
            // One without a controller is a set of its own. No earlier pod has this number.
            let next = text::number(neighbours.len());
            let owner = pod.meta.controller.as_ref();
            let set = owner.map_or(next, |owner| *sets.entry(&owner.uid).or_insert(next));
            let node = pod.node().and_then(|node| numbers.get(node)).copied().unwrap_or(elsewhere);
            neighbours.push(Neighbour { set, node });
        }
        let mut weights = vec![0; numbers.len() + 1];
        node_weights(&mut neighbours, &mut weights).expect("every node has a number");
        weights.pop();
        weights
    }

    /// What is on these nodes.
    #[must_use]
    pub fn left_on<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<PlannedNode> {
        self.outcome(names.map(|name| ("", Some(name))))
    }

    /// The nodes of these deleted pods, which are given by UID and node. Those that become empty come first.
    pub(super) fn outcome<'a>(
        &self,
        pods: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Vec<PlannedNode> {
        let (mut goes, mut kept) = (HashSet::new(), BTreeMap::<_, BTreeMap<String, RemainingPods>>::new());
        for (uid, node) in pods {
            goes.insert(uid);
            kept.extend(node.map(|node| (node, BTreeMap::new())));
        }
        for pod in &self.pods {
            let owners = pod.node().and_then(|node| kept.get_mut(node));
            let Some(owners) = owners.filter(|_| !goes.contains(&*pod.uid().to_string())) else { continue };
            let owner = match &pod.meta.controller {
                Some(owner) => format!("{} {}", owner.kind, owner.name),
                None => format!("pod {}", pod.name()),
            };
            let first = |owner: &String| RemainingPods { owner: owner.clone(), pods: 0, held_by: None };
            let kept = owners.entry(owner).or_insert_with_key(first);
            kept.pods += 1;
            kept.held_by = kept.held_by.take().or_else(|| self.held_by(pod));
        }
        let planned = |(name, owners): (&str, BTreeMap<String, RemainingPods>)| PlannedNode {
            name: name.to_owned(),
            becomes_empty: owners.is_empty(),
            remaining: owners.into_values().collect(),
        };
        let mut nodes: Vec<_> = kept.into_iter().map(planned).collect();
        nodes.sort_by_key(|node| !node.becomes_empty);
        nodes
    }
}

/// The error for preferences that tell too many pods apart.
pub(super) fn too_many_groups() -> Error {
    Error::new("the preferences make more than 65,536 groups of pods")
        .advise("Use fewer or coarser preferences.")
}

/// The numbers of the nodes' domains, for each level, and how many there are. A domain lies in one of the level before.
fn domains(names: &[&str], levels: &[TopologyLevel]) -> (Vec<u32>, usize) {
    let (mut within, mut numbers) = (vec![0_u32; names.len()], HashMap::new());
    let mut all = Vec::new();
    for (depth, level) in levels.iter().enumerate() {
        for (name, at) in names.iter().zip(&mut within) {
            let next = text::number(numbers.len());
            *at = *numbers.entry((depth, *at, level.domains.get(*name))).or_insert(next);
        }
        all.extend(&within);
    }
    (all, numbers.len())
}

/// `node-3 and node-4 become empty; node-1 keeps 2 pods of StatefulSet db`.
#[must_use]
pub fn nodes_text(nodes: &[PlannedNode]) -> Option<String> {
    let empty: Vec<_> = nodes.iter().filter(|node| node.becomes_empty).map(|node| &*node.name).collect();
    let becomes = match &*empty {
        [] => (!nodes.is_empty()).then(|| "no node becomes empty".to_owned()),
        [only] => Some(format!("{only} becomes empty")),
        _ => Some(format!("{} become empty", text::list(&empty))),
    };
    let parts: Vec<_> = becomes.into_iter().chain(keeps(nodes)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What the nodes keep that do not become empty: `node-1 keeps 2 pods of StatefulSet db`.
pub fn keeps(nodes: &[PlannedNode]) -> impl Iterator<Item = String> {
    nodes.iter().filter(|node| !node.becomes_empty).map(|node| {
        let owners = node.remaining.iter().map(|kept| {
            let whose = match kept.pods {
                1 if kept.owner.starts_with("pod ") => kept.owner.clone(),
                pods => format!("{} of {}", text::count(pods, "pod"), kept.owner),
            };
            let held_by = kept.held_by.as_ref();
            let them = if kept.pods == 1 { "it" } else { "them" };
            held_by.map_or(whose.clone(), |why| format!("{whose} (a drain cannot move {them}: {why})"))
        });
        format!("{} keeps {}", node.name, text::list(&owners.collect::<Vec<_>>()))
    })
}

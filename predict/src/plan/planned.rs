//! The plan of a scale-down: the selected pods, the deletion cost of each, and the pods that Kubernetes would delete
//! without the plan. Plain data, which `planning` computes.

use crate::answer::{Note, Probability, Verdict, one};
use crate::plan::{PlannedNode, Target, Why};
use crate::snapshot::{FIELD_MANAGER, PreviousCost};
use crate::text::{self, TextReason};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use std::collections::{BTreeSet, HashMap};

/// The most pods whose changed deletion costs are named.
const MOST_NAMED: usize = 3;

/// Which pods are to go, and how. Serialized, it is the JSON that other programs read: docs/schemas says what each
/// name means.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The namespace of the workload.
    pub namespace: String,
    /// The object whose count falls.
    #[serde(rename = "workload", serialize_with = "workload")]
    pub target: Target,
    /// The sets that may lose pods: several in a rollout. Empty if no pod should go.
    #[serde(rename = "groups")]
    pub sets: Vec<PlannedSet>,
    /// Whether the workload is a Deployment in the middle of a rollout, whose controller shares the count among its sets.
    #[serde(rename = "rollout")]
    pub is_rollout: bool,
    /// The exact time of the decision.
    pub now: Timestamp,
    /// `spec.replicas` before.
    #[serde(rename = "currentReplicas")]
    pub from: u32,
    /// `spec.replicas` afterwards.
    pub replicas: u32,
    /// The number of pods that go.
    #[serde(rename = "deletions", serialize_with = "one")]
    pub delete: usize,
    /// The number of deletion costs that have to be written.
    #[serde(rename = "newCosts")]
    pub writes: usize,
    /// The active pods. Those that should go come first.
    pub pods: Vec<PlannedPod>,
    /// The nodes that lose pods, if nodes should become empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<PlannedNode>>,
    /// The unsteerable pods, which are deleted before selected ones, because Kubernetes applies other rules before the
    /// cost.
    pub unsteerable: Vec<Unsteerable>,
    /// What else a reader should know.
    pub notes: Vec<Note>,
    /// The number of active pods that are left once nothing more happens.
    #[serde(skip)]
    pub left: usize,
    /// The preferences that are for some of the pods: the position of each in the request, and its flag.
    #[serde(skip)]
    pub preferences: Vec<(usize, String)>,
}

/// A set that may lose pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSet {
    /// Its name.
    pub replica_set: String,
    /// The number of its pods that go.
    #[serde(rename = "deletions", serialize_with = "one")]
    pub delete: usize,
}

/// One active pod.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedPod {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its node, if assigned.
    pub node: Option<String>,
    /// What Kubernetes would do with it, with the deletion costs as they are.
    #[serde(rename = "default")]
    pub default_verdict: Verdict,
    /// The probability with which Kubernetes deletes it then, if it is possible and the probability is known.
    #[serde(flatten)]
    pub probability: Option<Probability>,
    /// Whether it is to go.
    #[serde(rename = "selected")]
    pub is_selected: bool,
    /// Whether the user named it.
    #[serde(skip)]
    pub is_named: bool,
    /// Why it is selected, or would be if more pods were.
    #[serde(rename = "selectedBy")]
    pub why: Vec<Why>,
    /// Its deletion cost as Kubernetes reads it.
    pub deletion_cost: i32,
    /// Who set that cost: `podrank`, `template`, or a field manager. `None` if the pod has no cost.
    pub cost_owner: Option<String>,
    /// The cost to write. `None` if the cost does not change.
    #[serde(rename = "newCost")]
    pub write: Option<i32>,
    /// Whether it is assigned, running and ready.
    #[serde(skip)]
    pub is_ready: bool,
    /// What the write would replace: somebody else's cost, to be put back.
    #[serde(skip)]
    pub replaces: Option<PreviousCost>,
    /// The pod's resource version when it had the cost that the write would replace.
    #[serde(skip)]
    pub resource_version: Option<String>,
}

/// An unsteerable pod.
#[derive(Clone, Debug, Serialize)]
pub struct Unsteerable {
    /// The pod that is deleted.
    pub name: String,
    /// The pod that is kept although the user prefers to delete it.
    #[serde(rename = "insteadOf")]
    pub before: String,
    /// The rule that decides, and what it finds in the two pods.
    pub reason: TextReason,
}

impl PlannedPod {
    /// Whether its cost is podrank's.
    pub(super) fn is_podranks(&self) -> bool {
        self.cost_owner.as_deref() == Some(FIELD_MANAGER)
    }

    /// Whether it matches the preference at this place in the request.
    pub(super) fn matches(&self, preference: usize) -> bool {
        self.why.iter().any(|why| why.preference == Some(preference))
    }

    /// Whether the write would replace somebody else's cost.
    pub(super) fn overwrites(&self) -> bool {
        self.replaces.is_some() && !self.is_podranks()
    }

    /// The cost that podrank wrote over, if it is the one to write now.
    pub(super) fn goes_back(&self) -> Option<&PreviousCost> {
        let previous = self.replaces.as_ref().filter(|previous| self.is_podranks() && previous.lasts())?;
        (self.write?.to_string() == previous.value).then_some(previous)
    }
}

impl Plan {
    /// The pods that are to go.
    pub fn selected(&self) -> impl Iterator<Item = &PlannedPod> {
        self.pods.iter().filter(|pod| pod.is_selected)
    }

    /// The preferences that not all selected pods match, and how many do, not counting pods that the user named:
    /// `only 2 of the 5 selected pods match --prefer-nodes lifecycle=spot`. After the deletion, the words are `only 2 of these 5`.
    pub fn unmet(&self, is_done: bool) -> Vec<String> {
        let wished: Vec<_> = self.selected().filter(|pod| !pod.is_named).collect();
        let (delete, has_named) = (wished.len(), wished.len() < self.selected().count());
        let (one, these) = match (is_done, has_named) {
            (false, false) => ("the selected pod", format!("the {delete} selected pods")),
            (false, true) => ("the other selected pod", format!("the {delete} other selected pods")),
            (true, false) => ("it", format!("these {delete}")),
            (true, true) => ("the other one", format!("the other {delete}")),
        };
        let unmet = self.preferences.iter().filter_map(|(preference, flag)| {
            let matching = wished.iter().filter(|pod| pod.matches(*preference)).count();
            Some(match (matching, delete) {
                _ if matching == delete => return None,
                (0, 1) => format!("{one} does not match {flag}"),
                (0, _) => format!("none of {these} matches {flag}"),
                (1, _) => format!("only 1 of {these} matches {flag}"),
                _ => format!("only {matching} of {these} match {flag}"),
            })
        });
        unmet.collect()
    }

    /// Whose deletion costs have changed since an earlier plan was to be written, and who wrote them, as far as that is known:
    /// `the deletion costs of web-a, web-b and 3 more, written by karpenter`. `None` if all are as one of the two plans has them.
    pub fn changed_costs(&self, earlier: &Self, is_written: bool) -> Option<String> {
        let earlier: HashMap<_, _> = earlier.pods.iter().map(|pod| (&*pod.uid, pod)).collect();
        let is_changed = |pod: &&PlannedPod| {
            let Some(earlier) = earlier.get(&*pod.uid) else { return false };
            let is_as_before = pod.deletion_cost == earlier.deletion_cost;
            match earlier.write {
                Some(cost) => pod.deletion_cost != cost && (is_written || !is_as_before),
                None => !is_as_before,
            }
        };
        let changed: Vec<_> = self.pods.iter().filter(is_changed).collect();
        let names: Vec<_> = changed.iter().map(|pod| &*pod.name).collect();
        let writers: BTreeSet<_> = changed.iter().filter_map(|pod| pod.cost_owner.as_deref()).collect();
        let writers: Vec<_> = writers.into_iter().map(text::name).collect();
        let by = if writers.is_empty() { "" } else { ", written by " };
        let costs = || {
            format!("the deletion costs of {}{by}{}", text::first(&names, MOST_NAMED), text::list(&writers))
        };
        (!names.is_empty()).then(costs)
    }

    /// Whether Kubernetes deletes exactly the selected pods with the present costs, and there is no cost to write.
    pub fn is_proved(&self) -> bool {
        self.writes == 0
            && self.pods.iter().all(|pod| pod.is_selected == (pod.default_verdict == Verdict::Deleted))
    }
}

fn workload<S: Serializer>(target: &Target, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("kind", &target.kind), ("name", &target.name)])
}

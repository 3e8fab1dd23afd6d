//! Nodes: on which of them pods of a `DaemonSet` may run, as Kubernetes decides it, and their zones, for those who show pods
//! by zone.

use crate::snapshot::{Expression, Metadata, matches_node};
use crate::sync::daemon_set::NodeFit;
use crate::text;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The label with a node's zone, which newer releases of Kubernetes copy to its pods.
pub(crate) const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// The only field of a node that affinities select by.
const NAME_FIELD: &str = "metadata.name";

/// The taints that every pod of a `DaemonSet` tolerates, with their effects.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// The one that pods in the node's network tolerate, too.
const TOLERATED_IN_HOST_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// A node.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a node")]
pub(crate) struct Node {
    #[serde(rename = "metadata")]
    pub(crate) meta: Metadata,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object")]
struct Spec {
    taints: Option<Vec<Taint>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a taint")]
struct Taint {
    key: String,
    value: Option<String>,
    effect: String,
}

/// What a pod template says about nodes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a pod template")]
pub(crate) struct Placement {
    node_name: Option<String>,
    node_selector: Option<BTreeMap<String, String>>,
    affinity: Option<Affinity>,
    tolerations: Option<Vec<Toleration>>,
    host_network: Option<bool>,
}

/// What an affinity requires of nodes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an affinity")]
pub(crate) struct Affinity {
    node_affinity: Option<NodeAffinity>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a node affinity")]
struct NodeAffinity {
    required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a node selector")]
struct NodeSelector {
    node_selector_terms: Option<Vec<Term>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a term of a node selector")]
struct Term {
    match_expressions: Option<Vec<Expression>>,
    match_fields: Option<Vec<Expression>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a toleration")]
struct Toleration {
    key: Option<String>,
    operator: Option<String>,
    value: Option<String>,
    effect: Option<String>,
}

impl Placement {
    /// Returns whether a pod may start or keep running on the node, and if neither, why. Kubernetes'
    /// `NodeShouldRunDaemonPod`, without the feature gate `TaintTolerationComparisonOperators`, which is off by default.
    pub(crate) fn on(&self, node: &Node) -> (NodeFit, Option<String>) {
        let unfit = |why: &str| (NodeFit::Unfit, Some(format!("node {} {why}", text::name(&node.meta.name))));
        if self.node_name.as_ref().is_some_and(|name| !name.is_empty() && *name != node.meta.name) {
            return unfit("is not the one that the template names");
        }
        if !self.node_selector.iter().flatten().all(|(key, value)| node.meta.labels.get(key) == Some(value)) {
            return unfit("does not have the labels of the template's nodeSelector");
        }
        if !self.affinity.as_ref().is_none_or(|affinity| affinity.allows(node)) {
            return unfit("does not match the template's node affinity");
        }
        if let Some(taint) = self.untolerated(node, "NoExecute") {
            return unfit(&format!("has the taint {taint}, which the pods do not tolerate"));
        }
        let may_start = self.untolerated(node, "NoSchedule").is_none();
        (if may_start { NodeFit::MayStart } else { NodeFit::MayKeep }, None)
    }

    /// Returns the first taint with this effect that the pods do not tolerate.
    fn untolerated<'n>(&self, node: &'n Node, effect: &str) -> Option<&'n Taint> {
        let in_host_network = self.host_network.unwrap_or(false).then_some(TOLERATED_IN_HOST_NETWORK);
        let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
        taints.filter(|taint| taint.effect == effect).find(|taint| {
            let is_always = |(key, effect)| taint.key == key && taint.effect == effect;
            !TOLERATED.into_iter().chain(in_host_network).any(is_always)
                && !self.tolerations.iter().flatten().any(|toleration| toleration.tolerates(taint))
        })
    }
}

impl Affinity {
    /// Returns the node that the `DaemonSet` controller made the pod for.
    pub(crate) fn target(&self) -> Option<&str> {
        let fields = self.terms()?.iter().flat_map(|term| term.match_fields.iter().flatten());
        let mut names = fields.filter(|field| field.key == NAME_FIELD && field.operator == "In");
        match names.next()?.values.as_deref()? {
            [name] => Some(name),
            _ => None,
        }
    }

    /// One of the terms must match. An empty term, and one that is invalid, matches no node.
    fn allows(&self, node: &Node) -> bool {
        self.terms().is_none_or(|terms| terms.iter().any(|term| term.matches(node)))
    }

    /// `None` if every node is allowed.
    fn terms(&self) -> Option<&[Term]> {
        let affinity = self.node_affinity.as_ref()?;
        let required = affinity.required_during_scheduling_ignored_during_execution.as_ref()?;
        Some(required.node_selector_terms.as_deref().unwrap_or_default())
    }
}

impl Term {
    fn matches(&self, node: &Node) -> bool {
        let expressions = self.match_expressions.as_deref().unwrap_or_default();
        let fields = self.match_fields.as_deref().unwrap_or_default();
        let is_met = |field: &Expression| {
            let actual = if field.key == NAME_FIELD { &*node.meta.name } else { "" };
            match (&*field.operator, field.values.as_deref()) {
                ("In", Some([value])) => value == actual,
                ("NotIn", Some([value])) => value != actual,
                _ => false,
            }
        };
        (!expressions.is_empty() || !fields.is_empty())
            && matches_node(expressions, &node.meta.labels)
            && fields.iter().all(is_met)
    }
}

impl Toleration {
    fn tolerates(&self, taint: &Taint) -> bool {
        let [key, operator, value, effect, of_taint] =
            [&self.key, &self.operator, &self.value, &self.effect, &taint.value]
                .map(|text| text.as_deref().unwrap_or_default());
        let is_same = operator == "Exists" || ["", "Equal"].contains(&operator) && value == of_taint;
        is_same && ["", &*taint.effect].contains(&effect) && ["", &*taint.key].contains(&key)
    }
}

impl fmt::Display for Taint {
    /// As `kubectl taint` takes it: `dedicated=gpu:NoSchedule`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if let Some(value) = self.value.as_ref().filter(|value| !value.is_empty()) {
            write!(f, "={value}")?;
        }
        write!(f, ":{}", self.effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank_laws::vectors;

    /// A case of `tests/vectors/daemon_nodes.json`.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Case {
        name: String,
        spec: Placement,
        node: Node,
        may_start: bool,
        may_keep: bool,
    }

    #[test]
    fn pods_run_where_the_vectors_say() {
        let cases: Vec<Case> = serde_json::from_str(&vectors::read("daemon_nodes.json")).expect("JSON");
        for case in &cases {
            let (fit, why) = case.spec.on(&case.node);
            let expected = match (case.may_start, case.may_keep) {
                (true, true) => NodeFit::MayStart,
                (false, true) => NodeFit::MayKeep,
                (false, false) => NodeFit::Unfit,
                (true, false) => panic!("{}: a pod may start and not stay", case.name),
            };
            assert_eq!((fit, why.is_some()), (expected, !case.may_keep), "{}: {why:?}", case.name);
        }
        assert!(cases.len() > 40, "{} cases", cases.len());
    }
}

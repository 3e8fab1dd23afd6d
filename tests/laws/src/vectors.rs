//! Reads `tests/vectors/`. The README there describes the formats.

pub mod controller;
pub mod steering;

use podrank::{FeatureGates, Flags, KubernetesOrdering, Phase, Pod, Policy, Rule, Time, Uid};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A record as the vectors write it. A field that is left out is as in [`Pod::new`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Record {
    uid: Option<String>,
    assigned: bool,
    phase: u8,
    ready: bool,
    ready_time: Option<String>,
    tier: u16,
    deletion_cost: i32,
    rank: u32,
    preferred: bool,
    restarts: u32,
    sidecar_restarts: u32,
    creation_time: Option<String>,
    node: u32,
}

/// `now` and the gates. A field that is missing has its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Setting {
    now: Option<String>,
    feature_gates: BTreeMap<String, bool>,
}

/// Pods by name, and facts about pairs and lists of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What the group is about.
    pub name: String,
    /// Where its facts come from.
    pub source: String,
    /// The policy, where a case has none of its own.
    #[serde(default)]
    policy: Setting,
    #[serde(default)]
    pods: BTreeMap<String, Record>,
    /// Facts about pairs of them.
    #[serde(default)]
    pub pairs: Vec<Pair>,
    /// Facts about lists of them.
    #[serde(default)]
    pub selections: Vec<Selection>,
}

/// The first of two pods is deleted first, by this rule. Without a rule, they tie.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    first: String,
    second: String,
    /// Overrides the ranks of the two.
    ranks: Option<[u32; 2]>,
    rule: Option<String>,
    policy: Option<Setting>,
}

/// These are the victims of a list of pods.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Selection {
    pods: Vec<String>,
    /// If present, ranks are counted over these pods by node number, without the pods in the list.
    related: Option<Vec<String>>,
    delete: usize,
    victims: Vec<String>,
    /// The victims are a set, because Kubernetes does not sort if it deletes all pods.
    #[serde(default)]
    any_order: bool,
    policy: Option<Setting>,
}

/// A [`Pair`] with its pods and its policy.
#[derive(Debug)]
pub struct PairCase {
    /// The name of the case, for messages.
    pub name: String,
    /// The policy.
    pub policy: Policy,
    /// Is deleted first, or ties.
    pub first: Pod,
    /// Is deleted second, or ties.
    pub second: Pod,
    /// The rule that decides.
    pub rule: Option<Rule>,
}

/// A [`Selection`] with its pods and its policy.
#[derive(Debug)]
pub struct SelectionCase {
    /// The name of the case, for messages.
    pub name: String,
    /// The policy.
    pub policy: Policy,
    /// The pods, ranked.
    pub pods: Vec<Pod>,
    /// The number to delete.
    pub delete: usize,
    /// The victims' names. A name can occur more than once in the list.
    pub victims: Vec<String>,
    names: Vec<String>,
    any_order: bool,
}

impl SelectionCase {
    /// Checks that these indices are the victims.
    pub fn check(&self, selected: &[u32]) {
        let mut selected: Vec<_> = selected.iter().map(|&i| self.names[i as usize].clone()).collect();
        let mut victims = self.victims.clone();
        if self.any_order {
            selected.sort();
            victims.sort();
        }
        assert_eq!(selected, victims, "{}", self.name);
    }
}

/// Returns the text of a file in `tests/vectors/`.
pub fn read(file: &str) -> String {
    let path = format!("{}/../../tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns every place in a value, as a JSON pointer, to try something odd there.
pub fn places(value: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, child)| (name.replace('/', "~1"), child)).collect()
        }
        Value::Array(items) => (0..items.len()).map(|at| at.to_string()).zip(items).collect(),
        _ => vec![],
    };
    let below =
        |(step, child): (String, _)| places(child).into_iter().map(move |place| format!("/{step}{place}"));
    children.into_iter().flat_map(below).chain([String::new()]).collect()
}

/// Returns the groups in `tests/vectors/order.json`.
pub fn groups() -> Vec<Group> {
    serde_json::from_str(&read("order.json")).expect("order.json")
}

/// The answer of kube-controller-manager's comparator on a pair.
#[derive(Debug)]
pub struct RelationCase {
    /// The name of the case, for messages.
    pub name: String,
    /// The policy.
    pub policy: Policy,
    /// The pod that is before the second, or ties with it.
    pub first: Pod,
    /// The pod that is after the first, or ties with it.
    pub second: Pod,
    /// `Before` or `Tie`.
    pub relation: KubernetesOrdering,
}

/// Returns the pairs in `tests/vectors/upstream.json`.
pub fn upstream() -> Vec<RelationCase> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(rename = "about")]
        _about: String,
        #[serde(rename = "kubernetes")]
        _kubernetes: String,
        now: String,
        pods: BTreeMap<String, Record>,
        pairs: Vec<RelationPair>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct RelationPair {
        first: String,
        second: String,
        relation: String,
        policy: Option<Setting>,
    }
    let file: File = serde_json::from_str(&read("upstream.json")).expect("upstream.json");
    let default = Setting { now: Some(file.now), ..Setting::default() };
    let case = |pair: RelationPair| RelationCase {
        policy: pair.policy.as_ref().unwrap_or(&default).policy(),
        first: file.pods[&pair.first].pod(),
        second: file.pods[&pair.second].pod(),
        relation: match pair.relation.as_str() {
            "before" => KubernetesOrdering::Before,
            "tie" => KubernetesOrdering::Tie,
            other => panic!("no relation {other}"),
        },
        name: format!("{} and {}", pair.first, pair.second),
    };
    file.pairs.into_iter().map(case).collect()
}

fn time(text: Option<&String>) -> Time {
    text.map_or(Time::UNSET, |nanos| Time::from_unix_nanos(nanos.parse().expect("nanoseconds")))
}

impl Record {
    /// Returns the record itself.
    pub fn pod(&self) -> Pod {
        Pod {
            uid: self.uid.as_ref().map_or(Uid::default(), |uid| Uid::parse(uid).expect("a UUID")),
            ready_time: time(self.ready_time.as_ref()),
            creation_time: time(self.creation_time.as_ref()),
            tier: self.tier,
            deletion_cost: self.deletion_cost,
            rank: self.rank,
            restarts: self.restarts,
            sidecar_restarts: self.sidecar_restarts,
            node: self.node,
            phase: Phase::from_ordinal(self.phase),
            flags: Flags::NONE
                .with(Flags::ASSIGNED, self.assigned)
                .with(Flags::READY, self.ready)
                .with(Flags::PREFERRED, self.preferred),
            ..Pod::new()
        }
    }
}

impl Setting {
    /// Returns the policy.
    pub fn policy(&self) -> Policy {
        let mut gates = FeatureGates::KUBERNETES;
        for (gate, &on) in &self.feature_gates {
            match gate.as_str() {
                "PodDeletionCost" => gates.pod_deletion_cost = on,
                "LogarithmicScaleDown" => gates.logarithmic_scale_down = on,
                "PreferForScaleDown" => gates.prefer_for_scale_down = on,
                _ => panic!("unknown gate {gate}"),
            }
        }
        Policy::at(time(self.now.as_ref())).with_gates(gates)
    }
}

impl Group {
    fn pod(&self, name: &str) -> Pod {
        self.pods.get(name).unwrap_or_else(|| panic!("{}: no pod {name}", self.name)).pod()
    }

    /// Returns the pairs with their pods and policies.
    pub fn pair_cases(&self) -> impl Iterator<Item = PairCase> {
        self.pairs.iter().map(|pair| {
            let (mut first, mut second) = (self.pod(&pair.first), self.pod(&pair.second));
            if let Some(ranks) = pair.ranks {
                [first.rank, second.rank] = ranks;
            }
            let rule = |name: &String| {
                let rule = Rule::ALL.iter().find(|rule| rule.name() == name);
                *rule.unwrap_or_else(|| panic!("no rule {name}"))
            };
            PairCase {
                name: format!("{}: {} and {} {:?}", self.name, pair.first, pair.second, pair.ranks),
                policy: pair.policy.as_ref().unwrap_or(&self.policy).policy(),
                first,
                second,
                rule: pair.rule.as_ref().map(rule),
            }
        })
    }

    /// Returns the selections with their pods and policies.
    pub fn selection_cases(&self) -> impl Iterator<Item = SelectionCase> {
        self.selections.iter().map(|selection| {
            let mut pods: Vec<Pod> = selection.pods.iter().map(|name| self.pod(name)).collect();
            if let Some(related) = &selection.related {
                let mut counts = podrank::NodeCounts::new([0; 16]);
                for name in related {
                    counts.add(&self.pod(name)).unwrap();
                }
                for pod in &mut pods {
                    pod.rank = counts.rank(pod).unwrap();
                }
            }
            SelectionCase {
                name: format!("{}: {} of {:?}", self.name, selection.delete, selection.pods),
                policy: selection.policy.as_ref().unwrap_or(&self.policy).policy(),
                pods,
                delete: selection.delete,
                victims: selection.victims.clone(),
                names: selection.pods.clone(),
                any_order: selection.any_order,
            }
        })
    }
}

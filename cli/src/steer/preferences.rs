//! Turns the preferences on the command line into names of pods and nodes in the cluster. kubectl evaluates the selectors.

use super::Failure;
use super::cluster::Cluster;
use crate::args::prefer_nodes::NodePreference;
use crate::args::steer::{GivenPreference, Preferences};
use crate::complain;
use crate::files::{STDIN, shown};
use crate::kubectl::Reason;
use jiff::Timestamp;
use podrank_predict::Error;
use podrank_predict::plan::{self, Metric, Preference, Selected, TopologyLevel, Values};
use serde::Deserialize;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// Asks the cluster which pods and nodes the preferences mean.
pub(super) fn resolve(
    cluster: &Cluster<'_>,
    preferences: &Preferences,
    values: &ReadOnce,
) -> Result<Vec<Preference>, Failure> {
    let given = &preferences.given;
    let nodes = Nodes { cluster, all: OnceCell::new(), given };
    let resolved = given.iter().filter_map(|preference| resolve_one(&nodes, preference, values).transpose());
    let mut resolved = resolved.collect::<Result<Vec<_>, _>>()?;
    for preference in &mut resolved {
        if let Preference::Values(values) = preference {
            values.only_idle = preferences.only_idle;
        }
    }
    Ok(resolved)
}

/// The values of pods, which are read once: standard input cannot be read again, and what is confirmed rests on them.
#[derive(Default)]
pub(super) struct ReadOnce(OnceCell<Values>);

impl ReadOnce {
    fn or(&self, read: impl FnOnce() -> Result<Values, Failure>) -> Result<Values, Failure> {
        if self.0.get().is_none() {
            let _ = self.0.set(read()?);
        }
        Ok(self.0.get().cloned().unwrap_or_default())
    }
}

/// Asks a metrics API, and says how old its values are.
fn measured(cluster: &Cluster<'_>, measure: &Metric) -> Result<Values, Failure> {
    // Older adapters serve only an older version.
    let mut paths = measure.paths(cluster.namespace()).into_iter();
    let answer = loop {
        let path = paths.next().unwrap_or_default();
        match cluster.kubectl.call(&["get", "--raw", &path], "")?.result() {
            Ok(answer) => break answer,
            Err(error) if paths.len() > 0 && error.reason == Reason::NotFound => {}
            Err(error) => {
                let what = format!("cannot read the values for --lowest {measure}");
                return Err(Error::new(what).because(error.to_string()).into());
            }
        }
    };
    let now = Timestamp::now();
    let values = measure.read(&answer, cluster.namespace(), now)?;
    if let Some(age) = values.age(now) {
        complain(&format!("note: the oldest value of {measure} is from {age} ago"));
    }
    Ok(values)
}

/// Returns what a preference means. `None` for one that was not given and cannot be known.
fn resolve_one(
    nodes: &Nodes<'_>,
    preference: &GivenPreference,
    values: &ReadOnce,
) -> Result<Option<Preference>, Failure> {
    Ok(Some(match preference {
        GivenPreference::Nodes(NodePreference::Labels(selector)) => {
            Preference::Nodes(preferred_nodes(nodes, selector)?)
        }
        GivenPreference::Nodes(nodes_of) => Preference::Nodes(matching_nodes(nodes, nodes_of)?),
        GivenPreference::Pods(selector) => Preference::Pods(selected(nodes.cluster, "pods", selector)?),
        GivenPreference::Values(file) => {
            Preference::Values(values.or(|| Ok(Values::given(read_values(file)?)))?)
        }
        GivenPreference::Lowest(measure) => {
            Preference::Values(values.or(|| measured(nodes.cluster, measure))?)
        }
        GivenPreference::NotAvailable => Preference::NotAvailable,
        GivenPreference::EmptyNodes { is_given } => match of_everybody(nodes) {
            Ok(everybody) => Preference::EmptyNodes(everybody),
            Err(error) if *is_given => {
                return Err(Error::new("--empty-nodes needs the right to list pods in all namespaces")
                    .because(error.to_string())
                    .into());
            }
            Err(_) => {
                complain(
                    "note: nodes are not emptied as a whole, since the pods of all namespaces cannot be read",
                );
                return Ok(None);
            }
        },
        GivenPreference::Spread(keys) => Preference::Spread(domains(nodes, keys)?),
    }))
}

/// What a label selector selects.
fn selected(cluster: &Cluster<'_>, resource: &str, selector: &str) -> Result<Selected, Failure> {
    let flag = format!("--selector={selector}");
    let text = cluster.call(&["get", resource, &flag, "--output=name"], "")?;
    let names = text.lines().filter_map(|line| line.split_once('/')).map(|(_, name)| name.to_owned());
    Ok(Selected { selector: selector.to_owned(), names: names.collect() })
}

/// The nodes that a label selector selects, or the node with this name. If there are none, reads all to say why.
fn preferred_nodes(nodes: &Nodes<'_>, selector: &str) -> Result<Selected, Failure> {
    let mut found = selected(nodes.cluster, "nodes", selector)?;
    if found.names.is_empty() {
        let nodes = nodes.read()?;
        if nodes.iter().any(|node| node.metadata.name == selector) {
            found.names.insert(selector.to_owned());
            return Ok(found);
        }
        return Err(plan::no_node(selector, &labels(nodes)).into());
    }
    Ok(found)
}

/// The nodes that are tainted or in a condition as the preference says. If there are none, says what there is.
fn matching_nodes(nodes: &Nodes<'_>, preference: &NodePreference) -> Result<Selected, Failure> {
    let all = nodes.read()?;
    let names: HashSet<_> =
        all.iter().filter(|node| node.is(preference)).map(|node| node.metadata.name.clone()).collect();
    if !names.is_empty() {
        return Ok(Selected { selector: preference.to_string(), names });
    }
    let error = Error::new(format!("no node matches --prefer-nodes {preference}"));
    Err(there_are(all, preference).into_iter().fold(error, Error::because).into())
}

/// The taints, or the statuses of the condition, that there are instead.
fn there_are(all: &[Node], preference: &NodePreference) -> Option<String> {
    let (what, there): (_, BTreeSet<_>) = match preference {
        NodePreference::Condition { kind, .. } => {
            let conditions = all.iter().flat_map(|node| &node.status.conditions);
            let statuses = conditions.filter(|it| it.r#type == *kind).map(|it| it.status.clone());
            (format!("The statuses of {kind} are"), statuses.collect())
        }
        NodePreference::Taint { .. } => {
            let taints = all.iter().flat_map(|node| &node.spec.taints).map(ToString::to_string);
            ("The taints of the nodes are".to_owned(), taints.collect())
        }
        NodePreference::Labels(_) => return None,
    };
    let there: Vec<_> = there.into_iter().collect();
    (!there.is_empty()).then(|| format!("{what} {}.", there.join(", ")))
}

fn read_values(file: &Path) -> Result<HashMap<String, f64>, Failure> {
    let text =
        if file == Path::new(STDIN) { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) };
    let values = text.map_err(|error| error.to_string()).and_then(|text| values(&text));
    Ok(values.map_err(|error| format!("{}: {error}", shown(file)))?)
}

/// The values in lines of a pod's name and a number. Empty lines and those that start with `#` are skipped.
fn values(text: &str) -> Result<HashMap<String, f64>, String> {
    let mut values = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<_> = line.split_whitespace().collect();
        let [pod, value] = match &*words {
            [] => continue,
            [first, ..] if first.starts_with('#') => continue,
            [pod, value] => [*pod, *value],
            _ => return Err(format!("line {number}: expected a pod and a number")),
        };
        let pod = super::bare(pod);
        let value: f64 = value.parse().map_err(|_| format!("line {number}: `{value}` is not a number"))?;
        if value.is_nan() {
            return Err(format!("line {number}: NaN cannot be compared with other values"));
        }
        // 0 and -0 are one value.
        if values.insert(pod.to_owned(), value + 0.0).is_some() {
            return Err(format!("line {number}: {pod} already has a value"));
        }
    }
    Ok(values)
}

#[derive(Deserialize)]
struct List<T> {
    items: Vec<T>,
}

#[derive(Deserialize)]
struct Node {
    metadata: NodeMetadata,
    #[serde(default)]
    spec: NodeSpec,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Default, Deserialize)]
struct NodeSpec {
    #[serde(default)]
    unschedulable: bool,
    #[serde(default)]
    taints: Vec<Taint>,
}

#[derive(Deserialize)]
struct Taint {
    key: String,
    #[serde(default)]
    value: String,
    effect: String,
}

#[derive(Default, Deserialize)]
struct NodeStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: String,
    status: String,
}

impl fmt::Display for Taint {
    /// As kubectl writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, effect } = self;
        let equals = if value.is_empty() { "" } else { "=" };
        write!(f, "{key}{equals}{value}:{effect}")
    }
}

impl Node {
    /// Whether the node is as a preference says that is not about labels.
    fn is(&self, preference: &NodePreference) -> bool {
        match preference {
            NodePreference::Labels(_) => false,
            NodePreference::Taint { key, value, effect } => self.spec.taints.iter().any(|taint| {
                taint.key == *key
                    && value.as_ref().is_none_or(|value| *value == taint.value)
                    && effect.as_ref().is_none_or(|effect| *effect == taint.effect)
            }),
            NodePreference::Condition { kind, status } => {
                self.status.conditions.iter().any(|it| it.r#type == *kind && it.status == *status)
            }
        }
    }
}

#[derive(Deserialize)]
struct NodeMetadata {
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// The nodes of the cluster, which are read once, if a preference needs them.
struct Nodes<'c> {
    cluster: &'c Cluster<'c>,
    all: OnceCell<Vec<Node>>,
    /// The preferences, whose taints say which nodes are about to be removed.
    given: &'c [GivenPreference],
}

impl Nodes<'_> {
    fn read(&self) -> Result<&[Node], Failure> {
        if self.all.get().is_none() {
            let text = self.cluster.call(&["get", "nodes", "--output=json"], "")?;
            let _ = self.all.set(serde_json::from_str::<List<Node>>(&text)?.items);
        }
        Ok(self.all.get().map_or(&[], |all| all))
    }
}

fn labels(nodes: &[Node]) -> Vec<&BTreeMap<String, String>> {
    nodes.iter().map(|node| &node.metadata.labels).collect()
}

/// The domain of each node, for each key.
fn domains(nodes: &Nodes<'_>, keys: &[String]) -> Result<Vec<TopologyLevel>, Failure> {
    let nodes = nodes.read()?;
    let levels = keys.iter().map(|key| {
        let metadata = nodes.iter().map(|node| &node.metadata);
        let labelled = metadata.filter_map(|node| Some((node.name.clone(), node.labels.get(key)?.clone())));
        let level = TopologyLevel { key: key.clone(), domains: labelled.collect() };
        if level.domains.is_empty() { Err(plan::no_domain(key, &labels(nodes)).into()) } else { Ok(level) }
    });
    levels.collect()
}

/// The pods of the cluster on their nodes.
pub(super) fn everybody(cluster: &Cluster<'_>) -> Result<plan::Cluster, Failure> {
    of_everybody(&Nodes { cluster, all: OnceCell::new(), given: &[] })
}

fn of_everybody(nodes: &Nodes<'_>) -> Result<plan::Cluster, Failure> {
    let pods = nodes.cluster.kubectl.get(&["pods", "--all-namespaces"])?;
    let is_tainted = |node: &Node| {
        let mut taints = nodes.given.iter().filter_map(|given| match given {
            GivenPreference::Nodes(taint @ NodePreference::Taint { .. }) => Some(taint),
            _ => None,
        });
        taints.any(|taint| node.is(taint))
    };
    let leaving = nodes.read()?.iter().filter(|node| node.spec.unschedulable || is_tainted(node));
    Ok(plan::Cluster::of(&pods, leaving.map(|node| node.metadata.name.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_read_once() {
        let read = ReadOnce::default();
        let given = || Values::given(HashMap::from([("web-a".to_owned(), 1.0)]));
        assert_eq!(read.or(|| Ok(given())).expect("values"), given());
        assert_eq!(read.or(|| Err("standard input has ended".into())).expect("the same"), given());
    }

    #[test]
    fn nodes_that_are_about_to_be_removed() {
        let node = |name: &str, spec: serde_json::Value, ready: &str| {
            json!({ "metadata": { "name": name }, "spec": spec,
                    "status": { "conditions": [{ "type": "Other", "status": "True" }, { "type": "Ready", "status": ready }] } })
        };
        let taints = json!([{ "key": "other", "effect": "NoExecute" }, { "key": "going", "value": "soon", "effect": "NoSchedule" }]);
        let list = json!({ "items": [
            node("a", json!({ "taints": taints }), "True"),
            node("b", json!({ "unschedulable": true }), "Unknown"),
            json!({ "metadata": { "name": "c" } }),
        ] });
        let nodes = serde_json::from_value::<List<Node>>(list).expect("nodes").items;
        for (preference, names) in [
            ("taint:going", "a"),
            ("taint:going=soon:NoSchedule", "a"),
            ("taint:other=", "a"),
            ("taint:going=", ""),
            ("taint:going:NoExecute", ""),
            ("taint:soon", ""),
            ("condition:Ready=Unknown", "b"),
            ("condition:Ready=False", ""),
            ("condition:Other=True", "ab"),
        ] {
            let preference: NodePreference = preference.parse().expect(preference);
            let found: String =
                nodes.iter().filter(|node| node.is(&preference)).map(|node| &*node.metadata.name).collect();
            assert_eq!(found, names, "{preference}");
        }
        for (preference, said) in [
            ("taint:soon", Some("The taints of the nodes are going=soon:NoSchedule, other:NoExecute.")),
            ("condition:Ready=False", Some("The statuses of Ready are True, Unknown.")),
            ("condition:Reday=False", None),
        ] {
            assert_eq!(there_are(&nodes, &preference.parse().expect(preference)).as_deref(), said);
        }
    }

    #[test]
    fn values_are_lines_of_a_pod_and_a_number() {
        let read = values("# load\n\nweb-a 0.5\npod/web-b\t-3\n web-c   1e3 \n").expect("sound");
        let mut read: Vec<_> = read.into_iter().collect();
        read.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        assert_eq!(
            read,
            [("web-b".to_owned(), -3.0), ("web-a".to_owned(), 0.5), ("web-c".to_owned(), 1000.0)]
        );
        for (text, error) in [
            ("web-a", "line 1: expected a pod and a number"),
            ("\nweb-a 1 2", "line 2: expected a pod and a number"),
            ("web-a x", "line 1: `x` is not a number"),
            ("web-a NaN", "line 1: NaN cannot be compared with other values"),
            ("web-a 1\nweb-a 2", "line 2: web-a already has a value"),
        ] {
            assert_eq!(values(text), Err(error.to_owned()));
        }
    }
}

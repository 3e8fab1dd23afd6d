//! Reads from the cluster what a decision needs, and no more: the workload, all `ReplicaSet`s in its namespace if it is or
//! has a controller, such as a Deployment, the revisions and all nodes if it is a `DaemonSet`, and the pods that the
//! related sets select.

use crate::kubectl::{Answer, Kubectl, Reason};
use podrank_preview::{Input, WorkloadId, WorkloadKind, WorkloadName};
use std::error::Error;
use std::thread;
use std::time::Duration;

/// Where to look for a workload.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// In this namespace, or in the context's namespace if it is `None`.
    Namespace(Option<&'a str>),
    /// In all namespaces.
    All,
}

/// The most further reads of the cluster if its statuses lag behind, and the pause before each.
const RETRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(200);

impl Scope<'_> {
    fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Namespace(Some(namespace)) => vec!["--namespace", namespace],
            Self::Namespace(None) => Vec::new(),
            Self::All => vec!["--all-namespaces"],
        }
    }

    /// Returns the scope as words in a sentence.
    fn place(&self) -> String {
        match self {
            Self::Namespace(Some(namespace)) => format!("in namespace {namespace}"),
            Self::Namespace(None) => "in the context's namespace".to_owned(),
            Self::All => "in any namespace".to_owned(),
        }
    }
}

/// What is read with the managers of its fields (`metadata.managedFields`). They double the length of pods.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Managers {
    Workload,
    Pods,
    Both,
}

impl Managers {
    /// The flag for the workload itself.
    fn of_workload(self) -> Option<&'static str> {
        (self != Self::Pods).then_some(MANAGERS)
    }

    /// The flag for its pods.
    fn of_pods(self) -> Option<&'static str> {
        (self != Self::Workload).then_some(MANAGERS)
    }
}

const MANAGERS: &str = "--show-managed-fields";

/// What was read for a workload.
pub(crate) struct Live {
    pub(crate) input: Input,
    pub(crate) workload: WorkloadId,
    /// Whether the statuses still lag behind after all retries.
    pub(crate) lags: bool,
}

/// Reads the workload with this name, and what a decision about it needs.
pub(crate) fn read(
    kubectl: &Kubectl,
    name: &WorkloadName,
    scope: Scope<'_>,
    managers: Managers,
) -> Result<Live, Box<dyn Error>> {
    let mut live = read_once(kubectl, name, scope, managers)?;
    for _ in 0..RETRIES {
        if !live.lags {
            break;
        }
        thread::sleep(PAUSE);
        live = read_once(kubectl, name, scope, managers)?;
    }
    Ok(live)
}

/// Reads it once, even if its statuses lag behind.
pub(crate) fn read_once(
    kubectl: &Kubectl,
    name: &WorkloadName,
    scope: Scope<'_>,
    managers: Managers,
) -> Result<Live, Box<dyn Error>> {
    let mut input = find(kubectl, name, scope, managers)?;
    let Some(workload) = input.workload(name)? else {
        return Err(unknown(kubectl, name, scope).into());
    };
    let namespace = ["--namespace", &workload.namespace];
    if input.has_siblings(&workload) {
        input.add_part(kubectl.get(&[&["replicasets.apps"][..], &namespace].concat())?);
    }
    let selector = input.pod_selector(&workload)?;
    let selector = selector.iter().flat_map(|selector| ["--selector", selector]);
    if input.has_nodes(&workload) {
        let revisions: Vec<_> =
            ["controllerrevisions.apps"].into_iter().chain(selector.clone()).chain(namespace).collect();
        input.add_part(kubectl.get(&revisions)?);
        input.add_part(kubectl.get(&["nodes"])?);
    }
    let words: Vec<_> =
        ["pods"].into_iter().chain(selector).chain(namespace).chain(managers.of_pods()).collect();
    input.add_part(kubectl.get(&words)?);
    let lags = input.lags(&workload)?;
    Ok(Live { input, workload, lags })
}

/// Adds the nodes, whose zones the page shows. Whoever may not read them sees no zones.
pub(crate) fn add_zones(kubectl: &Kubectl, input: &mut Input) {
    if let Some(nodes) = kubectl.get_if_allowed(&["nodes"]) {
        input.add_part(nodes);
    }
}

/// Returns the workload with this name.
fn find(
    kubectl: &Kubectl,
    name: &WorkloadName,
    scope: Scope<'_>,
    managers: Managers,
) -> Result<Input, Box<dyn Error>> {
    let resources = resources(name.kind);
    let by_name = &*format!("metadata.name={}", name.name);
    let words = match (scope, name.kind) {
        (Scope::Namespace(_), Some(_)) => [&*name.name, "--ignore-not-found"],
        // Only in this way does kubectl filter a list by name.
        _ => ["--field-selector", by_name],
    };
    let managers: Vec<_> = managers.of_workload().into_iter().collect();
    kubectl.get(&[&[&*resources], &words[..], &*scope.arguments(), &*managers].concat())
}

/// The types that may have the name.
fn resources(kind: Option<WorkloadKind>) -> String {
    kind.map_or_else(|| WorkloadKind::ALL.map(WorkloadKind::resource).join(","), WorkloadKind::resource)
}

fn unknown(kubectl: &Kubectl, name: &WorkloadName, scope: Scope<'_>) -> String {
    let what = name.kind.map_or_else(
        || "Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet or Job".to_owned(),
        |kind| kind.to_string(),
    );
    let missing = format!("no {what} is named {} {}", name.name, scope.place());
    let known = kubectl.names(&[&[&*resources(name.kind)], &*scope.arguments()].concat());
    match name.nearest(&known) {
        Some(nearest) => format!("{missing}; did you mean {nearest}?"),
        None if known.is_empty() && !matches!(scope, Scope::All) => match scope {
            Scope::Namespace(Some(namespace)) if is_missing(kubectl, namespace) => {
                format!("there is no namespace {namespace}")
            }
            _ => format!("{missing}; name another with --namespace"),
        },
        None => missing,
    }
}

/// Whether the API server says that there is no such namespace.
fn is_missing(kubectl: &Kubectl, namespace: &str) -> bool {
    let answer = kubectl.call(&["get", "namespace", namespace, "--output=name"], "");
    answer.and_then(Answer::result).is_err_and(|error| error.reason == Reason::NotFound)
}

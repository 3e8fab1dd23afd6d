//! What a decision needs of the cluster, and no more: the workload, all ReplicaSets of its namespace if it has to do with a
//! Deployment or another controller, and the pods that the related sets select.

use crate::kubectl::Kubectl;
use podrank_preview::{Input, WorkloadId, WorkloadKind, WorkloadName};
use std::error::Error;
use std::thread;
use std::time::Duration;

/// Where to look for a workload.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// In this namespace; in that of the context if it is not named.
    Namespace(Option<&'a str>),
    /// In all namespaces.
    All,
}

/// How often the cluster is read again if its statuses lag behind, and after how long.
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

    /// The scope for a sentence.
    fn place(&self) -> String {
        match self {
            Self::Namespace(Some(namespace)) => format!("in namespace {namespace}"),
            Self::Namespace(None) => "in the context's namespace".to_owned(),
            Self::All => "in any namespace".to_owned(),
        }
    }
}

/// The workload of this name, and what a decision about it needs.
pub(crate) fn read(
    kubectl: &Kubectl,
    name: &WorkloadName,
    scope: Scope<'_>,
) -> Result<(Input, WorkloadId), Box<dyn Error>> {
    let mut tries = 0;
    loop {
        let (input, workload) = read_once(kubectl, name, scope)?;
        if tries == RETRIES || !input.lags(&workload) {
            return Ok((input, workload));
        }
        tries += 1;
        thread::sleep(PAUSE);
    }
}

fn read_once(
    kubectl: &Kubectl,
    name: &WorkloadName,
    scope: Scope<'_>,
) -> Result<(Input, WorkloadId), Box<dyn Error>> {
    let mut input = find(kubectl, name, scope)?;
    let Some(workload) = input.workload(name)? else {
        return Err(unknown(kubectl, name, scope).into());
    };
    let namespace = ["--namespace", &workload.namespace];
    if input.has_siblings(&workload) {
        let sets = kubectl.get(&[&["replicasets.apps"][..], &namespace].concat())?;
        input.append(sets);
    }
    let selector = input.pod_selector(&workload)?;
    let selector = selector.iter().flat_map(|selector| ["--selector", selector]);
    let words: Vec<_> = ["pods"].into_iter().chain(selector).chain(namespace).collect();
    input.append(kubectl.get(&words)?);
    Ok((input, workload))
}

/// What has this name.
fn find(kubectl: &Kubectl, name: &WorkloadName, scope: Scope<'_>) -> Result<Input, Box<dyn Error>> {
    let resources = resources(name.kind);
    match (scope, name.kind) {
        (Scope::Namespace(_), Some(_)) => {
            kubectl.get(&[&[&*resources, &name.name, "--ignore-not-found"], &*scope.arguments()].concat())
        }
        // kubectl gets a list by name only so.
        _ => {
            let by_name = format!("metadata.name={}", name.name);
            kubectl.get(&[&[&*resources, "--field-selector", &by_name], &*scope.arguments()].concat())
        }
    }
}

/// The types that may have the name.
fn resources(kind: Option<WorkloadKind>) -> String {
    kind.map_or_else(|| WorkloadKind::ALL.map(WorkloadKind::resource).join(","), WorkloadKind::resource)
}

fn unknown(kubectl: &Kubectl, name: &WorkloadName, scope: Scope<'_>) -> String {
    let what = name.kind.map_or_else(
        || "Deployment, ReplicaSet or ReplicationController".to_owned(),
        |kind| kind.to_string(),
    );
    let missing = format!("no {what} is named {} {}", name.name, scope.place());
    let known = kubectl.names(&[&[&*resources(name.kind)], &*scope.arguments()].concat());
    match name.nearest(&known) {
        Some(nearest) => format!("{missing}; did you mean {nearest}?"),
        None if known.is_empty() && !matches!(scope, Scope::All) => {
            format!("{missing}; name another with --namespace")
        }
        None => missing,
    }
}

//! Which workload to preview, by what the user named and what the input has.

use crate::deployment::DeploymentEntry;
use crate::direct::DirectEntry;
use crate::error::{Error, Remedy};
use crate::input::Input;
use crate::needs::WorkloadId;
use crate::options::Options;
use crate::set::{SetId, SetKind, Sets};
use crate::text;
use crate::workload::{WorkloadKind, WorkloadName};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// What messages call the kinds of sets.
const SETS: &str = "ReplicaSet or ReplicationController";

/// A set as a user names it: `NAME`, `rs/NAME` or `rc/NAME`, or as `kubectl get -o name` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetName {
    /// The kind, if the user named one.
    pub kind: Option<SetKind>,
    /// `metadata.name`.
    pub name: String,
}

impl FromStr for SetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = match text.split_once('/') {
            None => (None, text),
            Some((kind, name)) => (Some(set_kind(kind)?), name),
        };
        if name.is_empty() {
            return Err("the name is empty: use NAME, rs/NAME or rc/NAME".to_owned());
        }
        Ok(Self { kind, name: name.to_owned() })
    }
}

fn set_kind(text: &str) -> Result<SetKind, String> {
    match text.to_ascii_lowercase().as_str() {
        "rs" | "replicaset" | "replicasets" | "replicaset.apps" | "replicasets.apps" => {
            Ok(SetKind::ReplicaSet)
        }
        "rc" | "replicationcontroller" | "replicationcontrollers" => Ok(SetKind::ReplicationController),
        _ => Err(format!("unsupported kind `{}`: use rs/NAME or rc/NAME", text::word(text))),
    }
}

/// What to preview.
#[derive(Clone, Copy)]
pub(crate) enum Choice<'a> {
    Deployment(&'a DeploymentEntry),
    Set(SetId<'a>),
    Direct(&'a DirectEntry),
}

impl Choice<'_> {
    pub(crate) fn id(self) -> WorkloadId {
        let (namespace, kind, name) = match self {
            Self::Deployment(entry) => (&*entry.namespace, WorkloadKind::Deployment, &*entry.name),
            Self::Set(id) => (id.namespace, WorkloadKind::Set(id.kind), id.name),
            Self::Direct(entry) => (&*entry.namespace, WorkloadKind::Direct(entry.kind), &*entry.name),
        };
        WorkloadId { namespace: namespace.to_owned(), kind, name: name.to_owned() }
    }
}

impl fmt::Display for Choice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deployment(entry) => entry.fmt(f),
            Self::Set(id) => id.fmt(f),
            Self::Direct(entry) => entry.fmt(f),
        }
    }
}

/// Returns the workload that the user named, or else the only one with pods, or else the only one. A set that a Deployment in
/// the input controls is part of that Deployment.
pub(crate) fn choose_workload<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    options: &Options,
) -> Result<Choice<'a>, Error> {
    let namespace = options.namespace.as_deref();
    let is_here = |entry: &&DeploymentEntry| namespace.is_none_or(|wanted| entry.namespace == wanted);
    // If a Deployment is listed twice, the first entry counts.
    let mut deployments = BTreeMap::new();
    for entry in input.deployments.iter().filter(is_here) {
        deployments.entry((entry.namespace.as_str(), entry.name.as_str())).or_insert(entry);
    }
    let deployments: Vec<_> = deployments.into_values().collect();
    let mut direct = BTreeMap::new();
    for entry in input.direct.iter().filter(|entry| namespace.is_none_or(|wanted| entry.namespace == wanted))
    {
        direct.entry((entry.namespace.as_str(), entry.kind, entry.name.as_str())).or_insert(entry);
    }
    let direct: Vec<_> = direct.into_values().collect();
    if options.set.is_none() {
        is_in_namespace(input, sets, options)?;
    }
    let sets_here: Vec<_> =
        sets.ids().filter(|id| namespace.is_none_or(|wanted| id.namespace == wanted)).collect();
    let set = |name: Option<&SetName>| choose(input, sets, name, namespace).map(Choice::Set);
    match (&options.set, &options.workload) {
        (Some(name), _) => set(Some(name)),
        (None, Some(name)) => named(name, &deployments, &direct, &sets_here, set),
        (None, None) => {
            let with_pods = with_pods(input, sets, &deployments, &direct, namespace);
            let (known, several) = if with_pods.is_empty() {
                let others = deployments.iter().copied().map(Choice::Deployment);
                let others = others.chain(direct.iter().copied().map(Choice::Direct));
                let idle = workloads(sets, &deployments, sets_here.into_iter(), others);
                (idle, "the input has several workloads, none with pods")
            } else {
                (with_pods, "the input has pods of several workloads")
            };
            let is_set = |choice: &Choice<'_>| matches!(choice, Choice::Set(_));
            match only(&known, several) {
                Some(choice) if !known.iter().all(is_set) => choice,
                _ => set(None),
            }
        }
    }
}

/// The workloads that are no sets, in any namespace.
fn besides_sets(input: &Input) -> BTreeSet<WorkloadId> {
    let deployments = input.deployments.iter().map(Choice::Deployment);
    deployments.chain(input.direct.iter().map(Choice::Direct)).map(Choice::id).collect()
}

/// Returns an error if the input has no workload that may be meant in the namespace that the user named, but others elsewhere.
/// For sets, [`choose`] says so.
fn is_in_namespace(input: &Input, sets: &Sets<'_>, options: &Options) -> Result<(), Error> {
    let Some(namespace) = &options.namespace else { return Ok(()) };
    let kind = options.workload.as_ref().and_then(|workload| workload.kind);
    let mut known = besides_sets(input);
    known.retain(|id| kind.is_none_or(|kind| id.kind == kind));
    if known.is_empty() {
        return Ok(());
    }
    if kind.is_none() {
        known.extend(sets.ids().map(|id| Choice::Set(id).id()));
    }
    if known.iter().any(|id| id.namespace == *namespace) {
        return Ok(());
    }
    let what = kind.map_or_else(|| "workload".to_owned(), |kind| kind.to_string());
    let known: Vec<_> = known.into_iter().collect();
    Err(elsewhere(&what, namespace, &known))
}

/// The error for a namespace without what the user wants, which is `known` in others.
fn elsewhere(what: &str, namespace: &str, known: &[impl fmt::Display]) -> Error {
    let namespace = if namespace.is_empty() { "\"\"".into() } else { text::name(namespace) };
    Error::new(format!("no {what} in namespace {namespace}; the input has: {}", text::list(known)))
}

/// The Deployment that controls a set.
fn deployment_of<'a>(
    sets: &Sets<'a>,
    deployments: &[&'a DeploymentEntry],
    id: SetId<'_>,
) -> Option<&'a DeploymentEntry> {
    let controller = sets.get(id).and_then(|set| set.controller.as_ref());
    deployments.iter().copied().find(|entry| controller.is_some_and(|owner| owner.uid == entry.uid))
}

/// The workloads that have pods: Deployments in place of their sets.
fn with_pods<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    deployments: &[&'a DeploymentEntry],
    direct: &[&'a DirectEntry],
    namespace: Option<&str>,
) -> Vec<Choice<'a>> {
    let with_pods: BTreeSet<_> = input.pods.iter().filter_map(|pod| sets.owner(pod)).collect();
    let here = with_pods.into_iter().filter(|id| namespace.is_none_or(|wanted| id.namespace == wanted));
    let others = direct.iter().copied().filter(|entry| entry.has_pods(input)).map(Choice::Direct);
    workloads(sets, deployments, here, others)
}

/// The workloads of these sets and the others, each once, by name: Deployments in place of their sets.
fn workloads<'a>(
    sets: &Sets<'a>,
    deployments: &[&'a DeploymentEntry],
    ids: impl Iterator<Item = SetId<'a>>,
    others: impl Iterator<Item = Choice<'a>>,
) -> Vec<Choice<'a>> {
    let of_sets =
        ids.map(|id| deployment_of(sets, deployments, id).map_or(Choice::Set(id), Choice::Deployment));
    let by_name: BTreeMap<_, _> = of_sets.chain(others).map(|choice| (choice.to_string(), choice)).collect();
    by_name.into_values().collect()
}

impl Input {
    /// Returns the workloads that have pods, sorted: Deployments in place of their sets.
    pub fn workloads(&self) -> Vec<WorkloadId> {
        let sets = Sets::of(&self.sets);
        let deployments: Vec<_> = self.deployments.iter().collect();
        let direct: Vec<_> = self.direct.iter().collect();
        let choices = with_pods(self, &sets, &deployments, &direct, None).into_iter();
        let mut workloads: Vec<_> = choices.map(Choice::id).collect();
        workloads.sort();
        workloads
    }
}

/// Returns the workload of this name.
fn named<'a>(
    name: &WorkloadName,
    deployments: &[&'a DeploymentEntry],
    direct: &[&'a DirectEntry],
    sets_here: &[SetId<'a>],
    set: impl Fn(Option<&SetName>) -> Result<Choice<'a>, Error>,
) -> Result<Choice<'a>, Error> {
    let set_name = |kind| SetName { kind, name: name.name.clone() };
    if let Some(WorkloadKind::Set(kind)) = name.kind {
        return set(Some(&set_name(Some(kind))));
    }
    let is_kind = |kind| name.kind.is_none_or(|wanted| wanted == kind);
    let of_name = deployments.iter().copied().filter(|entry| entry.name == name.name);
    let mut found: Vec<_> =
        of_name.filter(|_| is_kind(WorkloadKind::Deployment)).map(Choice::Deployment).collect();
    let of_name = direct.iter().copied().filter(|entry| entry.name == name.name);
    found.extend(of_name.filter(|entry| is_kind(WorkloadKind::Direct(entry.kind))).map(Choice::Direct));
    if name.kind.is_none() {
        found.extend(sets_here.iter().filter(|id| id.name == name.name).copied().map(Choice::Set));
    }
    match &*found {
        [choice] => Ok(*choice),
        [] if name.kind.is_none() && deployments.is_empty() && direct.is_empty() => {
            set(Some(&set_name(None)))
        }
        [] => Err(if name.kind.is_none() {
            let mut known: Vec<_> = deployments.iter().copied().map(Choice::Deployment).collect();
            known.extend(sets_here.iter().copied().map(Choice::Set));
            known.extend(direct.iter().copied().map(Choice::Direct));
            let ids: Vec<_> = known.iter().map(|choice| choice.id()).collect();
            let names: Vec<_> = ids.iter().map(|id| id.name.as_str()).collect();
            unknown_workload(name, "workload", &names, &text::list(&known), "")
        } else if let Some(WorkloadKind::Direct(of)) = name.kind {
            let known: Vec<_> = direct.iter().filter(|entry| entry.kind == of).collect();
            let names: Vec<_> = known.iter().map(|entry| entry.name.as_str()).collect();
            unknown_workload(name, &of.to_string(), &names, &text::list(&known), of.types())
        } else {
            let names: Vec<_> = deployments.iter().map(|entry| entry.name.as_str()).collect();
            let list = text::list(deployments);
            let resources = "pods,replicasets,deployments";
            unknown_workload(name, "Deployment", &names, &list, resources)
        }),
        _ => Err(Error::with_remedy(
            format!("several workloads are named {}: {}", text::name(&name.name), text::list(&found)),
            Remedy::NameTheSet,
        )),
    }
}

fn unknown_workload(wanted: &WorkloadName, kind: &str, names: &[&str], list: &str, resources: &str) -> Error {
    let names: Vec<_> =
        names.iter().map(|name| WorkloadName { kind: wanted.kind, name: (*name).to_owned() }).collect();
    let hint = match wanted.nearest(&names) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if names.is_empty() => {
            format!("the input has none; get it with kubectl get {resources} -o json")
        }
        None => format!("the input has: {list}"),
    };
    Error::new(format!("no {kind} is named {}; {hint}", text::name(&wanted.name)))
}

/// Returns the set that the user named, or else the only one with pods, or else the only one.
pub(crate) fn choose<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    wanted: Option<&SetName>,
    namespace: Option<&str>,
) -> Result<SetId<'a>, Error> {
    let with_pods: BTreeSet<_> = input.pods.iter().filter_map(|pod| sets.owner(pod)).collect();
    let all: BTreeSet<_> = sets.ids().chain(with_pods.iter().copied()).collect();
    let others: Vec<_> = besides_sets(input).into_iter().collect();
    if all.is_empty() && !others.is_empty() {
        return Err(Error::new(format!("no {SETS} is in the input, which has: {}", text::list(&others))));
    }
    if all.is_empty() {
        return Err(Error::new(format!(
            "none of the {} belongs to a ReplicaSet or ReplicationController, and no other workload is in the input",
            text::count(input.pods.len() as u64, "pod")
        )));
    }
    let narrow = |ids: &BTreeSet<SetId<'a>>| -> Vec<_> {
        ids.iter().copied().filter(|id| namespace.is_none_or(|wanted| id.namespace == wanted)).collect()
    };
    let here = narrow(&all);
    if let (true, Some(namespace)) = (here.is_empty(), namespace) {
        let all: Vec<_> = all.into_iter().collect();
        return Err(elsewhere(SETS, namespace, &all));
    }
    if let Some(wanted) = wanted {
        let is_wanted =
            |id: &SetId<'_>| id.name == wanted.name && wanted.kind.is_none_or(|kind| id.kind == kind);
        let found: Vec<_> = here.iter().copied().filter(is_wanted).collect();
        return only(&found, "several sets have this name")
            .unwrap_or_else(|| Err(unknown(wanted, &here, sets)));
    }
    // There are sets here, so one of the two has an answer.
    only(&narrow(&with_pods), "the input has pods of several sets")
        .or_else(|| only(&here, "the input has several sets, none with pods"))
        .unwrap_or_else(|| Err(Error::new(format!("the input has no {SETS}"))))
}

/// Returns the only one of `items`, or an error that starts with `several`. `None` if there is none.
fn only<T: Copy + fmt::Display>(items: &[T], several: &str) -> Option<Result<T, Error>> {
    match items {
        [] => None,
        [item] => Some(Ok(*item)),
        _ => Some(Err(Error::with_remedy(format!("{several}: {}", text::list(items)), Remedy::NameTheSet))),
    }
}

fn unknown(wanted: &SetName, known: &[SetId<'_>], sets: &Sets<'_>) -> Error {
    // Less similar names have little in common: clap uses this limit for its own suggestions.
    const ALIKE: f64 = 0.7;
    let is_its = |id: &&SetId<'_>| {
        let controller = sets.get(**id).and_then(|set| set.controller.as_ref());
        controller.is_some_and(|owner| owner.kind == "Deployment" && owner.name == wanted.name)
    };
    let its: Vec<_> = known.iter().filter(is_its).copied().collect();
    if !its.is_empty() {
        return Error::new(format!(
            "{} is a Deployment; name one of its ReplicaSets: {}",
            text::name(&wanted.name),
            text::list(&its)
        ));
    }
    let kind = wanted.kind.map_or_else(|| SETS.to_owned(), |kind| kind.to_string());
    let likeness = |id: &SetId<'_>| strsim::jaro_winkler(&wanted.name, id.name);
    let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = match nearest.filter(|id| likeness(id) > ALIKE) {
        Some(nearest) => {
            let is_elsewhere = |id: &SetId<'_>| id.namespace != nearest.namespace;
            let place = if known.iter().any(is_elsewhere) {
                format!(" in namespace {}", text::name(nearest.namespace))
            } else {
                String::new()
            };
            let short = WorkloadKind::Set(nearest.kind).short();
            format!("did you mean {short}/{}{place}?", text::name(nearest.name))
        }
        None => format!("the input has: {}", text::list(known)),
    };
    Error::new(format!("no {kind} is named {}; {hint}", text::name(&wanted.name)))
}

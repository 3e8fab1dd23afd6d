//! Reads from the cluster what a decision needs, and no more: the workload, all `ReplicaSet`s in its namespace if it is or
//! has a controller, such as a Deployment, the revisions and all nodes if its kind reads them, and the pods that the
//! related sets select.

use crate::Failure;
use crate::kubectl::{Answer, Kubectl, Reason};
use crate::surroundings;
use podrank_predict::{
    Error, ErrorKind, OwnerName, Release, Snapshot, Subject, WorkloadId, WorkloadKind, WorkloadName, nearest,
    plan,
};
use std::collections::BTreeSet;
use std::fmt::Display;
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

/// From this number of objects of a namespace on, all of them are read with one request, and not each by its name.
pub(crate) const MANY: usize = 4;
/// The most further reads of the cluster if its statuses lag behind, and the pause before each.
pub(crate) const RETRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(200);

impl<'a> Scope<'a> {
    pub(crate) fn arguments(&self) -> Vec<&'a str> {
        match self {
            Self::Namespace(Some(namespace)) => vec!["--namespace", namespace],
            Self::Namespace(None) => Vec::new(),
            Self::All => vec!["--all-namespaces"],
        }
    }

    /// Returns the scope as words in a sentence.
    fn place(&self, kubectl: &Kubectl) -> String {
        match self {
            Self::Namespace(Some(namespace)) => format!("in namespace {namespace}"),
            Self::Namespace(None) => format!("in the context's namespace, {}", kubectl.context_namespace()),
            Self::All => "in any namespace".to_owned(),
        }
    }
}

/// The managers of fields (`metadata.managedFields`), which double the length of pods.
pub(crate) const MANAGERS: &str = "--show-managed-fields";

/// The objects that were read for a workload.
pub(crate) struct Live {
    pub(crate) input: Snapshot,
    pub(crate) workload: WorkloadId,
    /// Whether the statuses still lag behind after all retries.
    pub(crate) lags: bool,
}

/// Reads the workload with this name, and what a decision about it needs: so many times more if its statuses lag behind. If it is a
/// set with a leader, whose count is to change, that is read, too. `of_pods` is whether the managers of the pods' fields are read,
/// besides those of the workload's.
pub(crate) fn read(
    kubectl: &Kubectl,
    name: &WorkloadName,
    leader: Option<&OwnerName>,
    scope: Scope<'_>,
    of_pods: bool,
    retries: u32,
) -> Result<Live, Failure> {
    let mut input = find(kubectl, name, scope)?;
    let Some(workload) = input.workload(name)? else {
        return Err(unknown(kubectl, name, scope).into());
    };
    let namespace = ["--namespace", &workload.namespace];
    if let Some(OwnerName { resource, name }) = leader {
        input.add_part(kubectl.get(&[&[&**resource, name][..], &namespace].concat())?);
    }
    if input.has_siblings(&workload) {
        input.add_part(kubectl.get(&[&["replicasets.apps"][..], &namespace].concat())?);
    }
    let selector = input.pod_selector(&workload);
    let selector = selector.iter().flat_map(|selector| ["--selector", selector]);
    if workload.kind.reads_nodes() {
        let revisions: Vec<_> =
            ["controllerrevisions.apps"].into_iter().chain(selector.clone()).chain(namespace).collect();
        input.add_part(kubectl.get(&revisions)?);
        input.add_part(kubectl.get(&["nodes"])?);
    }
    let shown = of_pods.then_some(MANAGERS);
    let words: Vec<_> = ["pods"].into_iter().chain(selector).chain(namespace).chain(shown).collect();
    let mut pods = kubectl.get(&words)?;
    if WorkloadKind::WITH_COSTS.contains(&workload.kind) && shown.is_none() && pods.has_costs_of_nobody() {
        // Only few pods have costs, which may be what a run of podrank left.
        pods = kubectl.get(&[&*words, &[MANAGERS]].concat())?;
    }
    input.add_part(pods);
    let lags = input.lags(&workload);
    if lags && retries > 0 {
        thread::sleep(PAUSE);
        return read(kubectl, name, leader, scope, of_pods, retries - 1);
    }
    Ok(Live { input, workload, lags })
}

/// Returns the release of the cluster, if it says one.
pub(crate) fn release(kubectl: &Kubectl) -> Option<Release> {
    let answer = kubectl.call(&["get", "--raw", "/version"], "").and_then(Answer::result).ok()?;
    serde_json::from_str::<serde_json::Value>(&answer).ok()?["gitVersion"].as_str()?.parse().ok()
}

/// Selects workloads.
pub(crate) type Wanted = Box<dyn Fn(&WorkloadId) -> bool>;

/// The objects that were read for several workloads.
pub(crate) struct Several {
    pub(crate) input: Snapshot,
    pub(crate) is_selected: Wanted,
    /// Why some types could not be read, a line each.
    pub(crate) refusals: Vec<String>,
}

/// Reads all workloads of a scope with their pods, as far as the user may, and returns which of them the user has
/// selected.
pub(crate) fn read_several(
    kubectl: &Kubectl,
    subjects: &[Subject],
    selector: Option<&str>,
    scope: Scope<'_>,
) -> Result<Several, Failure> {
    let all = format!("{},pods", resources(None));
    let (mut input, refusals) = kubectl.get_readable(&[&[&*all], &*scope.arguments()].concat())?;
    // Without pods, there is nothing to say.
    if let Some(refusal) = refusals.iter().find(|refusal| refusal.contains(" pods is forbidden")) {
        return Err(refusal.clone().into());
    }
    let workloads = input.all_workloads();
    if workloads.is_empty() && !refusals.is_empty() {
        return Err(format!("{} {}", nothing_of(&refusals), scope.place(kubectl)).into());
    }
    if workloads.is_empty() {
        let nothing = || Error::new(format!("there is no workload {}", scope.place(kubectl)));
        return Err(match scope {
            Scope::Namespace(Some(namespace)) if is_missing(kubectl, namespace) => {
                Error::new(format!("there is no namespace {namespace}"))
            }
            Scope::Namespace(_) => nothing().advise("Name another namespace with --namespace."),
            Scope::All => nothing(),
        }
        .into());
    }
    if workloads.iter().any(|workload| workload.kind.reads_nodes()) {
        let revisions = [&["controllerrevisions.apps"][..], &scope.arguments()].concat();
        for words in [&*revisions, &["nodes"]] {
            input.add_part(kubectl.get_if_allowed(words));
        }
    }
    surroundings::add_autoscalers(kubectl, &scope.arguments(), &mut input);
    let wanted = wanted(&workloads, subjects, || scope.place(kubectl))?;
    let Some(selector) = selector else { return Ok(Several { input, is_selected: wanted, refusals }) };
    let resources = resources(None);
    let words = [&[&*resources, "--selector", selector], &*scope.arguments()].concat();
    let (labelled, _) = kubectl.get_readable(&words)?;
    let labelled = labelled.all_workloads();
    if labelled.is_empty() {
        return Err(format!("no workload has the labels {selector} {}", scope.place(kubectl)).into());
    }
    let is_labelled = move |id: &WorkloadId| wanted(id) && labelled.contains(id);
    Ok(Several { input, is_selected: Box::new(is_labelled), refusals })
}

/// The error if there is no workload among the types that the user may read.
fn nothing_of(refusals: &[String]) -> String {
    format!("{}; there is no workload of the other types", refusals.join("; "))
}

/// Tells which of the workloads that there are `subjects` name: all, if there are no subjects. `place` is where they are.
pub(crate) fn wanted(
    there: &[WorkloadId],
    subjects: &[Subject],
    place: impl Fn() -> String,
) -> Result<Wanted, Error> {
    let mut names = Vec::new();
    let mut kinds = Vec::new();
    for subject in subjects {
        match subject {
            Subject::Workload(name) => names.push(name.clone()),
            Subject::All(kind) => kinds.push(*kind),
            other => return Err(Error::new(format!("{other} needs a command of its own"))),
        }
    }
    let is_it = |name: &WorkloadName, id: &WorkloadId| {
        name.name == id.name && name.kind.is_none_or(|kind| kind == id.kind)
    };
    let is_missing = |name: &&WorkloadName| !there.iter().any(|id| is_it(name, id));
    if let Some(missing) = names.iter().find(is_missing) {
        let known: Vec<_> = there.iter().map(named).collect();
        return Err(did_you_mean(
            Error::new(format!("nothing is named {missing} {}", place())),
            missing.nearest(&known),
        ));
    }
    let is_all = subjects.is_empty();
    Ok(Box::new(move |id| is_all || kinds.contains(&id.kind) || names.iter().any(|name| is_it(name, id))))
}

/// Returns the workload of a pod, and its namespace.
pub(crate) fn workload_of_pod(
    kubectl: &Kubectl,
    pod: &str,
    scope: Scope<'_>,
) -> Result<(String, WorkloadName), Failure> {
    let mut input = get_named(kubectl, "pods", pod, scope)?;
    if input.is_empty() {
        let missing = not_found(format!("no pod is named {pod} {}", scope.place(kubectl)));
        let lines = kubectl.lines(&[&["pods"], &*scope.arguments()].concat());
        let hint = nearest(pod, lines.iter().filter_map(|line| line.strip_prefix("pod/")));
        return Err(did_you_mean(missing, hint.map(|hint| format!("pod/{hint}"))).into());
    }
    let (namespace, mut workloads) = input.workloads_of_pod(pod, None)?;
    if let [WorkloadName { kind: Some(WorkloadKind::ReplicaSet), name }] = &*workloads {
        // It may belong to a Deployment.
        let words = ["replicasets.apps", name, "--ignore-not-found", "--namespace", &namespace];
        input.add_part(kubectl.get(&words)?);
        (_, workloads) = input.workloads_of_pod(pod, None)?;
    }
    let name = workloads.pop().ok_or("the pod has no workload")?;
    Ok((namespace, name))
}

/// Adds the sets of pods, with the objects that lead these. `StatefulSet`s are only added if the user may read them,
/// because the answer only mentions how they would delete their pods.
pub(crate) fn add_owners(kubectl: &Kubectl, pods: &mut Snapshot) -> Result<(), Failure> {
    for ((namespace, kind), names) in plan::sets_of_pods(pods) {
        let resource = kind.resource();
        // kubectl sends a request for each name.
        let names = names.iter().map(String::as_str).filter(|_| names.len() < MANY);
        let place = ["--ignore-not-found", "--namespace", &namespace];
        let words: Vec<_> = [&*resource].into_iter().chain(names).chain(place).collect();
        if kind == WorkloadKind::StatefulSet {
            pods.add_part(kubectl.get_if_allowed(&words));
        } else {
            pods.add_part(kubectl.get(&words)?);
        }
    }
    for (namespace, OwnerName { resource, name }) in plan::leaders(pods) {
        let words = [&*resource, &name, "--ignore-not-found", "--namespace", &namespace];
        pods.add_part(kubectl.get_if_allowed(&words));
    }
    Ok(())
}

/// Whether there is a pod of this name.
pub(crate) fn is_pod(kubectl: &Kubectl, name: &str, scope: Scope<'_>) -> bool {
    get_named(kubectl, "pods", name, scope).is_ok_and(|found| !found.is_empty())
}

/// The name of a workload, without its namespace.
pub(crate) fn named(id: &WorkloadId) -> WorkloadName {
    WorkloadName { kind: Some(id.kind), name: id.name.clone() }
}

/// Returns the `ReplicaSet`s that an object of another type uses, and what was read to find them.
pub(crate) fn sets_in_use(
    kubectl: &Kubectl,
    owner: &OwnerName,
    scope: Scope<'_>,
) -> Result<(Snapshot, Vec<WorkloadId>), Failure> {
    let Scope::Namespace(_) = scope else {
        let error = Error::new(format!("--all-namespaces cannot be used with {owner}"));
        return Err(error.advise("Name its namespace with --namespace.").into());
    };
    let found = get_owner(kubectl, owner, "--output=name", &WorkloadKind::ALL, scope)?;
    // The cluster may know the type by a short name.
    let owner = &found.trim().split_once('/').map_or_else(
        || owner.clone(),
        |(resource, name)| OwnerName { resource: resource.to_owned(), name: name.to_owned() },
    );
    let mut input = kubectl.get(&[&["replicasets.apps"], &*scope.arguments()].concat())?;
    input.add_part(kubectl.get(&[&["pods"], &*scope.arguments()].concat())?);
    let sets = input.sets_in_use(owner, None)?;
    Ok((input, sets))
}

/// Returns an object of another type, whose count can be lowered, by its full type, with its namespace and one of its sets.
pub(crate) fn leader(
    kubectl: &Kubectl,
    owner: &OwnerName,
    scope: Scope<'_>,
) -> Result<(String, OwnerName, WorkloadName), Failure> {
    let text = get_owner(kubectl, owner, "--output=json", &WorkloadKind::WITH_COSTS, scope)?;
    let mut input = Snapshot::read_part(text.as_bytes())?.unwrap_or_default();
    let (namespace, leader) = plan::leader(&input, owner)?;
    let place = ["--namespace", &namespace];
    input.add_part(kubectl.get(&[&["replicasets.apps"][..], &place].concat())?);
    let set = if let Some(set) = plan::set_of_leader(&input) {
        set
    } else {
        // It may own pods without a set.
        input.add_part(kubectl.get(&[&["pods"][..], &place].concat())?);
        named(&input.sets_in_use(&leader, None)?.swap_remove(0))
    };
    Ok((namespace, leader, set))
}

/// Returns what kubectl prints of an object of another type. If there is no such type, the error says which of these kinds may
/// have been meant.
fn get_owner(
    kubectl: &Kubectl,
    owner: &OwnerName,
    output: &str,
    kinds: &[WorkloadKind],
    scope: Scope<'_>,
) -> Result<String, Failure> {
    let words = [&["get", &owner.resource, &owner.name, output], &*scope.arguments()].concat();
    kubectl.call(&words, "").and_then(Answer::result).map_err(|error| {
        match WorkloadKind::of_type(&owner.resource, kinds) {
            Err(hint) if error.reason == Reason::UnknownType => hint.into(),
            _ => error.into(),
        }
    })
}

/// Returns the objects of one type with this name, of which a namespace has at most one.
pub(crate) fn get_named(
    kubectl: &Kubectl,
    resource: &str,
    name: &str,
    scope: Scope<'_>,
) -> Result<Snapshot, Failure> {
    let by_name = format!("metadata.name={name}");
    let words = match scope {
        Scope::Namespace(_) => [name, "--ignore-not-found"],
        // Only in this way does kubectl filter a list by name.
        Scope::All => ["--field-selector", &by_name],
    };
    kubectl.get(&[&[resource], &words[..], &*scope.arguments()].concat())
}

/// Returns the workload with this name. If the user may not read some of the types that may have it, it says so.
fn find(kubectl: &Kubectl, name: &WorkloadName, scope: Scope<'_>) -> Result<Snapshot, Failure> {
    let resources = resources(name.kind);
    let by_name = &*format!("metadata.name={}", name.name);
    let words = match (scope, name.kind) {
        (Scope::Namespace(_), Some(_)) => [&*name.name, "--ignore-not-found"],
        // Only in this way does kubectl filter a list by name.
        _ => ["--field-selector", by_name],
    };
    let words = [&[&*resources], &words[..], &*scope.arguments(), &[MANAGERS]].concat();
    if name.kind.is_some() {
        return kubectl.get(&words);
    }
    let (found, refusals) = kubectl.get_readable(&words)?;
    kubectl.tell(&refusals);
    Ok(found)
}

/// The types that may have the name.
fn resources(kind: Option<WorkloadKind>) -> String {
    kind.map_or_else(|| WorkloadKind::ALL.map(WorkloadKind::resource).join(","), WorkloadKind::resource)
}

/// The error for a name that nothing has. A run may meet it, too, to which it does not mean that a plan differs.
fn not_found(what: String) -> Error {
    Error::new(what).of_kind(ErrorKind::Unavailable)
}

fn did_you_mean(error: Error, nearest: Option<impl Display>) -> Error {
    match nearest {
        Some(nearest) => error.advise(format!("Did you mean {nearest}?")),
        None => error,
    }
}

/// The error for a name that no workload has, and what the user may have meant.
fn unknown(kubectl: &Kubectl, name: &WorkloadName, scope: Scope<'_>) -> Error {
    let [others @ .., last] = WorkloadKind::ALL.map(|kind| kind.to_string());
    let any = || format!("{} or {last}", others.join(", "));
    let what = name.kind.map_or_else(any, |kind| kind.to_string());
    let missing = not_found(format!("no {what} is named {} {}", name.name, scope.place(kubectl)));
    let all = format!("{},pods", resources(None));
    let lines = kubectl.lines(&[&[&*all], &*scope.arguments()].concat());
    if lines.iter().any(|line| *line == format!("pod/{}", name.name)) {
        let place = match scope {
            Scope::Namespace(Some(namespace)) => format!(" -n {namespace}"),
            Scope::Namespace(None) => String::new(),
            Scope::All => " -A".to_owned(),
        };
        return missing
            .because("A pod has this name.")
            .advise(format!("Ask about the pod: kubectl podrank pod/{}{place}", name.name));
    }
    if let Scope::Namespace(Some(namespace)) = scope
        && lines.is_empty()
        && is_missing(kubectl, namespace)
    {
        return not_found(format!("there is no namespace {namespace}"));
    }
    let known: Vec<WorkloadName> = lines.iter().filter_map(|line| line.parse().ok()).collect();
    let same: Vec<_> =
        known.iter().filter(|known| known.name == name.name).map(ToString::to_string).collect();
    if !same.is_empty() {
        return missing.because(format!("There is {}.", same.join(" and ")));
    }
    let of_kind: Vec<_> =
        known.iter().filter(|known| name.kind.is_none_or(|kind| Some(kind) == known.kind)).cloned().collect();
    let elsewhere = elsewhere(kubectl, name, scope);
    if let [first, ..] = &*elsewhere {
        return missing
            .because(format!("There is one in namespace {}.", elsewhere.join(" and in ")))
            .advise(format!("Use -n {first}."));
    }
    match name.nearest(&of_kind).or_else(|| name.nearest(&known)) {
        None if lines.is_empty() => missing.because("There is no workload at all."),
        nearest => did_you_mean(missing, nearest),
    }
}

/// The other namespaces in which something has the name.
fn elsewhere(kubectl: &Kubectl, name: &WorkloadName, scope: Scope<'_>) -> Vec<String> {
    let Scope::Namespace(_) = scope else { return Vec::new() };
    let by_name = format!("metadata.name={}", name.name);
    let words = [&*resources(name.kind), "--field-selector", &by_name, "--all-namespaces"];
    let found = kubectl.get_if_allowed(&words).all_workloads();
    let namespaces: BTreeSet<_> = found.into_iter().map(|workload| workload.namespace).collect();
    namespaces.into_iter().collect()
}

/// Whether the API server says that there is no such namespace.
fn is_missing(kubectl: &Kubectl, namespace: &str) -> bool {
    let answer = kubectl.call(&["get", "namespace", namespace, "--output=name"], "");
    answer.and_then(Answer::result).is_err_and(|error| error.reason == Reason::NotFound)
}

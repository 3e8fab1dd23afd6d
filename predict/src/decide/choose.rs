//! Which workload to preview, by what the user named and what the input has.

use crate::question::Options;
use crate::snapshot::{
    OwnerReference, Sets, Snapshot, Unreadable, Workload, WorkloadId, WorkloadName, WorkloadRef,
};
use crate::text::{self, Error, ErrorKind};

/// Returns the workload that the user named, or else the only one with pods, or else the only one. Unless it is named, a set that
/// a Deployment in the input controls is part of that Deployment.
///
/// What a decision about it needs must be readable.
pub(crate) fn choose_workload<'a>(sets: &Sets<'a>, options: &Options) -> Result<Workload<'a>, Error> {
    let choice = choose(sets, options)?;
    check_readable(sets, choice)?;
    Ok(choice)
}

fn choose<'a>(sets: &Sets<'a>, options: &Options) -> Result<Workload<'a>, Error> {
    let all = sorted(all(sets));
    if all.is_empty() {
        return Err(sets.input.unreadable_workload(None, None).unwrap_or_else(|| {
            let pods = text::count(sets.input.pods.len() as u64, "pod");
            Error::new("the input has no workload")
                .because(format!("None of its {pods} belongs to a ReplicaSet or ReplicationController."))
        }));
    }
    let (name, namespace) = (options.workload.as_ref(), options.namespace.as_deref());
    let kind = name.and_then(|name| name.kind);
    let known = picked(&all, |its| kind.is_none_or(|kind| its.kind == kind));
    let here = picked(&known, |its| namespace.is_none_or(|wanted| its.namespace == wanted));
    let misplaced = || {
        let unreadable = sets.input.unreadable_workload(name, namespace);
        unreadable.or_else(|| elsewhere(name?, &known, options))
    };
    match (namespace, name) {
        (Some(namespace), _) if here.is_empty() && !known.is_empty() => {
            let what = kind.map_or_else(|| "workload".to_owned(), |kind| kind.to_string());
            let namespace = if namespace.is_empty() { "\"\"".into() } else { text::name(namespace) };
            let none = || {
                Error::new(format!("no {what} in namespace {namespace}"))
                    .because(format!("The input has {}.", text::list(&known)))
            };
            Err(misplaced().unwrap_or_else(none))
        }
        (_, Some(name)) => {
            let found = picked(&here, |its| its.name == name.name);
            let several = || format!("several workloads are named {}", text::name(&name.name));
            let none = || Err(misplaced().unwrap_or_else(|| unknown(name, &here, sets)));
            only(&found, several).unwrap_or_else(none)
        }
        _ => {
            let mut with_pods = in_use(sets, namespace, false);
            with_pods.retain(|choice| has_pods(sets, *choice));
            if let Some(deployment) = with_pods.iter().find_map(|choice| unreadable_owner(sets, *choice)) {
                return Err(deployment.to_error());
            }
            only(&with_pods, || "the input has pods of several workloads".to_owned())
                .or_else(|| {
                    let idle = with_deployments(sets, here.iter().copied());
                    only(&idle, || "the input has several workloads, none with pods".to_owned())
                })
                .expect("there is a workload here")
        }
    }
}

/// Returns the error for an object that cannot be read, if a decision about this workload needs it: the workload, one with the same
/// controller, a pod of any of these, a pod that may be one, and if a decision reads them, a node or a revision.
pub(crate) fn check_readable(sets: &Sets<'_>, choice: Workload<'_>) -> Result<(), Error> {
    let id = choice.id();
    let own = match choice {
        Workload::ReplicaSet(set) => sets.controller(set).map(|owner| &*owner.uid),
        _ => choice.meta().map(|meta| &*meta.uid),
    };
    let is_owner = |owner: &OwnerReference| {
        let is_named = owner.name == id.name && owner.workload_kind() == Some(id.kind);
        let is_its = |uid| owner.uid == uid || sets.controlled_by(uid).any(|set| set.meta.uid == owner.uid);
        is_named || own.is_some_and(is_its)
    };
    let is_needed = |its: &&Unreadable| match &*its.kind {
        "Node" => id.kind.reads_nodes(),
        _ if its.namespace != id.namespace => false,
        "ControllerRevision" => id.kind.reads_nodes(),
        "Pod" if !its.has_metadata => true,
        _ => its.controller.as_ref().is_some_and(is_owner) || its.workload() == Some(id),
    };
    sets.input.unreadable.iter().find(is_needed).map_or(Ok(()), |its| Err(its.to_error()))
}

/// The Deployment that a set is part of, if that cannot be read.
fn unreadable_owner<'a>(sets: &Sets<'a>, choice: Workload<'_>) -> Option<&'a Unreadable> {
    let Workload::ReplicaSet(set) = choice else { return None };
    let (owner, namespace) = (sets.controller(set)?, &set.meta.namespace);
    let mut unreadable = sets.input.unreadable.iter();
    unreadable.find(|its| its.namespace == *namespace && its.kind == owner.kind && its.name == owner.name)
}

/// The workloads that are selected by namespace, kind and name.
fn picked<'a>(all: &[Workload<'a>], is_selected: impl Fn(WorkloadRef<'a>) -> bool) -> Vec<Workload<'a>> {
    all.iter().copied().filter(|choice| is_selected(choice.id())).collect()
}

/// Each workload once, by namespace, kind and name: if one is listed twice, the first entry counts.
fn sorted<'a>(choices: impl Iterator<Item = Workload<'a>>) -> Vec<Workload<'a>> {
    let mut sorted: Vec<_> = choices.collect();
    sorted.sort_by_key(|choice| choice.id());
    sorted.dedup_by_key(|choice| choice.id());
    sorted
}

/// The workloads of the input, and the sets of which it has only pods.
fn all<'a>(sets: &Sets<'a>) -> impl Iterator<Item = Workload<'a>> {
    sets.input.listed_workloads().chain(sets.unlisted().map(Workload::Unlisted))
}

fn has_pods<'a>(sets: &Sets<'a>, workload: Workload<'a>) -> bool {
    if workload.kind().is_direct() {
        return sets.input.pods.iter().any(|pod| workload.owns(&pod.meta) || workload.adopts(pod));
    }
    !sets.pods_of(workload).is_empty()
}

/// The workloads in this namespace, or in any, that have pods or should have some: Deployments in place of their sets, or
/// `with_parts` beside them.
pub(crate) fn in_use<'a>(sets: &Sets<'a>, namespace: Option<&str>, with_parts: bool) -> Vec<Workload<'a>> {
    let is_used = |its: &Workload<'a>| match its {
        Workload::Deployment(entry) => entry.record.replicas > 0,
        Workload::ReplicaSet(set) => set.replicas() > 0 || has_pods(sets, *its),
        // Its pods are all that is known of it.
        Workload::Unlisted(_) => true,
        _ => its.status_pods() > 0 || has_pods(sets, *its),
    };
    let used: Vec<_> = sorted(all(sets)).into_iter().filter(is_used).collect();
    let parts = used.iter().copied().filter(|its| with_parts && its.kind().is_set());
    let all = sorted(with_deployments(sets, used.iter().copied()).into_iter().chain(parts));
    picked(&all, |its| namespace.is_none_or(|wanted| its.namespace == wanted))
}

/// The workloads, with Deployments in place of their sets.
fn with_deployments<'a>(sets: &Sets<'a>, choices: impl Iterator<Item = Workload<'a>>) -> Vec<Workload<'a>> {
    sorted(choices.map(|choice| match choice {
        Workload::ReplicaSet(set) => sets.deployment(set).map_or(choice, Workload::Deployment),
        _ => choice,
    }))
}

impl Snapshot {
    /// Returns the workloads that have pods or should have some, sorted: Deployments in place of their sets.
    pub fn workloads(&self) -> Vec<WorkloadId> {
        in_use(&Sets::of(self), None, false).iter().map(|choice| choice.id().to_id()).collect()
    }
}

/// Returns the only one of `items`, or an error that starts with `several`. `None` if there is none.
fn only<'a>(items: &[Workload<'a>], several: impl Fn() -> String) -> Option<Result<Workload<'a>, Error>> {
    match items {
        [] => None,
        [item] => Some(Ok(*item)),
        _ => {
            let error = Error::new(several()).because(format!("There are {}.", text::list(items)));
            Some(Err(error.of_kind(ErrorKind::Ambiguous)))
        }
    }
}

/// The error for a name that only a workload of another namespace has.
fn elsewhere(wanted: &WorkloadName, known: &[Workload<'_>], options: &Options) -> Option<Error> {
    let asked = text::name(options.namespace.as_ref().filter(|asked| !asked.is_empty())?).into_owned();
    let [its] = picked(known, |its| its.name == wanted.name)[..] else { return None };
    let its = its.id();
    let (kind, name, namespace) = (its.kind.short(), text::name(its.name), text::name(its.namespace));
    let error = Error::new(format!("{kind}/{name} is in namespace {namespace}, not in {asked}"));
    Some(error.advise(format!("Use -n {namespace}.")))
}

/// The error for a name that none of the `known` workloads of its kind has.
fn unknown(wanted: &WorkloadName, known: &[Workload<'_>], sets: &Sets<'_>) -> Error {
    let name = text::name(&wanted.name);
    if wanted.kind.is_none() && sets.input.pods.iter().any(|pod| pod.meta.name == wanted.name) {
        return Error::new(format!("{name} is a pod")).advise(format!("Ask about it as pod/{name}."));
    }
    let is_named = |owner: &OwnerReference| owner.kind == "Deployment" && owner.name == wanted.name;
    let is_its = |choice: &&Workload<'_>| match choice {
        Workload::ReplicaSet(set) => set.meta.controller.as_ref().is_some_and(is_named),
        _ => false,
    };
    let its: Vec<_> = known.iter().filter(is_its).collect();
    if !its.is_empty() {
        let its = text::list(&its);
        return Error::new(format!("the input lacks Deployment {name}"))
            .advise(format!("Name one of its ReplicaSets: {its}."));
    }
    let names: Vec<_> = known.iter().map(|choice| choice.id().to_name()).collect();
    let what = wanted.kind.map_or_else(|| "workload".to_owned(), |kind| kind.to_string());
    let error = Error::new(format!("no {what} is named {name}"));
    match (wanted.nearest(&names), wanted.kind) {
        (Some(nearest), _) => {
            let place = names.iter().position(|name| name == nearest).expect("it is one of them");
            let namespace = known[place].id().namespace;
            let is_unclear = known.iter().any(|choice| choice.id().namespace != namespace);
            let place = is_unclear.then(|| format!(" in namespace {}", text::name(namespace)));
            let place = place.unwrap_or_default();
            error.advise(format!("Did you mean {nearest}{place}?"))
        }
        (None, Some(kind)) if known.is_empty() => {
            let remedy = format!("Get it with: kubectl get {} -o json", kind.types());
            error.because(format!("The input has no {kind}.")).advise(remedy)
        }
        _ => error.because(format!("The input has {}.", text::list(known))),
    }
}

//! Whose pods these are: the workload to scale so that they go, or why no count can let them go. Reads only the input, which has
//! the pods and the sets that own them.

use crate::question::{OwnerName, Scalable};
use crate::snapshot::{OtherOwner, OwnerReference, Pod, Snapshot, WorkloadKind, WorkloadName, WorkloadRef};
use crate::text::{self, Error};
use std::collections::{BTreeMap, BTreeSet};

/// A workload to scale.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScaleTarget {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: Scalable,
}

/// The sets that own pods of the input, with the `StatefulSets` of active ones: their names by namespace and kind.
pub fn sets_of_pods(input: &Snapshot) -> BTreeMap<(String, WorkloadKind), BTreeSet<String>> {
    let mut names: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for pod in &input.pods {
        let counts =
            |kind: WorkloadKind| kind.is_set() || kind == WorkloadKind::StatefulSet && pod.is_active();
        if let Some((kind, owner)) = workload_of(pod).filter(|(kind, _)| counts(*kind)) {
            names.entry((pod.meta.namespace.clone(), kind)).or_default().insert(owner.name.clone());
        }
    }
    names
}

/// The objects of kinds that no module knows, and that control sets of the input, by namespace.
pub fn leaders(input: &Snapshot) -> BTreeSet<(String, OwnerName)> {
    let led = input.sets.iter().filter_map(|set| Some((set, set.meta.controller.as_ref()?)));
    let unknown = led.filter(|(_, leader)| leader.workload_kind().is_none());
    unknown
        .filter_map(|(set, leader)| Some((set.meta.namespace.clone(), OwnerName::of_reference(leader)?)))
        .collect()
}

/// The owner of a kind that no module knows, of which the input has the object: its namespace, and its name with its full type.
///
/// # Errors
/// If the input has no such object with a count. `asked` is what the user called it.
pub fn leader(input: &Snapshot, asked: &OwnerName) -> Result<(String, OwnerName), Error> {
    let no_count =
        || Error::new(format!("{asked} cannot be scaled down")).because("It has no spec.replicas.");
    let entry = input.owners.first().ok_or_else(no_count)?;
    let name = OwnerName { resource: entry.resource.clone(), name: entry.meta.name.clone() };
    Ok((entry.meta.namespace.clone(), name))
}

/// One of the sets of the owner of which the input has the object: the largest. `None` if it has none.
pub fn set_of_leader(input: &Snapshot) -> Option<WorkloadName> {
    let led = input.sets.iter().filter(|set| input.leader(set).is_some());
    Some(led.max_by_key(|set| set.replicas())?.id().to_name())
}

/// Returns the workload to scale so that the pods of the input can go. The input also has the sets that [`sets_of_pods`] names and the
/// objects that [`leaders`] names, as far as they exist.
///
/// # Errors
/// If there is no pod, if no count can let one go, or if they belong to different workloads.
pub fn one_workload(input: &Snapshot) -> Result<ScaleTarget, Error> {
    let workload = |pod| Ok((pod, owner(input, pod)?));
    let workloads = input.pods.iter().map(workload).collect::<Result<Vec<_>, Error>>()?;
    let Some((first, wanted)) = workloads.first() else { return Err(Error::new("no pod is named")) };
    match workloads.iter().find(|(_, workload)| workload != wanted) {
        Some((other, workload)) => Err(Error::new("the pods belong to different workloads")
            .because(format!("{other} belongs to {}, but {first} belongs to {}.", workload.name, wanted.name))
            .advise("Name pods of one workload.")),
        None => Ok(wanted.clone()),
    }
}

/// The error for a pod that no deletion cost selects: it belongs to no `ReplicaSet` and no `ReplicationController`.
fn unsteerable(input: &Snapshot, pod: &Pod) -> Error {
    let namespace = text::name(&pod.meta.namespace);
    let Some(controller) = &pod.meta.controller else {
        let name = text::name(&pod.meta.name);
        return Error::new(format!("{pod} has no controller"))
            .because("Nothing replaces it if you delete it.")
            .advise(format!("Delete it: kubectl delete pod {name} -n {namespace}"));
    };
    let [kind, owner] = [&controller.kind, &controller.name].map(|it| text::name(it));
    let error = Error::new(format!("{pod} belongs to {kind} {owner}"));
    if controller.workload_kind() == Some(WorkloadKind::Job) {
        return error.because("A Job has no replica count.");
    }
    match of_stateful_set(input, pod) {
        None => error.because("podrank can only choose pods of ReplicaSets and ReplicationControllers."),
        Some(remedy) => {
            error.because("A StatefulSet deletes the pod with the highest ordinal first.").advise(remedy)
        }
    }
}

/// How all pods of the input are deleted that belong to the pod's `StatefulSet`. `None` if it belongs to none, or if nobody knows.
fn of_stateful_set(input: &Snapshot, pod: &Pod) -> Option<String> {
    let (kind, set) = workload_of(pod).filter(|(kind, _)| *kind == WorkloadKind::StatefulSet)?;
    let id = WorkloadRef { namespace: &pod.meta.namespace, kind, name: &set.name };
    let entry = input.stateful_sets.iter().find(|its| its.meta.id(kind) == id)?;
    let of_set = |other: &&Pod| {
        other.is_active() && other.meta.controller.as_ref().is_some_and(|other| other.uid == set.uid)
    };
    let ordinal = |pod: &Pod| pod.meta.name.strip_prefix(&*set.name)?.strip_prefix('-')?.parse::<i32>().ok();
    let ordinals: BTreeSet<_> = input.pods.iter().filter(of_set).filter_map(ordinal).collect();
    let (from, start) = (entry.record.replicas, entry.record.start);
    // It deletes its highest ordinals first, so the lowest of these pods decides.
    let to = ordinals.first()?.checked_sub(start)?;
    let count = i32::try_from(ordinals.len()).ok()?;
    let are_lowest = ordinals.last()?.checked_sub(start)? == count - 1;
    let [set, namespace] = [&set.name, &pod.meta.namespace].map(|it| text::name(it));
    Some(match to {
        _ if !(0..from).contains(&to) => return None,
        0 if are_lowest && count < from => {
            let (start, replicas) = (start.saturating_add(count), from - count);
            let patch = format!(r#"{{"spec":{{"ordinals":{{"start":{start}}},"replicas":{replicas}}}}}"#);
            format!("Raise its first ordinal: kubectl patch sts/{set} -n {namespace} -p '{patch}'")
        }
        // No command: nobody scales a database to nothing for the sake of a node.
        0 => format!("Only scaling it from {from} to 0 deletes this pod."),
        _ => format!("Scale it from {from} to {to}: kubectl scale sts/{set} --replicas {to} -n {namespace}"),
    })
}

/// The workload that the pod's controller reference names.
fn workload_of(pod: &Pod) -> Option<(WorkloadKind, &OwnerReference)> {
    let owner = pod.meta.controller.as_ref()?;
    Some((owner.workload_kind()?, owner))
}

/// The workload to scale so that the pod is deleted: the owner of its set, or else its set itself.
fn owner(input: &Snapshot, pod: &Pod) -> Result<ScaleTarget, Error> {
    if pod.is_mirror {
        return Err(
            Error::new(format!("{pod} is a mirror pod")).because("The kubelet runs it without a workload.")
        );
    }
    let set = workload_of(pod).filter(|(kind, _)| kind.is_set());
    let Some((kind, set)) = set else { return Err(unsteerable(input, pod)) };
    let namespace = &*pod.meta.namespace;
    let id = WorkloadRef { namespace, kind, name: &set.name };
    let entry = input.sets.iter().find(|set| set.id() == id);
    let known =
        |kind, name: &str| Scalable::Workload(WorkloadName { kind: Some(kind), name: name.to_owned() });
    let name = match entry.and_then(|entry| Some((entry, entry.meta.controller.as_ref()?))) {
        None => known(kind, &set.name),
        Some((_, leader)) if leader.workload_kind() == Some(WorkloadKind::Deployment) => {
            known(WorkloadKind::Deployment, &leader.name)
        }
        Some((entry, leader)) => {
            let Some(OtherOwner { resource, meta, .. }) = input.leader(entry) else {
                let [set, owner, name] = [&set.name, &leader.kind, &leader.name].map(|it| text::name(it));
                return Err(Error::new(format!("{pod} belongs to {kind} {set}"))
                    .because(format!("{owner} {name} sets the replica count of {kind} {set}."))
                    .advise(format!("Scale {owner} {name} instead if it has a replica count.")));
            };
            Scalable::Owner(OwnerName { resource: resource.clone(), name: meta.name.clone() })
        }
    };
    Ok(ScaleTarget { namespace: namespace.to_owned(), name })
}

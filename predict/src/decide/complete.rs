//! Whether the input has everything that decides: the set, its related sets and all its pods. Reads only the input.
//!
//! Ranks count the pods of related sets, and the number of deletions depends on the set's own pods, so a preview of an
//! incomplete dump can be wrong. A dump without both the sibling sets and their pods looks complete: nothing in it tells.

use crate::answer::{Note, NoteCode};
use crate::snapshot::{
    Deployment, Pod, ReplicaSet, Sets, Snapshot, Workload, WorkloadKind, WorkloadRef, is_dns_subdomain,
};
use crate::text::{self, Error, ErrorKind, count, is};
use podrank::Flags;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::iter;

/// The label whose value differs among the `ReplicaSets` of a Deployment.
const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// Returns what the input lacks. Empty if the input looks complete.
pub(crate) fn gaps(sets: &Sets<'_>, id: WorkloadRef<'_>) -> Vec<Note> {
    let Some(set) = sets.get(id) else {
        // Nobody counts other pods for a ReplicationController.
        let has_siblings = id.kind == WorkloadKind::ReplicaSet;
        let ranks =
            if has_siblings { ", so the pods per node of related ReplicaSets are not counted" } else { "" };
        let text = format!("{id} itself is missing{ranks}");
        return vec![Note::new(NoteCode::Incomplete, text)];
    };
    // Ranks count the pods of related sets, too.
    let owner = sets.controller(set).filter(|_| id.kind == WorkloadKind::ReplicaSet);
    let related = owner.into_iter().flat_map(|owner| sets.controlled_by(&owner.uid));
    let related = related.filter(|other| other.id() != id && other.id().namespace == id.namespace);
    let lack_pods = iter::once(set).chain(related).filter_map(|set| missing_pods(sets, set));
    missing_siblings(sets, set).into_iter().chain(lack_pods).collect()
}

/// Returns what an input with only pods lacks. It is the same for each set, so that it is said once.
pub(crate) fn only_pods(input: &Snapshot) -> Note {
    let is_of_set = |pod: &&Pod| pod.controller_kind().is_some_and(WorkloadKind::is_set);
    let others = input.pods.iter().filter(|pod| pod.meta.controller.is_some() && !is_of_set(pod)).count();
    let left_out = match others {
        0 => String::new(),
        _ => format!(", and {} of other workloads {} left out", count(others as u64, "pod"), is(others)),
    };
    let text = format!(
        "the input has only pods, so each ReplicaSet is taken to have as many replicas as pods, and pods of related \
         ReplicaSets are not counted per node{left_out}: get all with {}",
        command("", WorkloadKind::Deployment.types())
    );
    Note::new(NoteCode::Incomplete, text)
}

/// Returns a note on a Deployment without sets in the input if its status counts pods, or if the input has pods that it selects and that
/// belong to sets which are missing.
pub(crate) fn missing_sets(sets: &Sets<'_>, entry: &Deployment) -> Option<Note> {
    let selector = entry.selector()?;
    let is_near =
        |id: &WorkloadRef<'_>| id.kind == WorkloadKind::ReplicaSet && id.namespace == entry.meta.namespace;
    let pods = sets.unlisted().filter(is_near).flat_map(|id| sets.pods(id).to_vec());
    let listed = pods.filter(|pod| !pod.is_finished() && selector.matches(&pod.meta.labels)).count();
    let counted = usize::try_from(entry.record.status_replicas).unwrap_or(0);
    let pods = listed.max(counted) as u64;
    let text = || format!("{} has {}, and none of its ReplicaSets is listed", entry.id(), count(pods, "pod"));
    (pods > 0).then(|| Note::new(NoteCode::Incomplete, text()))
}

/// Returns the error for an input with these gaps, with the command that gets everything.
pub(crate) fn error(WorkloadRef { namespace, kind, .. }: WorkloadRef<'_>, gaps: &[Note]) -> Error {
    let gaps = gaps.iter().map(|gap| format!("{}.", gap.text)).collect();
    Error { why: gaps, ..Error::new("the input is incomplete") }
        .advise(format!("Get all of it with: {}", command(namespace, kind.types())))
        .of_kind(ErrorKind::Incomplete)
}

/// Returns a note about sets that may be related to `set` and are not in the input, although their active pods are. Only a
/// `ReplicaSet` with a controller has related sets.
///
/// The sets of a Deployment have its selector in common, so the pods' labels tell whether a set is one of theirs. Those of any other
/// controller, such as an Argo Rollout, need have no label in common. Only the missing set itself could name its controller.
fn missing_siblings(sets: &Sets<'_>, set: &ReplicaSet) -> Option<Note> {
    let id = set.id();
    let controller = sets.controller(set).filter(|_| id.kind == WorkloadKind::ReplicaSet)?;
    let has_deployment = controller.kind == "Deployment";
    // A set with an invalid selector deletes nothing.
    let selector = set.selector()?;
    let may_be = |pod: &&&Pod| {
        let is_its = || selector.matches_but_for(POD_TEMPLATE_HASH, &pod.meta.labels);
        pod.is_active() && (!has_deployment || is_its())
    };
    let near = sets.unlisted().filter(|its| its.kind == id.kind && its.namespace == id.namespace);
    let missing = near.map(|its| (its, sets.pods(its).iter().filter(may_be).count()));
    let missing = missing.filter(|(_, pods)| *pods > 0);
    let names: Vec<_> = missing.map(|(its, pods)| format!("{its} ({})", count(pods, "pod"))).collect();
    let what = if has_deployment { "ReplicaSets related to" } else { "ReplicaSets that may be related to" };
    let text =
        || format!("{what} {id} are missing, so their pods are not counted per node: {}", text::list(&names));
    (!names.is_empty()).then(|| Note::new(NoteCode::Incomplete, text()))
}

/// Returns a note if the input has fewer pods of the set than its status counts. The status counts only active pods. Here,
/// finished and terminating pods count, too, because they may have been active when the status was written.
fn missing_pods(sets: &Sets<'_>, set: &ReplicaSet) -> Option<Note> {
    // A set without pods lacks none, so its pods need not be searched for.
    let status = set.status_replicas().filter(|status| *status > 0)?;
    let id = set.id();
    fewer_pods_than_status(id, sets.pods(id).iter().chain(sets.released(id)).copied(), status)
}

/// Returns a note if these are fewer pods than the status of `what` counts.
pub(crate) fn fewer_pods_than_status<'a>(
    what: impl Display,
    pods: impl Iterator<Item = &'a Pod>,
    status: u64,
) -> Option<Note> {
    let listed = pods.map(|pod| pod.meta.name.as_str()).collect::<BTreeSet<_>>().len() as u64;
    let text = || {
        let verb = is(listed);
        format!("only {} of {what} {verb} listed, while its status counts {status}", count(listed, "pod"))
    };
    (listed < status).then(|| Note::new(NoteCode::Incomplete, text()))
}

/// Returns a note if the set has more active pods than its status counts.
pub(crate) fn more_pods_than_status(set: &ReplicaSet, active: usize) -> Option<Note> {
    let status = set.status_replicas()?;
    let active = active as u64;
    let text =
        || format!("{} has {}, while its status counts {status}", set.id(), count(active, "active pod"));
    (active > status).then(|| Note::new(NoteCode::ControllerBusy, text()))
}

/// Returns a note if a Deployment's set has other pods than its size and its status say, so that its controller is at work, and the
/// rollout may go on in another way.
pub(crate) fn stale_status(sets: &Sets<'_>, set: &ReplicaSet) -> Option<Note> {
    let status = set.status_replicas()?;
    if missing_pods(sets, set).is_some() || Workload::ReplicaSet(set).idle().is_some() {
        return None;
    }
    let is_ready = |pod: &&&Pod| pod.record.flags.contains(Flags::READY);
    let active = || sets.pods(set.id()).iter().filter(|pod| pod.is_active());
    let (pods, ready) = (active().count() as u64, active().filter(is_ready).count() as u64);
    let available = u64::try_from(set.record.available_replicas).unwrap_or(0);
    let size = u64::from(set.replicas());
    let id = set.id();
    // A ready pod need not be available yet, but an available one is ready.
    let what = if available > ready || available < ready && set.min_ready_seconds <= 0 {
        let are = is(ready);
        format!("the status of {id} counts {}, while {ready} {are} ready", count(available, "available pod"))
    } else if pods != status {
        format!("the status of {id} counts {}, while it has {pods}", count(status, "pod"))
    } else if pods != size {
        format!("{id} has {} and should have {size}", count(pods, "pod"))
    } else {
        return None;
    };
    let text = format!(
        "{what}, so its controller is still working and the rollout may continue in another way: try again in some seconds"
    );
    Some(Note::warning(NoteCode::ControllerBusy, text))
}

/// Returns the command that prints everything that a decision needs.
fn command(namespace: &str, kinds: &str) -> String {
    // People paste it into a shell, so it has only text that can be a namespace.
    let namespace = if is_dns_subdomain(namespace) { format!(" -n {namespace}") } else { String::new() };
    format!("kubectl get {kinds}{namespace} -o json")
}

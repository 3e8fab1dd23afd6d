//! Whether the input has everything that decides: the set, its siblings and all its pods. Reads only the input.
//!
//! Ranks count the pods of sibling sets, and the number of deletions depends on the set's own pods, so a preview of an
//! incomplete dump can be wrong. A dump without both the sibling sets and their pods looks complete: nothing in it tells.

use crate::deployment::DeploymentEntry;
use crate::error::{Error, Remedy};
use crate::input::Input;
use crate::notes::{Note, NoteCode};
use crate::selector::is_dns_subdomain;
use crate::set::{SetEntry, SetId, SetKind, Sets};
use crate::text::{self, count};
use std::collections::{BTreeMap, BTreeSet};

/// The label whose value differs among the `ReplicaSets` of a Deployment.
const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// Returns what the input lacks. Empty if the input looks complete.
pub(crate) fn gaps(input: &Input, sets: &Sets<'_>, id: SetId<'_>) -> Result<Vec<Note>, Error> {
    let Some(set) = sets.get(id) else {
        // Nobody counts other pods for a ReplicationController.
        let ranks = match id.kind {
            SetKind::ReplicaSet => ", so ranks can only count its own pods",
            SetKind::ReplicationController => "",
        };
        let text = format!("{id} itself is missing{ranks}");
        return Ok(vec![Note::new(NoteCode::SetMissing, text)]);
    };
    Ok(missing_siblings(input, sets, set)?.into_iter().chain(missing_pods(input, sets, set)?).collect())
}

/// Returns a note if the input has none of a Deployment's sets although its status counts pods.
pub(crate) fn missing_sets(entry: &DeploymentEntry, pods: i32, sets: usize) -> Option<Note> {
    let text = || {
        format!("{entry} has {}, and none of its ReplicaSets is listed", count(pods.unsigned_abs(), "pod"))
    };
    (sets == 0 && pods > 0).then(|| Note::new(NoteCode::SetMissing, text()))
}

/// Returns the error for an input with these gaps, with the command that gets everything.
pub(crate) fn error(namespace: &str, kind: SetKind, gaps: &[Note]) -> Error {
    let types = match kind {
        SetKind::ReplicaSet => "pods,replicasets,deployments",
        SetKind::ReplicationController => "pods,replicationcontrollers",
    };
    incomplete(namespace, types, gaps)
}

/// Returns the error for an input with these gaps, with the command that gets all objects of these types.
pub(crate) fn incomplete(namespace: &str, types: &str, gaps: &[Note]) -> Error {
    let gaps: Vec<_> = gaps.iter().map(|gap| gap.text.as_str()).collect();
    let gaps = gaps.join("; ");
    let command = command(namespace, types);
    Error::with_remedy(
        format!("the input is incomplete: {gaps}; get all of it with: {command}"),
        Remedy::AcceptPartial,
    )
}

/// Returns a note about sibling sets that are not in the input although their pods are. Only a `ReplicaSet` with a controller
/// has siblings.
fn missing_siblings(input: &Input, sets: &Sets<'_>, set: &SetEntry) -> Result<Option<Note>, Error> {
    let id = set.id();
    if id.kind != SetKind::ReplicaSet || set.controller.is_none() {
        return Ok(None);
    }
    let Some(selector) = set.selector()? else { return Ok(None) };
    let mut missing = BTreeMap::<SetId<'_>, u64>::new();
    // Pods that are not active count towards no rank.
    for pod in input.pods.iter().filter(|pod| pod.is_active() && pod.namespace == id.namespace) {
        let owner = sets.owner(pod).filter(|owner| owner.kind == SetKind::ReplicaSet);
        let owner = owner.filter(|owner| sets.get(*owner).is_none());
        if let Some(owner) = owner.filter(|_| selector.matches_but_for(POD_TEMPLATE_HASH, &pod.labels)) {
            *missing.entry(owner).or_default() += 1;
        }
    }
    let names: Vec<_> = missing.iter().map(|(id, pods)| format!("{id} ({})", count(*pods, "pod"))).collect();
    let text =
        || format!("siblings of {id} are missing, so ranks may leave pods out: {}", text::list(&names));
    Ok((!names.is_empty()).then(|| Note::new(NoteCode::SiblingsMissing, text())))
}

/// Returns a note if the input has fewer pods of the set than its status counts. The status counts only active pods. Here,
/// finished and terminating pods count, too, because they may have been active when the status was written.
fn missing_pods(input: &Input, sets: &Sets<'_>, set: &SetEntry) -> Result<Option<Note>, Error> {
    let Some(status) = set.status_replicas()? else { return Ok(None) };
    let id = set.id();
    let own = input.pods.iter().filter(|pod| sets.owner(pod) == Some(id));
    let listed = own.map(|pod| pod.name.as_str()).collect::<BTreeSet<_>>().len() as u64;
    let text = || {
        let verb = if listed == 1 { "is" } else { "are" };
        format!("only {} of {id} {verb} listed, while its status counts {status}", count(listed, "pod"))
    };
    Ok((listed < status).then(|| Note::new(NoteCode::PodsMissing, text())))
}

/// Returns a note if the set has more active pods than its status counts.
pub(crate) fn more_pods_than_status(set: &SetEntry, active: usize) -> Result<Option<Note>, Error> {
    let Some(status) = set.status_replicas()? else { return Ok(None) };
    let active = active as u64;
    let text =
        || format!("{} has {}, while its status counts {status}", set.id(), count(active, "active pod"));
    Ok((active > status).then(|| Note::new(NoteCode::MorePodsThanStatus, text())))
}

/// Returns the command that prints everything that a decision needs.
fn command(namespace: &str, kinds: &str) -> String {
    // People paste it into a shell, so it has only text that can be a namespace.
    let namespace = Some(namespace).filter(|namespace| is_dns_subdomain(namespace));
    let namespace = namespace.map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    format!("kubectl get {kinds}{namespace} -o json")
}

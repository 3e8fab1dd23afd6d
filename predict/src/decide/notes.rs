//! The notes that go with a decision.

use crate::answer::{Note, NoteCode};
use crate::snapshot::{Deployment, Pod, ReplicaSet, Sets, Snapshot, WorkloadRef};
use crate::text::{self, count, quoted};
use jiff::Timestamp;
use podrank::{DELETION_COST_ANNOTATION, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The most pods that a note about any number of them names.
const MOST_NAMES: usize = 3;

/// Returns a note on pods that `kubectl get pods` lists and the answer does not count.
pub(crate) fn not_counted<'a>(
    workload: &impl fmt::Display,
    listed: impl Iterator<Item = &'a Pod>,
    counted: impl Iterator<Item = Uid>,
) -> Option<Note> {
    let counted: BTreeSet<_> = counted.collect();
    let (deleted, ended): (Vec<_>, Vec<_>) = listed
        .filter(|pod| !pod.is_active() && !counted.contains(&pod.uid()))
        .partition(|pod| pod.is_terminating());
    let parts = [(ended.len(), "ended"), (deleted.len(), "being deleted")].into_iter();
    let parts = parts.filter(|(pods, _)| *pods > 0).map(|(pods, what)| format!("{pods} {what}"));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let all = count(ended.len() + deleted.len(), "more pod");
    let text = format!("kubectl get pods lists {all} of {workload}, which podrank does not count ({parts})");
    (!parts.is_empty()).then(|| Note::new(NoteCode::NotCounted, text))
}

/// A workload whose controller deletes no pods, and `why`.
pub(crate) fn does_nothing(workload: &impl fmt::Display, why: &str) -> Note {
    let text = format!("{workload} {why}, so kube-controller-manager deletes none of its pods");
    Note::new(NoteCode::ControllerIdle, text)
}

/// Returns a note if the workload is listed more than once, perhaps with other values.
pub(crate) fn workload_listed_twice(input: &Snapshot, workload: WorkloadRef<'_>) -> Option<Note> {
    (input.listed_workloads().filter(|its| its.id() == workload).count() > 1).then(|| listed_twice(&workload))
}

pub(crate) fn listed_twice(object: &impl fmt::Display) -> Note {
    let text = format!("{object} is listed more than once, and only the first entry counts");
    Note::new(NoteCode::Unreadable, text)
}

/// The deletion costs that Kubernetes cannot read, each value once.
pub(crate) fn invalid_costs<'a>(pods: impl Iterator<Item = &'a Pod>) -> impl Iterator<Item = Note> {
    let mut by_value = BTreeMap::<_, Vec<_>>::new();
    for pod in pods {
        let cost = pod.cost.as_ref().and_then(|cost| Some((&cost.text, cost.value.as_ref().err()?)));
        if let Some((text, error)) = cost {
            by_value.entry((text, error.to_string())).or_default().push(pod);
        }
    }
    let note = |((text, error), pods): ((&String, String), Vec<&Pod>)| {
        let whose = if let [pod] = &*pods {
            pod.to_string()
        } else {
            let names: Vec<_> = pods.iter().map(|pod| text::name(pod.name())).collect();
            format!("{} ({})", count(pods.len(), "pod"), text::first(&names, MOST_NAMES))
        };
        let text =
            format!("{whose}: Kubernetes reads {DELETION_COST_ANNOTATION} {} as 0: {error}", quoted(text));
        Note::warning(NoteCode::InvalidDeletionCost, text)
    };
    by_value.into_iter().map(note)
}

pub(crate) fn several_syncs(delete: usize, most: usize) -> Note {
    let syncs = delete.div_ceil(most);
    let text = format!(
        "{delete} deletions take {syncs} syncs of at most {most}, each of which counts the pods per node again, \
         and this preview assumes that the pods do not change meanwhile"
    );
    Note::new(NoteCode::Limits, text)
}

/// Returns a note on possible pods without probabilities.
pub(crate) fn no_odds(id: &impl fmt::Display, why: &str) -> Note {
    Note::new(NoteCode::Limits, format!("no probability is given for the possible deletions of {id}: {why}"))
}

/// Workloads or sets whose controllers have not acted on their latest change yet.
pub(crate) fn lagging(what: &[impl fmt::Display]) -> Note {
    let works = if what.len() == 1 { "its controller is" } else { "the controllers are" };
    let text = format!(
        "the status of {} is for an earlier spec, so {works} still working and may delete more pods than this preview: \
         try again in some seconds",
        text::list(what)
    );
    Note::warning(NoteCode::ControllerBusy, text)
}

/// The set's pods that were created after the time of the decision.
pub(crate) fn created_after_now<'a>(own: impl Iterator<Item = &'a Pod>, now: Timestamp) -> Option<Note> {
    let at = crate::snapshot::to_time(now).unix_nanos()?;
    let mut late =
        own.filter(|pod| pod.record.creation_time.unix_nanos().is_some_and(|created| created > at));
    let first = late.next()?;
    let (others, were) = match late.count() {
        0 => (String::new(), "was"),
        others => (format!(" and {}", count(others, "other pod")), "were"),
    };
    let text = format!(
        "{first}{others} {were} created after {now:.0}, the time of this decision, so the age is negative"
    );
    Some(Note::new(NoteCode::Time, text))
}

/// What its Deployment makes of a set that is scaled alone: if other `ReplicaSets` have pods, too, it divides its count.
pub(crate) fn scaled_alone(sets: &Sets<'_>, set: &ReplicaSet, replicas: u32) -> Option<Note> {
    let is_being_deleted = sets.deployment(set).is_some_and(|entry| entry.meta.deletion.is_some());
    let deployment = sets.controller(set).filter(|owner| owner.kind == "Deployment" && !is_being_deleted)?;
    let others = sets.controlled_by(&deployment.uid).filter(|other| other.id() != set.id());
    let others = others.filter(|other| sets.is_in_use(other));
    let others: Vec<_> = others.map(|other| text::name(other.id().name)).collect();
    let (name, id, with) = (text::name(&deployment.name), set.id(), text::list(&others));
    let does = if others.is_empty() {
        format!("controls {id} and would reset its replica count")
    } else {
        let set = text::name(id.name);
        format!("is in the middle of a rollout (with {with}) and may reset the replica count of {set}")
    };
    let text = format!("Deployment {name} {does}: scale deploy/{name} instead");
    let may_reset = !others.is_empty() || set.replicas() != replicas;
    may_reset.then(|| Note::new(NoteCode::ControlledByOwner, text))
}

/// A Deployment without sets, whose controller would act on them.
pub(crate) fn no_sets(entry: &Deployment) -> Note {
    let name = text::name(&entry.meta.name);
    let text = format!("no ReplicaSet of Deployment {name} is listed, so it has no pod to delete");
    Note::new(NoteCode::ControllerIdle, text)
}

/// What a reader should know about a Deployment and this step, its next sync.
pub(crate) fn of_deployment<'a>(entry: &Deployment, sets: impl Iterator<Item = &'a ReplicaSet>) -> Vec<Note> {
    let paused = || {
        let name = text::name(&entry.meta.name);
        let text = format!(
            "Deployment {name} is paused, so its ReplicaSets are scaled, but its rollout does not continue"
        );
        Note::new(NoteCode::ControllerIdle, text)
    };
    let sets = sets.filter(|set| set.is_ahead()).map(|set| set.id().to_string());
    let names: Vec<_> = entry.lags.then(|| entry.id().to_string()).into_iter().chain(sets).collect();
    let lagging = (!names.is_empty()).then(|| lagging(&names));
    entry.record.is_paused.then(paused).into_iter().chain(lagging).collect()
}

/// The pods that the controller releases or adopts before it deletes any.
pub(crate) fn claims(sets: &Sets<'_>, set: &ReplicaSet) -> Vec<Note> {
    let id = set.id();
    let adopted = sets.pods(id).iter().filter(|pod| pod.meta.controller.is_none());
    let adopted = adopted.map(|pod| adopts(&id, pod));
    let released = sets.released(id).iter().filter(|_| set.meta.deletion.is_none());
    adopted.chain(released.map(|pod| releases(&id, pod))).collect()
}

/// A controller adopts a pod or a set.
pub(crate) fn adopts(workload: &impl fmt::Display, what: &impl fmt::Display) -> Note {
    let text = format!("{what} has no controller, so {workload} adopts it and it counts");
    Note::new(NoteCode::Adoption, text)
}

/// A controller releases a pod or a set.
pub(crate) fn releases(workload: &impl fmt::Display, what: &impl fmt::Display) -> Note {
    let text = format!("{what} does not match the selector, so {workload} releases it and it does not count");
    Note::new(NoteCode::Adoption, text)
}

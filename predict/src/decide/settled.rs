//! Whether a count decides about the pods of a workload, for all kinds and views. It does not if the workload is being deleted, or if
//! its controller does nothing. Reads only the input.

use crate::answer::{CountRange, Note, NoteCode, PodAnswer, Preview, Verdict};
use crate::decide::notes;
use crate::reason::{AnyCount, Reason};
use crate::snapshot::{Deletion, Sets, Workload, WorkloadKind, WorkloadRef};

/// The fate of the pods of a workload, whatever its count is.
pub(crate) struct Settled {
    /// Of the pods that another controller does not delete anyway.
    verdict: Verdict,
    reason: AnyCount,
    note: Note,
}

/// Returns it, or `None` if the controller of the workload acts on its count.
pub(crate) fn settled(sets: &Sets<'_>, choice: Workload<'_>) -> Option<Settled> {
    let deletion = choice.meta().and_then(|meta| meta.deletion);
    let own = deletion.map(|deletion| (choice.to_string(), deletion));
    let owner = owner_deletion(sets, choice.id());
    if let Some((what, _)) = own.into_iter().chain(owner).find(|(_, how)| *how == Deletion::Foreground) {
        return Some(Settled::foreground(&what));
    }
    let rule = match deletion {
        Some(Deletion::Orphan) => "orphaned",
        Some(_) => "being-deleted",
        None => "does-nothing",
    };
    choice.idle().map(|idle| {
        let note = notes::does_nothing(&choice, idle);
        let reason = AnyCount::Idle(rule, choice.kind(), idle.to_owned());
        Settled { verdict: Verdict::Kept, reason, note }
    })
}

/// How the owner of a set is being deleted. A deletion in the foreground includes the pods of its sets.
fn owner_deletion(sets: &Sets<'_>, id: WorkloadRef<'_>) -> Option<(String, Deletion)> {
    let set = sets.get(id)?;
    if let Some(owner) = sets.input.leader(set) {
        return Some((owner.to_string(), owner.meta.deletion?));
    }
    let deployment = sets.deployment(set)?;
    Some((deployment.id().to_string(), deployment.meta.deletion?))
}

/// Deletes the pods of each set that is being deleted in the foreground, although its Deployment is not: the garbage
/// collector deletes them, and the Deployment then creates a set in its place.
pub(crate) fn apply_to_sets(sets: &Sets<'_>, preview: &mut Preview<'_>) {
    let namespace = preview.workload.namespace;
    let entry = |name| sets.get(WorkloadRef { kind: WorkloadKind::ReplicaSet, namespace, name });
    for set in preview.groups.iter_mut().filter(|set| set.is_new.is_some()) {
        let found = set.replica_set.and_then(entry);
        let Some(found) = found.filter(|found| found.meta.deletion == Some(Deletion::Foreground)) else {
            continue;
        };
        let foreground = Settled::foreground(&found.id().to_string());
        set.pods.iter_mut().for_each(|pod| foreground.apply_to(pod));
        (set.delete, set.is_settled) = (set.pods.len(), true);
        preview.rest.iter_mut().for_each(|rest| rest.delete_all_of(set.replica_set, set.delete));
        preview.notes.push(foreground.note);
    }
}

impl Settled {
    fn foreground(what: &str) -> Self {
        let reason = AnyCount::Foreground(what.to_owned());
        let note = Note::new(NoteCode::ControllerIdle, reason.sentence());
        Self { verdict: Verdict::Deleted, reason, note }
    }

    fn apply_to(&self, pod: &mut PodAnswer<'_>) {
        (pod.verdict, pod.reason) = (self.verdict, Reason::AnyCount(self.reason.clone()));
        (pod.probability, pod.is_replaced) = (None, false);
    }

    /// Says it about all pods of a preview.
    pub(crate) fn apply(&self, preview: &mut Preview<'_>) {
        let is_deleted = self.verdict == Verdict::Deleted;
        let pods = preview.groups.iter_mut().flat_map(|group| &mut group.pods);
        for pod in pods.filter(|pod| is_deleted || pod.verdict == Verdict::Kept) {
            self.apply_to(pod);
        }
        if is_deleted {
            delete_all(preview);
        }
        preview.is_settled = true;
        // A Job that fails deletes its pods even while it is being deleted.
        let is_failing = preview.workload.kind == WorkloadKind::Job && preview.delete() > 0 && !is_deleted;
        if !is_failing && !preview.notes.contains(&self.note) {
            preview.notes.push(self.note.clone());
        }
    }
}

/// Counts all pods among those that are deleted.
fn delete_all(preview: &mut Preview<'_>) {
    let active = preview.active();
    preview.groups.iter_mut().for_each(|group| group.delete = group.pods.len());
    preview.notes.retain(|note| note.code != NoteCode::ControllerIdle);
    if let Some(rest) = &mut preview.rest {
        rest.delete = CountRange::one(active);
        for at_rest in &mut rest.sets {
            let group = preview.groups.iter().find(|group| group.replica_set == at_rest.replica_set);
            at_rest.delete = CountRange::one(group.map_or(0, |group| group.delete));
        }
        rest.interrupt();
    }
}

//! Notes on what else sets the replica count of a plan: autoscalers, and the owner of the workload.

use crate::answer::Note;
use crate::decide::{autoscaler_notes, owner_note};
use crate::plan::planned::Plan;
use crate::snapshot::{Release, Snapshot, WorkloadRef};

/// Returns what a reader should know of those who also set the count, as far as the input has them.
pub fn check_interference(input: &Snapshot, plan: &Plan) -> Vec<Note> {
    let Plan { namespace, target, replicas, .. } = plan;
    let release = Release::TESTED;
    let mut notes = autoscaler_notes(input, namespace, &target.kind, &target.name, *replicas, release);
    if let Some(kind) = target.workload_kind() {
        notes.extend(owner_note(input, WorkloadRef { namespace, kind, name: &target.name }, *replicas));
    }
    notes
}

//! What else acts on the count of a plan: autoscalers, and whoever owns it.

use crate::answer::note::Note;
use crate::decide::interference::{autoscaler_notes, owner_note};
use crate::dump::input::Input;
use crate::object::release::Release;
use crate::object::workload::WorkloadRef;
use crate::steer::plan::Plan;

/// Returns what a reader should know of those who also set the count, as far as the input has them.
pub fn check_interference(input: &Input, plan: &Plan) -> Vec<Note> {
    let Plan { namespace, target, replicas, .. } = plan;
    let release = Release::TESTED;
    let mut notes = autoscaler_notes(input, namespace, &target.kind, &target.name, *replicas, release);
    if let Some(kind) = target.workload_kind() {
        notes.extend(owner_note(input, WorkloadRef { namespace, kind, name: &target.name }, *replicas));
    }
    notes
}

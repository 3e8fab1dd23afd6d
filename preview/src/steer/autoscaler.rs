//! What autoscalers do to the count of a plan.

use crate::answer::note::Note;
use crate::decide::interference::autoscaler_notes;
use crate::dump::input::Input;
use crate::steer::plan::Plan;

/// Returns what a reader should know of the autoscalers of the workload that are in the input.
pub fn check_autoscalers(input: &Input, plan: &Plan) -> Vec<Note> {
    let target = &plan.target;
    autoscaler_notes(input, &plan.namespace, &target.kind, &target.name, plan.replicas)
}

//! The notes of a plan, and those on what else sets its replica count or covers its pods.

use crate::answer::{Note, NoteCode};
use crate::decide::{Scaled, autoscaler_notes, owner_note};
use crate::plan::Plan;
use crate::snapshot::budget::{Amount, Budget, Spec};
use crate::snapshot::{Release, Snapshot, WorkloadRef};
use crate::text;
use std::collections::HashMap;

/// Returns what a reader should know of those who also set the count, as far as the input has them.
pub fn check_interference(input: &Snapshot, plan: &Plan, release: Option<Release>) -> Vec<Note> {
    let Plan { namespace, target, replicas, .. } = plan;
    let (kind, name) = ((&*target.kind).into(), &*target.name);
    let release = release.unwrap_or(Release::TESTED);
    let scaled = Scaled { namespace, kind, name, replicas: *replicas, release };
    let mut notes = autoscaler_notes(input, &scaled);
    let id = target.workload_kind().map(|kind| WorkloadRef { namespace, kind, name });
    notes.extend(id.and_then(|id| owner_note(input, id, *replicas)));
    notes
}

impl Budget {
    /// `PodDisruptionBudget web (minAvailable 3)`
    fn title(&self) -> String {
        let (field, amount) = match &self.spec {
            Spec { max_unavailable: Some(amount), .. } => ("maxUnavailable", amount),
            Spec { min_available: Some(amount), .. } => ("minAvailable", amount),
            _ => return format!("PodDisruptionBudget {}", self.meta.name),
        };
        let amount = match amount {
            Amount::Pods(pods) => pods.to_string(),
            Amount::Percent(percent) => text::word(percent).into_owned(),
        };
        format!("PodDisruptionBudget {} ({field} {amount})", self.meta.name)
    }
}

/// Names the budgets in the input that cover pods that go, which the controller ignores. `None` if there are none.
pub fn check_budgets(input: &Snapshot, plan: &Plan) -> Option<Note> {
    let budgets = input.budgets.iter().filter(|budget| budget.meta.namespace == plan.namespace);
    // If a pod is listed twice, the first entry counts, which the map takes last.
    let known = input.pods.iter().rev().filter(|pod| pod.meta.namespace == plan.namespace);
    let labels: HashMap<_, _> = known.map(|pod| (pod.name(), &pod.meta.labels)).collect();
    let selected: Vec<_> = plan.selected().filter_map(|pod| labels.get(&*pod.name)).collect();
    let budgets = budgets.filter(|budget| selected.iter().any(|labels| budget.covers(labels)));
    let titles: Vec<_> = budgets.map(Budget::title).collect();
    let (verb, them) = match titles.len() {
        0 => return None,
        1 => ("covers", "it"),
        _ => ("cover", "them"),
    };
    let text = format!(
        "{} {verb} selected pods, but the controller ignores {them} when it deletes pods",
        text::list(&titles)
    );
    Some(Note::warning(NoteCode::DisruptionBudget, text))
}

//! podrank's own deletion costs on pods, which an interrupted run left or `--keep-costs` kept: names them. Decides nothing.

use crate::answer::note::{Note, NoteCode};
use crate::answer::preview::Preview;
use crate::snapshot::pod::PodEntry;
use crate::snapshot::read::Input;
use crate::snapshot::workload::WorkloadName;
use crate::text;
use std::collections::BTreeSet;

/// Adds a note about such costs to a preview.
pub(crate) fn add(preview: &mut Preview<'_>) {
    let kind = preview.workload.kind;
    let own = || preview.pods().filter(|pod| pod.is_own_cost).map(|pod| pod.pod.record.pod.deletion_cost);
    let pods = own().count() as u64;
    if pods > 0 {
        let costs: Vec<_> = own().collect::<BTreeSet<_>>().into_iter().collect();
        let has =
            if pods == 1 { "has podrank's own deletion cost" } else { "have podrank's own deletion costs" };
        let workload = WorkloadName { kind: Some(kind), name: preview.workload.name.to_owned() };
        let text = format!(
            "{} {has} ({}), which an interrupted run or --keep-costs left; to take them off: kubectl podrank undo {workload} -n {}",
            text::count(pods, "pod"),
            text::list(&costs),
            text::name(preview.namespace),
        );
        preview.notes.push(Note::new(NoteCode::LeftoverCosts, text));
    }
}

impl Input {
    /// Whether pods have deletion costs of which the input does not say who wrote them.
    pub fn has_costs_of_nobody(&self) -> bool {
        let cost =
            |pod: &PodEntry| Some(pod.record.as_ref()?.as_ref().ok()?.cost.as_ref()?.managers.is_empty());
        self.pods.iter().any(|pod| cost(pod) == Some(true))
    }
}

//! podrank's own deletion costs on pods, which an interrupted run left or `--keep-costs` kept: names them. Decides nothing.

use crate::answer::note::{Note, NoteCode};
use crate::answer::order::ScaleDownOrder;
use crate::answer::preview::Preview;
use crate::question::options::Options;
use crate::snapshot::cost::{CostOwner, WrittenCost};
use crate::snapshot::read::Input;
use crate::snapshot::workload::{WorkloadKind, WorkloadName};
use crate::text;
use std::collections::{BTreeSet, HashSet};

/// Marks the pods of a preview that have such costs, and adds a note.
pub(crate) fn add(preview: &mut Preview<'_>, input: &Input, options: &Options) {
    let kind = preview.workload.kind;
    if !WorkloadKind::WITH_COSTS.contains(&kind) || !options.gates.pod_deletion_cost {
        return;
    }
    let own = own(input, preview.namespace);
    let (mut pods, mut costs) = (0_u64, BTreeSet::new());
    for pod in preview.pods_mut().filter(|pod| own.contains(pod.name)) {
        pod.details.is_own_cost = true;
        costs.insert(pod.details.deletion_cost);
        pods += 1;
    }
    if pods > 0 {
        let costs: Vec<_> = costs.into_iter().collect();
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

/// Marks the pods of an order in the same way. Its notes are those of a preview.
pub(crate) fn mark(order: &mut ScaleDownOrder<'_>, input: &Input) {
    if order.notes.iter().any(|note| note.code == NoteCode::LeftoverCosts) {
        let own = own(input, order.namespace);
        let pods = order.sets.iter_mut().flat_map(|set| &mut set.pods);
        pods.filter(|pod| own.contains(pod.name)).for_each(|pod| pod.details.is_own_cost = true);
    }
}

/// The active pods in a namespace whose costs are podrank's alone.
fn own<'a>(input: &'a Input, namespace: &str) -> HashSet<&'a str> {
    let is_own = |cost: &WrittenCost| cost.owner(None) == CostOwner::Podrank;
    let pods = costs(input).filter(|(its, _, _)| *its == namespace);
    pods.filter(|(_, _, cost)| is_own(cost)).map(|(_, name, _)| name).collect()
}

/// Each active pod with a cost: its namespace, its name and the cost.
fn costs(input: &Input) -> impl Iterator<Item = (&str, &str, &WrittenCost)> {
    input.pods.iter().filter_map(|pod| {
        let cost = pod.record.as_ref()?.as_ref().ok()?.cost.as_ref()?;
        Some((&*pod.namespace, &*pod.name, &**cost))
    })
}

impl Input {
    /// Whether pods have deletion costs of which the input does not say who wrote them.
    pub fn has_costs_of_nobody(&self) -> bool {
        costs(self).any(|(_, _, cost)| cost.managers.is_empty())
    }
}

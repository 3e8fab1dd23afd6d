//! A plan as a table for people: what Kubernetes does without the plan, beside what the plan makes it do, and each write.

use crate::view::{self, Row, Table, count, plain};
use podrank_predict::Verdict;
use podrank_predict::plan::{Plan, PlannedPod, nodes_text};

/// The plan.
#[must_use]
pub fn table(plan: &Plan) -> Table {
    let Plan { from, replicas, delete, writes, .. } = plan;
    let row = |pod: &&PlannedPod| {
        let verdict = if pod.is_selected { Verdict::Deleted } else { Verdict::Kept };
        let cells = vec![
            view::verdict_cell(pod.default_verdict, pod.probability),
            view::verdict_cell(verdict, None),
            pod.name.clone(),
            pod.node.clone().unwrap_or_else(|| "<none>".to_owned()),
            cost(pod),
            pod.write.map_or_else(|| "-".to_owned(), |cost| cost.to_string()),
            why(pod),
        ];
        Row { verdict, cells }
    };
    let unsteerable = plan.unsteerable.iter().map(|ahead| {
        format!(
            "{} is deleted before {}, whatever their costs: {}.",
            ahead.name, ahead.before, ahead.reason.text
        )
    });
    let (shown, kept): (Vec<_>, Vec<_>) = plan.pods.iter().partition(|pod| matters(pod));
    let kept =
        (!kept.is_empty()).then(|| format!("kept, with or without the plan: {}", count(kept.len(), "pod")));
    Table {
        sentences: vec![format!(
            "Plan for {} from {from} to {replicas}: delete {}, write {}.",
            plan.target,
            count(*delete, "pod"),
            count(*writes, "deletion cost")
        )],
        header: vec!["DEFAULT", "PLAN", "POD", "NODE", "COST", "NEW COST", "REASON"],
        rows: shown.iter().map(row).collect(),
        below: kept.into_iter().chain(unsteerable).chain(nodes(plan)).collect(),
        optional: vec!["NODE", "COST"],
        is_cut: true,
        ..Table::default()
    }
}

/// Whether the plan changes something for this pod, or it goes.
fn matters(pod: &PlannedPod) -> bool {
    pod.is_selected || pod.write.is_some() || pod.default_verdict != Verdict::Kept
}

/// The nodes that lose pods, and what keeps them empty.
fn nodes(plan: &Plan) -> impl Iterator<Item = String> {
    let nodes = plan.nodes.as_deref().unwrap_or_default();
    let empty: Vec<_> = nodes.iter().filter(|node| node.becomes_empty).map(|node| &*node.name).collect();
    let text = nodes_text(nodes).map(|text| format!("{text}."));
    let cordon = (!empty.is_empty())
        .then(|| format!("New pods may come there. To prevent that: kubectl cordon {}", empty.join(" ")));
    text.into_iter().chain(cordon)
}

/// Why the pod goes.
fn why(pod: &PlannedPod) -> String {
    let reasons: Vec<_> = pod.why.iter().filter(|_| pod.is_selected).map(|why| plain(&why.text)).collect();
    if reasons.is_empty() { "-".to_owned() } else { reasons.join(", ") }
}

/// The cost, and whose it is.
fn cost(pod: &PlannedPod) -> String {
    match &pod.cost_owner {
        None => "-".to_owned(),
        Some(owner) => format!("{} ({})", pod.deletion_cost, plain(owner)),
    }
}

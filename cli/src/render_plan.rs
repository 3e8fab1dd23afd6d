//! A plan as a table for people: what Kubernetes would do by itself, beside what it is made to do, and each write. Computes
//! text and reads nothing.

use crate::glance;
use crate::look::{Grid, Look, in_sentences, plain};
use podrank_predict::Verdict;
use podrank_predict::plan::{Plan, PlannedPod, told};

/// Returns the plan as a table.
#[must_use]
pub fn table(plan: &Plan, look: Look) -> String {
    let Plan { from, replicas, delete, writes, .. } = plan;
    let row = |pod: &&PlannedPod| {
        let fate = if pod.is_wanted { Verdict::Delete } else { Verdict::Keep };
        let cells = vec![
            glance::fate(pod.by_itself, pod.odds),
            glance::fate(fate, None),
            pod.name.clone(),
            pod.node.clone().unwrap_or_else(|| "<none>".to_owned()),
            cost(pod),
            pod.write.map_or_else(|| "-".to_owned(), |cost| cost.to_string()),
            why(pod),
        ];
        (fate, cells)
    };
    let blocked = plan.blocked.iter().map(|ahead| {
        format!("{} goes before {}, whatever their costs: {}", ahead.name, ahead.before, ahead.why)
    });
    let below: Vec<_> = blocked.chain(nodes(plan)).collect();
    let mut grid = Grid {
        sentences: vec![format!(
            "{} from {from} to {replicas}: {} to go, {} to write",
            plan.target,
            count(*delete, "pod"),
            count(*writes, "deletion cost")
        )],
        header: vec!["BY ITSELF", "STEERED", "POD", "NODE", "COST", "WRITE", "BECAUSE"],
        give_way: vec!["NODE", "COST"],
        is_cut: true,
        ..Grid::of_sentences([])
    };
    let beside: Vec<_> = plan.notes.iter().map(ToString::to_string).chain(below.iter().cloned()).collect();
    // The last line is for those that are left out.
    let fits = |most: usize| if plan.pods.len() > most { most.saturating_sub(1) } else { most };
    let room = grid.room(look, &beside).map_or(usize::MAX, fits);
    let shown = shown(plan, room);
    grid.rows = shown.iter().map(row).collect();
    let mut text = grid.text(look);
    let shown_go = shown.iter().filter(|pod| pod.is_wanted).count();
    let stay = plan.pods.len() - delete;
    let more = [(delete - shown_go, "go"), (stay - (grid.rows.len() - shown_go), "stay")];
    let more = more.iter().filter(|(pods, _)| *pods > 0);
    let more: Vec<_> = more.map(|(pods, what)| format!("{pods} more that {what}")).collect();
    if !more.is_empty() {
        text.extend(["… and ", &more.join(", and "), "\n"]);
    }
    text + &in_sentences(&below, look)
}

/// The first pods, as many as there is room for: those that go and those that are written rather than others.
fn shown(plan: &Plan, room: usize) -> Vec<&PlannedPod> {
    let matters = |pod: &PlannedPod| pod.is_wanted || pod.write.is_some();
    let number = plan.pods.iter().filter(|pod| matters(pod)).count();
    let mut left = [room.min(number), room.saturating_sub(number)];
    let is_shown = |pod: &&PlannedPod| {
        let left = &mut left[usize::from(!matters(pod))];
        let is_shown = *left > 0;
        *left = left.saturating_sub(1);
        is_shown
    };
    plan.pods.iter().filter(is_shown).collect()
}

/// What becomes of the nodes that lose pods, and what keeps them empty.
fn nodes(plan: &Plan) -> impl Iterator<Item = String> {
    let nodes = plan.nodes.as_deref().unwrap_or_default();
    let empty: Vec<_> = nodes.iter().filter(|node| node.becomes_empty).map(|node| &*node.name).collect();
    let told = told(nodes).map(|told| format!("{told}."));
    let cordon = (!empty.is_empty())
        .then(|| format!("New pods may come there. To prevent that: kubectl cordon {}", empty.join(" ")));
    told.into_iter().chain(cordon)
}

/// Why the pod goes.
fn why(pod: &PlannedPod) -> String {
    let reasons: Vec<_> = pod.why.iter().filter(|_| pod.is_wanted).map(|why| plain(&why.text)).collect();
    if reasons.is_empty() { "-".to_owned() } else { reasons.join(", ") }
}

/// The cost, and whose it is.
fn cost(pod: &PlannedPod) -> String {
    match &pod.cost_owner {
        None => "-".to_owned(),
        Some(owner) => format!("{} ({})", pod.deletion_cost, plain(owner)),
    }
}

/// `1 pod`, `2 pods`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

//! What makes a plan another one than that which a user has confirmed. Compares two plans, and reads nothing else.

use crate::answer::{Note, NoteCode};
use crate::plan::{Plan, PlannedPod};
use crate::text;
use std::collections::{BTreeSet, HashMap, HashSet};

/// How a later plan differs from the confirmed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanDiff {
    /// The pods that are no longer selected, those that are now, why, and what else is new: the count, nodes and warnings.
    /// `no longer selected: web-kp6lj; now selected: web-zv9mj; web-zv9mj is no longer ready`
    pub text: String,
    /// Whether all that the user asked for holds: the named pods, the count and the preferences. Then only pods differ that nobody named.
    pub holds: bool,
}

/// Compares a plan with the one that was confirmed. `None` if it selects the same pods at the same count, empties the
/// nodes that were to become empty, and has no new warning. Other pods may have been created, aged or been deleted.
#[must_use]
pub fn difference(confirmed: &Plan, now: &Plan) -> Option<PlanDiff> {
    let mut holds = fulfils(confirmed, now);
    let (mut minus, mut plus, mut because) = (Vec::new(), Vec::new(), Vec::new());
    let before: HashMap<_, _> = confirmed.pods.iter().map(|pod| (&*pod.uid, pod)).collect();
    let after: HashMap<_, _> = now.pods.iter().map(|pod| (&*pod.uid, pod)).collect();
    if (confirmed.from, confirmed.replicas) != (now.from, now.replicas) {
        holds = false;
        let Plan { target, from, replicas, .. } = now;
        because
            .push(format!("{target} has {} now and is scaled to {replicas}", text::count(*from, "replica")));
    }
    for pod in confirmed.selected().filter(|pod| !after.get(&*pod.uid).is_some_and(|pod| pod.is_selected)) {
        minus.push(text::name(&pod.name));
        holds &= !pod.is_named;
        if !after.contains_key(&*pod.uid) {
            because.push(format!("{} was deleted", text::name(&pod.name)));
        }
    }
    for pod in now.selected() {
        let earlier = before.get(&*pod.uid).copied();
        if !earlier.is_some_and(|earlier| earlier.is_selected) {
            plus.push(text::name(&pod.name));
            because.extend(why_now(earlier, pod));
        }
    }
    let occupied = occupied(confirmed, now);
    let known: HashSet<_> = confirmed.notes.iter().map(Note::identity).collect();
    let warnings = now.notes.iter().filter(|note| note.is_warning && !known.contains(&note.identity()));
    let warnings: Vec<_> = warnings.collect();
    // How far the preferences are fulfilled, `fulfils` has compared.
    holds &= occupied.is_empty() && warnings.iter().all(|note| note.code == NoteCode::Preference);
    because.extend(occupied.into_iter().chain(warnings.iter().map(|note| note.text.clone())));
    let pods = [("no longer selected", minus), ("now selected", plus)].into_iter();
    let pods = pods.filter(|(_, names)| !names.is_empty());
    let pods = pods.map(|(what, names)| format!("{what}: {}", names.join(", ")));
    let parts: Vec<_> = pods.chain(because).collect();
    (!parts.is_empty()).then(|| PlanDiff { text: parts.join("; "), holds })
}

/// Returns an error if a plan is for another object of that name, or for other sets: what was confirmed says nothing about these.
///
/// # Errors
/// A sentence for a reader.
pub fn same_sets(confirmed: &Plan, now: &Plan) -> Result<(), String> {
    if now.target.uid != confirmed.target.uid {
        return Err(format!("{} was replaced meanwhile", now.target));
    }
    let names = |plan: &Plan| plan.sets.iter().map(|set| set.replica_set.clone()).collect::<Vec<_>>();
    if names(now) != names(confirmed) {
        return Err(format!("{} was rolled out meanwhile", now.target));
    }
    Ok(())
}

/// Whether a plan fulfils each preference as far as the confirmed one: no more ready pods are deleted that do not match it. Kubernetes
/// deletes other pods first whatever the preferences are.
fn fulfils(confirmed: &Plan, now: &Plan) -> bool {
    let unmatched = |plan: &Plan, preference: usize| {
        let is_it = |pod: &&PlannedPod| pod.is_ready && !pod.is_named && !pod.matches(preference);
        plan.selected().filter(is_it).count()
    };
    now.preferences.iter().all(|(place, _)| unmatched(now, *place) <= unmatched(confirmed, *place))
}

/// Why a pod is now selected that was not before, as far as its state shows it.
fn why_now(earlier: Option<&PlannedPod>, now: &PlannedPod) -> Option<String> {
    let name = text::name(&now.name);
    match earlier {
        None => Some(format!("{name} is new")),
        Some(earlier) if earlier.is_ready && !now.is_ready => Some(format!("{name} is no longer ready")),
        Some(_) => None,
    }
}

/// The nodes that were to become empty and do not.
fn occupied(confirmed: &Plan, now: &Plan) -> Vec<String> {
    let empty = |plan: &Plan| -> BTreeSet<String> {
        let nodes = plan.nodes.iter().flatten().filter(|node| node.becomes_empty);
        nodes.map(|node| node.name.clone()).collect()
    };
    let lost = &empty(confirmed) - &empty(now);
    lost.iter().map(|node| format!("node {} does not become empty", text::name(node))).collect()
}

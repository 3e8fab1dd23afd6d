//! What makes a plan another one than that which a user has confirmed. Compares two plans, and reads nothing else.

use crate::answer::{Note, NoteCode};
use crate::plan::{Plan, PlannedPod};
use crate::text;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

/// How a later plan differs from the confirmed one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDiff {
    /// The names of the pods that are no longer selected.
    pub minus: Vec<String>,
    /// The names of the pods that are now selected.
    pub plus: Vec<String>,
    /// Why, each a clause for a reader, and what else is new: the count, nodes and warnings.
    pub because: Vec<String>,
    /// Whether all that the user asked for holds: the named pods, the count and the preferences. Then only pods differ that nobody named.
    pub holds: bool,
}

/// Compares a plan with the one that was confirmed. `None` if it selects the same pods at the same count, empties the
/// nodes that were to become empty, and has no new warning. Other pods may have been created, aged or been deleted.
#[must_use]
pub fn difference(confirmed: &Plan, now: &Plan) -> Option<PlanDiff> {
    let mut difference = PlanDiff { holds: fulfils(confirmed, now), ..PlanDiff::default() };
    let before: HashMap<_, _> = confirmed.pods.iter().map(|pod| (&*pod.uid, pod)).collect();
    let after: HashMap<_, _> = now.pods.iter().map(|pod| (&*pod.uid, pod)).collect();
    if (confirmed.from, confirmed.replicas) != (now.from, now.replicas) {
        difference.holds = false;
        let Plan { target, from, replicas, .. } = now;
        let why = format!("{target} has {} now and is scaled to {replicas}", text::count(*from, "replica"));
        difference.because.push(why);
    }
    for pod in confirmed.selected().filter(|pod| !after.get(&*pod.uid).is_some_and(|pod| pod.is_selected)) {
        difference.minus.push(pod.name.clone());
        difference.holds &= !pod.is_named;
        if !after.contains_key(&*pod.uid) {
            difference.because.push(format!("{} was deleted", text::name(&pod.name)));
        }
    }
    for pod in now.selected() {
        let earlier = before.get(&*pod.uid).copied();
        if !earlier.is_some_and(|earlier| earlier.is_selected) {
            difference.plus.push(pod.name.clone());
            difference.because.extend(why_now(earlier, pod));
        }
    }
    let occupied = occupied(confirmed, now);
    let known: HashSet<_> = confirmed.notes.iter().map(Note::identity).collect();
    let warnings = now.notes.iter().filter(|note| note.is_warning && !known.contains(&note.identity()));
    let warnings: Vec<_> = warnings.collect();
    // How far the preferences are fulfilled, `fulfils` has compared.
    difference.holds &= occupied.is_empty() && warnings.iter().all(|note| note.code == NoteCode::Preference);
    difference.because.extend(occupied.into_iter().chain(warnings.iter().map(|note| note.text.clone())));
    let PlanDiff { minus, plus, because, .. } = &difference;
    let is_none = minus.is_empty() && plus.is_empty() && because.is_empty();
    (!is_none).then_some(difference)
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

impl fmt::Display for PlanDiff {
    /// `no longer selected: web-kp6lj; now selected: web-zv9mj; web-zv9mj is no longer ready`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pods = |what: &str, names: &[String]| {
            let list = || names.iter().map(|name| text::name(name)).collect::<Vec<_>>().join(", ");
            (!names.is_empty()).then(|| format!("{what}: {}", list()))
        };
        let pods = [pods("no longer selected", &self.minus), pods("now selected", &self.plus)];
        let parts: Vec<_> = pods.into_iter().flatten().chain(self.because.iter().cloned()).collect();
        f.write_str(&parts.join("; "))
    }
}

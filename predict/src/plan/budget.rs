//! What a `PodDisruptionBudget` means for a plan. Evictions respect it: this finds the lowest count that it can ever
//! allow, as the disruption controller computes it, and refuses a plan that goes below. A controller's own deletions
//! ignore it.

use crate::answer::note::{Note, NoteCode};
use crate::plan::planned::{Plan, PlannedPod};
use crate::snapshot::budget::{Amount, Budget, Spec};
use crate::snapshot::pod::PodEntry;
use crate::snapshot::read::Input;
use crate::snapshot::surrounding::Surrounding;
use crate::text;
use crate::text::error::Error;

impl Amount {
    /// The number of pods out of `expected`. Kubernetes rounds up. `None` if it is no percentage.
    fn of(&self, expected: u64) -> Option<u64> {
        match self {
            Self::Pods(pods) => Some(u64::from(*pods)),
            Self::Percent(text) => {
                let percent: u32 = text.strip_suffix('%')?.parse().ok()?;
                Some((u64::from(percent) * expected).div_ceil(100))
            }
        }
    }
}

impl Budget {
    /// `PodDisruptionBudget web (minAvailable 3)`
    fn title(&self) -> String {
        let (field, amount) = match &self.spec {
            Spec { max_unavailable: Some(amount), .. } => ("maxUnavailable", amount),
            Spec { min_available: Some(amount), .. } => ("minAvailable", amount),
            _ => return format!("PodDisruptionBudget {}", self.name()),
        };
        let amount = match amount {
            Amount::Pods(pods) => pods.to_string(),
            Amount::Percent(percent) => text::word(percent).into_owned(),
        };
        format!("PodDisruptionBudget {} ({field} {amount})", self.name())
    }

    /// The number of disruptions that it allows when all of `expected` pods are healthy: it never allows more.
    fn most_allowed(&self, expected: u64) -> u64 {
        let most = match &self.spec {
            Spec { max_unavailable: Some(amount), .. } => amount.of(expected),
            Spec { min_available: Some(amount), .. } => {
                amount.of(expected).map(|least| expected.saturating_sub(least))
            }
            // Kubernetes expects no pods then, and allows no disruption.
            _ => Some(0),
        };
        most.unwrap_or(expected).min(expected)
    }

    /// The number of pods of others that it counts, if the workload has `active` pods and `inactive` ones that are not gone
    /// yet. `None` if it has no current status.
    fn others(&self, active: u32, inactive: u32) -> Option<u32> {
        // It counts pods in whatever state if `minAvailable` is a number, and otherwise the replicas of the controllers.
        let counts_pods =
            matches!(self.spec, Spec { max_unavailable: None, min_available: Some(Amount::Pods(_)), .. });
        let own = active + if counts_pods { inactive } else { 0 };
        Some(self.status()?.expected_pods?.saturating_sub(own))
    }

    /// The lowest count to which evictions can get from `from`, if it counts as many pods of `others`, or an unknown number.
    fn lowest(&self, from: u32, others: Option<u32>) -> u32 {
        match others {
            Some(others) => {
                let forbids = |count: &u32| self.most_allowed(u64::from(*count) + u64::from(others)) == 0;
                (0..=from).rev().find(forbids).unwrap_or(0)
            }
            // Whatever other pods there are.
            None if self.most_allowed(u64::from(u32::MAX)) == 0 => from,
            None => 0,
        }
    }
}

/// Returns what a reader should know of the budgets in the input that cover pods that go.
///
/// # Errors
/// If pods are to be evicted, and a budget can never allow all of these evictions.
pub fn check_budgets(input: &Input, plan: &Plan, by_eviction: bool) -> Result<Vec<Note>, Error> {
    let budgets = input.surroundings_in(Some(&plan.namespace)).filter_map(|entry| match &entry.object {
        Ok(Surrounding::Budget(budget)) => Some(budget),
        _ => None,
    });
    let labels = |pod: &PlannedPod| {
        let mut known = input.pods.iter().filter(|known| known.namespace == plan.namespace);
        known.find(|known| known.name == pod.name).map(|known| &known.labels)
    };
    let covers = |budget: &Budget, pod: &PlannedPod| labels(pod).is_some_and(|labels| budget.covers(labels));
    let budgets: Vec<_> = budgets.filter(|budget| plan.wanted().any(|pod| covers(budget, pod))).collect();
    if !by_eviction {
        return Ok(note_of_scale(&budgets).into_iter().collect());
    }
    // Budgets do not always count pods that are not ready.
    let ready: Vec<_> = plan.wanted().filter(|pod| pod.is_ready).collect();
    for pod in &ready {
        let of_pod: Vec<_> =
            budgets.iter().filter(|budget| covers(budget, pod)).map(|budget| budget.title()).collect();
        if of_pod.len() > 1 {
            return Err(Error::new(format!(
                "{} has {}, and Kubernetes evicts no pod that has several: delete all but one of them",
                pod.name,
                of_pod.join(" and ")
            )));
        }
    }
    let mut notes = Vec::new();
    for budget in budgets.iter().filter(|budget| ready.iter().any(|pod| covers(budget, pod))) {
        let covers_all = plan.pods.iter().all(|pod| covers(budget, pod));
        let is_inactive = |pod: &&PodEntry| !pod.is_active() && pod.namespace == plan.namespace;
        let inactive = input.pods.iter().filter(is_inactive).filter(|pod| budget.covers(&pod.labels)).count();
        let inactive = u32::try_from(inactive).unwrap_or(0);
        let unready = u32::try_from(plan.delete - ready.len()).unwrap_or(0);
        let others = budget.others(plan.from, inactive).filter(|_| covers_all);
        let lowest = budget.lowest(plan.from - unready, others);
        let allowed = budget.status().and_then(|status| status.disruptions_allowed);
        let title = budget.title();
        if plan.replicas < lowest {
            let now = allowed.map_or_else(String::new, |allowed| {
                format!(" allows {} now, and", text::count(allowed, "disruption"))
            });
            return Err(Error::new(format!(
                "{title}{now} never lets evictions lower {} below {}, but {} would be left: \
                 keep {lowest} or more, or change the budget",
                plan.target,
                text::count(lowest, "replica"),
                plan.replicas,
            )));
        }
        if allowed == Some(0) {
            let text = format!(
                "{title} allows no disruption now: each eviction waits until it does, for --timeout at most"
            );
            notes.push(Note::new(NoteCode::DisruptionBudget, text));
        }
    }
    Ok(notes)
}

/// That the controller ignores the budgets. `None` if there are none.
fn note_of_scale(budgets: &[&Budget]) -> Option<Note> {
    let titles: Vec<_> = budgets.iter().map(|budget| budget.title()).collect();
    let (verb, them) = match titles.len() {
        0 => return None,
        1 => ("covers", "it"),
        _ => ("cover", "them"),
    };
    let text = format!(
        "{} {verb} pods that go, but the controller ignores {them} when it deletes pods: --by eviction respects {them}, if evictions can go that far",
        text::list(&titles)
    );
    Some(Note::new(NoteCode::DisruptionBudget, text))
}

//! Kubernetes' `activePodsForRemoval`: pods with a wrong index first, then the first of the order.

use super::{JobReason, MAX_DELETIONS, NO_INDEX};
use crate::sync::{PodOutcome, Verdict};
use podrank::{KubernetesOrdering, Pod};
use std::cmp::Ordering;

/// A removal in progress.
pub(super) struct Removal<'a> {
    pods: &'a [Pod],
    /// One for each pod.
    outcomes: Vec<PodOutcome<JobReason>>,
    /// How many more pods this sync may delete.
    room: usize,
    /// How many pods are to go in all, in this sync or later.
    total: usize,
}

impl<'a> Removal<'a> {
    pub(super) fn new(pods: &'a [Pod]) -> Self {
        let outcomes = vec![PodOutcome::new(Verdict::Kept, JobReason::Kept); pods.len()];
        Self { pods, outcomes, room: MAX_DELETIONS, total: 0 }
    }

    /// Removes at least `surplus` pods. Returns what becomes of each, how many go, and how many more go later.
    pub(super) fn run(mut self, surplus: usize) -> (Vec<PodOutcome<JobReason>>, usize, usize) {
        self.remove_first(surplus.saturating_sub(self.total));
        let deleted = MAX_DELETIONS - self.room;
        (self.outcomes, deleted, self.total - deleted)
    }

    /// Upstream's `appendDuplicatedIndexPodsForRemoval`. Its last run of equal indexes below the completions comes after those beyond. If
    /// no index is below them, that run is the one of pods without an index.
    pub(super) fn remove_wrong_indexes(&mut self, indexes: &[i64], completions: i64) {
        let completions = completions.max(0);
        let index = |pod: usize| indexes[pod].max(NO_INDEX);
        let last = (0..indexes.len()).map(index).filter(|index| *index < completions).max();
        let place = |pod: usize| (Some(index(pod)) == last, index(pod));
        let pods = self.pods;
        let mut order: Vec<_> = (0..pods.len()).collect();
        order.sort_by(|a, b| place(*a).cmp(&place(*b)).then_with(|| by_order(pods, *a, *b)));
        for run in order.chunk_by(|a, b| index(*a) == index(*b)) {
            match index(run[0]) {
                NO_INDEX => self.remove(run, run.len(), JobReason::NoIndex),
                index if index >= completions => self.remove(run, run.len(), JobReason::BeyondCompletions),
                _ => {
                    // All but the last in the order.
                    let mut spare = run.len() - 1;
                    for ties in run.chunk_by(|a, b| are_tied(pods, *a, *b)) {
                        let goes = spare.min(ties.len());
                        spare -= goes;
                        self.remove(ties, goes, JobReason::Duplicate);
                    }
                }
            }
        }
    }

    /// Removes this number of pods, of which upstream may take any first.
    fn remove(&mut self, pods: &[usize], number: usize, reason: JobReason) {
        let goes = self.take(number);
        for pod in pods {
            let outcome = &mut self.outcomes[*pod];
            *outcome = match goes {
                0 if number == 0 => continue,
                0 => PodOutcome::new(Verdict::Kept, JobReason::NextSync),
                _ => PodOutcome::new(Verdict::Deleted, reason),
            };
            if goes > 0 && goes < pods.len() {
                outcome.contest(pods[0], goes);
            }
        }
    }

    /// Removes this number of the pods that are left, the first of the order first.
    ///
    /// Of an index whose last pods tie, one is left. It does not matter which: the order says the same of all.
    fn remove_first(&mut self, mut number: usize) {
        let pods = self.pods;
        let mut order: Vec<_> =
            (0..pods.len()).filter(|pod| self.outcomes[*pod].verdict != Verdict::Deleted).collect();
        order.sort_by(|a, b| by_order(pods, *a, *b));
        for ties in order.chunk_by(|a, b| are_tied(pods, *a, *b)) {
            if number == 0 {
                return;
            }
            // How many are left of these, and how many of the others go. Exact as long as there is room for more.
            let (mut left, mut gone) = (0, 0);
            for pod in ties {
                let outcome = &self.outcomes[*pod];
                let is_contested = outcome.verdict == Verdict::Possible;
                if !is_contested || outcome.group == *pod {
                    left += 1;
                    gone += if is_contested { outcome.quota } else { 0 };
                }
            }
            let wanted = number.min(left);
            number -= wanted;
            let goes = self.take(wanted);
            for pod in ties {
                let outcome = &mut self.outcomes[*pod];
                if outcome.reason == JobReason::Kept {
                    outcome.reason = if goes == 0 { JobReason::NextSync } else { JobReason::Surplus };
                }
                // A contested group counts where its first pod is. If that is in another tie, none may be left here.
                if goes > 0 && goes == left {
                    outcome.decide(Verdict::Deleted);
                } else if goes > 0 {
                    outcome.contest(ties[0], goes + gone);
                }
            }
        }
    }

    /// Counts this number of pods, and returns how many of them go in this sync.
    fn take(&mut self, number: usize) -> usize {
        let goes = number.min(self.room);
        self.room -= goes;
        self.total += number;
        goes
    }
}

/// Kubernetes' `ActivePods`, and then the UID and the index, so that the result does not depend on how it was sorted.
fn by_order(pods: &[Pod], a: usize, b: usize) -> Ordering {
    match relation(pods, a, b) {
        KubernetesOrdering::Before => Ordering::Less,
        KubernetesOrdering::After => Ordering::Greater,
        KubernetesOrdering::Tie => pods[a].uid.cmp(&pods[b].uid).then(a.cmp(&b)),
    }
}

fn are_tied(pods: &[Pod], a: usize, b: usize) -> bool {
    relation(pods, a, b) == KubernetesOrdering::Tie
}

fn relation(pods: &[Pod], a: usize, b: usize) -> KubernetesOrdering {
    super::order().kubernetes_compare(&Pod { rank: 0, ..pods[a] }, &Pod { rank: 0, ..pods[b] }).0
}

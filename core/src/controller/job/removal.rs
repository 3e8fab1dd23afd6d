//! Kubernetes' `activePodsForRemoval`: pods with a wrong index first, then the first of the order.

use super::{MAX_DELETIONS, Outcome, Reason};
use crate::controller::Verdict;
use crate::select::fill_with_indices;
use crate::sort::{runs, sort};
use crate::{FeatureGates, Pod, Policy, Relation};
use core::cmp::Ordering;

/// A removal in progress.
pub(super) struct Removal<'a> {
    pods: &'a [Pod],
    /// One for each pod.
    outcomes: &'a mut [Outcome],
    /// How many more pods this sync may delete.
    room: u32,
    /// How many pods are to go in all, in this sync or later.
    total: u32,
}

/// Where upstream puts a pod of an Indexed Job: the part of its list, and the index.
type Place = (Part, i64);

/// The parts of the list in which upstream finds wrong indexes. Its last run of equal indexes below the completions comes after
/// those beyond. If no index is below them, that run is the one of pods without an index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    NoIndex,
    Valid,
    Beyond,
    LastValid,
    LastNoIndex,
}

impl<'a> Removal<'a> {
    pub(super) fn new(pods: &'a [Pod], outcomes: &'a mut [Outcome]) -> Self {
        Self { pods, outcomes, room: MAX_DELETIONS, total: 0 }
    }

    /// Removes at least `surplus` pods. `indexes` has the pods' indexes and the completions of an Indexed Job. Returns how
    /// many go, and how many more go later.
    pub(super) fn run(
        mut self,
        indexes: Option<(&[i64], i64)>,
        surplus: u32,
        order: &mut [u32],
    ) -> (u32, u32) {
        fill_with_indices(order);
        if let Some((indexes, completions)) = indexes {
            self.remove_wrong_indexes(indexes, completions, order);
        }
        self.remove_first(surplus.saturating_sub(self.total), order);
        let deleted = MAX_DELETIONS.saturating_sub(self.room);
        (deleted, self.total.saturating_sub(deleted))
    }

    /// Upstream's `appendDuplicatedIndexPodsForRemoval`.
    fn remove_wrong_indexes(&mut self, indexes: &[i64], completions: i64, order: &mut [u32]) {
        let last = indexes.iter().copied().filter(|index| *index >= 0 && *index < completions).max();
        let place = |pod: u32| -> Place {
            let index = indexes.get(pod as usize).copied().unwrap_or(super::NO_INDEX);
            match index {
                ..0 if last.is_none() => (Part::LastNoIndex, 0),
                ..0 => (Part::NoIndex, 0),
                _ if index >= completions => (Part::Beyond, index),
                _ if Some(index) == last => (Part::LastValid, index),
                _ => (Part::Valid, index),
            }
        };
        let pods = self.pods;
        sort(order, &|a, b| place(a).cmp(&place(b)).then_with(|| by_order(pods, a, b)).is_lt());
        for run in runs(order, |a, b| place(*a) == place(*b)) {
            let part = run.first().map(|pod| place(*pod).0);
            match part {
                Some(Part::NoIndex | Part::LastNoIndex) => self.remove(run, count(run), Reason::NoIndex),
                Some(Part::Beyond) => self.remove(run, count(run), Reason::BeyondCompletions),
                _ => {
                    // All but the last in the order.
                    let mut spare = count(run).saturating_sub(1);
                    for ties in runs(run, |a, b| are_tied(pods, *a, *b)) {
                        let goes = spare.min(count(ties));
                        spare = spare.saturating_sub(goes);
                        self.remove(ties, goes, Reason::Duplicate);
                    }
                }
            }
        }
    }

    /// Removes this number of pods, of which upstream may take any first.
    fn remove(&mut self, pods: &[u32], number: u32, reason: Reason) {
        let goes = self.take(number);
        let Some(leader) = pods.first() else { return };
        for pod in pods {
            let Some(outcome) = self.outcomes.get_mut(*pod as usize) else { continue };
            *outcome = match goes {
                0 if number == 0 => continue,
                0 => Outcome::new(Verdict::Keep, Reason::NextSync),
                _ => Outcome::new(Verdict::Delete, reason),
            };
            if goes > 0 && goes < count(pods) {
                outcome.contest(*leader, goes);
            }
        }
    }

    /// Removes this number of the pods that are left, the first of the order first.
    ///
    /// Of an index whose last pods tie, one is left. It does not matter which: the order says the same of all.
    fn remove_first(&mut self, mut number: u32, order: &mut [u32]) {
        let pods = self.pods;
        let is_deleted = |outcomes: &[Outcome], pod: u32| {
            outcomes.get(pod as usize).is_some_and(|outcome| outcome.verdict == Verdict::Delete)
        };
        let outcomes: &[Outcome] = self.outcomes;
        sort(order, &|a, b| {
            let deleted_last = is_deleted(outcomes, a).cmp(&is_deleted(outcomes, b));
            deleted_last.then_with(|| by_order(pods, a, b)).is_lt()
        });
        let len = order.iter().take_while(|pod| !is_deleted(outcomes, **pod)).count();
        for ties in runs(order.get_mut(..len).unwrap_or_default(), |a, b| are_tied(pods, *a, *b)) {
            if number == 0 {
                return;
            }
            // How many are left of these, and how many of the others go. Exact as long as there is room for more.
            let (mut left, mut gone) = (0_u32, 0_u32);
            for pod in &*ties {
                let Some(outcome) = self.outcomes.get(*pod as usize) else { continue };
                let is_contested = outcome.verdict == Verdict::Contested;
                if !is_contested || outcome.group == *pod {
                    left = left.wrapping_add(1);
                    gone = gone.wrapping_add(if is_contested { outcome.quota } else { 0 });
                }
            }
            let wanted = number.min(left);
            number = number.saturating_sub(wanted);
            let goes = self.take(wanted);
            let leader = ties.first().copied().unwrap_or(0);
            for pod in &*ties {
                let Some(outcome) = self.outcomes.get_mut(*pod as usize) else { continue };
                if outcome.reason == Reason::Kept {
                    outcome.reason = if goes == 0 { Reason::NextSync } else { Reason::Surplus };
                }
                // A contested group counts where its first pod is. If that is in another tie, none may be left here.
                if goes > 0 && goes == left {
                    outcome.decide(Verdict::Delete);
                } else if goes > 0 {
                    outcome.contest(leader, goes.wrapping_add(gone));
                }
            }
        }
    }

    /// Counts this number of pods, and returns how many of them go in this sync.
    fn take(&mut self, number: u32) -> u32 {
        let goes = number.min(self.room);
        self.room = self.room.saturating_sub(goes);
        self.total = self.total.saturating_add(number);
        goes
    }
}

/// Kubernetes' `ActivePods`, and then the UID and the index, so that the result does not depend on how it was sorted.
fn by_order(pods: &[Pod], a: u32, b: u32) -> Ordering {
    match relation(pods, a, b) {
        Relation::Before => Ordering::Less,
        Relation::After => Ordering::Greater,
        Relation::Tie => {
            let uid = |pod: u32| pods.get(pod as usize).map(|pod| pod.uid);
            uid(a).cmp(&uid(b)).then(a.cmp(&b))
        }
    }
}

fn are_tied(pods: &[Pod], a: u32, b: u32) -> bool {
    relation(pods, a, b) == Relation::Tie
}

/// What `ActivePods` is in terms of the comparator with ranks: no time at which ages are taken, no deletion cost, no rank.
fn relation(pods: &[Pod], a: u32, b: u32) -> Relation {
    const POLICY: Policy = Policy::without_now()
        .with_gates(FeatureGates { pod_deletion_cost: false, ..FeatureGates::KUBERNETES });
    let Some((a, b)) = pods.get(a as usize).zip(pods.get(b as usize)) else { return Relation::Tie };
    POLICY.upstream(&Pod { rank: 0, ..*a }, &Pod { rank: 0, ..*b }).0
}

fn count(pods: &[u32]) -> u32 {
    u32::try_from(pods.len()).unwrap_or(u32::MAX)
}

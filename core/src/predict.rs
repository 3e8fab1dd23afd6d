//! Kubernetes' comparator is not an order, but it still determines some victims of a scale-down. This module finds
//! out which.

use crate::ffi::IS_SCRATCH_USED;
use crate::order::{class, value};
use crate::select::fill_with_indices;
use crate::sort::{runs, sort};
use crate::{Error, Pod, Policy, Rule};
use core::cmp::Ordering;

/// Which pods of a scale-down are victims in every list order, in some, or in none: see [`Policy::predict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction<'o> {
    deleted: &'o [u32],
    possible: &'o [u32],
    kept: &'o [u32],
    quota: usize,
}

impl<'o> Prediction<'o> {
    /// Returns the indices of the pods that Kubernetes deletes in every list order, group by group, and inside a
    /// group by the total order.
    #[must_use]
    pub const fn deleted(&self) -> &'o [u32] {
        self.deleted
    }

    /// Returns the indices of the possible pods. Kubernetes deletes [`quota`](Prediction::quota) of them, and the
    /// list order decides which. Either there are none and the quota is 0, or there are more of them than the
    /// quota.
    #[must_use]
    pub const fn possible(&self) -> &'o [u32] {
        self.possible
    }

    /// Returns how many of the possible pods Kubernetes deletes.
    #[must_use]
    pub const fn quota(&self) -> usize {
        self.quota
    }

    /// Returns the indices of the pods that Kubernetes keeps in every list order.
    #[must_use]
    pub const fn kept(&self) -> &'o [u32] {
        self.kept
    }
}

/// The groups of pods among which only the list order decides, in deletion order: see [`Policy::groups`].
/// Each is given as the indices of its pods, by the total order.
#[derive(Clone, Debug)]
pub struct Groups<'o> {
    order: &'o [u32],
    scores: &'o [u64],
    lengths: Lengths,
}

impl<'o> Iterator for Groups<'o> {
    type Item = &'o [u32];

    fn next(&mut self) -> Option<Self::Item> {
        let len = self.lengths.next(self.order, self.scores);
        let (group, rest) = self.order.split_at_checked(len).filter(|_| len > 0)?;
        self.order = rest;
        Some(group)
    }
}

impl Policy {
    /// Returns which pods kube-controller-manager deletes when it deletes `k` of them: those that it deletes in
    /// every list order, those whose fate depends on the list order, and those that it keeps in every list order.
    ///
    /// Pods are possible for three reasons. Pods can tie in everything that Kubernetes' comparator, the
    /// [relation](crate::KubernetesOrdering), compares, because it has no final comparison of UIDs. Of two pods that tie, one
    /// can be before a third and the other after it. And the relation can be cyclic. In each case such pods form a
    /// group, and sorting can put the pods of a group in any order. To see the groups, draw an arrow from each pod
    /// to each pod that it precedes, and arrows in both directions between pods that tie: the groups are the
    /// strongly connected components. The groups themselves always come in the same order. So if the boundary after
    /// the first `k` pods falls inside a group, that group is possible.
    ///
    /// `order` gets the indices of all pods, group by group, and inside a group by the total order. `scores`
    /// is scratch memory. Both need one element per pod, and the call takes O(n log n) steps.
    ///
    /// The result holds for one sync at this `now`. A sync deletes at most
    /// [`BURST_REPLICAS`](crate::controller::BURST_REPLICAS) pods, so for a larger `k`, later syncs can
    /// choose other pods: they count ranks again, at a later time. The result can also differ if an age
    /// reaches the next power of two before the controller runs.
    ///
    /// # Errors
    /// [`Error::ShortBuffer`] if `order` or `scores` is shorter than `pods`, and
    /// [`Error::TooManyPods`] for more than `u32::MAX` pods. In that case nothing is written.
    pub fn predict<'o>(
        &self,
        pods: &[Pod],
        k: usize,
        order: &'o mut [u32],
        scores: &mut [u64],
    ) -> Result<Prediction<'o>, Error> {
        let (order, scores) = self.in_groups(pods, order, scores)?;
        let (from, to) = group_at(order, scores, k);
        let (deleted, rest) = order.split_at_checked(from).unwrap_or_default();
        let (possible, kept) = rest.split_at_checked(to.saturating_sub(from)).unwrap_or_default();
        let quota = if possible.is_empty() { 0 } else { k.saturating_sub(from) };
        Ok(Prediction { deleted, possible, kept, quota })
    }

    /// Returns the groups of pods in the order in which kube-controller-manager deletes them, for any number of
    /// simultaneous deletions: see [`predict`](Policy::predict) for what a group is.
    ///
    /// If the pods before a group are `s` and those up to its end are `e`, each of its pods stays if at most `s` pods are
    /// deleted, certainly goes if at least `e` are, and is possible in between. This holds for deletions in one sync, which are
    /// at most [`BURST_REPLICAS`](crate::controller::BURST_REPLICAS).
    ///
    /// The memory, the time and the errors are those of `predict`.
    ///
    /// # Errors
    /// [`Error::ShortBuffer`] if `order` or `scores` is shorter than `pods`, and
    /// [`Error::TooManyPods`] for more than `u32::MAX` pods. In that case nothing is written.
    pub fn groups<'o>(
        &self,
        pods: &[Pod],
        order: &'o mut [u32],
        scores: &'o mut [u64],
    ) -> Result<Groups<'o>, Error> {
        let (order, scores) = self.in_groups(pods, order, scores)?;
        Ok(Groups { order, scores, lengths: Lengths::default() })
    }

    /// Gives each pod its score, and puts their indices in line: group by group, and inside a group by the total order.
    fn in_groups<'o, 's>(
        &self,
        pods: &[Pod],
        order: &'o mut [u32],
        scores: &'s mut [u64],
    ) -> Result<(&'o [u32], &'s [u64]), Error> {
        if u32::try_from(pods.len()).is_err() {
            return Err(Error::TooManyPods);
        }
        let short = Error::ShortBuffer { len: order.len().min(scores.len()), needed: pods.len() };
        let buffers = order.get_mut(..pods.len()).zip(scores.get_mut(..pods.len()));
        let (order, scores) = buffers.ok_or(short)?;
        fill_with_indices(order);
        self.score(pods, order, scores);
        self.line_up(pods, order, scores);
        Ok((order, scores))
    }
}

/// What Kubernetes' comparator compares, in four steps. If two different times are in one age bucket, it
/// compares the UIDs and stops.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// Everything up to the age bucket of the ready time.
    ReadyAge,
    /// The ready time itself.
    ReadyTime,
    /// After it, everything up to the age bucket of the creation time.
    CreationAge,
    /// The creation time itself. There is nothing more to compare.
    CreationTime,
}

/// What [`Policy::predict`] sorts by.
enum By {
    /// One step, for pods that are equal in all steps before, and then the UID.
    StepAndUid(Step),
    /// The score.
    Score,
    /// The total order.
    TotalOrder,
}

impl Policy {
    /// Gives each pod a score: 2 for every pod that is before it, and 1 for every tie.
    ///
    /// In a sorted list, that is the sum of the positions at which the pods equal to this one start and end.
    ///
    /// Kubernetes orders pods by everything up to the age bucket of the ready time, and then by UID. So this adds
    /// those positions. But pods with equal ready times are ordered by later values instead. So for each group of
    /// them, this subtracts what the UIDs contributed, and adds the positions in their own order: by everything
    /// up to the age bucket of the creation time, and then by UID. Pods with equal creation times tie, which
    /// replaces the contribution of their UIDs, too. Each step sorts only inside the groups of pods that are
    /// equal in all steps before.
    fn score(&self, pods: &[Pod], order: &mut [u32], scores: &mut [u64]) {
        let is_sorted = IS_SCRATCH_USED && self.sort_by_ready_age(pods, order, scores);
        scores.fill(0);
        let of = |a: u32, b: u32| pods.get(a as usize).zip(pods.get(b as usize));
        let have_equal_uids = |&a: &u32, &b: &u32| of(a, b).is_some_and(|(a, b)| a.uid == b.uid);
        let steps = [Step::ReadyAge, Step::ReadyTime, Step::CreationAge, Step::CreationTime];
        for (before, step) in (0..).zip(steps) {
            let by_step = |a, b| of(a, b).map_or(Ordering::Equal, |(a, b)| self.by_step(step, a, b));
            let are_equal_before = |&a: &u32, &b: &u32| {
                of(a, b).is_some_and(|(a, b)| {
                    steps.iter().take(before).all(|step| self.by_step(*step, a, b).is_eq())
                })
            };
            for group in runs(order, are_equal_before).filter(|group| group.len() > 1) {
                // After the first step, a group whose pods are equal in this step, too, is sorted by UID already.
                let are_equal =
                    || group.windows(2).all(|pair| matches!(pair, [a, b] if by_step(*a, *b).is_eq()));
                let is_done = IS_SCRATCH_USED && if before == 0 { is_sorted } else { are_equal() };
                if !is_done {
                    self.sort_by(&By::StepAndUid(step), pods, scores, group);
                }
                if let Step::ReadyAge | Step::CreationAge = step {
                    add_positions(group, scores, u64::wrapping_add, |a, b| {
                        by_step(*a, *b).is_eq() && have_equal_uids(a, b)
                    });
                    continue;
                }
                for same_time in runs(group, |a, b| by_step(*a, *b).is_eq()).filter(|pods| pods.len() > 1) {
                    add_positions(same_time, scores, u64::wrapping_sub, have_equal_uids);
                    if let Step::CreationTime = step {
                        add_positions(same_time, scores, u64::wrapping_add, |_, _| true);
                    }
                }
            }
        }
    }

    /// Sorts a list of indices. On small machines, one copy of this code serves all three sorts.
    #[cfg_attr(target_has_atomic = "64", inline(always))]
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    fn sort_by(&self, by: &By, pods: &[Pod], scores: &[u64], list: &mut [u32]) {
        sort(list, &|a, b| {
            let pair = pods.get(a as usize).zip(pods.get(b as usize));
            match by {
                By::StepAndUid(step) => pair
                    .is_some_and(|(a, b)| self.by_step(*step, a, b).then_with(|| a.uid.cmp(&b.uid)).is_lt()),
                By::Score => scores.get(a as usize) < scores.get(b as usize),
                By::TotalOrder => self.index_goes_before(pods, a, b),
            }
        });
    }

    /// Sorts by [`Step::ReadyAge`] and UID, faster than [`by_step`](Self::by_step) could, and returns
    /// true. If the values of some pod do not fit in 64 bits, returns false and sorts nothing. The scores serve as
    /// scratch memory.
    fn sort_by_ready_age(&self, pods: &[Pod], order: &mut [u32], scores: &mut [u64]) -> bool {
        /// The largest rank that fits in the bits which the other values leave.
        const MOST: u32 = (1 << 15) - 1;
        if !self.has_buckets() || pods.iter().any(|pod| pod.rank > MOST) {
            return false;
        }
        for (slot, pod) in scores.iter_mut().zip(pods) {
            let cost = value(Rule::DeletionCost, pod, self).unwrap_or(0);
            let age = if pod.is_ready() { self.kubernetes_age(pod.ready_time) } else { 0 };
            let later = u64::from(MOST.wrapping_sub(pod.rank)) << 7 | age;
            *slot = class(pod) << 54 | u64::try_from(cost).unwrap_or(0) << 22 | later;
        }
        let uid = |index: u32| pods.get(index as usize).map(|pod| u128::from_be_bytes(pod.uid.to_bytes()));
        let key = |index: u32| scores.get(index as usize);
        sort(order, &|a, b| key(a).cmp(&key(b)).then_with(|| uid(a).cmp(&uid(b))).is_lt());
        true
    }

    /// Compares, by one step, two pods that are equal in all steps before.
    pub(crate) fn by_step(&self, step: Step, a: &Pod, b: &Pod) -> Ordering {
        let by_values = |rules: &[Rule]| {
            let by_value = |rule: &Rule| value(*rule, a, self).cmp(&value(*rule, b, self));
            rules.iter().map(by_value).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        };
        let by_age = |a, b| self.kubernetes_age(a).cmp(&self.kubernetes_age(b));
        // Wherever this matters, both are ready or neither is.
        let both_ready = a.is_ready();
        match step {
            Step::ReadyAge => {
                by_values(&[Rule::Unassigned, Rule::Phase, Rule::NotReady, Rule::DeletionCost, Rule::Rank])
                    .then_with(
                        || if both_ready { by_age(a.ready_time, b.ready_time) } else { Ordering::Equal },
                    )
            }
            Step::ReadyTime if both_ready => a.ready_time.latest_first().cmp(&b.ready_time.latest_first()),
            Step::ReadyTime => Ordering::Equal,
            Step::CreationAge => by_values(&[Rule::Restarts, Rule::SidecarRestarts])
                .then_with(|| by_age(a.creation_time, b.creation_time)),
            Step::CreationTime => a.creation_time.latest_first().cmp(&b.creation_time.latest_first()),
        }
    }

    /// Puts the groups in their order, and the pods inside a group in the total order.
    fn line_up(&self, pods: &[Pod], order: &mut [u32], scores: &[u64]) {
        self.sort_by(&By::Score, pods, scores, order);
        let mut rest = order;
        let mut lengths = Lengths::default();
        loop {
            let len = lengths.next(rest, scores);
            let Some((group, after)) = rest.split_at_mut_checked(len).filter(|_| len > 0) else { return };
            self.sort_by(&By::TotalOrder, pods, scores, group);
            rest = after;
        }
    }
}

/// Adds to the score of each pod in a sorted list the sum of the positions at which the pods equal to it start and
/// end. `add` may be a subtraction.
fn add_positions(
    list: &mut [u32],
    scores: &mut [u64],
    add: fn(u64, u64) -> u64,
    equal: impl Fn(&u32, &u32) -> bool,
) {
    let mut start = 0_u64;
    for equals in runs(list, equal) {
        let end = start.wrapping_add(equals.len() as u64);
        let sum = start.wrapping_add(end).wrapping_sub(1);
        for &mut index in equals {
            if let Some(score) = scores.get_mut(index as usize) {
                *score = add(*score, sum);
            }
        }
        start = end;
    }
}

/// Finds the lengths of the groups in a list sorted by score.
///
/// Each pair of pods adds 2 to the scores, so pairs among the first m pods add m(m-1). A larger sum comes
/// from pods outside that are before one of them. So the first m pods are whole groups if and only if their
/// scores add up to m(m-1).
#[derive(Clone, Debug, Default)]
struct Lengths {
    pods: u64,
    sum: u64,
}

impl Lengths {
    /// Returns the length of the next group, at the start of the rest of the list, or 0 at its end.
    fn next(&mut self, rest: &[u32], scores: &[u64]) -> usize {
        let mut len = 0_usize;
        for &index in rest {
            len = len.wrapping_add(1);
            self.pods = self.pods.wrapping_add(1);
            self.sum = self.sum.wrapping_add(scores.get(index as usize).copied().unwrap_or(0));
            if self.sum == self.pods.wrapping_mul(self.pods.wrapping_sub(1)) {
                break;
            }
        }
        len
    }
}

/// Returns where the group in which the first `k` pods end begins and ends. If they end with a group, both
/// are `k`.
fn group_at(order: &[u32], scores: &[u64], k: usize) -> (usize, usize) {
    let k = k.min(order.len());
    let mut lengths = Lengths::default();
    let (mut start, mut end) = (0, 0);
    while end < k {
        let len = lengths.next(order.get(end..).unwrap_or_default(), scores);
        (start, end) = (end, end.saturating_add(len.max(1)));
    }
    if end == k { (k, k) } else { (start, end) }
}

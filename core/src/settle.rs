//! Which victims of a scale-down Kubernetes' comparator determines, although it is not an order.

use crate::order::value;
use crate::select::fill_with_indices;
use crate::sort::heap_sort;
use crate::{OrderError, Pod, Policy, Rule};
use core::cmp::Ordering;

/// Which pods of a scale-down are victims in every list order, in some, or in none: see [`Policy::settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled<'o> {
    certain: &'o [u32],
    contested: &'o [u32],
    safe: &'o [u32],
    quota: usize,
}

impl<'o> Settled<'o> {
    /// Returns the pods that Kubernetes deletes in every list order, the first to go first.
    #[must_use]
    pub const fn certain(&self) -> &'o [u32] {
        self.certain
    }

    /// Returns the pods of which Kubernetes deletes [`quota`](Settled::quota): which of them depends on the
    /// list order. It is empty or longer than the quota.
    #[must_use]
    pub const fn contested(&self) -> &'o [u32] {
        self.contested
    }

    /// Returns how many of the contested pods Kubernetes deletes.
    #[must_use]
    pub const fn quota(&self) -> usize {
        self.quota
    }

    /// Returns the pods that Kubernetes keeps in every list order.
    #[must_use]
    pub const fn safe(&self) -> &'o [u32] {
        self.safe
    }
}

impl Policy {
    /// Returns which pods kube-controller-manager deletes when it deletes `k` of them: those that it deletes
    /// in every list order, those of which the list order decides, and those that it keeps in every list
    /// order.
    ///
    /// Pods are contested for two reasons. Its comparator, the [relation](crate::Relation), can be cyclic.
    /// And pods can tie in everything that it compares, because it does not compare UIDs at the end. In both
    /// cases the relation, with ties read both ways, leads from each pod of a group to every other one, and
    /// sorting can put the group in any order. The groups themselves have one order. So if the first `k` pods
    /// end inside a group, that group is contested.
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
    /// [`OrderError::ShortBuffer`] if `order` or `scores` is shorter than `pods`, and
    /// [`OrderError::TooManyPods`] for more than `u32::MAX` pods. Then nothing is written.
    pub fn settle<'o>(
        &self,
        pods: &[Pod],
        k: usize,
        order: &'o mut [u32],
        scores: &mut [u64],
    ) -> Result<Settled<'o>, OrderError> {
        if u32::try_from(pods.len()).is_err() {
            return Err(OrderError::TooManyPods);
        }
        let short = OrderError::ShortBuffer { len: order.len().min(scores.len()), pods: pods.len() };
        let buffers = order.get_mut(..pods.len()).zip(scores.get_mut(..pods.len()));
        let (order, scores) = buffers.ok_or(short)?;
        fill_with_indices(order);
        self.score(pods, order, scores);
        self.line_up(pods, order, scores);
        let (from, to) = group_at(order, scores, k);
        let (certain, rest) = order.split_at_checked(from).unwrap_or_default();
        let (contested, safe) = rest.split_at_checked(to.saturating_sub(from)).unwrap_or_default();
        let quota = if contested.is_empty() { 0 } else { k.saturating_sub(from) };
        Ok(Settled { certain, contested, safe, quota })
    }
}

/// How far two pods agree in what Kubernetes' comparator compares, in its order. If two different times are
/// in one age bucket, it compares the UIDs and stops.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Depth {
    /// Everything up to the age bucket of the ready time.
    ReadyAge,
    /// The ready time itself, as well.
    ReadyTime,
    /// Everything up to the age bucket of the creation time.
    CreationAge,
    /// The creation time itself, as well: there is nothing more to compare.
    CreationTime,
}

impl Depth {
    const ALL: [Self; 4] = [Self::ReadyAge, Self::ReadyTime, Self::CreationAge, Self::CreationTime];
}

impl Policy {
    /// Gives each pod a score: 2 for every pod that is before it, and 1 for every tie.
    ///
    /// Pods that differ down to [`Depth::ReadyAge`] are ordered by that. Pods that agree so far and differ in
    /// ready time are ordered by UID. Pods that agree in it, too, and differ down to [`Depth::CreationAge`]
    /// are ordered by that. Pods that agree so far and differ in creation time are ordered by UID. The rest
    /// tie.
    ///
    /// In a sorted list, 2 for every pod before and 1 for every tie is the sum of the positions at which the
    /// pods equal to this one start and end. So each pass sorts by depth, or by depth and UID, and adds that
    /// sum, or subtracts it for pairs that a deeper pass counts again.
    fn score(&self, pods: &[Pod], order: &mut [u32], scores: &mut [u64]) {
        let passes = [
            (Depth::ReadyAge, true, true),
            (Depth::ReadyTime, true, false),
            (Depth::CreationAge, true, true),
            (Depth::CreationTime, true, false),
            (Depth::CreationTime, false, true),
        ];
        scores.fill(0);
        for (depth, by_uid, add) in passes {
            let compare = |a: u32, b: u32| match (pods.get(a as usize), pods.get(b as usize)) {
                (Some(a), Some(b)) if by_uid => self.down_to(depth, a, b).then(a.uid.cmp(&b.uid)),
                (Some(a), Some(b)) => self.down_to(depth, a, b),
                _ => Ordering::Equal,
            };
            heap_sort(order, &|a, b| compare(a, b).is_lt());
            let mut rest = &*order;
            let mut start = 0_u64;
            while let Some(&first) = rest.first() {
                let len = rest.iter().take_while(|&&index| compare(first, index).is_eq()).count();
                let (equals, after) = rest.split_at_checked(len).unwrap_or_default();
                let end = start.saturating_add(len as u64);
                let sum = start.saturating_add(end).saturating_sub(1);
                for &index in equals {
                    if let Some(score) = scores.get_mut(index as usize) {
                        *score = if add { score.wrapping_add(sum) } else { score.wrapping_sub(sum) };
                    }
                }
                (rest, start) = (after, end);
            }
        }
    }

    /// Compares two pods by what Kubernetes compares down to this depth.
    fn down_to(&self, depth: Depth, a: &Pod, b: &Pod) -> Ordering {
        let by_value = |rule| value(rule, a, self).cmp(&value(rule, b, self));
        let by_age = |a, b| self.upstream_age(a).cmp(&self.upstream_age(b));
        // Wherever this matters, both are ready or neither is.
        let both_ready = a.is_ready();
        let at = |step| match step {
            Depth::ReadyAge => {
                let early = [Rule::Unassigned, Rule::Phase, Rule::NotReady, Rule::DeletionCost, Rule::Rank];
                let first = early.into_iter().map(by_value).find(|ordering| ordering.is_ne());
                match first {
                    None if both_ready => by_age(a.ready_time, b.ready_time),
                    first => first.unwrap_or(Ordering::Equal),
                }
            }
            Depth::ReadyTime if both_ready => a.ready_time.latest_first().cmp(&b.ready_time.latest_first()),
            Depth::ReadyTime => Ordering::Equal,
            Depth::CreationAge => by_value(Rule::Restarts)
                .then_with(|| by_value(Rule::SidecarRestarts))
                .then_with(|| by_age(a.creation_time, b.creation_time)),
            Depth::CreationTime => a.creation_time.latest_first().cmp(&b.creation_time.latest_first()),
        };
        let mut steps = Depth::ALL.into_iter().take_while(|step| *step <= depth).map(at);
        steps.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Puts the groups in their order, and the pods inside a group in the total order.
    fn line_up(&self, pods: &[Pod], order: &mut [u32], scores: &[u64]) {
        let score = |index: u32| scores.get(index as usize);
        heap_sort(order, &|a, b| score(a) < score(b));
        let mut rest = order;
        let mut groups = Groups::default();
        loop {
            let len = groups.next_len(rest, scores);
            let Some((group, after)) = rest.split_at_mut_checked(len).filter(|_| len > 0) else { return };
            heap_sort(group, &|a, b| self.index_goes_before(pods, a, b));
            rest = after;
        }
    }
}

/// Finds the groups in a list sorted by score.
///
/// Each pair of pods adds 2 to the scores, so pairs among the first m pods add m(m-1). A larger sum comes
/// from pods outside that are before one of them. So the first m pods are whole groups if and only if their
/// scores add up to m(m-1).
#[derive(Default)]
struct Groups {
    pods: u64,
    sum: u64,
}

impl Groups {
    /// Returns the length of the next group, at the start of the rest of the list, or 0 at its end.
    fn next_len(&mut self, rest: &[u32], scores: &[u64]) -> usize {
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
    let mut groups = Groups::default();
    let (mut start, mut end) = (0, 0);
    while end < k {
        let len = groups.next_len(order.get(end..).unwrap_or_default(), scores);
        (start, end) = (end, end.saturating_add(len.max(1)));
    }
    if end == k { (k, k) } else { (start, end) }
}

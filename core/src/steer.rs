//! Deletion costs that make Kubernetes take the pods of lower tiers first, with as few changes as can be.
//!
//! Number the tiers that have pods 0, 1, 2, …, and give each pod the difference d of its cost and its tier's number.
//! Pods of two tiers can both keep their costs if these lie as far apart as the tiers' numbers or farther, for every tier
//! between needs a value of its own: that is, if d does not fall from the lower tier to the higher. So what can be kept
//! is a run of pods, sorted by tier and cost, in which d never falls, and the longest leaves the fewest to change.
//! Pods of one tier and cost are in the longest run together or not at all: nothing depends on the order of the list.

use crate::order::class;
use crate::select::numbered;
use crate::sort::{runs, sort};
use crate::{OrderError, Pod, Policy, Rule, Uid};
use core::fmt;

/// The deletion costs that [`Policy::steer`] found.
#[derive(Clone, Copy, Debug)]
pub struct Steered<'s> {
    costs: &'s [i32],
    places: &'s [SteerScratch],
    changed: usize,
}

/// A pod that goes before one of a lower tier, whatever they cost: an earlier rule says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The index of the pod of the higher tier, which goes first.
    pub pod: u32,
    /// The index of the pod of a lower tier which it goes before: of all these, one that goes last by the rules before
    /// [`Rule::Tier`].
    pub before: u32,
    /// The rule: one of [`Rule::Unassigned`], [`Rule::Phase`] and [`Rule::NotReady`].
    pub rule: Rule,
}

/// Scratch of [`Policy::steer`] for one pod. What it held before does not matter.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SteerScratch {
    /// From the highest bits on: the tier, the cost, the start of the UID. At the end: the rule of a blocked pod.
    place: u64,
    index: u32,
    /// Of the longest run that ends here: its length. Then whether the cost is kept. At the end: the pod that a
    /// blocked one goes before.
    run: u32,
}

/// Why [`Policy::steer`] gives no costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SteerError {
    /// The feature gate `PodDeletionCost` is off: no cost has an effect.
    GateOff,
    /// There are too many pods, or a buffer is shorter than the list of pods.
    Order(OrderError),
    /// Costs that are fixed, or the end of their range, leave no costs such that the first of these pods, which is of the
    /// lower tier, has a lower one than the second, with one for each tier between. At least one of the two is fixed.
    NoRoom {
        /// The index of the pod of the lower tier.
        lower: u32,
        /// The index of the pod of the higher tier.
        higher: u32,
    },
}

impl<'s> Steered<'s> {
    /// The costs of all pods, by index; those that need no change are as they were.
    #[must_use]
    pub const fn costs(&self) -> &'s [i32] {
        self.costs
    }

    /// How many costs differ from what they were.
    #[must_use]
    pub const fn changed(&self) -> usize {
        self.changed
    }

    /// The pods that go before one of a lower tier all the same, by tier, cost, UID and index: they are unassigned, pending or
    /// not ready, and Kubernetes asks that first.
    pub fn blocked(&self) -> impl Iterator<Item = Blocked> + use<'s> {
        self.places.iter().filter_map(|place| {
            let rule = Rule::from_number(place.place.to_le_bytes()[0])?;
            Some(Blocked { pod: place.index, before: place.run, rule })
        })
    }
}

impl Policy {
    /// Deletion costs with which every pod of a lower [tier](Pod::tier) has a strictly lower cost than every pod of a
    /// higher one. So Kubernetes takes the lower tier first, whatever the moment and however many it takes. Within a
    /// tier it decides as ever.
    ///
    /// The number of costs that change is the least possible, and the costs given are close to those that stay. Pods
    /// whose cost `is_fixed`, by index, keep it: somebody else's, say.
    ///
    /// What Kubernetes asks before the cost no cost can change: see [`Steered::blocked`].
    ///
    /// Needs `costs` and `scratch` of as many as pods, and O(n log n) steps. Of the policy it reads the gate
    /// `PodDeletionCost`.
    ///
    /// # Errors
    /// See [`SteerError`]; then `costs` are as they were.
    pub fn steer<'s>(
        &self,
        pods: &[Pod],
        is_fixed: impl Fn(usize) -> bool,
        costs: &'s mut [i32],
        scratch: &'s mut [SteerScratch],
    ) -> Result<Steered<'s>, SteerError> {
        let short = OrderError::ShortBuffer { len: costs.len().min(scratch.len()), pods: pods.len() };
        let buffers = costs.get_mut(..pods.len()).zip(scratch.get_mut(..pods.len()));
        let (costs, places) = buffers.ok_or(SteerError::Order(short))?;
        self.fit(pods, is_fixed, places)?;
        Ok(self.steer_fitted(pods, costs, places))
    }

    /// The part of [`steer`](Policy::steer) that can fail. There is a place for each pod.
    pub(crate) fn fit(
        &self,
        pods: &[Pod],
        is_fixed: impl Fn(usize) -> bool,
        places: &mut [SteerScratch],
    ) -> Result<(), SteerError> {
        if !self.gates.pod_deletion_cost {
            return Err(SteerError::GateOff);
        }
        if u32::try_from(pods.len()).is_err() {
            return Err(SteerError::Order(OrderError::TooManyPods));
        }
        line_up(pods, places);
        fit(places, |place| is_fixed(place.index as usize))
    }

    /// The rest of it, which cannot.
    pub(crate) fn steer_fitted<'s>(
        &self,
        pods: &[Pod],
        costs: &'s mut [i32],
        places: &'s mut [SteerScratch],
    ) -> Steered<'s> {
        keep_longest_run(places, costs);
        let changed = self.write(pods, places, costs);
        Steered { costs, places, changed }
    }

    /// Writes the costs, and into the places which pods are blocked. Returns how many costs changed.
    fn write(&self, pods: &[Pod], places: &mut [SteerScratch], costs: &mut [i32]) -> usize {
        let mut changed = 0_usize;
        // Below the first that is kept, the tiers go down from it.
        let mut d = places.iter().find(|place| place.is_kept()).map_or(0, SteerScratch::d);
        // Of the pods of the tiers so far, one that goes last by the rules before the tier.
        let mut last: Option<(u64, u32)> = None;
        for tier in runs(places, |a, b| a.tier() == b.tier()) {
            let mut kept = tier.iter().filter(|place| place.is_kept()).map(SteerScratch::d);
            let written = kept.next().unwrap_or(d);
            d = kept.next_back().unwrap_or(written);
            let mut last_of_tier = last;
            for place in tier {
                let cost = if place.is_kept() { place.cost() } else { place.cost_at(written) };
                changed = changed.wrapping_add(usize::from(!place.is_kept()));
                if let Some(slot) = costs.get_mut(place.index as usize) {
                    *slot = cost;
                }
                let Some(pod) = pods.get(place.index as usize) else { continue };
                let class = class(pod, self);
                if last_of_tier.is_none_or(|(last, _)| class > last) {
                    last_of_tier = Some((class, place.index));
                }
                place.place = 0;
                if let Some((_, before)) = last.filter(|(last, _)| class < *last)
                    && let Some(rule) =
                        pods.get(before as usize).and_then(|before| self.decide(pod, before).1)
                {
                    (place.place, place.run) = (rule.number().into(), before);
                }
            }
            last = last_of_tier;
        }
        changed
    }
}

impl SteerScratch {
    fn new(pod: &Pod, index: u32) -> Self {
        let [first, second, ..] = pod.uid.to_bytes();
        let cost = u64::from(pod.deletion_cost.cast_unsigned() ^ 1 << 31);
        let place = u64::from(pod.tier) << 48 | cost << 16 | u64::from(u16::from_be_bytes([first, second]));
        Self { place, index, run: 0 }
    }

    const fn tier(&self) -> u64 {
        self.place >> 48
    }

    /// Gives the tier this number.
    const fn set_tier(&mut self, number: u64) {
        self.place = self.place << 16 >> 16 | number << 48;
    }

    #[expect(clippy::cast_possible_truncation, reason = "32 bits in the middle are meant")]
    const fn cost(&self) -> i32 {
        ((self.place >> 16) as u32 ^ 1 << 31).cast_signed()
    }

    /// The difference of the cost and the tier's number.
    fn d(&self) -> i64 {
        i64::from(self.cost()).wrapping_sub(self.tier().cast_signed())
    }

    /// The cost in this tier at this difference, which is one of those that fit.
    #[expect(clippy::cast_possible_truncation, reason = "it fits")]
    const fn cost_at(&self, d: i64) -> i32 {
        d.wrapping_add(self.tier().cast_signed()) as i32
    }

    const fn is_kept(&self) -> bool {
        self.run != 0
    }
}

/// Puts the pods in line by tier, cost and UID, and numbers the tiers.
fn line_up(pods: &[Pod], places: &mut [SteerScratch]) {
    for (place, (index, pod)) in places.iter_mut().zip(numbered(pods)) {
        *place = SteerScratch::new(pod, index);
    }
    let uid = |place: SteerScratch| pods.get(place.index as usize).map_or(Uid::default(), |pod| pod.uid);
    let by_uid = |a: SteerScratch, b: SteerScratch| uid(a).cmp(&uid(b)).then(a.index.cmp(&b.index));
    sort(places, &|a, b| a.place.cmp(&b.place).then_with(|| by_uid(a, b)).is_lt());
    for (tier, number) in runs(places, |a, b| a.tier() == b.tier()).zip(0..) {
        for place in tier {
            place.set_tier(number);
        }
    }
}

/// Marks the places that are in line with all that are fixed and whose tiers have room on both sides.
fn fit(places: &mut [SteerScratch], is_fixed: impl Fn(&SteerScratch) -> bool) -> Result<(), SteerError> {
    let (Some(&bottom), Some(&top)) = (places.first(), places.last()) else { return Ok(()) };
    let (mut least, mut below) = (i64::from(i32::MIN), bottom.index);
    for place in &mut *places {
        place.run = u32::from(place.d() >= least);
        if is_fixed(place) {
            if !place.is_kept() {
                return Err(SteerError::NoRoom { lower: below, higher: place.index });
            }
            (least, below) = (place.d(), place.index);
        }
    }
    let (mut most, mut above) = (i64::from(i32::MAX).wrapping_sub(top.tier().cast_signed()), top.index);
    for place in places.iter_mut().rev() {
        let fits = place.d() <= most;
        place.run = u32::from(place.is_kept() && fits);
        if is_fixed(place) {
            if !fits {
                return Err(SteerError::NoRoom { lower: place.index, higher: above });
            }
            (most, above) = (place.d(), place.index);
        }
    }
    Ok(())
}

/// Leaves marked the longest run of marked places whose d never falls. The fixed are all in it: every marked place is in
/// line with them, so a run without them would not be the longest.
fn keep_longest_run(places: &mut [SteerScratch], ends: &mut [i32]) {
    // For each length the least d at which a run so long ends; these never fall.
    let mut len = 0_usize;
    for place in places.iter_mut().filter(|place| place.is_kept()) {
        let d = i32::try_from(place.d()).unwrap_or_default();
        let shorter = ends.get(..len).unwrap_or_default().partition_point(|end| *end <= d);
        if let Some(end) = ends.get_mut(shorter) {
            *end = d;
        }
        let run = shorter.wrapping_add(1);
        place.run = u32::try_from(run).unwrap_or_default();
        len = len.max(run);
    }
    // Back from the end, so that of runs of one length the one of higher tiers is kept: costs of pods that stay have to be taken
    // off again. Before a place of a run of n there is one of a run of n - 1 whose d is no higher.
    let mut end = i64::MAX;
    for place in places.iter_mut().rev() {
        let keep = len > 0 && place.run as usize == len && place.d() <= end;
        if keep {
            (len, end) = (len.wrapping_sub(1), place.d());
        }
        place.run = u32::from(keep);
    }
}

impl fmt::Display for SteerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GateOff => {
                f.write_str("the feature gate PodDeletionCost is off: no deletion cost has an effect")
            }
            Self::Order(error) => error.fmt(f),
            Self::NoRoom { lower, higher } => write!(
                f,
                "the fixed deletion costs leave none for pod {lower} that is lower than that of pod {higher}, with one for \
                 each tier between"
            ),
        }
    }
}

impl core::error::Error for SteerError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Order(error) => Some(error),
            Self::GateOff | Self::NoRoom { .. } => None,
        }
    }
}

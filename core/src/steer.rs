//! Deletion costs that make Kubernetes delete the pods of lower tiers first, at the lowest price.
//!
//! Number the tiers that have pods 0, 1, 2, …, and let d be a pod's cost minus its tier's number. Two pods of
//! different tiers can both keep their costs if the costs are at least as far apart as the tiers' numbers, because
//! every tier between needs a value of its own. In other words, d must not decrease from the lower tier to the
//! higher one. So if the pods are sorted by tier and cost, those that keep their costs form a subsequence in which
//! d never decreases. The prices of the pods that are left are the lowest if those of the subsequence are the
//! highest. Pods with equal tiers and costs are all in that one, or none of them is, so the result does not depend
//! on the list order.

use crate::order::class;
use crate::select::numbered;
use crate::sort::{runs, sort};
use crate::{Error, Pod, Policy, Rule, Uid};

/// What [`Policy::steer`] returns: a deletion cost for every pod, how many costs change, and which pods are unsteerable.
#[derive(Clone, Copy, Debug)]
pub struct Steered<'s> {
    costs: &'s [i32],
    places: &'s [SteerScratch],
    changed: usize,
}

/// A pod that is deleted before some pod of a lower tier whatever their costs, because an earlier rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsteerable {
    /// The index of the unsteerable pod. It has the higher tier, but is deleted first.
    pub pod: u32,
    /// The index of a pod of a lower tier that is deleted after the unsteerable pod. If there are several, this is the
    /// one that the rules before [`Rule::Tier`] put last. Ties are broken by the lowest tier, then the lowest cost
    /// before the call, then the UID and then the index.
    pub before: u32,
    /// The rule that decides: one of [`Rule::Unassigned`], [`Rule::Phase`] and [`Rule::NotReady`].
    pub rule: Rule,
}

/// Scratch memory of [`Policy::steer`] for one pod: make a buffer of `SteerScratch::default()`. Its contents are
/// private, and have no meaning before the call.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SteerScratch {
    /// First: the tier, the cost and the start of the UID, from the highest bits down. In the last phase: the rule
    /// that blocks the pod.
    place: u64,
    index: u32,
    /// First: the number of d. Then: the price of the heaviest run that ends here, and whether the cost is kept. In
    /// the last phase: the pod that is deleted after this one, if this one is unsteerable.
    run: u32,
}

impl<'s> Steered<'s> {
    /// Returns the cost of every pod, by index, whether it changes or not.
    #[must_use]
    pub const fn costs(&self) -> &'s [i32] {
        self.costs
    }

    /// Returns how many costs change, and so how many annotations you have to write.
    #[must_use]
    pub const fn changed(&self) -> usize {
        self.changed
    }

    /// Returns the pods that no cost can steer, because Kubernetes compares earlier whether pods are assigned,
    /// running and ready. Each is deleted before some pod of a lower tier. They are sorted by tier, then by the cost
    /// that they had before the call, then by UID and then by index.
    pub fn unsteerable(&self) -> impl Iterator<Item = Unsteerable> + use<'s> {
        self.places.iter().filter_map(|place| {
            let rule = Rule::from_number(place.place.to_le_bytes()[0])?;
            Some(Unsteerable { pod: place.index, before: place.run, rule })
        })
    }
}

impl Policy {
    /// Returns deletion costs such that every pod of a lower [tier](Pod::tier) has a strictly lower cost than every
    /// pod of a higher one. With these costs in the pods' [annotations](crate::DELETION_COST_ANNOTATION),
    /// Kubernetes deletes the pods of the lower tier first, except for [unsteerable](Steered::unsteerable) pods, at any
    /// time and for any number of victims. Within a tier, it decides by its own rules with the new costs. No cost
    /// can change what Kubernetes compares before the costs: see [`Steered::unsteerable`].
    ///
    /// `price` returns the price of changing a pod's cost, by the pod's index. With 1 for all, the fewest costs change.
    /// If you later remove the costs of the pods that are kept, make their price 2, because they need two requests. 0
    /// counts as 1. `None` means that a pod keeps its cost, for instance because somebody else set it. The prices of
    /// the changes sum to the least possible, and the new costs are close to the costs that do not change. With more
    /// than 16 million pods, the highest price is 2<sup>32</sup> divided by their number.
    ///
    /// `costs` gets the costs, and `scratch` is scratch memory. Both need one element per pod, and the call takes
    /// O(n log n) steps. It reads nothing from the policy but the gate `PodDeletionCost`.
    ///
    /// # Errors
    /// [`Error::GateOff`], [`Error::NoRoom`], [`Error::TooManyPods`], and [`Error::ShortBuffer`] if `costs` or `scratch` is
    /// shorter than `pods`. In that case `costs` is unchanged.
    pub fn steer<'s>(
        &self,
        pods: &[Pod],
        price: impl Fn(usize) -> Option<u8>,
        costs: &'s mut [i32],
        scratch: &'s mut [SteerScratch],
    ) -> Result<Steered<'s>, Error> {
        let short = Error::ShortBuffer { len: costs.len().min(scratch.len()), needed: pods.len() };
        let buffers = costs.get_mut(..pods.len()).zip(scratch.get_mut(..pods.len()));
        let (costs, places) = buffers.ok_or(short)?;
        self.fit(pods, &price, places)?;
        Ok(self.steer_fitted(pods, price, costs, places))
    }

    /// Does the part of [`steer`](Policy::steer) that can fail. `places` is as long as `pods`.
    pub(crate) fn fit(
        &self,
        pods: &[Pod],
        price: impl Fn(usize) -> Option<u8>,
        places: &mut [SteerScratch],
    ) -> Result<(), Error> {
        if !self.gates.pod_deletion_cost {
            return Err(Error::GateOff);
        }
        if u32::try_from(pods.len()).is_err() {
            return Err(Error::TooManyPods);
        }
        line_up(pods, places);
        fit(places, |place| price(place.index as usize).is_none())
    }

    /// Does the rest, which cannot fail.
    pub(crate) fn steer_fitted<'s>(
        &self,
        pods: &[Pod],
        price: impl Fn(usize) -> Option<u8>,
        costs: &'s mut [i32],
        places: &'s mut [SteerScratch],
    ) -> Steered<'s> {
        // So that no sum of prices is too large for 32 bits.
        let most = u32::try_from(pods.len()).ok().and_then(|len| u32::MAX.checked_div(len)).unwrap_or(1);
        let price = |index: u32| u32::from(price(index as usize).unwrap_or(1)).clamp(1, most);
        keep_heaviest_run(places, costs, |place| price(place.index));
        let changed = self.write(pods, places, costs);
        Steered { costs, places, changed }
    }

    /// Writes the costs, and writes into the places which pods are unsteerable. Returns how many costs change.
    fn write(&self, pods: &[Pod], places: &mut [SteerScratch], costs: &mut [i32]) -> usize {
        let mut changed = 0_usize;
        // Tiers below the first kept cost get costs that go down from it.
        let mut d = places.iter().find(|place| place.is_kept()).map_or(0, SteerScratch::d);
        // Among the pods of the tiers so far, one that is deleted last by the rules before the tier.
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
                let class = class(pod);
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

    /// Replaces the tier by its number.
    const fn set_tier(&mut self, number: u64) {
        self.place = self.place << 16 >> 16 | number << 48;
    }

    #[expect(clippy::cast_possible_truncation, reason = "32 bits in the middle are meant")]
    const fn cost(&self) -> i32 {
        ((self.place >> 16) as u32 ^ 1 << 31).cast_signed()
    }

    /// Returns the cost minus the tier's number.
    fn d(&self) -> i64 {
        i64::from(self.cost()).wrapping_sub(self.tier().cast_signed())
    }

    /// Returns the cost in this tier for a difference d, which must be one that fits.
    #[expect(clippy::cast_possible_truncation, reason = "it fits")]
    const fn cost_at(&self, d: i64) -> i32 {
        d.wrapping_add(self.tier().cast_signed()) as i32
    }

    const fn is_kept(&self) -> bool {
        self.run != 0
    }
}

/// Sorts the pods by tier, cost and UID, and numbers the tiers.
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

/// Marks the places whose cost can stay beside all fixed costs and leaves room for the tiers on both sides.
fn fit(places: &mut [SteerScratch], is_fixed: impl Fn(&SteerScratch) -> bool) -> Result<(), Error> {
    let (Some(&bottom), Some(&top)) = (places.first(), places.last()) else { return Ok(()) };
    let (mut least, mut below) = (i64::from(i32::MIN), bottom.index);
    for place in &mut *places {
        place.run = u32::from(place.d() >= least);
        if is_fixed(place) {
            if !place.is_kept() {
                return Err(Error::NoRoom { lower: below, higher: place.index });
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
                return Err(Error::NoRoom { lower: place.index, higher: above });
            }
            (most, above) = (place.d(), place.index);
        }
    }
    Ok(())
}

/// Of the marked places, leaves only the run marked in which d never decreases and whose prices sum to the most.
/// Fixed places are all in it: every marked place is compatible with them, so a run without them would not be the
/// heaviest.
///
/// `tree` is as long as `places`.
fn keep_heaviest_run(places: &mut [SteerScratch], tree: &mut [i32], price: impl Fn(&SteerScratch) -> u32) {
    let len = number_by_d(places, tree);
    let tree = tree.get_mut(..len).unwrap_or_default();
    tree.fill(0);
    // For each number of a d, the heaviest run that ends with it or with one before it: a Fenwick tree of maxima.
    let mut heaviest = 0_u32;
    for place in places.iter_mut().filter(|place| place.is_kept()) {
        let number = place.run as usize;
        let mut best = 0;
        let mut node = number;
        while let Some(found) = node.checked_sub(1).and_then(|at| tree.get(at)) {
            best = best.max(found.cast_unsigned());
            node &= node.wrapping_sub(1);
        }
        let run = best.saturating_add(price(place));
        let mut node = number;
        while let Some(found) = node.checked_sub(1).and_then(|at| tree.get_mut(at)) {
            *found = found.cast_unsigned().max(run).cast_signed();
            node = node.wrapping_add(node & node.wrapping_neg());
        }
        place.run = run;
        heaviest = heaviest.max(run);
    }
    // From the end, so that among runs of equal prices one with higher tiers keeps its costs, because a caller has to
    // remove costs again from pods that are kept. Before the last place of a run, there is the last place of the rest
    // of it, with no larger d.
    let (mut left, mut end) = (heaviest, i64::MAX);
    for place in places.iter_mut().rev() {
        let keep = left > 0 && place.run == left && place.d() <= end;
        if keep {
            (left, end) = (left.wrapping_sub(price(place)), place.d());
        }
        place.run = u32::from(keep);
    }
}

/// Numbers the different values of d among the marked places from 1 on, the lowest first, and writes the numbers in
/// place of the marks. Returns how many places are marked. `order` is scratch memory for as many.
fn number_by_d(places: &mut [SteerScratch], order: &mut [i32]) -> usize {
    let mut len = 0_usize;
    for (index, _) in (0_u32..).zip(&*places).filter(|(_, place)| place.is_kept()) {
        if let Some(slot) = order.get_mut(len) {
            *slot = index.cast_signed();
        }
        len = len.wrapping_add(1);
    }
    let order = order.get_mut(..len).unwrap_or_default();
    let d = |places: &[SteerScratch], at: i32| {
        places.get(at.cast_unsigned() as usize).map_or(i64::MAX, SteerScratch::d)
    };
    sort(order, &|a, b| d(places, a) < d(places, b));
    let (mut number, mut last) = (0_u32, i64::MIN);
    for &at in &*order {
        let own = d(places, at);
        if own != last {
            (number, last) = (number.wrapping_add(1), own);
        }
        if let Some(place) = places.get_mut(at.cast_unsigned() as usize) {
            place.run = number;
        }
    }
    len
}

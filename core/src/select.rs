//! The first `k` pods of the order, in the caller's memory.

use crate::glance::Glance;
use crate::sort::{heapify, replace_last, sort_first, sort_heap};
use crate::{Candidate, Pod, Policy};
use core::fmt;

/// There are more pods than indices of 32 bits can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPods;

impl Policy {
    /// The first `victims.len()` pods of the order, or all if there are fewer, as indices into `pods`:
    /// first to go first, equal pods by lower index. Returns the part of `victims` that was filled.
    ///
    /// Takes O(n log k) comparisons and no memory beyond `victims`.
    ///
    /// # Errors
    /// [`TooManyPods`] for more than `u32::MAX` pods; then nothing is written.
    pub fn select<'v>(&self, pods: &[Pod], victims: &'v mut [u32]) -> Result<&'v [u32], TooManyPods> {
        self.select_with(pods, victims, &mut [])
    }

    /// As [`select`](Policy::select), and mostly several times faster for more than a few victims, with a scratch: of twice
    /// as many candidates as victims or more, or as many as pods. More than four times as many bring little. A shorter
    /// scratch is left alone, and so is any where pointers have fewer than 64 bits.
    ///
    /// # Errors
    /// [`TooManyPods`] for more than `u32::MAX` pods; then nothing is written.
    pub fn select_with<'v>(
        &self,
        pods: &[Pod],
        victims: &'v mut [u32],
        scratch: &mut [Candidate],
    ) -> Result<&'v [u32], TooManyPods> {
        if u32::try_from(pods.len()).is_err() {
            return Err(TooManyPods);
        }
        let len = victims.len().min(pods.len());
        let Some(victims) = victims.get_mut(..len) else { return Ok(&[]) };
        // Where 32 bits are all that is compared at a time, a scratch saves little and the code for it is large.
        let is_small = cfg!(not(target_pointer_width = "64"));
        if is_small || scratch.len() < len.saturating_mul(2).min(pods.len()) {
            self.fill(pods, victims);
        } else {
            self.fill_with(pods, victims, scratch);
        }
        Ok(victims)
    }

    /// All pods in the order, as indices: [`select`](Policy::select) of all. The records do not move.
    ///
    /// # Errors
    /// [`TooManyPods`] for more than `u32::MAX` pods; then nothing is written.
    pub fn sort<'v>(&self, pods: &[Pod], order: &'v mut [u32]) -> Result<&'v [u32], TooManyPods> {
        self.select(pods, order)
    }

    /// Whether the pod of one index goes before that of another; equal pods by index.
    pub(crate) fn index_goes_before(&self, pods: &[Pod], a: u32, b: u32) -> bool {
        match (pods.get(a as usize), pods.get(b as usize)) {
            (Some(x), Some(y)) => self.compare(x, y).then(a.cmp(&b)).is_lt(),
            _ => false,
        }
    }

    /// Fills `victims`: a heap of the first so far.
    fn fill(&self, pods: &[Pod], victims: &mut [u32]) {
        for (victim, index) in victims.iter_mut().zip(0..) {
            *victim = index;
        }
        let before = |a, b| self.index_goes_before(pods, a, b);
        heapify(victims, &before);
        let last = |victims: &[u32]| Some(self.key(pods.get(*victims.first()? as usize)?));
        let Some(mut last_key) = last(victims) else { return };
        for (index, pod) in (0..).zip(pods).skip(victims.len()) {
            // A tie stays out: every victim so far has a lower index.
            if self.goes_before(pod, &last_key) {
                replace_last(victims, index, &before);
                last_key = last(victims).unwrap_or(last_key);
            }
        }
        sort_heap(victims, &before);
    }

    /// Fills `victims`: collects pods that go before the last of the first so far, and thins them out whenever the
    /// scratch is full, which happens rarely, for it holds at least as many again.
    fn fill_with(&self, pods: &[Pod], victims: &mut [u32], scratch: &mut [Candidate]) {
        let before = |a: Candidate, b: Candidate| {
            a.goes_before(b).unwrap_or_else(|| self.index_goes_before(pods, a.index(), b.index()))
        };
        let k = victims.len();
        let mut len = 0_usize;
        let mut last_key = None;
        let mut glance = Glance::NOTHING;
        for (index, pod) in (0..).zip(pods) {
            if glance.sees_after(pod) {
                continue;
            }
            if len == scratch.len() {
                sort_first(scratch, k, &before);
                len = k;
                let last = k.checked_sub(1).and_then(|last| scratch.get(last));
                if let Some(last) = last.and_then(|last| pods.get(last.index() as usize)) {
                    last_key = Some(self.key(last));
                    glance = Glance::at(last, self);
                }
            }
            // A tie stays out, here too.
            if last_key.as_ref().is_none_or(|last| self.goes_before(pod, last))
                && let Some(candidate) = scratch.get_mut(len)
            {
                *candidate = Candidate::new(&self.head(pod), index);
                len = len.saturating_add(1);
            }
        }
        let candidates = scratch.get_mut(..len).unwrap_or_default();
        sort_first(candidates, k, &before);
        for (victim, candidate) in victims.iter_mut().zip(candidates) {
            *victim = candidate.index();
        }
    }
}

impl fmt::Display for TooManyPods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} pods", u32::MAX)
    }
}

impl core::error::Error for TooManyPods {}

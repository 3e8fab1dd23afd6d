//! Selects the first `k` pods of the order, in the caller's memory.

use crate::ffi::IS_SCRATCH_USED;
use crate::prefilter::Prefilter;
use crate::sort::{gather_first, heapify, replace_last, sort_first, sort_heap};
use crate::{Candidate, Error, Pod, Policy, Scratch};

/// Returns each item with its index, for lists of up to `u32::MAX` items.
///
/// The items come first in the pair of iterators, so that no index is computed beyond the last item: after
/// `u32::MAX` items, there is no next one.
pub(crate) fn numbered<T>(items: &[T]) -> impl Iterator<Item = (u32, &T)> {
    numbered_from(0, items)
}

fn numbered_from<T>(first: u32, items: &[T]) -> impl Iterator<Item = (u32, &T)> {
    items.iter().zip(first..).map(|(item, index)| (index, item))
}

/// Sets each element to its index. There are up to `u32::MAX` of them.
pub(crate) fn fill_with_indices(list: &mut [u32]) {
    for (slot, index) in list.iter_mut().zip(0..) {
        *slot = index;
    }
}

impl Policy {
    /// Writes the indices of the first `victims.len()` pods of the order to `victims`, or of all pods if there are
    /// fewer, in deletion order. Of pods that tie, the one with the lower index is deleted first. Returns the
    /// part of `victims` that was written.
    ///
    /// For n pods and k victims, it takes O(n log k) comparisons, and no memory besides `victims`.
    ///
    /// # Errors
    /// [`Error::TooManyPods`] for more than `u32::MAX` pods. In that case nothing is written.
    pub fn select<'v>(&self, pods: &[Pod], victims: &'v mut [u32]) -> Result<&'v [u32], Error> {
        self.select_with(pods, victims, &mut [])
    }

    /// Does what [`select`](Policy::select) does, but uses a scratch buffer, which usually makes it several times
    /// faster for more than a few victims. Provide one [`Scratch`] per victim; more than that helps little.
    ///
    /// A buffer with fewer than half as many elements as there are victims may be ignored. On machines without 64-bit
    /// atomics, such as Cortex-M and 32-bit RISC-V, every buffer is ignored. What the buffer holds before and after
    /// the call has no meaning.
    ///
    /// # Errors
    /// [`Error::TooManyPods`] for more than `u32::MAX` pods. In that case nothing is written.
    pub fn select_with<'v>(
        &self,
        pods: &[Pod],
        victims: &'v mut [u32],
        scratch: &mut [Scratch],
    ) -> Result<&'v [u32], Error> {
        self.select_in(pods, victims, scratch.as_flattened_mut())
    }

    pub(crate) fn select_in<'v>(
        &self,
        pods: &[Pod],
        victims: &'v mut [u32],
        scratch: &mut [Candidate],
    ) -> Result<&'v [u32], Error> {
        if u32::try_from(pods.len()).is_err() {
            return Err(Error::TooManyPods);
        }
        let len = victims.len().min(pods.len());
        // Without a last victim to compare with, every pod would be read.
        let Some(victims) = victims.get_mut(..len).filter(|victims| !victims.is_empty()) else {
            return Ok(&[]);
        };
        if !IS_SCRATCH_USED || scratch.len() < len.saturating_mul(2).min(pods.len()) {
            self.fill(pods, victims);
        } else {
            self.fill_with(pods, victims, scratch);
        }
        Ok(victims)
    }

    /// Returns whether the pod with index `a` is deleted before that with index `b`. Of pods that tie, the one with the
    /// lower index is.
    pub(crate) fn index_goes_before(&self, pods: &[Pod], a: u32, b: u32) -> bool {
        match (pods.get(a as usize), pods.get(b as usize)) {
            (Some(x), Some(y)) => self.compare(x, y).then(a.cmp(&b)).is_lt(),
            _ => false,
        }
    }

    /// Fills `victims`, which is a heap of the first pods so far.
    fn fill(&self, pods: &[Pod], victims: &mut [u32]) {
        fill_with_indices(victims);
        let before = |a, b| self.index_goes_before(pods, a, b);
        heapify(victims, &before);
        let last = |victims: &[u32]| Some(self.words(pods.get(*victims.first()? as usize)?));
        let Some(mut last_key) = last(victims) else { return };
        for (index, pod) in numbered(pods).skip(victims.len()) {
            // A pod that ties is not a victim, because every victim so far has a lower index.
            if self.goes_before(pod, &last_key) {
                replace_last(victims, index, &before);
                last_key = last(victims).unwrap_or(last_key);
            }
        }
        sort_heap(victims, &before);
    }

    /// Fills `victims`: collects pods that are deleted before the last victim so far, and drops all but the first `k`
    /// whenever `scratch` is full. That is rare, because `scratch` holds at least twice as many.
    fn fill_with(&self, pods: &[Pod], victims: &mut [u32], scratch: &mut [Candidate]) {
        let before = |a: Candidate, b: Candidate| {
            a.goes_before(b).unwrap_or_else(|| self.index_goes_before(pods, a.index(), b.index()))
        };
        let k = victims.len();
        let mut len = 0_usize;
        let mut last_key = None;
        let mut prefilter = Prefilter::NOTHING;
        for (index, pod) in numbered(pods) {
            if prefilter.sees_after(pod) {
                continue;
            }
            if len == scratch.len() {
                gather_first(scratch, k, &before);
                len = k;
                let last = k.checked_sub(1).and_then(|last| scratch.get(last));
                if let Some(last) = last.and_then(|last| pods.get(last.index() as usize)) {
                    last_key = Some(self.words(last));
                    prefilter = Prefilter::at(last, self);
                }
            }
            // Here, too, a pod that ties is not a victim.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of `u32::MAX` pods takes 256 GB, so this starts two indices before its end. With overflow
    /// checks, an index beyond the last item would be a panic.
    #[test]
    fn numbers_end_with_the_items() {
        // One by one, as a loop over pods asks for them: `collect` asks for as many as the shorter iterator
        // has.
        let mut last = numbered_from(u32::MAX - 2, &['a', 'b']);
        assert_eq!([last.next(), last.next()], [Some((u32::MAX - 2, &'a')), Some((u32::MAX - 1, &'b'))]);
        assert_eq!(last.next(), None);
        let mut last = numbered_from(u32::MAX - 2, &['a', 'b']).skip(1);
        assert_eq!([last.next(), last.next()], [Some((u32::MAX - 1, &'b')), None]);
        assert_eq!(numbered(&['a', 'b']).last(), Some((1, &'b')));
    }
}

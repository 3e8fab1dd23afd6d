//! Sorts all pods of a list, in the caller's memory.

use crate::ffi::IS_SCRATCH_USED;
use crate::order::Words;
use crate::select::fill_with_indices;
use crate::sort::{Comparison, quicksort, runs};
use crate::{Candidate, Error, Pod, Policy, Scratch};
use core::cmp::Ordering;

/// How many candidates are on the stack if the scratch buffer is shorter. More would take long to initialise for a
/// short list.
const LEAST: usize = 64;

impl Policy {
    /// Writes the indices of all pods to `order`, in deletion order. Of pods that tie, the one with the
    /// lower index is deleted first. Returns the part of `order` that was written, which is as long as `pods`. The
    /// records do not move.
    ///
    /// For n pods, it takes O(n log n) comparisons. On machines with 64-bit atomics, it takes n - 1 if they are listed
    /// in the order or in its reverse, and uses a few KiB of stack. There, [`sort_with`](Policy::sort_with) is faster
    /// for a long list.
    ///
    /// # Errors
    /// [`Error::ShortBuffer`] if `order` is shorter than `pods`, and [`Error::TooManyPods`] for
    /// more than `u32::MAX` pods. In that case nothing is written.
    pub fn sort<'v>(&self, pods: &[Pod], order: &'v mut [u32]) -> Result<&'v [u32], Error> {
        self.sort_with(pods, order, &mut [])
    }

    /// Does what [`sort`](Policy::sort) does, but uses a scratch buffer, which makes it several times faster for a long
    /// list. Provide one [`Scratch`] for every four pods. A shorter buffer helps less, and a longer one no more.
    ///
    /// On machines without 64-bit atomics, such as Cortex-M and 32-bit RISC-V, every buffer is ignored. What the buffer
    /// holds before and after the call has no meaning.
    ///
    /// # Errors
    /// Those of [`sort`](Policy::sort).
    pub fn sort_with<'v>(
        &self,
        pods: &[Pod],
        order: &'v mut [u32],
        scratch: &mut [Scratch],
    ) -> Result<&'v [u32], Error> {
        self.sort_in(pods, order, scratch.as_flattened_mut())
    }

    pub(crate) fn sort_in<'v>(
        &self,
        pods: &[Pod],
        order: &'v mut [u32],
        scratch: &mut [Candidate],
    ) -> Result<&'v [u32], Error> {
        let len = order.len();
        let Some(order) = order.get_mut(..pods.len()) else {
            return Err(Error::ShortBuffer { len, needed: pods.len() });
        };
        if !IS_SCRATCH_USED {
            // With a heap, in the code that selecting needs anyway.
            return self.select(pods, order);
        }
        if u32::try_from(pods.len()).is_err() {
            return Err(Error::TooManyPods);
        }
        fill_with_indices(order);
        match self.run(pods) {
            Some(Ordering::Greater) => order.reverse(),
            Some(_) => {}
            None if scratch.len() < LEAST => {
                let scratch = &mut [Candidate::default(); LEAST];
                quicksort(order, Indices { policy: self, pods, scratch });
            }
            None => quicksort(order, Indices { policy: self, pods, scratch }),
        }
        Ok(order)
    }

    /// Sorts a part of a list: by heads, and pods whose heads tie by the words of their keys. There is a candidate for
    /// each index.
    fn sort_by_heads(&self, pods: &[Pod], indices: &mut [u32], candidates: &mut [Candidate]) {
        for (candidate, index) in candidates.iter_mut().zip(&*indices) {
            if let Some(pod) = pods.get(*index as usize) {
                *candidate = Candidate::new(&self.head(pod), *index);
            }
        }
        quicksort(candidates, &Candidate::is_less);
        for tied in tied(candidates) {
            self.sort_tied(pods, tied);
        }
        for (index, candidate) in indices.iter_mut().zip(candidates) {
            *index = candidate.index();
        }
    }

    /// Sorts candidates whose heads tie and whose indices ascend. Their new heads are the words of their keys from the
    /// first that differs.
    fn sort_tied(&self, pods: &[Pod], candidates: &mut [Candidate]) {
        let pod = |candidate: &Candidate| pods.get(candidate.index() as usize);
        let Some(word) = self.first_difference(candidates.iter().filter_map(pod)) else { return };
        for candidate in &mut *candidates {
            if let Some(pod) = pod(candidate) {
                *candidate = Candidate::with_bits(self.two_words(word, pod), candidate.index());
            }
        }
        quicksort(candidates, &Candidate::is_less);
        for tied in tied(candidates) {
            quicksort(tied, &|a: Candidate, b: Candidate| self.index_goes_before(pods, a.index(), b.index()));
        }
    }
}

/// Returns the runs of several candidates whose heads tie.
fn tied(candidates: &mut [Candidate]) -> impl Iterator<Item = &mut [Candidate]> {
    runs(candidates, |a, b| a.goes_before(*b).is_none()).filter(|run| run.len() > 1)
}

/// Sorts indices of pods: by keys down to parts for which there are enough candidates.
struct Indices<'a> {
    policy: &'a Policy,
    pods: &'a [Pod],
    scratch: &'a mut [Candidate],
}

impl Comparison<u32> for Indices<'_> {
    type Pivot = (Option<Words>, u32);

    fn pivot(&self, index: u32) -> Self::Pivot {
        (self.pods.get(index as usize).map(|pod| self.policy.words(pod)), index)
    }

    #[inline(always)]
    fn goes_before_pivot(&self, index: u32, (key, of): &Self::Pivot) -> bool {
        match (self.pods.get(index as usize), key) {
            (Some(pod), Some(key)) => self.policy.compare_with_key(pod, key).then(index.cmp(of)).is_lt(),
            _ => false,
        }
    }

    fn goes_before(&self, a: u32, b: u32) -> bool {
        self.policy.index_goes_before(self.pods, a, b)
    }

    fn sort_part(&mut self, part: &mut [u32], neighbours: [Option<u32>; 2]) -> bool {
        if let [Some(a), Some(b)] = neighbours.map(|index| self.pods.get(index? as usize))
            && self.policy.compare(a, b).is_eq()
        {
            // So every pod between them ties, too.
            quicksort(part, &|a, b| a < b);
            return true;
        }
        let Some(candidates) = self.scratch.get_mut(..part.len()) else { return false };
        self.policy.sort_by_heads(self.pods, part, candidates);
        true
    }
}

//! The first `k` pods of the order: a bounded heap of the victims so far, in the caller's memory.

use crate::{Key, Pod, Policy};
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

    /// As [`select`](Policy::select), with a scratch of as many keys as there are victims, which saves
    /// making a victim's key again for every comparison. A shorter scratch is left alone.
    ///
    /// # Errors
    /// [`TooManyPods`] for more than `u32::MAX` pods; then nothing is written.
    pub fn select_with<'v>(
        &self,
        pods: &[Pod],
        victims: &'v mut [u32],
        scratch: &mut [Key],
    ) -> Result<&'v [u32], TooManyPods> {
        if u32::try_from(pods.len()).is_err() {
            return Err(TooManyPods);
        }
        let len = victims.len().min(pods.len());
        let Some(victims) = victims.get_mut(..len) else { return Ok(&[]) };
        match scratch.get_mut(..len) {
            Some(keys) => fill(&mut Keyed { victims, keys, pods, policy: self }, pods, self),
            None => fill(&mut Plain { victims, pods, policy: self }, pods, self),
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
}

/// Slots that can be sorted where they are.
trait Slots {
    fn swap(&mut self, a: usize, b: usize);
    /// Whether what is in slot `a` goes before what is in slot `b`.
    fn goes_before(&self, a: usize, b: usize) -> bool;
}

/// A max-heap of victims in the caller's memory: the last of them to go stands in slot 0.
trait Heap: Slots {
    fn len(&self) -> usize;
    fn put(&mut self, slot: usize, index: u32);
    /// The key of the last victim to go; `None` of an empty heap.
    fn last(&self) -> Option<Key>;
}

/// Fills `heap` with the first pods of the order and sorts it.
fn fill(heap: &mut impl Heap, pods: &[Pod], policy: &Policy) {
    let len = heap.len();
    // Checked by the caller: an index fits 32 bits.
    #[expect(clippy::cast_possible_truncation)]
    let mut rest = pods.iter().enumerate().map(|(index, pod)| (index as u32, pod));

    for (slot, (index, _)) in (0..len).zip(rest.by_ref()) {
        heap.put(slot, index);
    }
    heapify(heap, len);
    let Some(mut last) = heap.last() else { return };
    for (index, pod) in rest {
        // A tie stays out: every victim so far has a lower index.
        if policy.goes_before(pod, &last) {
            heap.put(0, index);
            sift_down(heap, 0, len);
            last = heap.last().unwrap_or(last);
        }
    }
    unheap(heap, len);
}

/// Sorts indices: `before` is a strict weak order. Heap sort, for it needs no memory and has no panic to offer.
pub(crate) fn sort_by(indices: &mut [u32], before: &dyn Fn(u32, u32) -> bool) {
    let len = indices.len();
    let mut slots = By { indices, before };
    heapify(&mut slots, len);
    unheap(&mut slots, len);
}

/// Makes a heap of the first `len` slots.
fn heapify(slots: &mut impl Slots, len: usize) {
    for slot in (0..len / 2).rev() {
        sift_down(slots, slot, len);
    }
}

/// Makes a sorted list of a heap.
fn unheap(slots: &mut impl Slots, len: usize) {
    for end in (1..len).rev() {
        slots.swap(0, end);
        sift_down(slots, 0, end);
    }
}

/// Lets what is in `slot` sink among the first `len` slots until nothing below it goes after it.
fn sift_down(heap: &mut impl Slots, mut slot: usize, len: usize) {
    loop {
        let left = slot.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        if left >= len {
            return;
        }
        let child = if right < len && heap.goes_before(left, right) { right } else { left };
        if heap.goes_before(child, slot) {
            return;
        }
        heap.swap(slot, child);
        slot = child;
    }
}

/// Victims alone: a key is made anew for every comparison.
struct Plain<'a> {
    victims: &'a mut [u32],
    pods: &'a [Pod],
    policy: &'a Policy,
}

/// Victims with their keys beside them.
struct Keyed<'a> {
    victims: &'a mut [u32],
    keys: &'a mut [Key],
    pods: &'a [Pod],
    policy: &'a Policy,
}

impl Plain<'_> {
    fn victim(&self, slot: usize) -> Option<(u32, &Pod)> {
        let index = *self.victims.get(slot)?;
        Some((index, self.pods.get(index as usize)?))
    }
}

impl Slots for Plain<'_> {
    fn swap(&mut self, a: usize, b: usize) {
        swap(self.victims, a, b);
    }

    fn goes_before(&self, a: usize, b: usize) -> bool {
        match (self.victim(a), self.victim(b)) {
            (Some((i, a)), Some((j, b))) => self.policy.compare(a, b).then(i.cmp(&j)).is_lt(),
            _ => false,
        }
    }
}

impl Heap for Plain<'_> {
    fn len(&self) -> usize {
        self.victims.len()
    }

    fn put(&mut self, slot: usize, index: u32) {
        if let Some(victim) = self.victims.get_mut(slot) {
            *victim = index;
        }
    }

    fn last(&self) -> Option<Key> {
        self.victim(0).map(|(_, pod)| self.policy.key(pod))
    }
}

impl Slots for Keyed<'_> {
    fn swap(&mut self, a: usize, b: usize) {
        swap(self.victims, a, b);
        swap(self.keys, a, b);
    }

    fn goes_before(&self, a: usize, b: usize) -> bool {
        let at = |slot| Some((self.keys.get(slot)?, self.victims.get(slot)?));
        at(a) < at(b)
    }
}

impl Heap for Keyed<'_> {
    fn len(&self) -> usize {
        self.victims.len()
    }

    fn put(&mut self, slot: usize, index: u32) {
        let pod = self.pods.get(index as usize);
        if let (Some(victim), Some(key), Some(pod)) =
            (self.victims.get_mut(slot), self.keys.get_mut(slot), pod)
        {
            *victim = index;
            *key = self.policy.key(pod);
        }
    }

    fn last(&self) -> Option<Key> {
        self.keys.first().copied()
    }
}

/// Indices, by any comparison.
struct By<'a> {
    indices: &'a mut [u32],
    before: &'a dyn Fn(u32, u32) -> bool,
}

impl Slots for By<'_> {
    fn swap(&mut self, a: usize, b: usize) {
        swap(self.indices, a, b);
    }

    fn goes_before(&self, a: usize, b: usize) -> bool {
        match (self.indices.get(a), self.indices.get(b)) {
            (Some(&a), Some(&b)) => (self.before)(a, b),
            _ => false,
        }
    }
}

/// `slice.swap` without its panic.
fn swap<T: Copy>(slice: &mut [T], a: usize, b: usize) {
    if let Ok([a, b]) = slice.get_disjoint_mut([a, b]) {
        core::mem::swap(a, b);
    }
}

impl fmt::Display for TooManyPods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} pods", u32::MAX)
    }
}

impl core::error::Error for TooManyPods {}

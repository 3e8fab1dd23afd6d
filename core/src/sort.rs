//! Sorts in place. It never panics and never takes quadratic time. `before` must be a strict weak ordering.

use core::cell::Cell;
use core::ops::Range;
use heapless::Vec;

/// The longest list that insertion sort handles.
const SHORT: usize = 8;

/// The shortest list whose median is worth more than three comparisons.
const LONG: usize = 64;

/// How quicksort compares items.
pub(crate) trait Comparison<T: Copy> {
    /// What makes the comparisons of many items with one fast.
    type Pivot;

    fn pivot(&self, item: T) -> Self::Pivot;

    fn goes_before_pivot(&self, item: T, pivot: &Self::Pivot) -> bool;

    fn goes_before(&self, a: T, b: T) -> bool;

    /// Sorts a part without partitioning it, or returns false. The items next to the part are in their places.
    fn sort_part(&mut self, part: &mut [T], _neighbours: [Option<T>; 2]) -> bool {
        let is_short = part.len() <= SHORT;
        if is_short {
            insertion_sort(part, &|a, b| self.goes_before(a, b));
        }
        is_short
    }
}

impl<T: Copy, F: Fn(T, T) -> bool> Comparison<T> for &F {
    type Pivot = T;

    fn pivot(&self, item: T) -> T {
        item
    }

    fn goes_before_pivot(&self, item: T, pivot: &T) -> bool {
        self(item, *pivot)
    }

    fn goes_before(&self, a: T, b: T) -> bool {
        self(a, b)
    }
}

/// Sorts a list with quicksort.
pub(crate) fn quicksort<T: Copy>(list: &mut [T], mut comparison: impl Comparison<T>) {
    sort_within(list, 0..list.len(), &mut comparison);
}

/// Brings the first `k` of a list to its start, in order; the rest is in no order.
pub(crate) fn sort_first<T: Copy>(list: &mut [T], k: usize, mut before: &impl Fn(T, T) -> bool) {
    sort_within(list, 0..k, &mut before);
}

/// Brings the first `k` of a list to its start, the last of them in its place; the others are in no order.
pub(crate) fn gather_first<T: Copy>(list: &mut [T], k: usize, mut before: &impl Fn(T, T) -> bool) {
    sort_within(list, k.saturating_sub(1)..k, &mut before);
}

/// Puts into each of these positions what a sort would put there, and what comes before them into the positions
/// before. This is quicksort, which sorts a part by heap once it has partitioned badly too often.
fn sort_within<T: Copy>(list: &mut [T], wanted: Range<usize>, comparison: &mut impl Comparison<T>) {
    // The longer of two parts waits, and whatever waits after it lies in the other, which is at most half as
    // long as both. So no list needs a larger stack.
    sort_within_with::<T, { usize::BITS as usize }>(list, wanted, comparison);
}

/// Does what [`sort_within`] does with a stack for up to `STACK` waiting parts. A part that does not fit is
/// sorted by heap.
fn sort_within_with<T: Copy, const STACK: usize>(
    list: &mut [T],
    wanted: Range<usize>,
    comparison: &mut impl Comparison<T>,
) {
    let is_wanted = |from, to| from < wanted.end && wanted.start < to;
    let mut waiting = Vec::<_, STACK>::new();
    // Each part has its own patience: in a long list, some of the many partitions are bad by chance. Many ties make all
    // of them bad, so it is short.
    let mut next = Some((0_usize, list.len(), list.len().checked_ilog2().unwrap_or(0) / 2));
    while let Some((from, to, mut patience)) = next.or_else(|| waiting.pop()) {
        next = None;
        let neighbours = [from.checked_sub(1), Some(to)].map(|position| list.get(position?).copied());
        let part = list.get_mut(from..to).filter(|_| is_wanted(from, to)).unwrap_or_default();
        if comparison.sort_part(part, neighbours) {
            continue;
        }
        if patience == 0 {
            heap_sort(part, &|a, b| comparison.goes_before(a, b));
            continue;
        }
        let len = part.len();
        let cut = from.saturating_add(partition(part, comparison));
        let (mut short, mut long) = ((from, cut), (cut.saturating_add(1), to));
        if cut.saturating_sub(from) > len / 2 {
            core::mem::swap(&mut short, &mut long);
        }
        let ((start, end), (from, to)) = (short, long);
        if end.saturating_sub(start) < len / 8 {
            patience = patience.saturating_sub(1);
        }
        next = Some((start, end, patience));
        if waiting.push((from, to, patience)).is_err() {
            let part = list.get_mut(from..to).filter(|_| is_wanted(from, to)).unwrap_or_default();
            heap_sort(part, &|a, b| comparison.goes_before(a, b));
        }
    }
}

fn insertion_sort<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) {
    let cells = Cell::from_mut(list).as_slice_of_cells();
    for end in 1..cells.len() {
        let pairs = cells.get(..=end).unwrap_or_default().windows(2).rev();
        for pair in pairs {
            let [a, b] = pair else { return };
            if !before(b.get(), a.get()) {
                break;
            }
            exchange(a, b);
        }
    }
}

/// Partitions a list by its [`median`]: items that come before it, the median, and the rest. Returns the median's
/// position.
///
/// Swaps unconditionally, because a branch would be unpredictable.
fn partition<T: Copy>(list: &mut [T], comparison: &impl Comparison<T>) -> usize {
    let cells = Cell::from_mut(list).as_slice_of_cells();
    let (Some((end, others)), Some(median)) = (cells.split_last(), median(cells, comparison)) else {
        return 0;
    };
    exchange(end, median);
    let pivot = comparison.pivot(end.get());
    let mut cut = 0_usize;
    for cell in others {
        let item = cell.get();
        if let Some(target) = cells.get(cut) {
            cell.set(target.replace(item));
        }
        cut = cut.wrapping_add(usize::from(comparison.goes_before_pivot(item, &pivot)));
    }
    if let Some(target) = cells.get(cut) {
        exchange(target, end);
    }
    cut
}

/// Returns the median of three items, or in a long list, of the medians of three times three.
fn median<'l, T: Copy>(list: &'l [Cell<T>], comparison: &impl Comparison<T>) -> Option<&'l Cell<T>> {
    let of_three = |[a, b, c]: [&'l Cell<T>; 3]| {
        let goes_before = |a: &Cell<T>, b: &Cell<T>| comparison.goes_before(a.get(), b.get());
        let is_before = goes_before(a, b);
        if is_before != goes_before(a, c) {
            a
        } else if is_before == goes_before(b, c) {
            b
        } else {
            c
        }
    };
    let ninth = |i: usize| list.get(i.saturating_mul(list.len() / 9));
    let of_ninths = |a, b, c| Some(of_three([ninth(a)?, ninth(b)?, ninth(c)?]));
    if list.len() < LONG {
        return of_ninths(0, 4, 8);
    }
    Some(of_three([of_ninths(0, 1, 2)?, of_ninths(3, 4, 5)?, of_ninths(6, 7, 8)?]))
}

/// `Cell::swap` without its panic.
pub(crate) fn exchange<T: Copy>(a: &Cell<T>, b: &Cell<T>) {
    a.set(b.replace(a.get()));
}

/// Turns a list into a heap, whose first item is the one that comes last.
pub(crate) fn heapify<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) {
    for slot in (0..list.len() / 2).rev() {
        sift(list, slot, before);
    }
}

/// Replaces the item that comes last.
pub(crate) fn replace_last<T: Copy>(heap: &mut [T], item: T, before: &impl Fn(T, T) -> bool) {
    if let Some(last) = heap.first_mut() {
        *last = item;
    }
    sift(heap, 0, before);
}

/// Sorts a list: with quicksort where 64 bits are compared at a time, and with a heap where its smaller code
/// matters more.
pub(crate) fn sort<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) {
    if cfg!(target_has_atomic = "64") {
        sort_first(list, list.len(), before);
    } else {
        heap_sort(list, before);
    }
}

/// Returns the runs of equal items in a sorted list. (`slice::chunk_by_mut` has a panic path.)
pub(crate) fn runs<T>(list: &mut [T], equal: impl Fn(&T, &T) -> bool) -> impl Iterator<Item = &mut [T]> {
    let mut rest = list;
    core::iter::from_fn(move || {
        let list = core::mem::take(&mut rest);
        let first = list.first()?;
        let others = list.iter().skip(1).take_while(|item| equal(first, item)).count();
        let (run, after) = list.split_at_mut_checked(others.saturating_add(1))?;
        rest = after;
        Some(run)
    })
}

/// Sorts a list by heap: slower than quicksort, but in little code.
pub(crate) fn heap_sort<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) {
    heapify(list, before);
    sort_heap(list, before);
}

/// Turns a heap into a sorted list.
pub(crate) fn sort_heap<T: Copy>(mut heap: &mut [T], before: &impl Fn(T, T) -> bool) {
    while let [first, .., last] = heap {
        core::mem::swap(first, last);
        let Some((_, rest)) = heap.split_last_mut() else { return };
        sift(rest, 0, before);
        heap = rest;
    }
}

/// Moves the item in a slot down until no item below it comes after it: first down to a leaf, then up again to
/// its place. Most items end near a leaf, so this takes half as many comparisons as comparing at every step
/// down.
fn sift<T: Copy>(heap: &mut [T], root: usize, before: &impl Fn(T, T) -> bool) {
    let cells = Cell::from_mut(heap).as_slice_of_cells();
    let Some(item) = cells.get(root).map(Cell::get) else { return };
    let mut slot = root;
    loop {
        let left = slot.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        let child = match (cells.get(left), cells.get(right)) {
            (Some(a), Some(b)) if before(a.get(), b.get()) => right,
            (Some(_), _) => left,
            (None, _) => break,
        };
        move_to(cells, child, slot);
        slot = child;
    }
    while slot > root {
        let parent = slot.saturating_sub(1) / 2;
        if !cells.get(parent).is_some_and(|parent| before(parent.get(), item)) {
            break;
        }
        move_to(cells, parent, slot);
        slot = parent;
    }
    if let Some(cell) = cells.get(slot) {
        cell.set(item);
    }
}

fn move_to<T: Copy>(cells: &[Cell<T>], from: usize, to: usize) {
    if let (Some(from), Some(to)) = (cells.get(from), cells.get(to)) {
        to.set(from.get());
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test may panic")]
mod tests {
    extern crate std;
    use super::*;
    use std::cell::RefCell;
    use std::vec::Vec;

    /// Sorts against an adversary that decides which item is smaller only when asked, so that pivots are bad:
    /// see M. D. `McIlroy`, "A Killer Adversary for Quicksort" (1999). Returns the number of comparisons.
    fn against_the_adversary(len: usize) -> usize {
        struct Adversary {
            values: Vec<usize>,
            solid: usize,
            candidate: usize,
            comparisons: usize,
        }
        let gas = len;
        let state =
            RefCell::new(Adversary { values: std::vec![gas; len], solid: 0, candidate: 0, comparisons: 0 });
        let before = |a: usize, b: usize| {
            let mut s = state.borrow_mut();
            s.comparisons += 1;
            if s.values[a] == gas && s.values[b] == gas {
                let freeze = if a == s.candidate { a } else { b };
                s.values[freeze] = s.solid;
                s.solid += 1;
            }
            if s.values[a] == gas {
                s.candidate = a;
            } else if s.values[b] == gas {
                s.candidate = b;
            }
            s.values[a] < s.values[b]
        };
        let mut list: Vec<usize> = (0..len).collect();
        sort_first(&mut list, len, &before);
        let state = state.into_inner();
        assert!(list.is_sorted_by_key(|&item| state.values[item]), "{len} items");
        state.comparisons
    }

    /// Quicksort alone would take 100 million comparisons for 20,000 items.
    #[test]
    fn an_adversary_cannot_make_it_quadratic() {
        for len in [100_usize, 1_000, 20_000] {
            let log = len.ilog2() as usize;
            let comparisons = against_the_adversary(len);
            assert!(comparisons < 5 * len * log, "{len} items: {comparisons} comparisons");
        }
    }

    /// Parts that do not fit the stack are sorted all the same.
    #[test]
    fn a_full_stack_loses_no_part() {
        // A full period of a linear congruential generator: each number once, in no order.
        let list: Vec<usize> = (0..4096).map(|i: usize| (i * 1549 + 863) % 4096).collect();
        let before = |a, b| a < b;
        let mut before = &before;
        for k in [1, 100, 4000, 4096] {
            for stack in [0, 1, 3] {
                let mut sort = |list: &mut [usize], wanted| match stack {
                    0 => sort_within_with::<usize, 0>(list, wanted, &mut before),
                    1 => sort_within_with::<usize, 1>(list, wanted, &mut before),
                    _ => sort_within_with::<usize, 3>(list, wanted, &mut before),
                };
                let mut sorted = list.clone();
                sort(&mut sorted, 0..k);
                assert!(sorted[..k].iter().copied().eq(0..k), "{k}");
                let mut middle = list.clone();
                sort(&mut middle, k / 2..k);
                assert!(middle[k / 2..k].iter().copied().eq(k / 2..k), "{k}");
                assert!(middle[..k / 2].iter().all(|&item| item < k / 2), "{k}");
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..4096), "{k}: no number may be lost");
            }
        }
    }

    type Sort<'f> = &'f dyn Fn(&mut [usize]);

    /// The law of sort-research-rs, with comparisons that answer at random, or always the same.
    #[test]
    fn whatever_the_comparison_says_no_item_is_lost_or_duplicated() {
        let random = Cell::new(1_u32);
        let toss = |chance: u32| {
            random.set(random.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
            random.get() >> 24 < chance
        };
        for len in [0, 1, 2, 3, 8, 9, 20, 63, 64, 65, 300, 4000] {
            for chance in [0, 1, 64, 128, 192, 255, 256] {
                let before = |_: usize, _: usize| toss(chance);
                let k = len / 3;
                let functions: [Sort<'_>; 6] = [
                    &|list| sort(list, &before),
                    &|list| sort_first(list, k, &before),
                    &|list| gather_first(list, k, &before),
                    &|list| heap_sort(list, &before),
                    &|list| insertion_sort(list, &before),
                    &|list| sort_within_with::<_, 1>(list, k..len, &mut &before),
                ];
                for (number, function) in functions.iter().enumerate() {
                    let mut list: Vec<usize> = (0..len).collect();
                    function(&mut list);
                    list.sort_unstable();
                    assert!(list.into_iter().eq(0..len), "function {number}, {len} items, {chance} of 256");
                }
            }
        }
    }

    #[test]
    fn the_first_are_gathered_with_the_last_of_them_in_its_place() {
        let list: Vec<usize> = (0..100).map(|i: usize| (i * 37 + 11) % 100).collect();
        for k in 0..=100 {
            let mut gathered = list.clone();
            gather_first(&mut gathered, k, &|a, b| a < b);
            assert!(gathered[..k].iter().all(|&item| item < k), "{k}");
            assert_eq!(k.checked_sub(1).map(|last| gathered[last]), k.checked_sub(1));
        }
    }

    /// If all items tie, every partition is as uneven as can be.
    #[test]
    fn ties_do_not_make_it_quadratic() {
        let comparisons = Cell::new(0);
        sort_first(&mut std::vec![0; 20_000], 20_000, &|a: i32, b: i32| {
            comparisons.set(comparisons.get() + 1);
            a < b
        });
        assert!(comparisons.get() < 5 * 20_000 * 14, "{}", comparisons.get());
    }
}

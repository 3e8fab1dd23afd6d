//! Sorts in place. It never panics and never takes quadratic time. `before` must be a strict weak ordering.

use core::cell::Cell;
use core::ops::Range;
use heapless::Vec;

/// The longest list that insertion sort handles.
const SHORT: usize = 8;

/// Brings the first `k` of a list to its start, in order; the rest is in no order.
pub(crate) fn sort_first<T: Copy>(list: &mut [T], k: usize, before: &impl Fn(T, T) -> bool) {
    sort_within(list, 0..k, before);
}

/// Brings the first `k` of a list to its start, the last of them in its place; the others are in no order.
pub(crate) fn gather_first<T: Copy>(list: &mut [T], k: usize, before: &impl Fn(T, T) -> bool) {
    sort_within(list, k.saturating_sub(1)..k, before);
}

/// Puts into each of these positions what a sort would put there, and what comes before them into the positions
/// before. This is quicksort, which sorts a part by heap once it has partitioned badly too often.
fn sort_within<T: Copy>(list: &mut [T], wanted: Range<usize>, before: &impl Fn(T, T) -> bool) {
    // The longer of two parts waits, and whatever waits after it lies in the other, which is at most half as
    // long as both. So no list needs a larger stack.
    sort_within_with::<T, { usize::BITS as usize }>(list, wanted, before);
}

/// Does what [`sort_within`] does with a stack for up to `STACK` waiting parts. A part that does not fit is
/// sorted by heap.
fn sort_within_with<T: Copy, const STACK: usize>(
    list: &mut [T],
    wanted: Range<usize>,
    before: &impl Fn(T, T) -> bool,
) {
    let is_wanted = |from, to| from < wanted.end && wanted.start < to;
    let mut patience = list.len().checked_ilog2().unwrap_or(0).saturating_mul(2);
    let mut waiting = Vec::<_, STACK>::new();
    let mut next = Some((0, list.len()));
    while let Some((from, to)) = next.or_else(|| waiting.pop()) {
        next = None;
        let part = list.get_mut(from..to).filter(|_| is_wanted(from, to)).unwrap_or_default();
        if part.len() <= SHORT {
            insertion_sort(part, before);
        } else if patience == 0 {
            heap_sort(part, before);
        } else {
            let len = part.len();
            let cut = from.saturating_add(partition(part, before));
            let (mut short, mut long) = ((from, cut), (cut.saturating_add(1), to));
            if cut.saturating_sub(from) > len / 2 {
                core::mem::swap(&mut short, &mut long);
            }
            let (start, end) = short;
            if end.saturating_sub(start) < len / 8 {
                patience = patience.saturating_sub(1);
            }
            next = Some(short);
            if let Err((from, to)) = waiting.push(long) {
                heap_sort(list.get_mut(from..to).filter(|_| is_wanted(from, to)).unwrap_or_default(), before);
            }
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

/// Partitions a list by the median of three items: items that go before it, the median, and the rest. Returns
/// the median's position.
///
/// Swaps unconditionally, because a branch would be unpredictable.
fn partition<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) -> usize {
    let cells = Cell::from_mut(list).as_slice_of_cells();
    let ([first, .., end], Some(middle)) = (cells, cells.get(cells.len() / 2)) else { return 0 };
    for (a, b) in [(first, middle), (first, end), (end, middle)] {
        if before(b.get(), a.get()) {
            exchange(a, b);
        }
    }
    let pivot = end.get();
    let mut cut = 0_usize;
    for cell in cells.split_last().map_or(&[][..], |(_, others)| others) {
        let item = cell.get();
        if let Some(target) = cells.get(cut) {
            cell.set(target.replace(item));
        }
        cut = cut.wrapping_add(usize::from(before(item, pivot)));
    }
    if let Some(target) = cells.get(cut) {
        exchange(target, end);
    }
    cut
}

/// `Cell::swap` without its panic.
pub(crate) fn exchange<T: Copy>(a: &Cell<T>, b: &Cell<T>) {
    a.set(b.replace(a.get()));
}

/// Turns a list into a heap, whose first item is the one that goes last.
pub(crate) fn heapify<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) {
    for slot in (0..list.len() / 2).rev() {
        sift(list, slot, before);
    }
}

/// Replaces the item that goes last.
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

/// Moves the item in a slot down until no item below it goes after it: first down to a leaf, then up again to
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
        for k in [1, 100, 4000, 4096] {
            for sort in
                [sort_within_with::<usize, 0>, sort_within_with::<usize, 1>, sort_within_with::<usize, 3>]
            {
                let mut sorted = list.clone();
                sort(&mut sorted, 0..k, &before);
                assert!(sorted[..k].iter().copied().eq(0..k), "{k}");
                let mut middle = list.clone();
                sort(&mut middle, k / 2..k, &before);
                assert!(middle[k / 2..k].iter().copied().eq(k / 2..k), "{k}");
                assert!(middle[..k / 2].iter().all(|&item| item < k / 2), "{k}");
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..4096), "{k}: no number may be lost");
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

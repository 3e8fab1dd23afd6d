//! Go's `sort.Sort`, comparison for comparison: kube-controller-manager sorts with it by a relation that is not an order, so the
//! result depends on how it sorts. It takes no memory but a few hundred bytes of stack, and O(n log n) steps.
//!
//! `judge/code` compares it with Go's own, list by list. The numbers and steps are those of Go 1.19 to 1.27: a pattern-defeating
//! quicksort.
//!
//! It follows Go's code step by step: Copyright 2009 The Go Authors, under the BSD-3-Clause license in the file NOTICE.

use core::cell::Cell;
use heapless::Vec;

/// The longest part that is sorted by insertion. Up to here, what the sort does to a group of pods depends on the order of the
/// group alone.
pub(crate) const SHORT: usize = 12;

/// The length from which a pivot is the median of three medians, and from which pairs out of order are swapped in
/// place.
const LONG: usize = 50;

/// A generator of random numbers, xorshift with 64 bits of state, which must not be 0. Go's sort uses it, and so do the
/// probabilities.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0.wrapping_shl(13);
        self.0 ^= self.0.wrapping_shr(7);
        self.0 ^= self.0.wrapping_shl(17);
        self.0
    }
}

/// The most parts that wait. Of two parts, the longer one does, so at most one for each halving of 2^32 items to parts of 12.
const MOST_WAITING: usize = 29;

/// Sorts a list of up to `u32::MAX` items as Go does if `before` is its `Less`.
#[expect(clippy::cast_possible_truncation, reason = "lengths and logarithms of them are as long as that")]
pub fn go_sort<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) {
    let to = list.len() as u32;
    // As often may a partition be uneven, until a part is sorted by heap.
    let patience = to.checked_ilog2().map_or(0, |log| log.wrapping_add(1)) as u8;
    let list = List { cells: Cell::from_mut(list).as_slice_of_cells(), before };
    // Which part is first matters, because one that is sorted by a relation that is not an order may change its neighbour.
    let mut waiting = Vec::<Part, MOST_WAITING>::new();
    let mut next = Some(Part { from: 0, to, patience, was_even: true, was_in_place: true });
    while let Some(part) = next.or_else(|| waiting.pop()) {
        next = match list.step(part) {
            Step::Sorted => None,
            Step::Rest(rest) => Some(rest),
            Step::Cut { short, long } => {
                // There is room: see above.
                let _ = waiting.push(long);
                Some(short)
            }
        };
    }
}

/// Sorts a list by insertion, as Go does with one of up to [`SHORT`] items.
pub(crate) fn insertion_sort<T: Copy>(list: &mut [T], before: &impl Fn(T, T) -> bool) {
    let to = list.len();
    List { cells: Cell::from_mut(list).as_slice_of_cells(), before }.sort_by_insertion(0, to);
}

/// A part of the list that is not sorted yet.
#[derive(Clone, Copy)]
struct Part {
    from: u32,
    to: u32,
    /// How many partitions may still be uneven.
    patience: u8,
    /// Whether the last partition left at least an eighth on each side.
    was_even: bool,
    /// Whether the last partition found nothing to swap.
    was_in_place: bool,
}

/// The work that remains after one step.
enum Step {
    Sorted,
    Rest(Part),
    Cut { short: Part, long: Part },
}

struct List<'l, T, F> {
    cells: &'l [Cell<T>],
    before: &'l F,
}

impl<T: Copy, F: Fn(T, T) -> bool> List<'_, T, F> {
    /// Returns whether the item at `a` comes before the item at `b`. On small machines, one copy of this saves more
    /// than inlining does.
    #[cfg_attr(target_has_atomic = "64", inline)]
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    fn is_before(&self, a: usize, b: usize) -> bool {
        match (self.cells.get(a), self.cells.get(b)) {
            (Some(a), Some(b)) => (self.before)(a.get(), b.get()),
            _ => false,
        }
    }

    #[cfg_attr(target_has_atomic = "64", inline)]
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    fn swap(&self, a: usize, b: usize) {
        if let (Some(a), Some(b)) = (self.cells.get(a), self.cells.get(b)) {
            a.set(b.replace(a.get()));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "places are below the length")]
    fn step(&self, mut part: Part) -> Step {
        let (from, to) = (part.from as usize, part.to as usize);
        let len = to.wrapping_sub(from);
        if len <= SHORT {
            self.sort_by_insertion(from, to);
            return Step::Sorted;
        }
        if part.patience == 0 {
            self.sort_by_heap(from, to);
            return Step::Sorted;
        }
        if !part.was_even {
            self.break_pattern(from, len);
            part.patience = part.patience.wrapping_sub(1);
        }
        let (mut pivot, swaps) = self.pivot(from, len);
        let is_descending = swaps == 12;
        if is_descending {
            self.reverse(from, to);
            pivot = to.wrapping_sub(1).wrapping_sub(pivot.wrapping_sub(from));
        }
        let seems_sorted = swaps == 0 || is_descending;
        if part.was_even && part.was_in_place && seems_sorted && self.mend(from, to) {
            return Step::Sorted;
        }
        // The item before this part is a pivot. If this pivot ties with it, those that tie need no sorting.
        if from > 0 && !self.is_before(from.wrapping_sub(1), pivot) {
            return Step::Rest(Part { from: self.part_ties(from, to, pivot) as u32, ..part });
        }
        let (cut, was_in_place) = self.partition(from, to, pivot);
        let fresh = Part { was_even: true, was_in_place: true, ..part };
        let (left, right) =
            (Part { to: cut as u32, ..fresh }, Part { from: cut.wrapping_add(1) as u32, ..fresh });
        let (left_len, right_len) = (cut.wrapping_sub(from), to.wrapping_sub(cut));
        let (short, long) = if left_len < right_len { (left, right) } else { (right, left) };
        let was_even = left_len.min(right_len) >= len / 8;
        Step::Cut { short, long: Part { was_even, was_in_place, ..long } }
    }

    fn sort_by_insertion(&self, from: usize, to: usize) {
        for end in from.wrapping_add(1)..to {
            let mut at = end;
            while at > from && self.is_before(at, at.wrapping_sub(1)) {
                self.swap(at, at.wrapping_sub(1));
                at = at.wrapping_sub(1);
            }
        }
    }

    fn sort_by_heap(&self, from: usize, to: usize) {
        let len = to.wrapping_sub(from);
        for root in (0..=len.wrapping_sub(1) / 2).rev() {
            self.sift(from, root, len);
        }
        for end in (0..len).rev() {
            self.swap(from, from.wrapping_add(end));
            self.sift(from, 0, end);
        }
    }

    /// Moves the item at `root` of the heap at `from` down, until no item below it comes after it.
    fn sift(&self, from: usize, mut root: usize, len: usize) {
        let at = |place: usize| from.wrapping_add(place);
        loop {
            let mut child = root.wrapping_mul(2).wrapping_add(1);
            if child >= len {
                return;
            }
            let other = child.wrapping_add(1);
            if other < len && self.is_before(at(child), at(other)) {
                child = other;
            }
            if !self.is_before(at(root), at(child)) {
                return;
            }
            self.swap(at(root), at(child));
            root = child;
        }
    }

    /// Swaps three items around the middle with others, after an uneven partition.
    fn break_pattern(&self, from: usize, len: usize) {
        let mut random = Random(len as u64);
        let mask =
            1_usize.wrapping_shl(len.checked_ilog2().map_or(0, |log| log.wrapping_add(1))).wrapping_sub(1);
        let middle = from.wrapping_add((len / 4).wrapping_mul(2));
        for at in middle.wrapping_sub(1)..=middle.wrapping_add(1) {
            #[expect(clippy::cast_possible_truncation, reason = "the mask needs the lower bits alone")]
            let other = random.next() as usize & mask;
            let other = if other >= len { other.wrapping_sub(len) } else { other };
            self.swap(at, from.wrapping_add(other));
        }
    }

    /// Returns the place of the pivot, and how many pairs were out of order among those that were compared: of 12 if the part is
    /// [`LONG`].
    fn pivot(&self, from: usize, len: usize) -> (usize, u32) {
        let quarter = len / 4;
        let [mut a, mut b, mut c] = [1, 2, 3].map(|i| from.wrapping_add(quarter.wrapping_mul(i)));
        let mut swaps = 0;
        if len >= LONG {
            for place in [&mut a, &mut b, &mut c] {
                *place = self.median(place.wrapping_sub(1), *place, place.wrapping_add(1), &mut swaps);
            }
        }
        (self.median(a, b, c, &mut swaps), swaps)
    }

    /// Returns which of three places has the median.
    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut u32) -> usize {
        let mut in_order = |a, b| {
            let is_after = self.is_before(b, a);
            *swaps = swaps.wrapping_add(is_after.into());
            if is_after { (b, a) } else { (a, b) }
        };
        let (a, b) = in_order(a, b);
        let (b, _) = in_order(b, c);
        in_order(a, b).1
    }

    fn reverse(&self, from: usize, to: usize) {
        let pairs = (from..to).zip((from..to).rev());
        for (a, b) in pairs.take(to.wrapping_sub(from) / 2) {
            self.swap(a, b);
        }
    }

    /// Swaps up to five pairs out of order in a part that seems sorted. Returns whether it is sorted afterwards.
    fn mend(&self, from: usize, to: usize) -> bool {
        let is_unordered = |at: usize| self.is_before(at, at.wrapping_sub(1));
        let mut at = from.wrapping_add(1);
        for _ in 0..5 {
            while at < to && !is_unordered(at) {
                at = at.wrapping_add(1);
            }
            if at == to {
                return true;
            }
            if to.wrapping_sub(from) < LONG {
                return false;
            }
            self.swap(at, at.wrapping_sub(1));
            // Each of the two goes on to its place. The left one does not stop at the start of the part.
            if at.wrapping_sub(from) >= 2 {
                for left in (1..at).rev() {
                    if !is_unordered(left) {
                        break;
                    }
                    self.swap(left, left.wrapping_sub(1));
                }
            }
            if to.wrapping_sub(at) >= 2 {
                for right in at.wrapping_add(1)..to {
                    if !is_unordered(right) {
                        break;
                    }
                    self.swap(right, right.wrapping_sub(1));
                }
            }
        }
        false
    }

    /// Partitions a part by a pivot: what comes before it, the pivot, and the rest. Returns the pivot's place, and
    /// whether nothing had to be swapped.
    fn partition(&self, from: usize, to: usize, pivot: usize) -> (usize, bool) {
        self.swap(from, pivot);
        let (mut left, mut right) = (from.wrapping_add(1), to.wrapping_sub(1));
        let mut was_in_place = true;
        loop {
            while left <= right && self.is_before(left, from) {
                left = left.wrapping_add(1);
            }
            while left <= right && !self.is_before(right, from) {
                right = right.wrapping_sub(1);
            }
            if left > right {
                break;
            }
            self.swap(left, right);
            was_in_place = false;
            left = left.wrapping_add(1);
            right = right.wrapping_sub(1);
        }
        self.swap(right, from);
        (right, was_in_place)
    }

    /// Partitions a part in which nothing comes before the pivot: what ties with it, and the rest. Returns the place of
    /// the rest.
    fn part_ties(&self, from: usize, to: usize, pivot: usize) -> usize {
        self.swap(from, pivot);
        let (mut left, mut right) = (from.wrapping_add(1), to.wrapping_sub(1));
        loop {
            while left <= right && !self.is_before(from, left) {
                left = left.wrapping_add(1);
            }
            while left <= right && self.is_before(from, right) {
                right = right.wrapping_sub(1);
            }
            if left > right {
                return left;
            }
            self.swap(left, right);
            left = left.wrapping_add(1);
            right = right.wrapping_sub(1);
        }
    }
}

//! A second, plain implementation of Go's `sort.Sort`, to compare with: it recurs, and it counts in signed numbers.
//!
//! `tests/vectors/go_sort.json` has what Go itself does with lists of all patterns.

type Less<'l, T> = &'l dyn Fn(&T, &T) -> bool;

/// Sorts a list as Go does with this `Less`.
pub fn go_sort<T>(list: &mut [T], less: Less<'_, T>) {
    let to = list.len();
    sort(list, 0, to, bits(to), less);
}

fn bits(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}

fn sort<T>(list: &mut [T], mut from: usize, mut to: usize, mut limit: u32, less: Less<'_, T>) {
    let (mut balanced, mut partitioned) = (true, true);
    loop {
        let len = to - from;
        if len <= 12 {
            return insertion(list, from, to, less);
        }
        if limit == 0 {
            return heap(list, from, to, less);
        }
        if !balanced {
            scatter(list, from, to);
            limit -= 1;
        }
        let (mut pivot, swaps) = choose(list, from, to, less);
        if swaps == 12 {
            list[from..to].reverse();
            pivot = from + (to - 1 - pivot);
        }
        if balanced && partitioned && (swaps == 0 || swaps == 12) && nearly_sorted(list, from, to, less) {
            return;
        }
        if from > 0 && !less(&list[from - 1], &list[pivot]) {
            // Nothing in this part is less than the pivot.
            list.swap(from, pivot);
            let (mut i, mut j) = (from + 1, to - 1);
            loop {
                i = (i..=j).find(|&i| less(&list[from], &list[i])).unwrap_or(i.max(j + 1));
                j = (i..=j).rev().find(|&j| !less(&list[from], &list[j])).unwrap_or(i - 1);
                if i > j {
                    break;
                }
                list.swap(i, j);
                (i, j) = (i + 1, j - 1);
            }
            from = i;
            continue;
        }
        list.swap(from, pivot);
        let (mut i, mut j) = (from + 1, to - 1);
        partitioned = true;
        loop {
            i = (i..=j).find(|&i| !less(&list[i], &list[from])).unwrap_or(i.max(j + 1));
            j = (i..=j).rev().find(|&j| less(&list[j], &list[from])).unwrap_or(i - 1);
            if i > j {
                break;
            }
            partitioned = false;
            list.swap(i, j);
            (i, j) = (i + 1, j - 1);
        }
        list.swap(from, j);
        let (left, right) = (j - from, to - j);
        balanced = left.min(right) >= len / 8;
        if left < right {
            sort(list, from, j, limit, less);
            from = j + 1;
        } else {
            sort(list, j + 1, to, limit, less);
            to = j;
        }
    }
}

fn insertion<T>(list: &mut [T], from: usize, to: usize, less: Less<'_, T>) {
    for i in from..to {
        for j in (from + 1..=i).rev() {
            if !less(&list[j], &list[j - 1]) {
                break;
            }
            list.swap(j, j - 1);
        }
    }
}

fn heap<T>(list: &mut [T], from: usize, to: usize, less: Less<'_, T>) {
    let list = &mut list[from..to];
    let len = list.len();
    for root in (0..=(len - 1) / 2).rev() {
        sift(list, root, len, less);
    }
    for end in (0..len).rev() {
        list.swap(0, end);
        sift(list, 0, end, less);
    }
}

fn sift<T>(list: &mut [T], root: usize, len: usize, less: Less<'_, T>) {
    let left = 2 * root + 1;
    if left >= len {
        return;
    }
    let right = left + 1;
    let child = if right < len && less(&list[left], &list[right]) { right } else { left };
    if less(&list[root], &list[child]) {
        list.swap(root, child);
        sift(list, child, len, less);
    }
}

fn scatter<T>(list: &mut [T], from: usize, to: usize) {
    let len = to - from;
    let mut random = len as u64;
    for i in 0..3 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let other = usize::try_from(random % (1 << bits(len))).unwrap();
        list.swap(from + len / 4 * 2 - 1 + i, from + if other < len { other } else { other - len });
    }
}

fn choose<T>(list: &[T], from: usize, to: usize, less: Less<'_, T>) -> (usize, u32) {
    let len = to - from;
    let mut swaps = 0;
    let mut median = |mut three: [usize; 3]| {
        for (a, b) in [(0, 1), (1, 2), (0, 1)] {
            if less(&list[three[b]], &list[three[a]]) {
                three.swap(a, b);
                swaps += 1;
            }
        }
        three[1]
    };
    let mut three = [1, 2, 3].map(|i| from + len / 4 * i);
    if len >= 50 {
        three = three.map(|i| median([i - 1, i, i + 1]));
    }
    (median(three), swaps)
}

fn nearly_sorted<T>(list: &mut [T], from: usize, to: usize, less: Less<'_, T>) -> bool {
    let mut i = from + 1;
    for _ in 0..5 {
        while i < to && !less(&list[i], &list[i - 1]) {
            i += 1;
        }
        if i == to || to - from < 50 {
            return i == to;
        }
        list.swap(i, i - 1);
        if i - from >= 2 {
            // It goes on to the left of this part, where a contradiction may lead it.
            let mut j = i - 1;
            while j >= 1 && less(&list[j], &list[j - 1]) {
                list.swap(j, j - 1);
                j -= 1;
            }
        }
        if to - i >= 2 {
            let mut j = i + 1;
            while j < to && less(&list[j], &list[j - 1]) {
                list.swap(j, j - 1);
                j += 1;
            }
        }
    }
    false
}

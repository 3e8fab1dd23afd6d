//! Kubernetes' relation and what it determines, against the naive relation, against all pairs, and against sorts that do
//! not look for contradictions.

use podrank::{OrderError, Pod, Policy, Relation, Time};
use podrank_laws::generate::{
    NOW, boundary_times, cases, cases_with_invalid_records, config, distinct_cases, moments, sizes,
};
use podrank_laws::relation::{self, Settled, Verdict, less};
use podrank_laws::{Core, Implementation, laws, permute};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Returns the verdicts, by index.
fn settle(policy: &Policy, pods: &[Pod], k: usize) -> Vec<Verdict> {
    let Settled { order, certain, contested } = Core.settle(policy, pods, k);
    let mut verdicts = vec![Verdict::Safe; pods.len()];
    for (position, index) in order.into_iter().enumerate().take(certain + contested) {
        verdicts[index as usize] = if position < certain { Verdict::Certain } else { Verdict::Contested };
    }
    verdicts
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn the_relation_is_upstreams((policy, list) in cases_with_invalid_records(2..20)) {
        for a in &list {
            for b in &list {
                laws::relation_is_upstreams(&Core, &policy, a, b);
            }
        }
    }

    #[test]
    fn verdicts_are_those_of_all_pairs(
        (policy, list) in sizes().prop_flat_map(cases_with_invalid_records),
        k in any::<Index>(),
    ) {
        laws::settles_as_all_pairs_say(&Core, &policy, &list, k.index(list.len() + 2));
    }

    #[test]
    fn verdicts_are_those_of_all_pairs_for_every_k((policy, list) in distinct_cases(0..16)) {
        for k in 0..=list.len() {
            laws::settles_as_all_pairs_say(&Core, &policy, &list, k);
        }
    }

    /// Up to a rank of 32767, the first sort compares 64 bits at a time.
    #[test]
    fn verdicts_are_those_of_all_pairs_for_large_ranks(
        (policy, list) in distinct_cases(0..16),
        least in select(vec![32_765, 32_767, 32_768, u32::MAX - 3]),
        k in any::<Index>(),
    ) {
        let list: Vec<Pod> = list.iter().map(|pod| Pod { rank: least + pod.rank % 4, ..*pod }).collect();
        laws::settles_as_all_pairs_say(&Core, &policy, &list, k.index(list.len() + 2));
    }

    #[test]
    fn no_sort_takes_a_safe_pod_or_leaves_a_certain_one(
        ((policy, list), shuffles) in distinct_cases(0..60).prop_flat_map(|case| {
            let shuffle = Just((0..case.1.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(case), prop::collection::vec(shuffle, 8))
        }),
        k in any::<Index>(),
    ) {
        let k = k.index(list.len() + 1);
        let verdicts = settle(&policy, &list, k);
        for shuffle in shuffles {
            for sort in [insertion_sort, selection_sort, merge_sort, quick_sort, shell_sort] {
                let mut sorted = shuffle.clone();
                sort(&mut sorted, &|a, b| less(&policy, &list[a], &list[b]));
                for (position, &pod) in sorted.iter().enumerate() {
                    let wrong = if position < k { Verdict::Safe } else { Verdict::Certain };
                    prop_assert_ne!(verdicts[pod], wrong);
                }
            }
        }
    }

    /// One line of groups has the answers for every number of deletions.
    #[test]
    fn groups_tell_what_each_number_of_deletions_settles((policy, list) in cases(0..40)) {
        let (mut order, mut scores) = (vec![0; list.len()], vec![0; list.len()]);
        let groups: Vec<_> = policy.groups(&list, &mut order, &mut scores).unwrap().collect();
        for k in 0..=list.len() + 1 {
            let mut verdicts = vec![None; list.len()];
            let mut start = 0;
            for group in &groups {
                let end = start + group.len();
                let verdict = if k <= start {
                    Verdict::Safe
                } else if k >= end {
                    Verdict::Certain
                } else {
                    Verdict::Contested
                };
                group.iter().for_each(|&pod| verdicts[pod as usize] = Some(verdict));
                start = end;
            }
            let expected: Vec<_> = settle(&policy, &list, k).into_iter().map(Some).collect();
            prop_assert_eq!(verdicts, expected, "k = {} of {:?}", k, groups);
        }
    }

    /// No pod is contested without need: in some list order an insertion sort takes the pod, and in another it does not.
    #[test]
    fn every_contested_pod_can_go_and_can_stay((policy, list) in cases(2..7)) {
        let n = list.len();
        let mut taken = vec![vec![false; n]; n + 1];
        let mut left = taken.clone();
        permute(&mut (0..n).collect::<Vec<_>>(), &mut |order| {
            let mut sorted = order.to_vec();
            insertion_sort(&mut sorted, &|a, b| less(&policy, &list[a], &list[b]));
            for k in 0..=n {
                for (position, &pod) in sorted.iter().enumerate() {
                    if position < k { taken[k][pod] = true } else { left[k][pod] = true }
                }
            }
        });
        for k in 0..=n {
            for (pod, verdict) in settle(&policy, &list, k).into_iter().enumerate() {
                let seen = match (taken[k][pod], left[k][pod]) {
                    (true, false) => Verdict::Certain,
                    (false, true) => Verdict::Safe,
                    _ => Verdict::Contested,
                };
                prop_assert_eq!(verdict, seen, "pod {} of {:?}, k = {}", pod, list, k);
            }
        }
    }
}

type Less<'a> = &'a dyn Fn(usize, usize) -> bool;

fn insertion_sort(items: &mut [usize], less: Less) {
    for i in 1..items.len() {
        let mut at = i;
        while at > 0 && less(items[at], items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

fn selection_sort(items: &mut [usize], less: Less) {
    for i in 0..items.len() {
        for j in i + 1..items.len() {
            if less(items[j], items[i]) {
                items.swap(i, j);
            }
        }
    }
}

fn merge_sort(items: &mut [usize], less: Less) {
    if items.len() < 2 {
        return;
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    merge_sort(left, less);
    merge_sort(right, less);
    let (left, right) = (left.to_vec(), right.to_vec());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    for slot in items {
        let take_right = match (left.peek(), right.peek()) {
            (Some(&l), Some(&r)) => less(r, l),
            (None, _) => true,
            (_, None) => false,
        };
        *slot = if take_right { right.next() } else { left.next() }.unwrap();
    }
}

fn quick_sort(items: &mut [usize], less: Less) {
    let Some((&pivot, rest)) = items.split_first() else { return };
    let (mut before, mut after): (Vec<_>, Vec<_>) = rest.iter().partition(|&&item| less(item, pivot));
    quick_sort(&mut before, less);
    quick_sort(&mut after, less);
    before.push(pivot);
    before.append(&mut after);
    items.copy_from_slice(&before);
}

fn shell_sort(items: &mut [usize], less: Less) {
    for gap in [23, 10, 4, 1] {
        for i in gap..items.len() {
            let mut at = i;
            while at >= gap && less(items[at], items[at - gap]) {
                items.swap(at, at - gap);
                at -= gap;
            }
        }
    }
}

/// X is before Z, Z is before Y, and Y is before X: the smallest cycle.
#[test]
fn the_relation_is_cyclic() {
    let pod = |uid: u8, ready: i64, restarts| Pod {
        uid: podrank::Uid::from_bytes([uid; 16]),
        ready_time: Time::from_unix_nanos(NOW - ready * 1_000_000_000),
        restarts,
        flags: podrank::Flags::READY,
        ..Pod::new()
    };
    let (x, y, z) = (pod(1, 100, 0), pod(3, 100, 5), pod(2, 101, 0));
    let policy = Policy::at(Time::from_unix_nanos(NOW));
    let is_before = |a, b| policy.upstream(a, b).0 == Relation::Before;
    assert!(is_before(&x, &z) && is_before(&z, &y) && is_before(&y, &x));
    for k in 1..3 {
        assert_eq!(settle(&policy, &[x, y, z], k), [Verdict::Contested; 3]);
    }
    // The order has no cycle: y has the most restarts, then the UIDs decide.
    assert_eq!(policy.sort(&[x, y, z], &mut [0; 3]).unwrap(), [1, 0, 2]);
}

/// Of pods that are not ready, Kubernetes does not read since when they would be.
#[test]
fn the_ready_time_of_pods_that_are_not_ready_is_nothing() {
    let pod = |age: i64| Pod { ready_time: Time::from_unix_nanos(NOW - age), ..Pod::new() };
    let policy = Policy::at(Time::from_unix_nanos(NOW));
    for ages in [[1, 1 << 40], [1 << 40, 1]] {
        assert_eq!(settle(&policy, &ages.map(pod), 1), [Verdict::Contested; 2]);
    }
}

/// Both sides of every edge of Kubernetes' buckets, against the table of where they turn.
#[test]
fn buckets_turn_where_gos_logarithm_turns() {
    let pod = |age: i64| Pod {
        ready_time: Time::from_unix_nanos(i64::MAX - age),
        flags: podrank::Flags::READY,
        ..Pod::new()
    };
    let policy = Policy::at(Time::MAX);
    let bucket = |age: i64| {
        // An age that is a power of two stands for its bucket. Another age is in that bucket if only the UID could decide.
        (0..63).find(|e| matches!(policy.upstream(&pod(age), &pod(1 << e)), (Relation::Tie, _))).unwrap_or(63)
    };
    let early = [1, 2, 5, 11, 22, 45, 90, 180, 360, 720, 1440, 2880, 5760, 11520, 23040];
    for e in 1..64_u32 {
        let w = e.checked_sub(49).map_or(0, |i| early[i as usize]);
        let edge = 1_i128 << e;
        for (age, expected) in
            [(edge - w - 1, e - 1), (edge - w, e), (edge - 1, if w > 0 { e } else { e - 1 }), (edge, e)]
        {
            let Ok(age) = i64::try_from(age) else { continue };
            if age > 0 {
                assert_eq!(bucket(age), i32::try_from(expected).unwrap(), "age {age}, e = {e}");
                assert_eq!(relation::bucket(age), i32::try_from(expected).unwrap(), "age {age}, e = {e}");
            }
        }
    }
    // Saturated ages are in the last bucket.
    let ancient = Pod { ready_time: Time::MIN, ..pod(0) };
    assert_eq!(policy.upstream(&ancient, &pod(i64::MAX)).0, Relation::Tie);
}

/// Every boundary of age against every other, at every `now`.
#[test]
fn the_relation_is_upstreams_at_every_boundary() {
    for now in moments() {
        let times = boundary_times(now.unix_nanos().unwrap_or(NOW));
        let pod = |ready_time| Pod { ready_time, flags: podrank::Flags::READY, ..Pod::new() };
        for (i, &s) in times.iter().enumerate() {
            for &t in &times[..i] {
                laws::relation_is_upstreams(&Core, &Policy::at(now), &pod(s), &pod(t));
            }
        }
    }
}

#[test]
fn short_buffers_are_rejected_and_stay_as_they_are() {
    let list = [Pod::new(); 3];
    for (indices, scores) in [(2, 3), (3, 2), (0, 0)] {
        let (mut order, mut memory) = (vec![7; indices], vec![7; scores]);
        let settled = Policy::without_now().settle(&list, 1, &mut order, &mut memory);
        assert_eq!(settled, Err(OrderError::ShortBuffer { len: indices.min(scores), pods: 3 }));
        assert!(order.iter().all(|&slot| slot == 7) && memory.iter().all(|&slot| slot == 7));
    }
}

//! Kubernetes' relation and what it determines: against the naive relation, all pairs and sorts that do not look for
//! contradictions.

use podrank::{OrderError, Pod, Policy, Relation, Time};
use podrank_laws::generate::{NOW, boundary_times, distinct_pods, pods, policies, sizes};
use podrank_laws::relation::{self, Verdict, less};
use proptest::prelude::*;
use proptest::sample::Index;

/// The verdicts, by index; and the order is the groups in line, each by the total order.
fn settle(policy: &Policy, pods: &[Pod], k: usize) -> Vec<Verdict> {
    let (mut order, mut scores) = (vec![u32::MAX; pods.len()], vec![u64::MAX; pods.len()]);
    let settled = policy.settle(pods, k, &mut order, &mut scores).unwrap();
    let (certain, contested, safe) = (settled.certain(), settled.contested(), settled.safe());
    assert_eq!(certain.len() + settled.quota(), k.min(pods.len()));
    assert_eq!(certain.len() + contested.len() + safe.len(), pods.len());
    assert!(contested.is_empty() && settled.quota() == 0 || (1..contested.len()).contains(&settled.quota()));
    let mut verdicts = vec![None; pods.len()];
    for (indices, verdict) in
        [(certain, Verdict::Certain), (contested, Verdict::Contested), (safe, Verdict::Safe)]
    {
        for &index in indices {
            assert_eq!(verdicts[index as usize].replace(verdict), None, "{index} twice");
        }
    }
    let order = order.clone();
    for pair in order.windows(2) {
        let (a, b) = (&pods[pair[0] as usize], &pods[pair[1] as usize]);
        // Neighbours are in one group, and in the total order; or the first is before the second.
        let in_order = policy.compare(a, b).then(pair[0].cmp(&pair[1])).is_lt();
        assert!(in_order || less(policy, a, b), "{a:?} and {b:?}");
    }
    verdicts.into_iter().map(|verdict| verdict.expect("every pod has a place")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_relation_is_upstreams(policy in policies(), list in pods(2..20)) {
        for a in &list {
            for b in &list {
                prop_assert_eq!(policy.upstream(a, b).0, relation::relation(&policy, a, b));
            }
        }
    }

    #[test]
    fn verdicts_are_those_of_all_pairs(policy in policies(), list in sizes().prop_flat_map(pods), k in any::<Index>()) {
        let k = k.index(list.len() + 2);
        prop_assert_eq!(settle(&policy, &list, k), relation::verdicts(&policy, &list, k));
    }

    #[test]
    fn verdicts_are_those_of_all_pairs_for_every_k(policy in policies(), list in distinct_pods(0..16)) {
        for k in 0..=list.len() {
            prop_assert_eq!(settle(&policy, &list, k), relation::verdicts(&policy, &list, k));
        }
    }

    #[test]
    fn no_sort_takes_a_safe_pod_or_leaves_a_certain_one(
        policy in policies(),
        (list, shuffles) in distinct_pods(0..60).prop_flat_map(|list| {
            let shuffle = Just((0..list.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(list), prop::collection::vec(shuffle, 8))
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

    /// No more is contested than can happen: for some order of the list, an insertion sort takes the pod; for another, not.
    #[test]
    fn every_contested_pod_can_go_and_can_stay(policy in policies(), list in pods(2..7)) {
        let n = list.len();
        let mut taken = vec![vec![false; n]; n + 1];
        let mut left = taken.clone();
        for_each_permutation(&mut (0..n).collect::<Vec<_>>(), 0, &mut |order| {
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

fn for_each_permutation(items: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
    if from == items.len() {
        return visit(items);
    }
    for i in from..items.len() {
        items.swap(from, i);
        for_each_permutation(items, from + 1, visit);
        items.swap(from, i);
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

/// X before Z before Y before X: the smallest circle.
#[test]
fn the_relation_goes_in_a_circle() {
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
    // The order has no circle: y has restarted most, then the UIDs decide.
    assert_eq!(policy.sort(&[x, y, z], &mut [0; 3]).unwrap(), [1, 0, 2]);
}

/// Both sides of every edge of Kubernetes' buckets, against the table and against each other.
#[test]
fn buckets_turn_where_gos_logarithm_turns() {
    let pod = |age: i64| Pod {
        ready_time: Time::from_unix_nanos(i64::MAX - age),
        flags: podrank::Flags::READY,
        ..Pod::new()
    };
    let policy = Policy::at(Time::MAX);
    let bucket = |age: i64| {
        // Ages that are a plain power of two stand for their bucket: an age is in it if only the UID tells the two apart.
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
    let policy = Policy::at(Time::MAX);
    let ancient = Pod { ready_time: Time::MIN, ..pod(0) };
    assert_eq!(policy.upstream(&ancient, &pod(i64::MAX)).0, Relation::Tie);
    // Every boundary against every other.
    for &s in &boundary_times(NOW) {
        for &t in &boundary_times(NOW) {
            let (a, b) = (Pod { ready_time: s, ..pod(0) }, Pod { ready_time: t, ..pod(0) });
            for now in [Time::from_unix_nanos(NOW), Time::MAX, Time::MIN, Time::UNSET] {
                let policy = Policy::at(now);
                assert_eq!(policy.upstream(&a, &b).0, relation::relation(&policy, &a, &b));
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

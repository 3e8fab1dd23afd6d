//! Kubernetes' relation and what it determines, against the naive relation, against all pairs, and against an insertion
//! sort of every list order.

use podrank::{Error, Pod, Policy, Time};
use podrank_laws::generate::{
    NOW, boundary_times, cases, cases_with_invalid_records, config, distinct_cases, moments, sizes,
};
use podrank_laws::relation::{Prediction, Verdict, less};
use podrank_laws::{Core, Implementation, laws, permute};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Returns the verdicts, by index.
fn settle(policy: &Policy, pods: &[Pod], k: usize) -> Vec<Verdict> {
    let Prediction { order, certain, possible } = Core.predict(policy, pods, k);
    let mut verdicts = vec![Verdict::Safe; pods.len()];
    for (position, index) in order.into_iter().enumerate().take(certain + possible) {
        verdicts[index as usize] = if position < certain { Verdict::Certain } else { Verdict::Possible };
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
                    Verdict::Possible
                };
                group.iter().for_each(|&pod| verdicts[pod as usize] = Some(verdict));
                start = end;
            }
            let expected: Vec<_> = settle(&policy, &list, k).into_iter().map(Some).collect();
            prop_assert_eq!(verdicts, expected, "k = {} of {:?}", k, groups);
        }
    }

    /// No pod is possible without need: in some list order an insertion sort takes the pod, and in another it does not.
    #[test]
    fn every_contested_pod_can_go_and_can_stay((policy, list) in cases(2..7)) {
        let n = list.len();
        let mut taken = vec![vec![false; n]; n + 1];
        let mut left = taken.clone();
        permute(&mut (0..n).collect::<Vec<_>>(), &mut |order| {
            let mut sorted = order.to_vec();
            insertion_sort(&mut sorted, |a, b| less(&policy, &list[a], &list[b]));
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
                    _ => Verdict::Possible,
                };
                prop_assert_eq!(verdict, seen, "pod {} of {:?}, k = {}", pod, list, k);
            }
        }
    }
}

fn insertion_sort(items: &mut [usize], less: impl Fn(usize, usize) -> bool) {
    for i in 1..items.len() {
        let mut at = i;
        while at > 0 && less(items[at], items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Of pods that are not ready, Kubernetes does not read since when they would be.
#[test]
fn the_ready_time_of_pods_that_are_not_ready_is_nothing() {
    let pod = |age: i64| Pod { ready_time: Time::from_unix_nanos(NOW - age), ..Pod::new() };
    let policy = Policy::at(Time::from_unix_nanos(NOW));
    for ages in [[1, 1 << 40], [1 << 40, 1]] {
        assert_eq!(settle(&policy, &ages.map(pod), 1), [Verdict::Possible; 2]);
    }
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
        let settled = Policy::without_now().predict(&list, 1, &mut order, &mut memory);
        assert_eq!(settled, Err(Error::ShortBuffer { len: indices.min(scores), needed: 3 }));
        assert!(order.iter().all(|&slot| slot == 7) && memory.iter().all(|&slot| slot == 7));
    }
}

//! The probabilities, against every list of a few pods and against samples of more, and the sort on which they rest.

use podrank::ffi::go_sort;
use podrank::{Error, Flags, Phase, Pod, Policy, Probability, Time, Uid};
use podrank_laws::generate::{NOW, cases, config, distinct_cases};
use podrank_laws::{Core, Implementation, odds, sampled};
use proptest::prelude::*;
use proptest::sample::Index;

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn odds_of_a_few_pods_are_exact((policy, pods) in cases(0..7), k in 0..8_usize) {
        odds::odds_are_shares_of_all_lists(&Core, &policy, &pods, k);
    }

    #[test]
    fn odds_add_up_to_the_number_of_deletions((policy, pods) in lists(), k in any::<Index>()) {
        odds::odds_add_up(&Core, &policy, &pods, k.index(pods.len() + 2));
    }

    #[test]
    fn odds_do_not_depend_on_the_list((policy, pods) in lists(), shuffled in Just((0..100).collect::<Vec<_>>()).prop_shuffle(), k in any::<Index>()) {
        let shuffled: Vec<usize> = shuffled.into_iter().filter(|index| *index < pods.len()).collect();
        odds::odds_belong_to_the_pods(&Core, &policy, &pods, &shuffled, k.index(pods.len() + 1));
    }

    #[test]
    fn every_list_is_sorted_as_go_sorts_it((policy, pods) in lists(), shuffled in Just((0..100).collect::<Vec<u32>>()).prop_shuffle(), k in any::<Index>()) {
        let list: Vec<u32> = shuffled.into_iter().filter(|index| (*index as usize) < pods.len()).collect();
        odds::sorts_as_upstream(&Core, &policy, &pods, &list);
        odds::sorting_keeps_the_line(&Core, &policy, &pods, &list, k.index(pods.len() + 1));
        for list in odds::patterned_lists(&policy, &pods) {
            odds::sorts_as_upstream(&Core, &policy, &pods, &list);
        }
    }

    #[test]
    fn pods_may_share_a_uid((policy, pods) in cases(0..40)) {
        odds::sorts_as_upstream(&Core, &policy, &pods, &(0..).take(pods.len()).collect::<Vec<u32>>());
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn odds_are_what_the_sort_does_to_random_lists((policy, pods) in lists(), k in any::<Index>(), seed in any::<u64>()) {
        odds::odds_are_frequencies(&Core, &policy, &pods, k.index(pods.len() + 1), seed);
    }
}

/// Lists of any length up to 60, in half of which the ages collide as in an ordinary rollout.
fn lists() -> impl Strategy<Value = (Policy, Vec<Pod>)> {
    prop_oneof![distinct_cases(0..16), distinct_cases(0..60)]
}

/// What Go itself makes of lists of numbers, also if its `Less` contradicts itself.
#[test]
fn lists_of_numbers_are_sorted_as_go_sorts_them() {
    #[derive(serde::Deserialize)]
    struct File {
        cases: Vec<Case>,
    }
    #[derive(serde::Deserialize)]
    struct Case {
        less: String,
        list: Vec<i64>,
        sorted: Vec<i64>,
    }
    let file: File = serde_json::from_str(&podrank_laws::vectors::read("go_sort.json")).unwrap();
    for Case { less: name, list, sorted } in &file.cases {
        let less = |a: i64, b: i64| match name.as_str() {
            "smaller" => a < b,
            "larger" => a > b,
            "smaller by tens" => a / 10 < b / 10,
            "cycle" => (b - a).rem_euclid(3) == 1,
            "always" => true,
            "never" => false,
            "odd" => a % 2 > 0 || a < b && b % 2 == 0,
            _ => panic!("unknown: {name}"),
        };
        let (mut ours, mut naive) = (list.clone(), list.clone());
        go_sort(&mut ours, &less);
        assert_eq!(&ours, sorted, "{name}: {list:?}");
        podrank_laws::go_sort::go_sort(&mut naive, &|a, b| less(*a, *b));
        assert_eq!(&naive, sorted, "the naive sort: {name}: {list:?}");
    }
    assert!(file.cases.len() >= 280, "{}", file.cases.len());
}

/// An ordinary rollout: pods that became ready in four distinct seconds, of which a quarter have restarted.
fn rollout(pods: u32) -> Vec<Pod> {
    let pod = |i: u32| Pod {
        uid: Uid::from_bytes(u128::from(i.wrapping_mul(0x9e37_79b9)).to_be_bytes()),
        phase: Phase::RUNNING,
        flags: Flags::ASSIGNED | Flags::READY,
        ready_time: Time::from_unix_nanos(NOW - i64::from(600 + i % 4) * 1_000_000_000),
        creation_time: Time::from_unix_nanos(NOW - 605_000_000_000),
        restarts: u32::from(i % 4 == i % 7),
        ..Pod::new()
    };
    (0..pods).map(pod).collect()
}

/// X is deleted before Z, Z before Y, and X and Y tie.
fn two_that_tie_and_one_between() -> [Pod; 3] {
    let second = |ago: i64| Time::from_unix_nanos(NOW - ago * 1_000_000_000);
    let pod = |uid: u128, ready_time| Pod {
        uid: Uid::from_bytes(uid.to_be_bytes()),
        flags: Flags::ASSIGNED | Flags::READY,
        ready_time,
        ..Pod::new()
    };
    [pod(1, second(600)), pod(3, second(600)), pod(2, second(601))]
}

/// As long as Go sorts by insertion, pods that are certainly kept make no difference. With one pod more, lists are
/// drawn.
#[test]
fn odds_are_exact_for_up_to_12_pods_of_which_up_to_7_are_contested() {
    let is_exact = |possible: usize, len: usize| {
        let mut pods = two_that_tie_and_one_between().to_vec();
        pods.resize(possible, pods[0]);
        pods.resize(len, Pod { deletion_cost: 1, ..pods[0] });
        let (settled, odds) = Core.probabilities(&Policy::at(Time::from_unix_nanos(NOW)), &pods, 1);
        assert_eq!(settled.possible, possible);
        odds.iter().all(|odds| odds.std_error_ppm == 0)
    };
    assert_eq!([is_exact(3, 12), is_exact(3, 13)], [true, false]);
    assert_eq!([is_exact(7, 12), is_exact(8, 12)], [true, false]);
}

/// A result that no drawn list shows may happen nevertheless: its probability is below 3 of 4,096, with 95% confidence.
/// The same holds for identical pods, if fewer of them were deleted than there are.
#[test]
fn what_was_never_or_always_seen_is_not_certain() {
    let pods = rollout(30);
    let odds = (1..30).flat_map(|k| Core.probabilities(&Policy::at(Time::from_unix_nanos(NOW)), &pods, k).1);
    let is_extreme =
        |odds: &Probability| odds.samples > 1 && [0, 4096].contains(&(odds.deleted / (odds.samples / 4096)));
    let extremes: Vec<_> = odds.filter(is_extreme).collect();
    assert!(extremes.len() > 10, "{extremes:?}");
    assert!(extremes.iter().any(|odds| 0 < odds.deleted && odds.deleted < odds.samples), "{extremes:?}");
    assert!(extremes.iter().all(|odds| odds.std_error_ppm == 3_000_000 / 4096), "{extremes:?}");
}

/// The standard error is that of the textbook, cut to whole numbers, and 0 samples are 4,096.
#[test]
fn the_caller_says_how_many_lists_are_sampled() {
    let (pods, policy) = (rollout(30), Policy::at(Time::from_unix_nanos(NOW)));
    let sampled = |samples| sampled(&policy, &pods, 11, samples).1;
    assert_eq!(sampled(0), sampled(4096));
    let mut errors = 0;
    for samples in [1, 2, 3, 10, 100, 999, 20_000, u16::MAX] {
        let odds = sampled(samples);
        let sum: f64 = odds.iter().map(|odds| f64::from(odds.deleted) / f64::from(odds.samples)).sum();
        assert!((sum - 11.0).abs() < 1e-6, "{samples}: {sum}");
        for odds in odds.iter().filter(|odds| odds.std_error_ppm > 0) {
            let lists = f64::from(samples);
            let with = (f64::from(odds.deleted) / f64::from(odds.samples) * lists).floor();
            let expected = 1e6 * (with * (lists - with) / lists.powi(3)).sqrt();
            let expected = if expected == 0.0 { 3e6 / lists } else { expected };
            let close = (f64::from(odds.std_error_ppm) - expected).abs() <= 1.0 + expected / 200.0;
            assert!(close, "{samples}: {odds:?} {expected}");
            errors += 1;
        }
    }
    assert!(errors > 50, "{errors}");
}

#[test]
fn pods_that_are_alike_share_exactly() {
    let pods = vec![Pod::new(); 40];
    let (_, odds) = Core.probabilities(&Policy::without_now(), &pods, 7);
    assert_eq!(odds, vec![Probability { deleted: 7, samples: 40, std_error_ppm: 0 }; 40]);
}

#[test]
fn short_buffers_are_errors_and_nothing_is_written() {
    let pods = rollout(9);
    let policy = Policy::without_now();
    for (order_len, odds_len, scratch_len) in [(8, 9, 9), (9, 8, 9), (9, 9, 8)] {
        let (mut order, mut odds) = (vec![7; order_len], vec![Probability::default(); odds_len]);
        let mut scratch = vec![[0; 4]; scratch_len];
        let error = policy.probabilities(&pods, 3, 0, &mut order, &mut odds, &mut scratch);
        assert_eq!(error, Err(Error::ShortBuffer { len: 8, needed: 9 }));
        assert_eq!((order, odds), (vec![7; order_len], vec![Probability::default(); odds_len]));
    }
    let mut list = [2, 1, 0];
    let error = policy.kubernetes_sort(&pods, &mut list, &mut [[0; 4]; 2]);
    assert_eq!((error, list), (Err(Error::ShortBuffer { len: 2, needed: 3 }), [2, 1, 0]));
}

/// A list may have some of the pods, and keeps an index without a pod.
#[test]
fn a_list_of_some_pods() {
    let pods = rollout(9);
    let mut list = [3, 99, 5];
    Policy::without_now().kubernetes_sort(&pods, &mut list, &mut [[0; 4]; 3]).unwrap();
    list.sort_unstable();
    assert_eq!(list, [3, 5, 99]);
}

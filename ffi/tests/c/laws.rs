//! The laws and the vectors of steering, through the C functions. `ffi/check/vectors.c` runs the other vectors.

use podrank::{Pod, Policy, Uid};
use podrank_ffi::*;
use podrank_laws::generate::{
    cases, config, distinct_cases, neighbours, nodes, pods, policies, sizes, steerable_pods,
};
use podrank_laws::{Core, Implementation, empty, laws, odds, spread, steer, vectors};
use podrank_through_c::implementation::{C, options, record};
use proptest::prelude::*;
use proptest::sample::Index;

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn every_way_to_ask_gives_one_answer((policy, list) in cases(2..16)) {
        for a in &list {
            for b in &list {
                laws::one_answer(&C, &policy, a, b);
            }
        }
    }

    #[test]
    fn the_order_is_total((policy, list) in sizes().prop_flat_map(cases)) {
        laws::total_order(&C, &policy, &list);
    }

    #[test]
    fn victims_are_a_prefix((policy, list) in sizes().prop_flat_map(cases), k in any::<Index>()) {
        laws::selects_a_prefix(&C, &policy, &list, k.index(list.len() + 2));
    }

    #[test]
    fn the_relation_is_upstreams((policy, list) in cases(2..16)) {
        for a in &list {
            for b in &list {
                laws::relation_is_upstreams(&C, &policy, a, b);
            }
        }
    }

    #[test]
    fn verdicts_are_those_of_all_pairs((policy, list) in sizes().prop_flat_map(cases), k in any::<Index>()) {
        laws::settles_as_all_pairs_say(&C, &policy, &list, k.index(list.len() + 2));
    }

    #[test]
    fn odds_are_the_cores((policy, list) in distinct_cases(0..30), k in any::<Index>()) {
        let k = k.index(list.len() + 2);
        prop_assert_eq!(C.probabilities(&policy, &list, k), Core.probabilities(&policy, &list, k));
        for listed in odds::patterned_lists(&policy, &list) {
            odds::sorts_as_upstream(&C, &policy, &list, &listed);
        }
    }

    #[test]
    fn spreading_counts_anew((policy, list) in cases(0..16), others in pods(0..6)) {
        spread::counts_anew(&C, &policy, &list, &others, 5);
    }

    #[test]
    fn whole_nodes_go((policy, list) in cases(0..16), nodes in nodes(), others in neighbours()) {
        empty::follows_the_rule(&C, &policy, &list, &nodes);
        empty::weighs_sets(&C, &others, 4);
    }

    #[test]
    fn steering_holds(
        policy in policies(),
        ((pods, prices), shuffle) in steerable_pods(0..16).prop_flat_map(|case| {
            let shuffle = Just((0..case.0.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(case), shuffle)
        }),
    ) {
        if policy.gates.pod_deletion_cost {
            steer::holds(&C, &policy, &pods, &prices, &shuffle);
        } else {
            prop_assert_eq!(C.steer(&policy, &pods, &prices), Err(podrank::Error::GateOff));
        }
    }
}

#[test]
fn long_lists_get_the_same_answers() {
    laws::long_lists(&C);
    laws::settles_long_lists(&C);
}

#[test]
fn vectors_of_steering() {
    assert!(vectors::steering::file().check(&C) >= 19);
}

/// A buffer that is only aligned as C asks is used, too: without it, selecting would be several times slower.
#[test]
fn scratch_is_used_wherever_it_lies() {
    let list: Vec<_> =
        (0..64).map(|i: u8| record(&Pod { uid: Uid::from_bytes([i; 16]), ..Pod::new() })).collect();
    let (mut victims, mut words, mut selected) = ([0; 32], [0_u64; 33 * 8], 0);
    for start in 0..8 {
        words.fill(0);
        let scratch = words.as_mut_ptr().wrapping_add(start).cast();
        // SAFETY: there is room for 32, wherever they start.
        let status = unsafe {
            podrank_select(
                list.as_ptr(),
                64,
                &options(&Policy::without_now()),
                victims.as_mut_ptr(),
                32,
                scratch,
                32,
                &raw mut selected,
            )
        };
        assert_eq!((status, selected), (PODRANK_OK, 32));
        let used = words.iter().filter(|word| **word != 0).count();
        assert!(used >= 64, "it starts at word {start}: {used} words");
    }
}

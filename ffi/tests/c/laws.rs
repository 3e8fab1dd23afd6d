//! The laws, the exhaustive pairs and the vectors of the core, through the C functions.

use podrank::{Relation, deletion_cost};
use podrank_ffi::*;
use podrank_laws::generate::{distinct_pods, pods, policies, sizes, steerable_pods};
use podrank_laws::relation::{self, Verdict};
use podrank_laws::{Implementation, exhaustive, laws, spread, steer, vectors};
use podrank_through_c::implementation::{C, options, record};
use proptest::prelude::*;
use std::ffi::CStr;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_way_to_ask_gives_one_answer(policy in policies(), list in pods(2..16)) {
        for a in &list {
            for b in &list {
                laws::one_answer(&C, &policy, a, b);
            }
        }
    }

    #[test]
    fn the_order_is_total(policy in policies(), list in sizes().prop_flat_map(pods)) {
        laws::total_order(&C, &policy, &list);
    }

    #[test]
    fn victims_are_a_prefix(policy in policies(), list in sizes().prop_flat_map(pods), k in any::<prop::sample::Index>()) {
        laws::selects_a_prefix(&C, &policy, &list, k.index(list.len() + 2));
    }

    #[test]
    fn shuffling_changes_nothing(
        policy in policies(),
        (list, shuffled) in sizes().prop_flat_map(distinct_pods).prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        k in any::<prop::sample::Index>(),
    ) {
        laws::input_order_is_nothing(&C, &policy, &list, &shuffled, k.index(list.len() + 1));
    }

    #[test]
    fn a_cheaper_pod_is_never_later(policy in policies(), list in pods(1..60), which in any::<prop::sample::Index>(), cost in any::<i32>()) {
        laws::cheaper_is_never_later(&C, &policy, &list, which.index(list.len()), cost);
    }

    #[test]
    fn the_relation_is_upstreams(policy in policies(), list in pods(2..16)) {
        for a in &list {
            for b in &list {
                let (mut relation, mut number) = (77, 77);
                let (a_record, b_record, options) = (record(a), record(b), options(&policy));
                let status = unsafe { podrank_upstream(&a_record, &b_record, &options, &raw mut relation, &raw mut number) };
                prop_assert_eq!(status, PODRANK_OK);
                let expected = match relation::relation(&policy, a, b) {
                    Relation::Tie => PODRANK_RELATION_TIE,
                    Relation::Before => PODRANK_RELATION_BEFORE,
                    Relation::After => PODRANK_RELATION_AFTER,
                };
                prop_assert_eq!(relation, expected);
                prop_assert_eq!(number, policy.upstream(a, b).1.map_or(PODRANK_RULE_NONE, podrank::Rule::number));
            }
        }
    }

    #[test]
    fn what_is_settled_is_what_all_pairs_say(
        policy in policies(),
        list in sizes().prop_flat_map(pods),
        k in any::<prop::sample::Index>(),
    ) {
        let k = k.index(list.len() + 2);
        let records: Vec<_> = list.iter().map(record).collect();
        let (mut order, mut scores) = (vec![u32::MAX; list.len()], vec![u64::MAX; list.len()]);
        let (mut certain, mut contested) = (usize::MAX, usize::MAX);
        let status = unsafe {
            podrank_settle(
                records.as_ptr(),
                records.len(),
                &options(&policy),
                k,
                order.as_mut_ptr(),
                scores.as_mut_ptr(),
                &raw mut certain,
                &raw mut contested,
            )
        };
        prop_assert_eq!(status, PODRANK_OK);
        let mut verdicts = vec![Verdict::Safe; list.len()];
        for (position, &index) in order.iter().enumerate() {
            if position < certain {
                verdicts[index as usize] = Verdict::Certain;
            } else if position < certain + contested {
                verdicts[index as usize] = Verdict::Contested;
            }
        }
        prop_assert_eq!(verdicts, relation::verdicts(&policy, &list, k));
    }

    #[test]
    fn spreading_counts_anew(policy in policies(), list in pods(0..16), others in pods(0..6)) {
        spread::counts_anew(&C, &policy, &list, &others, 5);
    }

    #[test]
    fn steering_holds(
        policy in policies(),
        ((pods, fixed), shuffle) in steerable_pods(0..16).prop_flat_map(|case| {
            let shuffle = Just((0..case.0.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(case), shuffle)
        }),
    ) {
        if policy.gates.pod_deletion_cost {
            steer::holds(&C, &policy, &pods, &fixed, &shuffle);
        } else {
            prop_assert_eq!(C.steer(&policy, &pods, &fixed), Err(podrank::SteerError::GateOff));
        }
    }

    #[test]
    fn costs_are_the_cores(text in "[-+ 0-9a-f_]{0,13}") {
        let mut cost = 77;
        let status = unsafe { podrank_deletion_cost(text.as_ptr().cast(), text.len(), &raw mut cost) };
        prop_assert_eq!((status == PODRANK_OK).then_some(cost), deletion_cost(&text).ok());
    }
}

#[test]
fn all_pairs_by_reduction() {
    exhaustive::each_field(&C);
    exhaustive::each_vector(&C);
}

#[test]
fn vectors() {
    assert!(vectors::steering::file().check(&C) >= 19);
    let groups = vectors::groups();
    for case in groups.iter().flat_map(vectors::Group::pair_cases) {
        laws::one_answer(&C, &case.policy, &case.first, &case.second);
        let (a, b, options) = (record(&case.first), record(&case.second), options(&case.policy));
        let (mut ordering, mut rule) = (77, 77);
        assert_eq!(unsafe { podrank_decide(&a, &b, &options, &raw mut ordering, &raw mut rule) }, PODRANK_OK);
        let name = podrank_rule_str(rule);
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap());
        assert_eq!(name, case.rule.map(podrank::Rule::name), "{}", case.name);
    }
    for case in groups.iter().flat_map(vectors::Group::selection_cases) {
        case.check(&C.select(&case.policy, &case.pods, case.delete));
        case.check(&C.select_with(&case.policy, &case.pods, case.delete, case.delete));
    }
}

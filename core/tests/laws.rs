//! The laws, on random lists of 0 to 300 pods that collide. Some of the records are invalid.

use podrank::Policy;
use podrank_laws::generate::{cases, cases_with_invalid_records, config, distinct_cases, sizes};
use podrank_laws::{Core, laws};
use proptest::prelude::*;
use proptest::sample::Index;

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn every_way_to_ask_gives_one_answer((policy, list) in cases_with_invalid_records(2..20)) {
        for a in &list {
            for b in &list {
                laws::one_answer(&Core, &policy, a, b);
            }
        }
    }

    #[test]
    fn the_order_is_total((policy, list) in sizes().prop_flat_map(cases_with_invalid_records)) {
        laws::total_order(&Core, &policy, &list);
    }

    #[test]
    fn victims_are_a_prefix((policy, list) in sizes().prop_flat_map(cases_with_invalid_records), k in any::<Index>()) {
        // Up to two more than the list has, which selects them all.
        laws::selects_a_prefix(&Core, &policy, &list, k.index(list.len() + 3));
    }

    #[test]
    fn shuffling_changes_nothing(
        (policy, list, shuffled) in sizes().prop_flat_map(distinct_cases).prop_flat_map(shuffled),
        k in any::<Index>(),
    ) {
        laws::list_order_does_not_matter(&Core, &policy, &list, &shuffled, k.index(list.len() + 1));
    }

    #[test]
    fn a_cheaper_pod_is_never_later((policy, list) in cases(1..60), which in any::<Index>(), cost in any::<i32>()) {
        laws::cheaper_is_never_later(&Core, &policy, &list, which.index(list.len()), cost);
    }
}

fn shuffled(
    (policy, list): (Policy, Vec<podrank::Pod>),
) -> impl Strategy<Value = (Policy, Vec<podrank::Pod>, Vec<podrank::Pod>)> {
    (Just(policy), Just(list.clone()), Just(list).prop_shuffle())
}

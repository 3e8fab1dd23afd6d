//! The laws on random pods that collide: 0 to 300 of them.

use podrank_laws::generate::{distinct_pods, pod, pods, policies, sizes};
use podrank_laws::{Core, laws};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_way_to_ask_gives_one_answer(policy in policies(), list in pods(2..20)) {
        for a in &list {
            for b in &list {
                laws::one_answer(&Core, &policy, a, b);
            }
        }
    }

    #[test]
    fn the_order_is_total(policy in policies(), list in sizes().prop_flat_map(pods)) {
        laws::total_order(&Core, &policy, &list);
    }

    #[test]
    fn victims_are_a_prefix(policy in policies(), list in sizes().prop_flat_map(pods), k in any::<prop::sample::Index>()) {
        laws::selects_a_prefix(&Core, &policy, &list, k.index(list.len() + 1));
    }

    #[test]
    fn the_victims_of_one_more_are_the_same_and_one_more(policy in policies(), list in pods(0..24)) {
        // Up to two more than there are: all of them.
        for k in 0..list.len() + 3 {
            laws::selects_a_prefix(&Core, &policy, &list, k);
        }
    }

    #[test]
    fn shuffling_changes_nothing(
        policy in policies(),
        (list, shuffled) in sizes().prop_flat_map(distinct_pods).prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        k in any::<prop::sample::Index>(),
    ) {
        laws::input_order_is_nothing(&Core, &policy, &list, &shuffled, k.index(list.len() + 1));
    }

    #[test]
    fn a_cheaper_pod_is_never_later(policy in policies(), list in pods(1..60), which in any::<prop::sample::Index>(), cost in any::<i32>()) {
        laws::cheaper_is_never_later(&Core, &policy, &list, which.index(list.len()), cost);
    }

    /// The oracle must be of one mind too, or agreeing with it would say little.
    #[test]
    fn the_order_is_transitive(policy in policies(), a in pod(), b in pod(), c in pod()) {
        if policy.compare(&a, &b).is_le() && policy.compare(&b, &c).is_le() {
            prop_assert!(policy.compare(&a, &c).is_le());
        }
    }
}

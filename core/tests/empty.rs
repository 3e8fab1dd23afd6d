//! Taking whole nodes, by its laws. `PODRANK_CASES=1000000 cargo test --release -p podrank empty::` tries more.

use podrank::{EmptyNodesScratch, Error, Flags, Neighbour, Phase, Pod, Policy, empty_nodes, node_weights};
use podrank_laws::empty;
use podrank_laws::generate::{cases, config, distinct_cases, neighbours, nodes};
use podrank_laws::{Core, Implementation};
use proptest::prelude::*;
use proptest::sample::Index;
use std::sync::atomic::{AtomicUsize, Ordering};

const ONE: u64 = 1 << 32;

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn the_tiers_follow_the_rule((policy, pods) in cases(0..20), nodes in nodes()) {
        empty::follows_the_rule(&Core, &policy, &pods, &nodes);
    }

    #[test]
    fn steps_add_up((policy, pods) in distinct_cases(0..20), nodes in nodes(), k in any::<Index>()) {
        empty::steps_add_up(&Core, &policy, &pods, &nodes, k.index(pods.len() + 1));
    }

    #[test]
    fn others_weigh_by_their_shares(others in neighbours()) {
        empty::weighs_sets(&Core, &others, 4);
    }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn no_choice_makes_more_nodes_empty((policy, pods) in distinct_cases(1..10), nodes in nodes()) {
        // In most lists early rules decide, and allow few choices, so the rest is worth nothing without many.
        static CASES: AtomicUsize = AtomicUsize::new(0);
        static CHOICES: AtomicUsize = AtomicUsize::new(0);
        let choices = empty::no_choice_is_better(&Core, &policy, &pods, &nodes);
        let choices = choices + CHOICES.fetch_add(choices, Ordering::Relaxed);
        let cases = 1 + CASES.fetch_add(1, Ordering::Relaxed);
        prop_assert!(cases < 200 || choices > 20 * cases, "{choices} choices in {cases} cases");
    }
}

fn pod(node: u32) -> Pod {
    Pod { node, phase: Phase::RUNNING, flags: Flags::ASSIGNED | Flags::READY, ..Pod::new() }
}

/// How many pods of each node are among the first `k`.
fn taken(pods: &[Pod], weights: &[u64], k: usize) -> Vec<usize> {
    let policy = Policy::without_now();
    let mut tiered = pods.to_vec();
    Core.empty_nodes(&mut tiered, weights, &[]);
    let first = Core.sort(&policy, &tiered);
    let on = |node| first[..k].iter().filter(|&&index| pods[index as usize].node == node).count();
    (0..).map(on).take(weights.len()).collect()
}

/// 20 pods, four on each of five nodes, three of them preferred, to 14: two from each of the three without this, and so none
/// empty.
#[test]
fn whole_nodes_go() {
    let tier = |node| u16::from(node >= 3);
    let pods: Vec<_> = (0..20_u32).map(|index| Pod { tier: tier(index % 5), ..pod(index % 5) }).collect();
    assert_eq!(taken(&pods, &[0; 5], 6), [4, 2, 0, 0, 0]);
    assert_eq!(taken(&pods, &[0; 5], 13), [4, 4, 4, 1, 0]);
    // A node that foreign pods keep comes last in its tier.
    assert_eq!(taken(&pods, &[ONE, 0, 0, 0, 0], 6), [0, 4, 2, 0, 0]);
}

#[test]
fn errors_change_nothing() {
    let check =
        |pods: &[Pod], weights: &[u64], domains: &[u32], counts: usize, scratch: usize, error: Error| {
            let mut tiered = pods.to_vec();
            let mut counts = vec![0; counts];
            let mut scratch = vec![EmptyNodesScratch::default(); scratch];
            let result = empty_nodes(&mut tiered, weights, domains, &mut counts, &mut scratch);
            assert_eq!((result, &*tiered), (Err(error), pods));
            assert!(!error.to_string().is_empty());
        };
    let pods = [pod(0), Pod { tier: 7, ..pod(2) }];
    check(&pods, &[0; 2], &[], 2, 2, Error::UnknownNode { node: 2, nodes: 2 });
    check(&pods, &[0; 3], &[0, 0], 4, 2, Error::UnknownDomain { node: 2 });
    check(&pods, &[0; 3], &[0, 0, 1], 4, 2, Error::UnknownDomain { node: 2 });
    let short = |len, needed| Error::ShortBuffer { len, needed };
    check(&pods, &[0; 3], &[], 2, 2, short(2, 3));
    check(&pods, &[0; 3], &[], 3, 1, short(1, 2));
    let many: Vec<_> = (0..65_537).map(pod).collect();
    check(&many, &vec![0; 65_537], &[], 65_537, 65_537, Error::TooManyTiers);
    let mut most = many;
    most.pop();
    let mut counts = vec![0; most.len()];
    let mut scratch = vec![EmptyNodesScratch::default(); most.len()];
    empty_nodes(&mut most, &vec![0; counts.len()], &[], &mut counts, &mut scratch).unwrap();
    assert!(most.iter().zip(0..=u16::MAX).all(|(pod, tier)| pod.tier == tier));
    let mut weights = [7];
    let unknown = node_weights(&mut [Neighbour::default(), Neighbour { set: 0, node: 1 }], &mut weights);
    assert_eq!((unknown, weights), (Err(Error::UnknownNode { node: 1, nodes: 1 }), [7]));
}

//! Steering and spreading, by their laws. `PODRANK_CASES=1000000 cargo test --release -p podrank steer::` tries more.

use podrank::{Error, Flags, Phase, Pod, Policy, SteerScratch, Time, Uid};
use podrank_laws::generate::{NOW, cases, config, distinct_cases, pod, policies, steerable_pods};
use podrank_laws::{Core, Implementation, spread, steer};
use proptest::prelude::*;
use proptest::sample::Index;

/// Any policy that steering takes.
fn steering_policies() -> impl Strategy<Value = Policy> {
    policies().prop_map(|mut policy| {
        policy.gates.pod_deletion_cost = true;
        policy
    })
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn steering_holds(
        policy in steering_policies(),
        ((pods, prices), shuffle) in steerable_pods(0..20).prop_flat_map(|case| {
            let shuffle = Just((0..case.0.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(case), shuffle)
        }),
    ) {
        steer::holds(&Core, &policy, &pods, &prices, &shuffle);
    }

    #[test]
    fn kubernetes_follows_the_costs((pods, prices) in steerable_pods(0..14), now in any::<i64>()) {
        let nows = [Time::UNSET, Time::from_unix_nanos(NOW), Time::from_unix_nanos(now)];
        steer::kubernetes_follows(&Core, &pods, &prices, &nows);
    }

    #[test]
    fn spreading_counts_anew(
        (policy, list) in cases(0..16), others in prop::collection::vec(pod(), 0..6),
    ) {
        spread::counts_anew(&Core, &policy, &list, &others, 5);
    }

    #[test]
    fn zones_send_champions(
        (policy, list) in distinct_cases(0..16), others in prop::collection::vec(pod(), 0..6), zones in 1..4_u32,
    ) {
        spread::zones_send_champions(&Core, &policy, &list, &others, 5, |node| node % zones);
    }
}

proptest! {
    #![proptest_config(config(256))]

    /// Costs lie in a range of few values, which fixed pods or the end of the 32 bits close.
    #[test]
    fn the_price_is_the_lowest((pods, prices) in steerable_pods(0..6)) {
        let costs = || pods.iter().map(|pod| pod.deletion_cost);
        // One cost more for each pod on both sides: nothing is to gain beyond.
        let more = i32::try_from(pods.len()).unwrap();
        let lowest = costs().min().unwrap_or(0).saturating_sub(more);
        let highest = costs().max().unwrap_or(0).saturating_add(more);
        steer::costs_the_least(&Core, &Policy::without_now(), &pods, &prices, lowest, highest);
    }

    /// The caller's ranks order the pods of a node. The ranks that Kubernetes counts for the same nodes change nothing.
    #[test]
    fn counted_ranks_do_not_matter((policy, list) in distinct_cases(0..16), k in any::<Index>()) {
        let bare: Vec<Pod> = list.iter().map(|pod| Pod { rank: 0, ..*pod }).collect();
        let mut counted = bare.clone();
        podrank::count_ranks(&mut counted, &list[..k.index(list.len() + 1)], &mut [0; 5]).unwrap();
        let spread = |mut pods: Vec<Pod>| {
            Core.spread(&policy, &mut pods, &[], 5);
            pods
        };
        prop_assert_eq!(spread(bare), spread(counted));
    }
}

fn ready(number: u8, tier: u16, deletion_cost: i32) -> Pod {
    Pod {
        uid: Uid::from_bytes([number; 16]),
        tier,
        deletion_cost,
        phase: Phase::RUNNING,
        flags: Flags::ASSIGNED | Flags::READY,
        ..Pod::new()
    }
}

fn steer(pods: &[Pod], prices: &[Option<u8>]) -> Result<(Vec<i32>, usize), Error> {
    Core.steer(&Policy::without_now(), pods, prices).map(|steering| (steering.costs, steering.changed))
}

#[test]
fn every_tier_can_have_a_pod() {
    let pods: Vec<Pod> =
        (0..=u16::MAX).map(|tier| Pod { deletion_cost: i32::MAX, ..ready(0, tier, 0) }).collect();
    let (costs, changed) = steer(&pods, &vec![Some(1); pods.len()]).unwrap();
    assert_eq!(changed, pods.len() - 1);
    assert!(costs.is_sorted_by(|a, b| b - a == 1) && costs.last() == Some(&i32::MAX));
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_written() {
    let pods = [ready(1, 0, 0); 3];
    let off = {
        let mut policy = Policy::without_now();
        policy.gates.pod_deletion_cost = false;
        policy
    };
    assert_eq!(Core.steer(&off, &pods, &[Some(1); 3]), Err(Error::GateOff));
    for (costs, scratch) in [(2, 3), (3, 2), (0, 0)] {
        let len = costs.min(scratch);
        let (mut costs, mut scratch) = (vec![7; costs], vec![SteerScratch::default(); scratch]);
        let steered = Policy::without_now().steer(&pods, |_| Some(1), &mut costs, &mut scratch);
        assert_eq!(steered.unwrap_err(), Error::ShortBuffer { len, needed: 3 });
        assert!(costs.iter().all(|cost| *cost == 7));
    }
    for (error, text) in [
        (Error::GateOff, "the feature gate PodDeletionCost is off, so deletion costs have no effect"),
        (Error::TooManyPods, "there are more than 4294967295 pods: pass fewer"),
        (
            Error::NoRoom { lower: 3, higher: 7 },
            "the fixed deletion costs leave no room for a lower cost of pod 3 than of pod 7, with one for each tier between",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

/// Quadratic work would take hours.
#[test]
fn a_million_pods_are_a_moment() {
    let pods: Vec<Pod> = (0..1_000_000_u32)
        .map(|i| {
            let random = i.wrapping_mul(0x9e37_79b9);
            let uid = Uid::from_bytes(u128::from(random).to_be_bytes());
            let deletion_cost = (random >> 8).cast_signed();
            Pod {
                uid,
                deletion_cost,
                node: random >> 16,
                tier: u16::try_from(random % 999).unwrap(),
                ..ready(0, 0, 0)
            }
        })
        .collect();
    assert!(steer(&pods, &vec![Some(1); pods.len()]).is_ok());
    let mut spread = pods;
    Core.spread(&Policy::without_now(), &mut spread, &[], 1 << 16);
    assert!(spread.iter().all(|pod| pod.rank > 0));
}

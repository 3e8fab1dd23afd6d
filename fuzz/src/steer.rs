//! `steer`: the laws of steering and spreading, on pods whose tiers and costs lie close together.

use crate::case::Case;
use podrank::{Pod, Policy, Uid};
use podrank_laws::{Core, spread, steer};

/// Up to so many pods, all assignments of costs are tried.
const FEW: usize = 5;

/// The target.
pub fn run(data: &[u8]) {
    let Case { mut policy, mut pods, k, distinct, salt } = Case::of(data, 0..=12);
    spread::counts_anew(&Core, &policy, &pods[..k.min(pods.len())], &pods[k.min(pods.len())..], 8);
    let zones = 1 + u32::try_from(salt % 4).expect("a small number");
    spread::zones_send_champions(&Core, &policy, &pods, &pods[k.min(pods.len())..], 8, |node| node % zones);

    policy.gates.pod_deletion_cost = true;
    let start = [0, i32::MIN, i32::MAX - 7][usize::try_from(salt / 4 % 3).expect("a small number")];
    for (index, pod) in (0_u8..).zip(&mut pods) {
        // The order of the input is nothing only if no two pods are alike.
        pod.uid = if distinct { pod.uid } else { Uid::from_bytes([index ^ salt.to_le_bytes()[1]; 16]) };
        pod.tier =
            [pod.tier, (pod.restarts % 4).try_into().expect("a small number")][usize::from(salt & 1 == 1)];
        pod.deletion_cost = start + (pod.node % 8).cast_signed();
    }
    let price = |index: usize| match salt >> (16 + 2 * index) & 3 {
        0 if salt & 2 == 2 => None,
        1 => Some(2),
        2 => Some(7),
        _ => Some(1),
    };
    let prices: Vec<_> = (0..pods.len()).map(price).collect();
    check(&policy, &pods, &prices, salt);
}

/// All laws on one case.
pub fn check(policy: &Policy, pods: &[Pod], prices: &[Option<u8>], salt: u64) {
    let mut shuffle: Vec<usize> = (0..pods.len()).collect();
    shuffle.sort_by_key(|index| (*index as u64).wrapping_add(1).wrapping_mul(salt | 1).rotate_left(29));
    steer::holds(&Core, policy, pods, prices, &shuffle);
    steer::kubernetes_follows(&Core, pods, prices, &[policy.now]);
    if pods.len() <= FEW {
        let costs = || pods.iter().map(|pod| pod.deletion_cost);
        let more = i32::try_from(pods.len()).expect("a small number");
        let lowest = costs().min().unwrap_or(0).saturating_sub(more);
        let highest = costs().max().unwrap_or(0).saturating_add(more);
        steer::costs_the_least(&Core, policy, pods, prices, lowest, highest);
    }
}

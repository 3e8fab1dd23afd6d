//! `steer`: the laws of steering, spreading and taking whole nodes, on pods whose tiers and costs lie close together.

use crate::case::{Case, shuffle};
use podrank::{Neighbour, Pod, Policy, Uid};
use podrank_laws::empty::{self, Nodes};
use podrank_laws::{Core, spread, steer};

/// Up to so many pods, all assignments of costs are tried.
const FEW: usize = 5;

/// The target.
pub fn run(data: &[u8]) {
    let Case { mut policy, mut pods, k, distinct, salt } = Case::of(data, 0..=12);
    for pod in &mut pods {
        pod.node %= 8;
    }
    spread::counts_anew(&Core, &policy, &pods[..k.min(pods.len())], &pods[k.min(pods.len())..], 8);
    let zones = 1 + u32::try_from(salt % 4).expect("a small number");
    spread::zones_send_champions(&Core, &policy, &pods, &pods[k.min(pods.len())..], 8, |node| node % zones);
    whole_nodes(&policy, &pods, distinct, salt);

    policy.gates.pod_deletion_cost = true;
    let start = [0, i32::MIN, i32::MAX - 7][usize::try_from(salt / 4 % 3).expect("a small number")];
    for (index, pod) in (0_u8..).zip(&mut pods) {
        // The order of the input is nothing only if no two pods are alike.
        pod.uid = if distinct { pod.uid } else { Uid::from_bytes([index ^ salt.to_le_bytes()[1]; 16]) };
        pod.tier =
            [pod.tier, (pod.restarts % 4).try_into().expect("a small number")][usize::from(salt & 1 == 1)];
        pod.deletion_cost = start + pod.node.cast_signed();
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

/// Up to so many pods, all choices are tried.
const SOME: usize = 8;

/// The laws of taking whole nodes, of which the salt gives weights and domains.
fn whole_nodes(policy: &Policy, pods: &[Pod], distinct: bool, salt: u64) {
    let bits = |from: u32, node: u32| salt.rotate_right(from + 2 * node) & 3;
    let nodes: u32 = 8;
    let weight = |node| {
        [0, 0, 1 << 32, (1 << 31) + u64::from(node & 1)][usize::try_from(bits(3, node)).expect("small")]
    };
    let zone = |node| u32::try_from(bits(20, node)).expect("small");
    let zones: Vec<u32> = (0..nodes).map(zone).collect();
    let racks = (0..nodes).map(|node| 4 + 2 * zone(node) + node % 2).collect();
    let levels = [zones, racks].into_iter().take(usize::try_from(salt % 3).expect("small")).collect();
    let weights = (0..nodes).map(weight).collect();
    let nodes = Nodes { weights, levels };
    empty::follows_the_rule(&Core, policy, pods, &nodes);
    if distinct {
        let k = usize::try_from(salt >> 8).unwrap_or(0) % (pods.len() + 1);
        empty::steps_add_up(&Core, policy, pods, &nodes, k);
    }
    if pods.len() <= SOME {
        empty::no_choice_is_better(&Core, policy, pods, &nodes);
    }
    let other = |pod: &Pod| Neighbour { set: pod.restarts % 3, node: pod.node };
    empty::weighs_sets(&Core, &pods.iter().map(other).collect::<Vec<_>>(), 8);
}

/// All laws on one case.
pub fn check(policy: &Policy, pods: &[Pod], prices: &[Option<u8>], salt: u64) {
    let mut shuffled: Vec<usize> = (0..pods.len()).collect();
    shuffle(&mut shuffled, salt);
    steer::holds(&Core, policy, pods, prices, &shuffled);
    steer::kubernetes_follows(&Core, pods, prices, &[policy.now]);
    if pods.len() <= FEW {
        let costs = || pods.iter().map(|pod| pod.deletion_cost);
        let more = i32::try_from(pods.len()).expect("a small number");
        let lowest = costs().min().unwrap_or(0).saturating_sub(more);
        let highest = costs().max().unwrap_or(0).saturating_add(more);
        steer::costs_the_least(&Core, policy, pods, prices, lowest, highest);
    }
}

//! `select`: the victims among 0 to 300 pods against a naive sort, and ranks and `PodSet` against a naive count.

use crate::case::Case;
use podrank::{Flags, Pod, PodSet, PodSetError, UnknownNode, count_ranks};
use podrank_laws::{Core, laws, oracle};
use std::collections::BTreeMap;

/// The target.
pub fn run(data: &[u8]) {
    let case = Case::of(data, 0..=300);
    let Case { policy, pods, k, .. } = &case;
    laws::selects_a_prefix(&Core, policy, pods, *k);
    if case.distinct {
        laws::list_order_does_not_matter(&Core, policy, pods, &shuffled(&case), *k);
    }
    if let Some(pod) = index(case.salt, pods.len()) {
        let cost = (case.salt >> 32) as i32 >> (case.salt % 32);
        laws::cheaper_is_never_later(&Core, policy, pods, pod, cost);
    }
    ranks(&case);
    pod_set(&case);
}

fn index(number: u64, len: usize) -> Option<usize> {
    usize::try_from(number).expect("64 bits").checked_rem(len)
}

/// Returns the pods in another list order, which the case chooses.
fn shuffled(case: &Case) -> Vec<Pod> {
    let mut pods = case.pods.clone();
    let mut salt = case.salt;
    for end in (1..pods.len()).rev() {
        salt = salt.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        pods.swap(end, index(salt >> 33, end + 1).expect("not empty"));
    }
    pods
}

/// Ranks are the numbers of pods on the same node. If a node is unknown, no rank changes.
fn ranks(case: &Case) {
    let (own, others) = case.pods.split_at(case.k.min(case.pods.len()));
    let nodes = index(case.salt >> 8, 10).expect("not empty");
    let place = |pod: &Pod| pod.flags.contains(Flags::ASSIGNED).then_some(pod.node);
    let is_unknown = |pod: &&Pod| place(pod).is_some_and(|node| node as usize >= nodes);
    let unknown = case.pods.iter().find(is_unknown).map(|pod| UnknownNode { node: pod.node, nodes });

    let mut ranked = own.to_vec();
    let result = count_ranks(&mut ranked, others, &mut vec![77; nodes]);
    assert_eq!(result.err(), unknown, "{case:?}");
    for (ranked, pod) in ranked.iter().zip(own) {
        let count = case.pods.iter().filter(|other| place(other) == place(pod)).count();
        let rank = if unknown.is_some() { pod.rank } else { u32::try_from(count).expect("few") };
        assert_eq!(*ranked, Pod { rank, ..*pod }, "{case:?}");
    }
}

/// A set with a capacity of few pods on few nodes: which pods it accepts, and which of them it selects.
fn pod_set(case: &Case) {
    const NAMES: [&str; 8] = ["", "a", "worker-1", "worker-2", "b", "aa", "", "worker-1"];
    const PODS: usize = 6;
    const NODES: usize = 4;
    let mut set = PodSet::<PODS, NODES>::default();
    let mut counts = BTreeMap::<&str, u32>::new();
    let mut own = Vec::<(Pod, &str)>::new();
    for (i, pod) in case.pods.iter().take(16).enumerate() {
        let name = NAMES[pod.node as usize % NAMES.len()];
        let knows = name.is_empty() || counts.contains_key(name);
        let no_room = !knows && counts.keys().filter(|name| !name.is_empty()).count() == NODES;
        let is_related = case.salt >> i & 3 == 3;
        let expected = match pod.validate() {
            Err(invalid) if !is_related => Err(PodSetError::Invalid(invalid)),
            _ if !is_related && own.len() == PODS => Err(PodSetError::PodsFull),
            _ if no_room => Err(PodSetError::NodesFull),
            _ => Ok(()),
        };
        let result = if is_related { set.push_related(name) } else { set.push(*pod, name) };
        assert_eq!(result, expected, "pod {i}: {case:?}");
        if expected.is_ok() {
            *counts.entry(name).or_default() += 1;
            if !is_related {
                own.push((*pod, name));
            }
        }
    }
    let ranked: Vec<Pod> = own
        .iter()
        .map(|(pod, name)| {
            let flags = pod.flags.with(Flags::ASSIGNED, !name.is_empty());
            Pod { flags, rank: counts[name], ..*pod }
        })
        .collect();
    let expected = &oracle::sort(&case.policy, &ranked)[..ranked.len().min(case.k)];
    assert_eq!(set.victims(&case.policy, case.k), expected, "{ranked:?} {case:?}");
    for (pod, ranked) in set.pods().iter().zip(&ranked) {
        assert_eq!(Pod { node: ranked.node, ..*pod }, *ranked, "{case:?}");
    }
    assert_eq!(set.pods().len(), ranked.len());
}

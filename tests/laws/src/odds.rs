//! The laws of probabilities, and naive implementations to compare with: every list of a few pods, and samples of
//! longer ones.

use crate::generate::random;
use crate::go_sort::go_sort;
use crate::{Implementation, oracle, permute, relation};
use podrank::{Pod, Policy, Probability, Uid};

/// How many lists a frequency is taken from. As many as the core takes, so that both errors are alike.
const LISTS: u32 = 4096;

/// Sorts a list of indices as Kubernetes does, by the naive relation and the naive sort.
fn sorted(policy: &Policy, pods: &[Pod], list: &[u32]) -> Vec<u32> {
    let mut list = list.to_vec();
    go_sort(&mut list, &|a, b| relation::less(policy, &pods[*a as usize], &pods[*b as usize]));
    list
}

/// Any list is sorted as the naive implementations sort it, and keeps the line of the groups that the relation determines.
pub fn sorts_as_upstream(order: &impl Implementation, policy: &Policy, pods: &[Pod], list: &[u32]) {
    let naive = sorted(policy, pods, list);
    assert_eq!(order.kubernetes_sort(policy, pods, list), naive, "{list:?}: {policy:?} {pods:?}");
}

/// Whatever the list, the first `k` of it have all pods that are certain, and none that is safe.
pub fn sorting_keeps_the_line(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    list: &[u32],
    k: usize,
) {
    let sorted = order.kubernetes_sort(policy, pods, list);
    let verdicts = relation::verdicts(policy, pods, k);
    for (place, pod) in sorted.iter().enumerate() {
        let (verdict, is_early) = (verdicts[*pod as usize], place < k);
        let is_right =
            verdict == relation::Verdict::Possible || is_early == (verdict == relation::Verdict::Certain);
        assert!(is_right, "pod {pod} at {place} of {list:?}, k = {k}: {policy:?} {pods:?}");
    }
}

/// The probabilities of up to 7 pods are exactly their shares of all lists.
pub fn odds_are_shares_of_all_lists(order: &impl Implementation, policy: &Policy, pods: &[Pod], k: usize) {
    let mut went = vec![0_u64; pods.len()];
    let mut lists = 0;
    permute(&mut (0..pods.len()).collect::<Vec<_>>(), &mut |list| {
        lists += 1;
        let list: Vec<u32> = list.iter().map(|&pod| u32::try_from(pod).unwrap()).collect();
        sorted(policy, pods, &list).iter().take(k).for_each(|&pod| went[pod as usize] += 1);
    });
    for (pod, (odds, went)) in order.probabilities(policy, pods, k).1.iter().zip(went).enumerate() {
        let equal = u64::from(odds.deleted) * lists == went * u64::from(odds.samples);
        assert!(equal, "pod {pod}, k = {k}: {odds:?}, but {went} of {lists}: {policy:?} {pods:?}");
        assert_eq!(odds.std_error_ppm, 0, "pod {pod}, k = {k}: {policy:?} {pods:?}");
    }
}

/// The probabilities add up to `k`. Certain pods have 1, safe ones have 0, and the prediction is that of `predict`. The
/// error is 0 or that of 4,096 lists, except for rounding. Pods that relate alike to every other pod have the same
/// probability.
pub fn odds_add_up(order: &impl Implementation, policy: &Policy, pods: &[Pod], k: usize) {
    let (settled, odds) = order.probabilities(policy, pods, k);
    let context = || format!("k = {k}: {odds:?} {policy:?} {pods:?}");
    assert_eq!(settled, order.predict(policy, pods, k), "{}", context());
    assert_eq!(odds.len(), pods.len());
    let sum: f64 = odds.iter().map(share).sum();
    #[expect(clippy::cast_precision_loss, reason = "few pods")]
    let k_there = k.min(pods.len()) as f64;
    assert!((sum - k_there).abs() < 1e-6, "the sum is {sum}: {}", context());
    for (verdict, (pod, odds)) in relation::verdicts(policy, pods, k).iter().zip(odds.iter().enumerate()) {
        match verdict {
            relation::Verdict::Certain => {
                assert_eq!(*odds, Probability { deleted: 1, samples: 1, std_error_ppm: 0 }, "{}", context());
            }
            relation::Verdict::Safe => {
                assert_eq!(*odds, Probability { deleted: 0, samples: 1, std_error_ppm: 0 }, "{}", context());
            }
            relation::Verdict::Possible => {
                assert!(odds.deleted <= odds.samples && odds.samples > 0, "pod {pod}: {}", context());
                let p = share(odds);
                // Of pods that are alike, fewer can go than there are.
                let lists = odds.deleted / (odds.samples / 4096).max(1);
                let expected =
                    if lists == 0 || lists == 4096 { 3.0 } else { (p * (1.0 - p) * 4096.0).sqrt() } / 4096.0;
                // It is that of a whole number of lists.
                let close = (f64::from(odds.std_error_ppm) / 1e6 - expected).abs() < 3e-4;
                assert!(odds.std_error_ppm == 0 || close, "pod {pod}: {expected}: {}", context());
            }
        }
    }
    for (a, b) in (0..pods.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let relate = |pod: usize, other: usize| relation::relation(policy, &pods[pod], &pods[other]).0;
        let others = (0..pods.len()).filter(|&other| other != a && other != b);
        if relate(a, b) == podrank::KubernetesOrdering::Tie
            && others.clone().all(|other| relate(a, other) == relate(b, other))
        {
            assert_eq!(odds[a], odds[b], "{a} and {b}: {}", context());
        }
    }
}

/// The probability is how often the sort puts a pod among the first `k` of a random list.
pub fn odds_are_frequencies(order: &impl Implementation, policy: &Policy, pods: &[Pod], k: usize, seed: u64) {
    let mut random = random(seed);
    let mut went = vec![0_u32; pods.len()];
    let mut list: Vec<u32> = (0..u32::try_from(pods.len()).unwrap()).collect();
    for _ in 0..LISTS {
        for last in (1..list.len()).rev() {
            list.swap(last, usize::try_from(random(last as u64 + 1)).unwrap());
        }
        for &pod in order.kubernetes_sort(policy, pods, &list).iter().take(k) {
            went[pod as usize] += 1;
        }
    }
    for (pod, (odds, went)) in order.probabilities(policy, pods, k).1.iter().zip(went).enumerate() {
        let frequency = f64::from(went) / f64::from(LISTS);
        assert!(
            are_close(share(odds), frequency),
            "pod {pod}: {frequency}, k = {k}: {odds:?} {policy:?} {pods:?}"
        );
    }
}

/// The same pods have the same probabilities in any list. If the relation does not read UIDs, other UIDs do not change
/// exact probabilities, and change estimated ones by no more than chance.
pub fn odds_belong_to_the_pods(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    shuffled: &[usize],
    k: usize,
) {
    let (_, odds) = order.probabilities(policy, pods, k);
    let moved: Vec<Pod> = shuffled.iter().map(|&index| pods[index]).collect();
    for (&index, moved) in shuffled.iter().zip(order.probabilities(policy, &moved, k).1) {
        assert_eq!(moved, odds[index], "pod {index}, k = {k}: {policy:?} {pods:?}");
    }
    let mut gates = policy.gates;
    gates.logarithmic_scale_down = false;
    let plain = policy.with_gates(gates);
    let renamed: Vec<Pod> = shuffled
        .iter()
        .zip(pods)
        .map(|(&index, pod)| Pod { uid: Uid::from_bytes((index as u128).to_be_bytes()), ..*pod })
        .collect();
    let before = order.probabilities(&plain, pods, k).1;
    for (index, (a, b)) in before.iter().zip(order.probabilities(&plain, &renamed, k).1).enumerate() {
        let is_same = if a.std_error_ppm == 0 { *a == b } else { are_close(share(a), share(&b)) };
        assert!(is_same, "pod {index}: {a:?} and {b:?}, k = {k}: {plain:?} {pods:?}");
    }
}

/// Whether two samples can have the same probability: within five standard errors of their difference.
fn are_close(a: f64, b: f64) -> bool {
    let p = f64::midpoint(a, b);
    (a - b).abs() <= 5.0 * (2.0 * p * (1.0 - p) / f64::from(LISTS)).sqrt() + 5.0 / f64::from(LISTS)
}

fn share(odds: &Probability) -> f64 {
    f64::from(odds.deleted) / f64::from(odds.samples)
}

/// A list of pods in the order, the reverse of it, and one that goes up and then down: lists in which a quicksort takes other
/// ways.
pub fn patterned_lists(policy: &Policy, pods: &[Pod]) -> [Vec<u32>; 3] {
    let sorted = oracle::sort(policy, pods);
    let reversed = sorted.iter().rev().copied().collect();
    let (up, down): (Vec<_>, Vec<_>) = sorted.iter().enumerate().partition(|(place, _)| place % 2 == 0);
    let pipe = up.into_iter().chain(down.into_iter().rev()).map(|(_, &pod)| pod).collect();
    [sorted, reversed, pipe]
}

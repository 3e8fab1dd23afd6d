//! Estimates probabilities that depend on several lists, one after the other: plays the deletions many times, each time
//! with lists in random order. It is unknown which set's pods are deleted first, so each pod has a probability for each
//! schedule. A pure function with a fixed seed.

use crate::answer::{Cases, Probability};
use crate::reason::RankedPod;
use podrank::{Pod, Policy, ProbabilityScratch, Uid};
use std::collections::HashMap;

/// A set deletes pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetDeletion {
    pub(crate) set: usize,
    pub(crate) count: usize,
}

/// The most pods for which this is done, because each run sorts all of them.
const MOST_PODS: usize = 2_000;

/// The state with which the random numbers start, as for the core's own probabilities.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the probabilities of all pods. An error is the reason why there are none.
pub(crate) fn sample(
    policy: &Policy,
    mut sets: Vec<Vec<RankedPod<'_>>>,
    schedules: &[Vec<SetDeletion>],
) -> Result<HashMap<Uid, Probability>, String> {
    let pods: usize = sets.iter().map(Vec::len).sum();
    if pods > MOST_PODS {
        return Err(format!("above {MOST_PODS} pods in several ReplicaSets, it takes too long to compute"));
    }
    let runs = if pods <= 200 { 4096 } else { 1024 };
    let error = (0.25 / f64::from(runs)).sqrt();
    // The order of the input makes no difference.
    for set in &mut sets {
        set.sort_by_key(|pod| pod.record.uid);
    }
    let cases: Vec<Vec<Vec<u32>>> = schedules.iter().map(|events| run(policy, &sets, events, runs)).collect();
    let mut probabilities = HashMap::new();
    for (index, set) in sets.iter().enumerate() {
        for (place, pod) in set.iter().enumerate() {
            let share = |case: &Vec<Vec<u32>>| f64::from(case[index][place]) / f64::from(runs);
            let shares: Vec<_> = cases.iter().map(share).collect();
            let (least, most) =
                (shares.iter().copied().fold(1.0, f64::min), shares.iter().copied().fold(0.0, f64::max));
            // A smaller difference can be chance.
            let differ = most - least > 4.0 * error;
            let equal = vec![1.0; shares.len()];
            let how = if differ { Cases::Unknown } else { Cases::Shares(&equal) };
            let all = shares.iter().map(|share| Some(Probability::new(*share, error)));
            probabilities.extend(Probability::together(all, how).map(|its| (pod.record.uid, its)));
        }
    }
    Ok(probabilities)
}

/// How often each pod of each set is deleted.
fn run(policy: &Policy, sets: &[Vec<RankedPod<'_>>], events: &[SetDeletion], runs: u32) -> Vec<Vec<u32>> {
    let mut went: Vec<Vec<u32>> = sets.iter().map(|set| vec![0; set.len()]).collect();
    let mut state = SEED;
    let longest = sets.iter().map(Vec::len).max().unwrap_or(0);
    let mut scratch: Vec<ProbabilityScratch> = vec![[0; 4]; longest];
    for _ in 0..runs {
        let mut left: Vec<Vec<u32>> = sets.iter().map(|set| (0..).take(set.len()).collect()).collect();
        let mut gone = HashMap::<Option<&str>, u32>::new();
        for event in events {
            let (set, list) = (&sets[event.set], &mut left[event.set]);
            for place in (1..list.len()).rev() {
                list.swap(place, below(&mut state, place + 1));
            }
            let rank = |its: &RankedPod<'_>| {
                its.record.rank.saturating_sub(gone.get(&its.pod.node()).copied().unwrap_or(0))
            };
            let pods: Vec<_> = set.iter().map(|its| Pod { rank: rank(its), ..its.record }).collect();
            policy
                .kubernetes_sort(&pods, list, &mut scratch)
                .expect("there is scratch memory for the longest list");
            for index in list.drain(..event.count.min(list.len())) {
                went[event.set][index as usize] += 1;
                *gone.entry(set[index as usize].pod.node()).or_default() += 1;
            }
        }
    }
    went
}

/// A random number below `most`.
fn below(state: &mut u64, most: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state % most as u64).unwrap_or(0)
}

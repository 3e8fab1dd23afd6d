//! Who races: the ways to find the first `k` pods of the order, and the floor, which no way to find them can beat.

use podrank::{Flags, Pod, Policy, Scratch, Time};
use podrank_ffi::{
    PODRANK_OK, PODRANK_OPTIONS_NOW, podrank_options, podrank_pod, podrank_scratch, podrank_select,
};
use std::cmp::Reverse;
use std::ptr::from_mut;

/// Sums all bytes of the records, eight at a time. Whoever decides must read them, too.
pub fn floor(pods: &[Pod]) -> u64 {
    // SAFETY: a record is 64 bytes of integers, aligned to 8, without a byte of padding.
    let words = unsafe { std::slice::from_raw_parts(pods.as_ptr().cast::<u64>(), size_of_val(pods) / 8) };
    words.iter().copied().fold(0, u64::wrapping_add)
}

/// As large a scratch buffer as the documentation asks for.
pub fn scratch(pods: &[Pod], k: usize) -> Vec<Scratch> {
    vec![Scratch::default(); k.min(pods.len().div_ceil(4))]
}

/// A pod's place in the order as a tuple, as one writes it when one needs it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(
    (bool, u8, bool, i32, Reverse<u32>),
    (Option<Age>, Reverse<u32>, Reverse<u32>, Age, [u8; 16]),
    u32,
);

/// How old a time is, youngest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    Unset,
    Bucket(u32),
    Moment(Reverse<i64>),
}

impl Age {
    fn of(time: Time, policy: &Policy) -> Self {
        match (time.unix_nanos(), policy.now.unix_nanos()) {
            (None, _) => Self::Unset,
            (Some(time), Some(now)) => {
                Self::Bucket(now.saturating_sub(time).checked_ilog2().map_or(0, |log| log + 1))
            }
            (Some(time), None) => Self::Moment(Reverse(time)),
        }
    }
}

fn places(policy: &Policy, pods: &[Pod]) -> Vec<Place> {
    let place = |(index, pod): (u32, &Pod)| {
        let ready = pod.flags.contains(Flags::READY);
        Place(
            (
                pod.flags.contains(Flags::ASSIGNED),
                pod.phase.ordinal(),
                ready,
                pod.deletion_cost,
                Reverse(pod.rank),
            ),
            (
                ready.then(|| Age::of(pod.ready_time, policy)),
                Reverse(pod.restarts),
                Reverse(pod.sidecar_restarts),
                Age::of(pod.creation_time, policy),
                pod.uid.to_bytes(),
            ),
            index,
        )
    };
    pods.iter().zip(0..).map(|(pod, index)| place((index, pod))).collect()
}

fn indices(places: &[Place]) -> Vec<u32> {
    places.iter().map(|place| place.2).collect()
}

/// The naive tuples, the first `k` by `select_nth_unstable`, and these sorted.
pub fn nth(policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32> {
    let mut places = places(policy, pods);
    if k < places.len() {
        places.select_nth_unstable(k);
        places.truncate(k);
    }
    places.sort_unstable();
    indices(&places)
}

/// The naive tuples, all sorted, and the first `k` of them.
pub fn sort(policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32> {
    let mut places = places(policy, pods);
    places.sort();
    places.truncate(k);
    indices(&places)
}

/// The options of the C library that mean a policy of Kubernetes' gates.
pub fn options(policy: &Policy) -> podrank_options {
    let now = policy.now.unix_nanos();
    podrank_options { size: 16, flags: now.map_or(0, |_| PODRANK_OPTIONS_NOW), now: now.unwrap_or(0) }
}

/// `podrank_select` with the scratch it asks for, as called from C.
#[derive(Debug)]
pub struct C {
    options: podrank_options,
    victims: Vec<u32>,
    scratch: Vec<podrank_scratch>,
}

impl C {
    /// With memory for `k` victims.
    pub fn new(policy: &Policy, k: usize) -> Self {
        Self {
            options: options(policy),
            victims: vec![0; k],
            scratch: vec![podrank_scratch { words: [0; 8] }; k],
        }
    }

    /// The victims.
    ///
    /// # Panics
    /// If the library refuses.
    pub fn select(&mut self, pods: &[Pod]) -> &[u32] {
        let (victims, scratch) = (&mut self.victims, &mut self.scratch);
        let mut selected = 0;
        // SAFETY: every pointer is to as many elements as said, and none of them overlap. The records have one layout.
        let status = unsafe {
            podrank_select(
                pods.as_ptr().cast(),
                pods.len(),
                &raw const self.options,
                victims.as_mut_ptr(),
                victims.len(),
                scratch.as_mut_ptr(),
                scratch.len(),
                &raw mut selected,
            )
        };
        assert_eq!(status, PODRANK_OK);
        &victims[..selected]
    }
}

unsafe extern "C" {
    fn podrank_bench_qsort(pods: *mut podrank_pod, pods_len: usize, options: *const podrank_options);
    fn podrank_bench_partial_sort(
        pods: *mut podrank_pod,
        pods_len: usize,
        k: usize,
        options: *const podrank_options,
    );
}

/// C's `qsort` of the records, by `podrank_compare`.
pub fn qsort(options: &podrank_options, pods: &mut [Pod]) {
    // SAFETY: the records have one layout, and the options live on.
    unsafe { podrank_bench_qsort(from_mut(pods).cast(), pods.len(), options) }
}

/// C++'s `std::partial_sort` of the records, by `podrank_compare`.
pub fn partial_sort(options: &podrank_options, pods: &mut [Pod], k: usize) {
    // SAFETY: as above; there are as many as `k`.
    unsafe { podrank_bench_partial_sort(from_mut(pods).cast(), pods.len(), k.min(pods.len()), options) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataSet, exact, log_scaled};

    /// A race is fair only among those who arrive at the same place.
    #[test]
    fn all_find_the_same() {
        for (set, policy) in DataSet::ALL.into_iter().flat_map(|set| [(set, log_scaled()), (set, exact())]) {
            let pods = set.pods(3_000);
            for k in [0, 1, 50, 500, 3_000] {
                let mut victims = vec![0; k];
                let expected = policy.select(&pods, &mut victims).unwrap();
                assert_eq!(nth(&policy, &pods, k), expected);
                assert_eq!(sort(&policy, &pods, k), expected);
                assert_eq!(C::new(&policy, k).select(&pods), expected);
                assert_eq!(
                    policy.select_with(&pods, &mut vec![0; k], &mut scratch(&pods, k)).unwrap(),
                    expected
                );

                let first: Vec<_> = expected.iter().map(|&index| pods[index as usize]).collect();
                for sort in [|o: &_, p: &mut _, _| qsort(o, p), |o: &_, p: &mut _, k| partial_sort(o, p, k)] {
                    let mut copy = pods.clone();
                    sort(&options(&policy), &mut copy, k);
                    assert_eq!(copy[..k], first);
                }
            }
        }
    }

    #[test]
    fn the_floor_reads_every_byte() {
        let mut pods = vec![Pod::new(); 3];
        let sum = floor(&pods);
        *pods[2].reserved.as_mut().last_mut().unwrap() = 1;
        assert_eq!(floor(&pods).wrapping_sub(sum), u64::from_ne_bytes([0, 0, 0, 0, 0, 0, 0, 1]));
    }
}

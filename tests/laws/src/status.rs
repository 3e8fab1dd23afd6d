//! The ages that a set reports: a second, naive implementation, and the check that the core agrees with it.

use podrank::controller::{DeletionAge, deletion_ages};
use podrank::{Flags, Pod, Time};

/// The ages are the two that Kubernetes' `reportSortingDeletionAgeRatioMetric` divides, unless it would divide by zero.
pub fn ages_are_upstreams(pods: &[Pod], victims: &[u32], now: Time) {
    let is_ready = |pod: &&Pod| pod.flags.contains(Flags::READY);
    let age = |pod: &Pod| {
        let created = pod.creation_time.unix_nanos().unwrap_or(-i64::MAX);
        let nanos = i128::from(now.unix_nanos()?) - i128::from(created);
        // Go's durations end at 292 years.
        Some(i64::try_from(nanos.clamp(i64::MIN.into(), i64::MAX.into())).unwrap() / 1_000_000)
    };
    let youngest = pods.iter().filter(is_ready).filter_map(age).min().filter(|ms| *ms != 0);
    let mut expected = vec![];
    for &victim in victims {
        let victim = pods.get(victim as usize).filter(is_ready);
        if let Some((victim_ms, youngest_ms)) = victim.and_then(age).zip(youngest) {
            expected.push(DeletionAge { victim_ms, youngest_ms });
        }
    }
    let ages: Vec<_> = deletion_ages(pods, victims, now).collect();
    assert_eq!(ages, expected, "{pods:?}, {victims:?}, {now:?}");
}

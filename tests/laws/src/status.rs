//! What a set reports: second, naive implementations, and the checks that the core agrees with them.

use podrank::controller::{
    Availability, ConditionChange, DeletionAge, FailureReason, Plan, Status, deletion_ages, failure_condition,
};
use podrank::{Flags, Pod, Time};

/// A status counts each pod in the right fields. `pods` says of each whether it is fully labelled, and its availability.
pub fn status_counts_each(generation: i64, pods: &[(bool, Availability)], terminating: u32) {
    let mut status = Status::new(generation);
    for &(is_fully_labeled, availability) in pods {
        status.add(is_fully_labeled, availability);
    }
    for _ in 0..terminating {
        status.add_terminating();
    }
    let count = |counts: &dyn Fn(&(bool, Availability)) -> bool| {
        u32::try_from(pods.iter().filter(|pod| counts(pod)).count()).unwrap()
    };
    let expected = Status {
        observed_generation: generation,
        replicas: count(&|_| true),
        fully_labeled_replicas: count(&|pod| pod.0),
        ready_replicas: count(&|pod| pod.1 != Availability::NotReady),
        available_replicas: count(&|pod| pod.1 == Availability::Available),
        terminating_replicas: terminating,
    };
    assert_eq!(status, expected, "{pods:?}");
}

/// After a sync, the condition is present if and only if a request in that sync failed. It keeps its first reason.
pub fn condition_is_upstreams(plan: Plan, has_failed: bool, was_there: bool) {
    let reason = match plan {
        Plan::Nothing => None,
        Plan::Create(_) => Some("FailedCreate"),
        Plan::Delete(_) => Some("FailedDelete"),
    };
    let of = FailureReason::of(plan);
    assert_eq!(of.map(FailureReason::name), reason, "{plan:?}");
    let failed = of.filter(|_| has_failed);
    let (is_there, new_reason) = match failure_condition(failed, was_there) {
        ConditionChange::Leave => (was_there, None),
        ConditionChange::Add(reason) => (true, Some(reason)),
        ConditionChange::Remove => (false, None),
    };
    assert_eq!(is_there, failed.is_some(), "{plan:?}, {has_failed}, {was_there}");
    assert_eq!(new_reason, failed.filter(|_| !was_there), "{plan:?}, {has_failed}, {was_there}");
}

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

//! The decisions of a controller: the laws and Kubernetes' own tables.

use podrank::Time;
use podrank::controller::{
    Availability, BURST_REPLICAS, Claimable, ConditionChange, FailureReason, Owner, Plan, PodKey, SetState,
    Status, claim, failure_condition, plan,
};
use podrank_laws::Core;
use podrank_laws::claims::{claim_is_upstreams, filters_are_upstreams};
use podrank_laws::controller::{
    availability_is_upstreams, every_bit_of_a_key_counts, expectations_are_upstreams, plan_is_the_difference,
    slow_start_is_upstreams, steps,
};
use podrank_laws::generate::{NOW, boundary_times, cases_with_invalid_records, config};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::HashSet;

fn at(nanos: i64) -> Time {
    Time::from_unix_nanos(NOW + nanos)
}

fn set_state(desired: u32, active: u32, is_satisfied: bool, is_being_deleted: bool) -> SetState {
    let mut set = SetState::new(desired, active);
    set.is_satisfied = is_satisfied;
    set.is_being_deleted = is_being_deleted;
    set
}

fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 0..8_u32, 1 => 490..510_u32, 1 => select(vec![1000, u32::MAX - 1, u32::MAX])]
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn expectations(start in select(boundary_times(NOW)), steps in steps()) {
        for start in [start, Time::UNSET] {
            expectations_are_upstreams(&Core, start, &steps);
        }
    }

    #[test]
    fn slow_starts(count in prop_oneof![0..40_u32, 0..2000_u32], failing in prop::collection::hash_set(0..2000_u32, 0..4)) {
        slow_start_is_upstreams(&Core, count, |number| failing.contains(&number));
    }

    #[test]
    fn plans(desired in numbers(), active in numbers(), burst in numbers(), is_satisfied in any::<bool>(), is_being_deleted in any::<bool>()) {
        plan_is_the_difference(&Core, &set_state(desired, active, is_satisfied, is_being_deleted), burst);
    }

    #[test]
    fn availabilities((policy, list) in cases_with_invalid_records(0..6), seconds in numbers(), now in select(boundary_times(NOW))) {
        for now in [policy.now, now, at(0), Time::UNSET] {
            availability_is_upstreams(&Core, &list, seconds, now);
        }
    }
}

/// `TestActivePodFiltering`, and what else a pod can be.
#[test]
fn pods_that_have_ended_or_are_being_deleted_do_not_count() {
    for phase in ["Succeeded", "Failed", "Running", "Pending", "Unknown", "", "succeeded"] {
        for is_being_deleted in [false, true] {
            filters_are_upstreams(phase, is_being_deleted);
        }
    }
}

/// All 48 cases, against `ClaimObject` line by line.
#[test]
fn claims_are_kubernetes() {
    let bools = [false, true];
    let mut seen = HashSet::new();
    for owner in [Owner::None, Owner::Ours, Owner::Other] {
        for (matches, is_in_namespace) in bools.map(|b| bools.map(|c| (b, c))).concat() {
            for (is_being_deleted, set_is_being_deleted) in bools.map(|b| bools.map(|c| (b, c))).concat() {
                let pod = Claimable { owner, matches, is_in_namespace, is_being_deleted };
                claim_is_upstreams(&pod, set_is_being_deleted);
                seen.insert(claim(&pod, set_is_being_deleted));
            }
        }
    }
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_new_state_plans_nothing() {
    // Until expectations are said to be satisfied, a new state plans nothing.
    assert_eq!(plan(&SetState::new(1, 0), BURST_REPLICAS), Plan::Nothing);
    assert_eq!(plan(&set_state(1, 0, true, SetState::new(1, 0).is_being_deleted), 500), Plan::Create(1));
}

#[test]
fn every_byte_of_a_key_counts() {
    every_bit_of_a_key_counts(&Core, at(0));
}

fn key(set: u8, pod: u8) -> PodKey {
    let mut key = [0; 16];
    (key[0], key[15]) = (set, pod);
    key
}

/// Whatever a room holds that is another than the one before, nothing panics, and what is not known is not counted.
#[test]
fn a_room_that_shrinks_is_no_danger() {
    let mut expected = podrank::ffi::Expected::NONE;
    let mut room = [[0; 16]; 4];
    assert_eq!(expected.keys(), 0);
    expected.expect_deletions(&mut room, &[key(0, 1), key(0, 2), key(0, 3)], at(0)).unwrap();
    assert_eq!(expected.keys(), 3);
    assert!(!expected.deletion_observed(&mut room[..1], &key(0, 3)));
    assert!(expected.deletion_observed(&mut room[..1], &key(0, 1)));
    assert!(!expected.deletion_observed(&mut [], &key(0, 2)));
    assert_eq!(expected.deletions(), 2);
}

#[test]
fn a_status_counts_each_pod_where_it_belongs() {
    let mut status = Status::new(7);
    assert_eq!(status, Status { observed_generation: 7, ..Status::default() });
    for (is_fully_labeled, availability) in [
        (true, Availability::Available),
        (false, Availability::Available),
        (true, Availability::AvailableIn(1)),
        (true, Availability::ReadySinceUnknown),
        (true, Availability::NotReady),
        (false, Availability::NotReady),
    ] {
        status.add(is_fully_labeled, availability);
    }
    status.add_terminating();
    let expected = Status {
        observed_generation: 7,
        replicas: 6,
        fully_labeled_replicas: 4,
        ready_replicas: 4,
        available_replicas: 2,
        terminating_replicas: 1,
    };
    assert_eq!(status, expected);
    assert_ne!(status, Status { observed_generation: 8, ..expected }, "to be written again");
}

#[test]
fn a_failure_is_reported_until_a_sync_has_none() {
    let (create, delete) = (FailureReason::FailedCreate, FailureReason::FailedDelete);
    for (failed, is_there, expected) in [
        (Some(create), false, ConditionChange::Add(create)),
        (Some(delete), false, ConditionChange::Add(delete)),
        (Some(delete), true, ConditionChange::Leave),
        (None, true, ConditionChange::Remove),
        (None, false, ConditionChange::Leave),
    ] {
        assert_eq!(failure_condition(failed, is_there), expected);
    }
    assert_eq!((create.name(), delete.name()), ("FailedCreate", "FailedDelete"));
    assert_eq!(FailureReason::of(Plan::Create(2)), Some(create));
    assert_eq!(FailureReason::of(Plan::Delete(2)), Some(delete));
    assert_eq!(FailureReason::of(Plan::Nothing), None);
}

//! The decisions of a controller: the laws, Kubernetes' own tables, and random histories.

use podrank::controller::{
    Availability, BURST_REPLICAS, Claimable, ConditionChange, DeletionAge, EXPECTATIONS_TIMEOUT_NANOS,
    Expectations, FailureReason, KeysFull, Owner, Plan, PodKey, SetState, SlowStart, Status, availability,
    claim, deletion_ages, failure_condition, plan,
};
use podrank::{Flags, Pod, Policy, Time};
use podrank_laws::Core;
use podrank_laws::claims::{claim_is_upstreams, filters_are_upstreams};
use podrank_laws::controller::{
    availability_is_upstreams, every_bit_of_a_key_counts, expectations_are_upstreams, plan_is_the_difference,
    slow_start_batches, slow_start_is_upstreams, steps,
};
use podrank_laws::generate::{NOW, boundary_times, cases_with_invalid_records, config, seeds};
use podrank_laws::status::ages_are_upstreams;
use podrank_simulator as simulator;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::HashSet;

const SECOND: i64 = 1_000_000_000;

fn at(nanos: i64) -> Time {
    Time::from_unix_nanos(NOW + nanos)
}

fn set_state(wanted: u32, active: u32, is_satisfied: bool, is_being_deleted: bool) -> SetState {
    let mut set = SetState::new(wanted, active);
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
    fn plans(wanted in numbers(), active in numbers(), burst in numbers(), is_satisfied in any::<bool>(), is_being_deleted in any::<bool>()) {
        plan_is_the_difference(&Core, &set_state(wanted, active, is_satisfied, is_being_deleted), burst);
    }

    #[test]
    fn availabilities((policy, list) in cases_with_invalid_records(0..6), seconds in numbers(), now in select(boundary_times(NOW))) {
        for now in [policy.now, now, at(0), Time::UNSET] {
            availability_is_upstreams(&Core, &list, seconds, now);
        }
    }

    #[test]
    fn ages((policy, list) in cases_with_invalid_records(0..8), now in select(boundary_times(NOW))) {
        // The last index is not in the list.
        let victims: Vec<u32> = (0..=u32::try_from(list.len()).unwrap()).collect();
        for now in [policy.now, now] {
            ages_are_upstreams(&list, &victims, now);
        }
    }
}

/// Thousands of them: as many pods as are wanted in the end, and no rule broken on the way.
#[test]
fn histories_end_well() {
    let mut tally = simulator::Tally::default();
    for seed in seeds(6000) {
        simulator::run(&Core, seed, &mut tally);
    }
    // All that can go wrong has.
    for (count, least) in [
        (tally.syncs, 1_000_000),
        (tally.requests, 200_000),
        (tally.failures, 20_000),
        (tally.timeouts, 500),
        (tally.held_back, 100_000),
        (tally.sighted, 50_000),
        (tally.claims, 20_000),
        (tally.lost, 20_000),
        (tally.doubled, 20_000),
        (tally.crashes, 500),
        (tally.sets_deleted, 1000),
    ] {
        assert!(count >= least, "{tally:?}");
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

/// `TestSlowStartBatch`: count, how many calls succeed before all others fail, successes and calls.
#[test]
fn slow_start_is_kubernetes() {
    for (count, failing_after, successes, calls) in [(10, 0, 0, 1), (10, 10, 10, 10), (10, 5, 5, 7)] {
        let (mut start, mut called) = (SlowStart::new(count), 0);
        while start.next_batch() > 0 {
            let before = called;
            called += start.next_batch();
            start.report((before..called).filter(|&call| call >= failing_after).count().try_into().unwrap());
        }
        assert_eq!((count - start.missing(), called), (successes, calls));
        let mut call = 0;
        let (naive, batches) = slow_start_batches(count, || {
            call += 1;
            call <= failing_after
        });
        assert_eq!((naive, batches.iter().sum::<u32>()), (successes, calls));
    }

    // The largest count there is, to its end.
    let (mut start, mut batches) = (SlowStart::new(u32::MAX), vec![]);
    while start.next_batch() > 0 {
        batches.push(start.next_batch());
        start.report(0);
    }
    assert_eq!(batches, (0..32).map(|i| 1_u32 << i).collect::<Vec<_>>());
    assert_eq!(start.missing(), 0);

    // More failures than there were tries are as many.
    let mut start = SlowStart::new(7);
    start.report(0);
    start.report(u32::MAX);
    assert_eq!((start.next_batch(), start.missing()), (0, 6));
    assert_eq!(SlowStart::new(0), {
        let mut none = SlowStart::new(0);
        none.report(0);
        none
    });
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

#[test]
fn expectations_time_out_after_more_than_5_minutes() {
    assert_eq!(EXPECTATIONS_TIMEOUT_NANOS, 5 * 60 * SECOND);
    let mut expectations = Expectations::<1>::default();
    expectations.expect_creations(1, at(0));
    assert!(!expectations.are_satisfied(at(300 * SECOND)));
    assert!(expectations.are_satisfied(at(300 * SECOND + 1)));
    // Seeing something does not start the clock again; expecting does.
    expectations.expect_creations(2, at(0));
    expectations.creations_observed(1);
    assert!(!expectations.are_satisfied(at(300 * SECOND)));
    assert!(expectations.are_satisfied(at(300 * SECOND + 1)));
    expectations.expect_deletions(&[key(0, 0)], at(1)).unwrap();
    assert!(!expectations.are_satisfied(at(300 * SECOND + 1)));
    assert!(expectations.are_satisfied(at(300 * SECOND + 2)));
    // A clock put back, or none, is no reason.
    assert!(!expectations.are_satisfied(at(-3600 * SECOND)));
    assert!(!expectations.are_satisfied(Time::UNSET));
    expectations.expect_creations(1, Time::UNSET);
    assert!(!expectations.are_satisfied(Time::MAX));
}

#[test]
fn expectations_that_do_not_fit_change_nothing() {
    let mut expectations = Expectations::<2>::new();
    expectations.expect_deletions(&[key(0, 1), key(0, 2)], at(0)).unwrap();
    let three = [key(0, 3), key(0, 4), key(0, 5)];
    assert_eq!(expectations.expect_deletions(&three, at(1)), Err(KeysFull));
    assert_eq!(
        KeysFull.to_string(),
        "there are more keys than the capacity: give it room for one key per deletion"
    );
    assert!(expectations.are_satisfied(at(300 * SECOND + 1)), "the old moment");
    assert_eq!(expectations.deletions(), 2);
    assert!(!expectations.deletion_observed(&key(0, 3)));
    assert!(expectations.deletion_observed(&key(0, 1)) && expectations.deletion_observed(&key(0, 2)));

    // A whole burst fits where there is room for it.
    let keys: Vec<PodKey> = (0..500_u128).map(u128::to_be_bytes).collect();
    let mut expectations = Expectations::<{ BURST_REPLICAS as usize }>::new();
    expectations.expect_deletions(&keys, at(0)).unwrap();
    for key in keys.iter().step_by(2).chain(keys.iter().skip(1).step_by(2)) {
        assert!(!expectations.are_satisfied(at(0)));
        assert!(expectations.deletion_observed(key));
    }
    assert!(expectations.are_satisfied(at(0)));
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
fn availability_turns_at_the_nanosecond() {
    let ready = Pod { flags: Flags::READY, ready_time: at(0), ..Pod::new() };
    let since = |ready_time| Pod { ready_time, ..ready };
    for (pod, seconds, now, expected) in [
        (Pod { flags: Flags::NONE, ..ready }, 0, at(0), Availability::NotReady),
        (Pod { flags: Flags::NONE, ..ready }, 10, at(99 * SECOND), Availability::NotReady),
        (ready, 0, at(-1), Availability::Available),
        (since(Time::UNSET), 0, Time::UNSET, Availability::Available),
        (since(Time::UNSET), 1, at(0), Availability::ReadySinceUnknown),
        (ready, 1, Time::UNSET, Availability::ReadySinceUnknown),
        (ready, 10, at(0), Availability::AvailableIn(10_000_000_000)),
        (ready, 10, at(10 * SECOND - 1), Availability::AvailableIn(1)),
        (ready, 10, at(10 * SECOND), Availability::Available),
        (ready, 10, at(-5), Availability::AvailableIn(10_000_000_005)),
        (since(Time::MIN), u32::MAX, Time::MAX, Availability::Available),
        (
            since(Time::MAX),
            u32::MAX,
            Time::MAX,
            Availability::AvailableIn(u64::from(u32::MAX) * 1_000_000_000),
        ),
        (since(Time::MAX), 1, Time::MIN, Availability::AvailableIn(i64::MAX.cast_unsigned())),
    ] {
        let availability = availability(&pod, seconds, now);
        assert_eq!(availability, expected, "{pod:?}, {seconds} s, {now:?}");
        assert_eq!(availability.is_ready(), expected != Availability::NotReady);
        let look_again = if let Availability::AvailableIn(nanos) = expected { Some(nanos) } else { None };
        assert_eq!(availability.look_again(), look_again);
    }
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

#[test]
fn ages_are_those_of_ready_victims_and_never_divide_by_zero() {
    let created = |ago: i64| Pod { creation_time: at(-ago), flags: Flags::READY, ..Pod::new() };
    let unready = Pod { flags: Flags::NONE, ..created(5) };
    let age = |victim_ms, youngest_ms| DeletionAge { victim_ms, youngest_ms };
    let ages = |pods: &[Pod], victims: &[u32]| deletion_ages(pods, victims, at(0)).collect::<Vec<_>>();

    let pods = [created(90 * SECOND), unready, created(30 * SECOND + 999_999), created(60 * SECOND)];
    assert_eq!(ages(&pods, &[1, 0, 2]), [age(90_000, 30_000), age(30_000, 30_000)]);
    assert_eq!(ages(&pods, &[]), []);
    assert_eq!(ages(&pods, &[9, 3]), [age(60_000, 30_000)], "no pod 9");
    assert_eq!(deletion_ages(&pods, &[0], Time::UNSET).count(), 0);

    // Less than a millisecond old, on either side of now: upstream divides by zero.
    for youngest in [0, 1, 999_999, -1, -999_999] {
        assert_eq!(ages(&[created(SECOND), created(youngest)], &[0]), []);
    }
    assert_eq!(ages(&[created(SECOND), created(1_000_000)], &[0]), [age(1000, 1)]);
    assert_eq!(ages(&[created(SECOND), created(-1_000_000)], &[0]), [age(1000, -1)]);
    // Without a creation time: as old as can be.
    let ancient = Pod { creation_time: Time::UNSET, ..created(0) };
    assert_eq!(ages(&[ancient, created(SECOND)], &[0]), [age(i64::MAX / 1_000_000, 1000)]);

    // Of victims as they are selected.
    let mut victims = [0; 2];
    let victims = Policy::at(at(0)).select(&pods, &mut victims).unwrap();
    assert_eq!(ages(&pods, victims), [age(30_000, 30_000)], "the unready one has none");
}

//! The core's laws and histories of a controller, through the C functions.

use crate::implementation::{C, record};
use podrank::controller::{Plan, PodKey, SetState};
use podrank::{Pod, Time};
use podrank_ffi::*;
use podrank_laws::controller::{
    Controller, ROOM, availability_is_upstreams, expectations_are_upstreams, plan_is_the_difference,
    slow_start_is_upstreams, steps,
};
use podrank_laws::generate::{NOW, boundary_times, pods};
use podrank_laws::simulator;
use proptest::prelude::*;
use proptest::sample::select;

const NONE: podrank_expectations =
    podrank_expectations { since: 0, creations: 0, deletions: 0, keys: 0, is_set: 0 };

/// Expectations and the room for their keys.
pub(crate) struct Expectations {
    expected: podrank_expectations,
    room: [podrank_pod_key; ROOM],
}

fn key(key: &PodKey) -> podrank_pod_key {
    podrank_pod_key { bytes: *key }
}

fn nanos(time: Time) -> i64 {
    time.unix_nanos().unwrap_or(PODRANK_TIME_UNSET)
}

fn done(status: i32) {
    assert_eq!(status, PODRANK_OK);
}

impl Controller for C {
    type Expectations = Expectations;
    type SlowStart = podrank_slow_start;

    fn plan(&self, set: &SetState, burst_replicas: u32) -> Plan {
        let (mut creations, mut deletions) = (77, 77);
        // Any number but 0 is yes.
        let yes = |set: bool| if set { -1 } else { 0 };
        done(unsafe {
            podrank_plan(
                set.wanted,
                set.active,
                burst_replicas,
                yes(set.is_satisfied),
                yes(set.is_being_deleted),
                &raw mut creations,
                &raw mut deletions,
            )
        });
        match (creations, deletions) {
            (0, 0) => Plan::Nothing,
            (count, 0) => Plan::Create(count),
            (0, count) => Plan::Delete(count),
            both => panic!("{both:?}"),
        }
    }

    fn slow_start(&self, count: u32) -> podrank_slow_start {
        let mut start = podrank_slow_start { batch: 77, missing: 77 };
        done(unsafe { podrank_slow_start_begin(count, &raw mut start) });
        start
    }

    fn progress(&self, start: &podrank_slow_start) -> (u32, u32) {
        (start.batch, start.missing)
    }

    fn report(&self, start: &mut podrank_slow_start, failures: u32) {
        done(unsafe { podrank_slow_start_report(start, failures) });
    }

    fn expectations(&self) -> Expectations {
        Expectations { expected: NONE, room: [podrank_pod_key { bytes: [0; 16] }; ROOM] }
    }

    fn expect_creations(&self, expectations: &mut Expectations, count: u32, now: Time) {
        done(unsafe { podrank_expect_creations(&raw mut expectations.expected, count, nanos(now)) });
    }

    fn expect_deletions(&self, expectations: &mut Expectations, keys: &[PodKey], now: Time) -> bool {
        let keys: Vec<_> = keys.iter().map(key).collect();
        let (expected, room) = (&raw mut expectations.expected, expectations.room.as_mut_ptr());
        let status =
            unsafe { podrank_expect_deletions(expected, room, ROOM, keys.as_ptr(), keys.len(), nanos(now)) };
        assert!([PODRANK_OK, PODRANK_ERR_KEYS_FULL].contains(&status));
        status == PODRANK_OK
    }

    fn creations_observed(&self, expectations: &mut Expectations, count: u32) {
        done(unsafe { podrank_creations_observed(&raw mut expectations.expected, count) });
    }

    fn deletion_observed(&self, expectations: &mut Expectations, deleted: &PodKey) -> bool {
        let (expected, room) = (&raw mut expectations.expected, expectations.room.as_mut_ptr());
        let mut counted = 77;
        done(unsafe { podrank_deletion_observed(expected, room, ROOM, &key(deleted), &raw mut counted) });
        [false, true][usize::try_from(counted).unwrap()]
    }

    fn are_satisfied(&self, expectations: &Expectations, now: Time) -> bool {
        let mut satisfied = 77;
        let expected = &raw const expectations.expected;
        done(unsafe { podrank_expectations_satisfied(expected, nanos(now), &raw mut satisfied) });
        [false, true][usize::try_from(satisfied).unwrap()]
    }

    fn counts(&self, expectations: &Expectations) -> (i64, i64) {
        (expectations.expected.creations, expectations.expected.deletions)
    }

    fn clear(&self, expectations: &mut Expectations) {
        expectations.expected = NONE;
    }

    fn availability(&self, pods: &[Pod], min_ready_seconds: u32, now: Time) -> (usize, usize, Option<u64>) {
        let pods: Vec<_> = pods.iter().map(record).collect();
        let (mut ready, mut available, mut look_again) = (77, 77, 77);
        done(unsafe {
            podrank_availability(
                pods.as_ptr(),
                pods.len(),
                min_ready_seconds,
                nanos(now),
                &raw mut ready,
                &raw mut available,
                &raw mut look_again,
            )
        });
        (ready, available, Some(look_again).filter(|nanos| *nanos > 0))
    }
}

fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 0..8_u32, 1 => select(vec![499, 500, 501, u32::MAX])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expectations(start in select(boundary_times(NOW)), steps in steps()) {
        for start in [start, Time::UNSET] {
            expectations_are_upstreams(&C, start, &steps);
        }
    }

    #[test]
    fn slow_starts(count in 0..2000_u32, failing in prop::collection::hash_set(0..2000_u32, 0..4)) {
        slow_start_is_upstreams(&C, count, |number| failing.contains(&number));
    }

    #[test]
    fn plans(wanted in numbers(), active in numbers(), burst in numbers(), is_satisfied in any::<bool>(), is_being_deleted in any::<bool>()) {
        plan_is_the_difference(&C, &SetState { wanted, active, is_satisfied, is_being_deleted }, burst);
    }

    #[test]
    fn availabilities(list in pods(0..6), seconds in numbers(), now in select(boundary_times(NOW))) {
        for now in [now, Time::from_unix_nanos(NOW), Time::UNSET] {
            availability_is_upstreams(&C, &list, seconds, now);
        }
    }

    /// No state is dangerous, whoever wrote it.
    #[test]
    fn any_bytes_are_a_state(state in any::<[u32; 8]>(), few in 0..20_u32, key in any::<[u8; 16]>(), count in any::<u32>()) {
        // SAFETY: plain integers.
        let mut expected: podrank_expectations = unsafe { std::mem::transmute(state) };
        expected.keys = if count % 2 == 0 { few } else { expected.keys };
        let mut expectations = Expectations { expected, room: [podrank_pod_key { bytes: key }; ROOM] };
        for _ in 0..=ROOM {
            C.deletion_observed(&mut expectations, &key);
        }
        C.creations_observed(&mut expectations, count);
        C.are_satisfied(&expectations, Time::MAX);
        let mut start = podrank_slow_start { batch: state[0], missing: state[1] };
        for _ in 0..34 {
            C.report(&mut start, 0);
        }
        prop_assert_eq!((start.batch, start.missing), if state[0] == 0 { (0, state[1]) } else { (0, 0) });
    }
}

#[test]
fn histories_end_well() {
    let mut tally = simulator::Tally::default();
    for seed in 0..500 {
        simulator::run(&C, seed, &mut tally);
    }
    assert!(tally.sighted > 1000 && tally.timeouts > 10, "{tally:?}");
}

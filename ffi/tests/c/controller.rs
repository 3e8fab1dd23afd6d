//! The core's laws and vectors of a controller's decisions, through the C functions.

use podrank::Time;
use podrank::controller::SetState;
use podrank_ffi::*;
use podrank_laws::controller::{
    Controller, ROOM, availability_is_upstreams, every_bit_of_a_key_counts, expectations_are_upstreams,
    plan_is_the_difference, slow_start_is_upstreams, steps,
};
use podrank_laws::generate::{NOW, boundary_times, cases, config};
use podrank_laws::vectors;
use podrank_through_c::decisions::Expectations;
use podrank_through_c::implementation::C;
use proptest::prelude::*;
use proptest::sample::select;

fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 0..8_u32, 1 => select(vec![499, 500, 501, u32::MAX])]
}

proptest! {
    #![proptest_config(config(512))]

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
    fn plans(desired in numbers(), active in numbers(), burst in numbers(), is_satisfied in any::<bool>(), is_being_deleted in any::<bool>()) {
        let mut set = SetState::new(desired, active);
        set.is_satisfied = is_satisfied;
        set.is_being_deleted = is_being_deleted;
        plan_is_the_difference(&C, &set, burst);
    }

    #[test]
    fn availabilities((policy, list) in cases(0..6), seconds in numbers(), now in select(boundary_times(NOW))) {
        for now in [policy.now, now, Time::from_unix_nanos(NOW), Time::UNSET] {
            availability_is_upstreams(&C, &list, seconds, now);
        }
    }

    /// The functions accept any bytes as a state.
    #[test]
    fn any_bytes_are_a_state(state in any::<[u32; 8]>(), few in 0..20_u32, key in any::<[u8; 16]>(), count in any::<u32>()) {
        // SAFETY: plain integers.
        let mut expected: podrank_expectations = unsafe { std::mem::transmute(state) };
        expected.keys = if count % 2 == 0 { few } else { expected.keys };
        let mut expectations = Expectations { expected, key_storage: [podrank_pod_key { bytes: key }; ROOM] };
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
fn every_byte_of_a_key_counts() {
    every_bit_of_a_key_counts(&C, Time::from_unix_nanos(NOW));
}

/// The numbers of pending creations and deletions stop at the ends of their range.
#[test]
fn counts_do_not_wrap() {
    let key = [3; 16];
    for (count, creations, deletions, expected) in [
        (1, i64::MIN, i64::MIN, (i64::MIN, i64::MIN)),
        (u32::MAX, i64::MIN + 1, i64::MIN + 1, (i64::MIN, i64::MIN)),
        (u32::MAX, i64::MAX, i64::MAX, (i64::MAX - i64::from(u32::MAX), i64::MAX - 1)),
        (0, -1, 0, (-1, -1)),
    ] {
        let expected_now = podrank_expectations { since: 0, creations, deletions, keys: 1, is_set: 1 };
        let key_storage = [podrank_pod_key { bytes: key }; ROOM];
        let mut expectations = Expectations { expected: expected_now, key_storage };
        C.creations_observed(&mut expectations, count);
        assert!(C.deletion_observed(&mut expectations, &key));
        assert_eq!(C.counts(&expectations), expected);
    }
}

#[test]
fn vectors() {
    assert!(vectors::controller::file().check(&C) > 75);
}

//! The C functions as a controller's decisions, for the laws.

use crate::implementation::{C, call, done, record};
use podrank::controller::{Plan, PodKey, SetState};
use podrank::{Pod, Time};
use podrank_ffi::*;
use podrank_laws::controller::{Controller, ROOM};

const NONE: podrank_expectations =
    podrank_expectations { since: 0, creations: 0, deletions: 0, keys: 0, is_set: 0 };

/// Expectations and the buffer for their keys.
pub struct Expectations {
    /// The state that C keeps in the caller's memory.
    pub expected: podrank_expectations,
    /// The buffer for the keys of deletions.
    pub key_storage: [podrank_pod_key; ROOM],
}

fn key(key: &PodKey) -> podrank_pod_key {
    podrank_pod_key { bytes: *key }
}

fn nanos(time: Time) -> i64 {
    time.unix_nanos().unwrap_or(PODRANK_TIME_UNSET)
}

impl Controller for C {
    type Expectations = Expectations;
    type SlowStart = podrank_slow_start;

    fn plan(&self, set: &SetState, burst_replicas: u32) -> Plan {
        let (mut creations, mut deletions) = (77, 77);
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let state = podrank_plan_state {
            desired: set.desired,
            active: set.active,
            burst_replicas,
            flags: flag(set.is_satisfied, PODRANK_PLAN_SATISFIED)
                | flag(set.is_being_deleted, PODRANK_PLAN_BEING_DELETED),
        };
        done(call!(podrank_plan(&raw const state, out(creations), out(deletions))));
        match (creations, deletions) {
            (0, 0) => Plan::Nothing,
            (count, 0) => Plan::Create(count),
            (0, count) => Plan::Delete(count),
            both => panic!("{both:?}"),
        }
    }

    fn slow_start(&self, count: u32) -> podrank_slow_start {
        let mut start = podrank_slow_start { batch: 77, missing: 77 };
        done(call!(podrank_slow_start_begin(count, out(start))));
        start
    }

    fn progress(&self, start: &podrank_slow_start) -> (u32, u32) {
        (start.batch, start.missing)
    }

    fn report(&self, start: &mut podrank_slow_start, failures: u32) {
        done(call!(podrank_slow_start_report(start, failures)));
    }

    fn expectations(&self) -> Expectations {
        Expectations { expected: NONE, key_storage: [podrank_pod_key { bytes: [0; 16] }; ROOM] }
    }

    fn expect_creations(&self, expectations: &mut Expectations, count: u32, now: Time) {
        done(call!(podrank_expectations_expect_creations(out(expectations.expected), count, nanos(now))));
    }

    fn expect_deletions(&self, expectations: &mut Expectations, keys: &[PodKey], now: Time) -> bool {
        let mut keys: Vec<_> = keys.iter().map(key).collect();
        let Expectations { expected, key_storage } = expectations;
        let status =
            call!(podrank_expectations_expect_deletions(expected, list(key_storage), list(keys), nanos(now)));
        assert!([PODRANK_OK, PODRANK_ERR_KEYS_FULL].contains(&status));
        status == PODRANK_OK
    }

    fn creations_observed(&self, expectations: &mut Expectations, count: u32) {
        done(call!(podrank_expectations_creations_observed(out(expectations.expected), count)));
    }

    fn deletion_observed(&self, expectations: &mut Expectations, deleted: &PodKey) -> bool {
        let Expectations { expected, key_storage } = expectations;
        let mut counted = 77;
        let deleted = key(deleted);
        done(call!(podrank_expectations_deletion_observed(
            expected,
            list(key_storage),
            &deleted,
            out(counted)
        )));
        [false, true][usize::try_from(counted).unwrap()]
    }

    fn are_satisfied(&self, expectations: &Expectations, now: Time) -> bool {
        let mut satisfied = 77;
        done(call!(podrank_expectations_satisfied(&expectations.expected, nanos(now), out(satisfied))));
        [false, true][usize::try_from(satisfied).unwrap()]
    }

    fn counts(&self, expectations: &Expectations) -> (i64, i64) {
        (expectations.expected.creations, expectations.expected.deletions)
    }

    fn clear(&self, expectations: &mut Expectations) {
        expectations.expected = NONE;
    }

    fn availability(&self, pods: &[Pod], min_ready_seconds: u32, now: Time) -> (usize, usize, Option<u64>) {
        let mut pods: Vec<_> = pods.iter().map(record).collect();
        let (mut ready, mut available, mut next_check_after) = (77, 77, 77);
        done(call!(podrank_availability(
            list(pods),
            min_ready_seconds,
            nanos(now),
            out(ready),
            out(available),
            out(next_check_after)
        )));
        (ready, available, Some(next_check_after).filter(|nanos| *nanos > 0))
    }
}

//! The laws for a controller's decisions, in whatever language they are called: a trait for one way to call them, a
//! second, naive implementation, and the checks that both agree.

use podrank::controller::{
    Availability, EXPECTATIONS_TIMEOUT_NANOS, Expectations, Plan, PodKey, SetState, SlowStart, availability,
    plan,
};
use podrank::{Pod, Time};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::HashSet;

/// The capacity, in keys, of the expectations of a [`Controller`].
pub const ROOM: usize = 16;

/// One way to call the decisions.
pub trait Controller {
    /// The expectations of one set, with a capacity of [`ROOM`] keys.
    type Expectations;
    /// A slow start in progress.
    type SlowStart;

    /// Returns what one sync does.
    fn plan(&self, set: &SetState, burst_replicas: u32) -> Plan;

    /// Starts to create `count` pods.
    fn slow_start(&self, count: u32) -> Self::SlowStart;
    /// Returns the size of the next batch, and the number of pods not yet created.
    fn progress(&self, start: &Self::SlowStart) -> (u32, u32);
    /// Reports how many creations in the batch failed.
    fn report(&self, start: &mut Self::SlowStart, failures: u32);

    /// Returns expectations of which none are set.
    fn expectations(&self) -> Self::Expectations;
    /// Expects `count` creations.
    fn expect_creations(&self, expectations: &mut Self::Expectations, count: u32, now: Time);
    /// Expects these deletions. Returns false if there are more keys than the capacity.
    fn expect_deletions(&self, expectations: &mut Self::Expectations, keys: &[PodKey], now: Time) -> bool;
    /// Reports `count` creations as observed.
    fn creations_observed(&self, expectations: &mut Self::Expectations, count: u32);
    /// Reports a deletion as observed. Returns whether it was expected.
    fn deletion_observed(&self, expectations: &mut Self::Expectations, key: &PodKey) -> bool;
    /// Returns whether the set may act.
    fn are_satisfied(&self, expectations: &Self::Expectations, now: Time) -> bool;
    /// Returns the numbers of pending creations and deletions.
    fn counts(&self, expectations: &Self::Expectations) -> (i64, i64);
    /// Removes all expectations.
    fn clear(&self, expectations: &mut Self::Expectations);

    /// Returns the number of ready pods, the number of available pods, and the nanoseconds after which to look again.
    fn availability(&self, pods: &[Pod], min_ready_seconds: u32, now: Time) -> (usize, usize, Option<u64>);
}

impl Controller for crate::Core {
    type Expectations = Expectations<ROOM>;
    type SlowStart = SlowStart;

    fn plan(&self, set: &SetState, burst_replicas: u32) -> Plan {
        plan(set, burst_replicas)
    }

    fn slow_start(&self, count: u32) -> SlowStart {
        SlowStart::new(count)
    }

    fn progress(&self, start: &SlowStart) -> (u32, u32) {
        (start.next_batch(), start.missing())
    }

    fn report(&self, start: &mut SlowStart, failures: u32) {
        start.report(failures);
    }

    fn expectations(&self) -> Self::Expectations {
        Expectations::new()
    }

    fn expect_creations(&self, expectations: &mut Self::Expectations, count: u32, now: Time) {
        expectations.expect_creations(count, now);
    }

    fn expect_deletions(&self, expectations: &mut Self::Expectations, keys: &[PodKey], now: Time) -> bool {
        expectations.expect_deletions(keys, now).is_ok()
    }

    fn creations_observed(&self, expectations: &mut Self::Expectations, count: u32) {
        expectations.creations_observed(count);
    }

    fn deletion_observed(&self, expectations: &mut Self::Expectations, key: &PodKey) -> bool {
        expectations.deletion_observed(key)
    }

    fn are_satisfied(&self, expectations: &Self::Expectations, now: Time) -> bool {
        expectations.are_satisfied(now)
    }

    fn counts(&self, expectations: &Self::Expectations) -> (i64, i64) {
        (expectations.creations(), expectations.deletions())
    }

    fn clear(&self, expectations: &mut Self::Expectations) {
        expectations.clear();
    }

    fn availability(&self, pods: &[Pod], min_ready_seconds: u32, now: Time) -> (usize, usize, Option<u64>) {
        let each = || pods.iter().map(|pod| availability(pod, min_ready_seconds, now));
        (
            each().filter(|pod| pod.is_ready()).count(),
            each().filter(|pod| *pod == Availability::Available).count(),
            each().filter_map(Availability::next_check_after).min(),
        )
    }
}

/// Kubernetes' `UIDTrackingControllerExpectations` for one controller, line by line: a store of counts and a store of
/// keys, each with one entry or none.
#[derive(Clone, Debug, Default)]
pub struct Naive {
    counts: Option<(i128, i128, Time)>,
    keys: HashSet<PodKey>,
}

impl Naive {
    /// `ExpectCreations`.
    pub fn expect_creations(&mut self, count: u32, now: Time) {
        self.counts = Some((count.into(), 0, now));
    }

    /// `ExpectDeletions`.
    pub fn expect_deletions(&mut self, keys: &[PodKey], now: Time) {
        self.keys = keys.iter().copied().collect();
        self.counts = Some((0, self.keys.len().try_into().unwrap(), now));
    }

    /// `CreationObserved`, `count` times.
    pub fn creations_observed(&mut self, count: u32) {
        if let Some((creations, _, _)) = &mut self.counts {
            *creations -= i128::from(count);
        }
    }

    /// `DeletionObserved`. Returns whether it lowered the count.
    pub fn deletion_observed(&mut self, key: &PodKey) -> bool {
        let is_known = self.keys.remove(key);
        if let Some((_, deletions, _)) = self.counts.as_mut().filter(|_| is_known) {
            *deletions -= 1;
        }
        is_known
    }

    /// `SatisfiedExpectations`.
    pub fn are_satisfied(&self, now: Time) -> bool {
        let Some((creations, deletions, since)) = self.counts else { return true };
        if creations <= 0 && deletions <= 0 {
            return true;
        }
        let (Some(now), Some(since)) = (now.unix_nanos(), since.unix_nanos()) else { return false };
        i128::from(now) - i128::from(since) > i128::from(EXPECTATIONS_TIMEOUT_NANOS)
    }

    /// Returns whether the set may act for no other reason than the timeout.
    pub fn have_timed_out(&self, now: Time) -> bool {
        let (creations, deletions) = self.counts();
        (creations > 0 || deletions > 0) && self.are_satisfied(now)
    }

    /// `GetExpectations`.
    pub fn counts(&self) -> (i64, i64) {
        let (creations, deletions, _) = self.counts.unwrap_or((0, 0, Time::UNSET));
        (creations.try_into().unwrap(), deletions.try_into().unwrap())
    }

    /// `DeleteExpectations`.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// An event in the life of expectations.
#[derive(Clone, Debug)]
pub enum Step {
    /// This number of creations is expected.
    ExpectCreations(u32),
    /// These deletions are expected.
    ExpectDeletions(Vec<PodKey>),
    /// This number of creations is observed.
    CreationsObserved(u32),
    /// This deletion is observed.
    DeletionObserved(PodKey),
    /// The set is deleted.
    Clear,
    /// The clock moves by this number of nanoseconds, back if it is negative.
    Wait(i64),
}

/// Steps that interfere with each other: few keys, and waits around the timeout.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || {
        // Keys that are equal but for one byte, which can be any of the 16.
        prop_oneof![
            (0..5_u8).prop_map(|i| [i; 16]),
            (0..16_usize, 0..3_u8).prop_map(|(place, byte)| {
                let mut key = [7; 16];
                key[place] = byte;
                key
            })
        ]
    };
    let count = prop_oneof![4 => 0..5_u32, 1 => select(vec![500, u32::MAX])];
    let minutes = EXPECTATIONS_TIMEOUT_NANOS;
    let wait =
        select(vec![0, 1, -1, minutes - 1, minutes, minutes + 1, minutes / 2, -minutes, i64::MAX, i64::MIN]);
    let step = prop_oneof![
        2 => count.clone().prop_map(Step::ExpectCreations),
        2 => prop::collection::vec(key(), 0..6).prop_map(Step::ExpectDeletions),
        1 => prop::collection::vec(key(), ROOM - 1..ROOM + 3).prop_map(Step::ExpectDeletions),
        3 => count.prop_map(Step::CreationsObserved),
        6 => key().prop_map(Step::DeletionObserved),
        1 => Just(Step::Clear),
        2 => wait.prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 0..40)
}

/// After every step, an implementation has the same counts as the naive one, and gives the same answer at every time.
pub fn expectations_are_upstreams(controller: &impl Controller, start: Time, steps: &[Step]) {
    let (mut ours, mut naive) = (controller.expectations(), Naive::default());
    let mut now = start;
    for step in steps {
        match step {
            Step::ExpectCreations(count) => {
                controller.expect_creations(&mut ours, *count, now);
                naive.expect_creations(*count, now);
            }
            Step::ExpectDeletions(keys) => {
                let fits = controller.expect_deletions(&mut ours, keys, now);
                assert_eq!(fits, keys.len() <= ROOM, "room for {} keys", keys.len());
                if fits {
                    naive.expect_deletions(keys, now);
                }
            }
            Step::CreationsObserved(count) => {
                controller.creations_observed(&mut ours, *count);
                naive.creations_observed(*count);
            }
            Step::DeletionObserved(key) => {
                let counted = controller.deletion_observed(&mut ours, key);
                assert_eq!(counted, naive.deletion_observed(key), "{key:?} of {steps:?}");
            }
            Step::Clear => {
                controller.clear(&mut ours);
                naive.clear();
            }
            Step::Wait(nanos) => {
                now = now.unix_nanos().map_or(now, |now| Time::from_unix_nanos(now.saturating_add(*nanos)));
            }
        }
        assert_eq!(controller.counts(&ours), naive.counts(), "after {step:?} of {steps:?}");
        for later in
            [0, 1, EXPECTATIONS_TIMEOUT_NANOS - 1, EXPECTATIONS_TIMEOUT_NANOS, EXPECTATIONS_TIMEOUT_NANOS + 1]
        {
            let then = now.unix_nanos().map_or(now, |now| Time::from_unix_nanos(now.saturating_add(later)));
            for then in [then, Time::UNSET, Time::MIN, Time::MAX] {
                let satisfied = controller.are_satisfied(&ours, then);
                assert_eq!(satisfied, naive.are_satisfied(then), "at {then:?} after {step:?} of {steps:?}");
            }
        }
    }
}

/// Keys are compared in all of their 16 bytes: a key that differs in one bit is another key.
pub fn every_bit_of_a_key_counts(controller: &impl Controller, now: Time) {
    let key: PodKey = std::array::from_fn(|place| u8::try_from(0x35 ^ (place * 0x11)).unwrap());
    for bit in 0..128 {
        let other = (u128::from_be_bytes(key) ^ 1 << bit).to_be_bytes();
        let mut ours = controller.expectations();
        assert!(controller.expect_deletions(&mut ours, &[key], now));
        assert!(!controller.deletion_observed(&mut ours, &other), "bit {bit}");
        assert_eq!(controller.counts(&ours), (0, 1), "bit {bit}");
        assert!(controller.expect_deletions(&mut ours, &[key, other, key], now));
        assert_eq!(controller.counts(&ours), (0, 2), "bit {bit}");
        assert!(controller.deletion_observed(&mut ours, &other), "bit {bit}");
        assert!(controller.deletion_observed(&mut ours, &key), "bit {bit}");
        assert!(controller.are_satisfied(&ours, now), "bit {bit}");
    }
}

/// Kubernetes' `slowStartBatch`: calls `create` up to `count` times. Returns how many calls succeeded, and the batches.
fn slow_start_batches(count: u32, mut create: impl FnMut() -> bool) -> (u32, Vec<u32>) {
    let (mut remaining, mut successes, mut batches) = (count, 0, vec![]);
    let mut batch = remaining.min(1);
    while batch > 0 {
        batches.push(batch);
        let failures = (0..batch).filter(|_| !create()).count();
        successes += batch - u32::try_from(failures).unwrap();
        if failures > 0 {
            break;
        }
        remaining -= batch;
        batch = (2 * batch).min(remaining);
    }
    (successes, batches)
}

/// An implementation makes the same batches as Kubernetes with the same outcome, if the creations for which `fails`
/// returns true fail. Creations are numbered from 0.
pub fn slow_start_is_upstreams(controller: &impl Controller, count: u32, fails: impl Fn(u32) -> bool) {
    let creations = || {
        let (mut number, fails) = (0, &fails);
        move || {
            number += 1;
            !fails(number - 1)
        }
    };
    let (successes, batches) = slow_start_batches(count, creations());

    let mut create = creations();
    let mut start = controller.slow_start(count);
    for &expected in &batches {
        let (batch, missing) = controller.progress(&start);
        assert_eq!(batch, expected, "batches {batches:?} of {count}");
        assert!(batch <= missing, "{batch} of {missing}");
        let failures = (0..batch).filter(|_| !create()).count();
        controller.report(&mut start, failures.try_into().unwrap());
    }
    assert_eq!(controller.progress(&start), (0, count - successes), "batches {batches:?} of {count}");
    // After the end, nothing changes.
    for failures in [0, 1] {
        controller.report(&mut start, failures);
        assert_eq!(controller.progress(&start), (0, count - successes));
    }
}

/// The plan is the shortfall or the surplus, at most `burst_replicas` pods, and nothing while the set may not act.
pub fn plan_is_the_difference(controller: &impl Controller, set: &SetState, burst_replicas: u32) {
    let may_act = set.is_satisfied && !set.is_being_deleted;
    let difference = i64::from(set.desired) - i64::from(set.active);
    let count = u32::try_from(difference.unsigned_abs()).unwrap().min(burst_replicas);
    let expected = match difference.signum() {
        _ if !may_act || count == 0 => Plan::Nothing,
        1 => Plan::Create(count),
        _ => Plan::Delete(count),
    };
    assert_eq!(controller.plan(set, burst_replicas), expected, "{set:?}, burst {burst_replicas}");
}

/// Availability is Kubernetes' `IsPodAvailable`, computed exactly. The time to check again is the first one at which it
/// changes.
pub fn availability_is_upstreams(
    controller: &impl Controller,
    pods: &[Pod],
    min_ready_seconds: u32,
    now: Time,
) {
    use podrank::Flags;
    // The time from which each ready pod is available, in exact nanoseconds. None means never.
    let ready: Vec<_> = pods.iter().filter(|pod| pod.flags.contains(Flags::READY)).collect();
    let due = |pod: &&&Pod| {
        pod.ready_time
            .unix_nanos()
            .map(|since| i128::from(since) + i128::from(min_ready_seconds) * 1_000_000_000)
    };
    let available_at = |now: Time| {
        let is_available = |pod: &&&Pod| {
            min_ready_seconds == 0
                || due(pod).zip(now.unix_nanos()).is_some_and(|(due, now)| due <= i128::from(now))
        };
        ready.iter().filter(is_available).count()
    };
    let case = (pods, min_ready_seconds, now);
    let (ready_count, available, next_check_after) = controller.availability(pods, min_ready_seconds, now);
    assert_eq!(ready_count, ready.len(), "{case:?}");
    assert_eq!(available, available_at(now), "{case:?}");

    let left = |due: i128| now.unix_nanos().map(|now| due - i128::from(now)).filter(|left| *left > 0);
    let next =
        ready.iter().filter_map(|pod| due(&pod)).filter_map(left).min().filter(|_| min_ready_seconds > 0);
    // A wait of more than 292 years is cut.
    let cut = next.map(|left| u64::try_from(left.min(i64::MAX.into())).unwrap());
    assert_eq!(next_check_after, cut, "{case:?}");
    let then = next.zip(now.unix_nanos()).and_then(|(left, now)| now.checked_add(i64::try_from(left).ok()?));
    if let Some(then) = then {
        let at = |nanos| controller.availability(pods, min_ready_seconds, Time::from_unix_nanos(nanos)).1;
        assert!(at(then) > available && at(then - 1) == available, "{case:?}");
    }
}

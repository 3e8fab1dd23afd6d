//! The other decisions of a controller: plan, slow start, expectations, availability.

use crate::layout::{layout, same_layout};
use crate::memory::{InOut, Input, Output, apart};
use crate::options::time;
use crate::record::{podrank_pod, valid};
use crate::status::{Error, PODRANK_ERR_FLAGS, run};
use podrank::Pod;
use podrank::controller::{
    Availability, BURST_REPLICAS, EXPECTATIONS_TIMEOUT_NANOS, KeysFull, Plan, PodKey, SetState, SlowStart,
    availability, plan,
};
use podrank::ffi::Expected;

/// The most pods that kube-controller-manager creates or deletes in one sync.
pub const PODRANK_PLAN_BURST_REPLICAS: u32 = 500;
/// How long a set waits at most for what it expects to be observed, in nanoseconds: 5 minutes.
pub const PODRANK_EXPECTATIONS_TIMEOUT: i64 = 300_000_000_000;

/// What podrank_plan reads of a set. Start from PODRANK_PLAN_STATE_INIT, which has the burst of Kubernetes and is not
/// satisfied.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_plan_state {
    /// How many pods the set should have: spec.replicas.
    pub desired: u32,
    /// How many active pods it has: those that are neither Succeeded nor Failed and have no metadata.deletionTimestamp.
    pub active: u32,
    /// The most pods that one sync creates or deletes.
    pub burst_replicas: u32,
    /// Any of PODRANK_PLAN_SATISFIED and _BEING_DELETED.
    pub flags: u32,
}

/// podrank_expectations_satisfied said so, before you listed the pods. A list from before that call could lack changes that
/// have been observed.
pub const PODRANK_PLAN_SATISFIED: u32 = 1;
/// The set is being deleted: it has a metadata.deletionTimestamp.
pub const PODRANK_PLAN_BEING_DELETED: u32 = 2;

/// The state of a slow start, in which you create pods in batches of 1, 2, 4 and so on, until a creation in a
/// batch fails. Only podrank_slow_start_begin and _report may write it. You may read it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_slow_start {
    /// How many pods to create next, in parallel if you like. 0 at the end.
    pub batch: u32,
    /// How many pods have not been created so far, because they failed or were not tried. At the end, report
    /// this number to podrank_expectations_creations_observed, because no one will observe those pods.
    pub missing: u32,
}

/// What one set expects to observe. Start from PODRANK_EXPECTATIONS_INIT, all zeros, which expects nothing,
/// and reset it to that when the set is gone. If events and syncs run on different threads, protect all calls
/// with a lock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_expectations {
    /// When expectations were set, in nanoseconds.
    pub since: i64,
    /// How many creations are pending. Negative if more were observed than expected.
    pub creations: i64,
    /// How many deletions are pending. Negative if more were observed than expected.
    pub deletions: i64,
    /// How many keys are now in key_storage, the buffer of podrank_expectations_expect_deletions.
    pub keys: u32,
    /// 0 if no expectations are set.
    pub is_set: u32,
}

/// Identifies a pod of a set while it is being deleted: 16 bytes of your choice, such as the pod's UID.
/// Kubernetes uses namespace and name.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_pod_key {
    /// The bytes.
    pub bytes: [u8; 16],
}

const _: () = {
    assert!(PODRANK_PLAN_BURST_REPLICAS == BURST_REPLICAS);
    assert!(PODRANK_EXPECTATIONS_TIMEOUT == EXPECTATIONS_TIMEOUT_NANOS);
};

// The core asserts the same of its own.
same_layout!(podrank_slow_start, SlowStart, 8:);
layout!(podrank_slow_start, 8: 0 batch, 4 missing);
same_layout!(podrank_expectations, Expected, 32:);
layout!(podrank_expectations, 32: 0 since, 8 creations, 16 deletions, 24 keys, 28 is_set);
same_layout!(podrank_pod_key, PodKey, 16:);

/// Plans one sync of a set: how many pods to create (the shortfall) or to delete (the surplus), at most
/// burst_replicas of them. The next sync does the rest. Writes the numbers to creations and deletions, of which at least one
/// is 0. Both are 0 unless the set is satisfied, and if it is being deleted.
///
/// If the flags have a bit that is unknown: PODRANK_ERR_FLAGS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_plan(
    state: *const podrank_plan_state,
    creations: *mut u32,
    deletions: *mut u32,
) -> i32 {
    run(|| {
        let state = Input::one(state)?;
        let (creations, deletions) = (Output::one(creations)?, Output::one(deletions)?);
        apart(&[creations.span(), deletions.span()], &[state.span()])?;
        let (mut create, mut delete) = (0, 0);
        // SAFETY: checked above; the rest is promised in the header.
        for state in unsafe { state.read() } {
            let &podrank_plan_state { desired, active, burst_replicas, flags } = state;
            if flags & !(PODRANK_PLAN_SATISFIED | PODRANK_PLAN_BEING_DELETED) != 0 {
                return Err(Error(PODRANK_ERR_FLAGS));
            }
            let mut set = SetState::new(desired, active);
            set.is_satisfied = flags & PODRANK_PLAN_SATISFIED != 0;
            set.is_being_deleted = flags & PODRANK_PLAN_BEING_DELETED != 0;
            match plan(&set, burst_replicas) {
                Plan::Nothing => {}
                Plan::Create(count) => create = count,
                Plan::Delete(count) => delete = count,
            }
        }
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            creations.set(create);
            deletions.set(delete);
        }
        Ok(())
    })
}

/// Begins a slow start for count pods: writes its state, with the size of the first batch, to start. You
/// create the pods:
///
///     podrank_expectations_expect_creations(&expectations, count, now);
///     podrank_slow_start_begin(count, &start);
///     while (start.batch > 0)
///         podrank_slow_start_report(&start, count_of_failures_when_creating(start.batch));
///     podrank_expectations_creations_observed(&expectations, start.missing);
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_slow_start_begin(count: u32, start: *mut podrank_slow_start) -> i32 {
    run(|| {
        let start = Output::one(start.cast::<SlowStart>())?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe { start.set(SlowStart::new(count)) };
        Ok(())
    })
}

/// Changes one value.
///
/// # Safety
/// As for [`InOut::all`].
unsafe fn change<T>(value: *mut T, change: impl FnMut(&mut T)) -> i32 {
    run(|| {
        let value = InOut::one(value)?;
        // SAFETY: the caller's.
        unsafe { value.all() }.iter_mut().for_each(change);
        Ok(())
    })
}

/// Reports how many pods of the batch could not be created. A number above the batch counts as the whole
/// batch. A batch with a failure is the last. If a creation is rejected because the namespace is being
/// terminated, that is not a failure, and the creation stays pending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_slow_start_report(start: *mut podrank_slow_start, failures: u32) -> i32 {
    // SAFETY: promised in the header.
    unsafe { change(start.cast::<SlowStart>(), |start| start.report(failures)) }
}

/// Expects count creations and no deletion. Call it before you create pods. It replaces all earlier
/// expectations, so the number of pending deletions becomes 0. As in Kubernetes, however, their keys are not
/// removed: if you report one of them later, the number falls below zero, which counts as satisfied.
///
/// now is in nanoseconds. Only differences count, so any monotonic clock works, if all calls use the same
/// one. With PODRANK_TIME_UNSET there is no timeout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_expectations_expect_creations(
    expectations: *mut podrank_expectations,
    count: u32,
    now: i64,
) -> i32 {
    // SAFETY: promised in the header.
    unsafe { change(expectations.cast::<Expected>(), |expected| expected.expect_creations(count, time(now))) }
}

/// Expects the deletion of the pods with these keys and no creation. Call it before you delete pods. It
/// replaces all earlier expectations. A duplicate key counts once. Each key is compared with those before it,
/// so the time grows with the square of keys_len. For the parameter now, see podrank_expectations_expect_creations.
///
/// key_storage is your buffer for the keys. Pass the same one in every call for a set. Only podrank_expectations_expect_deletions
/// and podrank_expectations_deletion_observed may write it. It needs one element per pod that a plan may delete, and need
/// not be initialised. If keys_len is above key_storage_len: PODRANK_ERR_KEYS_FULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_expectations_expect_deletions(
    expectations: *mut podrank_expectations,
    key_storage: *mut podrank_pod_key,
    key_storage_len: usize,
    keys: *const podrank_pod_key,
    keys_len: usize,
    now: i64,
) -> i32 {
    run(|| {
        let expectations = InOut::one(expectations.cast::<Expected>())?;
        let key_storage = Output::new(key_storage.cast::<PodKey>(), key_storage_len)?;
        let keys = Input::new(keys.cast::<PodKey>(), keys_len)?;
        apart(&[expectations.span(), key_storage.span()], &[keys.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        let (expectations, keys) = unsafe { (expectations.all(), keys.read()) };
        if keys.len() > key_storage.len() {
            return Err(KeysFull.into());
        }
        // SAFETY: as above.
        let key_storage = unsafe { key_storage.filled(keys.len(), [0; 16]) };
        for expected in expectations {
            expected.expect_deletions(key_storage, keys, time(now))?;
        }
        Ok(())
    })
}

/// Records count creations as observed. Does nothing if no expectations are set.
///
/// Report 1 when you first observe a pod that this set controls. After a slow start, also report
/// podrank_slow_start.missing, the number of pods that were not created: you will never observe them. Do not
/// report a pod twice, nor one that the set adopts. A pod that is already being deleted when you first
/// observe it is a deletion, not a creation. The number of pending creations may go below zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_expectations_creations_observed(
    expectations: *mut podrank_expectations,
    count: u32,
) -> i32 {
    // SAFETY: promised in the header.
    unsafe { change(expectations.cast::<Expected>(), |expected| expected.creations_observed(count)) }
}

/// Counts the deletion of the pod with this key as observed. Stores 1 in *counted if it was pending. If not,
/// stores 0, and nothing else changes, so you may report a deletion as often as you observe it.
///
/// Report a pod that is being deleted, is gone or could not be deleted, even if another set controls it by
/// now.
/// The time grows with the number of pending keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_expectations_deletion_observed(
    expectations: *mut podrank_expectations,
    key_storage: *mut podrank_pod_key,
    key_storage_len: usize,
    key: *const podrank_pod_key,
    counted: *mut i32,
) -> i32 {
    run(|| {
        let expectations = InOut::one(expectations.cast::<Expected>())?;
        let key_storage = InOut::new(key_storage.cast::<PodKey>(), key_storage_len)?;
        let key = Input::one(key.cast::<PodKey>())?;
        let counted = Output::one(counted)?;
        apart(&[expectations.span(), key_storage.span(), counted.span()], &[key.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let seen = expectations.all().first_mut().zip(key.read().first());
            counted.set(match seen {
                // Beyond the keys, key_storage need not be initialised.
                Some((expected, key)) => {
                    expected.deletion_observed(key_storage.start(expected.keys()), key).into()
                }
                None => 0,
            });
        }
        Ok(())
    })
}

/// Stores in *satisfied whether the set may act. It is 1 if no expectations are set, if nothing is pending, or if they were
/// set more than PODRANK_EXPECTATIONS_TIMEOUT nanoseconds before now, which is of the clock by which they were set.
/// Otherwise it is 0. Check again after that time, because an event can be lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_expectations_satisfied(
    expectations: *const podrank_expectations,
    now: i64,
    satisfied: *mut i32,
) -> i32 {
    run(|| {
        let expectations = Input::one(expectations.cast::<Expected>())?;
        let satisfied = Output::one(satisfied)?;
        apart(&[satisfied.span()], &[expectations.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let expected = expectations.read();
            satisfied.set(expected.iter().all(|expected| expected.are_satisfied(time(now))).into());
        }
        Ok(())
    })
}

/// Counts the ready and the available pods. A pod is available if it has been ready for at least
/// min_ready_seconds (spec.minReadySeconds) at now, which is in nanoseconds of the clock of the pods' times. If
/// min_ready_seconds is 0, every ready pod is available. Otherwise, a pod without a ready time is not
/// available. Nor is any pod if the argument now is PODRANK_TIME_UNSET.
///
/// Stores in *next_check_after the number of nanoseconds until the next pod becomes available if it stays ready, or
/// 0 if there is no pod to wait for. Round it up to your timer's unit.
/// The time grows with pods_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_availability(
    pods: *const podrank_pod,
    pods_len: usize,
    min_ready_seconds: u32,
    now: i64,
    ready: *mut usize,
    available: *mut usize,
    next_check_after: *mut u64,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let (ready, available) = (Output::one(ready)?, Output::one(available)?);
        let next_check_after = Output::one(next_check_after)?;
        apart(&[ready.span(), available.span(), next_check_after.span()], &[pods.span()])?;
        // Longer than any wait.
        let never = u64::MAX;
        let (mut ready_count, mut available_count, mut soonest) = (0_usize, 0_usize, never);
        // SAFETY: checked above; the rest is promised in the header.
        for pod in valid(unsafe { pods.read() })? {
            let pod = availability(pod, min_ready_seconds, time(now));
            ready_count = ready_count.wrapping_add(pod.is_ready().into());
            available_count = available_count.wrapping_add((pod == Availability::Available).into());
            soonest = soonest.min(pod.next_check_after().unwrap_or(never));
        }
        // SAFETY: as above.
        unsafe {
            ready.set(ready_count);
            available.set(available_count);
            next_check_after.set(if soonest == never { 0 } else { soonest });
        }
        Ok(())
    })
}

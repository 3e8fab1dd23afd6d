//! The decisions of a controller: plan, slow start, expectations, availability.

use crate::memory::{InOut, Input, Output, apart};
use crate::options::time;
use crate::record::{podrank_pod, sound};
use crate::status::run;
use core::mem::{align_of, offset_of, size_of};
use podrank::Pod;
use podrank::controller::{
    Availability, BURST_REPLICAS, EXPECTATIONS_TIMEOUT_NANOS, KeysFull, Plan, PodKey, SetState, SlowStart,
    availability, plan,
};
use podrank::ffi::Expected;

/// How many pods kube-controller-manager creates or deletes in one sync at most.
pub const PODRANK_BURST_REPLICAS: u32 = 500;
/// How long expectations are waited for, in nanoseconds: 5 minutes.
pub const PODRANK_EXPECTATIONS_TIMEOUT: i64 = 300_000_000_000;

/// Creating pods in batches of 1, 2, 4 and so on, until one has a failure. podrank_slow_start_begin and _report write
/// it; read it as you like.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_slow_start {
    /// How many pods to create next, at once if you like; 0 at the end.
    pub batch: u32,
    /// How many pods have not been created: failed or not tried, so far. At the end, nobody will ever see them: hand
    /// the number to podrank_creations_observed.
    pub missing: u32,
}

/// What one set expects to see. PODRANK_EXPECTATIONS_INIT, all zeros, is none; make it that again when the set is gone. Where
/// events come on another thread than syncs, all calls with it need a lock of yours.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_expectations {
    /// When they were set.
    pub since: i64,
    /// How many creations are yet to be seen; negative if more were seen than expected.
    pub creations: i64,
    /// How many deletions are yet to be seen; negative if more were seen than expected.
    pub deletions: i64,
    /// How many keys stand in the room.
    pub keys: u32,
    /// 0 if none are set.
    pub is_set: u32,
}

/// What tells the pods of a set apart while they are being deleted: 16 bytes of your choice. The pod's UID does well;
/// Kubernetes takes namespace and name.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_pod_key {
    /// The bytes.
    pub bytes: [u8; 16],
}

const _: () = {
    assert!(PODRANK_BURST_REPLICAS == BURST_REPLICAS);
    assert!(PODRANK_EXPECTATIONS_TIMEOUT == EXPECTATIONS_TIMEOUT_NANOS);

    // The core asserts the same of its own.
    assert!(size_of::<podrank_slow_start>() == size_of::<SlowStart>() && size_of::<SlowStart>() == 8);
    assert!(align_of::<podrank_slow_start>() == align_of::<SlowStart>());
    assert!(offset_of!(podrank_slow_start, batch) == 0);
    assert!(offset_of!(podrank_slow_start, missing) == 4);

    assert!(size_of::<podrank_expectations>() == size_of::<Expected>() && size_of::<Expected>() == 32);
    assert!(align_of::<podrank_expectations>() == align_of::<Expected>());
    assert!(offset_of!(podrank_expectations, since) == 0);
    assert!(offset_of!(podrank_expectations, creations) == 8);
    assert!(offset_of!(podrank_expectations, deletions) == 16);
    assert!(offset_of!(podrank_expectations, keys) == 24);
    assert!(offset_of!(podrank_expectations, is_set) == 28);

    assert!(size_of::<podrank_pod_key>() == size_of::<PodKey>());
    assert!(align_of::<podrank_pod_key>() == align_of::<PodKey>());
};

/// What one sync of a set does: creates so many pods or deletes so many, or writes 0 to both. wanted is spec.replicas,
/// active the number of its active pods: neither Succeeded nor Failed nor with a metadata.deletionTimestamp. As many are
/// created or deleted as are missing or too many, and burst_replicas at most (PODRANK_BURST_REPLICAS in Kubernetes); the
/// next sync goes on.
///
/// Nothing is done while satisfied is 0 (podrank_expectations_satisfied, asked before you list the pods: else the list may
/// be older than the answer), nor if being_deleted is not 0: the set is being deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_plan(
    wanted: u32,
    active: u32,
    burst_replicas: u32,
    satisfied: i32,
    being_deleted: i32,
    creations: *mut u32,
    deletions: *mut u32,
) -> i32 {
    run(|| {
        let (creations, deletions) = (Output::one(creations)?, Output::one(deletions)?);
        apart(&[creations.span(), deletions.span()], &[])?;
        let mut set = SetState::new(wanted, active);
        set.is_satisfied = satisfied != 0;
        set.is_being_deleted = being_deleted != 0;
        let (create, delete) = match plan(&set, burst_replicas) {
            Plan::Nothing => (0, 0),
            Plan::Create(count) => (count, 0),
            Plan::Delete(count) => (0, count),
        };
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            creations.set(create);
            deletions.set(delete);
        }
        Ok(())
    })
}

/// Starts to create count pods:
///
///     podrank_expect_creations(&expectations, count, now);
///     podrank_slow_start_begin(count, &start);
///     while (start.batch > 0)
///         podrank_slow_start_report(&start, count_of_failures_when_creating(start.batch));
///     podrank_creations_observed(&expectations, start.missing);
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_slow_start_begin(count: u32, start: *mut podrank_slow_start) -> i32 {
    run(|| {
        let start = Output::one(start.cast::<SlowStart>())?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe { start.set(SlowStart::new(count)) };
        Ok(())
    })
}

/// Says how many pods of the batch could not be created; more than the batch has count as all of it. A batch with a
/// failure is the last. A refusal because the namespace is being terminated is no failure: that pod stays expected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_slow_start_report(start: *mut podrank_slow_start, failures: u32) -> i32 {
    run(|| {
        let start = InOut::one(start.cast::<SlowStart>())?;
        // SAFETY: checked above; the rest is promised in the header.
        for start in unsafe { start.all() } {
            start.report(failures);
        }
        Ok(())
    })
}

/// Expects so many creations and no deletion, from now on: call it before you create. Replaces what was expected, but for
/// the keys of deletions not yet seen: seen now, they lower the number of deletions below zero.
///
/// now is nanoseconds since any moment you like, the same one in all calls: only differences count. PODRANK_TIME_UNSET
/// makes expectations wait for ever.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_expect_creations(
    expectations: *mut podrank_expectations,
    count: u32,
    now: i64,
) -> i32 {
    run(|| {
        let expectations = InOut::one(expectations.cast::<Expected>())?;
        // SAFETY: checked above; the rest is promised in the header.
        for expected in unsafe { expectations.all() } {
            expected.expect_creations(count, time(now));
        }
        Ok(())
    })
}

/// Expects the deletion of the pods with these keys, each once, and no creation, from now on: call it before you delete.
/// Replaces what was expected.
///
/// room is memory for the keys, yours and the same in all calls for one set; only podrank_expect_deletions and
/// podrank_deletion_observed write it. PODRANK_ERR_KEYS_FULL if there are more keys than it has places; one
/// for each pod that a plan may delete is enough. Each key is compared with those before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_expect_deletions(
    expectations: *mut podrank_expectations,
    room: *mut podrank_pod_key,
    room_len: usize,
    keys: *const podrank_pod_key,
    keys_len: usize,
    now: i64,
) -> i32 {
    run(|| {
        let expectations = InOut::one(expectations.cast::<Expected>())?;
        let room = Output::new(room.cast::<PodKey>(), room_len)?;
        let keys = Input::new(keys.cast::<PodKey>(), keys_len)?;
        apart(&[expectations.span(), room.span()], &[keys.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        let (expectations, keys) = unsafe { (expectations.all(), keys.read()) };
        if keys.len() > room.len() {
            return Err(KeysFull.into());
        }
        // SAFETY: as above.
        let room = unsafe { room.filled(keys.len(), [0; 16]) };
        for expected in expectations {
            expected.expect_deletions(room, keys, time(now))?;
        }
        Ok(())
    })
}

/// Takes count creations for seen: 1 for each pod that is first seen with this set as its controller, and as many as could
/// not be created and never will be seen. Not for an orphan that the set adopts, nor for a pod that is being deleted when
/// it is first seen: that is a deletion. Do not report one pod twice. The number may go below zero. Does nothing if no
/// expectations are set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_creations_observed(
    expectations: *mut podrank_expectations,
    count: u32,
) -> i32 {
    run(|| {
        let expectations = InOut::one(expectations.cast::<Expected>())?;
        // SAFETY: checked above; the rest is promised in the header.
        for expected in unsafe { expectations.all() } {
            expected.creations_observed(count);
        }
        Ok(())
    })
}

/// Takes the deletion of the pod with this key for seen: it is being deleted, or gone, or could not be deleted, whoever
/// controls it by now. Writes 1 to counted if it was expected and not seen before; else 0, and nothing else changes.
/// Report a deletion as often as you hear of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_deletion_observed(
    expectations: *mut podrank_expectations,
    room: *mut podrank_pod_key,
    room_len: usize,
    key: *const podrank_pod_key,
    counted: *mut i32,
) -> i32 {
    run(|| {
        let expectations = InOut::one(expectations.cast::<Expected>())?;
        let room = InOut::new(room.cast::<PodKey>(), room_len)?;
        let key = Input::one(key.cast::<PodKey>())?;
        let counted = Output::one(counted)?;
        apart(&[expectations.span(), room.span(), counted.span()], &[key.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let seen = expectations.all().first_mut().zip(key.read().first());
            counted.set(match seen {
                // Beyond the keys, the room need not be initialised.
                Some((expected, key)) => expected.deletion_observed(room.start(expected.keys()), key).into(),
                None => 0,
            });
        }
        Ok(())
    })
}

/// Whether the set may act: writes 1 if no expectations are set, if neither number is above 0, or if they were set more
/// than PODRANK_EXPECTATIONS_TIMEOUT nanoseconds ago; else 0. An event can be lost: if it is 0, ask again after that time, too.
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

/// How many of the pods are ready and how many available: ready for min_ready_seconds (spec.minReadySeconds) or longer at
/// this now, in nanoseconds since the Unix epoch. With min_ready_seconds 0, every ready pod is available; else a pod without
/// a ready time is not, nor is any with PODRANK_TIME_UNSET for now.
///
/// Writes to look_again in how many nanoseconds the next of them is available if it stays ready, and not a nanosecond
/// earlier: round it up to what your timer knows. 0 if there is none to wait for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_availability(
    pods: *const podrank_pod,
    pods_len: usize,
    min_ready_seconds: u32,
    now: i64,
    ready: *mut usize,
    available: *mut usize,
    look_again: *mut u64,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let (ready, available) = (Output::one(ready)?, Output::one(available)?);
        let look_again = Output::one(look_again)?;
        apart(&[ready.span(), available.span(), look_again.span()], &[pods.span()])?;
        // No wait takes longer.
        let never = u64::MAX;
        let (mut ready_count, mut available_count, mut soonest) = (0_usize, 0_usize, never);
        // SAFETY: checked above; the rest is promised in the header.
        for pod in sound(unsafe { pods.read() })? {
            let pod = availability(pod, min_ready_seconds, time(now));
            ready_count = ready_count.wrapping_add(pod.is_ready().into());
            available_count = available_count.wrapping_add((pod == Availability::Available).into());
            soonest = soonest.min(pod.look_again().unwrap_or(never));
        }
        // SAFETY: as above.
        unsafe {
            ready.set(ready_count);
            available.set(available_count);
            look_again.set(if soonest == never { 0 } else { soonest });
        }
        Ok(())
    })
}

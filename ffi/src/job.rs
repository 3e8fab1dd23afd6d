//! Which pods the next sync of a Job deletes.

use crate::layout::layout;
use crate::memory::{Input, Output, apart};
use crate::options::time;
use crate::outcome::podrank_outcome;
use crate::record::{podrank_pod, sound};
use crate::status::{
    Error, PODRANK_ERR_FLAGS, PODRANK_ERR_NEGATIVE, PODRANK_ERR_RESERVED, PODRANK_ERR_SHORT_BUFFER,
    PODRANK_ERR_TOO_LONG, run,
};
use core::ffi::c_char;
use podrank::Pod;
use podrank::controller::job::{
    Completion, Job, JobError, MAX_DELETIONS, Outcome, Reason, State, completion_index, next_sync,
    time_to_live_left,
};

/// How many pods one sync of a Job deletes at most, unless it deletes all.
pub const PODRANK_JOB_DELETIONS_MAX: u32 = 500;

/// What podrank_job_next reads from a Job. Start from all zeros. No number but start_time may be negative.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_job {
    /// spec.parallelism.
    pub parallelism: i32,
    /// spec.completions. Read only with PODRANK_JOB_COMPLETIONS or PODRANK_JOB_INDEXED.
    pub completions: i32,
    /// How many pods have succeeded: the sum of status.succeeded, the length of status.uncountedTerminatedPods.succeeded,
    /// and the number of succeeded pods that are not in that list but have the finalizer batch.kubernetes.io/job-tracking.
    /// For an Indexed Job, how many of its indexes have succeeded: those in status.completedIndexes and those of succeeded
    /// pods with that finalizer.
    pub succeeded: i32,
    /// Any of PODRANK_JOB_...
    pub flags: u32,
    /// How many pods have failed: the sum of status.failed, the length of status.uncountedTerminatedPods.failed, and the
    /// number of failed pods that are not in that list but have the finalizer batch.kubernetes.io/job-tracking and, for an
    /// Indexed Job, an index below the completions. Unless spec.podReplacementPolicy is Failed, pods that are being deleted
    /// and have not succeeded count as failed. Pods that a rule of spec.podFailurePolicy ignores do not count.
    pub failed: i32,
    /// spec.backoffLimit.
    pub backoff_limit: i32,
    /// If the pods' restart policy is OnFailure: the sum of the restarts of all containers, including init containers, of the
    /// running and pending pods, even of those that are being deleted. 0 for another policy.
    pub restarts: i32,
    /// How many indexes have failed: those in status.failedIndexes below the completions, and those of the pods that have
    /// failed since. 0 without spec.backoffLimitPerIndex. Read only for an Indexed Job, as is max_failed_indexes.
    pub failed_indexes: i32,
    /// spec.activeDeadlineSeconds. Read only with PODRANK_JOB_DEADLINE.
    pub active_deadline_seconds: i64,
    /// status.startTime, in nanoseconds since the Unix epoch, or PODRANK_TIME_UNSET, and then the deadline begins to count
    /// now. Read only with PODRANK_JOB_DEADLINE.
    pub start_time: i64,
    /// spec.maxFailedIndexes. Read only with PODRANK_JOB_MAX_FAILED_INDEXES.
    pub max_failed_indexes: i32,
    /// Zero.
    pub reserved: [u8; 12],
}

/// spec.completions is set.
pub const PODRANK_JOB_COMPLETIONS: u32 = 1;
/// spec.completionMode is Indexed. Then spec.completions is always set.
pub const PODRANK_JOB_INDEXED: u32 = 2;
/// spec.suspend is true.
pub const PODRANK_JOB_SUSPENDED: u32 = 4;
/// The Job fails or has met its success criteria: its condition FailureTarget or SuccessCriteriaMet is true.
pub const PODRANK_JOB_ENDING: u32 = 8;
/// The controller leaves the Job alone: its condition Complete or Failed is true, or spec.managedBy names another
/// controller.
pub const PODRANK_JOB_LEFT_ALONE: u32 = 16;
/// The Job has a metadata.deletionTimestamp.
pub const PODRANK_JOB_BEING_DELETED: u32 = 32;
/// A failed pod matches a rule of spec.podFailurePolicy whose action is FailJob.
pub const PODRANK_JOB_POD_FAILURE_POLICY: u32 = 64;
/// The succeeded indexes meet a rule of spec.successPolicy.
pub const PODRANK_JOB_SUCCESS_POLICY: u32 = 128;
/// spec.activeDeadlineSeconds is set.
pub const PODRANK_JOB_DEADLINE: u32 = 256;
/// spec.maxFailedIndexes is set.
pub const PODRANK_JOB_MAX_FAILED_INDEXES: u32 = 512;

/// What a sync does, apart from the outcome of each pod.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_job_step {
    /// How many active pods the controller wants.
    pub wanted: u32,
    /// How many pods the sync deletes.
    pub deleted: u32,
    /// How many more pods a later sync deletes, because this one deletes at most PODRANK_JOB_DELETIONS_MAX.
    pub later: u32,
    /// Zero.
    pub reserved: u32,
}

/// It stays: nothing asks for its deletion.
pub const PODRANK_JOB_REASON_KEPT: u8 = 181;
/// All pods go, because the Job is suspended.
pub const PODRANK_JOB_REASON_SUSPENDED: u8 = 184;
/// All pods go, because the Job fails or has met its success criteria: its condition FailureTarget or SuccessCriteriaMet
/// is true.
pub const PODRANK_JOB_REASON_ENDING: u8 = 185;
/// All pods go, because a failed pod makes the Job fail: a rule of its podFailurePolicy says so.
pub const PODRANK_JOB_REASON_POD_FAILURE_POLICY: u8 = 186;
/// All pods go, because the Job fails: more pods have failed than its backoffLimit.
pub const PODRANK_JOB_REASON_BACKOFF_LIMIT: u8 = 187;
/// All pods go, because the Job fails: the containers of its pods have restarted as often as its backoffLimit or, if that is
/// 0, once.
pub const PODRANK_JOB_REASON_RESTARTS: u8 = 188;
/// All pods go, because the Job fails: its activeDeadlineSeconds have passed.
pub const PODRANK_JOB_REASON_DEADLINE: u8 = 189;
/// All pods go, because the Job fails: more indexes have failed than its maxFailedIndexes.
pub const PODRANK_JOB_REASON_MAX_FAILED_INDEXES: u8 = 190;
/// All pods go, because the Job fails: each index has succeeded or failed, and at least one has failed.
pub const PODRANK_JOB_REASON_FAILED_INDEXES: u8 = 191;
/// All pods go, because the Job succeeds: the indexes that have succeeded meet its successPolicy.
pub const PODRANK_JOB_REASON_SUCCESS_POLICY: u8 = 192;
/// The Job is Indexed, but the pod has no completion index.
pub const PODRANK_JOB_REASON_NO_INDEX: u8 = 195;
/// The pod's index is not below the Job's completions.
pub const PODRANK_JOB_REASON_BEYOND_COMPLETIONS: u8 = 196;
/// Several pods have the same index. Only the one that comes last by Kubernetes' ActivePods stays.
pub const PODRANK_JOB_REASON_DUPLICATE: u8 = 197;
/// More pods run than the Job wants, and this one is among the first by Kubernetes' ActivePods.
pub const PODRANK_JOB_REASON_SURPLUS: u8 = 200;
/// It can go only in a later sync, because one sync deletes at most PODRANK_JOB_DELETIONS_MAX pods. Chance can decide which
/// of these pods go then.
pub const PODRANK_JOB_REASON_NEXT_SYNC: u8 = 203;

const _: () = {
    assert!(PODRANK_JOB_DELETIONS_MAX == MAX_DELETIONS);
};

layout!(
    podrank_job, 64:
        4 completions, 8 succeeded, 12 flags, 16 failed, 20 backoff_limit, 24 restarts, 28 failed_indexes,
        32 active_deadline_seconds, 40 start_time, 48 max_failed_indexes, 52 reserved
);
layout!(podrank_job_step, 16: 4 deleted, 8 later, 12 reserved);

/// Predicts the next sync of a Job, as in Kubernetes 1.37. Writes to outcomes, at the index of each pod, whether it goes
/// and why. Stores in *step what else the sync does. now is the time of the sync, in nanoseconds since the Unix epoch: a
/// deadline that has passed by then ends the Job. With PODRANK_TIME_UNSET, no deadline passes.
///
/// pods are the active pods that the Job controls, in any order. Their ranks, deletion costs and tiers are not read.
/// indexes are their completion indexes, at the same positions, as podrank_job_index_parse returns them. Only an Indexed Job
/// reads them, so with other Jobs indexes_len may be 0. order is scratch memory. If order_len or outcomes_len is below pods_len,
/// or indexes_len is for an Indexed Job: PODRANK_ERR_SHORT_BUFFER. The time grows with n log n.
///
/// Pods tie if they are equal in everything that Kubernetes compares. If only some of the pods that tie go, no rule says
/// which, so all of them are contested. Chance decides among the pods of one index, and among those of a Job without
/// indexes. If no two pods of an Indexed Job share an index, Kubernetes' sort decides, which this prediction does not model.
/// An Indexed Job can have several groups of contested pods: one for each index whose pods tie, and one for the pods that
/// tie across the boundary between the last pod that goes and the first that stays.
///
/// If a number of the job is negative: PODRANK_ERR_NEGATIVE. If the job or a pod has an unknown flag, an unknown phase or a
/// reserved byte that is not zero: PODRANK_ERR_FLAGS, PODRANK_ERR_PHASE or PODRANK_ERR_RESERVED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_job_next(
    job: *const podrank_job,
    now: i64,
    pods: *const podrank_pod,
    pods_len: usize,
    indexes: *const i64,
    indexes_len: usize,
    order: *mut u32,
    order_len: usize,
    outcomes: *mut podrank_outcome,
    outcomes_len: usize,
    step: *mut podrank_job_step,
) -> i32 {
    run(|| {
        let job = Input::one(job)?;
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let indexes = Input::new(indexes, indexes_len)?;
        let (order, outcomes) =
            (Output::new(order, order_len)?, Output::new(outcomes.cast::<Outcome>(), outcomes_len)?);
        let step = Output::one(step)?;
        let written = [order.span(), outcomes.span(), step.span()];
        apart(&written, &[job.span(), pods.span(), indexes.span()])?;
        order.needs(pods_len)?;
        outcomes.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        let (job, pods, indexes) = unsafe { (job.read(), sound(pods.read())?, indexes.read()) };
        let job = job.first().map_or_else(|| Ok(Job::default()), podrank_job::read)?;
        if matches!(job.completion, Completion::Indexed(_)) && indexes.len() < pods_len {
            return Err(Error(PODRANK_ERR_SHORT_BUFFER));
        }
        // SAFETY: as above.
        let (order, outcomes) =
            unsafe { (order.filled(pods_len, 0), outcomes.filled(pods_len, Outcome::default())) };
        let next = next_sync(&job, time(now), pods, indexes, order, outcomes)?;
        // SAFETY: as above.
        unsafe {
            step.set(podrank_job_step {
                wanted: next.wanted,
                deleted: next.deleted,
                later: next.later,
                reserved: 0,
            });
        }
        Ok(())
    })
}

/// Reads the text of the annotation batch.kubernetes.io/job-completion-index as Kubernetes does. Writes -1 if it is not a
/// decimal number, is negative, or does not fit in 64 bits, which is not an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_job_index_parse(
    text: *const c_char,
    text_len: usize,
    index: *mut i64,
) -> i32 {
    run(|| {
        let (text, index) = (Input::new(text.cast::<u8>(), text_len)?, Output::one(index)?);
        apart(&[index.span()], &[text.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe { index.set(completion_index(text.read())) };
        Ok(())
    })
}

/// Returns the nanoseconds until Kubernetes deletes a finished Job, negative if that is overdue. finished and now are
/// nanoseconds since the Unix epoch. ttl_seconds is spec.ttlSecondsAfterFinished, and finished is the lastTransitionTime of
/// the first condition Complete or Failed that is true. Returns PODRANK_TIME_UNSET, for never, if a time is
/// PODRANK_TIME_UNSET.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_job_time_left(ttl_seconds: i32, finished: i64, now: i64) -> i64 {
    time_to_live_left(ttl_seconds, time(finished), time(now)).map_or(i64::MIN, |left| left.max(i64::MIN + 1))
}

/// Returns the name of a reason, such as "duplicate", or NULL for any other number. The text is static: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_job_reason_str(reason: u8) -> *const c_char {
    Reason::from_number(reason).map_or(core::ptr::null(), |reason| reason.c_name().as_ptr())
}

impl podrank_job {
    /// Returns the core's Job if this one is sound.
    fn read(&self) -> Result<Job, Error> {
        const KNOWN: u32 = 2 * PODRANK_JOB_MAX_FAILED_INDEXES - 1;
        let &Self { parallelism, completions, succeeded, flags, failed, .. } = self;
        let &Self { backoff_limit, restarts, failed_indexes, max_failed_indexes, .. } = self;
        let signs = parallelism | completions | succeeded | failed | backoff_limit | restarts;
        if signs | failed_indexes | max_failed_indexes < 0 || self.active_deadline_seconds < 0 {
            return Err(Error(PODRANK_ERR_NEGATIVE));
        }
        if flags & !KNOWN != 0 {
            return Err(Error(PODRANK_ERR_FLAGS));
        }
        if self.reserved != [0; 12] {
            return Err(Error(PODRANK_ERR_RESERVED));
        }
        let has = |flag| flags & flag != 0;
        let completion = if has(PODRANK_JOB_INDEXED) {
            Completion::Indexed(completions)
        } else if has(PODRANK_JOB_COMPLETIONS) {
            Completion::Count(completions)
        } else {
            Completion::Any
        };
        let state = if has(PODRANK_JOB_LEFT_ALONE) {
            State::LeftAlone
        } else if has(PODRANK_JOB_ENDING) {
            State::Ending
        } else if has(PODRANK_JOB_POD_FAILURE_POLICY) {
            State::PodFailurePolicy
        } else if has(PODRANK_JOB_SUCCESS_POLICY) {
            State::SuccessPolicy
        } else {
            State::Running
        };
        Ok(Job {
            parallelism,
            completion,
            succeeded,
            is_suspended: has(PODRANK_JOB_SUSPENDED),
            state,
            is_being_deleted: has(PODRANK_JOB_BEING_DELETED),
            failed,
            backoff_limit,
            restarts,
            active_deadline_seconds: has(PODRANK_JOB_DEADLINE).then_some(self.active_deadline_seconds),
            start_time: time(self.start_time),
            failed_indexes,
            max_failed_indexes: has(PODRANK_JOB_MAX_FAILED_INDEXES).then_some(max_failed_indexes),
        })
    }
}

impl From<JobError> for Error {
    fn from(error: JobError) -> Self {
        Self(match error {
            JobError::TooManyPods => PODRANK_ERR_TOO_LONG,
            _ => PODRANK_ERR_SHORT_BUFFER,
        })
    }
}

//! What the C function for a Job's sync refuses, and the names of its reasons. `ffi/check/vectors.c` runs the vectors.

use podrank::controller::job::Reason;
use podrank_ffi::*;
use podrank_through_c::implementation::record;
use std::ffi::CStr;
use std::ptr::null;

const GOOD: podrank_job = podrank_job {
    parallelism: 1,
    completions: 3,
    succeeded: 0,
    flags: PODRANK_JOB_COMPLETIONS | PODRANK_JOB_INDEXED,
    failed: 0,
    backoff_limit: 6,
    restarts: 0,
    failed_indexes: 0,
    active_deadline_seconds: 0,
    start_time: 0,
    max_failed_indexes: 0,
    reserved: [0; 12],
};

/// The status of a call with this Job, two pods and these indexes.
fn status(job: *const podrank_job, indexes: &[i64]) -> i32 {
    let pods = [record(&podrank::Pod::new()); 2];
    let canary = podrank_outcome { group: 77, quota: 77, verdict: 77, reason: 77, reserved: [77; 2] };
    let (mut order, mut outcomes) = ([77; 2], [canary; 2]);
    let mut step = podrank_job_step { wanted: 77, deleted: 77, later: 77, reserved: 77 };
    let status = unsafe {
        podrank_job_next(
            job,
            PODRANK_TIME_UNSET,
            pods.as_ptr(),
            2,
            indexes.as_ptr(),
            indexes.len(),
            order.as_mut_ptr(),
            2,
            outcomes.as_mut_ptr(),
            2,
            &raw mut step,
        )
    };
    let is_written = outcomes.iter().all(|outcome| outcome.verdict != 77) && step.deleted != 77;
    let is_untouched = outcomes.iter().all(|outcome| outcome.verdict == 77) && step.deleted == 77;
    assert!(if status == PODRANK_OK { is_written } else { is_untouched });
    status
}

#[test]
fn unsound_jobs_are_refused() {
    let indexes = [0, 1];
    assert_eq!(status(&GOOD, &indexes), PODRANK_OK);
    assert_eq!(status(null(), &indexes), PODRANK_ERR_NULL);
    // Only an Indexed Job reads them.
    assert_eq!(status(&GOOD, &[1]), PODRANK_ERR_SHORT_BUFFER);
    assert_eq!(status(&podrank_job { flags: PODRANK_JOB_COMPLETIONS, ..GOOD }, &[]), PODRANK_OK);
    for (bad, expected) in [
        (podrank_job { parallelism: -1, ..GOOD }, PODRANK_ERR_NEGATIVE),
        (podrank_job { completions: i32::MIN, ..GOOD }, PODRANK_ERR_NEGATIVE),
        (podrank_job { succeeded: -1, ..GOOD }, PODRANK_ERR_NEGATIVE),
        (podrank_job { flags: 1 << 31, ..GOOD }, PODRANK_ERR_FLAGS),
        (podrank_job { flags: 2 * PODRANK_JOB_MAX_FAILED_INDEXES, ..GOOD }, PODRANK_ERR_FLAGS),
        (podrank_job { flags: 2 * PODRANK_JOB_MAX_FAILED_INDEXES - 1, ..GOOD }, PODRANK_OK),
    ] {
        assert_eq!(status(&bad, &indexes), expected, "{bad:?}");
    }
    for byte in 0..GOOD.reserved.len() {
        let mut bad = GOOD;
        bad.reserved[byte] = 1;
        assert_eq!(status(&bad, &indexes), PODRANK_ERR_RESERVED, "{byte}");
    }
}

#[test]
fn reasons_have_names() {
    for number in 0..=u8::MAX {
        let text = podrank_job_reason_str(number);
        let name = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap());
        assert_eq!(name, Reason::from_number(number).map(Reason::name));
    }
}

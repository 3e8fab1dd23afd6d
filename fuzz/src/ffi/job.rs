//! The functions for a Job's sync: what their buffers hold before a call, and what they must hold after it. What a sync does is
//! the core's answer, which the target `job` compares with a naive implementation.

use super::{Outputs, Question, ints, longs, outcomes, time, words};
use arbitrary::{Result, Unstructured};
use podrank::Pod;
use podrank::controller::job::{Completion, Job, Outcome, Reason, State, next_sync};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_through_c::functions::{Buffer, Function, Use};
use std::collections::BTreeSet;

/// What one of their buffers holds before the call. `None` for another function, and for pods.
pub(super) fn content(
    function: &Function,
    buffer: &Buffer,
    size: usize,
    u: &mut Unstructured<'_>,
) -> Result<Option<Vec<u8>>> {
    if !function.name.starts_with("podrank_job") || buffer.usage == Use::Out || buffer.records {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    match buffer.name {
        "job" => {
            for _ in 0..3 {
                bytes.extend(u.int_in_range(0..=5_i32)?.to_ne_bytes());
            }
            // What ends a Job, and what else leaves nothing to count, less often, because then nothing else matters.
            let rare = if u.ratio(1, 8)? { u.int_in_range(0..=1023)? } else { 0 };
            bytes.extend((u.int_in_range(0..=3_u32)? | rare).to_ne_bytes());
            let mut number = |most: i32| Ok(if u.ratio(1, 8)? { u.int_in_range(0..=most)? } else { 0 });
            for most in [3, 3, 3, 6] {
                bytes.extend(number(most)?.to_ne_bytes());
            }
            bytes.extend(i64::from(number(3)?).to_ne_bytes());
            let start = u.choose(&[0, 0, 1, 5_000_000_000, i64::MIN, i64::MAX])?;
            bytes.extend(start.to_ne_bytes());
            bytes.extend(u.int_in_range(0..=6_i32)?.to_ne_bytes());
        }
        "indexes" => {
            while bytes.len() < size {
                bytes.extend(u.choose(&[0, 0, 1, 1, 2, 3, 5, -1, -2, i64::MAX])?.to_ne_bytes());
            }
        }
        _ => {
            while bytes.len() < size {
                bytes.push(*u.choose(b"00112233+-9x")?);
            }
        }
    }
    Ok(Some(bytes))
}

/// The Job in a buffer, by the words of the header; `wrong` gets what is unsound in it.
fn read_job(bytes: &[u8], wrong: &mut BTreeSet<i32>) -> Job {
    let counts = ints(bytes, [0, 4, 8, 16, 20, 24, 28, 48]);
    let [parallelism, completions, succeeded, failed, backoff_limit, restarts, failed_indexes, most] = counts;
    let ([deadline, start], [flags]) = (longs(bytes, [32, 40]), words(bytes, [12]));
    let has = |flag: u32| flags & flag != 0;
    let is_negative = deadline < 0 || counts.iter().any(|count| *count < 0);
    wrong.extend(is_negative.then_some(PODRANK_ERR_NEGATIVE));
    wrong.extend((flags >= 1024).then_some(PODRANK_ERR_FLAGS));
    wrong.extend((bytes[52..] != [0; 12]).then_some(PODRANK_ERR_RESERVED));
    Job {
        parallelism,
        completion: if has(PODRANK_JOB_INDEXED) {
            Completion::Indexed(completions)
        } else if has(PODRANK_JOB_COMPLETIONS) {
            Completion::Count(completions)
        } else {
            Completion::Any
        },
        succeeded,
        is_suspended: has(PODRANK_JOB_SUSPENDED),
        state: if has(PODRANK_JOB_LEFT_ALONE) {
            State::LeftAlone
        } else if has(PODRANK_JOB_ENDING) {
            State::Ending
        } else if has(PODRANK_JOB_POD_FAILURE_POLICY) {
            State::PodFailurePolicy
        } else if has(PODRANK_JOB_SUCCESS_POLICY) {
            State::SuccessPolicy
        } else {
            State::Running
        },
        is_being_deleted: has(PODRANK_JOB_BEING_DELETED),
        failed,
        backoff_limit,
        restarts,
        active_deadline_seconds: has(PODRANK_JOB_DEADLINE).then_some(deadline),
        start_time: time(start),
        failed_indexes,
        max_failed_indexes: has(PODRANK_JOB_MAX_FAILED_INDEXES).then_some(most),
    }
}

/// Whether the Job in a buffer is Indexed: only then `podrank_job_next` reads indexes, and they may not be NULL.
pub(super) fn is_indexed(job: &[u8]) -> bool {
    words(job, [12])[0] & PODRANK_JOB_INDEXED != 0
}

impl Question<'_> {
    /// What its outputs are to begin with; nothing if a buffer is not all there, or it is none of these functions.
    pub(super) fn job(&self, pods: &[Pod], wrong: &mut BTreeSet<i32>, spoilt: bool) -> Option<Outputs> {
        Some(match self.function.name {
            "podrank_job_index_parse" => {
                // Rust's grammar is Go's.
                let text = std::str::from_utf8((self.content)("text").unwrap_or_default());
                let index = text.ok().and_then(|text| text.parse::<i64>().ok());
                vec![("index", index.filter(|index| *index >= 0).unwrap_or(-1).to_ne_bytes().to_vec())]
            }
            "podrank_job_next" => {
                let job = read_job((self.content)("job")?, wrong);
                if spoilt || !wrong.is_empty() {
                    return Some(Vec::new());
                }
                let indexes = (self.content)("indexes").unwrap_or_default().chunks_exact(8);
                let indexes: Vec<i64> = indexes.map(|bytes| longs(bytes, [0])[0]).collect();
                let (mut order, mut found) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
                let now = time(self.number("now"));
                let step =
                    next_sync(&job, now, pods, &indexes, &mut order, &mut found).expect("as many of each");
                let numbers = [step.wanted, step.deleted, step.later, 0];
                vec![
                    ("outcomes", outcomes(&found, Reason::number)),
                    ("step", numbers.map(u32::to_ne_bytes).concat()),
                ]
            }
            _ => return None,
        })
    }
}

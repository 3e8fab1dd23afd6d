//! `job`: a Job's next sync against a naive implementation, in every list order, and the texts of completion
//! indexes against their grammar.

use crate::case::extended;
use arbitrary::{Result, Unstructured};
use podrank::controller::job::{Completion, Job, NO_INDEX, State, completion_index};
use podrank::{Flags, Phase, Pod, Time};
use podrank_laws::job::sync_is_upstreams;

/// The target.
pub fn run(data: &[u8]) {
    let bytes = extended(data, 256);
    run_with(&mut Unstructured::new(&bytes)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    if u.ratio(1, 16)? {
        let text: Vec<u8> = (0..u.int_in_range(0..=20)?)
            .map(|_| u.choose(b"0123456789+-_x").copied())
            .collect::<Result<_>>()?;
        let text = std::str::from_utf8(&text).expect("ASCII");
        // Rust's grammar is Go's.
        let expected = text.parse::<i64>().ok().filter(|index| *index >= 0).unwrap_or(NO_INDEX);
        assert_eq!(completion_index(text), expected, "{text}");
        return Ok(());
    }
    let completions = u.int_in_range(0..=5)?;
    let job = Job {
        parallelism: u.int_in_range(0..=5)?,
        completion: match u.int_in_range(0..=3_u8)? {
            0 => Completion::Any,
            1 => Completion::Count(completions),
            _ => Completion::Indexed(completions),
        },
        succeeded: u.int_in_range(0..=3)?,
        is_suspended: u.ratio(1, 16)?,
        state: match u.int_in_range(0..=31_u8)? {
            0 => State::Ending,
            1 => State::PodFailurePolicy,
            2 => State::SuccessPolicy,
            3 => State::LeftAlone,
            _ => State::Running,
        },
        is_being_deleted: u.ratio(1, 16)?,
        failed: if u.ratio(1, 8)? { u.int_in_range(0..=2)? } else { 0 },
        backoff_limit: u.int_in_range(0..=2)?,
        restarts: if u.ratio(1, 8)? { u.int_in_range(0..=3)? } else { 0 },
        active_deadline_seconds: match u.int_in_range(0..=7_u8)? {
            0 => Some(u.int_in_range(0..=2)?),
            1 => Some(u.arbitrary()?),
            _ => None,
        },
        start_time: time(u)?,
        failed_indexes: if u.ratio(1, 8)? { u.int_in_range(0..=5)? } else { 0 },
        max_failed_indexes: if u.ratio(1, 2)? { Some(u.int_in_range(0..=4)?) } else { None },
    };
    let now = time(u)?;
    let (mut pods, mut indexes) = (Vec::new(), Vec::new());
    for _ in 0..u.int_in_range(0..=6)? {
        pods.push(pod(u)?);
        indexes.push(u.int_in_range(-1..=6)?);
    }
    sync_is_upstreams(&job, now, &pods, &indexes);
    Ok(())
}

/// A time near the others, or now and then unset or far away.
fn time(u: &mut Unstructured<'_>) -> Result<Time> {
    Ok(match u.int_in_range(0..=15_u8)? {
        0 => Time::UNSET,
        1 => Time::from_unix_nanos(u.arbitrary()?),
        _ => Time::from_unix(u.int_in_range(0..=3)?, u.int_in_range(0..=1)?),
    })
}

/// Few values, so that pods tie. What a Job does not read differs.
fn pod(u: &mut Unstructured<'_>) -> Result<Pod> {
    Ok(Pod {
        phase: Phase::from_ordinal(u.int_in_range(0..=2)?),
        flags: Flags::from_bits(u.int_in_range(0..=7)?),
        ready_time: if u.ratio(1, 4)? { Time::UNSET } else { Time::from_unix(u.int_in_range(0..=1)?, 0) },
        creation_time: Time::from_unix(u.int_in_range(0..=1)?, 0),
        restarts: u.int_in_range(0..=1)?,
        sidecar_restarts: u.int_in_range(0..=1)?,
        deletion_cost: u.int_in_range(0..=1)?,
        rank: u.int_in_range(0..=1)?,
        tier: u.int_in_range(0..=1)?,
        ..Pod::new()
    })
}

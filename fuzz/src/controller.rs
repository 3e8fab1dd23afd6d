//! `controller`: a controller's decisions against naive implementations, in Rust and, as far as C has them, through C.

use crate::case::{self, Case, valid};
use arbitrary::{Result, Unstructured};
use podrank::Time;
use podrank::controller::{Claimable, EXPECTATIONS_TIMEOUT_NANOS, Owner, PodKey, SetState};
use podrank_laws::Core;
use podrank_laws::claims::{claim_is_upstreams, filters_are_upstreams};
use podrank_laws::controller::{
    ROOM, Step, availability_is_upstreams, expectations_are_upstreams, plan_is_the_difference,
    slow_start_is_upstreams,
};
use podrank_laws::generate::NOW;
use podrank_through_c::implementation::C;

/// The target: the first byte chooses the decision, and the others its inputs.
pub fn run(data: &[u8]) {
    run_with(&mut Unstructured::new(data)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    match u.int_in_range(0..=7_u8)? {
        0 => {
            let mut set = SetState::new(number(u)?, number(u)?);
            set.is_satisfied = u.ratio(7, 8)?;
            set.is_being_deleted = u.ratio(1, 8)?;
            let burst = number(u)?;
            plan_is_the_difference(&Core, &set, burst);
            plan_is_the_difference(&C, &set, burst);
        }
        1 => {
            let count = *u.choose(&[0, 1, 2, 3, 4, 7, 8, 40, 500])?;
            // The number of the first creation that fails, and one bit for each after it.
            let (first, pattern) = (u.int_in_range(0..=count)?, u.arbitrary::<u64>()? | 1);
            let fails = |number: u32| number >= first && pattern.rotate_right(number - first) & 1 == 1;
            slow_start_is_upstreams(&Core, count, fails);
            slow_start_is_upstreams(&C, count, fails);
        }
        2 => {
            let seconds = *u.choose(&[0, 1, 10, 86_400, u32::MAX])?;
            let Case { policy, mut pods, salt, .. } = Case::read(u, 0..=40)?;
            let since =
                policy.now.unix_nanos().unwrap_or(NOW).saturating_sub(i64::from(seconds) * 1_000_000_000);
            for (i, pod) in (0..).zip(&mut pods) {
                // C rejects invalid records.
                *pod = valid(*pod);
                let near = (salt.rotate_right(2 * i) & 3).cast_signed();
                if near < 3 {
                    pod.ready_time = Time::from_unix_nanos(since.saturating_add(near - 1));
                }
            }
            availability_is_upstreams(&Core, &pods, seconds, policy.now);
            availability_is_upstreams(&C, &pods, seconds, policy.now);
        }
        3 => claims(u)?,
        _ => {
            let now = *u.choose(&[NOW, -NOW])?;
            let start = case::time(u, now)?;
            let mut steps = vec![step(u)?];
            while steps.len() < 40 && !u.is_empty() {
                steps.push(step(u)?);
            }
            expectations_are_upstreams(&Core, start, &steps);
            expectations_are_upstreams(&C, start, &steps);
        }
    }
    Ok(())
}

/// Which pods count, whose they are and how old the victims are.
fn claims(u: &mut Unstructured<'_>) -> Result<()> {
    let phases = ["Pending", "Running", "Unknown", "Succeeded", "Failed", "", "running"];
    filters_are_upstreams(u.choose(&phases)?, u.arbitrary()?);
    let pod = Claimable {
        owner: *u.choose(&[Owner::None, Owner::Ours, Owner::Other])?,
        matches: u.arbitrary()?,
        is_in_namespace: u.arbitrary()?,
        is_being_deleted: u.arbitrary()?,
    };
    claim_is_upstreams(&pod, u.arbitrary()?);
    Ok(())
}

/// A count of pods, also near the ends of its range.
pub(crate) fn number(u: &mut Unstructured<'_>) -> Result<u32> {
    let near = u.int_in_range(0..=2)?;
    Ok(*u.choose(&[0, 0, 3, 500, 1 << 31, u32::MAX - 2])? + near)
}

fn step(u: &mut Unstructured<'_>) -> Result<Step> {
    let count = |u: &mut Unstructured<'_>| u.choose(&[0, 1, 1, 2, 3, 500, u32::MAX]).copied();
    let keys = |u: &mut Unstructured<'_>, len: usize| (0..len).map(|_| key(u)).collect::<Result<Vec<_>>>();
    Ok(match u.int_in_range(0..=15_u8)? {
        0 | 1 => Step::ExpectCreations(count(u)?),
        2..=4 => {
            let len = u.int_in_range(0..=5)?;
            Step::ExpectDeletions(keys(u, len)?)
        }
        5 => {
            let len = u.int_in_range(ROOM - 1..=ROOM + 1)?;
            Step::ExpectDeletions(keys(u, len)?)
        }
        6 | 7 => Step::CreationsObserved(count(u)?),
        8..=12 => Step::DeletionObserved(key(u)?),
        13 => Step::Clear,
        _ => {
            let timeout = EXPECTATIONS_TIMEOUT_NANOS;
            let waits =
                [1, -1, timeout - 1, timeout, timeout + 1, timeout / 2, -timeout, i64::MAX, i64::MIN, 0];
            Step::Wait(*u.choose(&waits)?)
        }
    })
}

/// One of few keys, which are equal but for one byte.
pub(crate) fn key(u: &mut Unstructured<'_>) -> Result<PodKey> {
    let mut key = [7; 16];
    // Mostly the first or the last byte, so that keys are equal often enough.
    let place = if u.ratio(1, 4)? { u.int_in_range(0..=15)? } else { *u.choose(&[0, 15])? };
    key[place] = u.int_in_range(0..=3)?;
    Ok(key)
}

//! The functions for a controller's decisions: what their buffers hold before a call, and what they must hold after it.

use super::{Answer, Call, output};
use crate::controller::{key, number};
use arbitrary::{Result, Unstructured};
use podrank::Pod;
use podrank::controller::{Availability, PodKey, SlowStart, availability};
use podrank::ffi::Expected;
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_through_c::functions::{Buffer, Use, bytes};

/// A buffer's contents before the call. `None` if it is not a buffer of these functions.
pub(super) fn content(
    buffer: &Buffer,
    size: usize,
    now: i64,
    u: &mut Unstructured<'_>,
) -> Result<Option<Vec<u8>>> {
    Ok(match (buffer.name, buffer.usage) {
        (_, Use::Out | Use::Options) => None,
        ("state", _) => {
            let counts = [number(u)?, number(u)?, number(u)?];
            let flags = *u.choose(&[0, 1, 1, 1, 2, 3, 4, 1 << 31])?;
            Some([counts[0], counts[1], counts[2], flags].map(u32::to_ne_bytes).concat())
        }
        ("start", _) => {
            let number =
                |u: &mut Unstructured<'_>| u.choose(&[0, 1, 2, 3, 64, 500, 1 << 31, u32::MAX]).copied();
            Some([number(u)?.to_ne_bytes(), number(u)?.to_ne_bytes()].concat())
        }
        ("expectations", _) => Some(expectations(now, u)?),
        ("key_storage" | "keys" | "key", _) => {
            let mut bytes = Vec::new();
            while bytes.len() < size {
                bytes.extend(key(u)?);
            }
            Some(bytes)
        }
        _ => None,
    })
}

/// Any expectations, with zero counts if none are set.
fn expectations(now: i64, u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let is_set: u32 = u.int_in_range(0..=3)?;
    let wait = PODRANK_EXPECTATIONS_TIMEOUT;
    let after = |nanos| now.saturating_add(nanos);
    let since =
        [now, 0, after(-wait), after(-wait - 1), after(wait), PODRANK_TIME_UNSET, i64::MIN + 1, i64::MAX];
    let number = |u: &mut Unstructured<'_>| {
        let number = *u.choose(&[0, 0, 1, 2, 500, -1, i64::MIN, i64::MAX])?;
        Ok(if is_set == 0 { 0 } else { number })
    };
    let keys = if u.ratio(1, 16)? { u.arbitrary()? } else { u.int_in_range(0..=5)? };
    let (since, creations, deletions) = (*u.choose(&since)?, number(u)?, number(u)?);
    Ok(bytes(&[podrank_expectations { since, creations, deletions, keys, is_set }]))
}

impl Call<'_> {
    pub(super) fn controller(&self) -> Answer {
        let word = |name| u32::try_from(self.number(name)).expect("32 bits");
        let now = || super::time(self.number("now"));
        let mut expected = self.read::<Expected>("expectations");
        let mut key_storage = self.read::<PodKey>("key_storage");
        Ok(match self.function.name {
            "podrank_plan" => {
                let state = self.read::<podrank_plan_state>("state")[0];
                if state.flags >= 4 {
                    return Err(vec![PODRANK_ERR_FLAGS]);
                }
                let shortfall = i64::from(state.desired) - i64::from(state.active);
                let shortfall = if state.flags == PODRANK_PLAN_SATISFIED { shortfall } else { 0 };
                let counts = [shortfall, -shortfall].map(|count| count.clamp(0, state.burst_replicas.into()));
                let [creations, deletions] = counts.map(|count| u32::try_from(count).expect("32 bits"));
                vec![output("creations", &[creations]), output("deletions", &[deletions])]
            }
            "podrank_slow_start_begin" => vec![output("start", &[SlowStart::new(word("count"))])],
            "podrank_slow_start_report" => {
                let mut start = self.read::<SlowStart>("start");
                start[0].report(word("failures"));
                vec![output("start", &start)]
            }
            "podrank_expectations_expect_creations" => {
                expected[0].expect_creations(word("count"), now());
                vec![output("expectations", &expected)]
            }
            "podrank_expectations_expect_deletions" => {
                let done = expected[0].expect_deletions(&mut key_storage, &self.read("keys"), now());
                done.map_err(|_| vec![PODRANK_ERR_KEYS_FULL])?;
                vec![
                    output("expectations", &expected),
                    output("key_storage", &key_storage[..expected[0].keys()]),
                ]
            }
            "podrank_expectations_creations_observed" => {
                // Without the core, as no law can give it such counts.
                let mut expected = self.read::<podrank_expectations>("expectations")[0];
                let observed = if expected.is_set == 0 { 0 } else { self.number("count") };
                expected.creations = expected.creations.saturating_sub(observed);
                vec![output("expectations", &[expected])]
            }
            "podrank_expectations_deletion_observed" => {
                let counted = expected[0].deletion_observed(&mut key_storage, &self.read("key")[0]);
                let counted = output("counted", &[i32::from(counted)]);
                vec![output("expectations", &expected), output("key_storage", &key_storage), counted]
            }
            "podrank_expectations_satisfied" => {
                vec![output("satisfied", &[i32::from(expected[0].are_satisfied(now()))])]
            }
            "podrank_availability" => {
                let seconds = word("min_ready_seconds");
                let pods = self.read::<Pod>("pods");
                let pods: Vec<_> = pods.iter().map(|pod| availability(pod, seconds, now())).collect();
                let ready = pods.iter().filter(|pod| pod.is_ready()).count();
                let available = pods.iter().filter(|pod| **pod == Availability::Available).count();
                let next = pods.iter().filter_map(|pod| pod.next_check_after()).min().unwrap_or(0);
                vec![
                    output("ready", &[ready]),
                    output("available", &[available]),
                    output("next_check_after", &[next]),
                ]
            }
            name => panic!("no answer of {name}"),
        })
    }
}

/// Makes half of the pods ready for about as long as `podrank_availability` demands.
pub(super) fn ready_time(pod: &Pod, seconds: i64, now: i64, u: &mut Unstructured<'_>) -> Result<Pod> {
    let mut pod = *pod;
    if u.ratio(1, 2)? {
        let since = now.saturating_sub(1_000_000_000 * seconds).saturating_add(u.int_in_range(-1..=1)?);
        pod.ready_time = super::time(since);
    }
    Ok(pod)
}

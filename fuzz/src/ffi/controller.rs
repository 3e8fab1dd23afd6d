//! What a controller calls besides the order: what its buffers hold, and what is to be in them afterwards.

use super::{Outputs, Question, array};
use arbitrary::{Result, Unstructured};
use podrank::{Flags, Pod};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_through_c::functions::{Buffer, Function, Use};
use std::collections::BTreeSet;

// What `functions` asks with.
const NOW: i64 = 9;
const MIN_READY_SECONDS: i64 = 10;

/// What one of its buffers holds before the call, if it is one.
pub(super) fn content(buffer: &Buffer, size: usize, u: &mut Unstructured<'_>) -> Result<Option<Vec<u8>>> {
    Ok(match (buffer.name, buffer.usage) {
        (_, Use::Out | Use::Options) => None,
        ("start", _) => {
            let number =
                |u: &mut Unstructured<'_>| u.choose(&[0, 1, 2, 3, 64, 500, 1 << 31, u32::MAX]).copied();
            Some([number(u)?.to_ne_bytes(), number(u)?.to_ne_bytes()].concat())
        }
        ("expectations", _) => Some(expectations(u)?),
        ("room" | "keys" | "key", _) => {
            let mut bytes = Vec::new();
            while bytes.len() < size {
                let mut key = [7; 16];
                key[*u.choose(&[0, 15])?] = u.int_in_range(0..=2_u8)?;
                bytes.extend(key);
            }
            Some(bytes)
        }
        _ => None,
    })
}

/// Any expectations, but that there are no numbers where none are set.
fn expectations(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let is_set: u32 = u.int_in_range(0..=3)?;
    let wait = PODRANK_EXPECTATIONS_TIMEOUT;
    let since = [NOW, 0, NOW - wait, NOW - wait - 1, NOW + wait, PODRANK_TIME_UNSET, i64::MIN + 1, i64::MAX];
    let number = |u: &mut Unstructured<'_>| {
        let number = *u.choose(&[0, 0, 1, 2, 500, -1, i64::MIN, i64::MAX])?;
        Ok(if is_set == 0 { 0 } else { number })
    };
    let keys = if u.ratio(1, 16)? { u.arbitrary()? } else { u.int_in_range(0..=5)? };
    let state =
        State { since: *u.choose(&since)?, creations: number(u)?, deletions: number(u)?, keys, is_set };
    Ok(state.bytes())
}

/// `podrank_expectations`, read by the words of the header.
struct State {
    since: i64,
    creations: i64,
    deletions: i64,
    keys: u32,
    is_set: u32,
}

impl State {
    fn of(bytes: &[u8]) -> Self {
        let long = |at: usize| i64::from_ne_bytes(array(&bytes[at..]));
        let word = |at: usize| u32::from_ne_bytes(array(&bytes[at..]));
        Self { since: long(0), creations: long(8), deletions: long(16), keys: word(24), is_set: word(28) }
    }

    fn bytes(&self) -> Vec<u8> {
        let longs = [self.since, self.creations, self.deletions].map(i64::to_ne_bytes);
        [longs.concat(), [self.keys, self.is_set].map(u32::to_ne_bytes).concat()].concat()
    }

    fn is_satisfied(&self) -> bool {
        let is_old = self.since != PODRANK_TIME_UNSET
            && i128::from(NOW) - i128::from(self.since) > PODRANK_EXPECTATIONS_TIMEOUT.into();
        self.creations <= 0 && self.deletions <= 0 || is_old
    }
}

impl Question<'_> {
    /// What its outputs are to begin with; nothing if a buffer is not all there, or it is none of these functions.
    pub(super) fn controller(&self, pods: &[Pod], wrong: &mut BTreeSet<i32>) -> Option<Outputs> {
        let state = || (self.content)("expectations").map(State::of);
        let keys = |name| Some((self.content)(name)?.chunks_exact(16).map(array::<16>).collect::<Vec<_>>());
        Some(match self.function.name {
            "podrank_plan" => {
                vec![("creations", 0_u32.to_ne_bytes().to_vec()), ("deletions", 2_u32.to_ne_bytes().to_vec())]
            }
            "podrank_slow_start_begin" => vec![("start", [1_u32, 7].map(u32::to_ne_bytes).concat())],
            "podrank_slow_start_report" => {
                // One has failed: it is the last batch.
                let start = (self.content)("start")?;
                let [batch, missing] = [0, 4].map(|at| u32::from_ne_bytes(array(&start[at..])));
                let missing = missing.saturating_sub(batch.saturating_sub(1));
                vec![("start", [0, missing].map(u32::to_ne_bytes).concat())]
            }
            "podrank_expect_creations" => {
                let state = State { since: NOW, creations: 7, deletions: 0, is_set: 1, ..state()? };
                vec![("expectations", state.bytes())]
            }
            "podrank_expect_deletions" => {
                if self.lens[1] > self.lens[0] {
                    wrong.insert(PODRANK_ERR_KEYS_FULL);
                }
                let mut distinct = Vec::<[u8; 16]>::new();
                for key in keys("keys")? {
                    if !distinct.contains(&key) {
                        distinct.push(key);
                    }
                }
                let keys = u32::try_from(distinct.len()).expect("few");
                let state = State { since: NOW, creations: 0, deletions: keys.into(), keys, is_set: 1 };
                vec![("expectations", state.bytes()), ("room", distinct.concat())]
            }
            "podrank_creations_observed" => {
                let state = state()?;
                let seen = i64::from(state.is_set != 0);
                let creations = state.creations.saturating_sub(seen);
                vec![("expectations", State { creations, ..state }.bytes())]
            }
            "podrank_deletion_observed" => {
                let (mut state, mut room, key) = (state()?, keys("room")?, *keys("key")?.first()?);
                let known = room.iter().take(state.keys as usize).position(|other| *other == key);
                if let Some(place) = known {
                    state.keys -= 1;
                    state.deletions = state.deletions.saturating_sub(1);
                    // The last takes its place.
                    room[place] = *room.get(state.keys as usize).unwrap_or(&key);
                }
                let counted = i32::from(known.is_some()).to_ne_bytes().to_vec();
                vec![("expectations", state.bytes()), ("room", room.concat()), ("counted", counted)]
            }
            "podrank_expectations_satisfied" => {
                vec![("satisfied", i32::from(state()?.is_satisfied()).to_ne_bytes().to_vec())]
            }
            "podrank_availability" => availability(pods),
            _ => return None,
        })
    }
}

fn availability(pods: &[Pod]) -> Outputs {
    let ready: Vec<_> = pods.iter().filter(|pod| pod.flags.contains(Flags::READY)).collect();
    let due = |pod: &&Pod| {
        Some(i128::from(pod.ready_time.unix_nanos()?) + 1_000_000_000 * i128::from(MIN_READY_SECONDS))
    };
    let due: Vec<i128> = ready.iter().filter_map(due).collect();
    let available = due.iter().filter(|due| **due <= NOW.into()).count();
    // A wait that no 63 bits hold is cut.
    let left =
        due.iter().map(|due| (due - i128::from(NOW)).min(i64::MAX.into())).filter(|left| *left > 0).min();
    let look_again = u64::try_from(left.unwrap_or(0)).expect("cut");
    vec![
        ("ready", ready.len().to_ne_bytes().to_vec()),
        ("available", available.to_ne_bytes().to_vec()),
        ("look_again", look_again.to_ne_bytes().to_vec()),
    ]
}

/// Some of the records of `podrank_availability` have been ready for about as long as is asked.
pub(super) fn ready_time(function: &Function, pod: &Pod, u: &mut Unstructured<'_>) -> Result<Pod> {
    let mut pod = *pod;
    if function.name == "podrank_availability" && u.ratio(1, 2)? {
        let since = NOW - 1_000_000_000 * MIN_READY_SECONDS + u.int_in_range(-1..=1)?;
        pod.ready_time = super::time(since);
    }
    Ok(pod)
}

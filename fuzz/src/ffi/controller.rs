//! The functions for a controller's decisions: what their buffers hold before a call, and what they must hold after it.

use super::{Outputs, Question, array, longs, words};
use arbitrary::{Result, Unstructured};
use podrank::{Flags, Pod};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_through_c::functions::{Buffer, Use};
use std::collections::BTreeSet;

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
            let mut count = || -> Result<u32> {
                Ok(u.choose(&[0, 0, 3, 500, 1 << 31, u32::MAX - 2])? + u.int_in_range(0..=2)?)
            };
            let counts = [count()?, count()?, count()?];
            let flags = *u.choose(&[0, 1, 1, 1, 2, 3, 4, 1 << 31])?;
            Some([counts[0], counts[1], counts[2], flags].map(u32::to_ne_bytes).concat())
        }
        ("start", _) => {
            let number =
                |u: &mut Unstructured<'_>| u.choose(&[0, 1, 2, 3, 64, 500, 1 << 31, u32::MAX]).copied();
            Some([number(u)?.to_ne_bytes(), number(u)?.to_ne_bytes()].concat())
        }
        ("expectations", _) => Some(expectations(now, u)?),
        ("room" | "keys" | "key", _) => {
            let mut bytes = Vec::new();
            while bytes.len() < size {
                let mut key = [7; 16];
                // Mostly the first or the last byte, so that keys are equal often enough. With a 7, no byte differs.
                let place = if u.ratio(1, 4)? { u.int_in_range(0..=15)? } else { *u.choose(&[0, 15])? };
                key[place] = u.int_in_range(5..=7_u8)?;
                bytes.extend(key);
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
    let state =
        State { since: *u.choose(&since)?, creations: number(u)?, deletions: number(u)?, keys, is_set };
    Ok(state.bytes())
}

/// `podrank_expectations`, read as the header documents it.
struct State {
    since: i64,
    creations: i64,
    deletions: i64,
    keys: u32,
    is_set: u32,
}

impl State {
    fn of(bytes: &[u8]) -> Self {
        let ([since, creations, deletions], [keys, is_set]) =
            (longs(bytes, [0, 8, 16]), words(bytes, [24, 28]));
        Self { since, creations, deletions, keys, is_set }
    }

    fn bytes(&self) -> Vec<u8> {
        let longs = [self.since, self.creations, self.deletions].map(i64::to_ne_bytes);
        [longs.concat(), [self.keys, self.is_set].map(u32::to_ne_bytes).concat()].concat()
    }

    fn is_satisfied(&self, now: i64) -> bool {
        let is_old = ![now, self.since].contains(&PODRANK_TIME_UNSET)
            && i128::from(now) - i128::from(self.since) > PODRANK_EXPECTATIONS_TIMEOUT.into();
        self.creations <= 0 && self.deletions <= 0 || is_old
    }
}

impl Question<'_> {
    /// Returns what the outputs must start with. `None` if a buffer is not inside the block, or if the function is not one of
    /// these.
    pub(super) fn controller(&self, pods: &[Pod], wrong: &mut BTreeSet<i32>) -> Option<Outputs> {
        let state = || (self.content)("expectations").map(State::of);
        let keys = |name| Some((self.content)(name)?.chunks_exact(16).map(array::<16>).collect::<Vec<_>>());
        let word = |number: i64| u32::try_from(number).expect("32 bits").to_ne_bytes().to_vec();
        Some(match self.function.name {
            "podrank_plan" => {
                let state = (self.content)("state")?;
                let [wanted, active, burst, flags] = words(state, [0, 4, 8, 12]).map(i64::from);
                wrong.extend((flags >= 4).then_some(PODRANK_ERR_FLAGS));
                let shortfall = if flags == 1 { wanted - active } else { 0 };
                let counts = [shortfall, -shortfall].map(|count| count.clamp(0, burst));
                vec![("creations", word(counts[0])), ("deletions", word(counts[1]))]
            }
            "podrank_slow_start_begin" => {
                let count = self.number("count");
                vec![("start", [word(count.min(1)), word(count)].concat())]
            }
            "podrank_slow_start_report" => {
                let start = (self.content)("start")?;
                let [batch, missing] = words(start, [0, 4]).map(i64::from);
                let failures = self.number("failures");
                let missing = (missing - (batch - failures).max(0)).max(0);
                let next = if failures > 0 { 0 } else { (2 * batch).min(missing) };
                vec![("start", [word(next), word(missing)].concat())]
            }
            "podrank_expectations_expect_creations" => {
                let [creations, since] = ["count", "now"].map(|name| self.number(name));
                let state = State { since, creations, deletions: 0, is_set: 1, ..state()? };
                vec![("expectations", state.bytes())]
            }
            "podrank_expectations_expect_deletions" => {
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
                let since = self.number("now");
                let state = State { since, creations: 0, deletions: keys.into(), keys, is_set: 1 };
                vec![("expectations", state.bytes()), ("room", distinct.concat())]
            }
            "podrank_expectations_creations_observed" => {
                let state = state()?;
                let observed = if state.is_set == 0 { 0 } else { self.number("count") };
                let creations = state.creations.saturating_sub(observed);
                vec![("expectations", State { creations, ..state }.bytes())]
            }
            "podrank_expectations_deletion_observed" => {
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
                let is_satisfied = state()?.is_satisfied(self.number("now"));
                vec![("satisfied", i32::from(is_satisfied).to_ne_bytes().to_vec())]
            }
            "podrank_availability" => {
                availability(pods, self.number("min_ready_seconds"), self.number("now"))
            }
            _ => return None,
        })
    }
}

fn availability(pods: &[Pod], min_ready_seconds: i64, now: i64) -> Outputs {
    let ready: Vec<_> = pods.iter().filter(|pod| pod.flags.contains(Flags::READY)).collect();
    // The exact nanoseconds until each is available: negative if it is already, `None` if that is unknown.
    let left = |pod: &&Pod| {
        let since = i128::from(pod.ready_time.unix_nanos()?) + 1_000_000_000 * i128::from(min_ready_seconds);
        (now != PODRANK_TIME_UNSET).then_some(since - i128::from(now))
    };
    let left = |pod: &&Pod| if min_ready_seconds == 0 { Some(0) } else { left(pod) };
    let left: Vec<i128> = ready.iter().filter_map(left).collect();
    let available = left.iter().filter(|left| **left <= 0).count();
    // A wait that does not fit into 63 bits is cut.
    let next = left.into_iter().filter(|left| *left > 0).min().map_or(0, |left| left.min(i64::MAX.into()));
    let look_again = u64::try_from(next).expect("cut");
    vec![
        ("ready", ready.len().to_ne_bytes().to_vec()),
        ("available", available.to_ne_bytes().to_vec()),
        ("look_again", look_again.to_ne_bytes().to_vec()),
    ]
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

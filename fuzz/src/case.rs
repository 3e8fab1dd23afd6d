//! Bytes as a policy and pods. A pod can be any record, so every bit of a field occurs. Most pods collide with others:
//! they have one of few values in each field, or they are copies of an earlier pod in which one field or one bit differs.
//!
//! The bytes describe one pod after the other, and the list ends where they end. So a shorter input is a shorter list,
//! and a byte changes only what it chooses.

use arbitrary::{Result, Unstructured};
use podrank::{FeatureGates, Flags, Phase, Pod, Policy, Time, Uid};
use podrank_laws::generate::{NOW, moments, random};
use std::collections::BTreeSet;
use std::mem::transmute;
use std::ops::{Range, RangeInclusive};

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A record's bytes.
type Bytes = [u8; size_of::<Pod>()];

/// Where the fields of a record are.
const FIELDS: [Range<usize>; 12] =
    [0..16, 16..24, 24..32, 32..36, 36..40, 40..44, 44..48, 48..52, 52..53, 53..54, 54..56, 56..64];

/// Returns a valid record: the parts that C would reject are left out.
pub fn valid(pod: Pod) -> Pod {
    let phase = Phase::from_ordinal(pod.phase.ordinal() % 3);
    Pod { phase, flags: Flags::from_bits(pod.flags.bits() & 7), reserved: Pod::new().reserved, ..pod }
}

/// Puts a list in another order, which a random number chooses.
pub fn shuffle<T>(list: &mut [T], salt: u64) {
    let mut random = random(salt);
    for last in (1..list.len()).rev() {
        list.swap(last, usize::try_from(random(last as u64 + 1)).expect("a place"));
    }
}

/// A policy, pods, and the number of pods to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The policy.
    pub policy: Policy,
    /// The pods.
    pub pods: Vec<Pod>,
    /// The number of pods to delete: up to two more than there are.
    pub k: usize,
    /// Whether no two pods have the same UID.
    pub distinct: bool,
    /// A random number, for the other choices of a check.
    pub salt: u64,
}

impl Case {
    /// Returns the case that these bytes stand for. Its number of pods is in `len`.
    pub fn of(data: &[u8], len: RangeInclusive<usize>) -> Self {
        Self::read(&mut Unstructured::new(data), len).expect("zeros where bytes end")
    }

    /// Returns the case that the remaining bytes stand for.
    pub fn read(u: &mut Unstructured<'_>, len: RangeInclusive<usize>) -> Result<Self> {
        let policy = policy(u)?;
        let (choice, k, salt) = (u.arbitrary::<u8>()?, usize::from(u.arbitrary::<u16>()?), u.arbitrary()?);
        let mut pods = pods(u, policy.now.unix_nanos().unwrap_or(NOW), len)?;
        if choice % 2 == 1 {
            number(&mut pods, salt);
        }
        // Core accepts any records.
        if choice < 240 {
            pods = pods.into_iter().map(valid).collect();
        }
        let uids: BTreeSet<Uid> = pods.iter().map(|pod| pod.uid).collect();
        let (k, distinct) = (k % (pods.len() + 3), uids.len() == pods.len());
        Ok(Self { policy, pods, k, distinct, salt })
    }
}

/// Gives each pod a UID of its own.
fn number(pods: &mut [Pod], salt: u64) {
    for (i, pod) in (0_u64..).zip(pods) {
        // An odd multiplier permutes the numbers: no two are alike.
        let number = u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt);
        pod.uid = Uid::from_bytes((number << (8 * (salt % 9))).to_be_bytes());
    }
}

/// As many records as the remaining bytes describe, but not fewer or more than `len`. They can be invalid.
pub fn pods(u: &mut Unstructured<'_>, now: i64, len: RangeInclusive<usize>) -> Result<Vec<Pod>> {
    let mut pods = Vec::new();
    while pods.len() < *len.start() || pods.len() < *len.end() && !u.is_empty() {
        let choice: u8 = u.arbitrary()?;
        if choice < 240 {
            pods.push(pod(choice, u, now, &pods)?);
            continue;
        }
        // A few bytes stand for many pods that differ in some fields, because the fuzzer starts with short inputs.
        let (count, seed, changed) =
            (usize::from(u.arbitrary::<u8>()?), u.arbitrary::<u16>()?, u.arbitrary()?);
        // Most lists are short, because long ones take longer.
        let count = if count < 192 { count % 14 } else { 5 * (count - 192) };
        let same = pods.last().copied().unwrap_or_default();
        let mut random = random(seed.into());
        let bytes: Vec<u8> = (0..32 * count).map(|_| random(256).to_le_bytes()[0]).collect();
        let u = &mut Unstructured::new(&bytes);
        for _ in 0..count.min(*len.end() - pods.len()) {
            pods.push(with(same, few(u, now)?, changed));
        }
    }
    Ok(pods)
}

/// One more record: any, one of few values, or a change to one of the latest.
fn pod(choice: u8, u: &mut Unstructured<'_>, now: i64, pods: &[Pod]) -> Result<Pod> {
    let back = usize::from(choice / 8).checked_rem(pods.len()).map(|back| pods.len() - 1 - back);
    let latest = back.map_or_else(Pod::new, |index| pods[index]);
    // SAFETY: a record is plain integers without padding.
    let mut bytes = unsafe { transmute::<Pod, Bytes>(latest) };
    match choice % 8 {
        0 => u.fill_buffer(&mut bytes)?,
        1 | 2 => return few(u, now),
        3..=5 => {
            let bit = u.int_in_range(0..=8 * bytes.len() - 1)?;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        6 => {
            let field = u.choose(&FIELDS)?.clone();
            u.fill_buffer(&mut bytes[field])?;
        }
        _ => {
            let changed = u.arbitrary()?;
            return Ok(with(latest, few(u, now)?, changed));
        }
    }
    // SAFETY: any bytes are a record.
    Ok(unsafe { transmute::<Bytes, Pod>(bytes) })
}

/// Returns the pod with some fields of another: bit by bit, `changed` says which.
fn with(pod: Pod, other: Pod, changed: u16) -> Pod {
    // SAFETY: records are plain integers without padding.
    let [mut bytes, other] = [pod, other].map(|pod| unsafe { transmute::<Pod, Bytes>(pod) });
    for (_, field) in FIELDS.into_iter().enumerate().filter(|(i, _)| changed >> i & 1 == 1) {
        bytes[field.clone()].copy_from_slice(&other[field]);
    }
    // SAFETY: any bytes are a record.
    unsafe { transmute::<Bytes, Pod>(bytes) }
}

/// Any gates, and mostly the usual `now`.
pub fn policy(u: &mut Unstructured<'_>) -> Result<Policy> {
    let bits = u.int_in_range(0..=7_u8)?;
    let mut gates = FeatureGates::KUBERNETES;
    gates.pod_deletion_cost = bits & 1 == 0;
    gates.logarithmic_scale_down = bits & 2 == 0;
    gates.prefer_for_scale_down = bits & 4 != 0;
    let now = match u.int_in_range(0..=9_u8)? {
        0..=4 => Time::from_unix_nanos(NOW),
        5 => Time::from_unix_nanos(NOW + 123_456_789),
        6 => Time::UNSET,
        // Before 1970, and the ends of the range.
        7 | 8 => *u.choose(&moments())?,
        _ => Time::from_unix_nanos(u.arbitrary()?),
    };
    Ok(Policy::at(now).with_gates(gates))
}

/// A valid pod of few values, and those at the edges.
fn few(u: &mut Unstructured<'_>, now: i64) -> Result<Pod> {
    let class = u.arbitrary::<u8>()?;
    Ok(Pod {
        uid: uid(u)?,
        ready_time: time(u, now)?,
        creation_time: time(u, now)?,
        deletion_cost: *u.choose(&[0, 0, 0, 1, -1, 2, -100, i32::MIN, i32::MAX])?,
        rank: count(u)?,
        restarts: count(u)?,
        sidecar_restarts: count(u)?,
        node: u.int_in_range(0..=7)?,
        // Half of the pods are running, and half are ready.
        phase: [Phase::RUNNING, Phase::RUNNING, Phase::UNKNOWN, Phase::PENDING][usize::from(class >> 6)],
        flags: Flags::from_bits(class & 7),
        // The same in all pods as often as not, so that the later rules decide, too.
        tier: [0, 0, 0, 0, 1, 14, 15, 16][usize::from(class >> 3 & 7)],
        ..Pod::new()
    })
}

/// One of few UIDs. Each has one byte other than zero, at any place.
fn uid(u: &mut Unstructured<'_>) -> Result<Uid> {
    let choice = u.arbitrary::<u8>()?;
    let mut bytes = [0; 16];
    bytes[usize::from(choice & 15)] = [0, 1, 0x7f, 0x80][usize::from(choice >> 6)];
    Ok(Uid::from_bytes(bytes))
}

fn count(u: &mut Unstructured<'_>) -> Result<u32> {
    Ok(*u.choose(&[0, 0, 0, 1, 1, 2, 7, 63, 64, 255, 256, 1023, 1024, 1 << 31, u32::MAX - 1, u32::MAX])?)
}

/// A time from an ordinary rollout, or one where the rules turn.
pub fn time(u: &mut Unstructured<'_>, now: i64) -> Result<Time> {
    let nanos = match u.int_in_range(0..=15_u8)? {
        0 | 1 => return Ok(Time::UNSET),
        second @ 2..=7 => now.saturating_sub((600 + i64::from(second)) * SECOND),
        8 => now.saturating_sub(u.int_in_range(-2..=40)? * DAY),
        9..=11 => {
            // Both sides of a power of two of age.
            let age = (1_i64 << u.int_in_range(0..=62)?) + u.int_in_range(-1..=1)?;
            now.saturating_sub(age)
        }
        12 | 13 => {
            // Both sides of where Go's logarithm turns, which is a little early: see `podrank_laws::relation`.
            let exponent = u.int_in_range(47..=62_u32)?;
            let early = if exponent < 54 { 45 >> (54 - exponent) } else { 45 << (exponent - 54) };
            now.saturating_sub((1 << exponent) - early + u.int_in_range(-1..=1)?)
        }
        14 => now.saturating_add(u.int_in_range(-2..=2)?),
        _ => return Ok(*u.choose(&[Time::MIN, Time::MAX, Time::from_unix_nanos(0), Time::UNSET])?),
    };
    Ok(Time::from_unix_nanos(nanos))
}

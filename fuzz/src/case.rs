//! Bytes as a policy and pods that collide: few distinct values per field, and those at the edges.
//!
//! Every byte string is a case. After its end come pseudorandom bytes that depend on the string, so even the empty string
//! is a list of pods, and a change in one byte is another list. Within the string, each byte is a choice.

use arbitrary::{Result, Unstructured};
use podrank::{FeatureGates, Flags, Phase, Pod, Policy, Time, Uid};
use podrank_laws::generate::{NOW, moments};
use std::ops::RangeInclusive;

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// Returns `data`, followed by pseudorandom bytes that depend on it, up to a length of at least `len`.
pub fn extended(data: &[u8], len: usize) -> Vec<u8> {
    let mut bytes = data.to_vec();
    // FNV-1a, then SplitMix64.
    let seed = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let mut state = data.iter().fold(0xcbf2_9ce4_8422_2325, seed);
    while bytes.len() < len {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend((mixed ^ mixed >> 31).to_le_bytes());
    }
    bytes
}

/// Returns a valid record: the parts that C would reject are left out.
pub fn sound(pod: Pod) -> Pod {
    let phase = Phase::from_ordinal(pod.phase.ordinal() % 3);
    Pod { phase, flags: Flags::from_bits(pod.flags.bits() & 7), reserved: Pod::new().reserved, ..pod }
}

/// Puts a list in another order, which a random number chooses.
pub fn shuffle<T>(list: &mut [T], salt: u64) {
    let mut state = salt;
    for last in (1..list.len()).rev() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        list.swap(last, usize::try_from((state >> 33) % (last as u64 + 1)).expect("a place"));
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
    /// Returns the case that these bytes stand for. Its number of pods is in `len`, and mostly small.
    pub fn of(data: &[u8], len: RangeInclusive<usize>) -> Self {
        let bytes = extended(data, 32 + 32 * *len.end());
        Self::read(&mut Unstructured::new(&bytes), len).expect("zeros where bytes end")
    }

    fn read(u: &mut Unstructured<'_>, len: RangeInclusive<usize>) -> Result<Self> {
        let policy = policy(u)?;
        let (least, most) = (*len.start(), *len.end());
        let most = most.min(match u.int_in_range(0..=63_u8)? {
            0..=47 => 8,
            48..=61 => 40,
            _ => most,
        });
        let len = u.int_in_range(least..=most)?;
        let k = u.int_in_range(0..=len + 2)?;
        let shared = u.arbitrary::<u16>()?;
        let [distinct, wild] = [u.ratio(1, 2)?, u.ratio(1, 16)?];
        let salt: u64 = u.arbitrary()?;
        let now = policy.now.unix_nanos().unwrap_or(NOW);
        let same = pod(u, now)?;
        let mut pods = (0..len).map(|_| pod(u, now)).collect::<Result<Vec<_>>>()?;
        for (i, pod) in (0_u64..).zip(&mut pods) {
            share(shared, &same, pod);
            if distinct {
                // An odd multiplier permutes the numbers: no two are alike.
                let number = u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt);
                let uid: u128 = number << (8 * (salt % 9));
                pod.uid = Uid::from_bytes(uid.to_be_bytes());
            }
            if wild {
                pod.phase = Phase::from_ordinal(u.arbitrary()?);
                pod.flags = Flags::from_bits(u.arbitrary()?);
                u.fill_buffer(pod.reserved.as_mut())?;
            }
        }
        Ok(Self { policy, pods, k, distinct, salt })
    }
}

/// Copies the shared fields from one pod to another, so that the late rules decide, too.
fn share(shared: u16, same: &Pod, pod: &mut Pod) {
    let is_shared = |field: u32| shared >> field & 1 == 1;
    for (field, flag) in [(0, Flags::ASSIGNED), (1, Flags::READY), (2, Flags::PREFERRED)] {
        if is_shared(field) {
            pod.flags = pod.flags.with(flag, same.flags.contains(flag));
        }
    }
    let kept = *pod;
    *pod = Pod {
        phase: if is_shared(3) { same.phase } else { kept.phase },
        deletion_cost: if is_shared(4) { same.deletion_cost } else { kept.deletion_cost },
        rank: if is_shared(5) { same.rank } else { kept.rank },
        ready_time: if is_shared(6) { same.ready_time } else { kept.ready_time },
        restarts: if is_shared(7) { same.restarts } else { kept.restarts },
        sidecar_restarts: if is_shared(8) { same.sidecar_restarts } else { kept.sidecar_restarts },
        creation_time: if is_shared(9) { same.creation_time } else { kept.creation_time },
        tier: if is_shared(10) { same.tier } else { kept.tier },
        ..kept
    };
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

/// A valid pod.
pub fn pod(u: &mut Unstructured<'_>, now: i64) -> Result<Pod> {
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
        // The same in all pods as often as not, so that the later rules get to decide.
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

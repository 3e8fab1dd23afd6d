//! Pods that collide: each field has few distinct values, among them those at the edges.

use crate::empty::Nodes;
use podrank::{FeatureGates, Flags, Neighbour, Phase, Pod, Policy, Time, Uid};
use proptest::prelude::*;
use proptest::sample::{SizeRange, select, size_range};
use proptest::test_runner::RngSeed;
use std::ops::Range;

/// The usual `now`: 2026-03-10T12:00:00Z.
pub const NOW: i64 = 1_773_144_000_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// Returns all eight settings of the gates.
pub fn all_gates() -> impl Iterator<Item = FeatureGates> {
    (0..8).map(|bits| {
        let mut gates = FeatureGates::KUBERNETES;
        gates.pod_deletion_cost = bits & 1 == 0;
        gates.logarithmic_scale_down = bits & 2 == 0;
        gates.prefer_for_scale_down = bits & 4 != 0;
        gates
    })
}

/// Returns values of `now` where ages could go wrong: unset, the usual one, the epoch and its neighbours, before
/// 1970, and the ends of the range, where ages saturate.
pub fn moments() -> Vec<Time> {
    let nanos = [NOW, 0, 1, -1, -NOW, -SECOND / 3, i64::MIN + 2, i64::MIN + 1_000, i64::MAX - 1];
    let mut moments = vec![Time::UNSET, Time::MIN, Time::MAX];
    moments.extend(nanos.map(Time::from_unix_nanos));
    moments
}

/// Returns all settings of the gates at every one of the [`moments`].
pub fn all_policies() -> impl Iterator<Item = Policy> {
    all_gates().flat_map(|gates| moments().into_iter().map(move |now| Policy::at(now).with_gates(gates)))
}

/// Any gates, and any `now`: half of the time the usual one or none.
pub fn policies() -> impl Strategy<Value = Policy> {
    let now = prop_oneof![
        select(vec![Time::from_unix_nanos(NOW), Time::UNSET]),
        prop_oneof![select(moments()), any::<i64>().prop_map(Time::from_unix_nanos)],
    ];
    (now, select(all_gates().collect::<Vec<_>>())).prop_map(|(now, gates)| Policy::at(now).with_gates(gates))
}

/// Returns the times where the rules turn: unset, the ends of the range, `now` and its neighbours, and both sides of
/// every power of two of age.
pub fn boundary_times(now: i64) -> Vec<Time> {
    let mut times = vec![Time::UNSET, Time::MIN, Time::MAX, Time::from_unix_nanos(0)];
    times.extend([now.saturating_sub(1), now, now.saturating_add(1)].map(Time::from_unix_nanos));
    for exponent in 0..63 {
        let edge = 1_i64 << exponent;
        for age in [edge - 1, edge, edge + 1] {
            times.push(Time::from_unix_nanos(now.saturating_sub(age)));
        }
    }
    times
}

/// Times from an ordinary rollout, which takes four seconds, and a boundary now and then.
fn times() -> impl Strategy<Value = Time> {
    prop_oneof![
        4 => (0..4_i64).prop_map(|i| Time::from_unix_nanos(NOW - (600 + i) * SECOND)),
        2 => Just(Time::UNSET),
        1 => (-2..40_i64).prop_map(|days| Time::from_unix_nanos(NOW - days * 86_400 * SECOND)),
        1 => select(boundary_times(NOW)),
    ]
}

/// Moves a time that was chosen for the usual `now`, so that at another `now` its age is the same. Times that would
/// leave the range, and unset ones, do not change.
fn moved(time: Time, now: Time) -> Time {
    let nanos = |time: Time| time.unix_nanos().map(i128::from);
    let moved = nanos(time).zip(nanos(now)).map(|(time, now)| time + now - i128::from(NOW));
    moved.and_then(|nanos| i64::try_from(nanos).ok()).map_or(time, Time::from_unix_nanos)
}

fn counts() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..3_u32, 1 => select(vec![7, 63, 64, 255, 256, 1023, 1024, u32::MAX - 1, u32::MAX])]
}

fn costs() -> impl Strategy<Value = i32> {
    prop_oneof![4 => -1..2_i32, 1 => select(vec![-100, 100, i32::MIN, i32::MAX])]
}

fn tiers() -> impl Strategy<Value = u16> {
    prop_oneof![4 => 0..3_u16, 1 => select(vec![14, 15, 16, u16::MAX])]
}

fn flags() -> impl Strategy<Value = Flags> {
    (0..8_u8).prop_map(Flags::from_bits)
}

/// A UID that has one byte other than zero, at any place.
fn uids() -> impl Strategy<Value = Uid> {
    (0..16_usize, select(vec![0_u8, 1, 0x7f, 0x80])).prop_map(|(place, byte)| {
        let mut bytes = [0; 16];
        bytes[place] = byte;
        Uid::from_bytes(bytes)
    })
}

prop_compose! {
    /// A valid pod with few distinct values.
    pub fn pod()(
        uid in uids(), ready_time in times(), creation_time in times(), deletion_cost in costs(), rank in counts(),
        restarts in counts(), sidecar_restarts in counts(), node in 0..5_u32,
        phase in select(vec![Phase::PENDING, Phase::UNKNOWN, Phase::RUNNING]), flags in flags(), tier in tiers(),
    ) -> Pod {
        Pod {
            uid, ready_time, creation_time, deletion_cost, rank, restarts, sidecar_restarts, node, phase, flags, tier,
            ..Pod::new()
        }
    }
}

/// Lists of valid pods. In each list some fields are equal in all pods, so that the late rules decide, too.
pub fn pods(len: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Pod>> {
    // Half of them, or nearly all, or all but the two times.
    let fields = prop_oneof![
        any::<u16>(),
        any::<[u16; 3]>().prop_map(|[a, b, c]| a | b | c),
        Just(!(1 << 6 | 1 << 9)),
    ];
    (prop::collection::vec(pod(), len), pod(), fields).prop_map(|(mut pods, same, shared)| {
        for pod in &mut pods {
            let share = |field: u16| shared & 1 << field != 0;
            for (field, flag) in [(0, Flags::ASSIGNED), (1, Flags::READY), (2, Flags::PREFERRED)] {
                let of = if share(field) { same.flags } else { pod.flags };
                pod.flags = pod.flags.with(flag, of.contains(flag));
            }
            pod.phase = if share(3) { same.phase } else { pod.phase };
            pod.deletion_cost = if share(4) { same.deletion_cost } else { pod.deletion_cost };
            pod.rank = if share(5) { same.rank } else { pod.rank };
            pod.ready_time = if share(6) { same.ready_time } else { pod.ready_time };
            pod.restarts = if share(7) { same.restarts } else { pod.restarts };
            pod.sidecar_restarts = if share(8) { same.sidecar_restarts } else { pod.sidecar_restarts };
            pod.creation_time = if share(9) { same.creation_time } else { pod.creation_time };
            pod.tier = if share(10) { same.tier } else { pod.tier };
        }
        pods
    })
}

/// The bytes of a record that no valid pod has: an unknown phase, unknown flags, reserved bytes that are not zero.
/// About one in eight is invalid in each of these ways.
fn invalid_parts() -> impl Strategy<Value = (Option<u8>, Option<u8>, Option<(usize, u8)>)> {
    let rarely = 0.125;
    (
        prop::option::weighted(rarely, select(vec![3, 4, 127, 128, 254, 255])),
        prop::option::weighted(rarely, any::<u8>()),
        prop::option::weighted(rarely, (0..8_usize, select(vec![1, 128, 255]))),
    )
}

/// A policy and a list of valid pods, whose ages are those of an ordinary rollout at this policy's `now`.
pub fn cases(len: impl Into<SizeRange>) -> impl Strategy<Value = (Policy, Vec<Pod>)> {
    (policies(), pods(len)).prop_map(|(policy, mut pods)| {
        for pod in &mut pods {
            pod.ready_time = moved(pod.ready_time, policy.now);
            pod.creation_time = moved(pod.creation_time, policy.now);
        }
        (policy, pods)
    })
}

/// As [`cases`], but in half of the lists some records are invalid. The core accepts them all, and orders them by
/// their bytes; C rejects them.
pub fn cases_with_invalid_records(len: impl Into<SizeRange>) -> impl Strategy<Value = (Policy, Vec<Pod>)> {
    let parts = prop::option::of(prop::collection::vec(invalid_parts(), 1..20));
    (cases(len), parts).prop_map(|((policy, mut pods), parts)| {
        let parts = parts.unwrap_or_default();
        for (pod, &(phase, flags, reserved)) in pods.iter_mut().zip(parts.iter().cycle()) {
            pod.phase = phase.map_or(pod.phase, Phase::from_ordinal);
            pod.flags = flags.map_or(pod.flags, Flags::from_bits);
            if let Some((place, byte)) = reserved {
                let mut bytes = [0; 8];
                bytes[place] = byte;
                pod.reserved = podrank::ffi::reserved(bytes);
            }
        }
        (policy, pods)
    })
}

/// As [`cases`], but each pod has a UID of its own. The UIDs are in no order.
pub fn distinct_cases(len: impl Into<SizeRange>) -> impl Strategy<Value = (Policy, Vec<Pod>)> {
    (cases(len), any::<u32>(), 0..=12_u32).prop_map(|((policy, mut pods), salt, place)| {
        for (i, pod) in (0_u32..).zip(&mut pods) {
            // An odd multiplier permutes the 32-bit numbers, so no two are equal.
            let uid = i.wrapping_mul(0x9e37_79b9) ^ salt;
            pod.uid = Uid::from_bytes((u128::from(uid) << (8 * place)).to_be_bytes());
        }
        (policy, pods)
    })
}

/// A whole set, as a weight.
const WHOLE: u64 = 1 << 32;

/// Few distinct weights, and up to three levels, whose domains lie in one another.
pub fn nodes() -> impl Strategy<Value = Nodes> {
    let weight = select(vec![0, 0, 0, 1, WHOLE / 3, WHOLE, WHOLE + 1, 3 * WHOLE, u64::MAX]);
    let part = || prop::collection::vec(0..2_u32, 5);
    (prop::collection::vec(weight, 5), prop::collection::vec(part(), 0..4)).prop_map(|(weights, parts)| {
        let mut domain = vec![1_u32; 5];
        let level = |part: Vec<u32>| {
            domain.iter_mut().zip(part).for_each(|(domain, part)| *domain = 2 * *domain + part);
            domain.clone()
        };
        Nodes { weights, levels: parts.into_iter().map(level).collect() }
    })
}

/// Pods of other sets, on four nodes.
pub fn neighbours() -> impl Strategy<Value = Vec<Neighbour>> {
    let pod = (select(vec![0, 1, 2, u32::MAX]), 0..4_u32).prop_map(|(set, node)| Neighbour { set, node });
    prop::collection::vec(pod, 0..20)
}

/// Returns the configuration of a property test: as many cases as `PODRANK_CASES` says, or `few` if it is unset,
/// made from the seed `PODRANK_SEED`, or 0. It prints both, which the test runner shows if the test fails. It
/// writes no file of regressions.
///
/// # Panics
/// If a variable is not a number.
pub fn config(few: u32) -> ProptestConfig {
    let (seed, cases) = (seed(), number("PODRANK_CASES").unwrap_or(few));
    println!("PODRANK_SEED={seed} PODRANK_CASES={cases}");
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed.into()),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Returns the seeds for a test that makes its cases itself, one for each: from 0 on, unless `PODRANK_SEED` says
/// otherwise. No two values of `PODRANK_SEED` have a seed in common.
///
/// # Panics
/// If the variable is not a number.
pub fn seeds(cases: u32) -> Range<u64> {
    let seed = seed();
    println!("PODRANK_SEED={seed}");
    let first = u64::from(seed) << 32;
    first..first + u64::from(cases)
}

/// Returns pseudorandom numbers, each below the limit that it is asked with: `SplitMix64`, which the core does not use.
pub fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |limit| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % limit
    }
}

fn seed() -> u32 {
    number("PODRANK_SEED").unwrap_or(0)
}

fn number(variable: &str) -> Option<u32> {
    let text = std::env::var_os(variable)?.to_string_lossy().into_owned();
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: `{text}` is not a number below 2^32")))
}

/// The lowest of some costs that are close to each other, around 0 or at an end of the range, and their width.
fn close_costs() -> impl Strategy<Value = (i32, i32)> {
    (select(vec![0, i32::MIN, i32::MAX]), 0..7_i32)
        .prop_map(|(end, width)| (end.min(i32::MAX - width), width))
}

/// Pods to steer, in few tiers and with costs close to each other, and what changing each cost is worth: `None` if
/// it is fixed, which none are, or some.
pub fn steerable_pods(len: Range<usize>) -> impl Strategy<Value = (Vec<Pod>, Vec<Option<u8>>)> {
    let tier = || prop_oneof![6 => 0..4_u16, 1 => select(vec![99, u16::MAX])];
    let shape = (any::<prop::sample::Index>(), close_costs(), 0..4_u8);
    (distinct_cases(len), shape).prop_flat_map(move |((_, pods), (tiers, (start, width), fixed))| {
        let each = (tier(), (0..=width).prop_map(move |offset| start + offset), 0..4_u8);
        let each = prop::collection::vec(each, pods.len());
        let most = u16::try_from(tiers.index(4)).expect("a small number");
        (Just(pods), each).prop_map(move |(mut pods, each)| {
            let price =
                |choice: u8| if choice < fixed { None } else { Some([1, 1, 2, 7][usize::from(choice % 4)]) };
            let prices = each.iter().map(|(_, _, choice)| price(*choice)).collect();
            for (pod, (tier, cost, _)) in pods.iter_mut().zip(each) {
                (pod.tier, pod.deletion_cost) = (if tier < 4 { tier.min(most) } else { tier }, cost);
            }
            (pods, prices)
        })
    })
}

/// 0 to 300, with small and large sizes equally likely.
pub fn sizes() -> impl Strategy<Value = SizeRange> {
    prop_oneof![0..8_usize, 0..40_usize, 0..301_usize].prop_map(size_range)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    const THIS: &str = "tests/laws/src/generate.rs";

    /// Returns the Rust files of the repository, and fails at one that a failing property left.
    fn rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(!name.contains("proptest-regressions"), "{}: delete it", path.display());
            if path.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&name.as_str())
            {
                rust_files(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }

    /// Another configuration would ignore `PODRANK_SEED` and `PODRANK_CASES`, and leave files of regressions in the
    /// tree.
    #[test]
    fn every_property_is_configured_here() {
        let mut files = vec![];
        rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut files);
        let mut properties = 0;
        for file in files.iter().filter(|file| !file.ends_with(THIS)) {
            let text = fs::read_to_string(file).unwrap();
            for (opening, next) in text.lines().zip(text.lines().skip(1)) {
                if opening.contains("proptest!") {
                    let is_configured = next.trim_start().starts_with("#![proptest_config(config(");
                    assert!(
                        is_configured,
                        "{}: begin each `proptest!` with `config`: {next}",
                        file.display()
                    );
                    properties += 1;
                }
            }
            let is_test = file.components().any(|part| part.as_os_str() == "tests");
            for other in ["ProptestConfig", "TestRunner::default", "TestRunner::new", "Rng::new"] {
                let is_used = is_test && text.contains(other);
                assert!(!is_used, "{}: {other} makes other cases each time", file.display());
            }
        }
        assert!(properties >= 10, "{properties}");
    }
}

//! Pods that collide: few distinct values per field, and those at the edges.

use podrank::{FeatureGates, Flags, Phase, Pod, Policy, Time, Uid};
use proptest::prelude::*;
use proptest::sample::{SizeRange, select, size_range};
use std::ops::Range;

/// The `now` of all generated pods: 2026-03-10T12:00:00Z.
pub const NOW: i64 = 1_773_144_000_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// All eight settings of the gates.
pub fn all_gates() -> impl Iterator<Item = FeatureGates> {
    (0..8).map(|bits| {
        let mut gates = FeatureGates::KUBERNETES;
        gates.pod_deletion_cost = bits & 1 == 0;
        gates.logarithmic_scale_down = bits & 2 == 0;
        gates.prefer_for_scale_down = bits & 4 != 0;
        gates
    })
}

/// All settings of the gates, at `NOW` and at no moment.
pub fn all_policies() -> impl Iterator<Item = Policy> {
    let policies = [Policy::without_now(), Policy::at(Time::from_unix_nanos(NOW))];
    all_gates().flat_map(move |gates| policies.map(|policy| policy.with_gates(gates)))
}

/// Any setting of the gates, at `NOW` or at no moment.
pub fn policies() -> impl Strategy<Value = Policy> {
    select(all_policies().collect::<Vec<_>>())
}

/// Times where the rules turn: unset, the ends of the range, `now` and its neighbours, and both sides of every
/// power of two of age.
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

/// Times of an ordinary rollout, four distinct seconds of it, and now and then a boundary.
fn times() -> impl Strategy<Value = Time> {
    prop_oneof![
        4 => (0..4_i64).prop_map(|i| Time::from_unix_nanos(NOW - (600 + i) * SECOND)),
        2 => Just(Time::UNSET),
        1 => (-2..40_i64).prop_map(|days| Time::from_unix_nanos(NOW - days * 86_400 * SECOND)),
        1 => select(boundary_times(NOW)),
    ]
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

/// Any pod of few values; its UID is one of eight.
pub fn pod() -> impl Strategy<Value = Pod> {
    let phase = select(vec![Phase::PENDING, Phase::UNKNOWN, Phase::RUNNING]);
    let fields =
        (0..8_u8, times(), times(), costs(), counts(), counts(), counts(), 0..5_u32, phase, flags(), tiers());
    fields.prop_map(
        |(
            uid,
            ready_time,
            creation_time,
            deletion_cost,
            rank,
            restarts,
            sidecar_restarts,
            node,
            phase,
            flags,
            tier,
        )| {
            let uid = Uid::from_bytes([uid; 16]);
            Pod {
                uid,
                ready_time,
                creation_time,
                deletion_cost,
                rank,
                restarts,
                sidecar_restarts,
                node,
                phase,
                flags,
                tier,
                ..Pod::new()
            }
        },
    )
}

/// Lists of pods. In each list some fields are the same in all pods, so that the late rules get to decide.
pub fn pods(len: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Pod>> {
    let fields = any::<u16>();
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

/// As [`pods`], each with a UID of its own, in no order.
pub fn distinct_pods(len: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Pod>> {
    (pods(len), any::<u32>()).prop_map(|(mut pods, salt)| {
        for (i, pod) in (0_u32..).zip(&mut pods) {
            // An odd multiplier permutes the 32-bit numbers: no two are alike.
            let uid = i.wrapping_mul(0x9e37_79b9) ^ salt;
            pod.uid = Uid::from_bytes(u128::from(uid).to_be_bytes());
        }
        pods
    })
}

/// How many cases a property is tried on: as many as `PODRANK_CASES` says, else `few`.
///
/// # Panics
/// If the variable is no number.
pub fn cases(few: u32) -> ProptestConfig {
    let cases =
        std::env::var("PODRANK_CASES").map_or(few, |cases| cases.parse().expect("PODRANK_CASES: a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Where costs start that are close to each other, around 0 or at an end of the range, and how far they go.
fn close_costs() -> impl Strategy<Value = (i32, i32)> {
    (select(vec![0, i32::MIN, i32::MAX]), 0..7_i32)
        .prop_map(|(end, width)| (end.min(i32::MAX - width), width))
}

/// Pods to steer, in few tiers and at close costs, and which costs are fixed: none, or some.
pub fn steerable_pods(len: Range<usize>) -> impl Strategy<Value = (Vec<Pod>, Vec<bool>)> {
    let tier = || prop_oneof![6 => 0..4_u16, 1 => select(vec![99, u16::MAX])];
    let shape = (any::<prop::sample::Index>(), close_costs(), 0..4_u8);
    (distinct_pods(len), shape).prop_flat_map(move |(pods, (tiers, (start, width), fixed))| {
        let each = (tier(), (0..=width).prop_map(move |offset| start + offset), 0..4_u8);
        let each = prop::collection::vec(each, pods.len());
        let most = u16::try_from(tiers.index(4)).expect("a small number");
        (Just(pods), each).prop_map(move |(mut pods, each)| {
            let is_fixed = each.iter().map(|(_, _, choice)| *choice < fixed).collect();
            for (pod, (tier, cost, _)) in pods.iter_mut().zip(each) {
                (pod.tier, pod.deletion_cost) = (if tier < 4 { tier.min(most) } else { tier }, cost);
            }
            (pods, is_fixed)
        })
    })
}

/// 0 to 300, small ones as often as large ones.
pub fn sizes() -> impl Strategy<Value = SizeRange> {
    prop_oneof![0..8_usize, 0..40_usize, 0..301_usize].prop_map(size_range)
}

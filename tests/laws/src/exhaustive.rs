//! All pairs of pods, by reduction.
//!
//! A rule compares one field of two pods, and the order applies the rules in turn. So its answer on any pair depends
//! only on (1) each rule's answer on the two values of its own field, and (2) how the twelve answers are combined.
//! [`each_field`] checks (1) on all pairs of values where a rule could turn. Between two neighbouring boundaries no rule
//! has a special case, so every other pair gets the same answer as a pair of boundaries. [`each_vector`] checks (2) on one
//! pair for every combination of the twelve answers: before, equal, after. An implementation that is wrong on some pair
//! is wrong in one rule or in the combination.

use crate::generate::{NOW, all_gates, all_policies, boundary_times};
use crate::{Implementation, laws};
use podrank::{Flags, Phase, Pod, Policy, Rule, Time, Uid};

/// Checks all pairs of each field's boundary values, with all else equal, under every policy.
pub fn each_field(order: &impl Implementation) {
    for policy in all_policies() {
        for field in fields(policy.now) {
            for (i, a) in field.iter().enumerate() {
                for b in &field[..=i] {
                    laws::one_answer(order, &policy, a, b);
                }
            }
        }
    }
}

/// Returns, for each field, a ready and running pod with each of the field's boundary values. Ready times come with both
/// values of readiness, because one changes the meaning of the other.
fn fields(now: Time) -> Vec<Vec<Pod>> {
    // Among them both sides of 6, 8, 10, 16 and 31 bits.
    let turns = [6, 8, 10, 16, 31].into_iter().flat_map(|bits| (1 << bits) - 2..=1_u32 << bits);
    let counts: Vec<u32> = (0..=2).chain(turns).chain([u32::MAX - 1, u32::MAX]).collect();
    let times = boundary_times(now.unix_nanos().unwrap_or(NOW));
    let uids = (0..16).flat_map(|byte| {
        [1_u8, 0x7f, 0x80, 0xff].map(|value| {
            let mut bytes = [0; 16];
            bytes[byte] = value;
            Uid::from_bytes(bytes)
        })
    });
    let flags = (0..8).map(Flags::from_bits);
    let phases = [Phase::PENDING, Phase::UNKNOWN, Phase::RUNNING];
    let costs = [
        i32::MIN,
        i32::MIN + 1,
        -0x1_0000,
        -0x8000,
        -1,
        0,
        1,
        0x7fff,
        0x8000,
        0x1_0000,
        i32::MAX - 1,
        i32::MAX,
    ];
    let tiers = [0, 1, 14, 15, 16, 0x7fff, 0x8000, u16::MAX - 1, u16::MAX];
    let unready = Pod { flags: Flags::ASSIGNED, ..base() };
    vec![
        flags.map(|flags| Pod { flags, ..base() }).collect(),
        phases.map(|phase| Pod { phase, ..base() }).into(),
        tiers.map(|tier| Pod { tier, ..base() }).into(),
        costs.map(|deletion_cost| Pod { deletion_cost, ..base() }).into(),
        counts.iter().map(|&rank| Pod { rank, ..base() }).collect(),
        times.iter().map(|&ready_time| Pod { ready_time, ..base() }).collect(),
        times.iter().map(|&ready_time| Pod { ready_time, ..unready }).collect(),
        counts.iter().map(|&restarts| Pod { restarts, ..base() }).collect(),
        counts.iter().map(|&sidecar_restarts| Pod { sidecar_restarts, ..base() }).collect(),
        times.iter().map(|&creation_time| Pod { creation_time, ..base() }).collect(),
        uids.map(|uid| Pod { uid, ..base() }).collect(),
    ]
}

fn base() -> Pod {
    Pod { phase: Phase::RUNNING, flags: Flags::ASSIGNED | Flags::READY, ..Pod::new() }
}

/// Checks one pair for every combination of before, equal and after over the rules, under all gates, at the usual `now`,
/// before 1970 and with `now` unset.
pub fn each_vector(order: &impl Implementation) {
    let rules = u32::try_from(Rule::ALL.len()).unwrap();
    let moments = [Some(NOW), Some(-NOW), None].map(|nanos| nanos.map_or(Time::UNSET, Time::from_unix_nanos));
    for (gates, now) in all_gates().flat_map(|gates| moments.map(|now| (gates, now))) {
        let policy = Policy::at(now).with_gates(gates);
        for vector in 0..3_u32.pow(rules) {
            let (mut a, mut b) = (base(), base());
            let mut digits = vector;
            for &rule in Rule::ALL {
                match digits % 3 {
                    0 => {}
                    1 => set_apart(rule, now, &mut a, &mut b),
                    _ => set_apart(rule, now, &mut b, &mut a),
                }
                digits /= 3;
            }
            laws::one_answer(order, &policy, &a, &b);
        }
    }
}

/// Makes `first` go before `second` by this rule.
fn set_apart(rule: Rule, now: Time, first: &mut Pod, second: &mut Pod) {
    let now = now.unix_nanos().unwrap_or(NOW);
    let [earlier, later] = [1 << 40, 1 << 39].map(|age| Time::from_unix_nanos(now - age));
    match rule {
        Rule::Unassigned => first.flags = first.flags.with(Flags::ASSIGNED, false),
        Rule::Phase => first.phase = Phase::UNKNOWN,
        Rule::NotReady => first.flags = first.flags.with(Flags::READY, false),
        Rule::Tier => second.tier = 1,
        Rule::DeletionCost => first.deletion_cost = -1,
        Rule::Rank => first.rank = 1,
        Rule::Preferred => first.flags |= Flags::PREFERRED,
        Rule::ReadyTime => (first.ready_time, second.ready_time) = (later, earlier),
        Rule::Restarts => first.restarts = 1,
        Rule::SidecarRestarts => first.sidecar_restarts = 1,
        Rule::CreationTime => (first.creation_time, second.creation_time) = (later, earlier),
        Rule::Uid => second.uid = Uid::from_bytes([1; 16]),
        _ => panic!("{rule} has no pair here"),
    }
}

//! A `StatefulSet`'s next sync: Kubernetes' own cases, and what is true of all. Kubernetes' own code judges it from Go.

use podrank::controller::IntOrPercent;
use podrank::controller::stateful_set::{
    InvalidMember, Member, MemberFlags, Outcome, PodManagement, Reason, StatefulSet, Update, Verdict,
    next_sync, ordinal,
};
use podrank_laws::Core;
use podrank_laws::generate::config;
use podrank_laws::stateful_set::{StatefulSets, sync_is_upstreams};
use podrank_laws::vectors::stateful_set::check_stateful_set;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

#[test]
fn vectors() {
    check_stateful_set(&Core);
}

#[test]
fn reasons_have_stable_names_and_numbers() {
    let mut names = BTreeSet::new();
    for reason in Reason::ALL {
        assert_eq!(Reason::from_number(reason.number()), Some(*reason));
        assert!(!reason.name().is_empty() && names.insert(reason.name()), "{reason:?}");
    }
    let numbers: Vec<_> = Reason::ALL.iter().map(|reason| reason.number()).collect();
    assert!(numbers.is_sorted());
    assert_eq!((Reason::from_number(7), Reason::WaitsForReady.to_string()), (None, "waits-for-ready".into()));
}

#[test]
fn a_short_slice_is_an_error_and_nothing_is_written() {
    let members = [Member::new(0, MemberFlags::RUNNING), Member::new(1, MemberFlags::RUNNING)];
    let mut untouched = Outcome::default();
    untouched.by_ordinal = 7;
    let mut outcomes = [untouched];
    let error = next_sync(&StatefulSet::default(), &members, &mut outcomes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are fewer outcomes than members: make room for one outcome per member"
    );
    assert_eq!(outcomes, [untouched]);
}

#[test]
fn only_sound_members_are_valid() {
    let member = Member::new(3, MemberFlags::RUNNING);
    assert_eq!(member.validate(), Ok(()));
    assert_eq!(Member { ordinal: 0, ..member }.validate(), Ok(()));
    assert_eq!(Member { ordinal: -1, ..member }.validate(), Err(InvalidMember::Negative));
    let flags = MemberFlags::from_bits(0xC1);
    assert_eq!(Member { flags, ..member }.validate(), Err(InvalidMember::UnknownFlags(0xC0)));
    assert_eq!(Member { reserved: [0, 1, 0], ..member }.validate(), Err(InvalidMember::ReservedNotZero));
    for (error, text) in [
        (InvalidMember::Negative, "the ordinal is negative"),
        (InvalidMember::UnknownFlags(0xC0), "the flags 0xc0 are unknown"),
        (InvalidMember::ReservedNotZero, "a reserved byte is not zero"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

/// As long as its condition `Ready` is true, a finished pod counts as available. It goes anyway, and uses up the budget.
#[test]
fn a_finished_pod_can_use_up_the_budget() {
    let (old, finished) = (MemberFlags::from_bits(0b1101), MemberFlags::from_bits(0b1110));
    let set = StatefulSet {
        replicas: 3,
        management: PodManagement::Parallel,
        update: Update::RollingUpdate { partition: 0, max_unavailable: IntOrPercent::Int(1) },
        max_unavailable_gate: true,
        ..StatefulSet::default()
    };
    let told = |[last, middle, first]: [MemberFlags; 3]| {
        let members = [Member::new(0, first), Member::new(1, middle), Member::new(2, last)];
        sync_is_upstreams(&Core, &set, &members);
        let (_, outcomes) = Core.next_sync(&set, &members);
        outcomes.iter().map(|outcome| (outcome.verdict, outcome.reason)).collect::<Vec<_>>()
    };
    let (goes, waits) = ((Verdict::Delete, Reason::Finished), (Verdict::Blocked, Reason::Budget));
    assert_eq!(told([finished, old, old]), [goes, waits, waits]);
    // Beyond the budget, it goes, too.
    assert_eq!(told([old, finished, old]), [(Verdict::Delete, Reason::Old), goes, waits]);
}

fn sets() -> impl Strategy<Value = StatefulSet> {
    let update = prop_oneof![
        4 => (0..8_i32, 0..4_i32).prop_map(|(partition, number)| Update::RollingUpdate {
            partition,
            max_unavailable: IntOrPercent::Int(number),
        }),
        2 => (0..4_i32, 0..120_u32).prop_map(|(partition, percent)| Update::RollingUpdate {
            partition,
            max_unavailable: IntOrPercent::Percent(percent),
        }),
        1 => Just(Update::OnDelete),
        1 => Just(Update::Recreate),
    ];
    (0..7_i32, 0..4_i32, any::<bool>(), update, any::<[bool; 2]>()).prop_map(
        |(replicas, start, is_parallel, update, [max_unavailable_gate, recreate_gate])| StatefulSet {
            replicas,
            start,
            management: if is_parallel { PodManagement::Parallel } else { PodManagement::OrderedReady },
            update,
            is_being_deleted: false,
            max_unavailable_gate,
            recreate_gate,
        },
    )
}

/// A healthy pod, new or old.
fn healthy() -> impl Strategy<Value = u8> {
    select(vec![0b10_1101_u8, 0b00_1101])
}

/// A pod that is finished, also one that still counts as available, that is being deleted or not available, or any other.
fn odd() -> impl Strategy<Value = u8> {
    prop_oneof![
        3 => select(vec![0b00_1111_u8, 0b00_1110, 0b00_0010, 0b10_1110, 0b10_0010]),
        2 => select(vec![0b00_0101, 0b00_0001, 0b10_0101, 0b10_0001]),
        2 => select(vec![0b01_1101, 0b11_1101]),
        1 => 0..64_u8,
    ]
}

/// A set and its pods, with different ordinals: most of its range, and sometimes pods on either side of it. All of them are
/// healthy, or few are not, or many.
fn cases() -> impl Strategy<Value = (StatefulSet, Vec<Member>)> {
    let each = prop::collection::vec((0..10, 0..10, healthy(), odd()), 12);
    (sets(), select(vec![0, 1, 3, 6]), select(vec![0, 0, 2, 5]), each).prop_map(
        |(set, odd_ones, misplaced, each)| {
            let range = set.start..set.start + set.replicas;
            let members = (0..).zip(each).filter_map(|(ordinal, (place, health, healthy, odd))| {
                let exists =
                    if range.contains(&ordinal) { place >= misplaced / 2 } else { place < misplaced };
                let bits = if health < odd_ones { odd } else { healthy };
                exists.then(|| Member::new(ordinal, MemberFlags::from_bits(bits)))
            });
            (set, members.collect())
        },
    )
}

proptest! {
    #![proptest_config(config(8192))]

    #[test]
    fn a_sync_keeps_the_promises_of_the_policy((set, members) in cases()) {
        sync_is_upstreams(&Core, &set, &members);
        let (step, outcomes) = Core.next_sync(&set, &members);
        let is_terminating = |outcome: &Outcome| members[outcome.member as usize].flags.contains(MemberFlags::TERMINATING);
        for outcome in &outcomes {
            let ordinal = members[outcome.member as usize].ordinal;
            prop_assert!(outcome.verdict == Verdict::Keep || !is_terminating(outcome));
            // In the range, a finished pod goes because it is finished, whatever else it is.
            let is_finished = members[outcome.member as usize].flags.contains(MemberFlags::FINISHED);
            let is_in_range = (set.start..set.start + set.replicas).contains(&ordinal);
            if outcome.verdict == Verdict::Delete && is_finished && is_in_range && set.update != Update::Recreate {
                prop_assert_eq!(outcome.reason, Reason::Finished);
            }
            // A pod waits only for one that exists, or for an ordinal in the range.
            if outcome.verdict == Verdict::Blocked && outcome.reason == Reason::WaitsForMissing {
                prop_assert!((set.start..set.start + set.replicas).contains(&outcome.by_ordinal));
            }
            if let Update::RollingUpdate { partition, .. } = set.update
                && matches!(outcome.reason, Reason::Old | Reason::OldUnavailable)
            {
                prop_assert!(ordinal >= set.start + partition);
            }
        }
        if set.management == PodManagement::OrderedReady && set.update != Update::Recreate {
            let scaled = outcomes.iter().filter(|outcome| outcome.reason == Reason::OutOfRange).count();
            prop_assert!(scaled <= 1);
            prop_assert!(scaled == 0 || step.delete == 1);
        }
    }

    #[test]
    fn the_order_of_the_list_is_nothing((set, members) in cases(), seed in any::<u64>()) {
        let mut other = members.clone();
        other.sort_by_key(|member| (u64::from(member.ordinal.unsigned_abs()) + 1).wrapping_mul(seed | 1));
        let told = |members: &[Member]| -> Vec<_> {
            let (_, outcomes) = Core.next_sync(&set, members);
            outcomes.iter().map(|it| (members[it.member as usize].ordinal, it.verdict, it.reason, it.by_ordinal)).collect()
        };
        prop_assert_eq!(told(&members), told(&other));
    }

    /// Whatever bits the records have.
    #[test]
    fn every_call_returns(
        bits in prop::collection::vec((any::<i32>(), any::<u8>()), 0..12),
        [replicas, start, partition, number] in any::<[i32; 4]>(),
        is_parallel in any::<bool>(),
    ) {
        let members: Vec<_> =
            bits.iter().map(|(ordinal, bits)| Member::new(*ordinal, MemberFlags::from_bits(*bits))).collect();
        let management = if is_parallel { PodManagement::Parallel } else { PodManagement::OrderedReady };
        let update = Update::RollingUpdate { partition, max_unavailable: IntOrPercent::Int(number) };
        let set = StatefulSet { replicas, start, management, update, ..StatefulSet::default() };
        let mut outcomes = vec![Outcome::default(); members.len()];
        prop_assert!(next_sync(&set, &members, &mut outcomes).is_ok());
    }

    #[test]
    fn ordinals_are_what_follows_the_hyphen(set in "[a-z-]{0,4}", tail in "[0-9+x-]{0,11}") {
        let name = format!("{set}-{tail}");
        let is_number = !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_digit());
        let expected = tail.parse::<i32>().ok().filter(|_| is_number);
        prop_assert_eq!(ordinal(&set, &name), expected);
    }
}

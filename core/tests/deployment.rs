//! A Deployment's next sync: Kubernetes' own test tables, a naive implementation of its code, and laws that always hold.

use podrank::controller::deployment::{
    Budgets, Change, Deployment, InvalidReplicaSet, Path, Reason, ReplicaSet, SetFlags, Strategy,
    TooFewChanges, next_sync,
};
use podrank::controller::{IntOrPercent, IntOrPercentError, MAX_PERCENT};
use podrank_laws::Core;
use podrank_laws::deployment::{
    Deployments, cases, later_syncs_follow, list_order_is_nothing, sync_is_upstreams,
};
use podrank_laws::generate::config;
use podrank_laws::vectors;
use proptest::prelude::*;
use proptest::strategy::{Strategy as _, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(config(8192))]

    #[test]
    fn syncs((deployment, sets) in cases()) {
        sync_is_upstreams(&Core, &deployment, &sets);
    }

    #[test]
    fn a_sync_goes_on_if_later_ones_change_sizes(
        (deployment, sets) in cases(),
        statuses in prop::collection::vec(prop::array::uniform2(0..12_i32), 0..40),
    ) {
        later_syncs_follow(&Core, &deployment, &sets, &statuses);
    }

    #[test]
    fn the_order_of_the_list_is_nothing((deployment, sets) in cases(), seed in any::<u64>()) {
        let mut order: Vec<usize> = (0..sets.len()).collect();
        order.sort_by_key(|&i| (i as u64 + 1).wrapping_mul(seed | 1));
        list_order_is_nothing(&Core, &deployment, &sets, &order);
    }

    /// Whatever bits the records have, even such as Kubernetes does not store.
    #[test]
    fn every_call_returns(
        numbers in prop::collection::vec(any::<[i32; 7]>(), 0..12),
        replicas in any::<i32>(),
        status_replicas in any::<i32>(),
        surge in any::<i32>(),
        percent in any::<u32>(),
    ) {
        let strategy = Strategy::RollingUpdate {
            max_surge: IntOrPercent::Int(surge),
            max_unavailable: IntOrPercent::Percent(percent),
        };
        let deployment = Deployment { replicas, status_replicas, strategy, ..Deployment::default() };
        let sets: Vec<ReplicaSet> = numbers.iter().map(|&[a, b, c, d, e, name, flags]| ReplicaSet {
            replicas: a,
            status_replicas: b,
            available_replicas: c,
            desired_replicas: d,
            max_replicas: e,
            name_order: name.cast_unsigned() % 4,
            flags: SetFlags::from_bits(flags.to_le_bytes()[0]),
            ..ReplicaSet::new()
        }).collect();
        prop_assert_eq!(Core.next_sync(&deployment, &sets).sets.len(), sets.len());
    }

    #[test]
    fn annotations_are_gos(text in "[-+]?[0-9]{0,24}[0-9 _x]?") {
        let mut set = ReplicaSet::new();
        set.set_annotations(&text, &text);
        // Rust's own parsers, which take the same but a sign before an unsigned number.
        let valid = text.parse::<i32>().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()));
        #[allow(clippy::cast_possible_truncation)] // as Go's int32(int)
        let lenient = text.parse::<i64>().ok().map(|number| number as i32);
        prop_assert_eq!(set.flags.contains(SetFlags::DESIRED), valid.is_some());
        prop_assert_eq!(set.flags.contains(SetFlags::MAX), valid.is_some());
        prop_assert_eq!(set.flags.contains(SetFlags::DESIRED_LENIENT), lenient.is_some() && valid.is_none());
        prop_assert_eq!(set.desired_replicas, lenient.unwrap_or(0));
        prop_assert_eq!(set.max_replicas, valid.unwrap_or(0));
    }

    /// Where Kubernetes counts in floating point, and here are only integers.
    #[test]
    fn percentages_are_rounded_as_floats_are(percent in 0..=MAX_PERCENT, replicas in 0..=i32::MAX) {
        for percent in [percent, percent % 1000] {
            for replicas in [replicas, replicas % 1000, i32::MAX - replicas % 1000] {
                let float = f64::from(percent) * f64::from(replicas) / 100.0;
                #[allow(clippy::cast_possible_truncation)] // as Go's int32(int(float64))
                let (up, down) = (float.ceil() as i64 as i32, float.floor() as i64 as i32);
                let percent = IntOrPercent::Percent(percent);
                prop_assert_eq!(percent.rounded_up(replicas), up);
                prop_assert_eq!(percent.rounded_down(replicas), down);
            }
        }
    }
}

#[test]
fn vectors() {
    let cases = vectors::deployment::file().check(&Core);
    assert!(cases > 120, "{cases} cases");
}

/// The generator makes every reason on every path that has it, for sets that exist and for the new one that does not.
#[test]
fn the_cases_reach_every_reason() {
    let mut runner = TestRunner::deterministic();
    let (mut reasons, mut missing, mut paths) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..20_000 {
        let (deployment, sets) = cases().new_tree(&mut runner).unwrap().current();
        let outcome = Core.next_sync(&deployment, &sets);
        paths.insert(outcome.path.number());
        reasons.extend(outcome.sets.iter().map(|effect| effect.reason.number()));
        if outcome.new_set.is_none() {
            missing.insert(outcome.new.reason.name());
        }
    }
    assert_eq!(paths, BTreeSet::from([0, 10, 20, 30, 40]));
    assert_eq!(reasons, Reason::ALL.iter().map(|reason| reason.number()).collect());
    assert_eq!(
        missing,
        BTreeSet::from(["untouched", "at-count", "to-count", "grows", "no-surge", "waits", "rejected"])
    );
}

#[test]
fn percentages_have_a_limit() {
    assert_eq!(IntOrPercent::parse("4194304%"), Ok(IntOrPercent::Percent(MAX_PERCENT)));
    assert_eq!(IntOrPercent::parse("4194305%"), Err(IntOrPercentError::OutOfRange));
    assert_eq!(IntOrPercent::parse("1x%"), Err(IntOrPercentError::NotDigit(1)));
    // Made without parsing, a larger one counts as the limit.
    let (limit, above) = (IntOrPercent::Percent(MAX_PERCENT), IntOrPercent::Percent(u32::MAX));
    for replicas in [0, 1, 99, 100, i32::MAX] {
        assert_eq!(above.rounded_up(replicas), limit.rounded_up(replicas));
        assert_eq!(above.rounded_down(replicas), limit.rounded_down(replicas));
    }
    assert_eq!(
        IntOrPercentError::NoPercentSign.to_string(),
        "it does not end with '%': write a number of pods as an integer, without quotes"
    );
    assert_eq!(IntOrPercentError::NoDigits.to_string(), "it has no digits before '%'");
    assert_eq!(IntOrPercentError::NotDigit(2).to_string(), "the byte at offset 2 is not a digit");
    assert_eq!(IntOrPercentError::OutOfRange.to_string(), "it is above 4194304%");
}

#[test]
fn reasons_keep_their_numbers_and_names() {
    let numbers: Vec<u8> = Reason::ALL.iter().map(|reason| reason.number()).collect();
    // For ever: this list may only grow.
    let expected = [1, 4, 7, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 24, 25, 26, 27, 28, 31, 32, 35, 36, 37];
    assert_eq!(numbers, expected);
    let names: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
    assert_eq!(names.len(), numbers.len());
    assert_eq!(Reason::ShareAndLeftover.to_string(), "share-and-leftover");
    for number in 0..=u8::MAX {
        assert_eq!(
            Reason::from_number(number).map(Reason::number),
            Some(number).filter(|n| numbers.contains(n))
        );
    }
    let paths = [Path::Nothing, Path::Scale, Path::Roll, Path::Recreate, Path::Rollback];
    assert_eq!(paths.map(Path::number), [0, 10, 20, 30, 40]);
}

#[test]
fn unsound_records_are_found() {
    let sound = ReplicaSet { flags: SetFlags::from_bits(15), ..ReplicaSet::default() };
    assert_eq!(sound.validate(), Ok(()));
    let negative = Err(InvalidReplicaSet::Negative);
    let numbers: [fn(&mut ReplicaSet) -> &mut i32; 5] = [
        |set| &mut set.replicas,
        |set| &mut set.status_replicas,
        |set| &mut set.available_replicas,
        |set| &mut set.max_replicas,
        |set| &mut set.desired_replicas,
    ];
    for (number, another) in numbers.iter().flat_map(|number| numbers.map(|another| (number, another))) {
        for value in [-1, i32::MIN] {
            let mut set = sound;
            *number(&mut set) = value;
            *another(&mut set) = value;
            assert_eq!(set.validate(), negative);
        }
    }
    // Not read without their flags; read leniently, it can have a sign.
    let lenient = SetFlags::DESIRED_LENIENT | SetFlags::CURRENT_TEMPLATE;
    assert_eq!(
        ReplicaSet { desired_replicas: -1, max_replicas: -1, flags: lenient, ..sound }.validate(),
        Ok(())
    );
    let unknown = ReplicaSet { flags: SetFlags::from_bits(0x51), ..sound };
    assert_eq!(unknown.validate(), Err(InvalidReplicaSet::UnknownFlags(0x50)));
    let mut reserved = sound;
    reserved.reserved[14] = 1;
    assert_eq!(reserved.validate(), Err(InvalidReplicaSet::ReservedNotZero));
    for (error, text) in [
        (InvalidReplicaSet::Negative, "a number of replicas is negative"),
        (InvalidReplicaSet::UnknownFlags(0x50), "flag bits 0x50 have no meaning"),
        (InvalidReplicaSet::ReservedNotZero, "a reserved byte is not zero"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn flags_are_joined() {
    let both = SetFlags::DESIRED | SetFlags::MAX;
    assert_eq!((both.bits(), both | SetFlags::MAX), (10, both));
    assert_eq!(both.with(SetFlags::MAX, true).with(SetFlags::DESIRED, false), SetFlags::MAX);
}

/// Sums that do not fit 32 bits wrap around, as in Kubernetes, so the new set can get any size. The API server accepts 0.
#[test]
fn a_new_set_that_wraps_around_to_0_is_written() {
    let strategy = Strategy::RollingUpdate {
        max_surge: IntOrPercent::Int(i32::MAX - 10),
        max_unavailable: IntOrPercent::Int(0),
    };
    let deployment = Deployment { replicas: 10, strategy, ..Deployment::default() };
    let mut new =
        ReplicaSet { replicas: 5, name_order: 1, flags: SetFlags::CURRENT_TEMPLATE, ..ReplicaSet::new() };
    let mut old = ReplicaSet { replicas: i32::MAX, ..ReplicaSet::new() };
    for set in [&mut new, &mut old] {
        set.desired_replicas = 10;
        set.flags |= SetFlags::DESIRED;
    }
    let sets = [old, new];
    sync_is_upstreams(&Core, &deployment, &sets);
    let new = &Core.next_sync(&deployment, &sets).sets[1];
    assert_eq!((new.replicas, new.reason), (0, Reason::Grows));
}

/// Kubernetes stores no negative status, but its division keeps the sign of one.
#[test]
fn shares_of_a_negative_status_are_negative() {
    let strategy =
        Strategy::RollingUpdate { max_surge: IntOrPercent::Int(1), max_unavailable: IntOrPercent::Int(0) };
    let sets = [5, 3].map(|replicas| ReplicaSet { replicas, ..ReplicaSet::new() });
    for status_replicas in [-1, -7, i32::MIN] {
        for replicas in [1, 4, 20] {
            let deployment =
                Deployment { replicas, status_replicas, strategy, is_paused: true, ..Deployment::default() };
            sync_is_upstreams(&Core, &deployment, &sets);
        }
    }
}

#[test]
fn fewer_changes_than_sets_are_an_error() {
    let sets = [ReplicaSet::new(); 2];
    let error = next_sync(&Deployment::default(), &sets, &mut [Change::default(); 1]).unwrap_err();
    assert_eq!(error, TooFewChanges);
    assert_eq!(error.to_string(), "there are fewer changes than sets: make room for one change per set");
}

/// Equal names, which Kubernetes does not have, are told apart by their index.
#[test]
fn of_sets_that_are_alike_the_first_listed_goes_first() {
    let strategy =
        Strategy::RollingUpdate { max_surge: IntOrPercent::Int(0), max_unavailable: IntOrPercent::Int(1) };
    let mut set = ReplicaSet { replicas: 2, available_replicas: 2, ..ReplicaSet::new() };
    set.set_annotations("6", "6");
    for (replicas, sizes) in [(5, [1, 2, 2]), (7, [3, 2, 2])] {
        let deployment = Deployment { replicas, strategy, ..Deployment::default() };
        let outcome = Core.next_sync(&deployment, &[set; 3]);
        assert_eq!(outcome.sets.iter().map(|effect| effect.replicas).collect::<Vec<_>>(), sizes);
        assert_eq!(outcome.budgets, Budgets { surge: 0, unavailable: 1 });
    }
}

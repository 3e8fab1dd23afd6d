//! What the documentation of each item says, on the values at which results change.

use podrank::controller::KeysFull;
use podrank::ffi::node_number;
use podrank::ffi::reserved;
use podrank::{
    DeletionCostError, Error, Flags, InvalidPod, NodeCounts, Phase, Pod, PodSet, PodSetError, Policy, Rule,
    Time, Uid, UidError, count_ranks, deletion_cost,
};
use std::collections::HashSet;
use std::error::Error as _;

#[test]
fn times_saturate_and_never_become_unset() {
    assert_eq!(Time::default(), Time::UNSET);
    assert_eq!(Time::UNSET.unix_nanos(), None);
    assert_eq!(Time::MIN.unix_nanos(), Some(i64::MIN + 1));
    assert_eq!(Time::MAX.unix_nanos(), Some(i64::MAX));
    assert_eq!(Time::from_unix_nanos(i64::MIN), Time::MIN);
    assert_eq!(Time::from_unix_nanos(i64::MIN + 2).unix_nanos(), Some(i64::MIN + 2));
    assert_eq!(Time::from_unix_nanos(0).unix_nanos(), Some(0));
    assert!(Time::UNSET.is_unset() && !Time::MIN.is_unset() && !Time::from_unix(0, 0).is_unset());

    // Against the exact sum, clamped, around the turns of both parts.
    let limit = i64::MAX / 1_000_000_000;
    for seconds in [
        0,
        1,
        -1,
        -2,
        1_773_144_000,
        limit,
        limit + 1,
        -limit,
        -limit - 1,
        -limit - 2,
        -limit - 5,
        i64::MIN,
        i64::MIN + 4,
        i64::MAX,
        GO_ZERO - 1,
        GO_ZERO + 1,
    ] {
        let turns =
            (145_224_191..=145_224_193).chain(854_775_807..=854_775_808).chain(999_999_999..=1_000_000_000);
        for nanos in turns.chain([0, 1, 4_000_000_000, u32::MAX]) {
            let exact = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
            let expected = exact.clamp(i128::from(i64::MIN + 1), i128::from(i64::MAX));
            let time = Time::from_unix(seconds, nanos).unix_nanos();
            let expected = (exact != i128::from(GO_ZERO) * 1_000_000_000).then_some(expected);
            assert_eq!(time.map(i128::from), expected, "{seconds} s and {nanos} ns");
        }
    }
}

/// 0001-01-01T00:00:00Z, in seconds since the Unix epoch.
const GO_ZERO: i64 = -62_135_596_800;

/// Kubernetes writes a missing time as Go's zero time. A time before all others would reverse the order.
#[test]
fn gos_zero_time_is_unset_in_every_spelling_and_its_neighbours_are_not() {
    for (seconds, nanos) in [(0, 0), (-1, 1_000_000_000), (-4, 4_000_000_000)] {
        assert_eq!(Time::from_unix(GO_ZERO + seconds, nanos), Time::UNSET, "{seconds} s and {nanos} ns");
    }
    for (seconds, nanos) in
        [(0, 1), (-1, 999_999_999), (1, 0), (-1, 0), (0, 1_000_000_000), (-1, 1_000_000_001)]
    {
        assert_eq!(Time::from_unix(GO_ZERO + seconds, nanos), Time::MIN, "{seconds} s and {nanos} ns");
    }
}

#[test]
fn errors_say_where() {
    assert_eq!(Uid::parse("").unwrap_err(), UidError::Length(0));
    let text = "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01";
    for at in 0..text.len() {
        let mut wrong = text.to_owned();
        wrong.replace_range(at..=at, "G");
        let expected =
            if text.as_bytes()[at] == b'-' { UidError::NotHyphen(at) } else { UidError::NotHexDigit(at) };
        assert_eq!(Uid::parse(&wrong), Err(expected));
    }
    assert_eq!(deletion_cost("12a4"), Err(DeletionCostError::NotDigit(2)));
    assert_eq!(deletion_cost("-12a"), Err(DeletionCostError::NotDigit(3)));

    for (error, text) in [
        (UidError::Length(3).to_string(), "a UUID is 36 bytes long, not 3"),
        (UidError::NotHyphen(8).to_string(), "the byte at offset 8 must be '-'"),
        (UidError::NotHexDigit(7).to_string(), "the byte at offset 7 must be one of 0-9 and a-f"),
        (DeletionCostError::Empty.to_string(), "it is empty"),
        (DeletionCostError::LeadingPlus.to_string(), "it starts with '+'"),
        (DeletionCostError::LeadingZero.to_string(), "it has a leading zero"),
        (DeletionCostError::NoDigits.to_string(), "it has no digits"),
        (DeletionCostError::NotDigit(2).to_string(), "the byte at offset 2 is not a digit"),
        (DeletionCostError::OutOfRange.to_string(), "it is outside -2147483648 to 2147483647"),
        (InvalidPod::UnknownPhase(3).to_string(), "the phase is 3, but must be 0, 1 or 2"),
        (InvalidPod::UnknownFlags(8).to_string(), "the flags have the unknown bits 0x08"),
        (InvalidPod::ReservedNotZero.to_string(), "a reserved byte is not zero"),
        (
            Error::UnknownNode { node: 4, nodes: 2 }.to_string(),
            "node number 4 is not below the number of counts, 2",
        ),
        (PodSetError::PodsFull.to_string(), "the set is full: give it a larger PODS"),
        (
            PodSetError::NodesFull.to_string(),
            "the set knows too many nodes to add another: give it a larger NODES",
        ),
        (PodSetError::Invalid(InvalidPod::ReservedNotZero).to_string(), "a reserved byte is not zero"),
        (
            KeysFull.to_string(),
            "there are more keys than the capacity: give it room for one key per deletion",
        ),
        (Error::TooManyPods.to_string(), "there are more than 4294967295 pods: pass fewer"),
        (Error::ShortBuffer { len: 2, needed: 3 }.to_string(), "a buffer has 2 elements, but needs 3"),
        (Error::UnknownDomain { node: 2 }.to_string(), "node 2 has no domain that has a count"),
        (Error::TooManyTiers.to_string(), "the pods would need more than 65536 tiers"),
    ] {
        assert_eq!(error, text);
    }
    assert!(PodSetError::Invalid(InvalidPod::ReservedNotZero).source().is_some());
    assert!(PodSetError::PodsFull.source().is_none());
}

#[test]
fn records_are_checked() {
    let pod = Pod::new();
    assert_eq!(pod.validate(), Ok(()));
    assert_eq!(Pod::default(), pod);
    let all = Flags::ASSIGNED | Flags::READY | Flags::PREFERRED;
    assert_eq!(Pod { phase: Phase::RUNNING, flags: all, ..pod }.validate(), Ok(()));
    for ordinal in 0..=u8::MAX {
        let phase = Phase::from_ordinal(ordinal);
        let expected = if ordinal < 3 { Ok(()) } else { Err(InvalidPod::UnknownPhase(ordinal)) };
        assert_eq!(Pod { phase, ..pod }.validate(), expected);
        assert_eq!(phase.ordinal(), ordinal);
    }
    for bits in 0..=u8::MAX {
        let flags = Flags::from_bits(bits);
        let expected = if bits < 8 { Ok(()) } else { Err(InvalidPod::UnknownFlags(bits & !7)) };
        assert_eq!(Pod { flags, ..pod }.validate(), expected);
        assert_eq!(flags.bits(), bits);
    }
    let mut worst = Pod { phase: Phase::from_ordinal(3), flags: Flags::from_bits(9), ..pod };
    worst.reserved = reserved([1; 8]);
    assert_eq!(worst.validate(), Err(InvalidPod::UnknownPhase(3)), "by offset");
    for at in 0..pod.reserved.as_ref().len() {
        let mut bytes = [0; 8];
        bytes[at] = 1;
        let unsound = Pod { reserved: reserved(bytes), ..pod };
        assert_eq!(unsound.validate(), Err(InvalidPod::ReservedNotZero));
    }
}

#[test]
fn flags_are_a_set() {
    let mut flags = Flags::ASSIGNED;
    flags |= Flags::READY;
    assert_eq!(flags, Flags::ASSIGNED | Flags::READY);
    assert!(flags.contains(Flags::READY) && flags.contains(Flags::NONE) && !flags.contains(Flags::PREFERRED));
    assert!(!Flags::READY.contains(flags));
    assert_eq!(flags.with(Flags::READY, false), Flags::ASSIGNED);
    assert_eq!(flags.with(Flags::READY, true), flags);
    assert_eq!(flags | Flags::READY, flags);
}

#[test]
fn phases_are_read_as_kubernetes_does() {
    for (text, phase) in [
        ("Pending", Some(Phase::PENDING)),
        ("Unknown", Some(Phase::UNKNOWN)),
        ("Running", Some(Phase::RUNNING)),
        ("", Some(Phase::PENDING)),
        ("running", Some(Phase::PENDING)),
        ("Succeeded", None),
        ("Failed", None),
    ] {
        assert_eq!(Phase::parse(text), phase, "{text}");
    }
}

#[test]
fn texts_parse_by_their_traits() {
    let text = "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01";
    assert_eq!(text.parse(), Uid::parse(text));
    assert_eq!("0b9e".parse::<Uid>(), Err(UidError::Length(4)));
}

#[test]
fn debug_is_for_people() {
    let text = "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01";
    assert_eq!(format!("{:?}", Uid::parse(text).unwrap()), text);

    let phases = [Phase::PENDING, Phase::UNKNOWN, Phase::RUNNING, Phase::from_ordinal(3)];
    assert_eq!(format!("{phases:?}"), "[Pending, Unknown, Running, Phase(3)]");

    let flags = [Flags::NONE, Flags::READY, Flags::from_bits(7), Flags::from_bits(0x81)];
    assert_eq!(format!("{flags:?}"), "[NONE, READY, ASSIGNED | READY | PREFERRED, ASSIGNED | 0x80]");
    assert_eq!(format!("{:?}", Flags::from_bits(0x80)), "0x80");
}

#[test]
fn rules_have_names_and_numbers_of_their_own() {
    let numbers: Vec<_> = Rule::ALL.iter().map(|rule| rule.number()).collect();
    assert_eq!(numbers, [10, 20, 30, 35, 40, 50, 60, 70, 80, 85, 90, 100], "numbers never change");
    let names: Vec<_> = Rule::ALL.iter().map(ToString::to_string).collect();
    let contract = "unassigned phase not-ready tier deletion-cost rank preferred ready-time restarts sidecar-restarts \
                    creation-time uid";
    assert_eq!(names.join(" "), contract);
    for number in 0..=u8::MAX {
        let rule = Rule::from_number(number);
        assert_eq!(rule.is_some(), numbers.contains(&number));
        assert!(rule.is_none_or(|rule| rule.number() == number));
    }
}

#[test]
fn keys_hash_and_sort_as_their_bytes() {
    let policy = Policy::without_now();
    let pods =
        [Pod::new(), Pod { restarts: 1, ..Pod::new() }, Pod { deletion_cost: -1, tier: 1, ..Pod::new() }];
    for a in &pods {
        for b in &pods {
            let (a, b) = (policy.key(a), policy.key(b));
            assert_eq!(a.cmp(&b), a.to_bytes().cmp(&b.to_bytes()));
        }
    }
    assert_eq!(pods.map(|pod| policy.key(&pod)).into_iter().collect::<HashSet<_>>().len(), 3);
}

#[test]
fn a_short_buffer_is_not_sorted_into() {
    let pods = [Pod::new(); 3];
    let mut order = [7; 4];
    let policy = Policy::without_now();
    assert_eq!(policy.sort(&pods, &mut order[..2]), Err(Error::ShortBuffer { len: 2, needed: 3 }));
    assert_eq!(order, [7; 4]);
    assert_eq!(policy.sort(&pods, &mut order), Ok(&[0, 1, 2][..]));
    assert_eq!(order, [0, 1, 2, 7]);
}

fn on(node: u32) -> Pod {
    Pod { node, flags: Flags::ASSIGNED, ..Pod::new() }
}

#[test]
fn ranks_count_own_and_other_pods_by_node() {
    let nowhere = Pod { node: 1, ..Pod::new() };
    let mut pods = [on(0), on(1), nowhere, on(1), nowhere];
    let mut counts = [77; 3];
    count_ranks(&mut pods, &[on(0), on(2), nowhere, on(0)], &mut counts).unwrap();
    assert_eq!(pods.map(|pod| pod.rank), [3, 2, 3, 2, 3]);
    count_ranks(&mut pods, &[], &mut counts).unwrap();
    assert_eq!(pods.map(|pod| pod.rank), [1, 2, 2, 2, 2], "the counts start afresh");
}

#[test]
fn an_unknown_node_changes_no_rank() {
    let unknown = Err(Error::UnknownNode { node: 2, nodes: 2 });
    let mut pods = [on(0), on(2)];
    assert_eq!(count_ranks(&mut pods, &[], &mut [0; 2]), unknown);
    assert_eq!(pods.map(|pod| pod.rank), [0, 0]);
    let mut pods = [on(0), on(1)];
    assert_eq!(count_ranks(&mut pods, &[on(2)], &mut [0; 2]), unknown);
    assert_eq!(pods.map(|pod| pod.rank), [0, 0]);
    assert_eq!(NodeCounts::new([0; 2]).rank(&on(2)), Err(Error::UnknownNode { node: 2, nodes: 2 }));
    // An unassigned pod's number is not read.
    assert_eq!(NodeCounts::new([0; 0]).add(&Pod { node: 9, ..Pod::new() }), Ok(()));
}

#[test]
fn a_pod_set_ranks_and_picks() {
    let mut set = PodSet::<4, 2>::default();
    let pod = |uid| Pod { uid: Uid::from_bytes([uid; 16]), rank: 9, ..Pod::new() };
    assert_eq!(set.victims(&Policy::without_now(), 9), [0_u32; 0]);

    set.push(pod(1), "worker-a").unwrap();
    set.push(pod(2), "worker-b").unwrap();
    set.push(pod(3), "worker-b").unwrap();
    set.push_related("worker-a").unwrap();
    set.push_related("worker-a").unwrap();
    set.push_related("").unwrap();
    assert_eq!(set.push(pod(4), "worker-c"), Err(PodSetError::NodesFull));
    assert_eq!(set.push_related("worker-c"), Err(PodSetError::NodesFull));
    let unsound = Pod { reserved: reserved([1; 8]), ..Pod::new() };
    assert_eq!(set.push(unsound, ""), Err(PodSetError::Invalid(InvalidPod::ReservedNotZero)));
    assert_eq!(set.victims(&Policy::without_now(), 9), [0, 1, 2], "no failed push left a trace");
    assert_eq!(set.pods().iter().map(|pod| pod.rank).collect::<Vec<_>>(), [3, 2, 2]);

    set.push(Pod { flags: Flags::ASSIGNED, ..pod(4) }, "").unwrap();
    assert_eq!(set.push(pod(5), ""), Err(PodSetError::PodsFull));
    assert_eq!(
        set.victims(&Policy::without_now(), 2),
        [3, 0],
        "unassigned goes first, whatever the pod's flag said"
    );
    assert_eq!(set.pods()[3].rank, 2);
    assert_eq!(set.pods()[3].flags, Flags::NONE);

    assert_eq!((set.len(), set.is_empty()), (4, false));
    set.clear();
    assert_eq!((set.len(), set.is_empty()), (0, true));
    set.push(pod(6), "worker-c").unwrap();
    assert_eq!(set.victims(&Policy::without_now(), 9), [0]);
    assert_eq!(set.pods()[0].rank, 1, "ranks are counted again");
}

#[test]
fn a_pod_set_tells_all_its_nodes_apart() {
    // As many names as slots: every one is found again though the table is full and names collide.
    let names: Vec<String> = (0..64).map(|i| format!("node-{i}")).collect();
    let mut set = PodSet::<192, 64>::new();
    for times in 1..=3 {
        for name in &names {
            set.push(Pod::new(), name).unwrap();
        }
        set.victims(&Policy::without_now(), 0);
        assert!(set.pods().iter().all(|pod| pod.rank == times));
    }
    let numbers: HashSet<u32> = set.pods().iter().map(|pod| pod.node).collect();
    assert_eq!(numbers.len(), 64);
    assert_eq!(PodSet::<1, 0>::new().push(Pod::new(), "node"), Err(PodSetError::NodesFull));
}

#[test]
fn names_start_at_their_hash() {
    // Published 32-bit FNV-1a hashes.
    for (name, hash) in [("", 0x811c_9dc5_u32), ("a", 0xe40c_292c), ("foobar", 0xbf9c_f968)] {
        for slots in [7, 256, 65_521] {
            let slot = node_number(&vec![(); slots], name.as_bytes(), |()| None);
            assert_eq!(slot.map(|slot| slot as usize), Some(hash as usize % slots), "{name}");
        }
    }
    // "a" starts at slot 1 of 3, and past the end goes on from the start.
    let slot = |held: [Option<&str>; 3]| node_number(&held, b"a", |held| held.map(str::as_bytes));
    assert_eq!(slot([None, Some("x"), Some("aa")]), Some(0));
    assert_eq!(slot([Some("a"), Some("x"), Some("")]), Some(0));
    assert_eq!(slot([None, Some("x"), Some("a")]), Some(2));
    assert_eq!(slot([Some("a"), None, Some("a")]), Some(1));
    assert_eq!(node_number::<()>(&[], b"a", |()| None), None);
    assert_eq!(node_number(&[(); 3], b"a", |()| Some(b"b")), None, "full");
}

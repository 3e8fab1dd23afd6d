//! What `StatefulSets` delete, and what waits.

use super::Budget;
use podrank_laws::generate::seeds;
use podrank_laws::vectors::read;
use podrank_preview::Verdict;
use podrank_preview::sync::IntOrPercent;
use podrank_preview::sync::stateful_set::{
    Member, MemberOutcome, MemberReason, PodManagement, StatefulSet, Update, next_sync, ordinal,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    ordinal: Vec<OrdinalCase>,
    /// The preview reads no claims.
    #[serde(rename = "claim")]
    _claim: serde_json::Value,
    sync: Vec<SyncCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrdinalCase {
    set: String,
    pod: String,
    ordinal: Option<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SyncCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    set: Subject,
    pods: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Subject {
    replicas: i32,
    #[serde(default)]
    start: i32,
    #[serde(default)]
    parallel: bool,
    update: Option<String>,
    #[serde(default)]
    partition: i32,
    max_unavailable: Option<Budget>,
    max_unavailable_gate: Option<bool>,
    #[serde(default)]
    recreate_gate: bool,
    #[serde(default)]
    being_deleted: bool,
}

impl Subject {
    fn set(&self) -> StatefulSet {
        let max_unavailable = self.max_unavailable.as_ref().map_or(IntOrPercent::Int(1), Budget::read);
        StatefulSet {
            replicas: self.replicas,
            start: self.start,
            management: if self.parallel { PodManagement::Parallel } else { PodManagement::OrderedReady },
            update: match self.update.as_deref() {
                None => Update::RollingUpdate { partition: self.partition, max_unavailable },
                Some("OnDelete") => Update::OnDelete,
                Some("Recreate") => Update::Recreate,
                Some(other) => panic!("{other}"),
            },
            is_being_deleted: self.being_deleted,
            max_unavailable_gate: self.max_unavailable_gate.unwrap_or(true),
            recreate_gate: self.recreate_gate,
        }
    }
}

/// Reads the state in words such as `old unready`. Without any, a pod is healthy.
fn member(words: &str) -> Member {
    let (ordinal, state) = words.split_once(' ').unwrap_or((words, ""));
    let mut member = Member {
        ordinal: ordinal.parse().expect("an ordinal"),
        is_running: true,
        is_finished: false,
        is_ready: true,
        is_available: true,
        is_terminating: false,
        is_updated: true,
    };
    for word in state.split_whitespace() {
        let is_ready = matches!(word, "old" | "starting" | "unavailable" | "terminating");
        member.is_ready &= is_ready;
        member.is_available &= is_ready && word != "unavailable";
        match word {
            "old" => member.is_updated = false,
            "pending" | "starting" => member.is_running = false,
            "unready" | "unavailable" => {}
            "terminating" => member.is_terminating = true,
            "finished" => (member.is_running, member.is_finished) = (false, true),
            _ => panic!("{word}"),
        }
    }
    member
}

/// What happens to a pod, in words.
fn words(members: &[Member], outcome: &MemberOutcome) -> String {
    let by = outcome.by.map_or_else(String::new, |by| {
        match by.member {
            None => assert!(members.iter().all(|member| member.ordinal != by.ordinal)),
            Some(index) => assert_eq!(members[index].ordinal, by.ordinal),
        }
        format!(" by {}", by.ordinal)
    });
    format!("{} {}{by}", outcome.verdict.name(), outcome.reason.name())
}

/// Each case, in whatever order the pods are listed.
#[test]
fn vectors() {
    let file: File = serde_json::from_str(&read("stateful_set.json")).expect("stateful_set.json");
    for case in &file.ordinal {
        assert_eq!(ordinal(&case.set, &case.pod), case.ordinal, "{} in {}", case.pod, case.set);
    }
    for SyncCase { name, set, pods, .. } in &file.sync {
        let parts: Vec<_> = pods.iter().map(|pod| pod.split_once(" -> ").expect(name)).collect();
        let set = set.set();
        let orders: [Vec<usize>; 2] = [(0..pods.len()).collect(), (0..pods.len()).rev().collect()];
        for order in orders {
            let members: Vec<_> = order.iter().map(|&index| member(parts[index].0)).collect();
            let outcomes = next_sync(&set, &members);
            let found: Vec<_> = outcomes.iter().map(|outcome| words(&members, outcome)).collect();
            let expected: Vec<_> = parts.iter().map(|(_, expected)| *expected).collect();
            assert_eq!(found, expected, "{name}");
            // Each pod has one outcome.
            let mut indices: Vec<_> = outcomes.iter().map(|outcome| outcome.member).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..pods.len()), "{name}");
        }
    }
    assert!(file.ordinal.len() > 20 && file.sync.len() > 50);
}

/// As long as its condition `Ready` is true, a finished pod counts as available. It goes anyway, and uses up the budget.
#[test]
fn a_finished_pod_can_use_up_the_budget() {
    let old = member("0 old");
    let finished = Member { is_running: false, is_finished: true, ..old };
    let set = StatefulSet {
        replicas: 3,
        start: 0,
        management: PodManagement::Parallel,
        update: Update::RollingUpdate { partition: 0, max_unavailable: IntOrPercent::Int(1) },
        is_being_deleted: false,
        max_unavailable_gate: true,
        recreate_gate: false,
    };
    let told = |[last, middle, first]: [Member; 3]| {
        let members = [first, Member { ordinal: 1, ..middle }, Member { ordinal: 2, ..last }];
        let outcomes = next_sync(&set, &members);
        outcomes.iter().map(|outcome| (outcome.verdict, outcome.reason)).collect::<Vec<_>>()
    };
    let (goes, waits) = ((Verdict::Delete, MemberReason::Finished), (Verdict::Blocked, MemberReason::Budget));
    assert_eq!(told([finished, old, old]), [goes, waits, waits]);
    // Beyond the budget, it goes, too.
    assert_eq!(told([old, finished, old]), [(Verdict::Delete, MemberReason::Old), goes, waits]);
}

/// A set and its pods, with different ordinals: most of its range, and sometimes pods on either side of it. All of them are healthy, or
/// few are not, or many.
fn draw(random: &mut fastrand::Rng) -> (StatefulSet, Vec<Member>) {
    let update = match random.u8(0..8) {
        0 => Update::OnDelete,
        1 => Update::Recreate,
        2 | 3 => Update::RollingUpdate {
            partition: random.i32(0..4),
            max_unavailable: IntOrPercent::Percent(random.u32(0..120)),
        },
        _ => Update::RollingUpdate {
            partition: random.i32(0..8),
            max_unavailable: IntOrPercent::Int(random.i32(0..4)),
        },
    };
    let set = StatefulSet {
        replicas: random.i32(0..7),
        start: random.i32(0..4),
        management: if random.bool() { PodManagement::Parallel } else { PodManagement::OrderedReady },
        update,
        is_being_deleted: false,
        max_unavailable_gate: random.bool(),
        recreate_gate: random.bool(),
    };
    let odd_ones = [0, 1, 3, 6][random.usize(0..4)];
    let misplaced = [0, 0, 2, 5][random.usize(0..4)];
    let mut members = Vec::new();
    for ordinal in 0..12 {
        let place = random.u8(0..10);
        let is_in_range = (set.start..set.start + set.replicas).contains(&ordinal);
        if if is_in_range { place < misplaced / 2 } else { place >= misplaced } {
            continue;
        }
        let mut drawn = Member { ordinal, is_updated: random.bool(), ..member("0") };
        if random.u8(0..10) < odd_ones {
            drawn.is_running = random.bool();
            drawn.is_finished = random.u8(0..3) == 0;
            drawn.is_ready = random.bool();
            drawn.is_available = drawn.is_ready && random.bool();
            drawn.is_terminating = random.u8(0..3) == 0;
        }
        members.push(drawn);
    }
    (set, members)
}

/// Whether the pod that is waited for is as the reason says.
fn is_so(outcome: &MemberOutcome, members: &[Member]) -> bool {
    let by = outcome.by.expect("a pod that waits, waits for one");
    let pod = by.member.map(|index| members[index]);
    let is = |fact: fn(Member) -> bool| pod.is_some_and(fact);
    match outcome.reason {
        MemberReason::WaitsForMissing => pod.is_none(),
        MemberReason::WaitsForFinished => is(|pod| pod.is_finished),
        MemberReason::WaitsForTermination => is(|pod| pod.is_terminating),
        MemberReason::WaitsForRunning => is(|pod| !pod.is_running),
        MemberReason::WaitsForReady => is(|pod| !pod.is_ready),
        MemberReason::WaitsForAvailable | MemberReason::WaitsForEither => {
            is(|pod| !pod.is_available || pod.is_terminating)
        }
        // One that goes itself, or that is gone from the budget.
        MemberReason::OneAtATime
        | MemberReason::AfterScaling
        | MemberReason::Budget
        | MemberReason::AfterRecreate => true,
        other => panic!("{other:?} does not block"),
    }
}

#[test]
fn a_sync_keeps_the_promises_of_the_policy() {
    for seed in seeds(20_000) {
        let (set, members) = draw(&mut fastrand::Rng::with_seed(seed));
        let outcomes = next_sync(&set, &members);
        let shown = || format!("seed {seed}: {set:?} {members:#?} {outcomes:#?}");
        let range = set.start..set.start + set.replicas;
        assert!(outcomes.is_sorted_by_key(|outcome| -members[outcome.member].ordinal), "{}", shown());
        for outcome in &outcomes {
            let member = members[outcome.member];
            assert!(outcome.verdict == Verdict::Keep || !member.is_terminating, "{}", shown());
            assert!(outcome.verdict != Verdict::Contested, "{}", shown());
            // In the range, a finished pod goes because it is finished, whatever else it is.
            if outcome.verdict == Verdict::Delete
                && member.is_finished
                && range.contains(&member.ordinal)
                && set.update != Update::Recreate
            {
                assert_eq!(outcome.reason, MemberReason::Finished, "{}", shown());
            }
            // A pod waits only for one that exists, or for an ordinal in the range.
            if outcome.verdict == Verdict::Blocked {
                assert!(is_so(outcome, &members), "{}", shown());
                let by = outcome.by.expect("one").ordinal;
                assert!(
                    outcome.reason != MemberReason::WaitsForMissing || range.contains(&by),
                    "{}",
                    shown()
                );
            }
            if let Update::RollingUpdate { partition, .. } = set.update
                && matches!(outcome.reason, MemberReason::Old | MemberReason::OldUnavailable)
            {
                assert!(member.ordinal >= set.start + partition, "{}", shown());
            }
        }
        if set.management == PodManagement::OrderedReady && set.update != Update::Recreate {
            let scaled = outcomes.iter().filter(|it| it.reason == MemberReason::OutOfRange).count();
            let deleted = outcomes.iter().filter(|it| it.verdict == Verdict::Delete).count();
            assert!(scaled == 0 || (scaled, deleted) == (1, 1), "{}", shown());
        }
        let mut other = members.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut other);
        let told = |members: &[Member]| -> Vec<_> {
            next_sync(&set, members).iter().map(|outcome| words(members, outcome)).collect()
        };
        assert_eq!(told(&members), told(&other), "the order of the list is nothing: {}", shown());
    }
}

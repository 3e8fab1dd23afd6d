//! What `StatefulSets` delete, and what waits.

use super::{budget, int, is, text, texts};
use podrank_laws::objects::list;
use podrank_laws::vectors::read;
use podrank_predict::sync::IntOrPercent;
use podrank_predict::sync::stateful_set::{
    Behavior, Member, MemberOutcome, PodManagement, StatefulSetState, Update, next_sync, ordinal,
};
use podrank_predict::{ControllerGates, Release};
use serde_json::Value;

/// That of the release that was tested, but for what the case says.
fn behavior(of: &Value) -> Behavior {
    let tested = Release::TESTED.stateful_sets(ControllerGates::default());
    let said = |key: &str, default: bool| of[key].as_bool().unwrap_or(default);
    Behavior {
        max_unavailable_gate: said("maxUnavailableGate", tested.max_unavailable_gate),
        recreate_gate: said("recreateGate", tested.recreate_gate),
        unavailable_first: said("unavailableFirst", tested.unavailable_first),
        creates_first: said("createsFirst", tested.creates_first),
        budget_from_partition: said("budgetFromPartition", tested.budget_from_partition),
        ..tested
    }
}

fn set(of: &Value) -> StatefulSetState {
    let max_unavailable = of.get("maxUnavailable").map_or(IntOrPercent::Int(1), budget);
    StatefulSetState {
        replicas: int(of, "replicas"),
        start: int(of, "start"),
        management: if is(of, "parallel") { PodManagement::Parallel } else { PodManagement::OrderedReady },
        update: match of["update"].as_str() {
            None => Update::RollingUpdate { partition: int(of, "partition"), max_unavailable },
            Some("OnDelete") => Update::OnDelete,
            Some("Recreate") => Update::Recreate,
            Some(other) => panic!("{other}"),
        },
        is_being_deleted: is(of, "beingDeleted"),
        behavior: behavior(of),
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
    let file: Value = serde_json::from_str(&read("stateful_set.json")).expect("stateful_set.json");
    for case in list(&file["ordinal"]) {
        let found = ordinal(text(case, "set"), text(case, "pod"), is(case, "exact"));
        assert_eq!(found.map(i64::from), case["ordinal"].as_i64(), "{case}");
    }
    for case in list(&file["sync"]) {
        let name = text(case, "name");
        let pods = texts(&case["pods"]);
        let parts: Vec<_> = pods.into_iter().map(|pod| pod.split_once(" -> ").expect(name)).collect();
        let set = set(&case["set"]);
        let orders: [Vec<usize>; 2] = [(0..parts.len()).collect(), (0..parts.len()).rev().collect()];
        for order in orders {
            let members: Vec<_> = order.iter().map(|&index| member(parts[index].0)).collect();
            let outcomes = next_sync(&set, &members);
            let found: Vec<_> = outcomes.iter().map(|outcome| words(&members, outcome)).collect();
            let expected: Vec<_> = parts.iter().map(|(_, expected)| *expected).collect();
            assert_eq!(found, expected, "{name}");
            // Each pod has one outcome.
            let mut indices: Vec<_> = outcomes.iter().map(|outcome| outcome.member).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..parts.len()), "{name}");
        }
    }
    assert!(list(&file["ordinal"]).count() > 20 && list(&file["sync"]).count() > 50);
}

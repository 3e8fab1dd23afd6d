//! What `StatefulSets` delete, and what waits.

use super::Budget;
use podrank_laws::vectors::read;
use podrank_preview::sync::IntOrPercent;
use podrank_preview::sync::stateful_set::{
    Member, MemberOutcome, PodManagement, StatefulSet, Update, next_sync, ordinal,
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

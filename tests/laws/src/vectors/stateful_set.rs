//! The cases of `stateful_set.json`, and that an implementation passes them.

use super::read;
use crate::stateful_set::{StatefulSets, sync_is_upstreams};
use podrank::controller::IntOrPercent;
use podrank::controller::stateful_set::{
    ClaimOwner, Member, MemberFlags, NO_MEMBER, Outcome, PodManagement, StatefulSet, Update, Verdict,
    claim_goes,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    ordinal: Vec<OrdinalCase>,
    claim: Vec<ClaimCase>,
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
struct ClaimCase {
    owners: Vec<String>,
    goes: bool,
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

#[derive(Deserialize)]
#[serde(untagged)]
enum Budget {
    Number(i32),
    Text(String),
}

impl Subject {
    fn set(&self) -> StatefulSet {
        let max_unavailable = match &self.max_unavailable {
            None => IntOrPercent::Int(1),
            Some(Budget::Number(number)) => IntOrPercent::Int(*number),
            Some(Budget::Text(text)) => IntOrPercent::parse(text).expect("a percentage"),
        };
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
    let ready = MemberFlags::READY | MemberFlags::AVAILABLE;
    let mut flags = MemberFlags::RUNNING | MemberFlags::UPDATED | ready;
    for word in state.split_whitespace() {
        flags = match word {
            "old" => flags.with(MemberFlags::UPDATED, false),
            "pending" => flags.with(ready | MemberFlags::RUNNING, false),
            "starting" => flags.with(MemberFlags::RUNNING, false),
            "unready" => flags.with(ready, false),
            "unavailable" => flags.with(MemberFlags::AVAILABLE, false),
            "terminating" => flags.with(MemberFlags::TERMINATING, true),
            "finished" => flags.with(ready | MemberFlags::RUNNING, false).with(MemberFlags::FINISHED, true),
            _ => panic!("{word}"),
        };
    }
    Member::new(ordinal.parse().expect("an ordinal"), flags)
}

/// What happens to a pod, in words.
fn words(members: &[Member], outcome: &Outcome) -> String {
    let verdict = match outcome.verdict {
        Verdict::Keep => "keep",
        Verdict::Delete => "delete",
        Verdict::Contested => "contested",
        Verdict::Blocked => "blocked",
        _ => "unknown",
    };
    let by = match outcome.by {
        NO_MEMBER if outcome.verdict == Verdict::Blocked => {
            assert!(members.iter().all(|member| member.ordinal != outcome.by_ordinal));
            format!(" by {}", outcome.by_ordinal)
        }
        NO_MEMBER => String::new(),
        index => {
            assert_eq!(members[index as usize].ordinal, outcome.by_ordinal);
            format!(" by {}", outcome.by_ordinal)
        }
    };
    format!("{verdict} {}{by}", outcome.reason)
}

/// The implementation passes every case, in whatever order the pods are.
pub fn check_stateful_set(implementation: &impl StatefulSets) {
    let file: File = serde_json::from_str(&read("stateful_set.json")).expect("stateful_set.json");
    for case in &file.ordinal {
        let found = implementation.ordinal(&case.set, &case.pod);
        assert_eq!(found, case.ordinal, "{} in {}", case.pod, case.set);
    }
    for case in &file.claim {
        let owners = case.owners.iter().map(|owner| match &**owner {
            "set" => ClaimOwner::Set,
            "pod" => ClaimOwner::Pod,
            "stale set" | "stale pod" => ClaimOwner::Stale,
            "other" | "other controller" => ClaimOwner::Other,
            other => panic!("{other}"),
        });
        assert_eq!(claim_goes(owners), case.goes, "{:?}", case.owners);
    }
    for SyncCase { name, set, pods, .. } in &file.sync {
        let parts: Vec<_> = pods.iter().map(|pod| pod.split_once(" -> ").expect(name)).collect();
        let set = set.set();
        let orders: [Vec<usize>; 2] = [(0..pods.len()).collect(), (0..pods.len()).rev().collect()];
        for order in orders {
            let members: Vec<_> = order.iter().map(|&index| member(parts[index].0)).collect();
            let (step, outcomes) = implementation.next_sync(&set, &members);
            sync_is_upstreams(implementation, &set, &members);
            let found: Vec<_> = outcomes.iter().map(|outcome| words(&members, outcome)).collect();
            let count = |verdict: &str| found.iter().filter(|words| words.starts_with(verdict)).count();
            let counts = [step.delete, step.contested, step.blocked].map(|count| count as usize);
            assert_eq!(counts, ["delete", "contested", "blocked"].map(count), "{name}");
            let expected: Vec<_> = parts.iter().map(|(_, expected)| (*expected).to_owned()).collect();
            assert_eq!(found, expected, "{name}");
            // Each pod has one outcome.
            let mut indices: Vec<_> = outcomes.iter().map(|outcome| outcome.member).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..u32::try_from(pods.len()).expect("few pods")), "{name}");
        }
    }
    assert!(file.ordinal.len() > 20 && file.sync.len() > 50);
}

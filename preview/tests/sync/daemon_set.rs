//! What `DaemonSets` delete.

use super::{Budget, told};
use podrank::Time;
use podrank_laws::vectors::read;
use podrank_preview::Verdict::{Contested, Delete, Keep};
use podrank_preview::sync::IntOrPercent::Int;
use podrank_preview::sync::daemon_set::{
    DaemonPod, DaemonReason, DaemonSet, NodeFit, Strategy, Sync, next_sync,
};
use serde::Deserialize;

/// One pod may be unavailable.
fn usual() -> DaemonSet {
    let strategy = Strategy::RollingUpdate { max_surge: Int(0), max_unavailable: Int(1) };
    DaemonSet { strategy, is_being_deleted: false }
}

/// A pod with this state, in words.
fn pod(node: usize, state: &str) -> DaemonPod {
    let words: Vec<_> = state.split_whitespace().collect();
    let is = |word| words.contains(&word);
    let pod = DaemonPod {
        creation_time: Time::UNSET,
        node: Some(node),
        is_assigned: is("assigned"),
        is_ready: is("ready"),
        is_available: is("available"),
        has_revision: is("current-revision"),
        has_generation: is("current-generation"),
        is_succeeded: is("succeeded"),
        is_failed: is("failed"),
        is_terminating: is("being-deleted"),
    };
    let flags = [pod.is_assigned, pod.is_ready, pod.is_available, pod.has_revision, pod.has_generation];
    let known = flags.into_iter().chain([pod.is_succeeded, pod.is_failed, pod.is_terminating]);
    assert_eq!(known.filter(|flag| *flag).count(), words.len(), "{state}");
    pod
}

const OLD: &str = "assigned ready available";

#[test]
fn one_that_is_being_deleted_does_nothing() {
    let set = DaemonSet { is_being_deleted: true, ..usual() };
    let sync = next_sync(&set, &[NodeFit::Unfit, NodeFit::MayStart], &[pod(0, OLD)]);
    assert_eq!((sync.deleted, sync.creates, sync.outcomes[0].verdict), (0, 0, Keep));
}

#[test]
fn at_most_250() {
    let pods: Vec<_> = (0..260).map(|node| pod(node, OLD)).collect();
    let sync = next_sync(&usual(), &[NodeFit::Unfit; 260], &pods);
    assert_eq!((sync.deleted, sync.later), (250, 10));
    assert!(sync.outcomes.iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, 250)));
    // Pods whose node does not exist come after those.
    let pods = [&pods[..250], &[pod(250, "")]].concat();
    let nodes = [&[NodeFit::Unfit; 250][..], &[NodeFit::Missing]].concat();
    let sync = next_sync(&usual(), &nodes, &pods);
    assert_eq!((sync.deleted, sync.later), (250, 1));
    assert_eq!((sync.outcomes[250].verdict, sync.outcomes[250].reason), (Keep, DaemonReason::NextSync));
    assert!(sync.outcomes[..250].iter().all(|outcome| outcome.verdict == Delete));
    // So many are created, too.
    assert_eq!(next_sync(&usual(), &[NodeFit::MayStart; 260], &[]).creates, 250);
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default, rename = "source")]
    _source: String,
    max_surge: Budget,
    max_unavailable: Budget,
    #[serde(default)]
    on_delete: bool,
    nodes: Vec<String>,
    pods: Vec<ListedPod>,
    outcomes: Vec<String>,
    creates: Option<usize>,
    blocked_by: Option<usize>,
}

#[derive(Deserialize)]
struct ListedPod {
    node: usize,
    flags: String,
    created: i64,
}

impl Case {
    fn sync(&self) -> Sync {
        let strategy = Strategy::RollingUpdate {
            max_surge: self.max_surge.read(),
            max_unavailable: self.max_unavailable.read(),
        };
        let strategy = if self.on_delete { Strategy::OnDelete } else { strategy };
        let fit = |words: &String| match words.as_str() {
            "" => NodeFit::Missing,
            "exists" => NodeFit::Unfit,
            "exists may-keep" => NodeFit::MayKeep,
            "exists may-start may-keep" => NodeFit::MayStart,
            other => panic!("{other}"),
        };
        let nodes: Vec<_> = self.nodes.iter().map(fit).collect();
        let pod = |listed: &ListedPod| DaemonPod {
            creation_time: Time::from_unix(listed.created, 0),
            ..pod(listed.node, &listed.flags)
        };
        let pods: Vec<_> = self.pods.iter().map(pod).collect();
        next_sync(&DaemonSet { strategy, is_being_deleted: false }, &nodes, &pods)
    }
}

#[test]
fn vectors() {
    let cases: Vec<Case> = serde_json::from_str(&read("daemon_set.json")).expect("daemon_set.json");
    for case in &cases {
        let sync = case.sync();
        assert_eq!(told(&sync.outcomes, DaemonReason::name), case.outcomes, "{}", case.name);
        assert_eq!(sync.blocked_by, case.blocked_by, "{}", case.name);
        assert!(case.creates.is_none_or(|creates| sync.creates == creates), "{}: {sync:?}", case.name);
    }
    assert!(cases.len() >= 29);
}

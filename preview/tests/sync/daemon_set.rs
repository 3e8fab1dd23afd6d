//! What `DaemonSets` delete.

use super::{Budget, told};
use podrank::Time;
use podrank_laws::vectors::read;
use podrank_preview::Verdict::{Contested, Delete, Keep};
use podrank_preview::sync::IntOrPercent::{self, Int, Percent};
use podrank_preview::sync::daemon_set::{
    DaemonPod, DaemonReason, DaemonSet, NodeFit, Strategy, Sync, next_sync,
};
use serde::Deserialize;

fn rolling(max_surge: IntOrPercent, max_unavailable: IntOrPercent) -> DaemonSet {
    DaemonSet { strategy: Strategy::RollingUpdate { max_surge, max_unavailable }, is_being_deleted: false }
}

fn usual() -> DaemonSet {
    rolling(Int(0), Int(1))
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

/// Ten nodes with an old available pod each.
fn ten() -> Vec<DaemonPod> {
    (0..10).map(|node| pod(node, OLD)).collect()
}

#[test]
fn budgets_are_rounded_up() {
    let nodes = [NodeFit::MayStart; 10];
    for (unavailable, goes) in
        [(Int(3), 3), (Percent(30), 3), (Percent(21), 3), (Percent(20), 2), (Int(0), 1), (Percent(1), 1)]
    {
        let sync = next_sync(&rolling(Int(0), unavailable), &nodes, &ten());
        assert!(sync.is_update);
        assert_eq!((sync.deleted, sync.unavailable), (goes, i64::try_from(goes).expect("few")));
        assert!(sync.outcomes.iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, goes)));
    }
    // With surge, none goes before its successor is available. A percentage of ten nodes is rounded up, too.
    let sync = next_sync(&rolling(Percent(11), Int(0)), &nodes, &ten());
    assert_eq!((sync.deleted, sync.creates, sync.surge), (0, 2, 2));
    assert!(sync.outcomes.iter().all(|outcome| outcome.reason == DaemonReason::AwaitsNew));
}

#[test]
fn unavailable_pods_use_up_the_budget() {
    let mut pods = ten();
    pods[4] = pod(4, "assigned");
    pods[7] = pod(7, "assigned current-revision");
    pods[8] = pod(8, "assigned ready available current-revision");
    let sync = next_sync(&rolling(Int(0), Int(3)), &[NodeFit::MayStart; 10], &pods);
    assert_eq!((sync.used, sync.deleted), (2, 2), "the new pod that is available uses up nothing");
    assert_eq!((sync.outcomes[4].verdict, sync.outcomes[4].reason), (Delete, DaemonReason::OldUnavailable));
    assert_eq!([7, 8].map(|pod| sync.outcomes[pod].verdict), [Keep; 2]);
    assert_eq!((sync.outcomes[0].verdict, sync.outcomes[0].quota), (Contested, 1));
}

/// An assigned pod stays before an older one that is not, the oldest before others, and the smaller name.
#[test]
fn surplus_of_a_node() {
    let at = |seconds, state| DaemonPod { creation_time: Time::from_unix(seconds, 0), ..pod(0, state) };
    for (pods, stays) in [
        ([at(0, ""), at(5, "assigned"), at(5, "assigned"), at(6, "assigned")], 1),
        ([at(6, "assigned"), at(0, ""), at(5, "assigned"), at(5, "assigned")], 2),
        ([at(6, ""), at(5, ""), at(7, ""), at(5, "")], 1),
    ] {
        let sync = next_sync(&usual(), &[NodeFit::MayStart], &pods);
        assert_eq!((sync.deleted, sync.is_update), (3, false));
        for (index, outcome) in sync.outcomes.iter().enumerate() {
            assert_eq!(outcome.verdict, if index == stays { Keep } else { Delete }, "{index} {pods:?}");
            assert!(index == stays || outcome.reason == DaemonReason::Surplus);
        }
    }
}

/// With surge, the oldest of the new pods and the oldest of the old ones stay, unless the new one takes over.
#[test]
fn surplus_of_a_node_with_surge() {
    let new = "assigned ready current-revision";
    let outcomes = |states: [&str; 4]| {
        let pods = states.map(|state| pod(0, state));
        told(&next_sync(&rolling(Int(1), Int(0)), &[NodeFit::MayStart], &pods).outcomes, DaemonReason::name)
    };
    assert_eq!(
        outcomes([OLD, new, OLD, new]),
        ["keep after-first-part", "keep kept", "delete surplus", "delete surplus"]
    );
    let available = "assigned ready available current-revision";
    assert_eq!(
        outcomes([OLD, available, OLD, new]),
        ["delete replaced", "keep kept", "delete surplus", "delete surplus"]
    );
    assert_eq!(
        outcomes(["assigned", new, OLD, new]),
        ["delete old-not-ready", "keep kept", "delete surplus", "delete surplus"]
    );
}

#[test]
fn on_delete_replaces_nothing_even_if_a_node_lacks_its_pod() {
    let reason = |strategy| {
        let set = DaemonSet { strategy, is_being_deleted: false };
        let sync = next_sync(&set, &[NodeFit::MayStart; 2], &[pod(0, OLD)]);
        assert_eq!((sync.creates, sync.deleted, sync.outcomes[0].verdict), (1, 0, Keep));
        sync.outcomes[0].reason
    };
    assert_eq!(reason(Strategy::OnDelete), DaemonReason::OnDelete);
    assert_eq!(reason(usual().strategy), DaemonReason::AfterFirstPart);
}

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

/// One failed pod of each node goes in a sync.
#[test]
fn failed_pods_of_a_node_count_once() {
    let pods = [0, 0, 0, 1].map(|node| pod(node, "assigned failed"));
    let sync = next_sync(&usual(), &[NodeFit::MayStart; 2], &pods);
    assert_eq!((sync.deleted, sync.later), (2, 0));
    assert!(sync.outcomes[..3].iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, 1)));
    assert_eq!(sync.outcomes[3].verdict, Delete);
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

//! What `DaemonSets` delete.

use super::{budget, int, is, text, texts, told};
use podrank::Time;
use podrank_laws::objects::list;
use podrank_laws::vectors::read;
use podrank_predict::Verdict::{Deleted, Kept, Possible};
use podrank_predict::sync::IntOrPercent::Int;
use podrank_predict::sync::daemon_set::{
    DaemonPod, DaemonReason, DaemonSetState, NodeFit, Strategy, Sync, next_sync,
};
use serde_json::Value;

/// One pod may be unavailable.
fn usual() -> DaemonSetState {
    let strategy = Strategy::RollingUpdate { max_surge: Int(0), max_unavailable: Int(1) };
    DaemonSetState { strategy, is_being_deleted: false }
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
    let set = DaemonSetState { is_being_deleted: true, ..usual() };
    let sync = next_sync(&set, &[NodeFit::Unfit, NodeFit::MayStart], &[pod(0, OLD)]);
    assert_eq!((sync.deleted, sync.creates, sync.outcomes[0].verdict), (0, 0, Kept));
}

#[test]
fn at_most_250() {
    let pods: Vec<_> = (0..260).map(|node| pod(node, OLD)).collect();
    let sync = next_sync(&usual(), &[NodeFit::Unfit; 260], &pods);
    assert_eq!((sync.deleted, sync.later), (250, 10));
    assert!(sync.outcomes.iter().all(|outcome| (outcome.verdict, outcome.quota) == (Possible, 250)));
    // Pods whose node does not exist come after those.
    let pods = [&pods[..250], &[pod(250, "")]].concat();
    let nodes = [&[NodeFit::Unfit; 250][..], &[NodeFit::Missing]].concat();
    let sync = next_sync(&usual(), &nodes, &pods);
    assert_eq!((sync.deleted, sync.later), (250, 1));
    assert_eq!((sync.outcomes[250].verdict, sync.outcomes[250].reason), (Kept, DaemonReason::NextSync));
    assert!(sync.outcomes[..250].iter().all(|outcome| outcome.verdict == Deleted));
    // So many are created, too.
    assert_eq!(next_sync(&usual(), &[NodeFit::MayStart; 260], &[]).creates, 250);
}

fn sync(case: &Value) -> Sync {
    let [max_surge, max_unavailable] = ["maxSurge", "maxUnavailable"].map(|field| budget(&case[field]));
    let strategy = Strategy::RollingUpdate { max_surge, max_unavailable };
    let strategy = if is(case, "onDelete") { Strategy::OnDelete } else { strategy };
    let fit = |words: &str| match words {
        "" => NodeFit::Missing,
        "exists" => NodeFit::Unfit,
        "exists may-keep" => NodeFit::MayKeep,
        "exists may-start may-keep" => NodeFit::MayStart,
        other => panic!("{other}"),
    };
    let nodes: Vec<_> = texts(&case["nodes"]).into_iter().map(fit).collect();
    let pod = |listed: &Value| DaemonPod {
        creation_time: Time::from_unix(int(listed, "created").into(), 0),
        ..pod(int(listed, "node").try_into().expect("a number"), text(listed, "flags"))
    };
    let pods: Vec<_> = list(&case["pods"]).map(pod).collect();
    next_sync(&DaemonSetState { strategy, is_being_deleted: false }, &nodes, &pods)
}

#[test]
fn vectors() {
    let file: Value = serde_json::from_str(&read("daemon_set.json")).expect("daemon_set.json");
    for case in list(&file) {
        let (name, sync) = (text(case, "name"), sync(case));
        assert_eq!(told(&sync.outcomes, DaemonReason::name), texts(&case["outcomes"]), "{name}");
        assert_eq!(sync.blocked_by.map(|pod| pod as u64), case["blockedBy"].as_u64(), "{name}");
        let creates = case["creates"].as_u64();
        assert!(creates.is_none_or(|creates| sync.creates as u64 == creates), "{name}: {sync:?}");
    }
    assert!(list(&file).count() >= 29);
}

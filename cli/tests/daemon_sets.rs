//! `DaemonSets`: what the program shows of them. `judge/code` compares which pods go, and why, with Kubernetes' own syncs.

use crate::common::{
    Change, DAEMON_SET, all_pods, changed, dump, fails, fine, items, put, row, run, shown, with, with_twin,
};
use serde_json::{Value, json};

// Six nodes with a pod each: `agent-a` is new, `agent-b` is not ready, and no pod may start on node-6 any more. Two of the
// five others may be unavailable.

const READY: &str = "status conditions 0 status";
const READY_TIME: &str = "status conditions 0 lastTransitionTime";
const DELETED: &str = "metadata deletionTimestamp";
const UNAVAILABLE: &str = "spec updateStrategy rollingUpdate maxUnavailable";

fn surge() -> Change<'static> {
    ("agent", "spec updateStrategy rollingUpdate maxSurge", json!(1))
}

fn new() -> (&'static str, Value) {
    ("metadata labels controller-revision-hash", json!("59c4b"))
}

/// The dump with a pod like agent-c but for its name and these fields.
fn like_c(dump: &str, name: &str, fields: &[(&str, Value)]) -> String {
    with_twin(dump, "agent-c", &[&[("metadata name", json!(name))], fields].concat())
}

#[test]
fn the_budget_is_certain_and_the_pods_are_not() {
    let shown = shown("ds/agent", DAEMON_SET);
    let contested = "…; possible; old-available; it is old, of revision 6d8f7, and at most 2 nodes may be unavailable (1 is): by chance, \
                     1 of 4 such pods is deleted";
    shown.says(&[
        // 30% of five nodes is rounded up to two, of which agent-b's is one.
        "2 of 6 go, quota 1",
        "agent-b; deleted; old-unavailable; it is old, of revision 6d8f7 and unavailable",
        contested,
        contested,
        contested,
        contested,
        "agent-a; kept; kept; it is of the current revision",
        "waits: …",
    ]);
    assert_eq!(
        row(&shown.json, "{workload} {waitsFor.deletions}"),
        r#"{"kind":"DaemonSet","name":"agent"} {"max":3,"min":3}"#
    );
    let (text, _) = fine("pod/agent-c", DAEMON_SET);
    assert!(text.starts_with("agent-c is possibly deleted (25%), now or later: "), "{text}");
    assert_eq!(shown.lines.len(), 8, "{shown}");
    assert_eq!(shown.json.get("replicas"), None);
    assert_eq!(fine("ds/agent --rollout", DAEMON_SET), fine("ds/agent", DAEMON_SET));
}

/// With surge, Kubernetes deletes an old pod once the new pod of its node is available. The answer names the new one,
/// and not one that is being deleted.
#[test]
fn with_surge_old_pods_wait_for_new_ones() {
    let surge = changed(DAEMON_SET, &[surge()]);
    let going = like_c(&surge, "agent-ca", &[new(), (DELETED, json!("2026-03-10T12:00:30Z"))]);
    let waits = shown("ds/agent", like_c(&going, "agent-cb", &[new(), (READY, json!("False"))]));
    let why = "it is old, of revision 6d8f7, and is deleted after the new pod of node node-3: agent-cb is not ready";
    waits.says(&[&format!("agent-c waits for agent-cb; awaits-new; {why}")]);
    let waiting = waits.lines.iter().filter(|line| line.contains(" waits for agent-cb; ")).count();
    assert_eq!(waiting, 1, "{waits}");
}

/// Once a new pod is available, the budget allows another deletion, or Kubernetes deletes the old pod of its node.
#[test]
fn an_edge_that_moves_with_the_clock_is_noted() {
    let waits = ("agent", "spec minReadySeconds", json!(30));
    let since = json!("2026-03-10T11:59:35Z");
    let budget = changed(DAEMON_SET, &[waits.clone(), ("agent-a", READY_TIME, since.clone())]);
    let surge = like_c(&changed(DAEMON_SET, &[waits, surge()]), "agent-cb", &[new(), (READY_TIME, since)]);
    for (dump, start, pod) in [(budget, "1 of 6", "agent-a"), (surge, "0 of 7", "agent-cb")] {
        let note =
            format!("note: pod default/{pod} becomes available in 5s, and then this sync deletes other pods");
        shown("ds/agent", dump).says(&[&format!("{start} go, …"), &note]);
    }
}

/// A pod belongs to the `DaemonSet` that its controller names by kind, name and UID.
#[test]
fn pods_of_other_controllers_do_not_count() {
    for (place, value) in [
        ("metadata ownerReferences 0 kind", json!("StatefulSet")),
        ("metadata ownerReferences 0 name", json!("agents")),
        ("metadata ownerReferences 0 uid", json!("5a3f0c1e-0000-4000-8000-0000000000de")),
        ("metadata namespace", json!("kube-system")),
    ] {
        shown("ds/agent -n default", like_c(DAEMON_SET, "agent-x", &[(place, value)])).lacks("agent-x");
    }
    // Only a pod that matches the selector, is not being deleted and has no controller may be adopted.
    let orphan = ("metadata ownerReferences", json!([]));
    for (place, value) in [("metadata labels app", "other"), (DELETED, "2026-03-10T12:00:30Z")] {
        shown("ds/agent", like_c(DAEMON_SET, "agent-x", &[orphan.clone(), (place, json!(value))]))
            .lacks("agent-x");
    }
}

/// The first part of a sync deletes 250 pods of nodes that may run none, so the pod without a node waits. Its affinity
/// names a node that does not exist.
#[test]
fn what_one_sync_does_not_reach_waits_for_the_next() {
    let mut items = items(DAEMON_SET);
    let example = items.iter().find(|item| item["metadata"]["name"] == "agent-c").expect("a pod").clone();
    items.retain(|item| item["kind"] != "Pod" && item["kind"] != "Node");
    let status = json!({ "observedGeneration": 2, "desiredNumberScheduled": 0 });
    put(items.iter_mut().find(|item| item["kind"] == "DaemonSet").expect("a set"), "status", status);
    for number in 0..251 {
        let node = format!("node-{number}");
        let mut pod = with(example.clone(), "metadata name", json!(format!("agent-{number:03}")));
        put(&mut pod, "metadata uid", json!(format!("5a3f0c1e-0000-4000-8000-{number:012x}")));
        put(&mut pod, "spec nodeName", json!(node));
        if number < 250 {
            items.push(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": node } }));
        } else {
            let field = json!({ "key": "metadata.name", "operator": "In", "values": ["gone"] });
            pod["spec"] = json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{ "matchFields": [field] }],
            } } } });
        }
        items.push(pod);
    }
    shown("ds/agent", dump(&items)).says(&[
        "250 of 251 go, quota 0",
        "agent-250; kept; next-sync; one sync deletes at most 250 pods",
        "note: the controller deletes 250 pods in this sync and 1 more in later ones",
    ]);
    // If it has such a node, too, any of them may wait, and nothing else has to come first.
    let mut nodes = items.clone();
    put(nodes.last_mut().expect("a pod"), "spec", json!({ "nodeName": "node-250" }));
    nodes.push(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-250" } }));
    let shown_of_nodes = shown("ds/agent", dump(&nodes));
    shown_of_nodes.says(&["250 of 251 go, quota 250"]);
    assert_eq!(row(&shown_of_nodes.json, "{waitsFor} {complete}"), "null false");
    // Without these pods, it is deleted, whatever its affinity says.
    items.retain(|item| item["kind"] != "Pod" || item["metadata"]["name"] == "agent-250");
    let goes = "agent-250; deleted; no-node; it waits for node gone, which does not exist";
    shown("ds/agent", dump(&items)).says(&[goes]);
}

#[test]
fn flags_and_fields_are_checked() {
    fails("ds/agent --replicas 2", DAEMON_SET, "DaemonSet default/agent has no replica count…");
    let budget = changed(DAEMON_SET, &[("agent", UNAVAILABLE, json!("3"))]);
    fails("ds/agent", budget, "…spec.updateStrategy.rollingUpdate.maxUnavailable…");
    let strategy = changed(DAEMON_SET, &[("agent", "spec updateStrategy type", json!("Never"))]);
    fails("ds/agent", strategy, "…spec.updateStrategy.type: \"Never\" is neither RollingUpdate nor OnDelete");
    // Its nodes decide, so there is no order by counts.
    assert_eq!(fine("", DAEMON_SET), fine("ds/agent", DAEMON_SET));
    let (status, _, stderr) = run("-o name", DAEMON_SET);
    assert!(status == Some(2) && stderr.contains("Add --replicas N or --rollout."), "{stderr}");
}

#[test]
fn a_pod_that_has_ended_has_its_phase() {
    for (phase, rule) in [("Failed", "failed"), ("Succeeded", "succeeded")] {
        let ended = changed(DAEMON_SET, &[("agent-c", "status phase", json!(phase))]);
        let json = shown("ds/agent", ended).json;
        let pod = all_pods(&json).find(|pod| pod["name"] == "agent-c").expect("it is listed");
        assert_eq!(row(pod, "{phase} {reason.rule}"), format!("{phase} {rule}"));
    }
}

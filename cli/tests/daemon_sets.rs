//! `DaemonSets`: what the program reads for the core's decision, which Kubernetes' own code judges, and what it shows.

mod common;

use common::{fails_with, pods, run};
use serde_json::{Value, json};

/// Six nodes with a pod each: `agent-a` is new, `agent-b` is not ready, and no pod may start on node-6 any more. Two of
/// the five others may be unavailable.
const EXAMPLE: &str = include_str!("../../preview/examples/daemon-set.json");

/// The example, after changes of its objects, each named by kind and name.
fn changed(changes: &[(&str, &str, &str, Value)]) -> String {
    let mut list: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    for (kind, name, place, value) in changes {
        let mut items = list["items"].as_array_mut().expect("items").iter_mut();
        let is_meant = |item: &&mut Value| item["kind"] == *kind && item["metadata"]["name"] == *name;
        let item = items.find(is_meant).expect("it is in the example");
        let (parent, field) = place.rsplit_once('/').expect("a pointer");
        item.pointer_mut(parent).expect("a place")[field] = value.clone();
    }
    list.to_string()
}

/// The example without the objects of this kind and name.
fn without(kind: &str, name: &str) -> String {
    let mut list: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let items = list["items"].as_array_mut().expect("items");
    items.retain(|item| item["kind"] != kind || !name.is_empty() && item["metadata"]["name"] != name);
    list.to_string()
}

/// The dump with a pod at its end that is like agent-c but for its name and these changes, each named by place.
fn with_twin(dump: &str, name: &str, changes: &[(&str, Value)]) -> String {
    let mut list: Value = serde_json::from_str(dump).expect("JSON");
    let items = list["items"].as_array_mut().expect("items");
    let mut twin = items.iter().find(|item| item["metadata"]["name"] == "agent-c").expect("a pod").clone();
    let uid = json!(format!("5a3f0c1e-0000-4000-8000-{:012x}", 0xff00 + items.len()));
    for (place, value) in [("/metadata/name", json!(name)), ("/metadata/uid", uid)].iter().chain(changes) {
        let (parent, field) = place.rsplit_once('/').expect("a pointer");
        twin.pointer_mut(parent).expect("a place")[field] = value.clone();
    }
    items.push(twin);
    list.to_string()
}

/// The spec of a pod that is made for this node, but not assigned.
fn made_for(node: &str) -> Value {
    let field = json!({ "key": "metadata.name", "operator": "In", "values": [node] });
    json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{ "matchFields": [field] }],
    } } } })
}

fn preview(dump: &str) -> (Value, String) {
    common::preview(&["ds/agent"], dump)
}

fn taint(effect: &str) -> Value {
    json!({ "taints": [{ "key": "dedicated", "value": "gpu", "effect": effect }] })
}

const OLD: &str = "it is old, of revision 6d8f7";

#[test]
fn the_budget_is_certain_and_the_pods_are_not() {
    let (preview, stderr) = preview(EXAMPLE);
    assert_eq!(preview["workload"], json!({ "kind": "DaemonSet", "name": "agent" }));
    // 30 % of five nodes are rounded up to two, of which agent-b's is one.
    assert_eq!(
        (&preview["delete"], &preview["quota"], &preview["active"]),
        (&json!(2), &json!(1), &json!(6))
    );
    assert_eq!((preview.get("replicas"), &preview["blocked"]), (None, &json!([])));
    let contested = |name| {
        format!(
            "{name}; contested; old-available; {OLD}; 2 nodes may be unavailable, and 1 is: one of 4 pods of which 1 \
             goes, at random"
        )
    };
    assert_eq!(
        pods(&preview),
        [
            format!("agent-b; delete; old-unavailable; {OLD} and unavailable"),
            contested("agent-c"),
            contested("agent-d"),
            contested("agent-e"),
            contested("agent-f"),
            "agent-a; keep; kept; it is of the current revision".to_owned(),
        ]
    );
    let goes_on =
        "this is only the next step: later ones replace the other old pods as new ones become available";
    assert_eq!(stderr, format!("note: {goes_on}\n"));
}

#[test]
fn the_table_prints_the_same_again() {
    let (status, table, _) = run(&["ds/agent"], EXAMPLE);
    assert_eq!(status, Some(0));
    let first = "2 of 6 active pods of DaemonSet default/agent go (1 certain, and 1 of 4 contested ones) at --rollout --now \
                 2026-03-10T12:00:00Z --order kubernetes";
    assert_eq!(table.lines().next(), Some(first));
    assert_eq!(run(&["ds/agent", "--rollout"], EXAMPLE).1, table);
}

#[test]
fn who_uses_up_the_budget_is_named() {
    let unavailable = |name| ("Pod", name, "/status/conditions/0/status", json!("False"));
    let revision = |name| ("Pod", name, "/metadata/labels/controller-revision-hash", json!("59c4b"));
    let (preview, _) =
        preview(&changed(&[unavailable("agent-a"), unavailable("agent-c"), revision("agent-c")]));
    assert_eq!((&preview["delete"], &preview["quota"]), (&json!(1), &json!(0)));
    let pods = pods(&preview);
    assert!(pods[0].starts_with("agent-b; delete; old-unavailable; "), "{pods:?}");
    let blocked = json!({
        "name": "agent-d",
        "by": "agent-a",
        "rule": "old-available",
        "why": format!("{OLD}; 2 nodes may be unavailable, and 3 are: agent-a is not ready"),
    });
    assert_eq!(preview["blocked"][0], blocked);
    assert_eq!(preview["blocked"].as_array().map(Vec::len), Some(3));
}

#[test]
fn with_surge_old_pods_wait_for_new_ones() {
    let surge = ("DaemonSet", "agent", "/spec/updateStrategy/rollingUpdate/maxSurge", json!(1));
    let (preview, _) = preview(&changed(&[surge]));
    // Five nodes are wanted, and five have an available pod: agent-f stays.
    assert_eq!(preview["delete"], json!(0));
    let pods = pods(&preview);
    assert!(
        pods.contains(&format!("agent-c; keep; awaits-new; {OLD}, and node node-3 gets a new pod first")),
        "{pods:?}"
    );
    assert!(pods.iter().any(|pod| pod.starts_with("agent-f; keep; not-startable-available; ")), "{pods:?}");
}

/// With surge, an old pod goes once the new pod of its node is available: the new one is named, not one that is going.
#[test]
fn the_new_pod_for_which_an_old_one_waits_is_named() {
    let surge = ("DaemonSet", "agent", "/spec/updateStrategy/rollingUpdate/maxSurge", json!(1));
    let new = ("/metadata/labels/controller-revision-hash", json!("59c4b"));
    let going = [new.clone(), ("/metadata/deletionTimestamp", json!("2026-03-10T12:00:30Z"))];
    let dump = with_twin(&changed(&[surge]), "agent-ca", &going);

    let not_ready = [new.clone(), ("/status/conditions/0/status", json!("False"))];
    let (waits, _) = preview(&with_twin(&dump, "agent-cb", &not_ready));
    let why = format!("{OLD}, and goes after the new pod of node node-3: agent-cb is not ready");
    let blocked = json!({ "name": "agent-c", "by": "agent-cb", "rule": "awaits-new", "why": why });
    assert_eq!(waits["blocked"], json!([blocked]));

    let (goes, _) = preview(&with_twin(&dump, "agent-cb", &[new]));
    let replaced = "agent-c; delete; replaced; it is old, and the new pod of node node-3 is available";
    assert!(pods(&goes).contains(&replaced.to_owned()), "{:?}", pods(&goes));
}

/// Of a node that is gone, no pod goes before the others of its kind.
#[test]
fn pods_of_a_node_that_is_gone_settle_first() {
    let gone = ("/spec/nodeName", json!("gone"));
    let of_gone = changed(&[
        ("Pod", "agent-f", gone.0, gone.1.clone()),
        ("DaemonSet", "agent", "/status/numberMisscheduled", json!(0)),
    ]);
    let dump = with_twin(&of_gone, "agent-g", std::slice::from_ref(&gone));
    let (settled, _) = preview(&dump);
    let like = format!("agent-f; keep; unsettled; {OLD}, like others of node gone");
    assert!(pods(&settled).contains(&like), "{:?}", pods(&settled));

    let going = [gone, ("/metadata/deletionTimestamp", json!("2026-03-10T12:00:30Z"))];
    let (waits, _) = preview(&with_twin(&dump, "agent-h", &going));
    let blocked = |name| {
        let why = format!("{OLD}, and agent-h is still being deleted");
        json!({ "name": name, "by": "agent-h", "rule": "unsettled", "why": why })
    };
    let unsettled =
        waits["blocked"].as_array().expect("a list").iter().filter(|pod| pod["rule"] == "unsettled");
    assert_eq!(unsettled.cloned().collect::<Vec<_>>(), [blocked("agent-f"), blocked("agent-g")]);
}

#[test]
fn nodes_decide_first() {
    let (preview, stderr) = preview(&changed(&[("Node", "node-6", "/spec", taint("NoExecute"))]));
    assert_eq!((&preview["delete"], &preview["quota"]), (&json!(1), &json!(0)));
    let pods = pods(&preview);
    assert_eq!(
        pods[0],
        "agent-f; delete; not-wanted; node node-6 has the taint dedicated=gpu:NoExecute, which the pods do not tolerate"
    );
    let later = "but missing and unwanted pods of all nodes come first";
    assert!(pods.contains(&format!("agent-c; keep; after-first-part; {OLD}, {later}")), "{pods:?}");
    assert_eq!(
        stderr,
        "note: the next sync deletes 1 pod and creates 0; replacing old pods comes after that, perhaps at once\n"
    );
}

/// The pod of a node that is gone belongs to no node if it is not assigned, whatever its affinity says.
#[test]
fn the_affinity_of_an_unassigned_pod_names_its_node() {
    let (preview, _) = preview(&changed(&[
        ("Pod", "agent-f", "/spec", made_for("gone")),
        ("DaemonSet", "agent", "/status/numberMisscheduled", json!(0)),
    ]));
    let pods = pods(&preview);
    assert_eq!(pods[0], "agent-f; delete; no-node; it waits for node gone, which does not exist");
}

/// The older pod of a node stays, else the first by name, whatever the order in which they are listed.
#[test]
fn one_pod_of_a_node_stays() {
    let surplus = |name: &str, created: Option<&str>| {
        let created = created.map(|time| ("/metadata/creationTimestamp", json!(time)));
        let pods = pods(&preview(&with_twin(EXAMPLE, name, created.as_slice())).0);
        let go: Vec<_> = pods.into_iter().filter(|pod| pod.contains("; delete; surplus; ")).collect();
        assert_eq!(go.len(), 1, "{go:?}");
        go[0].split(';').next().expect("a name").to_owned()
    };
    assert_eq!(surplus("agent-cc", None), "agent-cc");
    assert_eq!(surplus("agent-bb", None), "agent-c");
    assert_eq!(surplus("agent-bb", Some("2026-03-10T11:59:00Z")), "agent-bb");
    assert_eq!(surplus("agent-cc", Some("2020-03-10T11:59:00Z")), "agent-c");
}

#[test]
fn failed_pods_may_be_backed_off() {
    let (preview, stderr) = preview(&changed(&[("Pod", "agent-c", "/status/phase", json!("Failed"))]));
    assert_eq!(pods(&preview)[0], "agent-c; delete; failed; it has failed, and a new pod replaces it");
    assert!(stderr.contains("only the controller knows"), "{stderr}");
}

#[test]
fn a_dump_needs_the_nodes_and_the_revisions() {
    let command = "kubectl get pods,daemonsets,controllerrevisions,nodes -n default -o json";
    fails_with(
        &["ds/agent"],
        &without("Node", "node-1"),
        "only 4 nodes for default DaemonSet/agent are listed, while its status counts 5",
    );
    fails_with(&["ds/agent"], &without("Node", ""), command);
    fails_with(
        &["ds/agent"],
        &without("ControllerRevision", ""),
        "no ControllerRevision of default DaemonSet/agent is listed",
    );
    fails_with(&["ds/agent"], &without("Pod", ""), "only 0 pods of default DaemonSet/agent are listed");
    // Without nodes, each pod's node is taken to be a good one.
    let (status, stdout, _) = run(&["ds/agent", "--partial", "-o", "name"], &without("Node", ""));
    assert_eq!((status, &*stdout), (Some(0), "pod/agent-b\n"));
}

/// Once agent-a is available, the budget leaves room for a pod.
#[test]
fn an_edge_that_moves_with_the_clock_is_noted() {
    let dump = changed(&[
        ("DaemonSet", "agent", "/spec/minReadySeconds", json!(30)),
        ("Pod", "agent-a", "/status/conditions/0/lastTransitionTime", json!("2026-03-10T11:59:35Z")),
    ]);
    let (preview, stderr) = preview(&dump);
    assert_eq!(preview["delete"], json!(1));
    let note = "note: pod default/agent-a becomes available in 5s, and then this step takes other pods\n";
    assert!(stderr.contains(note), "{stderr}");
}

/// Once the new pod of node-3 is available, the old one goes.
#[test]
fn a_certain_victim_that_comes_with_the_clock_is_noted() {
    let dump = changed(&[
        ("DaemonSet", "agent", "/spec/updateStrategy/rollingUpdate/maxSurge", json!(1)),
        ("DaemonSet", "agent", "/spec/minReadySeconds", json!(30)),
    ]);
    let new = [
        ("/metadata/labels/controller-revision-hash", json!("59c4b")),
        ("/status/conditions/0/lastTransitionTime", json!("2026-03-10T11:59:35Z")),
    ];
    let (preview, stderr) = preview(&with_twin(&dump, "agent-cb", &new));
    assert_eq!(preview["delete"], json!(0));
    let note = "note: pod default/agent-cb becomes available in 5s, and then this step takes other pods\n";
    assert!(stderr.contains(note), "{stderr}");
}

/// A pod belongs to the `DaemonSet` that its controller names by kind, name and UID.
#[test]
fn pods_of_other_controllers_do_not_count() {
    for (place, value) in [
        ("/metadata/ownerReferences/0/kind", json!("StatefulSet")),
        ("/metadata/ownerReferences/0/name", json!("agents")),
        ("/metadata/ownerReferences/0/uid", json!("5a3f0c1e-0000-4000-8000-0000000000de")),
        ("/metadata/namespace", json!("kube-system")),
    ] {
        let (status, stdout, stderr) = run(
            &["ds/agent", "-n", "default", "-o", "json"],
            &with_twin(EXAMPLE, "agent-x", &[(place, value)]),
        );
        assert_eq!(status, Some(0), "{stderr}");
        assert!(!stdout.contains("agent-x") && !stderr.contains("agent-x"), "{place}: {stderr}");
    }
}

/// Only a pod that matches the selector, stays and has no controller may be adopted.
#[test]
fn orphans_may_be_adopted() {
    let orphan = ("/metadata/ownerReferences", json!([]));
    let (_, stderr) = preview(&with_twin(EXAMPLE, "agent-x", std::slice::from_ref(&orphan)));
    let note = "note: pod default/agent-x has no controller: default DaemonSet/agent may adopt it, but this preview does not \
                count it\n";
    assert!(stderr.contains(note), "{stderr}");
    for (place, value) in [
        ("/metadata/labels/app", json!("other")),
        ("/metadata/deletionTimestamp", json!("2026-03-10T12:00:30Z")),
    ] {
        let (_, stderr) = preview(&with_twin(EXAMPLE, "agent-x", &[orphan.clone(), (place, value)]));
        assert!(!stderr.contains("agent-x"), "{stderr}");
    }
}

/// The first part of a sync deletes 250 pods of nodes that may run none, so the pod without a node waits.
#[test]
fn what_one_sync_does_not_reach_waits_for_the_next() {
    let mut list: Value = serde_json::from_str(&without("Node", "")).expect("JSON");
    let items = list["items"].as_array_mut().expect("items");
    let example = items.iter().find(|item| item["metadata"]["name"] == "agent-c").expect("a pod").clone();
    items.retain(|item| item["kind"] != "Pod");
    let set = items.iter_mut().find(|item| item["kind"] == "DaemonSet").expect("a set");
    set["status"] = json!({ "observedGeneration": 2, "desiredNumberScheduled": 0 });
    for number in 0..251 {
        let mut pod = example.clone();
        pod["metadata"]["name"] = json!(format!("agent-{number:03}"));
        pod["metadata"]["uid"] = json!(format!("5a3f0c1e-0000-4000-8000-{number:012x}"));
        pod["spec"]["nodeName"] = json!(format!("node-{number}"));
        if number < 250 {
            let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": pod["spec"]["nodeName"] } });
            items.push(node);
        } else {
            pod["spec"] = made_for("gone");
        }
        items.push(pod);
    }
    let (preview, stderr) = preview(&list.to_string());
    assert_eq!((&preview["delete"], &preview["quota"]), (&json!(250), &json!(0)));
    let waits = "agent-250; keep; next-sync; one sync deletes at most 250 pods";
    assert_eq!(pods(&preview)[250], waits);
    assert_eq!(stderr, "note: the controller deletes 250 pods in this sync and 1 more in later ones\n");
}

/// Neither the rows nor the notes claim that a pod is old.
#[test]
fn without_a_revision_no_pod_is_called_old() {
    let dump = without("ControllerRevision", "");
    let (preview, stderr) = common::preview(&["ds/agent", "--partial"], &dump);
    assert_eq!((&preview["delete"], &preview["blocked"]), (&json!(0), &json!([])));
    for pod in pods(&preview) {
        assert!(pod.ends_with("keeps a pod, and whether this one is old is not known"), "{pod}");
    }
    let note =
        "note: no ControllerRevision of default DaemonSet/agent is listed, so its old pods are not known\n";
    assert_eq!(stderr, note);
}

/// With surge, a node keeps an old pod and a new one. Without it, just one pod.
#[test]
fn without_a_revision_surge_may_keep_two_pods() {
    let dump = with_twin(&without("ControllerRevision", ""), "agent-z", &[]);
    let (preview, _) = common::preview(&["ds/agent", "--partial"], &dump);
    assert_eq!(preview["delete"], json!(1));
    assert!(pods(&preview)[0].starts_with("agent-z; delete; surplus; another pod of node node-3 stays"));

    let mut list: Value = serde_json::from_str(&dump).expect("JSON");
    let items = list["items"].as_array_mut().expect("items");
    let set = items.iter_mut().find(|item| item["kind"] == "DaemonSet").expect("a set");
    set["spec"]["updateStrategy"]["rollingUpdate"] = json!({ "maxSurge": 1, "maxUnavailable": 0 });
    let (preview, _) = common::preview(&["ds/agent", "--partial"], &list.to_string());
    assert_eq!((&preview["delete"], &preview["quota"]), (&json!(0), &json!(0)));
    let kept = "agent-z; keep; surplus; node node-3 has other pods: it stays only if it is the only old or the only new one";
    assert!(pods(&preview).contains(&kept.to_owned()), "{:?}", pods(&preview));
}

#[test]
fn flags_and_fields_are_checked() {
    fails_with(&["ds/agent", "--replicas", "2"], EXAMPLE, "default DaemonSet/agent has no replicas");
    let budget = |value| {
        changed(&[("DaemonSet", "agent", "/spec/updateStrategy/rollingUpdate/maxUnavailable", value)])
    };
    fails_with(&["ds/agent"], &budget(json!("3")), "spec.updateStrategy.rollingUpdate.maxUnavailable");
    let strategy = changed(&[("DaemonSet", "agent", "/spec/updateStrategy/type", json!("Never"))]);
    fails_with(
        &["ds/agent"],
        &strategy,
        "spec.updateStrategy.type: \"Never\" is neither RollingUpdate nor OnDelete",
    );
    // A program without a name needs to hear that no count is meant.
    let (status, _, stderr) = run(&[], EXAMPLE);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("--rollout for the next step"), "{stderr}");
}

//! What holds for workloads of every kind: each test runs the program on small dumps of several kinds.

mod common;

use common::preview;
use serde_json::{Value, json};

/// The kinds whose controllers delete pods, each with its type on the command line and its API version.
const KINDS: [(&str, &str, &str); 5] = [
    ("rs", "ReplicaSet", "apps/v1"),
    ("rc", "ReplicationController", "v1"),
    ("sts", "StatefulSet", "apps/v1"),
    ("ds", "DaemonSet", "apps/v1"),
    ("job", "Job", "batch/v1"),
];

/// What is asked of a kind so that pods of [`dump`] go.
fn asked(short: &str) -> &'static [&'static str] {
    match short {
        "ds" => &["--partial"],
        "job" => &["--parallelism", "1"],
        _ => &["--replicas", "1"],
    }
}

fn uid(number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// A workload `web` with three pods on one node, of which two go.
fn dump(kind: &str, api_version: &str, namespace: &str) -> Vec<Value> {
    let labels = json!({ "app": "web" });
    let selector =
        if kind == "ReplicationController" { labels.clone() } else { json!({ "matchLabels": labels }) };
    let mut items = vec![json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": { "name": "web", "namespace": namespace, "uid": "w" },
        "spec": { "replicas": 3, "parallelism": 3, "selector": selector },
        "status": { "replicas": 3, "active": 3, "updateRevision": "r" },
    })];
    items.extend((0..3).map(|number| {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": format!("web-{number}"),
                "namespace": namespace,
                "uid": uid(number),
                "labels": { "app": "web", "controller-revision-hash": "r" },
                "ownerReferences": [
                    { "apiVersion": api_version, "kind": kind, "name": "web", "uid": "w", "controller": true }
                ],
            },
            "spec": { "nodeName": "a" },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
        })
    }));
    items.push(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "a" } }));
    items
}

fn list(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

/// Runs a preview of `web` after a change of it.
fn changed(kind: (&str, &str, &str), change: impl FnOnce(&mut Value)) -> (Value, String) {
    let (short, kind, api_version) = kind;
    let mut items = dump(kind, api_version, "default");
    change(&mut items[0]);
    preview(&[&[&*format!("{short}/web")], asked(short)].concat(), &list(&items))
}

/// Asserts that no pod goes, and that the note says why.
#[track_caller]
fn does_nothing(kind: (&str, &str, &str), why: &str, change: impl FnOnce(&mut Value)) {
    let (preview, notes) = changed(kind, change);
    assert_eq!(preview["delete"], 0, "{kind:?}: {preview}");
    let pods = preview["pods"].as_array().expect("pods");
    assert_eq!(pods.len(), 3, "{kind:?}");
    assert!(pods.iter().all(|pod| pod["verdict"] == "keep"), "{kind:?}: {pods:?}");
    let note = format!("note: default {}/web {why}: its controller deletes no pods\n", kind.1);
    assert!(notes.ends_with(&note), "{kind:?}: {notes}");
    assert!(!notes.contains("releases it"), "{kind:?}: {notes}");
    let codes: Vec<_> = preview["notes"].as_array().expect("notes").iter().map(|it| &it["code"]).collect();
    assert!(codes.contains(&&json!("does-nothing")), "{kind:?}: {codes:?}");
}

#[test]
fn pods_go() {
    for kind in KINDS {
        let (preview, _) = changed(kind, |_| ());
        let expected = if kind.0 == "sts" { 1 } else { 2 };
        assert_eq!(preview["delete"], expected, "{kind:?}: {preview}");
    }
}

#[test]
fn a_workload_that_is_being_deleted_deletes_no_pods() {
    for kind in KINDS {
        does_nothing(kind, "is being deleted", |workload| {
            workload["metadata"]["deletionTimestamp"] = json!("2026-03-10T12:00:00Z");
        });
    }
}

#[test]
fn with_an_invalid_selector_it_deletes_no_pods() {
    for kind in KINDS {
        does_nothing(kind, "has an invalid selector", |workload| {
            workload["spec"]["selector"] = match kind.1 {
                "ReplicationController" => json!({ "not a key": "web" }),
                _ => json!({ "matchExpressions": [{ "key": "app", "operator": "Like" }] }),
            };
        });
    }
    let ends = |job: &mut Value| {
        job["spec"]["selector"] = json!({ "matchLabels": { "not a key": "web" } });
        job["status"]["conditions"] = json!([{ "type": "FailureTarget", "status": "True" }]);
    };
    does_nothing(KINDS[4], "has an invalid selector", ends);
    does_nothing(KINDS[3], "has a selector that selects all pods", |set| {
        set["spec"]["selector"] = json!({});
    });
}

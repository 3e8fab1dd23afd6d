//! What holds for workloads of every kind: each test runs the program on small dumps of several kinds.

mod common;

use common::{fails, fails_with, preview, run};
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
        "ds" => &["--partial", "--rollout"],
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

/// The preview of `web` as the program prints it: the exit status, the JSON and the notes.
fn shown(short: &str, items: &[Value]) -> (Option<i32>, String, String) {
    let name = format!("{short}/web");
    run(&[&[&*name, "-o", "json"][..], asked(short)].concat(), &list(items))
}

/// Runs a preview of `web` after a change of it.
fn changed(kind: (&str, &str, &str), change: impl FnOnce(&mut Value)) -> (Value, String) {
    let (short, kind, api_version) = kind;
    let mut items = dump(kind, api_version, "default");
    change(&mut items[0]);
    preview(&[&[&*format!("{short}/web")][..], asked(short)].concat(), &list(&items))
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

#[test]
fn one_uid_on_two_pods_is_an_error() {
    for (short, kind, api_version) in KINDS {
        let mut items = dump(kind, api_version, "default");
        items[2]["metadata"]["uid"] = items[1]["metadata"]["uid"].clone();
        let name = format!("{short}/web");
        let args = [&[&*name][..], asked(short)].concat();
        let text = "pod default/web-1: metadata.uid: pod default/web-0 has 00000000-0000-4000-8000-000000000000, too; \
                    UIDs must be unique";
        fails(&args, &list(&items), text);
        // The same pod once more is no other pod.
        items[2] = items[1].clone();
        items[0]["status"]["replicas"] = json!(2);
        items[0]["status"]["active"] = json!(2);
        let (status, _, stderr) = run(&args, &list(&items));
        let note = "note: pod default/web-0 is listed more than once: only the first entry counts\n";
        assert!(status == Some(0) && stderr.contains(note), "{kind}: {stderr}");
    }
}

#[test]
fn a_negative_count_is_an_error() {
    for (short, kind, api_version) in &KINDS[..3] {
        let mut items = dump(kind, api_version, "default");
        items[0]["spec"]["replicas"] = json!(-3);
        let error =
            format!("default {kind}/web: spec.replicas: -3 is negative, which Kubernetes does not allow");
        fails(&[&format!("{short}/web"), "--rollout"], &list(&items), &error);
    }
}

/// Kubernetes stores 32 bits with a sign.
#[test]
fn a_count_that_kubernetes_cannot_store_is_a_wrong_flag() {
    for (short, kind, api_version) in KINDS.into_iter().chain([("deploy", "Deployment", "apps/v1")]) {
        let items = list(&dump(kind, api_version, "default"));
        let flag = if short == "job" { "--parallelism" } else { "--replicas" };
        let (status, _, stderr) = run(&[&format!("{short}/web"), flag, "2147483648"], &items);
        assert_eq!(status, Some(2), "{kind}: {stderr}");
        assert!(stderr.contains("2147483648 is not in 0..=2147483647"), "{kind}: {stderr}");
    }
}

#[test]
fn a_namespace_without_the_workload_is_named() {
    for (short, kind, api_version) in KINDS {
        let both = [dump(kind, api_version, "shop"), dump(kind, api_version, "staging")].concat();
        let both = list(&both);
        let here = |namespace: &str, what: &str| {
            format!("no {what} in namespace {namespace}; the input has: shop {kind}/web, staging {kind}/web")
        };
        let name = format!("{short}/web");
        for (namespace, shown) in [("prod", "prod"), ("", "\"\"")] {
            let args = ["--rollout", "-n", namespace];
            fails(&[&[&*name][..], &args].concat(), &both, &here(shown, kind));
            fails(&[&["web"][..], &args].concat(), &both, &here(shown, "workload"));
            fails(&args, &both, &here(shown, "workload"));
        }
        // With one of the two, both a full and a bare name are found.
        for name in [&*name, "web"] {
            let (status, _, stderr) = run(&[name, "-n", "staging", "--rollout", "--partial"], &both);
            assert_eq!(status, Some(0), "{kind}: {stderr}");
        }
    }
}

/// If workloads of several namespaces have the name, the namespace says which is meant.
#[test]
fn the_namespace_tells_workloads_of_one_name_apart() {
    for (short, kind, api_version) in KINDS {
        let mut items = dump(kind, api_version, "default");
        let mut others = dump(kind, api_version, "other");
        for (number, pod) in (10..).zip(&mut others[1..4]) {
            pod["metadata"]["uid"] = json!(uid(number));
        }
        items.extend(others);
        for namespace in ["default", "other"] {
            let name = format!("{short}/web");
            for name in [&[&*name][..], &[]] {
                let args = [name, asked(short), &["-n", namespace]].concat();
                let (preview, _) = preview(&args, &list(&items));
                assert_eq!(preview["namespace"], namespace, "{args:?}");
                assert_eq!(preview["active"], 3, "{args:?}");
            }
        }
    }
}

/// A workload without pods.
fn idle(kind: &str, api_version: &str, name: &str) -> Value {
    let mut workload = dump(kind, api_version, "default").swap_remove(0);
    workload["metadata"]["name"] = json!(name);
    workload["metadata"]["uid"] = json!(name);
    workload["status"] = json!({ "updateRevision": "r" });
    workload
}

/// A workload without pods is meant if the input has no other one.
#[test]
fn the_only_workload_needs_no_name() {
    for (short, kind, api_version) in KINDS {
        let alone = idle(kind, api_version, "web");
        let (preview, _) = preview(asked(short), &list(std::slice::from_ref(&alone)));
        assert_eq!((&preview["active"], &preview["delete"]), (&json!(0), &json!(0)), "{kind}");
        let other = idle("ReplicaSet", "apps/v1", "other");
        let several = "the input has several workloads, none with pods: ";
        fails_with(asked(short), &list(&[alone, other]), several);
    }
}

/// Beside a workload with pods, one without any is not meant.
#[test]
fn a_workload_with_pods_needs_no_name_beside_idle_ones() {
    for (short, kind, api_version) in KINDS {
        let mut items = dump(kind, api_version, "default");
        items.push(idle(kind, api_version, "idle"));
        let (preview, _) = preview(asked(short), &list(&items));
        assert_eq!(preview["active"], json!(3), "{kind}");
    }
}

#[test]
fn what_is_not_there_is_not_said_to_be_all() {
    let [a, b] = ["shop", "staging"].map(|namespace| dump("StatefulSet", "apps/v1", namespace));
    let both = list(&[a, b].concat());
    fails(
        &["rs/web", "--replicas", "1"],
        &both,
        "no ReplicaSet is named web; the input has none; get it with kubectl get pods,replicasets,deployments -o json",
    );
    let nearest = "no workload is named webb; did you mean sts/web in namespace shop?";
    fails(&["webb", "--replicas", "1"], &both, nearest);
    let [a, b] = ["shop", "staging"].map(|namespace| dump("ReplicaSet", "apps/v1", namespace));
    fails(
        &["webb", "--replicas", "1"],
        &list(&[a, b].concat()),
        "no workload is named webb; did you mean rs/web in namespace shop?",
    );
}

/// `jq -s` makes one list of several, each of them an item.
#[test]
fn lists_in_lists_are_read() {
    for (short, kind, api_version) in KINDS {
        let items = dump(kind, api_version, "default");
        let flat = shown(short, &items);
        assert_eq!(flat.0, Some(0));
        let pods = items[2..4].iter().cloned().map(|mut pod| {
            let fields = pod.as_object_mut().expect("an object");
            fields.remove("kind");
            fields.remove("apiVersion");
            pod
        });
        let typed = json!({ "apiVersion": "v1", "kind": "PodList", "items": pods.collect::<Value>() });
        let inner = json!({ "apiVersion": "v1", "kind": "List", "items": [items[1], typed, items[4]] });
        let empty = json!({ "apiVersion": "v1", "kind": "List", "items": null });
        // One behind the other, they are no deeper.
        let mut nested = vec![items[0].clone(), inner];
        nested.resize(20, empty);
        assert_eq!(shown(short, &nested), flat, "{kind}");
    }
}

/// What has the kind but not the API group of a pod, a node or a workload is something else.
#[test]
fn objects_of_other_groups_are_left_out() {
    let kinds = ["Pod", "Node", "ControllerRevision", "Deployment"].into_iter();
    let kinds = kinds.chain(KINDS.map(|(_, kind, _)| kind));
    let others = kinds.map(|kind| json!({ "apiVersion": "example.com/v1", "kind": kind, "metadata": 3 }));
    let others: Vec<_> = others.collect();
    for (short, kind, api_version) in KINDS {
        let items = dump(kind, api_version, "default");
        let alone = shown(short, &items);
        assert_eq!(alone.0, Some(0));
        assert_eq!(shown(short, &[items, others.clone()].concat()), alone, "{kind}");
    }
}

#[test]
fn lists_in_lists_have_their_place_in_errors_and_a_limit() {
    let bad = json!({ "apiVersion": "v1", "kind": "Pod" });
    let nested = json!({ "apiVersion": "v1", "kind": "List", "items": [{}, bad] });
    fails_with(&["--replicas", "1"], &list(&[nested]), "items[0]: items[1]: missing field `metadata`");
    let deep = |depth: usize| {
        let open = r#"{"kind":"List","apiVersion":"v1","items":["#;
        format!("{}{}{}", open.repeat(depth), json!({ "kind": "Secret" }), "]}".repeat(depth))
    };
    fails_with(&["--replicas", "1"], &deep(9), "no Pod or workload that has a preview among 1 object");
    fails_with(&["--replicas", "1"], &deep(10), "a list in more than 8 lists");
    fails_with(&["--replicas", "1"], &deep(10_000), "a list in more than 8 lists");
    // A custom resource may be called a list, and has other items.
    let custom = json!({ "apiVersion": "example.com/v1", "kind": "AllowList", "items": ["a"] });
    let single = json!({ "apiVersion": "v1", "kind": "List" });
    fails_with(&["--replicas", "1"], &list(&[custom, single]), "among 2 objects");
}

#[test]
fn a_broken_node_matters_to_daemon_sets_alone() {
    let broken = |items: &mut Vec<Value>| items[4]["spec"] = json!({ "taints": "none" });
    for (short, kind, api_version) in KINDS {
        let mut items = dump(kind, api_version, "default");
        let name = format!("{short}/web");
        let args = [&[&*name, "-o", "name"][..], asked(short)].concat();
        let sound = run(&args, &list(&items));
        broken(&mut items);
        if short == "ds" {
            fails_with(&args, &list(&items), "node a: spec.taints: invalid type");
        } else {
            assert_eq!(run(&args, &list(&items)), sound, "{kind}");
        }
    }
}

#[test]
fn where_there_is_no_page_the_error_says_what_there_is() {
    for (short, kind, api_version) in &KINDS[2..] {
        let name = format!("{short}/web");
        let args = [&[&*name, "-o", "html"][..], asked(short)].concat();
        fails_with(&args, &list(&dump(kind, api_version, "default")), "use -o table, wide, json or name");
    }
}

#[test]
fn a_workload_that_is_listed_twice_is_noted() {
    for (short, kind, api_version) in KINDS {
        let mut items = dump(kind, api_version, "default");
        let name = format!("{short}/web");
        let args = [&[&*name], asked(short)].concat();
        let once = run(&args, &list(&items));
        let mut other = items[0].clone();
        other["spec"]["selector"] = json!({});
        items.push(other);
        let (status, table, notes) = run(&args, &list(&items));
        assert_eq!((status, &table), (once.0, &once.1), "{kind}");
        let note =
            format!("note: default {kind}/web is listed more than once: only the first entry counts\n");
        assert!(notes.contains(&note) && !once.2.contains(&note), "{notes}");
    }
}

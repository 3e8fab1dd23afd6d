//! What holds for workloads of every kind: each test runs the program on small dumps of several kinds.

use crate::common::{Ran, dump, fails, fine, owner, put, run, shown, uid, with};
use serde_json::{Value, json};

/// The kinds whose controllers delete pods.
const KINDS: [Kind; 5] = [
    Kind { short: "rs", name: "ReplicaSet", api_version: "apps/v1" },
    Kind { short: "rc", name: "ReplicationController", api_version: "v1" },
    Kind { short: "sts", name: "StatefulSet", api_version: "apps/v1" },
    Kind { short: "ds", name: "DaemonSet", api_version: "apps/v1" },
    Kind { short: "job", name: "Job", api_version: "batch/v1" },
];

#[derive(Clone, Copy, Debug)]
struct Kind {
    short: &'static str,
    name: &'static str,
    api_version: &'static str,
}

impl Kind {
    /// What is asked of the kind so that pods of [`Kind::objects`] go.
    fn asked(self) -> &'static str {
        match self.short {
            "ds" => "--partial --rollout",
            "job" => "--parallelism 1",
            _ => "--replicas 1",
        }
    }

    /// The same, of the workload by its name.
    fn of_web(self) -> String {
        format!("{}/web {}", self.short, self.asked())
    }

    /// A workload `web` with three pods on one node, of which two go.
    fn objects_in(self, namespace: &str) -> Vec<Value> {
        let labels = json!({ "app": "web" });
        let selector = if self.short == "rc" { labels.clone() } else { json!({ "matchLabels": labels }) };
        let mut items = vec![json!({
            "apiVersion": self.api_version,
            "kind": self.name,
            "metadata": { "name": "web", "namespace": namespace, "uid": "web" },
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
                    "ownerReferences": owner(self.api_version, self.name, "web"),
                },
                "spec": { "nodeName": "a" },
                "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
            })
        }));
        items.push(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "a" } }));
        items
    }

    fn objects(self) -> Vec<Value> {
        self.objects_in("default")
    }

    /// A workload without pods.
    fn idle(self, name: &str) -> Value {
        let mut workload = self.objects().swap_remove(0);
        put(&mut workload, "metadata name", json!(name));
        put(&mut workload, "metadata uid", json!(name));
        with(workload, "status", json!({ "updateRevision": "r" }))
    }

    /// What the program says of `web`.
    fn ran(self, items: &[Value]) -> Ran {
        run(&format!("{} -o json", self.of_web()), dump(items))
    }
}

#[test]
fn a_workload_that_is_being_deleted_or_has_an_invalid_selector_deletes_no_pods() {
    let odd = json!({ "matchExpressions": [{ "key": "app", "operator": "Like" }] });
    let time = json!("2026-03-10T12:00:00Z");
    for kind in KINDS {
        let odd = if kind.short == "rc" { json!({ "not a key": "web" }) } else { odd.clone() };
        for (place, value, why) in [
            ("metadata deletionTimestamp", time.clone(), "is being deleted"),
            ("spec selector", odd, "has an invalid selector"),
            ("spec selector", json!({}), "has a selector that selects all pods"),
        ] {
            // A selector of all pods only matters for a DaemonSet.
            if value == json!({}) && kind.short != "ds" {
                continue;
            }
            let mut items = kind.objects();
            put(&mut items[0], place, value);
            let shown = shown(&kind.of_web(), dump(&items));
            let note = format!(
                "note: {} default/web {why}, so kube-controller-manager deletes none of its pods",
                kind.name
            );
            shown.says(&["0 of 3 go, …", "…; kept; …", &note]).lacks("releases it");
        }
    }
}

/// As in redacted files. Two pods share one UID, or all of them.
#[test]
fn pods_that_share_a_uid_are_told_apart_by_their_names() {
    for kind in KINDS {
        let asked = format!("{} -o name", kind.of_web());
        let (names, _) = fine(&asked, dump(&kind.objects()));
        for (sharing, note) in [(&[2][..], "2 pods"), (&[2, 3], "3 pods")] {
            let mut items = kind.objects();
            for &i in sharing {
                items[i]["metadata"]["uid"] = items[1]["metadata"]["uid"].clone();
            }
            assert_eq!(fine(&asked, dump(&items)).0, names, "{kind:?}");
            // A pod that is listed twice is one.
            items.push(items[2].clone());
            let note = format!("…the UIDs of {note} are not unique, as in a redacted file, …");
            shown(&kind.of_web(), dump(&items)).says(&[&note]);
        }
    }
}

/// As in a file with a copy of a namespace, whose pods the namespace tells apart.
#[test]
fn pods_of_different_namespaces_may_share_a_uid() {
    for kind in KINDS {
        let both = dump(&[kind.objects(), kind.objects_in("staging")].concat());
        let shown = shown(&format!("{} --namespace staging", kind.of_web()), both);
        shown.says(&["…the UIDs of 2 workloads are not unique, …"]);
    }
}

/// Such pods get UIDs in the order of their names.
#[test]
fn a_choice_by_uids_that_pods_share_does_not_depend_on_the_order_of_the_input() {
    let mut items = KINDS[0].objects();
    items[1..4].iter_mut().for_each(|pod| pod["metadata"]["uid"] = json!(uid(0)));
    let chosen = |items: &[Value]| fine("rs/web --replicas 1 --order total -o name", dump(items)).0;
    let names = chosen(&items);
    items[1..4].reverse();
    assert_eq!(chosen(&items), names);
}

/// Kubernetes stores 32 bits with a sign.
#[test]
fn counts_that_kubernetes_has_not_are_errors() {
    for kind in KINDS {
        let mut items = kind.objects();
        put(&mut items[0], "spec replicas", json!(-3));
        let error = "spec.replicas: -3 is negative, which Kubernetes does not allow";
        if kind.short != "ds" && kind.short != "job" {
            let words = format!("{}/web --rollout", kind.short);
            fails(&words, dump(&items), &format!("{} default/web: {error}", kind.name));
        }
        let flag = if kind.short == "job" { "--parallelism" } else { "--replicas" };
        let (status, _, stderr) = run(&format!("{}/web {flag} 2147483648", kind.short), dump(&items));
        assert!(status == Some(2) && stderr.contains("2147483648"), "{kind:?}: {stderr}");
    }
}

#[test]
fn the_namespace_tells_workloads_of_one_name_apart() {
    for kind @ Kind { short, name, .. } in KINDS {
        let mut staging = kind.objects_in("staging");
        for (number, pod) in (10..).zip(&mut staging[1..4]) {
            pod["metadata"]["uid"] = json!(uid(number));
        }
        let both = dump(&[kind.objects(), staging].concat());
        for namespace in ["default", "staging"] {
            for words in [&*kind.of_web(), kind.asked()] {
                let shown = shown(&format!("{words} -n {namespace}"), &both);
                shown.says(&["… of 3 go, …"]);
                assert_eq!(shown.json["namespace"], namespace, "{words}");
            }
        }
        for (namespace, told) in [("prod", "prod"), ("", "\"\"")] {
            for (asked, what) in [(&*format!("{short}/web"), name), ("web", "workload"), ("", "workload")] {
                let words = format!("{asked} --rollout --namespace={namespace}");
                let has = format!("The input has {name} default/web, {name} staging/web.");
                fails(&words, &both, &format!("no {what} in namespace {told}\n  {has}"));
            }
        }
        fails(
            "webb --replicas 1",
            &both,
            &format!("no workload is named webb\n  Did you mean {short}/web…?"),
        );
    }
}

#[test]
fn the_only_workload_needs_no_name() {
    for kind in KINDS {
        // One without pods is meant if the input has no other one, and not beside one with pods.
        let alone = kind.idle("web");
        shown(kind.asked(), dump(std::slice::from_ref(&alone))).says(&["0 of 0 go, …"]);
        let several = "the input has several workloads, none with pods\n  …";
        fails(kind.asked(), dump(&[alone, KINDS[0].idle("other")]), several);
        shown(kind.asked(), dump(&[kind.objects(), vec![kind.idle("idle")]].concat()))
            .says(&["… of 3 go, …"]);
    }
}

/// `jq -s` makes one list of several, each of them an item.
#[test]
fn lists_in_lists_are_read() {
    let [rs, ..] = KINDS;
    let items = rs.objects();
    let bare = |pod: &Value| with(with(pod.clone(), "kind", Value::Null), "apiVersion", Value::Null);
    // The kind of a list comes behind its items, as YAML and old kubectl write it.
    let typed = |kind: &str, api_version: &str, items: &[Value]| {
        let items: Vec<_> = items.iter().map(bare).collect();
        json!({ "apiVersion": api_version, "items": items, "kind": format!("{kind}List") })
    };
    let pods = typed("Pod", "v1", &items[2..4]);
    let inner = json!({ "apiVersion": "v1", "kind": "List", "items": [items[1], pods, items[4]] });
    let empty = json!({ "apiVersion": "v1", "kind": "List", "items": null });
    // Lists in sequence are not nested.
    let mut nested = vec![typed(rs.name, rs.api_version, &items[..1]), inner];
    nested.resize(20, empty);
    let flat = rs.ran(&items);
    assert_eq!((flat.0, rs.ran(&nested)), (Some(0), flat.clone()));
}

/// What has the kind but not the API group of a pod, a node or a workload is something else.
#[test]
fn objects_of_other_groups_are_left_out() {
    let kinds = ["Pod", "Node", "ControllerRevision", "Deployment"].into_iter();
    let others: Vec<_> = kinds
        .chain(KINDS.map(|it| it.name))
        .map(|kind| json!({ "apiVersion": "example.com/v1", "kind": kind, "metadata": 3 }))
        .collect();
    for kind in KINDS {
        let alone = kind.ran(&kind.objects());
        assert_eq!(alone.0, Some(0));
        assert_eq!(kind.ran(&[kind.objects(), others.clone()].concat()), alone, "{kind:?}");
    }
}

#[test]
fn lists_in_lists_have_their_place_in_errors_and_a_limit() {
    let bad = json!({ "apiVersion": "v1", "kind": "Pod" });
    let nested = json!({ "apiVersion": "v1", "kind": "List", "items": [{}, bad] });
    let deep = |depth: usize| {
        let open = r#"{"kind":"List","apiVersion":"v1","items":["#;
        format!("{}{}{}", open.repeat(depth), json!({ "kind": "Secret" }), "]}".repeat(depth))
    };
    // A custom resource may be called a list, and has other items.
    let custom = json!({ "apiVersion": "example.com/v1", "kind": "AllowList", "items": ["a"] });
    let single = json!({ "apiVersion": "v1", "kind": "List" });
    for (dump, error) in [
        (dump(&[nested]), "a Pod without a name: missing field `metadata`"),
        (deep(9), "the input has no Pod or workload that podrank knows\n  It has 1 object.…"),
        (deep(10), "…a list in more than 8 lists…"),
        (deep(10_000), "…a list in more than 8 lists…"),
        (dump(&[custom, single]), "…It has 2 objects.…"),
    ] {
        fails("--replicas 1", dump, error);
    }
}

#[test]
fn a_broken_node_matters_to_daemon_sets_alone() {
    for kind in KINDS {
        let mut items = kind.objects();
        let sound = kind.ran(&items);
        items[4]["spec"] = json!({ "taints": "none" });
        if kind.short == "ds" {
            fails(&kind.of_web(), dump(&items), "node a: spec.taints: invalid type…");
        } else {
            assert_eq!(kind.ran(&items), sound, "{kind:?}");
        }
    }
}

#[test]
fn a_pod_that_is_listed_three_times_is_noted_once() {
    for kind in KINDS {
        let mut items = kind.objects();
        let again = items[1].clone();
        items.extend([again.clone(), again]);
        let (_, notes) = fine(&kind.of_web(), dump(&items));
        let note = "pod default/web-0 is listed more than once, and only the first entry counts\n";
        assert_eq!(notes.matches(note).count(), 1, "{kind:?}: {notes}");
    }
}

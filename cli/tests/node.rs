//! What a node is asked about: in a file without kubectl, and in each output.

use crate::common::{self, PROGRAM, ROLLOUT, output, without};
use serde_json::{Value, json};
use std::process::Command;

/// Runs it on a dump where there is no kubectl.
fn run(words: &str, dump: &str) -> common::Ran {
    let mut command = Command::new(PROGRAM);
    command.args(words.split(' ')).args(["-f", "-"]).env("KUBECTL", "/nowhere/kubectl");
    common::ran(output(&mut command, dump.as_bytes()))
}

const PODS: [&str; 4] =
    ["web-5d8c7f9b64-2fxcm", "web-7f6b9d5c48-b7wfn", "web-7f6b9d5c48-d6sjr", "web-7f6b9d5c48-z5tgq"];

#[test]
fn a_file_answers_about_a_node_without_kubectl() {
    let (status, table, notes) = run("node/worker-1", ROLLOUT);
    assert_eq!(status, Some(0), "{notes}");
    let expected = format!(
        "worker-1: the counts of their workloads could drop 4 of its 4 pods\nNAMESPACE  WORKLOAD    PODS\ndefault    deploy/web  {}\n",
        PODS.join(", ")
    );
    assert_eq!(table, expected);
    // What `drop --node` says is about a cluster.
    assert!(!notes.contains("drop --node"), "{notes}");
    let (_, names, _) = run("node worker-1 -o name", ROLLOUT);
    assert_eq!(names, PODS.map(|pod| format!("pod/{pod}\n")).concat());
    let (_, yaml, _) = run("node/worker-1 -o yaml", ROLLOUT);
    assert!(yaml.contains("kind: NodePreview\n"), "{yaml}");
    let (_, json, _) = run("node/worker-1 -o json", ROLLOUT);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let workloads = json!([{ "namespace": "default", "target": "deploy/web", "pods": PODS }]);
    let expected = json!({
        "apiVersion": "podrank/v1", "kind": "NodePreview", "node": "worker-1", "workloads": workloads, "passedOver": [], "others": [],
    });
    assert_eq!(json, expected);
}

/// The example with another pod on its node, of this controller and in this namespace, and with these objects.
fn with_another(owner: Value, namespace: &str, objects: &[Value]) -> String {
    let fields = [
        ("metadata name", json!("own")),
        ("metadata namespace", json!(namespace)),
        ("metadata ownerReferences", owner),
    ];
    let all = common::items(&common::with_twin(ROLLOUT, PODS[1], &fields));
    common::dump(&[&all, objects].concat())
}

#[test]
fn all_pods_of_a_node_are_counted() {
    let job = common::owner("batch/v1", "Job", "import");
    let (_, table, notes) = run("node/worker-1", &with_another(job, "default", &[]));
    let counted = "worker-1: the counts of their workloads could drop 4 of its 5 pods\n";
    assert!(
        table.starts_with(counted) && notes.contains("own in default cannot be dropped"),
        "{table}{notes}"
    );
}

#[test]
fn what_a_file_does_not_tell_is_refused() {
    let pods = without(ROLLOUT, |item| item["kind"] != "Pod");
    for (words, dump, exit, error) in [
        ("node/worker-77", ROLLOUT, 1, "error: standard input: no pod is on a node worker-77\n"),
        (
            "node/worker-1 -o name",
            &pods,
            1,
            "…which is missing, so nobody knows whose that is: add replicasets…",
        ),
        (
            "node/worker-1 --replicas 3",
            ROLLOUT,
            2,
            "error: node/worker-1 is no workload: leave out --replicas\n…",
        ),
        (
            "node/worker-1 -n shop",
            ROLLOUT,
            2,
            "error: node/worker-1 is no workload: leave out --namespace\n…",
        ),
    ] {
        let (status, stdout, said) = run(words, dump);
        assert_eq!((status, &*stdout), (Some(exit), ""), "{words}");
        assert!(common::is_like(&said, error), "{said}");
    }
    for format in ["wide", "markdown"] {
        let (status, text, error) = run(&format!("node/worker-1 -o {format}"), ROLLOUT);
        assert!(status == Some(0) && PODS.iter().all(|pod| text.contains(pod)), "{format}: {error}");
    }
}

#[test]
fn names_of_several_namespaces_are_refused() {
    let set = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": "api", "namespace": "shop" } });
    let dump = with_another(common::owner("apps/v1", "ReplicaSet", "api"), "shop", &[set]);
    let (status, _, error) = run("node/worker-1 -o name", &dump);
    assert!(status == Some(1) && error.contains("several namespaces, default and shop, "), "{error}");
    assert!(run("node/worker-1 -o json", &dump).1.contains("\"target\": \"rs/api\""));
}

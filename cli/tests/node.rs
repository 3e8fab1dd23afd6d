//! What a node is asked about: in a file without kubectl, and in each output.

use crate::common::{self, PROGRAM, ROLLOUT, output, without};
use serde_json::{Value, json};
use std::process::Command;

/// Runs it on a dump where there is no kubectl: the exit status, standard output and standard error.
fn run(words: &str, dump: &str) -> common::Ran {
    let mut command = Command::new(PROGRAM);
    command.args(words.split(' ')).args(["-f", "-"]).env("KUBECTL", "/nowhere/kubectl");
    let ran = output(&mut command, dump.as_bytes());
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
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

#[test]
fn all_pods_of_a_node_are_counted() {
    let mut all = common::items(ROLLOUT);
    let mut other = all.iter().find(|item| item["metadata"]["name"] == PODS[1]).expect("a pod").clone();
    (other["metadata"]["name"], other["metadata"]["uid"]) =
        (json!("own"), json!("0a0a0a0a-0000-4000-8000-000000000000"));
    other["metadata"]["ownerReferences"] = json!([{ "apiVersion": "batch/v1", "kind": "Job", "name": "import", "uid": "0b0b0b0b-0000-4000-8000-000000000000", "controller": true }]);
    all.push(other);
    let (_, table, notes) = run("node/worker-1", &common::dump(&all));
    assert!(
        table.starts_with("worker-1: the counts of their workloads could drop 4 of its 5 pods\n"),
        "{table}"
    );
    assert!(notes.contains("own in default cannot be dropped"), "{notes}");
}

#[test]
fn what_a_file_does_not_tell_is_refused() {
    let (status, _, error) = run("node/worker-77", ROLLOUT);
    assert_eq!((status, &*error), (Some(1), "error: standard input: no pod is on a node worker-77\n"));
    let pods = without(ROLLOUT, |item| item["kind"] != "Pod");
    let (status, stdout, error) = run("node/worker-1 -o name", &pods);
    assert_eq!((status, &*stdout), (Some(1), ""));
    assert!(error.contains("which is missing, so nobody knows whose that is: add replicasets"), "{error}");
    for (words, flag) in [("--replicas 3", "replicas"), ("-n shop", "namespace"), ("--rollout", "rollout")] {
        let (status, stdout, error) = run(&format!("node/worker-1 {words}"), ROLLOUT);
        assert_eq!((status, &*stdout), (Some(2), ""), "{words}");
        assert!(
            error.starts_with(&format!("error: node/worker-1 is no workload: leave out --{flag}\n")),
            "{error}"
        );
    }
    let (status, _, error) = run("node/worker-1 -o link", ROLLOUT);
    assert!(status == Some(1) && error.contains("this output is about one workload"), "{error}");
    for format in ["wide", "markdown", "html"] {
        let (status, text, error) = run(&format!("node/worker-1 -o {format}"), ROLLOUT);
        assert!(status == Some(0) && PODS.iter().all(|pod| text.contains(pod)), "{format}: {error}");
    }
}

#[test]
fn names_of_several_namespaces_are_refused() {
    let mut all = common::items(ROLLOUT);
    let mut other = all.iter().find(|item| item["metadata"]["name"] == PODS[1]).expect("a pod").clone();
    other["metadata"]["namespace"] = json!("shop");
    other["metadata"]["ownerReferences"][0]["name"] = json!("api");
    let set = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": "api", "namespace": "shop" } });
    all.extend([other, set]);
    let dump = common::dump(&all);
    let (status, _, error) = run("node/worker-1 -o name", &dump);
    assert!(status == Some(1) && error.contains("several namespaces, default and shop, "), "{error}");
    assert!(run("node/worker-1 -o json", &dump).1.contains("\"target\": \"rs/api\""));
}

//! What `--empty-nodes` reads, and what it says if it may not read it or if others keep a node. The script `fake/kubectl` stands in for
//! kubectl. Runs that go through are in `steer.rs`.

use crate::common::kubectl::{Answer, Run, list, pod, refused, run, set, three, writes_nothing};
use crate::common::{owner, with};
use serde_json::{Value, json};

const FORBIDDEN: &str = "Error from server (Forbidden): pods is forbidden: User \"carol\" cannot list resource \"pods\" in API group \"\" at the cluster scope\n";

/// The workload as a plan reads it.
fn workload() -> Vec<Answer> {
    vec![list(&[set("shop", "web", 3)]), list(&three("shop", "web"))]
}

fn nodes() -> Answer {
    let node = |name: &str| json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
    list(&[node("worker-1"), node("worker-2")])
}

fn scale(words: &str, answers: &[Answer]) -> Run {
    run(
        &format!("scale rs/web --replicas 2 {words} -n shop --dry-run client"),
        &[&workload(), answers].concat(),
    )
}

#[test]
fn without_the_right_to_list_all_pods_a_wish_for_nodes_takes_pods_as_they_come() {
    let worker = ("node/worker-1\n".to_owned(), "", 0);
    let ran = scale("--prefer-nodes pool=1", &[worker, refused(FORBIDDEN), list(&[])]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let note = "note: nodes are not emptied as a whole, since the pods of all namespaces cannot be read";
    assert!(ran.stderr.lines().any(|line| line == note), "{}", ran.stderr);
    // There is no word about nodes.
    let row = ran.stdout.lines().find(|line| line.contains("web-a")).expect("a row");
    assert!(row.contains("  deleted  ") && !ran.stdout.contains("empty"), "{}", ran.stdout);
}

#[test]
fn without_the_right_to_list_all_pods_no_nodes_are_emptied() {
    let ran = scale("--empty-nodes", &[refused(FORBIDDEN)]);
    let error = ran.stderr.lines().find(|line| line.starts_with("error")).expect("an error");
    let start = "error: --empty-nodes needs the right to list pods in all namespaces";
    assert!(ran.status == Some(1) && error.starts_with(start), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot list resource \"pods\""), "{}", ran.stderr);
    writes_nothing(&ran);
}

/// Budgets of other namespaces are read only if pods from there keep a node, and left out if they may not be read.
#[test]
fn what_a_drain_cannot_move_is_named() {
    let other = with(pod("shop", "web", 'x', "worker-2"), "metadata namespace", json!("data"));
    let other = with(other, "metadata ownerReferences", owner("apps/v1", "StatefulSet", "db"));
    let marked = with(
        pod("shop", "web", 'b', "worker-1"),
        "metadata annotations",
        json!({ "karpenter.sh/do-not-disrupt": "true" }),
    );
    let [a, _, c] = three("shop", "web");
    let everybody = |other: Value| list(&[a.clone(), marked.clone(), c.clone(), other]);
    let budget = json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": { "name": "db", "namespace": "data" },
        "spec": { "maxUnavailable": 0, "selector": { "matchLabels": { "app": "web" } } },
        "status": { "disruptionsAllowed": 0, "observedGeneration": 1 },
    });
    let elsewhere = with(other.clone(), "spec nodeName", json!("worker-3"));
    let ran = scale("--empty-nodes", &[everybody(elsewhere), nodes(), list(&[])]);
    assert!(ran.stdout.contains("\nworker-2 becomes empty.\n"), "{}", ran.stdout);
    let kept = "no node becomes empty; worker-1 keeps 1 pod of ReplicaSet web (a drain cannot move it: karpenter.sh/do-not-disrupt).";
    let ran = scale("--empty-nodes", &[everybody(other.clone()), nodes(), list(&[])]);
    assert!(ran.stdout.contains(kept), "{}", ran.stdout);
    // Taking the second node, it is the other namespace's budget that counts.
    let words = "--prefer-nodes pool=2 --empty-nodes";
    let answers = |budgets| {
        [("node/worker-2\n".to_owned(), "", 0), everybody(other.clone()), nodes(), list(&[]), budgets]
    };
    let ran = scale(words, &answers(list(std::slice::from_ref(&budget))));
    let held = "worker-2 keeps 1 pod of StatefulSet db (a drain cannot move it: PodDisruptionBudget db).";
    assert!(ran.stdout.contains(held), "{}", ran.stdout);
    assert_eq!(
        ran.asked.last().map(String::as_str),
        Some("get|poddisruptionbudgets.policy|--output=json|--all-namespaces")
    );
    let ran = scale(
        words,
        &answers(refused("Error from server (Forbidden): poddisruptionbudgets.policy is forbidden")),
    );
    assert!(ran.stdout.contains("worker-2 keeps 1 pod of StatefulSet db."), "{}", ran.stdout);
}

#[test]
fn nodes_that_are_about_to_go_are_emptied_first() {
    let pods = [('a', "worker-1"), ('b', "worker-2")].map(|(letter, node)| pod("shop", "web", letter, node));
    let node = |name: &str, spec: &Value| json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name }, "spec": spec });
    let tainted = json!({ "taints": [{ "key": "going", "effect": "NoSchedule" }] });
    for (words, spec, empty) in [
        ("--empty-nodes", json!({}), "worker-1"),
        ("--empty-nodes", json!({ "unschedulable": true }), "worker-2"),
        ("--empty-nodes --prefer-nodes taint:going", tainted, "worker-2"),
    ] {
        let nodes = list(&[node("worker-1", &json!({})), node("worker-2", &spec)]);
        let answers = [list(&[set("shop", "web", 2)]), list(&pods), list(&pods), nodes, list(&[])];
        let ran = run(&format!("scale rs/web --replicas 1 {words} -n shop --dry-run client"), &answers);
        assert!(ran.stdout.contains(&format!("\n{empty} becomes empty.\n")), "{words}: {}", ran.stdout);
    }
}

#[test]
fn values_that_may_not_be_read_are_not_looked_for_elsewhere() {
    let ran = scale("--lowest metric/load", &[refused("Error from server (Forbidden): no\n")]);
    let error =
        "error: cannot read the values for --lowest metric/load\n  Error from server (Forbidden): no\n";
    assert_eq!((ran.status, &*ran.stderr), (Some(1), error));
}

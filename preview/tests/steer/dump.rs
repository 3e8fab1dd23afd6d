//! Dumps of a `ReplicaSet` named `web` in the namespace `shop`, and requests about them.

use podrank_preview::steer::{Count, Plan, Request, Wish, plan};
use podrank_preview::{Input, Options};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// A pod of the set, ready, by its letter. UIDs follow the letters.
pub(crate) fn pod(letter: char, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("web-{letter}"),
            "namespace": "shop",
            "uid": format!("00000000-0000-4000-8000-{:012x}", u32::from(letter)),
            "creationTimestamp": "2026-03-10T10:00:00Z",
            "labels": { "app": "web" },
            "ownerReferences": [
                { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "set", "controller": true },
            ],
        },
        "spec": { "nodeName": node },
        "status": {
            "phase": "Running",
            "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-03-10T11:00:00Z" }],
        },
    })
}

pub(crate) fn not_ready(mut pod: Value) -> Value {
    pod["status"]["conditions"][0]["status"] = "False".into();
    pod
}

/// The pod with this deletion cost of this manager.
pub(crate) fn with_cost(mut pod: Value, cost: &str, manager: &str, operation: &str) -> Value {
    pod["metadata"]["annotations"][COST] = cost.into();
    let fields = json!({ "f:metadata": { "f:annotations": { format!("f:{COST}"): {} } } });
    let entry = json!({ "manager": manager, "operation": operation, "fieldsV1": fields });
    match pod["metadata"]["managedFields"].as_array_mut() {
        Some(entries) => entries.push(entry),
        None => pod["metadata"]["managedFields"] = json!([entry]),
    }
    pod
}

/// The set, for as many pods.
pub(crate) fn set(replicas: usize) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": { "name": "web", "namespace": "shop", "uid": "set", "generation": 1, "resourceVersion": "7" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": { "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [] } },
        },
        "status": { "replicas": replicas, "observedGeneration": 1 },
    })
}

/// What a dump of these objects says.
pub(crate) fn input(items: &[Value]) -> Input {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    Input::read(list.to_string().as_bytes()).expect("a dump")
}

/// The set and its pods.
pub(crate) fn dump(pods: &[Value]) -> Vec<Value> {
    pods.iter().cloned().chain([set(pods.len())]).collect()
}

/// The pods, the set, and the Deployment `web` that owns it.
pub(crate) fn of_deployment(pods: &[Value]) -> Vec<Value> {
    let mut set = set(pods.len());
    set["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": true }]);
    set["metadata"]["labels"] = json!({ "app": "web" });
    set["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = json!("web");
    set["spec"]["selector"]["matchLabels"]["pod-template-hash"] = json!("web");
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web", "namespace": "shop", "uid": "d", "generation": 1, "resourceVersion": "9" },
        "spec": {
            "replicas": pods.len(),
            "selector": { "matchLabels": { "app": "web" } },
            "template": { "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [] } },
        },
        "status": { "replicas": pods.len(), "observedGeneration": 1 },
    });
    let mut items = pods.to_vec();
    for pod in &mut items {
        pod["metadata"]["labels"]["pod-template-hash"] = json!("web");
    }
    items.extend([set, deployment]);
    items
}

/// A set `old` of size 0 beside this one, with the same controller and another template.
pub(crate) fn old_set(set: &Value) -> Value {
    let mut old = set.clone();
    old["metadata"]["name"] = json!("old");
    old["metadata"]["uid"] = json!("old");
    for labels in ["/spec/template/metadata/labels", "/spec/selector/matchLabels"] {
        old.pointer_mut(labels).expect("labels")["pod-template-hash"] = json!("old");
    }
    old["spec"]["template"]["spec"]["nodeName"] = json!("n1");
    old["spec"]["replicas"] = json!(0);
    old["status"]["replicas"] = json!(0);
    old
}

pub(crate) fn request(count: Count, named: &[&str], wishes: Vec<Wish>) -> Request {
    let mut options = Options::new(0, "2026-03-10T12:00:00Z".parse().expect("a time"));
    options.replicas = if let Count::To(replicas) = count { Some(replicas) } else { None };
    Request {
        options,
        count,
        named: named.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(),
        wishes,
        force: false,
        only_if_needed: false,
        by_cost: true,
    }
}

/// The letters of the pods that go, in the order of the plan.
pub(crate) fn wanted(plan: &Plan) -> String {
    plan.wanted().filter_map(|pod| pod.name.chars().last()).collect()
}

/// The letters of the pods that go if as many stay.
pub(crate) fn goes(pods: &[Value], replicas: u32, wishes: Vec<Wish>) -> String {
    wanted(&plan(&input(&dump(pods)), &request(Count::To(replicas), &[], wishes)).expect("a plan"))
}

/// What is said of a request that is refused.
#[track_caller]
pub(crate) fn refusal(items: &[Value], request: &Request) -> String {
    plan(&input(items), request).expect_err("it is refused").to_string()
}

//! Dumps of a `ReplicaSet` named `web` in the namespace `shop`, and requests about them.

use podrank_laws::objects;
use podrank_predict::plan::{ForeignCosts, Plan, PlanRequest, PlanSize, Preference, plan};
use podrank_predict::{Options, Snapshot};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// A pod of the set, ready, by its letter. UIDs follow the letters.
pub(crate) fn pod(letter: char, node: &str) -> Value {
    let mut pod = objects::pod(0);
    for (place, value) in [
        ("metadata name", json!(format!("web-{letter}"))),
        ("metadata namespace", json!("shop")),
        ("metadata uid", json!(format!("00000000-0000-4000-8000-{:012x}", u32::from(letter)))),
        ("metadata creationTimestamp", json!("2026-03-10T10:00:00Z")),
        ("spec nodeName", json!(node)),
        ("status conditions", objects::ready(true, "2026-03-10T11:00:00Z")),
    ] {
        objects::put(&mut pod, place, value);
    }
    pod
}

/// The pod with this controller, whose UID is its name.
pub(crate) fn owned_by(mut pod: Value, kind: &str, name: &str) -> Value {
    pod["metadata"]["ownerReferences"] = objects::owner("apps/v1", kind, name);
    pod["metadata"]["ownerReferences"][0]["uid"] = json!(name);
    pod
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
    let spec = json!({
        "replicas": replicas,
        "selector": { "matchLabels": { "app": "web" } },
        "template": { "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [] } },
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": { "name": "web", "namespace": "shop", "uid": "web", "generation": 1, "resourceVersion": "7" },
        "spec": spec,
        "status": { "replicas": replicas, "observedGeneration": 1 },
    })
}

/// What a dump of these objects says.
pub(crate) fn input(items: &[Value]) -> Snapshot {
    Snapshot::read(objects::dump(items).as_bytes()).expect("a dump")
}

/// The same, of objects that may all be neither pods nor workloads.
pub(crate) fn around(items: &[Value]) -> Snapshot {
    Snapshot::read_part(objects::dump(items).as_bytes()).expect("a dump").unwrap_or_default()
}

/// The set and its pods.
pub(crate) fn dump(pods: &[Value]) -> Vec<Value> {
    pods.iter().cloned().chain([set(pods.len())]).collect()
}

/// The pods, the set, and the Deployment `web` that owns it.
pub(crate) fn of_deployment(pods: &[Value]) -> Vec<Value> {
    let mut deployment = set(pods.len());
    deployment["kind"] = json!("Deployment");
    deployment["metadata"]["uid"] = json!("d");
    let mut set = set(pods.len());
    set["metadata"]["ownerReferences"] = objects::owner("apps/v1", "Deployment", "web");
    set["metadata"]["ownerReferences"][0]["uid"] = json!("d");
    set["metadata"]["labels"] = json!({ "app": "web" });
    set["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = json!("web");
    set["spec"]["selector"]["matchLabels"]["pod-template-hash"] = json!("web");
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

/// The Deployment with two sets: the first pods are of an old one. It is paused, or waits for new pods.
pub(crate) fn of_two_sets(pods: &[Value], old: usize, is_paused: bool) -> Vec<Value> {
    let mut items = of_deployment(pods);
    let mut deployment = items.pop().expect("a Deployment");
    let new = items.pop().expect("a set");
    let mut sets = [old_set(&new), new];
    for pod in &mut items[..old] {
        pod["metadata"]["labels"]["pod-template-hash"] = json!("old");
        pod["metadata"]["ownerReferences"][0]["name"] = json!("old");
        pod["metadata"]["ownerReferences"][0]["uid"] = json!("old");
    }
    for (set, pods) in sets.iter_mut().zip([&items[..old], &items[old..]]) {
        let ready = pods.iter().filter(|pod| pod["status"]["conditions"][0]["status"] == "True").count();
        set["spec"]["replicas"] = json!(pods.len());
        set["metadata"]["annotations"] = json!({
            "deployment.kubernetes.io/desired-replicas": items.len().to_string(),
            "deployment.kubernetes.io/max-replicas": (items.len() + 1).to_string(),
        });
        set["status"] = json!({
            "replicas": pods.len(),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": 1,
        });
    }
    deployment["spec"]["paused"] = json!(is_paused);
    deployment["spec"]["strategy"]["rollingUpdate"] = json!({ "maxSurge": 1, "maxUnavailable": 1 });
    items.extend(sets);
    items.push(deployment);
    items
}

pub(crate) fn request(count: PlanSize, named: &[&str], preferences: Vec<Preference>) -> PlanRequest {
    let mut options = Options::new(0, "2026-03-10T12:00:00Z".parse().expect("a time"));
    options.replicas = if let PlanSize::To(replicas) = count { Some(replicas) } else { None };
    PlanRequest {
        options,
        count,
        named: named.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(),
        preferences,
        foreign_costs: ForeignCosts::Keep,
        own_costs: None,
    }
}

/// The letters of the pods that go, in the order of the plan.
pub(crate) fn selected_letters(plan: &Plan) -> String {
    plan.selected().filter_map(|pod| pod.name.chars().last()).collect()
}

/// The letters of the pods that are deleted if as many are kept.
pub(crate) fn goes(pods: &[Value], replicas: u32, preferences: Vec<Preference>) -> String {
    selected_letters(
        &plan(&input(&dump(pods)), &request(PlanSize::To(replicas), &[], preferences)).expect("a plan"),
    )
}

/// Returns the error of a request that is refused.
#[track_caller]
pub(crate) fn refusal(items: &[Value], request: &PlanRequest) -> String {
    plan(&input(items), request).expect_err("it is refused").to_string()
}

//! Dumps of workloads with their pods, sets, nodes and revisions. Each field has a few values, so that they collide.

use arbitrary::{Result, Unstructured};
use podrank_predict::{Options, Order, WorkloadKind, WorkloadName};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Where a field stands, as the names on the way to it, and the values that it may have.
type Field = (String, Vec<Value>);

/// The fields of each kind.
static FIELDS: LazyLock<BTreeMap<String, Vec<Field>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("fields.json")).expect("fields"));

/// Selectors of which few select the pods.
const SELECTORS: [&str; 8] = [
    "{}",
    "null",
    r#"{"matchLabels": {"-": "a"}}"#,
    r#"{"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}"#,
    r#"{"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["api", ""]}]}"#,
    r#"{"matchExpressions": [{"key": "pod-template-hash", "operator": "Exists"}]}"#,
    r#"{"matchExpressions": [{"key": "example.com/tier", "operator": "DoesNotExist", "values": null}]}"#,
    r#"{"matchExpressions": [{"key": "a/b/c", "operator": "Equals", "values": ["a"]}]}"#,
];

/// An unassigned pod of a `DaemonSet` names its node in this way.
const AFFINITY: &str = r#"{"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]}}}"#;

/// A dump of one of them, and what to ask of it.
pub(super) fn dump(u: &mut Unstructured<'_>, options: &mut Options) -> Result<Vec<u8>> {
    options.controller_gates.max_unavailable_stateful_set = u.arbitrary()?;
    options.controller_gates.stateful_set_recreate_strategy = u.arbitrary()?;
    let (kind, version) = *u.choose(&[
        ("StatefulSet", "apps/v1"),
        ("DaemonSet", "apps/v1"),
        ("Job", "batch/v1"),
        ("Deployment", "apps/v1"),
        ("ReplicationController", "v1"),
        ("ReplicaSet", "apps/v1"),
        ("ReplicaSet", "apps/v1"),
        ("ReplicaSet", "apps/v1"),
    ])?;
    let is_set = kind.starts_with("Replica");
    options.namespace = options.namespace.take().filter(|_| is_set);
    if !is_set {
        options.order = Order::Kubernetes;
        options.replicas = options.replicas.filter(|replicas| replicas % 2 == 0);
    }
    let top = if kind == "ReplicaSet" { "Deployment" } else { kind };
    let mut workload = object(u, top, version, "web", 0)?;
    workload["spec"]["selector"] = selector(u)?;
    if u.ratio(1, 24)? {
        workload["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:00:00Z");
    }
    let mut items = Vec::new();
    let mut owners = vec![workload.clone()];
    match kind {
        "DaemonSet" => {
            options.replicas = None;
            for i in 0..u.int_in_range(0..=3)? {
                items.push(object(u, "Node", "v1", &format!("node-{i}"), 0)?);
            }
            for i in 0..u.int_in_range(0..=2)? {
                let mut revision = object(u, "ControllerRevision", "apps/v1", &format!("web-{i}"), 0)?;
                revision["metadata"]["ownerReferences"] = owner(u, &workload)?;
                items.push(revision);
            }
        }
        "Job" => {
            options.parallelism = options.replicas.take();
            options.suspend = u.ratio(1, 8)?;
            let is_indexed = u.ratio(1, 2)? && !workload["spec"]["completions"].is_null();
            workload["spec"]["completionMode"] = json!(if is_indexed { "Indexed" } else { "NonIndexed" });
        }
        "Deployment" | "ReplicaSet" => {
            options.order = if u.ratio(1, 3)? { Order::Total } else { Order::Kubernetes };
            workload["spec"]["template"] = template("a", "1");
            owners.clear();
            for i in 0..u.int_in_range(1..=3)? {
                owners.push(replica_set(u, i, &workload)?);
            }
            // One is forgotten at times.
            let forgotten = u.int_in_range(0..=7_usize)?;
            items.extend(
                owners.iter().enumerate().filter(|(i, _)| *i != forgotten).map(|(_, set)| set.clone()),
            );
        }
        _ => {}
    }
    let plain = u.arbitrary::<u32>()? | if is_set { u.arbitrary()? } else { 0 };
    let most = if u.ratio(1, 16)? { 40 } else { 7 };
    for i in 0..u.int_in_range(0..=most)? {
        items.push(pod(u, i, plain, &owners)?);
    }
    if kind == "ReplicaSet" {
        options.workload = asked(u)?;
    } else if kind != "ReplicationController" || !u.ratio(1, 8)? {
        items.push(workload);
    }
    finished(u, items)
}

/// Which set of a Deployment is asked for, if it is not the only one.
fn asked(u: &mut Unstructured<'_>) -> Result<Option<WorkloadName>> {
    let (kind, name) = *u.choose(&[
        (None, "web-1"),
        (None, "wbe-0"),
        (Some(WorkloadKind::ReplicationController), "web-0"),
        (Some(WorkloadKind::ReplicaSet), "web-0"),
        (Some(WorkloadKind::ReplicaSet), "web-0"),
        (Some(WorkloadKind::ReplicaSet), "web-0"),
    ])?;
    Ok((!u.ratio(1, 8)?).then(|| WorkloadName { kind, name: name.to_owned() }))
}

fn replica_set(u: &mut Unstructured<'_>, i: u32, of: &Value) -> Result<Value> {
    let version = if u.ratio(1, 16)? { "extensions/v1beta1" } else { "apps/v1" };
    let mut set = object(u, "ReplicaSet", version, &format!("web-{i}"), 0)?;
    let hash = i.to_string();
    set["metadata"]["labels"] =
        json!({ "app": u.choose(&["web", "web", "web", "api"])?, "pod-template-hash": hash });
    if i > 0 && u.ratio(1, 8)? {
        set["metadata"]["namespace"] = json!("other");
    }
    if !u.ratio(1, 8)? {
        set["metadata"]["ownerReferences"] = owner(u, of)?;
    }
    let own = json!({ "matchLabels": { "app": "web", "pod-template-hash": hash } });
    set["spec"]["selector"] = if u.ratio(1, 8)? { selector(u)? } else { own };
    set["spec"]["template"] = template(u.choose(&["a", "b"])?, &hash);
    Ok(set)
}

/// The objects as `kubectl get` prints them: mostly as a list of any kinds, once each.
fn finished(u: &mut Unstructured<'_>, mut items: Vec<Value>) -> Result<Vec<u8>> {
    if u.ratio(1, 16)? && !items.is_empty() {
        items.push(u.choose(&items)?.clone());
    }
    let turn = u.choose_index(items.len() + 1)?;
    items.rotate_left(turn);
    let list = match u.int_in_range(0..=15_u8)? {
        0 => {
            items.retain(|item| item["kind"] == "Pod");
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.retain(|key, _| key != "kind" && key != "apiVersion");
            }
            json!({ "apiVersion": "v1", "kind": "PodList", "items": items })
        }
        1 => items.pop().unwrap_or_default(),
        _ => json!({ "apiVersion": "v1", "kind": "List", "items": items }),
    };
    Ok(list.to_string().into_bytes())
}

/// Mostly one that selects all pods.
fn selector(u: &mut Unstructured<'_>) -> Result<Value> {
    let all = r#"{"matchLabels": {"app": "web"}}"#;
    Ok(json(if u.ratio(1, 12)? { u.choose(&SELECTORS)? } else { all }))
}

/// An object with about half of its kind's fields. The bits of `plain` say which it lacks anyhow.
fn object(u: &mut Unstructured<'_>, kind: &str, version: &str, name: &str, plain: u32) -> Result<Value> {
    let mut object = json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": { "name": name, "uid": format!("uid-of-{name}") },
        "spec": {},
    });
    for (bit, (path, values)) in FIELDS[kind].iter().enumerate() {
        if plain >> bit & 1 == 0 && u.ratio(1, 2)? {
            let field = path.split(' ').fold(&mut object, |object, name| &mut object[name]);
            *field = u.choose(values)?.clone();
        }
    }
    Ok(object)
}

/// The bits of `plain` say in what the pods are alike, so that the late rules get to decide.
fn pod(u: &mut Unstructured<'_>, i: u32, plain: u32, owners: &[Value]) -> Result<Value> {
    let name = match u.arbitrary::<u8>()? {
        0..=23 => format!("web-0{}", i.saturating_sub(1)),
        24..=31 => format!("web-x{i}"),
        32..=47 => format!("web-{}", i + 4),
        _ => format!("web-{i}"),
    };
    let is_plain = |bit: u32| plain >> bit & 1 == 1;
    let mut pod = object(u, "Pod", "v1", &name, plain)?;
    if is_plain(31) || u.ratio(1, 2)? {
        pod["status"]["phase"] = json!("Running");
        let since = if is_plain(30) { "11:00:00" } else { u.choose(&["11:00:00", "11:05:00", "11:59:30"])? };
        pod["status"]["conditions"] = json!([{ "type": "Ready", "status": "True", "lastTransitionTime": format!("2026-03-10T{since}Z") }]);
    }
    let digit = if u.ratio(1, 64)? { "X" } else { "0" };
    pod["metadata"]["uid"] = json!(format!("{digit}0000000-0000-4000-8000-{i:012x}"));
    let of = u.choose(owners)?.clone();
    pod["metadata"]["ownerReferences"] = owner(u, &of)?;
    let is_strange = u.ratio(1, 16)?;
    pod["metadata"]["labels"]["app"] = json!(if is_strange { "api" } else { "web" });
    pod["metadata"]["namespace"] = of["metadata"].get("namespace").unwrap_or(&json!("default")).clone();
    if let Some(hash) = of["metadata"]["labels"].get("pod-template-hash") {
        pod["metadata"]["labels"]["pod-template-hash"] = hash.clone();
    }
    if u.ratio(1, 8)? {
        pod["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z");
    }
    if u.ratio(1, 8)? {
        pod["spec"]["affinity"] = json(AFFINITY);
    }
    Ok(pod)
}

/// The owner references of an object that mostly belongs to this one.
fn owner(u: &mut Unstructured<'_>, of: &Value) -> Result<Value> {
    let mut owner = json!({ "apiVersion": of["apiVersion"], "kind": of["kind"], "name": of["metadata"]["name"],
        "uid": of["metadata"]["uid"], "controller": true });
    match u.arbitrary::<u8>()? {
        0..=5 => owner["controller"] = json!(false),
        6..=11 => owner["uid"] = json!("of-another-time"),
        _ => {}
    }
    Ok(json!([owner]))
}

fn template(image: &str, hash: &str) -> Value {
    json!({
        "metadata": { "labels": { "app": "web", "pod-template-hash": hash } },
        "spec": { "containers": [{ "name": "web", "image": image }] },
    })
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

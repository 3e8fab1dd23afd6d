//! Kubernetes' objects as JSON: pods and sets, dumps, and changes of them.

use serde_json::{Value, json};

/// The items of a list; none if it is something else.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The objects of a dump.
pub fn items(dump: &str) -> Vec<Value> {
    let mut list: Value = serde_json::from_str(dump).expect("JSON");
    serde_json::from_value(list["items"].take()).expect("a list")
}

/// A dump of these objects.
pub fn dump(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

/// The name of an object, the names on the way to a field of it, and what stands there then. Null removes it.
pub type Change<'a> = (&'a str, &'a str, Value);

/// The dump after these changes, each of all objects of that name, or of that kind.
pub fn changed(text: &str, changes: &[Change<'_>]) -> String {
    let mut items = items(text);
    for (name, place, value) in changes {
        let is_meant = |item: &&mut Value| item["metadata"]["name"] == *name || item["kind"] == *name;
        let mut count = 0;
        for item in items.iter_mut().filter(is_meant) {
            put(item, place, value.clone());
            count += 1;
        }
        assert!(count > 0, "there is no {name}");
    }
    dump(&items)
}

/// The dump without the objects of which this is true.
pub fn without(text: &str, is_left_out: impl Fn(&Value) -> bool) -> String {
    let mut items = items(text);
    items.retain(|item| !is_left_out(item));
    dump(&items)
}

/// Puts a value into a field of the object, with the objects around it.
pub fn put(object: &mut Value, place: &str, value: Value) {
    let (parents, field) = place.rsplit_once(' ').unwrap_or(("", place));
    let parent = parents.split_whitespace().fold(object, |at, part| match part.parse::<usize>() {
        Ok(index) => &mut at[index],
        Err(_) => &mut at[part],
    });
    match (parent, value) {
        (Value::Object(fields), Value::Null) => drop(fields.remove(field)),
        (parent, value) => parent[field] = value,
    }
}

/// The object with this value in a field.
pub fn with(mut object: Value, place: &str, value: Value) -> Value {
    put(&mut object, place, value);
    object
}

/// The dump with one more object at its end, which is like the one of that name but for these fields.
pub fn with_twin(text: &str, of: &str, fields: &[(&str, Value)]) -> String {
    let mut items = items(text);
    let mut twin = items.iter().find(|item| item["metadata"]["name"] == of).expect("it is there").clone();
    twin["metadata"]["uid"] = json!(format!("5a3f0c1e-0000-4000-8000-{:012x}", 0xff00 + items.len()));
    for (place, value) in fields {
        put(&mut twin, place, value.clone());
    }
    items.push(twin);
    dump(&items)
}

/// A UID with this number.
pub fn uid(number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// The reference to a controller, whose UID is its name.
pub fn owner(api_version: &str, kind: &str, name: &str) -> Value {
    json!([{ "apiVersion": api_version, "kind": kind, "name": name, "uid": name, "controller": true }])
}

/// A running pod of `ReplicaSet` web.
pub fn pod(number: u32) -> Value {
    owned_pod(number, "web")
}

/// A running pod of a `ReplicaSet`.
pub fn owned_pod(number: u32, set: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{set}-{number}"),
            "uid": uid(number),
            "labels": { "app": set },
            "ownerReferences": owner("apps/v1", "ReplicaSet", set),
        },
        "spec": { "nodeName": "a", "containers": [] },
        "status": { "phase": "Running" },
    })
}

/// The conditions of a pod that is ready, or is not, since then.
pub fn ready(is_ready: bool, since: &str) -> Value {
    let status = if is_ready { "True" } else { "False" };
    json!([{ "type": "Ready", "status": status, "lastTransitionTime": since }])
}

/// A set of Deployment d.
pub fn set(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": { "name": name, "uid": name, "ownerReferences": owner("apps/v1", "Deployment", "d") },
        "spec": { "replicas": 1, "selector": { "matchLabels": { "app": name } } },
    })
}

/// The set without a controller, of this size.
pub fn bare_set(name: &str, replicas: usize) -> Value {
    let set = with(set(name), "metadata ownerReferences", Value::Null);
    with(set, "spec replicas", json!(replicas))
}

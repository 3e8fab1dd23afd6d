//! What Kubernetes' fields mean, read from JSON without types: of pods, of selectors, and of a list of objects.

use crate::{cost, uid};
use jiff::Timestamp;
use podrank::{Flags, Phase, Pod, Time, Uid};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use std::fmt;

/// A text, empty where there is none.
pub(super) fn string(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// A number of 32 bits, or what stands for a missing one.
pub(super) fn int(value: &Value, default: i32) -> i32 {
    value.as_i64().and_then(|number| number.try_into().ok()).unwrap_or(default)
}

/// The fields of an object in their order, repeated ones too.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// Whether a list stands where an object belongs: typed reading takes its items for the object's fields.
pub(super) fn has_lists_for_objects(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| item.is_array() || has_lists_for_objects(item)),
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            let is_object = ["metadata", "spec", "status", "selector"].contains(&key.as_str());
            is_object && value.is_array() || has_lists_for_objects(value)
        }),
        _ => false,
    }
}

/// The objects of a dump that a preview may read, with their kinds.
pub(super) fn objects(text: &[u8]) -> Option<Vec<(&'static str, Value)>> {
    let Fields(fields) = serde_json::from_slice(text).ok()?;
    let mut others = Map::new();
    let mut items = None;
    for (key, value) in fields {
        // A field twice is refused.
        let is_again = if key == "items" { items.replace(value) } else { others.insert(key, value) };
        if is_again.is_some() {
            return None;
        }
    }
    if let Some(items) = items {
        others.insert("items".to_owned(), items);
    }
    let mut objects = Vec::new();
    add(&Value::Object(others), [&Value::Null; 2], &mut objects)?;
    Some(objects)
}

/// Adds an object, or those of a list. `[kind, version]` is what a list says of items that say nothing themselves.
fn add(object: &Value, of_list: [&Value; 2], objects: &mut Vec<(&'static str, Value)>) -> Option<()> {
    let own = [&object["kind"], &object["apiVersion"]];
    let Some(items) = object.get("items") else {
        let [name, version] = if own[0].is_null() { of_list } else { own };
        objects.extend(kind(name, version).map(|kind| (kind, object.clone())));
        return Some(());
    };
    let of_items = json!(own[0].as_str().and_then(|kind| kind.strip_suffix("List")));
    for item in list(items) {
        add(item.is_object().then_some(item)?, [&of_items, own[1]], objects)?;
    }
    Some(())
}

/// The kind that this name means in this API group. A version matters for pods alone.
pub(super) fn kind(kind: &Value, version: &Value) -> Option<&'static str> {
    const KINDS: [(&str, &[&str]); 9] = [
        ("Pod", &[""]),
        ("Node", &[""]),
        ("ReplicaSet", &["apps", "extensions"]),
        ("ReplicationController", &[""]),
        ("Deployment", &["apps", "extensions"]),
        ("StatefulSet", &["apps"]),
        ("DaemonSet", &["apps"]),
        ("ControllerRevision", &["apps"]),
        ("Job", &["batch"]),
    ];
    let group = version.as_str().map(|version| version.split_once('/').map_or("", |(group, _)| group));
    let (name, groups) = KINDS.into_iter().find(|(name, _)| kind == name)?;
    let is_known = group.is_none_or(|group| groups.contains(&group));
    (is_known && (name != "Pod" || version == "v1" || version.is_null())).then_some(name)
}

pub(super) fn space(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().filter(|namespace| !namespace.is_empty()).unwrap_or("default")
}

pub(super) fn controller(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

pub(super) fn is_active(pod: &Value) -> bool {
    let phase = &pod["status"]["phase"];
    phase != "Succeeded" && phase != "Failed" && pod["metadata"]["deletionTimestamp"].is_null()
}

pub(super) fn node(pod: &Value) -> Option<&str> {
    pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty())
}

pub(super) fn annotation(pod: &Value) -> Option<&str> {
    pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"].as_str()
}

/// A pod by the table of the fields, without its rank.
pub(super) fn record(pod: &Value) -> Option<Pod> {
    let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
    let ready = list(&status["conditions"]).find(|condition| condition["type"] == "Ready");
    let ready = ready.filter(|condition| condition["status"] == "True");
    let restarts = |statuses, counts: &dyn Fn(&str) -> bool| {
        let counted = list(statuses).filter(|status: &&Value| counts(status["name"].as_str().unwrap_or("")));
        counted.map(|status| status["restartCount"].as_u64().unwrap_or(0)).max().unwrap_or(0)
    };
    let is_sidecar = |name: &str| {
        list(&spec["initContainers"]).any(|container| {
            container["name"].as_str().unwrap_or("") == name && container["restartPolicy"] == "Always"
        })
    };
    Some(Pod {
        uid: Uid::from_bytes(uid::grammar(metadata["uid"].as_str()?.as_bytes())?),
        ready_time: ready.map_or(Some(Time::UNSET), |condition| time(&condition["lastTransitionTime"]))?,
        creation_time: time(&metadata["creationTimestamp"])?,
        deletion_cost: annotation(pod).and_then(|text| cost::grammar(text.as_bytes())).unwrap_or(0),
        restarts: u32::try_from(restarts(&status["containerStatuses"], &|_| true)).ok()?,
        sidecar_restarts: u32::try_from(restarts(&status["initContainerStatuses"], &is_sidecar)).ok()?,
        phase: match status["phase"].as_str() {
            Some("Running") => Phase::RUNNING,
            Some("Unknown") => Phase::UNKNOWN,
            _ => Phase::PENDING,
        },
        flags: Flags::NONE
            .with(Flags::ASSIGNED, node(pod).is_some())
            .with(Flags::READY, ready.is_some())
            .with(Flags::PREFERRED, metadata["labels"].get("kubernetes.io/prefer-for-scale-down").is_some()),
        ..Pod::new()
    })
}

pub(super) fn timestamp(time: Time) -> Option<String> {
    let nanos = time.unix_nanos()?;
    Some(
        Timestamp::from_nanosecond(nanos.into()).expect("64 bits of nanoseconds are a timestamp").to_string(),
    )
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn time(value: &Value) -> Option<Time> {
    match value {
        Value::Null => Some(Time::UNSET),
        value => value.as_str()?.parse().ok().map(moment),
    }
}

pub(super) fn moment(moment: Timestamp) -> Time {
    let zero: Timestamp = "0001-01-01T00:00:00Z".parse().expect("a moment");
    let nanos = moment.as_nanosecond().clamp(i128::from(i64::MIN) + 1, i128::from(i64::MAX));
    let nanos = i64::try_from(nanos).expect("clamped");
    if moment == zero { Time::UNSET } else { Time::from_unix_nanos(nanos) }
}

/// Whether the selector is valid, and selects these labels once it does not look at `pod-template-hash`.
pub(super) fn selects_but_for_hash(selector: &Value, labels: &Value) -> bool {
    const HASH: &str = "pod-template-hash";
    let mut rest = selector.clone();
    if let Some(labels) = rest.get_mut("matchLabels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    if let Some(all) = rest.get_mut("matchExpressions").and_then(Value::as_array_mut) {
        all.retain(|expression| expression["key"] != HASH);
    }
    is_valid(selector) && selects(&rest, labels)
}

/// Whether Kubernetes accepts the selector.
pub(super) fn is_valid(selector: &Value) -> bool {
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let is_label = |(key, value): (&String, &Value)| is_key(key) && is_value(string(value));
    let is_sound = |expression: &Value| {
        let values: Vec<&str> = list(&expression["values"]).filter_map(Value::as_str).collect();
        let operator = match string(&expression["operator"]) {
            "In" | "NotIn" => !values.is_empty(),
            "Exists" | "DoesNotExist" => values.is_empty(),
            _ => false,
        };
        operator && is_key(string(&expression["key"])) && values.iter().all(|value| is_value(value))
    };
    selector.is_object()
        && labels.into_iter().flatten().all(is_label)
        && list(selector.get("matchExpressions").unwrap_or(&Value::Null)).all(is_sound)
}

/// Label selection in the words of the Kubernetes documentation; an invalid selector selects nothing.
pub(super) fn selects(selector: &Value, labels: &Value) -> bool {
    let Some(selector) = selector.as_object() else { return false };
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let mut result = true;
    for (key, value) in selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().unwrap_or("");
        if !is_key(key) || !is_value(value) {
            return false;
        }
        result &= label(key) == Some(value);
    }
    for expression in list(selector.get("matchExpressions").unwrap_or(&Value::Null)) {
        let key = expression["key"].as_str().unwrap_or("");
        let values: Vec<&str> = list(&expression["values"]).filter_map(Value::as_str).collect();
        if !is_key(key) || !values.iter().all(|value| is_value(value)) {
            return false;
        }
        let is_one = label(key).is_some_and(|value| values.contains(&value));
        result &= match (expression["operator"].as_str(), values.len()) {
            (Some("In"), 1..) => is_one,
            (Some("NotIn"), 1..) => !is_one,
            (Some("Exists"), 0) => label(key).is_some(),
            (Some("DoesNotExist"), 0) => label(key).is_none(),
            _ => return false,
        };
    }
    result
}

fn is_key(key: &str) -> bool {
    let (domain, name) = key.split_once('/').map_or((None, key), |(domain, name)| (Some(domain), name));
    let is_part = |part: &str| {
        let inner = part.strip_prefix(is_lower).map(|rest| rest.is_empty() || rest.ends_with(is_lower));
        inner == Some(true) && part.chars().all(|c| is_lower(c) || c == '-')
    };
    let is_domain = |domain: &str| domain.len() <= 253 && domain.split('.').all(is_part);
    domain.is_none_or(is_domain) && !name.is_empty() && is_value(name)
}

fn is_lower(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_value(value: &str) -> bool {
    let is_edge = |c: char| c.is_ascii_alphanumeric();
    let edges = value.starts_with(is_edge) && value.ends_with(is_edge);
    let inner = value.chars().all(|c| is_edge(c) || "-_.".contains(c));
    value.is_empty() || value.len() <= 63 && edges && inner
}

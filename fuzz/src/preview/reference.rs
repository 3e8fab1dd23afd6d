//! A second reading of a dump, without types, decided by the naive order and relation of `podrank_laws`.

use crate::{cost, uid};
use jiff::Timestamp;
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};
use podrank_laws::oracle;
use podrank_laws::relation;
use podrank_preview::{Options, Order, WorkloadKind};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The notes on whether a dump is complete.
pub const COMPLETENESS: [&str; 4] =
    ["set-missing", "siblings-missing", "pods-missing", "more-pods-than-status"];

/// What a preview must say.
pub(super) struct Expected {
    pub(super) delete: usize,
    pub(super) pods: Vec<Value>,
    pub(super) invalid_costs: usize,
    /// Of [`COMPLETENESS`].
    pub(super) notes: Vec<&'static str>,
}

type Id<'a> = (&'a str, WorkloadKind, &'a str);

/// Returns what the preview of this set must say. `None` if untyped JSON cannot hold the text (numbers beyond its range,
/// halves of characters), or if it has lists in place of objects, which typed reading takes for their fields.
pub(super) fn reference(text: &[u8], id: Id<'_>, options: &Options) -> Option<Expected> {
    let objects = objects(text)?;
    let mut sets = BTreeMap::<Id<'_>, &Value>::new();
    let (mut active, mut pods) = (Vec::new(), Vec::new());
    for (kind, object) in &objects {
        let metadata = &object["metadata"];
        if has_lists_for_objects(object) {
            return None;
        }
        if let Some(kind) = kind {
            sets.entry((space(object), *kind, metadata["name"].as_str()?)).or_insert(object);
        } else {
            pods.push(object);
            active.extend(is_active(object).then_some(object));
        }
    }
    let set = sets.get(&id).copied();
    let is_of = |pod: &Value, name: &str, set: Option<&Value>| {
        controller(pod).is_some_and(|owner| {
            kind(&owner["kind"], &json!(string(&owner["apiVersion"]))) == Some(id.1)
                && string(&owner["name"]) == name
                && space(pod) == id.0
                && set.is_none_or(|set| string(&set["metadata"]["uid"]) == string(&owner["uid"]))
        })
    };
    let is_own = |pod: &Value| is_of(pod, id.2, set);
    let deployment = set.filter(|_| id.1 == WorkloadKind::ReplicaSet).and_then(controller);
    let is_related = |pod: &Value| match deployment {
        None if options.order == Order::Kubernetes && (set.is_some() || id.1 != WorkloadKind::ReplicaSet) => {
            false
        }
        None => is_own(pod),
        Some(deployment) => sets.iter().any(|((namespace, kind, _), other)| {
            *kind == WorkloadKind::ReplicaSet
                && controller(other).is_some_and(|theirs| theirs["uid"] == deployment["uid"])
                && *namespace == space(pod)
                && selects(&other["spec"]["selector"], &pod["metadata"]["labels"])
        }),
    };
    let is_lost_sibling = |pod: &Value| {
        let owner = controller(pod).filter(|owner| {
            kind(&owner["kind"], &json!(string(&owner["apiVersion"]))) == Some(WorkloadKind::ReplicaSet)
        });
        space(pod) == id.0
            && owner.is_some_and(|owner| {
                !sets.contains_key(&(id.0, WorkloadKind::ReplicaSet, string(&owner["name"])))
            })
            && set.is_some_and(|set| {
                let selector = &set["spec"]["selector"];
                // Only the sets of a Deployment have labels in common.
                let has_deployment = deployment.is_some_and(|owner| string(&owner["kind"]) == "Deployment");
                let is_alike = selects_but_for_hash(selector, &pod["metadata"]["labels"]);
                if has_deployment { is_alike } else { is_valid(selector) }
            })
    };
    let names = |name: &str, set: Option<&Value>| {
        let own = pods.iter().filter(|pod| is_of(pod, name, set));
        own.map(|pod| string(&pod["metadata"]["name"])).collect::<BTreeSet<_>>().len() as u64
    };
    // A sibling's status that is no number says nothing.
    let lacks_sibling_pods = sets.iter().any(|((namespace, kind, name), other)| {
        let count = other["status"]["replicas"].as_i64().and_then(|count| i32::try_from(count).ok());
        deployment.is_some_and(|owner| {
            controller(other).is_some_and(|theirs| string(&theirs["uid"]) == string(&owner["uid"]))
        }) && (*namespace, *kind) == (id.0, WorkloadKind::ReplicaSet)
            && count
                .and_then(|count| u64::try_from(count).ok())
                .is_some_and(|count| count > names(name, Some(other)))
    });
    let status = set.map(|set| &set["status"]["replicas"]).filter(|replicas| !replicas.is_null());
    let status = status.map(|replicas| replicas.as_u64().unwrap_or(0));
    let lacks = [
        set.is_none(),
        deployment.is_some() && active.iter().any(|pod| is_lost_sibling(pod)),
        status.is_some_and(|status| status > names(id.2, set)) || lacks_sibling_pods,
    ];

    let mut known = BTreeSet::new();
    active.retain(|pod| (is_own(pod) || is_related(pod)) && known.insert(pod["metadata"]["uid"].to_string()));
    let mut on_node = BTreeMap::<Option<&str>, u32>::new();
    for pod in active.iter().filter(|pod| is_related(pod)) {
        *on_node.entry(node(pod)).or_default() += 1;
    }
    active.retain(|pod| is_own(pod));
    let records: Option<Vec<Pod>> = active
        .iter()
        .map(|pod| Some(Pod { rank: on_node.get(&node(pod)).copied().unwrap_or(0), ..record(pod)? }))
        .collect();
    let more = status.is_some_and(|status| status < active.len() as u64);
    let all = COMPLETENESS.into_iter().zip(lacks.into_iter().chain([more]));
    let notes = all.filter(|(_, applies)| *applies).map(|(code, _)| code).collect();
    // Its controller deletes nothing if the set itself is being deleted, or has an invalid selector.
    let works = set.is_none_or(|set| {
        let selector = &set["spec"]["selector"];
        let is_accepted = match id.1 {
            WorkloadKind::ReplicaSet => is_valid(selector),
            _ => is_valid(&json!({ "matchLabels": selector })),
        };
        set["metadata"]["deletionTimestamp"].is_null() && (selector.is_null() || is_accepted)
    });
    Some(Expected { notes, ..decide(&active, &records?, works, options)? })
}

fn decide(own: &[&Value], records: &[Pod], works: bool, options: &Options) -> Option<Expected> {
    let policy = Policy::at(moment(options.now)).with_gates(options.gates);
    let burst = options.burst_replicas.map_or(own.len(), |most| most.get() as usize);
    let burst = if works { burst } else { 0 };
    let delete = own.len().saturating_sub(options.replicas.unwrap_or(0) as usize).min(burst);
    let (order, certain, contested) = match options.order {
        Order::Kubernetes if own.len() > 100 => return None,
        Order::Kubernetes => {
            let settled = relation::settled(&policy, records, delete);
            (settled.order, settled.certain, settled.contested)
        }
        Order::Total => (oracle::sort(&policy, records), delete, 0),
    };
    let end = certain + contested;
    let deciding = |position: usize, other: usize| {
        let (first, second) = (position.min(other), position.max(other));
        let [a, b] = [first, second].map(|position| &records[order[position] as usize]);
        let rule = match options.order {
            Order::Kubernetes => relation::relation(&policy, a, b).1,
            Order::Total => {
                let mut orderings = oracle::orderings(&policy, a, b).into_iter();
                orderings.find(|(_, ordering)| ordering.is_ne()).map(|(rule, _)| rule)
            }
        };
        rule.expect("two groups").name()
    };
    let pods = order.iter().enumerate().map(|(position, &index)| {
        let (pod, record) = (own[index as usize], &records[index as usize]);
        // The nearest pod with another verdict.
        let (verdict, other) = if position < certain {
            ("delete", Some(certain).filter(|&other| other < order.len()))
        } else if position < end {
            ("contested", None)
        } else {
            ("keep", end.checked_sub(1))
        };
        json!({
            "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"],
            "node": node(pod),
            "rank": record.rank,
            "phase": match record.phase {
                Phase::RUNNING => "Running",
                Phase::UNKNOWN => "Unknown",
                _ => "Pending",
            },
            "ready": record.flags.contains(Flags::READY),
            "readyTime": timestamp(record.ready_time),
            "restarts": record.restarts,
            "sidecarRestarts": record.sidecar_restarts,
            "deletionCost": record.deletion_cost,
            "creationTime": timestamp(record.creation_time),
            "position": position + 1,
            "verdict": verdict,
            "rule": other.map(|other| deciding(position, other)),
        })
    });
    let is_invalid =
        |pod: &&&Value| annotation(pod).is_some_and(|text| cost::grammar(text.as_bytes()).is_none());
    let invalid_costs = own.iter().filter(is_invalid).count();
    Some(Expected { delete, pods: pods.collect(), invalid_costs, notes: Vec::new() })
}

/// A text, empty where there is none.
fn string(value: &Value) -> &str {
    value.as_str().unwrap_or("")
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
fn has_lists_for_objects(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| item.is_array() || has_lists_for_objects(item)),
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            let is_object = ["metadata", "spec", "status", "selector"].contains(&key.as_str());
            is_object && value.is_array() || has_lists_for_objects(value)
        }),
        _ => false,
    }
}

/// The pods, which have no kind of set, and the sets of a dump.
fn objects(text: &[u8]) -> Option<Vec<(Option<WorkloadKind>, Value)>> {
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
    let mut objects = Vec::new();
    let mut add = |object: &Value, list_kind: &Value, list_version: &Value| {
        let own = !object["kind"].is_null();
        let (name, version) =
            if own { (&object["kind"], &object["apiVersion"]) } else { (list_kind, list_version) };
        let kind = kind(name, version);
        if kind.is_some() || name == "Pod" && (version == "v1" || version.is_null()) {
            objects.push((kind, object.clone()));
        }
    };
    if let Some(items) = items {
        let list = others.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List"));
        for item in self::list(&items) {
            if !item.is_object() {
                return None;
            }
            add(item, &json!(list), others.get("apiVersion").unwrap_or(&Value::Null));
        }
    } else {
        add(&Value::Object(others), &Value::Null, &Value::Null);
    }
    Some(objects)
}

fn kind(kind: &Value, version: &Value) -> Option<WorkloadKind> {
    let group = version.as_str().map(|version| version.split_once('/').map_or("", |(group, _)| group));
    match kind.as_str()? {
        "ReplicaSet" if matches!(group, None | Some("apps" | "extensions")) => Some(WorkloadKind::ReplicaSet),
        "ReplicationController" if matches!(group, None | Some("")) => {
            Some(WorkloadKind::ReplicationController)
        }
        _ => None,
    }
}

fn space(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().filter(|namespace| !namespace.is_empty()).unwrap_or("default")
}

fn controller(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

fn is_active(pod: &Value) -> bool {
    let phase = &pod["status"]["phase"];
    phase != "Succeeded" && phase != "Failed" && pod["metadata"]["deletionTimestamp"].is_null()
}

fn node(pod: &Value) -> Option<&str> {
    pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty())
}

fn annotation(pod: &Value) -> Option<&str> {
    pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"].as_str()
}

/// A pod by the table of the fields, without its rank.
fn record(pod: &Value) -> Option<Pod> {
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

fn timestamp(time: Time) -> Option<String> {
    let nanos = time.unix_nanos()?;
    Some(
        Timestamp::from_nanosecond(nanos.into()).expect("64 bits of nanoseconds are a timestamp").to_string(),
    )
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn time(value: &Value) -> Option<Time> {
    match value {
        Value::Null => Some(Time::UNSET),
        value => value.as_str()?.parse().ok().map(moment),
    }
}

fn moment(moment: Timestamp) -> Time {
    let zero: Timestamp = "0001-01-01T00:00:00Z".parse().expect("a moment");
    let nanos = moment.as_nanosecond().clamp(i128::from(i64::MIN) + 1, i128::from(i64::MAX));
    let nanos = i64::try_from(nanos).expect("clamped");
    if moment == zero { Time::UNSET } else { Time::from_unix_nanos(nanos) }
}

/// Whether the selector is valid, and selects these labels once it does not look at `pod-template-hash`.
fn selects_but_for_hash(selector: &Value, labels: &Value) -> bool {
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
fn is_valid(selector: &Value) -> bool {
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
fn selects(selector: &Value, labels: &Value) -> bool {
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

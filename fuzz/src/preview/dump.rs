//! Dumps of pods and sets that are related to each other.

use crate::case;
use arbitrary::{Result, Unstructured};
use jiff::Timestamp;
use serde_json::{Value, json};

const COSTS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2147483647",
    "-2147483648",
    "-008",
    "",
    "+10",
    "008",
    "1.0",
    "abc",
    "-",
    "2147483648",
    "-2147483649",
    "٣",
    " 1",
];

type Choice<'a, 'b> = &'a mut Unstructured<'b>;

/// A list of up to three sets and mostly up to eight pods, as text.
pub(super) fn dump(u: Choice<'_, '_>, now: Timestamp) -> Result<String> {
    let sets = (0..u.int_in_range(1..=3)?).map(|i| set(u, i)).collect::<Result<Vec<Value>>>()?;
    let mut items = Vec::new();
    for set in &sets {
        if !u.ratio(1, 6)? {
            items.push(set.clone());
        }
    }
    let plain = u.arbitrary::<u8>()?;
    let most = if u.ratio(1, 8)? { 40 } else { 8 };
    for i in 0..u.int_in_range(0..=most)? {
        items.push(pod(u, i, plain, &sets, now)?);
    }
    if u.ratio(1, 8)? && !items.is_empty() {
        let again = items[u.choose_index(items.len())?].clone();
        items.push(again);
    }
    let turn = u.choose_index(items.len() + 1)?.min(items.len());
    items.rotate_left(turn);
    let form = u.int_in_range(0..=15_u8)?;
    status_and_hash(u, &mut items)?;
    Ok(match form {
        0 => {
            for item in &mut items {
                item.as_object_mut()
                    .expect("an object")
                    .retain(|key, _| key != "kind" && key != "apiVersion");
            }
            format!(r#"{{"kind":"PodList","apiVersion":"v1","items":{}}}"#, json!(items))
        }
        1 => items.first().unwrap_or(&Value::Null).to_string(),
        _ => format!(r#"{{"kind":"List","apiVersion":"v1","metadata":{{}},"items":{}}}"#, json!(items)),
    })
}

/// Statuses that count about as many pods as there are, and the label that tells siblings apart.
fn status_and_hash(u: Choice<'_, '_>, items: &mut [Value]) -> Result<()> {
    const HASH: &str = "pod-template-hash";
    for item in items {
        match u.arbitrary::<u8>()? {
            0..=63 => item["status"]["replicas"] = json!(u.int_in_range(-1..=4)?),
            64..=127 if item["spec"]["selector"]["matchLabels"].is_object() => {
                item["spec"]["selector"]["matchLabels"][HASH] =
                    json!(*u.choose(&["a", "b", "not a value"])?);
            }
            128..=159 if item["spec"]["selector"]["matchExpressions"].is_array() => {
                item["spec"]["selector"]["matchExpressions"][0]["key"] = json!(HASH);
            }
            _ if item["metadata"]["labels"].is_object() => {
                item["metadata"]["labels"][HASH] = json!(*u.choose(&["a", "b"])?);
            }
            _ => {}
        }
    }
    Ok(())
}

fn set(u: Choice<'_, '_>, i: usize) -> Result<Value> {
    let is_controller = u.ratio(1, 8)?;
    let (kind, version) = if is_controller {
        ("ReplicationController", "v1")
    } else {
        ("ReplicaSet", if u.ratio(1, 8)? { "extensions/v1beta1" } else { "apps/v1" })
    };
    let mut set = json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": { "name": format!("web-{i}"), "uid": format!("set-{i}") },
        "spec": { "replicas": u.int_in_range(0..=2)? },
    });
    if i > 0 && u.ratio(1, 6)? {
        set["metadata"]["namespace"] = json!("other");
    }
    if !u.ratio(1, 4)? {
        let controller = if u.ratio(1, 4)? { "api" } else { "web" };
        set["metadata"]["ownerReferences"] = json!([
            { "apiVersion": "v1", "kind": "Thing", "name": "x", "uid": "deployment-api" },
            { "apiVersion": "apps/v1", "kind": "Deployment", "name": controller,
              "uid": format!("deployment-{controller}"), "controller": true },
        ]);
    }
    if u.ratio(1, 24)? {
        set["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:00:00Z");
    }
    let value = *u.choose(&["a", "a", "b", "not a value"])?;
    if is_controller {
        set["spec"]["selector"] = json!({ "app": value });
    } else {
        let operator = *u.choose(&["In", "NotIn", "Exists", "DoesNotExist", "Equals"])?;
        let values = [json!(["a"]), json!(["b", ""]), json!([]), Value::Null];
        let values = u.choose(&values)?.clone();
        let key = *u.choose(&["app", "app", "tier", "a/b/c", "example.com/tier"])?;
        let expressions = json!([{ "key": key, "operator": operator, "values": values }]);
        set["spec"]["selector"] = match u.int_in_range(0..=7_u8)? {
            0 => Value::Null,
            1 => json!({}),
            2 => json!({ "matchLabels": { key: value } }),
            3 => json!({ "matchLabels": { "app": value }, "matchExpressions": expressions }),
            4 => json!({ "matchExpressions": expressions }),
            _ => json!({ "matchLabels": { "app": value } }),
        };
    }
    Ok(set)
}

/// The bits of `plain` say in what the pods are alike, so that the late rules get to decide.
fn pod(u: Choice<'_, '_>, i: usize, plain: u8, sets: &[Value], now: Timestamp) -> Result<Value> {
    let is_plain = |bit: u8| plain >> bit & 1 == 1;
    let uid = format!("{:08x}-0000-4000-8000-{:012x}", u.int_in_range(0..=1_u8)?, (i * 40_503) % 65_536);
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": format!("pod-{i}"), "uid": uid, "labels": { "app": u.choose(&["a", "a", "a", "b"])? } },
        "spec": { "containers": [], "nodeName": format!("node-{}", u.int_in_range(0..=2_u8)?) },
        "status": { "phase": "Running" },
    });
    let metadata = &mut pod["metadata"];
    let set = if u.ratio(1, 4)? { u.choose(sets)? } else { &sets[0] };
    metadata["namespace"] = set["metadata"].get("namespace").unwrap_or(&json!("default")).clone();
    if !u.ratio(1, 10)? {
        let mut owner = json!({ "apiVersion": set["apiVersion"], "kind": set["kind"], "name": set["metadata"]["name"],
            "uid": set["metadata"]["uid"], "controller": true });
        match u.arbitrary::<u8>()? {
            0..=7 => owner["controller"] = json!(false),
            8..=15 => owner["uid"] = json!("of-another-time"),
            16..=23 => owner["kind"] = json!("StatefulSet"),
            _ => {}
        }
        metadata["ownerReferences"] = json!([owner]);
    }
    if !is_plain(0) && u.ratio(1, 2)? {
        let cost = if u.ratio(1, 2)? { "1" } else { u.choose(&COSTS)? };
        metadata["annotations"] = json!({ "controller.kubernetes.io/pod-deletion-cost": cost });
    }
    if !is_plain(1) && u.ratio(1, 3)? {
        metadata["labels"]["kubernetes.io/prefer-for-scale-down"] = json!("");
    }
    if !is_plain(2) {
        set_time(u, metadata, "creationTimestamp", now)?;
    }
    if !is_plain(3) {
        let name = *u.choose(&["", "node-0", "node-1", "node-1"])?;
        pod["spec"]["nodeName"] = if u.ratio(1, 8)? { Value::Null } else { json!(name) };
        pod["status"]["phase"] =
            json!(*u.choose(&["Running", "Running", "Pending", "Unknown", "", "running"])?);
    }
    let mut ready = json!({ "type": "Ready", "status": "True" });
    if !is_plain(4) {
        ready["status"] = json!(*u.choose(&["True", "True", "True", "False", "Unknown"])?);
        set_time(u, &mut ready, "lastTransitionTime", now)?;
    }
    let second = json!({ "type": "Ready", "status": "False" });
    pod["status"]["conditions"] = json!([{ "type": "Initialized", "status": "True" }, ready, second]);
    if !is_plain(5) {
        let mut status =
            |name| -> Result<Value> { Ok(json!({ "name": name, "restartCount": u.int_in_range(-1..=2)? })) };
        pod["status"]["containerStatuses"] = json!([status("web")?, status("proxy")?]);
    }
    if !is_plain(6) {
        let policy = *u.choose(&["Always", "Always", "OnFailure"])?;
        pod["spec"]["initContainers"] =
            json!([{ "name": "migrate" }, { "name": "logs", "restartPolicy": policy }]);
        let mut status =
            |name| -> Result<Value> { Ok(json!({ "name": name, "restartCount": u.int_in_range(0..=2)? })) };
        pod["status"]["initContainerStatuses"] = json!([status("migrate")?, status("logs")?]);
    }
    match u.arbitrary::<u8>()? {
        0..=15 => pod["status"]["phase"] = json!(if u.ratio(1, 2)? { "Failed" } else { "Succeeded" }),
        16..=39 => pod["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z"),
        40..=42 => pod["metadata"]["uid"] = json!("00000000-0000-4000-8000-00000000000X"),
        43..=45 => pod["metadata"]["creationTimestamp"] = json!("yesterday"),
        _ => {}
    }
    Ok(pod)
}

fn set_time(u: Choice<'_, '_>, object: &mut Value, key: &str, now: Timestamp) -> Result<()> {
    let nanos = i64::try_from(now.as_nanosecond()).unwrap_or(podrank_laws::generate::NOW);
    let time = case::time(u, nanos)?;
    object[key] = match time.unix_nanos() {
        None => u
            .choose(&[Value::Null, json!("0001-01-01T00:00:00Z"), json!("0001-01-01T02:00:00+02:00")])?
            .clone(),
        Some(i64::MAX) => json!("3000-01-01T00:00:00Z"),
        Some(nanos) => json!(Timestamp::from_nanosecond(nanos.into()).expect("in range").to_string()),
    };
    Ok(())
}

//! What `kubectl get pods,replicasets -o json` prints for a cluster of any size.
//!
//! The pods are copies of the shipped example's, each with a name, a UID, a node and times of its own, and as long as those
//! of a real cluster: 16.7 kB. Every `ReplicaSet` holds up to 1,000 of them, and as in kubectl's output all sets come last.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufWriter, Write};

const PODS_PER_SET: u32 = 1_000;

/// Writes the dump of a cluster with this number of pods.
///
/// # Errors
/// If it cannot be written.
pub fn dump(pods: u32, out: impl Write) -> Result<(), Box<dyn Error>> {
    let example: Value = serde_json::from_str(include_str!("../../predict/examples/rollout.json"))?;
    let of_kind = |kind| example["items"].as_array().into_iter().flatten().find(|item| item["kind"] == kind);
    let (pod, set) = (of_kind("Pod").ok_or("no pod")?, of_kind("ReplicaSet").ok_or("no set")?);

    let mut out = BufWriter::new(out);
    out.write_all(b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n")?;
    for number in 0..pods {
        write_item(&mut out, &numbered_pod(pod.clone(), number))?;
        out.write_all(b",\n")?;
    }
    let sets = pods.div_ceil(PODS_PER_SET).max(1);
    for number in 0..sets {
        let mut set = set.clone();
        set["metadata"]["name"] = json!(set_name(number));
        set["metadata"]["uid"] = json!(uid(2, number));
        set["metadata"]["ownerReferences"][0]["uid"] = json!(uid(3, number));
        set["spec"]["replicas"] = json!(PODS_PER_SET);
        set["status"]["replicas"] = json!(PODS_PER_SET.min(pods - number * PODS_PER_SET));
        set["spec"]["selector"] = json!({ "matchLabels": { "app": set_name(number) } });
        write_item(&mut out, &set)?;
        out.write_all(if number + 1 < sets { b",\n" } else { b"\n" })?;
    }
    out.write_all(b"    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")?;
    Ok(out.flush()?)
}

fn numbered_pod(mut pod: Value, number: u32) -> Value {
    // A step that shares no factor with the sizes below, so that neighbours differ in all of them.
    let mixed = number.wrapping_mul(2_654_435_761);
    let (minute, second) = (mixed % 60, mixed / 60 % 60);
    let ready = format!("2026-03-{:02}T10:{minute:02}:{second:02}Z", 1 + mixed % 9);
    let set = number / PODS_PER_SET;

    let metadata = &mut pod["metadata"];
    metadata["name"] = json!(format!("{}-{number:05}", set_name(set)));
    metadata["uid"] = json!(uid(1, mixed));
    metadata["labels"]["app"] = json!(set_name(set));
    metadata["creationTimestamp"] = json!(format!("2026-03-{:02}T10:{minute:02}:00Z", 1 + mixed % 9));
    metadata["ownerReferences"][0]["name"] = json!(set_name(set));
    metadata["ownerReferences"][0]["uid"] = json!(uid(2, set));
    pod["spec"]["nodeName"] = json!(format!("node-{:04}", mixed % 5_000));
    // Most of a real pod is its template: environment, volumes, probes.
    let variable =
        |name: u32| json!({ "name": format!("SETTING_{name}"), "value": format!("value-{name}-of-{set}") });
    pod["spec"]["containers"][0]["env"] = (0..30).map(variable).collect();
    for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
        condition["lastTransitionTime"] = json!(ready);
    }
    pod
}

fn set_name(number: u32) -> String {
    format!("web-{number:03}")
}

fn uid(kind: u32, number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-{kind:012x}")
}

/// With kubectl's indentation.
fn write_item(out: &mut impl Write, item: &Value) -> Result<(), Box<dyn Error>> {
    let mut text = Vec::new();
    item.serialize(&mut Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b"    ")))?;
    let indented = String::from_utf8(text)?.replace('\n', "\n        ");
    Ok(write!(out, "        {indented}")?)
}

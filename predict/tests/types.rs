//! Values of a wrong type, at every place of the examples: what is said about them is in the words of Kubernetes.

use podrank_predict::{Options, Snapshot, preview_workload};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const EXAMPLES: [&str; 4] = [
    include_str!("../examples/rollout.json"),
    include_str!("../examples/stateful-set.json"),
    include_str!("../examples/daemon-set.json"),
    include_str!("../examples/job.json"),
];

/// Words of Rust that mean nothing to a user.
const RUST: [&str; 6] = ["struct", "enum", "variant", "tuple", "element", "unit"];

/// The places of a value, as JSON pointers: of several items of a list that are of one kind, those of the first.
fn places(value: &Value, place: &str, general: &str, seen: &mut BTreeSet<String>, places: &mut Vec<String>) {
    if !seen.insert(general.to_owned()) {
        return;
    }
    places.push(place.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let step = name.replace('~', "~0").replace('/', "~1");
                self::places(field, &format!("{place}/{step}"), &format!("{general}/{step}"), seen, places);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let kind = item["kind"].as_str().unwrap_or("*");
                self::places(item, &format!("{place}/{index}"), &format!("{general}/{kind}"), seen, places);
            }
        }
        _ => {}
    }
}

/// What the input's only workload leads to: an error, or nothing.
fn error(text: &str) -> Option<String> {
    let input = match Snapshot::read(text.as_bytes()) {
        Ok(input) => input,
        Err(error) => return Some(error.to_string()),
    };
    let mut options = Options::new(0, "2026-03-10T12:00:00Z".parse().expect("a time"));
    options.replicas = None;
    options.partial = true;
    preview_workload(&input, &options).err().map(|error| error.to_string())
}

#[test]
fn wrong_types_are_told_in_the_words_of_kubernetes() {
    let mut errors = BTreeSet::new();
    for example in EXAMPLES {
        let mut list: Value = serde_json::from_str(example).expect("JSON");
        // The examples lack who wrote what.
        let items = list["items"].as_array_mut().expect("items");
        let pod = items.iter_mut().find(|item| item["kind"] == "Pod").expect("a pod");
        pod["metadata"]["managedFields"] = json!([{ "manager": "kubectl", "operation": "Apply",
            "fieldsV1": { "f:metadata": { "f:annotations": { "f:controller.kubernetes.io/pod-deletion-cost": {} } } } }]);
        let mut all = Vec::new();
        places(&list, "", "", &mut BTreeSet::new(), &mut all);
        for place in all {
            for wrong in [json!(5), json!("x"), json!([]), json!([5]), json!({}), json!(true)] {
                let mut list = list.clone();
                *list.pointer_mut(&place).expect("a place") = wrong.clone();
                let Some(error) = error(&list.to_string()) else { continue };
                assert!(!RUST.iter().any(|word| error.contains(word)), "{place} is {wrong}: {error}");
                // What was expected is said, too.
                assert!(!format!("{error} ").contains("expected  "), "{place} is {wrong}: {error:?}");
                errors.insert(error);
            }
        }
    }
    assert!(errors.len() > 300, "{} errors", errors.len());
}

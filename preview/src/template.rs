//! Whether Kubernetes calls two pod templates equal, which separates a Deployment's new set from its old ones.
//!
//! Kubernetes compares templates by value and without the label `pod-template-hash`: an empty list or map equals a missing
//! one, and quantities are compared by value, however they are written.

use crate::quantity::billionths;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is kept from a pod template: equal templates have equal fingerprints. With 128 bits, it is very unlikely that
/// different ones have, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint([u64; 2]);

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut template = Value::deserialize(deserializer)?;
        if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
            labels.remove("pod-template-hash");
        }
        normalize(&mut template, "", "");
        template.sort_all_objects();
        let text = template.to_string();
        let hash = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            (seed, &text).hash(&mut hasher);
            hasher.finish()
        };
        Ok(Self([hash(0), hash(1)]))
    }
}

/// Fields whose names and texts are the user's, and mean nothing to Kubernetes.
const FREE: [&str; 7] = [
    "labels",
    "annotations",
    "nodeSelector",
    "matchLabels",
    "volumeAttributes",
    "options",
    "userAnnotations",
];

/// Fields that always exist in Kubernetes' memory, so that an empty one equals a missing one. Elsewhere an empty object means
/// something: `emptyDir: {}` is a volume.
const NEVER_ABSENT: [&str; 3] = ["metadata", "spec", "resources"];

/// Writes a value such that values which Kubernetes calls equal are written equally. `field` is the value's field, and
/// `parent` is the field around that.
fn normalize(value: &mut Value, field: &str, parent: &str) {
    match value {
        Value::Object(fields) if !FREE.contains(&field) => {
            for (name, value) in fields.iter_mut() {
                if is_quantity(name, field, parent) {
                    by_value(value);
                } else {
                    normalize(value, name, field);
                }
            }
            fields.retain(|name, value| !is_absent(name, value));
        }
        // An item of a list has the place of its list.
        Value::Array(items) => items.iter_mut().for_each(|item| normalize(item, field, parent)),
        _ => {}
    }
}

/// Whether the field `name` of the object at `field` of `parent` is a quantity. These are all that a pod template has.
fn is_quantity(name: &str, field: &str, parent: &str) -> bool {
    match field {
        // Of a container, of the pod, and of an ephemeral volume's claim.
        "limits" | "requests" => parent == "resources",
        "overhead" => parent == "spec",
        "emptyDir" => name == "sizeLimit",
        "resourceFieldRef" => name == "divisor",
        _ => false,
    }
}

fn by_value(quantity: &mut Value) {
    let text = match &*quantity {
        Value::String(text) => text.clone(),
        // YAML lets users write a number.
        Value::Number(number) => number.to_string(),
        _ => return,
    };
    if let Some(value) = billionths(&text) {
        *quantity = Value::String(value.to_string());
    }
}

/// Returns whether a field counts as missing.
fn is_absent(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty() && (is_map(name) || NEVER_ABSENT.contains(&name)),
        _ => false,
    }
}

fn is_map(name: &str) -> bool {
    FREE.contains(&name) || ["limits", "requests", "overhead"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank_laws::vectors;

    /// A case of `vectors/templates.json`.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        name: String,
        templates: [Fingerprint; 2],
        equal: bool,
    }

    #[test]
    fn fingerprints_are_equal_where_kubernetes_calls_templates_equal() {
        let cases: Vec<Case> =
            serde_json::from_str(&vectors::read("templates.json")).expect("templates.json");
        for Case { name, templates: [a, b], equal } in &cases {
            assert_eq!(a == b, *equal, "{name}");
        }
        assert!(cases.len() > 20, "{} cases", cases.len());
    }
}

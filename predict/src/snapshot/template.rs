//! Whether Kubernetes calls two pod templates equal, which separates a Deployment's new set from its old ones.
//!
//! Kubernetes compares templates by value and without the label `pod-template-hash`: an empty list or map equals a missing
//! one, and quantities are compared by value, however they are written.

use crate::text::billionths;
use podrank::DELETION_COST_ANNOTATION;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// A hash of a pod template. Equal templates have equal fingerprints. With 128 bits, it is very unlikely that
/// different templates have the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint([u64; 2]);

/// The parts of a pod template that decisions read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pub(crate) fingerprint: Fingerprint,
    /// The deletion cost that it gives pods.
    pub(crate) cost: Option<String>,
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut template = Value::deserialize(deserializer)?;
        let cost = template["metadata"]["annotations"][DELETION_COST_ANNOTATION].as_str().map(str::to_owned);
        template.sort_all_objects();
        normalize(&mut template, "", "", 0);
        let (text, hasher) = (template.to_string(), BuildHasherDefault::<DefaultHasher>::default());
        Ok(Self { fingerprint: Fingerprint([0, 1].map(|seed: u8| hasher.hash_one((seed, &text)))), cost })
    }
}

/// Gives values that Kubernetes calls equal the same form. Drops values that Kubernetes treats as missing, and writes
/// quantities in one way. The value is in the field `field` of the object at `parent`, in `depth` objects and lists.
fn normalize(value: &mut Value, field: &str, parent: &str, depth: u8) {
    let deeper = depth.saturating_add(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| normalize(item, field, parent, deeper)),
        // All within it stays as it is, because it means nothing to Kubernetes.
        Value::Object(fields) if FREE.contains(&field) => {
            let are_labels = depth == 2 && parent == "metadata" && field == "labels";
            fields.retain(|name, _| !are_labels || name != "pod-template-hash");
        }
        Value::Object(fields) => fields.retain(|name, value| {
            if is_quantity(name, field, parent) {
                normalize_quantity(value);
            } else {
                normalize(value, name, field, deeper);
            }
            // Unlike those of a container or a claim, they may be missing in Kubernetes' memory, too.
            let are_of_pod = depth == 1 && name == "resources" && value.is_object();
            are_of_pod || !is_absent(value, name)
        }),
        _ => {}
    }
}

/// Writes a quantity in billionths. No list, object or other value reads as one.
fn normalize_quantity(value: &mut Value) {
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(number) = billionths(&written) {
        *value = number.to_string().into();
    }
}

/// Whether Kubernetes treats the value of the field `name` as missing.
fn is_absent(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => {
            fields.is_empty() && (FREE.contains(&name) || ABSENT_IF_EMPTY.contains(&name))
        }
        _ => false,
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

/// Fields that always exist in Kubernetes' memory, and maps of quantities. An empty one equals a missing one. Elsewhere an empty object
/// means something: `emptyDir: {}` is a volume.
const ABSENT_IF_EMPTY: [&str; 6] = ["metadata", "spec", "resources", "limits", "requests", "overhead"];

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

#[cfg(test)]
mod tests {
    use super::*;
    use podrank_laws::vectors;

    /// A case of `tests/vectors/templates.json`.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        name: String,
        templates: [Template; 2],
        equal: bool,
    }

    #[test]
    fn fingerprints_are_equal_where_kubernetes_calls_templates_equal() {
        let cases: Vec<Case> =
            serde_json::from_str(&vectors::read("templates.json")).expect("templates.json");
        for Case { name, templates: [a, b], equal } in &cases {
            assert_eq!(a.fingerprint == b.fingerprint, *equal, "{name}");
        }
        assert!(cases.len() > 20, "{} cases", cases.len());
    }
}

//! An object of a kind that no module knows, if it has a count: it may own `ReplicaSets`, as an Argo Rollout does.

use crate::snapshot::{Metadata, ObjectMeta, checked};
use crate::text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// Such an object.
#[derive(Clone, Debug)]
pub(crate) struct OtherOwner {
    /// Its type, as `kubectl get -o name` prints it: `rollout.argoproj.io`.
    pub(crate) resource: String,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) meta: Metadata,
    /// `spec.replicas`.
    pub(crate) replicas: u32,
    /// Whether its status says that it is for an earlier spec.
    pub(crate) lags: bool,
}

/// The type of objects of this kind, as `kubectl get -o name` prints it: `rollout.argoproj.io`. `None` if it can be no type.
pub(crate) fn resource(api_version: &str, kind: &str) -> Option<String> {
    let group = api_version.split_once('/').map(|(group, _)| format!(".{group}"));
    checked(&format!("{kind}{}", group.unwrap_or_default()).to_ascii_lowercase()).ok()
}

impl OtherOwner {
    /// `None` if the object has no count, or if anything else about it is not as it should be: most objects of unknown kinds
    /// own nothing, so nobody needs to know what is wrong with one.
    pub(crate) fn read(object: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Object {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            spec: Spec,
            status: Option<Status>,
        }
        #[derive(Deserialize)]
        struct Spec {
            replicas: u32,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Status {
            observed_generation: Option<Value>,
        }
        // Most have no such field, and finding a word is cheaper than reading the object.
        if !object.get().contains("\"replicas\"") {
            return None;
        }
        let Object { api_version, kind, mut metadata, spec, status } =
            serde_json::from_str(object.get()).ok()?;
        // Argo Rollouts writes it in quotes. A text that is not a number is not about `metadata.generation`.
        let observed = match status.and_then(|status| status.observed_generation) {
            Some(Value::String(text)) => text.parse().ok(),
            Some(number) => Some(number.as_i64()?),
            None => None,
        };
        let meta = metadata.take();
        checked(&meta.name).ok().filter(|_| !meta.uid.is_empty())?;
        Some(Self {
            resource: resource(&api_version, &kind)?,
            api_version,
            kind,
            lags: observed.is_some_and(|observed| observed < meta.generation),
            meta,
            replicas: spec.replicas,
        })
    }
}

impl fmt::Display for OtherOwner {
    /// As messages show workloads: `Rollout default/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [&self.kind, &self.meta.namespace, &self.meta.name];
        let [kind, namespace, name] = names.map(|name| text::name(name));
        write!(f, "{kind} {namespace}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rollout() -> Value {
        json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Rollout",
            "metadata": { "name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "9", "generation": 3 },
            "spec": { "replicas": 4, "strategy": { "canary": {} } },
            "status": { "observedGeneration": "3", "replicas": 4 },
        })
    }

    fn read(object: &Value) -> Option<OtherOwner> {
        let raw: Box<RawValue> = serde_json::from_str(&object.to_string()).expect("JSON");
        OtherOwner::read(&raw)
    }

    #[test]
    fn an_object_with_a_count_is_kept() {
        let entry = read(&rollout()).expect("an owner");
        assert_eq!((entry.to_string(), entry.replicas), ("Rollout shop/web".to_owned(), 4));
        assert_eq!((&*entry.meta.uid, &*entry.meta.resource_version), ("u", "9"));
        assert_eq!(entry.resource, "rollout.argoproj.io");
        assert_eq!(resource("v1", "Thing").as_deref(), Some("thing"));
        assert!(!entry.lags && entry.meta.deletion.is_none());
    }

    #[test]
    fn a_status_lags_if_its_generation_is_a_lower_number_in_quotes_or_not() {
        for (observed, lags) in [
            (json!("2"), true),
            (json!(2), true),
            (json!("3"), false),
            (json!(3), false),
            // A hash, as Argo Rollouts once wrote.
            (json!("6c8f7d"), false),
            (json!(null), false),
        ] {
            let mut object = rollout();
            object["status"]["observedGeneration"] = observed.clone();
            assert_eq!(read(&object).expect("an owner").lags, lags, "{observed}");
        }
        let mut object = rollout();
        object["status"] = Value::Null;
        assert!(!read(&object).expect("an owner").lags);
    }

    #[test]
    fn an_object_that_is_not_sound_is_ignored() {
        for (place, value) in [
            ("/spec/replicas", json!(-1)),
            ("/spec/replicas", json!("4")),
            ("/spec/replicas", json!(null)),
            ("/spec", json!(["replicas"])),
            ("/metadata/uid", json!("")),
            ("/metadata/name", json!(7)),
            ("/metadata/name", json!("a b")),
            ("/kind", json!("--all")),
            ("/kind", json!(null)),
            ("/apiVersion", json!(1)),
            ("/status/observedGeneration", json!({})),
        ] {
            let mut object = rollout();
            *object.pointer_mut(place).expect("a place") = value.clone();
            assert!(read(&object).is_none(), "{place} {value}");
        }
    }
}

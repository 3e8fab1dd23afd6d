//! Who wrote an object when, and who sets its count: `metadata.managedFields`. Reads one object's JSON text. Nothing in it makes an
//! object unreadable.

use crate::snapshot::cost::FIELD_MANAGER;
use crate::snapshot::time::{Lenient, Time, nanos};
use crate::text::error::parse;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// kube-controller-manager, in which autoscalers and Deployments write counts.
const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// In whose name the API server keeps what was there before the first server-side apply.
const BEFORE_APPLY: &str = "before-first-apply";

/// An entry of `metadata.managedFields`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    manager: Lenient<String>,
    subresource: Lenient<String>,
    time: Lenient<Time>,
    #[serde(rename = "fieldsV1")]
    fields: Lenient<Fields>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(rename = "f:spec")]
    spec: Lenient<SpecFields>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpecFields {
    #[serde(rename = "f:replicas")]
    replicas: Option<IgnoredAny>,
}

impl Written {
    fn has_count(&self) -> bool {
        let spec = self.fields.0.as_ref().and_then(|fields| fields.spec.0.as_ref());
        spec.is_some_and(|spec| spec.replicas.is_some())
    }
}

/// Who wrote `spec.replicas` last.
#[derive(Clone, Debug)]
pub(crate) struct CountWriter {
    /// Its field manager, or `an autoscaler`.
    pub(crate) name: String,
    /// When it last wrote any of its fields, in nanoseconds since the Unix epoch. `None` if it wrote the count alone, by the `scale`
    /// subresource: Kubernetes does not say when.
    pub(crate) at: Option<i64>,
}

/// The only manager that has `spec.replicas`: a change of the value takes it from all others.
pub(crate) fn count_writer(object: &RawValue) -> Option<CountWriter> {
    let all = entries(object);
    let mut with_count = all.iter().filter(|entry| entry.has_count());
    let (entry, None) = (with_count.next()?, with_count.next()) else { return None };
    let is_scale = entry.subresource.0.as_deref() == Some("scale");
    let name = match entry.manager.0.as_deref()? {
        CONTROLLER_MANAGER if is_scale => "an autoscaler",
        name => name,
    };
    Some(CountWriter { name: name.to_owned(), at: nanos(&entry.time).filter(|_| !is_scale) })
}

/// The managers that may write `spec.replicas` back: neither podrank, nor a controller of Kubernetes, nor somebody who runs
/// kubectl by hand.
pub(crate) fn count_owners(object: &RawValue) -> Vec<String> {
    let mut owners = Vec::new();
    for entry in entries(object) {
        let manager = entry.manager.0.as_deref().unwrap_or_default();
        if entry.has_count() && writes_back(manager) && !owners.iter().any(|owner| owner == manager) {
            owners.push(manager.to_owned());
        }
    }
    owners
}

/// All entries that are sound.
fn entries(object: &RawValue) -> Vec<Written> {
    #[derive(Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        #[serde(default)]
        managed_fields: Lenient<Vec<Lenient<Written>>>,
    }
    let entries = parse::<Object>(object).ok().and_then(|object| object.metadata.managed_fields.0);
    entries.into_iter().flatten().filter_map(|entry| entry.0).collect()
}

fn writes_back(manager: &str) -> bool {
    let is_by_hand = manager == "kubectl" || manager.starts_with("kubectl-");
    !is_by_hand && !["", FIELD_MANAGER, CONTROLLER_MANAGER, BEFORE_APPLY].contains(&manager)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_count_belongs_to_who_writes_it_without_being_asked() {
        let owners = |entries: serde_json::Value| {
            let object = json!({ "metadata": { "managedFields": entries } }).to_string();
            count_owners(&RawValue::from_string(object).expect("JSON"))
        };
        let entry =
            |manager: &str| json!({ "manager": manager, "fieldsV1": { "f:spec": { "f:replicas": {} } } });
        let other = json!({ "manager": "argocd-controller", "fieldsV1": { "f:spec": { "f:template": {} } } });
        for manager in ["argocd-controller", "helm", "keda-operator", "kubectlx", "Podrank"] {
            assert_eq!(owners(json!([other, entry(manager), entry(manager)])), [manager]);
        }
        let asked = "podrank kube-controller-manager kubectl kubectl-client-side-apply kubectl-scale kubectl-edit before-first-apply";
        for manager in asked.split(' ').chain([""]) {
            assert!(owners(json!([entry(manager)])).is_empty(), "{manager}");
        }
        assert_eq!(owners(json!([entry("helm"), entry("argocd-controller")])), ["helm", "argocd-controller"]);
        for odd in [
            json!(null),
            json!(7),
            json!([7, null, { "manager": 7 }]),
            json!([{ "manager": "a", "fieldsV1": { "f:spec": 1 } }]),
        ] {
            assert!(owners(odd).is_empty());
        }
        assert_eq!(owners(json!([7, entry("helm")])), ["helm"]);
    }
}

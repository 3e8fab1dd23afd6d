//! Who wrote an object when, and who sets its count: `metadata.managedFields`. Nothing in it makes an object unreadable.

use crate::snapshot::{Lenient, Time, nanos};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The field manager that podrank writes as.
pub const FIELD_MANAGER: &str = "podrank";

/// kube-controller-manager, in which autoscalers and Deployments write counts. It also creates pods with the annotations of their
/// template.
pub(crate) const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// In whose name the API server keeps what was there before the first server-side apply.
const BEFORE_APPLY: &str = "before-first-apply";

/// An entry of `metadata.managedFields`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ManagedFields {
    pub(crate) manager: Option<String>,
    pub(crate) operation: Option<String>,
    subresource: Option<String>,
    #[serde(default)]
    time: Lenient<Time>,
    #[serde(rename = "fieldsV1", default)]
    pub(crate) fields: Fields,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Fields {
    #[serde(rename = "f:metadata")]
    pub(crate) metadata: MetadataFields,
    #[serde(rename = "f:spec")]
    spec: SpecFields,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct MetadataFields {
    #[serde(rename = "f:annotations")]
    pub(crate) annotations: AnnotationFields,
}

#[derive(Default, Deserialize)]
pub(crate) struct AnnotationFields {
    /// Present if the manager wrote the deletion cost.
    #[serde(rename = "f:controller.kubernetes.io/pod-deletion-cost")]
    pub(crate) cost: Option<IgnoredAny>,
    /// Present if the manager wrote the annotation with a cost that was overwritten.
    #[serde(rename = "f:podrank.dev/previous-cost")]
    pub(crate) previous_cost: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct SpecFields {
    #[serde(rename = "f:replicas")]
    replicas: Option<IgnoredAny>,
}

impl ManagedFields {
    fn writer(&self) -> Option<CountWriter> {
        let is_scale = self.subresource.as_deref() == Some("scale");
        let name = match self.manager.as_deref()? {
            CONTROLLER_MANAGER if is_scale => "an autoscaler",
            name => name,
        };
        Some(CountWriter { name: name.to_owned(), at: nanos(&self.time).filter(|_| !is_scale) })
    }
}

/// Who writes `spec.replicas`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountManagers {
    /// The field managers that may reset it: neither podrank, nor a controller of Kubernetes, nor somebody who runs kubectl by
    /// hand.
    pub(crate) owners: Vec<String>,
    /// Who wrote it last: the only manager that has it, because a change of the value removes all other managers.
    pub(crate) writer: Option<CountWriter>,
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

impl CountManagers {
    pub(crate) fn of<'m>(entries: impl Iterator<Item = &'m ManagedFields>) -> Self {
        let with_count: Vec<_> = entries.filter(|entry| entry.fields.spec.replicas.is_some()).collect();
        let mut owners: Vec<String> = Vec::new();
        for manager in with_count.iter().filter_map(|entry| entry.manager.as_ref()) {
            if writes_back(manager) && !owners.contains(manager) {
                owners.push(manager.clone());
            }
        }
        let writer = if let [only] = &*with_count { only.writer() } else { None };
        Self { owners, writer }
    }
}

fn writes_back(manager: &str) -> bool {
    let is_by_hand = manager == "kubectl" || manager.starts_with("kubectl-");
    !is_by_hand && !["", FIELD_MANAGER, CONTROLLER_MANAGER, BEFORE_APPLY].contains(&manager)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::meta::ObjectMeta;
    use serde_json::json;

    #[test]
    fn a_count_belongs_to_who_writes_it_without_being_asked() {
        let owners = |entries: serde_json::Value| {
            let object = json!({ "name": "web", "managedFields": entries }).to_string();
            let metadata: ObjectMeta = serde_json::from_str(&object).expect("metadata");
            CountManagers::of(metadata.managed_fields()).owners
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

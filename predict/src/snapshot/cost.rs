//! A pod's deletion cost as it is written, and who wrote it. Reads a pod's metadata alone.

use podrank::{DELETION_COST_ANNOTATION, DeletionCostError, deletion_cost};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The field manager that podrank writes as.
pub const FIELD_MANAGER: &str = "podrank";

/// The annotation in which podrank keeps a cost that it wrote over, as the JSON of a [`Previous`].
pub const PREVIOUS_COST_ANNOTATION: &str = "podrank.dev/previous-cost";

/// The field manager that podrank-webhook writes as.
const WEBHOOK_MANAGER: &str = "podrank-webhook";

/// kube-controller-manager, which creates pods with the annotations of their template.
const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// A deletion cost.
#[derive(Clone, Debug)]
pub(crate) struct WrittenCost {
    pub(crate) text: String,
    /// The number, or why Kubernetes reads the text as 0.
    pub(crate) value: Result<i32, DeletionCostError>,
    /// Who wrote it. Empty if nobody is known, as in a dump without `--show-managed-fields`.
    pub(crate) managers: Vec<Manager>,
    /// The pod's resource version when it had this cost.
    pub(crate) resource_version: Option<String>,
}

/// Who writes a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manager {
    pub(crate) name: String,
    /// Whether by server-side apply.
    pub(crate) applies: bool,
}

/// The note of an overwritten cost on a pod.
#[derive(Clone, Debug)]
pub(crate) struct NotedCost {
    pub(crate) previous: Previous,
    /// Whether it is the note of podrank-webhook alone, which puts that cost back itself.
    pub(crate) is_webhooks: bool,
}

/// A cost that podrank wrote over, to be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    /// The text of the annotation.
    pub value: String,
    /// The field manager that wrote it.
    pub manager: String,
}

/// To whom a pod's deletion cost belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CostOwner {
    /// podrank wrote it.
    Podrank,
    /// podrank wrote it, but in a run that may still be at work.
    AnotherRun,
    /// It came with the pod template, and nobody has touched it since.
    Template,
    /// Somebody else, by field manager.
    Other(String),
}

impl fmt::Display for CostOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Podrank => FIELD_MANAGER,
            Self::AnotherRun => "another run of podrank",
            Self::Template => "template",
            Self::Other(manager) => manager,
        })
    }
}

impl Previous {
    /// The number that Kubernetes reads in it.
    pub(crate) fn number(&self) -> i32 {
        deletion_cost(&self.value).unwrap_or(0)
    }

    /// Whether it can be put back as its writer's: what Kubernetes reads is what is written, and the writer is known.
    pub(crate) fn is_known(&self) -> bool {
        let number: Result<i32, _> = self.value.parse();
        number.is_ok_and(|number| number.to_string() == self.value) && !self.manager.is_empty()
    }

    /// Whether it came with the pod template, if that has this cost.
    pub(crate) fn is_from(&self, template: Option<&str>) -> bool {
        self.manager == CONTROLLER_MANAGER && template == Some(&*self.value)
    }

    /// Whether it is to be put back. A cost of podrank-webhook was for one scale-down, and stays off: podrank-webhook would not
    /// take it off if podrank put it back.
    pub(crate) fn lasts(&self) -> bool {
        self.manager != WEBHOOK_MANAGER
    }
}

impl NotedCost {
    /// The note among a pod's annotations. Nobody else than podrank-webhook writes one besides podrank.
    pub(crate) fn read(
        annotations: &BTreeMap<String, String>,
        managed_fields: Option<&[ManagedFields]>,
    ) -> Option<Self> {
        let previous = serde_json::from_str(annotations.get(PREVIOUS_COST_ANNOTATION)?).ok()?;
        let entries = managed_fields.unwrap_or_default().iter().filter(|entry| entry.has_previous());
        let managers: Vec<_> = entries.map(ManagedFields::to_manager).collect();
        let is_webhooks = managers.iter().any(|manager| manager.name == WEBHOOK_MANAGER)
            && !managers.iter().any(Manager::is_podrank);
        Some(Self { previous, is_webhooks })
    }
}

impl Manager {
    /// Whether it is podrank, which writes by server-side apply alone.
    fn is_podrank(&self) -> bool {
        self.applies && self.name == FIELD_MANAGER
    }
}

/// An entry of `metadata.managedFields`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an entry of managedFields")]
pub(crate) struct ManagedFields {
    manager: Option<String>,
    operation: Option<String>,
    #[serde(rename = "fieldsV1")]
    fields: Option<Fields>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Fields {
    #[serde(rename = "f:metadata")]
    metadata: Option<MetadataFields>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct MetadataFields {
    #[serde(rename = "f:annotations")]
    annotations: Option<AnnotationFields>,
}

/// A marker of each annotation that is managed. Those of the deletion cost and of a cost that was overwritten count.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct AnnotationFields {
    #[serde(rename = "f:controller.kubernetes.io/pod-deletion-cost")]
    cost: Option<IgnoredAny>,
    #[serde(rename = "f:podrank.dev/previous-cost")]
    previous: Option<IgnoredAny>,
}

impl ManagedFields {
    fn annotations(&self) -> Option<&AnnotationFields> {
        self.fields.as_ref()?.metadata.as_ref()?.annotations.as_ref()
    }

    fn has_cost(&self) -> bool {
        self.annotations().is_some_and(|annotations| annotations.cost.is_some())
    }

    fn has_previous(&self) -> bool {
        self.annotations().is_some_and(|annotations| annotations.previous.is_some())
    }

    fn to_manager(&self) -> Manager {
        Manager {
            name: self.manager.clone().unwrap_or_default(),
            applies: self.operation.as_deref() == Some("Apply"),
        }
    }
}

impl WrittenCost {
    /// The cost among a pod's annotations.
    pub(crate) fn read(
        annotations: &BTreeMap<String, String>,
        managed_fields: Option<&[ManagedFields]>,
        resource_version: Option<&str>,
    ) -> Option<Self> {
        let text = annotations.get(DELETION_COST_ANNOTATION)?;
        let theirs = managed_fields.unwrap_or_default().iter().filter(|entry| entry.has_cost());
        Some(Self {
            value: deletion_cost(text),
            text: text.clone(),
            managers: theirs.map(ManagedFields::to_manager).collect(),
            resource_version: resource_version.map(str::to_owned),
        })
    }

    /// The number that Kubernetes reads.
    pub(crate) fn number(&self) -> i32 {
        self.value.as_ref().copied().unwrap_or(0)
    }

    /// Whether podrank is one of those who wrote it.
    pub(crate) fn is_podranks(&self) -> bool {
        self.managers.iter().any(Manager::is_podrank)
    }

    /// To whom it belongs, if `template` is the cost in the pod template.
    pub(crate) fn owner(&self, template: Option<&str>) -> CostOwner {
        let others: Vec<_> = self.others().collect();
        match &*others {
            [] if self.is_podranks() => CostOwner::Podrank,
            [] => CostOwner::Other("an unknown manager".to_owned()),
            [only] if only.name == CONTROLLER_MANAGER && template == Some(&*self.text) => CostOwner::Template,
            [first, ..] => CostOwner::Other(first.name.clone()),
        }
    }

    /// Who wrote it besides podrank, if that is known. What kube-controller-manager wrote came with the pod template.
    pub(crate) fn writer(&self) -> Option<&str> {
        let first = self.others().find(|manager| manager.name != CONTROLLER_MANAGER);
        first.map(|manager| &*manager.name).filter(|name| !name.is_empty())
    }

    /// This cost, if it is not podrank's, as what a write would replace.
    pub(crate) fn to_previous(&self) -> Previous {
        let manager = self.others().next().map_or_else(String::new, |manager| manager.name.clone());
        Previous { value: self.text.clone(), manager }
    }

    fn others(&self) -> impl Iterator<Item = &Manager> {
        self.managers.iter().filter(|manager| !manager.is_podrank())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(managers: &str, text: &str) -> WrittenCost {
        let annotations = BTreeMap::from([(DELETION_COST_ANNOTATION.to_owned(), text.to_owned())]);
        let managed_fields: Vec<ManagedFields> = serde_json::from_str(managers).expect("managedFields");
        WrittenCost::read(&annotations, Some(&managed_fields), None).expect("a cost")
    }

    /// `manager operation` of each entry that has the cost.
    fn entries(entries: &[&str]) -> String {
        let entry = |entry: &&str| {
            let (manager, operation) = entry.split_once(' ').expect("two words");
            format!(
                r#"{{"manager": "{manager}", "operation": "{operation}", "fieldsType": "FieldsV1", "fieldsV1":
                    {{"f:metadata": {{"f:annotations": {{".": {{}}, "f:{DELETION_COST_ANNOTATION}": {{}}}}}}}}}}"#
            )
        };
        let other = r#"{"manager": "kubelet", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}}"#;
        let all: Vec<_> = entries.iter().map(entry).chain([other.to_owned()]).collect();
        format!("[{}]", all.join(","))
    }

    #[test]
    fn a_cost_belongs_to_who_wrote_it() {
        let other = |name: &str| CostOwner::Other(name.to_owned());
        for (managers, template, owner) in [
            (&["podrank Apply"][..], None, CostOwner::Podrank),
            (&["podrank Apply", "karpenter Update"], None, other("karpenter")),
            (&["karpenter Apply", "podrank Apply"], None, other("karpenter")),
            (&["podrank Update"], None, other("podrank")),
            (&["kube-controller-manager Update"], Some("5"), CostOwner::Template),
            (&["kube-controller-manager Update"], Some("6"), other("kube-controller-manager")),
            (&["kube-controller-manager Update"], None, other("kube-controller-manager")),
            (
                &["kube-controller-manager Update", "kubectl-annotate Update"],
                Some("5"),
                other("kube-controller-manager"),
            ),
            (&["kube-controller-manager Update", "podrank Apply"], Some("5"), CostOwner::Template),
            (&[], Some("5"), other("an unknown manager")),
        ] {
            assert_eq!(read(&entries(managers), "5").owner(template), owner, "{managers:?} {template:?}");
        }
    }

    #[test]
    fn a_cost_is_what_kubernetes_reads() {
        assert_eq!(read("[]", "-7").number(), -7);
        assert_eq!(read("[]", "+7").number(), 0);
        assert!(!read(&entries(&["kubelet Update"]), "1").is_podranks());
        assert!(read(&entries(&["kubelet Update", "podrank Apply"]), "1").is_podranks());
    }
}

//! A pod's deletion cost as it is written, and who wrote it. Reads a pod's metadata alone.

use crate::snapshot::{CONTROLLER_MANAGER, FIELD_MANAGER, ManagedFields, ObjectMeta};
use podrank::{DELETION_COST_ANNOTATION, DeletionCostError, deletion_cost};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The annotation in which podrank keeps a cost that it wrote over, as the JSON of a [`PreviousCost`].
pub const PREVIOUS_COST_ANNOTATION: &str = "podrank.dev/previous-cost";

/// The field manager that podrank-webhook writes as.
const WEBHOOK_MANAGER: &str = "podrank-webhook";

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
    pub(crate) previous: PreviousCost,
    /// Whether it is the note of podrank-webhook alone, which puts that cost back itself.
    pub(crate) is_webhooks: bool,
}

/// A cost that podrank wrote over, to be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousCost {
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

impl PreviousCost {
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

    /// Whether podrank restores it. A cost of podrank-webhook was for one scale-down, so podrank does not restore it:
    /// podrank-webhook would not remove it again.
    pub(crate) fn lasts(&self) -> bool {
        self.manager != WEBHOOK_MANAGER
    }
}

impl NotedCost {
    /// The previous cost in a pod's annotation, which only podrank and podrank-webhook write.
    pub(crate) fn read(pod: &ObjectMeta) -> Option<Self> {
        let previous = serde_json::from_str(pod.annotation(PREVIOUS_COST_ANNOTATION)?).ok()?;
        let entries =
            pod.managed_fields().filter(|it| it.fields.metadata.annotations.previous_cost.is_some());
        let managers: Vec<_> = entries.map(Manager::of).collect();
        let is_webhooks = managers.iter().any(|manager| manager.name == WEBHOOK_MANAGER)
            && !managers.iter().any(Manager::is_podrank);
        Some(Self { previous, is_webhooks })
    }
}

impl Manager {
    fn of(entry: &ManagedFields) -> Self {
        let applies = entry.operation.as_deref() == Some("Apply");
        Self { name: entry.manager.clone().unwrap_or_default(), applies }
    }

    /// Whether it is podrank, which writes by server-side apply alone.
    fn is_podrank(&self) -> bool {
        self.applies && self.name == FIELD_MANAGER
    }
}

impl WrittenCost {
    /// The cost among a pod's annotations.
    pub(crate) fn read(pod: &ObjectMeta, resource_version: &str) -> Option<Self> {
        let text = pod.annotation(DELETION_COST_ANNOTATION)?;
        let managers = pod.managed_fields().filter(|it| it.fields.metadata.annotations.cost.is_some());
        Some(Self {
            value: deletion_cost(text),
            text: text.to_owned(),
            managers: managers.map(Manager::of).collect(),
            resource_version: Some(resource_version.to_owned()).filter(|version| !version.is_empty()),
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

    /// Another program that wrote it, if that is known. A cost of kube-controller-manager came with the pod template.
    pub(crate) fn writer(&self) -> Option<&str> {
        let first = self.others().find(|manager| manager.name != CONTROLLER_MANAGER);
        first.map(|manager| &*manager.name).filter(|name| !name.is_empty())
    }

    /// This cost, if it is not podrank's, as what a write would replace.
    pub(crate) fn to_previous(&self) -> PreviousCost {
        let manager = self.others().next().map_or_else(String::new, |manager| manager.name.clone());
        PreviousCost { value: self.text.clone(), manager }
    }

    fn others(&self) -> impl Iterator<Item = &Manager> {
        self.managers.iter().filter(|manager| !manager.is_podrank())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(managers: &str, text: &str) -> WrittenCost {
        let object = format!(
            r#"{{"name": "a", "annotations": {{"{DELETION_COST_ANNOTATION}": "{text}"}}, "managedFields": {managers}}}"#
        );
        WrittenCost::read(&serde_json::from_str(&object).expect("metadata"), "").expect("a cost")
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

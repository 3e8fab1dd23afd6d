//! What every object has: its name, its labels and who controls it.

use crate::snapshot::{Lenient, ManagedFields, Time, WorkloadKind, WorkloadRef};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::mem;

/// The label with the revision that a pod was made from.
pub(crate) const REVISION_LABEL: &str = "controller-revision-hash";

/// An owner reference.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an owner reference")]
pub(crate) struct OwnerReference {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    controller: Option<bool>,
}

impl OwnerReference {
    /// That of a Deployment.
    pub(crate) fn of_deployment(name: &str, uid: &str) -> Self {
        let [api_version, kind, name, uid] = ["apps/v1", "Deployment", name, uid].map(str::to_owned);
        Self { api_version, kind, name, uid, controller: Some(true) }
    }

    /// The kind of the owner, if it is a workload of a known one.
    pub(crate) fn workload_kind(&self) -> Option<WorkloadKind> {
        WorkloadKind::of_object(&self.kind, Some(&self.api_version))
    }
}

/// The `metadata` of an object as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct ObjectMeta {
    name: String,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    /// It changes with the spec. A dump that someone wrote may lack it.
    #[serde(default)]
    generation: i64,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
    pub(crate) creation_timestamp: Option<Time>,
    pub(crate) deletion_timestamp: Option<Lenient<Time>>,
    #[serde(default)]
    pub(crate) deletion_grace_period_seconds: Lenient<i64>,
    pub(crate) finalizers: Option<Vec<String>>,
    #[serde(default)]
    managed_fields: Lenient<Vec<Lenient<ManagedFields>>>,
}

/// An object as it is written, with these parts as its spec and status.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct Object<Spec, Status> {
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: Spec,
    pub(crate) status: Option<Status>,
}

/// The part of the metadata that is kept of any object.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "ObjectMeta")]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) uid: String,
    pub(crate) resource_version: String,
    pub(crate) generation: i64,
    pub(crate) labels: BTreeMap<String, String>,
    /// The owner reference of its controller.
    pub(crate) controller: Option<OwnerReference>,
    pub(crate) deletion: Option<Deletion>,
}

/// An object that another one names.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct TargetReference {
    #[serde(default)]
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// A condition of a status.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a condition")]
pub(crate) struct Condition {
    r#type: String,
    status: String,
}

impl Condition {
    /// Whether it is the one of this name, and true.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.r#type == name && self.status == "True"
    }
}

/// The fate of the dependents of an object that is being deleted, by its finalizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// The garbage collector deletes them before the object.
    Foreground,
    /// The garbage collector removes their references to the object, and keeps them.
    Orphan,
    /// Nothing, until the object is gone.
    Background,
}

impl ObjectMeta {
    /// Moves out what is kept.
    pub(crate) fn take(&mut self) -> Metadata {
        let has = |name: &str| self.finalizers.iter().flatten().any(|finalizer| finalizer == name);
        let deletion = match (has("foregroundDeletion"), has("orphan")) {
            (true, _) => Deletion::Foreground,
            (false, true) => Deletion::Orphan,
            (false, false) => Deletion::Background,
        };
        Metadata {
            deletion: self.deletion_timestamp.as_ref().map(|_| deletion),
            name: mem::take(&mut self.name),
            namespace: namespace(self.namespace.take()),
            uid: self.uid.take().unwrap_or_default(),
            resource_version: self.resource_version.take().unwrap_or_default(),
            generation: self.generation,
            labels: self.labels.take().unwrap_or_default(),
            controller: controller(self.owner_references.take().unwrap_or_default()),
        }
    }

    pub(crate) fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(name).map(String::as_str)
    }

    pub(crate) fn managed_fields(&self) -> impl Iterator<Item = &ManagedFields> + Clone {
        self.managed_fields.0.iter().flatten().filter_map(|entry| entry.0.as_ref())
    }
}

/// The owner reference of the controller.
pub(crate) fn controller(owners: Vec<OwnerReference>) -> Option<OwnerReference> {
    owners.into_iter().find(|owner| owner.controller == Some(true))
}

/// The namespace of an object, `default` if it is missing.
pub(crate) fn namespace(written: Option<String>) -> String {
    written.filter(|namespace| !namespace.is_empty()).unwrap_or_else(|| "default".to_owned())
}

impl From<ObjectMeta> for Metadata {
    fn from(mut meta: ObjectMeta) -> Self {
        meta.take()
    }
}

impl Metadata {
    /// What identifies the object, if it is a workload of this kind.
    pub(crate) fn id(&self, kind: WorkloadKind) -> WorkloadRef<'_> {
        WorkloadRef { namespace: &self.namespace, kind, name: &self.name }
    }
}

//! What every object has: its name, its labels and who controls it.

use crate::snapshot::workload::WorkloadKind;
use crate::text::error::parse;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

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

#[cfg(test)]
impl OwnerReference {
    pub(crate) fn new(api_version: &str, kind: &str, name: &str) -> Self {
        let [api_version, kind, name] = [api_version, kind, name].map(str::to_owned);
        Self { api_version, kind, uid: name.clone(), name, controller: Some(true) }
    }
}

/// The `metadata` of any object that is kept: what identifies it and who controls it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    /// It changes with the spec. A dump that someone wrote may lack it.
    #[serde(default)]
    pub(crate) generation: i64,
    pub(crate) labels: Option<BTreeMap<String, String>>,
    pub(crate) owner_references: Option<Vec<OwnerReference>>,
    pub(crate) deletion_timestamp: Option<IgnoredAny>,
    pub(crate) finalizers: Option<Vec<String>>,
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

impl Deletion {
    /// The finalizer that asks for it. The deletion in the background needs none.
    pub(crate) fn finalizer(self) -> Option<&'static str> {
        match self {
            Self::Foreground => Some("foregroundDeletion"),
            Self::Orphan => Some("orphan"),
            Self::Background => None,
        }
    }
}

impl Metadata {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        parse(object).map(|Object { metadata }| metadata)
    }

    /// The namespace, `default` if missing.
    pub(crate) fn namespace(&mut self) -> String {
        self.namespace
            .take()
            .filter(|namespace| !namespace.is_empty())
            .unwrap_or_else(|| "default".to_owned())
    }

    pub(crate) fn controller(&mut self) -> Option<OwnerReference> {
        self.owner_references.take()?.into_iter().find(|owner| owner.controller == Some(true))
    }

    pub(crate) fn is_being_deleted(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// How it is being deleted, if it is.
    pub(crate) fn deletion(&self) -> Option<Deletion> {
        let has = |deletion: &Deletion| {
            let finalizers = self.finalizers.iter().flatten();
            finalizers.map(String::as_str).any(|finalizer| Some(finalizer) == deletion.finalizer())
        };
        let asked = [Deletion::Foreground, Deletion::Orphan].into_iter().find(has);
        self.is_being_deleted().then(|| asked.unwrap_or(Deletion::Background))
    }
}

//! Objects that are not as Kubernetes writes them. Such an object is an error only if a decision needs it.

use crate::snapshot::{
    Lenient, OwnerReference, Snapshot, WorkloadKind, WorkloadName, WorkloadRef, controller, namespace,
};
use crate::text::{self, Error};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt;

/// An object of a known kind that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct Unreadable {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    /// Empty if there is none.
    pub(crate) name: String,
    pub(crate) error: String,
    pub(crate) controller: Option<OwnerReference>,
    /// Whether it is known which object it is, and whether it has a controller.
    pub(crate) has_metadata: bool,
}

impl Unreadable {
    pub(crate) fn new(kind: &str, object: &RawValue, error: String) -> Self {
        #[derive(Deserialize)]
        struct Object {
            metadata: Lenient<Metadata>,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Metadata {
            name: Lenient<String>,
            namespace: Lenient<String>,
            owner_references: Option<Lenient<Vec<OwnerReference>>>,
        }
        let written = serde_json::from_str::<Object>(object.get()).ok().and_then(|object| object.metadata.0);
        let Metadata { name, namespace: written, owner_references } = written.unwrap_or_default();
        let name = name.0.unwrap_or_default();
        let owners = owner_references.map_or_else(|| Some(Vec::new()), |owners| owners.0);
        Self {
            kind: kind.to_owned(),
            namespace: namespace(written.0),
            error,
            has_metadata: owners.is_some() && !name.is_empty(),
            name,
            controller: controller(owners.unwrap_or_default()),
        }
    }

    /// What identifies it, if it is a workload.
    pub(crate) fn workload(&self) -> Option<WorkloadRef<'_>> {
        let kind = WorkloadKind::of_object(&self.kind, None)?;
        Some(WorkloadRef { namespace: &self.namespace, kind, name: &self.name })
    }

    pub(crate) fn to_error(&self) -> Error {
        Error::new(format!("{self}: {}", self.error))
    }
}

impl Snapshot {
    /// The error for a workload of this name, or of any, that cannot be read, in this namespace or any.
    pub(crate) fn unreadable_workload(
        &self,
        name: Option<&WorkloadName>,
        namespace: Option<&str>,
    ) -> Option<Error> {
        let is_it = |id: WorkloadRef<'_>| {
            name.is_none_or(|name| name.is(id)) && namespace.is_none_or(|namespace| id.namespace == namespace)
        };
        self.unreadable.iter().find(|its| its.workload().is_some_and(is_it)).map(Unreadable::to_error)
    }
}

impl fmt::Display for Unreadable {
    /// As messages show readable objects of its kind: `pod default/web-1`, `node a`, `Deployment default/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [namespace, name, kind] = [&self.namespace, &self.name, &self.kind].map(|it| text::name(it));
        match &*self.kind {
            _ if name.is_empty() => write!(f, "a {kind} without a name"),
            "Pod" => write!(f, "pod {namespace}/{name}"),
            "Node" => write!(f, "node {name}"),
            _ => write!(f, "{kind} {namespace}/{name}"),
        }
    }
}

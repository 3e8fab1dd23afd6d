//! Workloads whose controllers delete pods themselves: what is kept of them, whichever their kind. Reads one object's JSON text.

use crate::snapshot::daemon_set::DaemonSetSpec;
use crate::snapshot::job::JobSpec;
use crate::snapshot::managed_fields::count_owners;
use crate::snapshot::meta::{Deletion, Metadata, OwnerReference};
use crate::snapshot::pod::PodEntry;
use crate::snapshot::selector::{LabelSelector, Selector};
use crate::snapshot::stateful_set::StatefulSetSpec;
use crate::snapshot::workload::{WorkloadKind, WorkloadRef};
use crate::text::error::{Error, parse};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// What is kept from such a workload.
#[derive(Clone, Debug)]
pub(crate) struct DirectEntry {
    pub(crate) kind: WorkloadKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) deletion: Option<Deletion>,
    /// Whether its status is for an earlier spec.
    pub(crate) lags: bool,
    /// The field managers that may write `spec.replicas` back.
    pub(crate) count_owners: Vec<String>,
    selector: Result<Option<LabelSelector>, String>,
    spec: Result<Spec, String>,
}

/// What the controller of a kind reads from it.
#[derive(Clone, Debug)]
pub(crate) enum Spec {
    StatefulSet(StatefulSetSpec),
    DaemonSet(DaemonSetSpec),
    Job(Box<JobSpec>),
}

impl Spec {
    fn read(kind: WorkloadKind, object: &RawValue) -> Result<Self, String> {
        match kind {
            WorkloadKind::StatefulSet => StatefulSetSpec::read(object).map(Self::StatefulSet),
            WorkloadKind::DaemonSet => DaemonSetSpec::read(object).map(Self::DaemonSet),
            // Jobs: no other kind deletes its pods itself.
            _ => JobSpec::read(object).map(|spec| Self::Job(Box::new(spec))),
        }
    }

    /// The least number of pods by the status.
    pub(crate) fn status_pods(&self) -> i32 {
        match self {
            Self::StatefulSet(spec) => spec.status_replicas,
            Self::DaemonSet(spec) => spec.status_nodes,
            Self::Job(spec) => spec.status.active,
        }
    }
}

impl DirectEntry {
    pub(crate) fn read(kind: WorkloadKind, object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Body {
            #[serde(default)]
            spec: Option<Selecting>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Selecting {
            selector: Option<LabelSelector>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Observing {
            #[serde(default)]
            status: Option<Observed>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "an object")]
        struct Observed {
            observed_generation: Option<i64>,
        }
        let mut metadata = Metadata::read(object)?;
        let observed = parse::<Observing>(object).ok().and_then(|object| object.status?.observed_generation);
        Ok(Self {
            kind,
            namespace: metadata.namespace(),
            deletion: metadata.deletion(),
            // A Job has no observed generation, and a dump that someone wrote may lack it.
            lags: observed.is_some_and(|observed| observed < metadata.generation),
            name: metadata.name,
            uid: metadata.uid.unwrap_or_default(),
            labels: metadata.labels.unwrap_or_default(),
            count_owners: count_owners(object),
            selector: parse::<Body>(object).map(|object| object.spec.and_then(|spec| spec.selector)),
            spec: Spec::read(kind, object),
        })
    }

    pub(crate) fn id(&self) -> WorkloadRef<'_> {
        WorkloadRef { namespace: &self.namespace, kind: self.kind, name: &self.name }
    }

    pub(crate) fn spec(&self) -> Result<&Spec, Error> {
        self.spec.as_ref().map_err(|error| Error::new(format!("{self}: {error}")))
    }

    /// Its selector. `None` if Kubernetes calls it invalid, or if there is none.
    pub(crate) fn selector(&self) -> Result<Option<Selector<'_>>, Error> {
        let selector = self.selector.as_ref().map_err(|error| Error::new(format!("{self}: {error}")))?;
        Ok(selector.as_ref().and_then(Selector::new))
    }

    /// Why its controller deletes no pods, whatever is asked: `is being deleted`. `None` if it does its work.
    pub(crate) fn idle(&self) -> Option<String> {
        if self.deletion.is_some() {
            return Some("is being deleted".to_owned());
        }
        if let Ok(Spec::Job(job)) = &self.spec
            && job.left_alone.is_some()
        {
            return job.left_alone.clone();
        }
        let written = self.selector.as_ref().ok().and_then(Option::as_ref);
        let why = match written.map(Selector::new) {
            Some(None) => Some("has an invalid selector"),
            Some(Some(selector)) if self.kind == WorkloadKind::DaemonSet && selector.is_empty() => {
                Some("has a selector that selects all pods")
            }
            _ => None,
        };
        why.map(str::to_owned)
    }

    pub(crate) fn owns(&self, pod: &PodEntry) -> bool {
        let owner = pod.controller.as_ref().filter(|_| pod.namespace == self.namespace);
        owner.is_some_and(|owner| self.is(owner))
    }

    /// Whether this is the owner, given that the namespace is the same.
    pub(crate) fn is(&self, owner: &OwnerReference) -> bool {
        owner.name == self.name && owner.workload_kind() == Some(self.kind) && owner.uid == self.uid
    }
}

impl fmt::Display for DirectEntry {
    /// The workload as messages show it: `default StatefulSet/db`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

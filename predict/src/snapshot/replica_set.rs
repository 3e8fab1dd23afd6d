//! `ReplicaSets` and `ReplicationControllers`, and which pods belong to them. Reads one object's JSON text.

use crate::snapshot::deployment::SetState;
use crate::snapshot::managed_fields::{CountWriter, count_owners, count_writer};
use crate::snapshot::meta::{Deletion, Metadata, OwnerReference};
use crate::snapshot::selector::{LabelSelector, Selector};
use crate::snapshot::workload::{WorkloadKind, WorkloadRef};
use crate::text::error::{Error, not_negative, parse};
use podrank::DELETION_COST_ANNOTATION;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What is kept from a set.
#[derive(Clone, Debug)]
pub(crate) struct SetEntry {
    pub(crate) kind: WorkloadKind,
    pub(crate) namespace: String,
    name: String,
    pub(crate) uid: String,
    pub(crate) resource_version: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) generation: i64,
    /// The owner reference of its controller: most often a Deployment.
    pub(crate) controller: Option<OwnerReference>,
    pub(crate) deletion: Option<Deletion>,
    /// The field managers that may write `spec.replicas` back.
    pub(crate) count_owners: Vec<String>,
    /// Who wrote `spec.replicas` last.
    pub(crate) count_writer: Option<CountWriter>,
    spec: Result<SetSpec, String>,
    status: Result<Option<SetStatus>, String>,
    /// What its Deployment's controller reads of it, if it has one or may get one.
    state: Option<Result<SetState, String>>,
}

/// `None` is what the status does not say.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct SetStatus {
    replicas: Option<i32>,
    observed_generation: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SetSpec {
    replicas: Option<i32>,
    pub(crate) selector: Option<LabelSelector>,
    pub(crate) min_ready_seconds: i32,
    /// The deletion cost in its pod template.
    pub(crate) template_cost: Option<String>,
}

impl SetEntry {
    pub(crate) fn read(kind: WorkloadKind, object: &RawValue) -> Result<Self, String> {
        let mut metadata = Metadata::read(object)?;
        let controller = metadata.controller();
        // One without a controller may get a Deployment.
        let is_set = kind == WorkloadKind::ReplicaSet;
        let has_deployment = controller.as_ref().map_or(is_set, |controller| controller.kind == "Deployment");
        Ok(Self {
            kind,
            namespace: metadata.namespace(),
            controller,
            deletion: metadata.deletion(),
            name: metadata.name,
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
            labels: metadata.labels.unwrap_or_default(),
            generation: metadata.generation,
            count_owners: count_owners(object),
            count_writer: count_writer(object),
            spec: SetSpec::read(kind, object),
            status: SetStatus::read(object),
            state: has_deployment.then(|| SetState::read(object)),
        })
    }

    pub(crate) fn id(&self) -> WorkloadRef<'_> {
        WorkloadRef { namespace: &self.namespace, kind: self.kind, name: &self.name }
    }

    /// The number of pods that it should have.
    pub(crate) fn replicas(&self) -> Result<i32, Error> {
        not_negative(&self.id(), self.spec()?.replicas.unwrap_or(1))
    }

    /// Its selector. `None` if it has none, or one that Kubernetes calls invalid: either way it selects no pod.
    pub(crate) fn selector(&self) -> Result<Option<Selector<'_>>, Error> {
        Ok(self.spec()?.selector.as_ref().and_then(Selector::new))
    }

    /// Whether a Deployment adopts it that selects it.
    pub(crate) fn is_adoptable(&self) -> bool {
        self.kind == WorkloadKind::ReplicaSet && self.deletion.is_none()
    }

    /// Why its controller deletes no pods, whatever the count: `is being deleted`. `None` if it does its work.
    pub(crate) fn idle(&self) -> Result<Option<&'static str>, Error> {
        let has_invalid_selector = self.spec()?.selector.is_some() && self.selector()?.is_none();
        Ok(match (self.deletion.is_some(), has_invalid_selector) {
            (true, _) => Some("is being deleted"),
            (false, true) => Some("has an invalid selector"),
            (false, false) => None,
        })
    }

    /// The number of active pods by its status, if it has one. A negative number, which only a broken status has, is 0.
    pub(crate) fn status_replicas(&self) -> Result<Option<u64>, Error> {
        let status = self.status.as_ref().map_err(|error| self.error(error))?;
        let replicas = status.as_ref().and_then(|status| status.replicas);
        Ok(replicas.map(|replicas| u64::try_from(replicas).unwrap_or(0)))
    }

    /// Whether its status is known to be of an earlier spec.
    pub(crate) fn lags(&self) -> bool {
        let status = self.status.as_ref().ok().and_then(Option::as_ref);
        status.is_some_and(|status| status.observed_generation.unwrap_or(0) < self.generation)
    }

    /// What its Deployment's controller reads of it. `None` if it has none.
    pub(crate) fn state(&self) -> Result<Option<&SetState>, Error> {
        self.state.as_ref().map(Result::as_ref).transpose().map_err(|error| self.error(error))
    }

    fn error(&self, error: &str) -> Error {
        Error::new(format!("{}: {error}", self.id()))
    }

    pub(crate) fn spec(&self) -> Result<&SetSpec, Error> {
        self.spec.as_ref().map_err(|error| self.error(error))
    }
}

impl SetSpec {
    fn read(kind: WorkloadKind, object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Set<S> {
            spec: Option<Spec<S>>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "an object")]
        struct Spec<S> {
            replicas: Option<i32>,
            selector: Option<S>,
            min_ready_seconds: Option<i32>,
            template: Option<Template>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Template {
            metadata: Option<TemplateMetadata>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct TemplateMetadata {
            annotations: Option<BTreeMap<String, String>>,
        }
        let spec = if kind == WorkloadKind::ReplicaSet {
            parse::<Set<LabelSelector>>(object)?.spec
        } else {
            parse::<Set<BTreeMap<String, String>>>(object)?.spec.map(|spec| {
                let selector = spec
                    .selector
                    .map(|labels| LabelSelector { match_labels: Some(labels), match_expressions: None });
                let Spec { replicas, min_ready_seconds, template, .. } = spec;
                Spec { replicas, selector, min_ready_seconds, template }
            })
        };
        Ok(spec.map_or_else(Self::default, |spec| {
            let annotations = spec.template.and_then(|template| template.metadata?.annotations);
            Self {
                replicas: spec.replicas,
                selector: spec.selector,
                min_ready_seconds: spec.min_ready_seconds.unwrap_or(0),
                template_cost: annotations.and_then(|mut all| all.remove(DELETION_COST_ANNOTATION)),
            }
        }))
    }
}

impl SetStatus {
    fn read(object: &RawValue) -> Result<Option<Self>, String> {
        #[derive(Deserialize)]
        struct Set {
            status: Option<SetStatus>,
        }
        Ok(parse::<Set>(object)?.status)
    }
}

//! One `ReplicaSet` or `ReplicationController`.

use crate::snapshot::{
    CountManagers, LabelSelector, Metadata, Object, Selector, Template, WorkloadKind, WorkloadRef, time,
};
use crate::sync::deployment::{
    Annotation, DESIRED_REPLICAS_ANNOTATION, MAX_REPLICAS_ANNOTATION, ReplicaSetState,
};
use crate::text::not_negative;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A `ReplicaSet` or `ReplicationController`.
#[derive(Clone, Debug)]
pub(crate) struct ReplicaSet {
    pub(crate) kind: WorkloadKind,
    pub(crate) meta: Metadata,
    pub(crate) managers: CountManagers,
    /// What its Deployment's controller reads of it, without what depends on another object: whether the template is the Deployment's.
    pub(crate) record: ReplicaSetState,
    pub(crate) selector: Option<LabelSelector>,
    pub(crate) min_ready_seconds: i32,
    pub(crate) template: Template,
    pub(crate) creation_time: podrank::Time,
    status: Option<Status>,
}

/// A set's spec as it is written. The selector of a `ReplicationController` is a map of labels.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct Spec<S> {
    replicas: Option<i32>,
    selector: Option<S>,
    min_ready_seconds: Option<i32>,
    #[serde(default)]
    template: Template,
}

/// `None` is what the status does not say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct Status {
    replicas: Option<i32>,
    available_replicas: Option<i32>,
    observed_generation: Option<i64>,
}

impl From<BTreeMap<String, String>> for LabelSelector {
    fn from(labels: BTreeMap<String, String>) -> Self {
        Self { match_labels: Some(labels), match_expressions: None }
    }
}

impl ReplicaSet {
    pub(crate) fn new<S: Default + Into<LabelSelector>>(
        kind: WorkloadKind,
        object: Object<Option<Spec<S>>, Status>,
    ) -> Result<Self, String> {
        let Object { mut metadata, spec, status } = object;
        let spec = spec.unwrap_or_default();
        let number = |name| Annotation::parse(metadata.annotation(name).unwrap_or_default());
        let Status { replicas: counted, available_replicas, .. } = status.clone().unwrap_or_default();
        Ok(Self {
            kind,
            record: ReplicaSetState {
                replicas: not_negative(spec.replicas.unwrap_or(1))?,
                status_replicas: counted.unwrap_or(0),
                available_replicas: available_replicas.unwrap_or(0),
                desired: number(DESIRED_REPLICAS_ANNOTATION),
                max: number(MAX_REPLICAS_ANNOTATION),
                has_template: false,
            },
            selector: spec.selector.map(Into::into),
            min_ready_seconds: spec.min_ready_seconds.unwrap_or(0),
            template: spec.template,
            creation_time: time(metadata.creation_timestamp.as_ref()),
            status,
            managers: CountManagers::of(metadata.managed_fields()),
            meta: metadata.take(),
        })
    }

    pub(crate) fn id(&self) -> WorkloadRef<'_> {
        self.meta.id(self.kind)
    }

    /// The number of pods that it should have.
    pub(crate) fn replicas(&self) -> u32 {
        self.record.replicas.unsigned_abs()
    }

    /// Its selector. `None` if it has none, or one that Kubernetes calls invalid: either way it selects no pod.
    pub(crate) fn selector(&self) -> Option<Selector<'_>> {
        self.selector.as_ref().and_then(Selector::new)
    }

    /// The number of active pods by its status, if it has one. A negative number, which only a broken status has, is 0.
    pub(crate) fn status_replicas(&self) -> Option<u64> {
        Some(u64::try_from(self.status.as_ref()?.replicas?).unwrap_or(0))
    }

    /// Whether its status is known to be of an earlier spec.
    pub(crate) fn lags(&self) -> bool {
        self.status.is_some() && self.is_ahead()
    }

    /// Whether its status, which may be missing, is not that of its spec.
    pub(crate) fn is_ahead(&self) -> bool {
        let observed = self.status.as_ref().and_then(|status| status.observed_generation);
        observed.unwrap_or(0) < self.meta.generation
    }
}

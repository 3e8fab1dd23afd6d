//! One Deployment, and what its controller reads from its `ReplicaSet`s. Decides nothing.

use crate::snapshot::managed_fields::{CountWriter, count_owners, count_writer};
use crate::snapshot::meta::{Deletion, Metadata};
use crate::snapshot::selector::{LabelSelector, Selector};
use crate::snapshot::template::Fingerprint;
use crate::snapshot::time::{Time, time};
use crate::snapshot::workload::{WorkloadKind, WorkloadRef};
use crate::sync::IntOrPercent;
use crate::sync::deployment::{
    Annotation, DESIRED_REPLICAS_ANNOTATION, DeploymentState, MAX_REPLICAS_ANNOTATION, ReplicaSetState,
    Strategy,
};
use crate::text::error::{Error, parse};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// If this annotation has a revision, the Deployment's next sync only rolls back.
pub(crate) const ROLLBACK_ANNOTATION: &str = "deprecated.deployment.rollback.to";

/// What is kept from a Deployment.
#[derive(Clone, Debug)]
pub(crate) struct DeploymentEntry {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) resource_version: String,
    pub(crate) deletion: Option<Deletion>,
    pub(crate) labels: BTreeMap<String, String>,
    /// The field managers that may write `spec.replicas` back.
    pub(crate) count_owners: Vec<String>,
    /// Who wrote `spec.replicas` last.
    pub(crate) count_writer: Option<CountWriter>,
    spec: Result<DeploymentSpec, String>,
}

/// What its controller reads from it.
#[derive(Clone, Debug)]
pub(crate) struct DeploymentSpec {
    /// The record for the decision. Its strategy does not have yet whether old pods run.
    pub(crate) deployment: DeploymentState,
    pub(crate) template: Fingerprint,
    selector: Option<LabelSelector>,
    /// For how long a pod must be ready before it counts as available. Kept as it is written: only whether there is one matters.
    pub(crate) min_ready_seconds: Option<i32>,
    /// Whether the status is for an earlier spec.
    pub(crate) lags: bool,
}

/// What the controller of a Deployment reads from one of its `ReplicaSet`s.
#[derive(Clone, Debug)]
pub(crate) struct SetState {
    /// The record for the decision, without what depends on another object: whether the template is the Deployment's.
    pub(crate) set: ReplicaSetState,
    pub(crate) creation_time: podrank::Time,
    pub(crate) template: Fingerprint,
    /// Whether the status is for an earlier spec.
    pub(crate) lags: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct Head {
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    creation_timestamp: Option<Time>,
    generation: i64,
}

/// The status of a Deployment or of a `ReplicaSet`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct Status {
    replicas: i32,
    available_replicas: i32,
    observed_generation: i64,
}

impl Head {
    fn annotation(&self, name: &str) -> &str {
        self.annotations.as_ref().and_then(|all| all.get(name)).map_or("", String::as_str)
    }

    /// Dumps that are written by hand have no generations.
    fn is_ahead_of(&self, status: &Status) -> bool {
        self.generation > status.observed_generation
    }
}

impl DeploymentEntry {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        let mut metadata = Metadata::read(object)?;
        Ok(Self {
            namespace: metadata.namespace(),
            deletion: metadata.deletion(),
            spec: DeploymentSpec::read(object, metadata.is_being_deleted()),
            name: metadata.name,
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
            labels: metadata.labels.unwrap_or_default(),
            count_owners: count_owners(object),
            count_writer: count_writer(object),
        })
    }

    pub(crate) fn id(&self) -> WorkloadRef<'_> {
        WorkloadRef { namespace: &self.namespace, kind: WorkloadKind::Deployment, name: &self.name }
    }

    /// Why its controller does nothing: `is being deleted`. `None` if it does its work.
    pub(crate) fn idle(&self) -> Result<Option<&'static str>, Error> {
        let has_selector = self.spec()?.selector().is_some();
        Ok(match self.deletion {
            Some(_) => Some("is being deleted"),
            None => (!has_selector).then_some("has a selector that is invalid or selects all pods"),
        })
    }

    pub(crate) fn spec(&self) -> Result<&DeploymentSpec, Error> {
        self.spec.as_ref().map_err(|error| Error::new(format!("{self}: {error}")))
    }
}

impl fmt::Display for DeploymentEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

impl DeploymentSpec {
    fn read(object: &RawValue, is_being_deleted: bool) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "a Deployment")]
        struct Object {
            metadata: Head,
            spec: Spec,
            #[serde(default)]
            status: Option<Status>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Spec {
            replicas: Option<i32>,
            selector: Option<LabelSelector>,
            #[serde(default)]
            template: Fingerprint,
            strategy: Option<WrittenStrategy>,
            paused: Option<bool>,
            #[serde(rename = "minReadySeconds")]
            min_ready_seconds: Option<i32>,
        }
        let Object { metadata, spec, status } = parse(object)?;
        let status = status.unwrap_or_default();
        let deployment = DeploymentState {
            replicas: spec.replicas.unwrap_or(1),
            status_replicas: status.replicas,
            strategy: spec.strategy.unwrap_or_default().read()?,
            is_paused: spec.paused.unwrap_or_default(),
            is_being_deleted,
            is_rolling_back: metadata.annotation(ROLLBACK_ANNOTATION).parse::<i64>().is_ok(),
        };
        Ok(Self {
            deployment,
            template: spec.template,
            min_ready_seconds: spec.min_ready_seconds,
            lags: metadata.is_ahead_of(&status),
            selector: spec.selector,
        })
    }

    /// Its selector. `None` if Kubernetes calls it invalid, or if it selects everything, because Kubernetes then does
    /// nothing.
    pub(crate) fn selector(&self) -> Option<Selector<'_>> {
        Selector::new(self.selector.as_ref()?).filter(|selector| !selector.is_empty())
    }
}

/// A strategy as it is written. Missing values get Kubernetes' defaults.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a strategy")]
struct WrittenStrategy {
    r#type: Option<String>,
    rolling_update: Option<RollingUpdate>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct RollingUpdate {
    pub(crate) partition: Option<i32>,
    pub(crate) max_surge: Option<IntOrPercent>,
    pub(crate) max_unavailable: Option<IntOrPercent>,
}

/// How a workload without `ReplicaSet`s replaces its pods.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an update strategy")]
pub(crate) struct UpdateStrategy {
    pub(crate) r#type: Option<String>,
    pub(crate) rolling_update: Option<RollingUpdate>,
}

impl WrittenStrategy {
    fn read(self) -> Result<Strategy, String> {
        let RollingUpdate { max_surge, max_unavailable, .. } = self.rolling_update.unwrap_or_default();
        let usual = IntOrPercent::Percent(25);
        match self.r#type.as_deref() {
            None | Some("" | "RollingUpdate") => Ok(Strategy::RollingUpdate {
                max_surge: max_surge.unwrap_or(usual),
                max_unavailable: max_unavailable.unwrap_or(usual),
            }),
            Some("Recreate") => Ok(Strategy::Recreate { old_pods_run: false }),
            Some(other) => {
                let other: String = other.chars().take(40).collect();
                Err(format!("spec.strategy.type: {other:?} is neither RollingUpdate nor Recreate"))
            }
        }
    }
}

impl SetState {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "a ReplicaSet")]
        struct Object {
            metadata: Head,
            spec: Option<Spec>,
            status: Option<Status>,
        }
        #[derive(Default, Deserialize)]
        #[serde(expecting = "an object")]
        struct Spec {
            replicas: Option<i32>,
            #[serde(default)]
            template: Fingerprint,
        }
        let Object { metadata, spec, status } = parse(object)?;
        let (spec, status) = (spec.unwrap_or_default(), status.unwrap_or_default());
        let set = ReplicaSetState {
            replicas: spec.replicas.unwrap_or(1),
            status_replicas: status.replicas,
            available_replicas: status.available_replicas,
            desired: Annotation::parse(metadata.annotation(DESIRED_REPLICAS_ANNOTATION)),
            max: Annotation::parse(metadata.annotation(MAX_REPLICAS_ANNOTATION)),
            has_template: false,
        };
        Ok(Self {
            set,
            creation_time: time(metadata.creation_timestamp.as_ref()),
            template: spec.template,
            lags: metadata.is_ahead_of(&status),
        })
    }
}

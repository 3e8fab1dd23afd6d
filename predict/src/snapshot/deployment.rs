//! One Deployment.

use crate::snapshot::{
    CountManagers, Fingerprint, LabelSelector, Metadata, Object, Selector, Template, WorkloadKind,
    WorkloadRef,
};
use crate::sync::IntOrPercent;
use crate::sync::deployment::{DeploymentState, Strategy};
use crate::text::{not_negative, unknown};
use serde::Deserialize;

/// If this annotation has a revision, the Deployment's next sync only rolls back.
pub(crate) const ROLLBACK_ANNOTATION: &str = "deprecated.deployment.rollback.to";

/// A Deployment.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Object<Spec, Status>")]
pub(crate) struct Deployment {
    pub(crate) meta: Metadata,
    pub(crate) managers: CountManagers,
    /// The record for the decision. Its strategy does not have yet whether old pods run.
    pub(crate) record: DeploymentState,
    pub(crate) template: Fingerprint,
    pub(crate) selector: Option<LabelSelector>,
    /// For how long a pod must be ready before it counts as available. Kept as it is written: only whether there is one matters.
    pub(crate) min_ready_seconds: Option<i32>,
    /// Whether the status is for an earlier spec.
    pub(crate) lags: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Spec {
    replicas: Option<i32>,
    selector: Option<LabelSelector>,
    #[serde(default)]
    template: Template,
    strategy: Option<UpdateStrategy>,
    paused: Option<bool>,
    min_ready_seconds: Option<i32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct Status {
    replicas: i32,
    observed_generation: i64,
}

/// How a workload replaces its pods.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an update strategy")]
pub(crate) struct UpdateStrategy {
    pub(crate) r#type: Option<String>,
    pub(crate) rolling_update: Option<RollingUpdate>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct RollingUpdate {
    pub(crate) partition: Option<i32>,
    pub(crate) max_surge: Option<IntOrPercent>,
    pub(crate) max_unavailable: Option<IntOrPercent>,
}

impl TryFrom<Object<Spec, Status>> for Deployment {
    type Error = String;

    fn try_from(object: Object<Spec, Status>) -> Result<Self, String> {
        let Object { mut metadata, spec, status } = object;
        let (meta, status) = (metadata.take(), status.unwrap_or_default());
        let rollback = metadata.annotation(ROLLBACK_ANNOTATION).unwrap_or_default();
        Ok(Self {
            managers: CountManagers::of(metadata.managed_fields()),
            record: DeploymentState {
                replicas: not_negative(spec.replicas.unwrap_or(1))?,
                status_replicas: status.replicas,
                strategy: spec.strategy.unwrap_or_default().of_deployment()?,
                is_paused: spec.paused.unwrap_or_default(),
                is_being_deleted: meta.deletion.is_some(),
                is_rolling_back: rollback.parse::<i64>().is_ok(),
            },
            template: spec.template.fingerprint,
            selector: spec.selector,
            min_ready_seconds: spec.min_ready_seconds,
            // Dumps that are written by hand have no generations.
            lags: meta.generation > status.observed_generation,
            meta,
        })
    }
}

impl UpdateStrategy {
    /// Missing values get Kubernetes' defaults.
    fn of_deployment(self) -> Result<Strategy, String> {
        let RollingUpdate { max_surge, max_unavailable, .. } = self.rolling_update.unwrap_or_default();
        let usual = IntOrPercent::Percent(25);
        match self.r#type.as_deref() {
            None | Some("" | "RollingUpdate") => Ok(Strategy::RollingUpdate {
                max_surge: max_surge.unwrap_or(usual),
                max_unavailable: max_unavailable.unwrap_or(usual),
            }),
            Some("Recreate") => Ok(Strategy::Recreate { old_pods_run: false }),
            Some(other) => unknown("spec.strategy.type", other, "neither RollingUpdate nor Recreate"),
        }
    }
}

impl Deployment {
    pub(crate) fn id(&self) -> WorkloadRef<'_> {
        self.meta.id(WorkloadKind::Deployment)
    }

    /// Its selector. `None` if Kubernetes calls it invalid, or if it selects everything, because Kubernetes then does
    /// nothing.
    pub(crate) fn selector(&self) -> Option<Selector<'_>> {
        Selector::new(self.selector.as_ref()?).filter(|selector| !selector.is_empty())
    }
}

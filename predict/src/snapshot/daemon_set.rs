//! One `DaemonSet`, and one revision of a workload's template.

use crate::snapshot::{LabelSelector, Metadata, Object, Placement, RollingUpdate, UpdateStrategy};
use crate::sync::IntOrPercent;
use crate::sync::daemon_set::Strategy;
use crate::text::unknown;
use serde::Deserialize;

const GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";

/// A `DaemonSet`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Object<Spec, Status>")]
pub(crate) struct DaemonSet {
    pub(crate) meta: Metadata,
    pub(crate) selector: Option<LabelSelector>,
    pub(crate) observed_generation: Option<i64>,
    pub(crate) strategy: Strategy,
    pub(crate) min_ready_seconds: u32,
    pub(crate) generation: Option<String>,
    pub(crate) placement: Placement,
    /// On how many nodes its pods run, by the status: where they may start, and where they may not.
    pub(crate) status_nodes: i32,
    /// On how many nodes a pod may start, by the status.
    pub(crate) status_wanted: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Spec {
    selector: Option<LabelSelector>,
    update_strategy: Option<UpdateStrategy>,
    min_ready_seconds: Option<i32>,
    template: Option<Template>,
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "a template")]
struct Template {
    spec: Option<Placement>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct Status {
    observed_generation: Option<i64>,
    current_number_scheduled: i32,
    number_misscheduled: i32,
    desired_number_scheduled: i32,
}

/// A `ControllerRevision`.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a ControllerRevision")]
pub(crate) struct Revision {
    #[serde(rename = "metadata")]
    pub(crate) meta: Metadata,
    #[serde(rename = "revision", default)]
    pub(crate) number: i64,
}

impl TryFrom<Object<Spec, Status>> for DaemonSet {
    type Error = String;

    fn try_from(object: Object<Spec, Status>) -> Result<Self, String> {
        let Object { mut metadata, spec, status } = object;
        let status = status.unwrap_or_default();
        // Kubernetes compares the number with a pod's label, so 03 is 3.
        let generation = metadata.annotation(GENERATION_ANNOTATION).and_then(|it| it.parse::<i64>().ok());
        Ok(Self {
            generation: generation.map(|number| number.to_string()),
            meta: metadata.take(),
            selector: spec.selector,
            observed_generation: status.observed_generation,
            strategy: spec.update_strategy.unwrap_or_default().of_daemon_set()?,
            min_ready_seconds: spec.min_ready_seconds.and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
            placement: spec.template.unwrap_or_default().spec.unwrap_or_default(),
            status_nodes: status.current_number_scheduled.saturating_add(status.number_misscheduled),
            status_wanted: status.desired_number_scheduled,
        })
    }
}

impl UpdateStrategy {
    /// Missing values get Kubernetes' defaults.
    fn of_daemon_set(self) -> Result<Strategy, String> {
        let RollingUpdate { max_surge, max_unavailable, .. } = self.rolling_update.unwrap_or_default();
        match self.r#type.as_deref() {
            None | Some("" | "RollingUpdate") => Ok(Strategy::RollingUpdate {
                max_surge: max_surge.unwrap_or(IntOrPercent::Int(0)),
                max_unavailable: max_unavailable.unwrap_or(IntOrPercent::Int(1)),
            }),
            Some("OnDelete") => Ok(Strategy::OnDelete),
            Some(other) => unknown("spec.updateStrategy.type", other, "neither RollingUpdate nor OnDelete"),
        }
    }
}

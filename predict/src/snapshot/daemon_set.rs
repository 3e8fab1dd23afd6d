//! What the controller of `DaemonSets` reads from them, and from their revisions. Reads one object's JSON text.

use crate::snapshot::deployment::{RollingUpdate, UpdateStrategy};
use crate::snapshot::meta::{Metadata, OwnerReference, REVISION_LABEL};
use crate::snapshot::node::Placement;
use crate::sync::IntOrPercent;
use crate::sync::daemon_set::Strategy;
use crate::text;
use crate::text::error::parse;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

const GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";

/// What its controller reads from it.
#[derive(Clone, Debug)]
pub(crate) struct DaemonSetSpec {
    pub(crate) strategy: Strategy,
    pub(crate) min_ready_seconds: u32,
    pub(crate) generation: Option<String>,
    pub(crate) placement: Placement,
    /// On how many nodes its pods run, by the status: where they may start, and where they may not.
    pub(crate) status_nodes: i32,
    /// On how many nodes a pod may start, by the status.
    pub(crate) status_wanted: i32,
}

/// What is kept from a `ControllerRevision`.
#[derive(Clone, Debug)]
pub(crate) struct RevisionEntry {
    pub(crate) namespace: String,
    pub(crate) controller: Option<OwnerReference>,
    pub(crate) number: i64,
    pub(crate) hash: String,
}

impl RevisionEntry {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "a ControllerRevision")]
        struct Object {
            metadata: Metadata,
            #[serde(default)]
            revision: i64,
        }
        let Object { mut metadata, revision: number } = parse(object)?;
        Ok(Self {
            namespace: metadata.namespace(),
            controller: metadata.controller(),
            number,
            hash: metadata.labels.and_then(|mut labels| labels.remove(REVISION_LABEL)).unwrap_or_default(),
        })
    }
}

impl DaemonSetSpec {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "a DaemonSet")]
        struct Object {
            metadata: Annotated,
            spec: Spec,
            #[serde(default)]
            status: Option<Status>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Annotated {
            annotations: Option<BTreeMap<String, String>>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "an object")]
        struct Spec {
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
            current_number_scheduled: i32,
            number_misscheduled: i32,
            desired_number_scheduled: i32,
        }
        let Object { metadata, spec, status } = parse(object)?;
        let status = status.unwrap_or_default();
        let generation = metadata.annotations.and_then(|mut it| it.remove(GENERATION_ANNOTATION));
        Ok(Self {
            strategy: spec.update_strategy.unwrap_or_default().of_daemon_set()?,
            min_ready_seconds: spec.min_ready_seconds.and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
            // Kubernetes compares the number with a pod's label, so 03 is 3.
            generation: generation.and_then(|it| it.parse::<i64>().ok()).map(|number| number.to_string()),
            placement: spec.template.unwrap_or_default().spec.unwrap_or_default(),
            status_nodes: status.current_number_scheduled.saturating_add(status.number_misscheduled),
            status_wanted: status.desired_number_scheduled,
        })
    }
}

/// An update strategy as it is written. Missing values get Kubernetes' defaults.
impl UpdateStrategy {
    fn of_daemon_set(self) -> Result<Strategy, String> {
        let RollingUpdate { max_surge, max_unavailable, .. } = self.rolling_update.unwrap_or_default();
        match self.r#type.as_deref() {
            None | Some("" | "RollingUpdate") => Ok(Strategy::RollingUpdate {
                max_surge: max_surge.unwrap_or(IntOrPercent::Int(0)),
                max_unavailable: max_unavailable.unwrap_or(IntOrPercent::Int(1)),
            }),
            Some("OnDelete") => Ok(Strategy::OnDelete),
            Some(other) => Err(format!(
                "spec.updateStrategy.type: {} is neither RollingUpdate nor OnDelete",
                text::quoted(other)
            )),
        }
    }
}

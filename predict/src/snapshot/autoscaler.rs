//! One `HorizontalPodAutoscaler`: whose count it sets, and within which bounds. Its arithmetic is not repeated.

use crate::snapshot::{Condition, Metadata, Object, TargetReference, WorkloadKind};
use serde::Deserialize;

/// An autoscaler.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Object<Spec, Status>")]
pub(crate) struct Autoscaler {
    pub(crate) meta: Metadata,
    target: TargetReference,
    pub(crate) min_replicas: u32,
    pub(crate) max_replicas: u32,
    /// The count that it wants, if it has found one.
    pub(crate) desired_replicas: Option<u32>,
    /// The condition `ScaledToZero` is true: it has scaled its target to 0, and nobody else has.
    pub(crate) has_scaled_to_zero: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Spec {
    scale_target_ref: TargetReference,
    min_replicas: Option<u32>,
    max_replicas: u32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Status {
    desired_replicas: Option<u32>,
    conditions: Option<Vec<Condition>>,
}

impl From<Object<Spec, Status>> for Autoscaler {
    fn from(Object { mut metadata, spec, status }: Object<Spec, Status>) -> Self {
        let min_replicas = spec.min_replicas.unwrap_or(1);
        // Kubernetes writes 0 as long as there are no metrics. It wants that only if it may.
        let is_known = |desired: &u32| *desired > 0 || min_replicas == 0;
        let status = status.unwrap_or_default();
        Self {
            meta: metadata.take(),
            target: spec.scale_target_ref,
            min_replicas,
            max_replicas: spec.max_replicas,
            desired_replicas: status.desired_replicas.filter(is_known),
            has_scaled_to_zero: status.conditions.iter().flatten().any(|it| it.is("ScaledToZero")),
        }
    }
}

impl Autoscaler {
    /// Whether it sets the count of the object with this kind and name in its namespace.
    pub(crate) fn targets(&self, kind: &str, name: &str) -> bool {
        let TargetReference { api_version, kind: of, name: its } = &self.target;
        // Kubernetes looks for the target by its API group, whatever the version, and has no group `extensions` any more.
        let is_known = WorkloadKind::of_object(kind, None).is_some();
        let is_its = of == kind && WorkloadKind::of_object(of, Some(api_version)).is_some() == is_known;
        its == name && is_its && !api_version.starts_with("extensions/")
    }
}

//! One `StatefulSet`.

use crate::snapshot::{
    ControllerGates, CountManagers, LabelSelector, Metadata, Object, Release, RollingUpdate, UpdateStrategy,
};
use crate::sync::IntOrPercent;
use crate::sync::stateful_set::{PodManagement, StatefulSetState, Update};
use crate::text::{not_negative, unknown};
use serde::Deserialize;

/// A `StatefulSet`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Object<Spec, Status>")]
pub(crate) struct StatefulSet {
    pub(crate) meta: Metadata,
    pub(crate) managers: CountManagers,
    pub(crate) selector: Option<LabelSelector>,
    pub(crate) observed_generation: Option<i64>,
    /// The record for the decision, with the behavior of [`Release::TESTED`].
    pub(crate) record: StatefulSetState,
    pub(crate) status_replicas: i32,
    pub(crate) min_ready_seconds: u32,
    pub(crate) update_revision: String,
    /// The claim templates, if claims of condemned pods are deleted.
    pub(crate) claims_that_go: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Spec {
    replicas: Option<i32>,
    selector: Option<LabelSelector>,
    ordinals: Option<Ordinals>,
    pod_management_policy: Option<String>,
    update_strategy: Option<UpdateStrategy>,
    min_ready_seconds: Option<i32>,
    volume_claim_templates: Option<Vec<ClaimTemplate>>,
    persistent_volume_claim_retention_policy: Option<Retention>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Ordinals {
    #[serde(default)]
    start: i32,
}

#[derive(Deserialize)]
#[serde(expecting = "a claim")]
struct ClaimTemplate {
    metadata: ClaimMetadata,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ClaimMetadata {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Retention {
    when_scaled: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct Status {
    replicas: i32,
    observed_generation: Option<i64>,
    update_revision: String,
}

impl TryFrom<Object<Spec, Status>> for StatefulSet {
    type Error = String;

    fn try_from(object: Object<Spec, Status>) -> Result<Self, String> {
        let Object { mut metadata, spec, status } = object;
        let status = status.unwrap_or_default();
        let retention = spec.persistent_volume_claim_retention_policy.and_then(|policy| policy.when_scaled);
        let claims = spec.volume_claim_templates.unwrap_or_default();
        let go = retention.as_deref() == Some("Delete");
        Ok(Self {
            managers: CountManagers::of(metadata.managed_fields()),
            meta: metadata.take(),
            selector: spec.selector,
            observed_generation: status.observed_generation,
            record: StatefulSetState {
                replicas: not_negative(spec.replicas.unwrap_or(1))?,
                start: spec.ordinals.map_or(0, |ordinals| ordinals.start),
                management: management(spec.pod_management_policy.as_deref())?,
                update: spec.update_strategy.unwrap_or_default().of_stateful_set()?,
                is_being_deleted: false,
                behavior: Release::TESTED.stateful_sets(ControllerGates::default()),
            },
            status_replicas: status.replicas,
            min_ready_seconds: spec.min_ready_seconds.and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
            update_revision: status.update_revision,
            claims_that_go: claims.into_iter().filter(|_| go).map(|claim| claim.metadata.name).collect(),
        })
    }
}

impl StatefulSet {
    /// Whether the revision is known that tells old pods from new ones.
    pub(crate) fn knows_revision(&self) -> bool {
        !self.update_revision.is_empty()
    }
}

fn management(policy: Option<&str>) -> Result<PodManagement, String> {
    match policy {
        None | Some("" | "OrderedReady") => Ok(PodManagement::OrderedReady),
        Some("Parallel") => Ok(PodManagement::Parallel),
        Some(other) => unknown("spec.podManagementPolicy", other, "neither OrderedReady nor Parallel"),
    }
}

impl UpdateStrategy {
    /// Missing values get Kubernetes' defaults.
    fn of_stateful_set(self) -> Result<Update, String> {
        let RollingUpdate { partition, max_unavailable, .. } = self.rolling_update.unwrap_or_default();
        match self.r#type.as_deref() {
            None | Some("" | "RollingUpdate") => Ok(Update::RollingUpdate {
                partition: partition.unwrap_or(0),
                max_unavailable: max_unavailable.unwrap_or(IntOrPercent::Int(1)),
            }),
            Some("OnDelete") => Ok(Update::OnDelete),
            Some("Recreate") => Ok(Update::Recreate),
            Some(other) => {
                unknown("spec.updateStrategy.type", other, "none of RollingUpdate, OnDelete and Recreate")
            }
        }
    }
}

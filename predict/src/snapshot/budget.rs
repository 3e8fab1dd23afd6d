//! One `PodDisruptionBudget`: which pods it covers, what it asks for, and what its status says.

use crate::snapshot::{LabelSelector, Metadata, Selector};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A budget.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a PodDisruptionBudget")]
pub(crate) struct Budget {
    #[serde(default)]
    api_version: String,
    #[serde(rename = "metadata")]
    pub(crate) meta: Metadata,
    #[serde(default)]
    pub(crate) spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct Spec {
    selector: Option<LabelSelector>,
    pub(crate) min_available: Option<Amount>,
    pub(crate) max_unavailable: Option<Amount>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct Status {
    pub(crate) disruptions_allowed: Option<u32>,
    observed_generation: Option<i64>,
}

/// A number of pods, or a percentage such as `50%`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number of pods or a percentage")]
pub(crate) enum Amount {
    Pods(u32),
    Percent(String),
}

impl Budget {
    /// Whether it covers pods with these labels.
    pub(crate) fn covers(&self, labels: &BTreeMap<String, String>) -> bool {
        self.selector().is_some_and(|selector| selector.matches(labels))
    }

    /// Its selector. `None` if it selects no pod: it has none, one that Kubernetes calls invalid, or an empty one before v1.
    pub(crate) fn selector(&self) -> Option<Selector<'_>> {
        let selector = self.spec.selector.as_ref().and_then(Selector::new);
        selector.filter(|selector| self.api_version != "policy/v1beta1" || !selector.is_empty())
    }

    /// The status, if it is for this spec.
    pub(crate) fn status(&self) -> Option<&Status> {
        // A dump that someone wrote may lack the generation.
        let is_its = |observed| self.meta.generation == 0 || observed == self.meta.generation;
        Some(&self.status).filter(|status| status.observed_generation.is_some_and(is_its))
    }
}

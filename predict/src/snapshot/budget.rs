//! One `PodDisruptionBudget`: which pods it covers, what it asks for, and what its status says. Reads one object's JSON text.

use crate::snapshot::selector::{LabelSelector, Selector};
use crate::text::error::parse;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What is kept from a budget.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a PodDisruptionBudget")]
pub(crate) struct Budget {
    metadata: Metadata,
    #[serde(default)]
    pub(crate) spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object")]
struct Metadata {
    name: String,
    generation: Option<i64>,
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
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        parse(object)
    }

    pub(crate) fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Whether it covers pods with these labels. An empty selector covers all pods, and no selector none.
    pub(crate) fn covers(&self, labels: &BTreeMap<String, String>) -> bool {
        self.selector().is_some_and(|selector| selector.matches(labels))
    }

    /// Its selector. `None` if it has none, or one that Kubernetes calls invalid.
    pub(crate) fn selector(&self) -> Option<Selector<'_>> {
        self.spec.selector.as_ref().and_then(Selector::new)
    }

    /// The status, if it is for this spec.
    pub(crate) fn status(&self) -> Option<&Status> {
        let is_current = self.status.observed_generation.is_some()
            && self.metadata.generation.is_none_or(|it| self.status.observed_generation == Some(it));
        Some(&self.status).filter(|_| is_current)
    }
}

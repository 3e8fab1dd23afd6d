//! What to preview. Plain data.

use crate::choose::SetName;
use jiff::Timestamp;
use podrank::FeatureGates;
use serde::Serialize;
use std::num::NonZeroU32;

/// What to preview, and how. Further fields may come: start with [`Options::new`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The number of pods that the set should have.
    pub replicas: u32,
    /// The set. `None` means the only one in the input.
    pub set: Option<SetName>,
    /// The namespace of the set. `None` means any.
    pub namespace: Option<String>,
    /// The time of the decision, from which ages count.
    pub now: Timestamp,
    /// Whose decision to preview.
    pub order: Order,
    /// The feature gates.
    pub gates: FeatureGates,
    /// The most deletions to show. `None` means all.
    pub burst_replicas: Option<NonZeroU32>,
    /// Whether to decide on an incomplete input too. Then what is missing becomes notes.
    pub partial: bool,
}

impl Options {
    /// Scaling the only set of a complete input to `replicas` pods at `now`, by Kubernetes' own decision.
    pub fn new(replicas: u32, now: Timestamp) -> Self {
        Self {
            replicas,
            set: None,
            namespace: None,
            now,
            order: Order::Kubernetes,
            gates: FeatureGates::KUBERNETES,
            burst_replicas: None,
            partial: false,
        }
    }
}

/// Whose decision is previewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// podrank's total order, in which the pods alone decide.
    Total,
    /// kube-controller-manager's, as far as its comparator determines it.
    Kubernetes,
}

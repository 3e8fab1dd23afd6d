//! What to preview. Plain data.

use crate::snapshot::{ControllerGates, Release, WorkloadName};
use crate::sync::stateful_set::Behavior;
use jiff::Timestamp;
use podrank::FeatureGates;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What to preview, and how. Further fields may come: start with [`Options::new`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Options {
    /// The number of pods that the workload should have. `None` means the number that it has: the next step of a rollout.
    pub replicas: Option<u32>,
    /// The parallelism that a Job should have. `None` means the one that it has.
    pub parallelism: Option<u32>,
    /// The completions that an Indexed Job should have. `None` means those that it has.
    pub completions: Option<u32>,
    /// Whether a Job is suspended.
    pub suspend: bool,
    /// The workload. `None` means the only one in the input.
    pub workload: Option<WorkloadName>,
    /// The namespace of the workload. `None` means any.
    pub namespace: Option<String>,
    /// The time of the decision, from which ages count.
    pub now: Timestamp,
    /// Where that time comes from.
    pub time_source: TimeSource,
    /// By how much the controller may decide earlier and later than `now`. A pod is certain only if it is all that time.
    pub within: Window,
    /// Whose decision to preview.
    pub order: Order,
    /// The feature gates.
    pub gates: FeatureGates,
    /// The release of Kubernetes. `None` if it is not known: then [`Release::TESTED`] is assumed, and a note says so where it matters.
    pub release: Option<Release>,
    /// The feature gates of controllers that delete pods themselves, where they are not the defaults of the release.
    pub controller_gates: ControllerGates,
    /// Whether to say how likely contested pods go, which takes up to a few seconds for thousands of pods.
    pub probabilities: bool,
    /// Whether to decide on an incomplete input, too. If so, notes say what is missing.
    pub partial: bool,
    /// Whether the input is the last answer of a cluster whose statuses lag. It is decided on as with `partial`.
    pub lags: bool,
}

impl Options {
    /// Scaling the only workload of a complete input to `replicas` pods at `now`, by Kubernetes' own decision.
    pub fn new(replicas: u32, now: Timestamp) -> Self {
        Self { replicas: Some(replicas), now, probabilities: true, ..Self::default() }
    }

    /// The release of Kubernetes, or the one that is assumed.
    pub(crate) fn kubernetes(&self) -> Release {
        self.release.unwrap_or(Release::TESTED)
    }

    /// What the controller of `StatefulSets` does.
    pub(crate) fn stateful_sets(&self) -> Behavior {
        self.kubernetes().stateful_sets(self.controller_gates)
    }

    /// Whether to decide on an incomplete input.
    pub fn accepts_gaps(&self) -> bool {
        self.partial || self.lags
    }
}

/// Whose decision is previewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// kube-controller-manager's decision, as far as its comparator determines it.
    #[default]
    Kubernetes,
    /// podrank's total order, in which the pods alone decide.
    Total,
}

/// By how much the controller may decide earlier and later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Window {
    /// How much earlier. In JSON, in seconds.
    #[serde(serialize_with = "seconds")]
    pub before: Duration,
    /// How much later. In JSON, in seconds.
    #[serde(serialize_with = "seconds")]
    pub after: Duration,
}

fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

impl Window {
    /// For a clock that is not the controller's, and a count that is yet to be written.
    pub const USUAL: Self = Self { before: Duration::from_secs(1), after: Duration::from_secs(5) };
}

/// Where the time of a decision comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// The user gave it.
    #[default]
    Given,
    /// The clock.
    Clock,
    /// The modification time of the file that was read.
    FileTime,
}

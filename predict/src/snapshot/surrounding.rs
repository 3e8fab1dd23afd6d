//! What else acts on a workload: autoscalers, disruption budgets and policies, whichever the kind. Reads one object's JSON text. None
//! of them can make an input unreadable, because a preview is right without them.

use crate::snapshot::autoscaler::Autoscaler;
use crate::snapshot::budget::Budget;
use crate::snapshot::policy::Policy;
use crate::snapshot::time::Lenient;
use crate::text;
use crate::text::error::parse;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt;

/// A kind of object that acts on workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SurroundingKind {
    /// `HorizontalPodAutoscaler`, in the group `autoscaling`.
    Autoscaler,
    /// `PodDisruptionBudget`, in `policy/v1`.
    DisruptionBudget,
    /// `ScaleDownPolicy` of podrank-webhook.
    ScaleDownPolicy,
}

/// One such object.
#[derive(Clone, Debug)]
pub(crate) struct SurroundingEntry {
    pub(crate) kind: SurroundingKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) object: Result<Surrounding, String>,
}

/// What is kept of it.
#[derive(Clone, Debug)]
pub(crate) enum Surrounding {
    Autoscaler(Autoscaler),
    Budget(Budget),
    Policy(Policy),
}

impl SurroundingKind {
    /// The kind by an object's own `kind` and, if known, API version.
    pub(crate) fn of_object(kind: &str, api_version: Option<&str>) -> Option<Self> {
        let is_in = |group: &str| api_version.is_none_or(|version| version.starts_with(group));
        match kind {
            "HorizontalPodAutoscaler" if is_in("autoscaling/") => Some(Self::Autoscaler),
            // Before v1, an empty selector selected no pod.
            "PodDisruptionBudget" if api_version.is_none_or(|version| version == "policy/v1") => {
                Some(Self::DisruptionBudget)
            }
            "ScaleDownPolicy" if is_in("podrank.dev/") => Some(Self::ScaleDownPolicy),
            _ => None,
        }
    }

    /// The full type, as `kubectl get` takes it.
    pub fn resource(self) -> &'static str {
        match self {
            Self::Autoscaler => "horizontalpodautoscalers.autoscaling",
            Self::DisruptionBudget => "poddisruptionbudgets.policy",
            Self::ScaleDownPolicy => "scaledownpolicies.podrank.dev",
        }
    }

    /// Several of them in a sentence.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Autoscaler => "autoscalers",
            Self::DisruptionBudget => "disruption budgets",
            Self::ScaleDownPolicy => "policies of podrank-webhook",
        }
    }
}

impl fmt::Display for SurroundingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Autoscaler => "HorizontalPodAutoscaler",
            Self::DisruptionBudget => "PodDisruptionBudget",
            Self::ScaleDownPolicy => "ScaleDownPolicy",
        })
    }
}

impl SurroundingEntry {
    pub(crate) fn read(kind: SurroundingKind, object: &RawValue) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Object {
            metadata: Lenient<Metadata>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Metadata {
            name: Lenient<String>,
            namespace: Lenient<String>,
        }
        let metadata = parse::<Object>(object).unwrap_or_default().metadata.0.unwrap_or_default();
        let name = metadata.name.0.unwrap_or_default();
        let read = match kind {
            _ if name.is_empty() => Err("metadata.name is missing".to_owned()),
            SurroundingKind::Autoscaler => Autoscaler::read(object).map(Surrounding::Autoscaler),
            SurroundingKind::DisruptionBudget => Budget::read(object).map(Surrounding::Budget),
            SurroundingKind::ScaleDownPolicy => Policy::read(object).map(Surrounding::Policy),
        };
        let namespace = metadata.namespace.0.filter(|namespace| !namespace.is_empty());
        Self { kind, namespace: namespace.unwrap_or_else(|| "default".to_owned()), name, object: read }
    }
}

impl fmt::Display for SurroundingEntry {
    /// `HorizontalPodAutoscaler web`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.name {
            "" => write!(f, "a {} without a name", self.kind),
            name => write!(f, "{} {}", self.kind, text::name(name)),
        }
    }
}

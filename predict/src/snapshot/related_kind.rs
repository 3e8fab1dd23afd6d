//! What else acts on a workload: autoscalers, disruption budgets and policies.

/// A kind of object that acts on workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelatedKind {
    /// `HorizontalPodAutoscaler`, in the group `autoscaling`.
    Autoscaler,
    /// `PodDisruptionBudget`, in `policy/v1`.
    DisruptionBudget,
    /// `ScaleDownPolicy` of podrank-webhook.
    ScaleDownPolicy,
}

impl RelatedKind {
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

//! The record: what a sync reads from one of a Deployment's `ReplicaSets`.

use super::{DeploymentState, SizeChange, Sync};
use crate::sync::int_or_percent::low_half;

/// The annotation in which Kubernetes records the Deployment's count when it scales a set.
pub const DESIRED_REPLICAS_ANNOTATION: &str = "deployment.kubernetes.io/desired-replicas";
/// The annotation in which Kubernetes records the Deployment's count plus its surge when it scales a set.
pub const MAX_REPLICAS_ANNOTATION: &str = "deployment.kubernetes.io/max-replicas";

/// What a sync reads from one `ReplicaSet`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReplicaSetState {
    /// `spec.replicas`: the set's size.
    pub replicas: i32,
    /// `status.replicas`.
    pub status_replicas: i32,
    /// `status.availableReplicas`.
    pub available_replicas: i32,
    /// [`DESIRED_REPLICAS_ANNOTATION`].
    pub desired: Annotation,
    /// [`MAX_REPLICAS_ANNOTATION`].
    pub max: Annotation,
    /// Whether the set's pod template equals the Deployment's, apart from the label `pod-template-hash`. Kubernetes compares templates
    /// semantically: nil equals empty, and `1000m` equals `1`. The oldest of these sets is the new set, and all others are old.
    pub has_template: bool,
}

impl ReplicaSetState {
    /// Returns the set with what a sync of the Deployment writes to it: its size and, if the sync writes them, its
    /// annotations. It has the same status, because the `ReplicaSet` controller writes that later.
    #[must_use]
    pub fn with(mut self, change: &SizeChange, deployment: &DeploymentState, sync: &Sync) -> Self {
        self.replicas = change.replicas;
        if change.annotates {
            let max = deployment.replicas.wrapping_add(sync.budgets.surge);
            self.desired = Annotation::Valid(deployment.replicas);
            // A negative number, which only an overflow makes, is not a valid annotation.
            self.max = if max < 0 { Annotation::Invalid } else { Annotation::Valid(max) };
        }
        self
    }

    /// Returns whether the set wants pods: Kubernetes' `FilterActiveReplicaSets`.
    pub(super) fn is_active(&self) -> bool {
        self.replicas > 0
    }
}

/// A number in an annotation, as Go's parsers read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Annotation {
    /// `ParseUint` reads it: only digits, and at most 2147483647.
    Valid(i32),
    /// Only `Atoi` reads it: a 64-bit integer, of which the low 32 bits count. Kubernetes reads such an annotation only to decide whether
    /// the new set is [saturated](super::SizeReason::Saturated).
    Lenient(i32),
    /// Neither reads it, or it is missing.
    #[default]
    Invalid,
}

impl Annotation {
    /// Reads its text, which is empty for a missing annotation.
    pub fn parse(text: &str) -> Self {
        // Rust reads an integer as Go does: digits, with or without a sign.
        let Ok(number) = text.parse::<i64>() else { return Self::Invalid };
        match i32::try_from(number) {
            Ok(number) if !text.starts_with(['+', '-']) => Self::Valid(number),
            _ => Self::Lenient(low_half(number)),
        }
    }

    /// Returns the number if the annotation is valid.
    pub(super) fn valid(self) -> Option<i32> {
        if let Self::Valid(number) = self { Some(number) } else { None }
    }

    /// Returns the number as the check for saturation reads it.
    pub fn leniently(self) -> Option<i32> {
        match self {
            Self::Valid(number) | Self::Lenient(number) => Some(number),
            Self::Invalid => None,
        }
    }
}

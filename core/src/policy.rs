//! What the caller may choose: the time at which ages are taken, and the feature gates.

use crate::Time;

/// The parameters of the order: the time at which ages are taken, and the feature gates. C calls it
/// `podrank_options`.
///
/// Start from [`Policy::at`], which does what kube-controller-manager does at that time. There is no default, so
/// that `now` cannot be forgotten. To compare times as they are, use [`Policy::without_now`].
///
/// ```
/// use podrank::{FeatureGates, Policy, Time};
///
/// let now = Time::from_unix(1_767_268_800, 0);
/// let mut gates = FeatureGates::KUBERNETES;
/// gates.pod_deletion_cost = false;
/// let policy = Policy::at(now).with_gates(gates);
/// assert_eq!(policy.now, now);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The time at which ages are taken. If it is unset, ages are not log-scaled.
    pub now: Time,
    /// The feature gates.
    pub gates: FeatureGates,
}

/// Kubernetes' feature gates that change the order.
///
/// Start from [`FeatureGates::KUBERNETES`], which is also the default, and assign the gates that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeatureGates {
    /// `PodDeletionCost`: the deletion cost counts. On by default (beta since Kubernetes 1.22).
    pub pod_deletion_cost: bool,
    /// `LogarithmicScaleDown`: ages in one age bucket, `floor(log2(age in ns))`, tie in this crate's order.
    /// (Kubernetes compares the UIDs there.) On by default (since Kubernetes 1.22; locked on since 1.31).
    pub logarithmic_scale_down: bool,
    /// `PreferForScaleDown`: pods with the label `kubernetes.io/prefer-for-scale-down` are deleted before pods without
    /// it that are equal by the earlier rules. Off by default: no release of Kubernetes has it.
    pub prefer_for_scale_down: bool,
}

impl Policy {
    /// Returns the policy of kube-controller-manager at this time: ages are log-scaled, and the gates are
    /// [`FeatureGates::KUBERNETES`].
    ///
    /// If `now` is unset, this is [`Policy::without_now`].
    #[must_use]
    pub const fn at(now: Time) -> Self {
        Self { now, gates: FeatureGates::KUBERNETES }
    }

    /// Returns a policy that compares times as they are, the latest first, with the gates
    /// [`FeatureGates::KUBERNETES`].
    ///
    /// kube-controller-manager does not do that unless its gate `LogarithmicScaleDown` is off.
    #[must_use]
    pub const fn without_now() -> Self {
        Self::at(Time::UNSET)
    }

    /// Returns the policy with these gates.
    #[must_use]
    pub const fn with_gates(self, gates: FeatureGates) -> Self {
        Self { gates, ..self }
    }

    /// Returns whether ages are log-scaled.
    pub(crate) const fn has_buckets(&self) -> bool {
        self.gates.logarithmic_scale_down && !self.now.is_unset()
    }

    /// Returns the age bucket of `time`: `floor(log2(now - time in ns))`, from 0 to 62, or -1 if `time` is
    /// not before `now`. `None` if ages are not log-scaled under this policy, or `time` is unset.
    #[inline(always)]
    pub(crate) fn age_bucket(&self, time: Time) -> Option<i32> {
        if !self.has_buckets() || time.is_unset() {
            return None;
        }
        let age = self.now.bits().saturating_sub(time.bits());
        Some(age.checked_ilog2().map_or(-1, u32::cast_signed))
    }
}

impl FeatureGates {
    /// Kubernetes' defaults.
    pub const KUBERNETES: Self =
        Self { pod_deletion_cost: true, logarithmic_scale_down: true, prefer_for_scale_down: false };
}

impl Default for FeatureGates {
    /// Returns [`FeatureGates::KUBERNETES`].
    fn default() -> Self {
        Self::KUBERNETES
    }
}

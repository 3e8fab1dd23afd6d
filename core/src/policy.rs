//! What the caller may choose: the moment and the feature gates.

use crate::Time;

/// Which order: the moment at which ages are taken, and the feature gates.
///
/// The default is Kubernetes' own gates and no moment, which compares times as they are; set
/// [`now`](Policy::now) for what kube-controller-manager does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The moment at which ages are taken. Unset turns log scaling off.
    pub now: Time,
    /// The feature gates.
    pub gates: FeatureGates,
}

/// Kubernetes' feature gates that change the order. The default is Kubernetes' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    /// `PodDeletionCost`: the deletion cost counts. On by default (beta since Kubernetes 1.22).
    pub pod_deletion_cost: bool,
    /// `LogarithmicScaleDown`: ages between the same powers of two nanoseconds are equal. On by default
    /// (since Kubernetes 1.22; locked on since 1.31).
    pub logarithmic_scale_down: bool,
    /// `PreferForScaleDown`: pods with the label `kubernetes.io/prefer-for-scale-down` go first among
    /// equals. Off by default: no release of Kubernetes has it.
    pub prefer_for_scale_down: bool,
}

impl Policy {
    /// The default gates at this moment.
    pub const fn at(now: Time) -> Self {
        Self { now, gates: FeatureGates::KUBERNETES }
    }

    /// Whether ages are log-scaled.
    pub(crate) const fn has_buckets(&self) -> bool {
        self.gates.logarithmic_scale_down && !self.now.is_unset()
    }

    /// The log-scaled age of `time`: `floor(log2(now - time in ns))`, from 0 to 62, or -1 if `time` is
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
    /// The defaults of Kubernetes.
    pub const KUBERNETES: Self =
        Self { pod_deletion_cost: true, logarithmic_scale_down: true, prefer_for_scale_down: false };
}

impl Default for FeatureGates {
    /// [`FeatureGates::KUBERNETES`].
    fn default() -> Self {
        Self::KUBERNETES
    }
}

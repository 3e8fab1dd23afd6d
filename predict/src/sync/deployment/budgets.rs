//! The budgets of a rollout: how many pods there may be above the count, and how many may be unavailable.

use super::Strategy;
use crate::sync::int_or_percent::low_half;

/// `maxSurge` and `maxUnavailable` as numbers of pods. Kubernetes' `MaxSurge` and `MaxUnavailable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budgets {
    /// How many pods there may be above the Deployment's count. A percentage is rounded up. 0 with `Recreate`.
    pub surge: i32,
    /// How many of the Deployment's pods may be unavailable. A percentage is rounded down. At most the count, and 0
    /// with `Recreate`. A rollout could never start if both budgets were 0, so with `RollingUpdate` this one is
    /// then 1, unless the count is 0.
    pub unavailable: i32,
}

impl Budgets {
    /// Returns the budgets of this strategy for a Deployment's `spec.replicas`.
    pub fn new(strategy: &Strategy, replicas: i32) -> Self {
        let Strategy::RollingUpdate { max_surge, max_unavailable } = strategy else {
            return Self { surge: 0, unavailable: 0 };
        };
        // Both are compared with 0 before they are cut to 32 bits.
        let surge = max_surge.resolve(replicas, true);
        let unavailable = match max_unavailable.resolve(replicas, false) {
            0 if surge == 0 => 1,
            unavailable => unavailable,
        };
        let unavailable = if replicas == 0 { 0 } else { low_half(unavailable).min(replicas) };
        Self { surge: low_half(surge), unavailable }
    }
}

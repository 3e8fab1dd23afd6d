//! Whether to create or delete pods, and how many.

/// The most pods that kube-controller-manager creates or deletes in one sync (`BurstReplicas`).
pub const BURST_REPLICAS: u32 = 500;

/// What a plan depends on. Start from [`SetState::new`] and assign the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SetState {
    /// The desired number of pods: `spec.replicas`.
    pub desired: u32,
    /// The number of active pods: those that the set [keeps](super::Claim::Keep) and those that it has just
    /// adopted.
    pub active: u32,
    /// Whether all requested changes have been observed: [`are_satisfied`](super::Expectations::are_satisfied),
    /// called before the pods are listed. A list from before that call could lack changes that have been observed.
    pub is_satisfied: bool,
    /// Whether the set is being deleted.
    pub is_being_deleted: bool,
}

impl SetState {
    /// Returns the state of a set that wants `desired` pods, has `active` active ones and is not being
    /// deleted. Its expectations are not satisfied: until you assign
    /// [`is_satisfied`](SetState::is_satisfied), it plans nothing.
    #[must_use]
    pub const fn new(desired: u32, active: u32) -> Self {
        Self { desired, active, is_satisfied: false, is_being_deleted: false }
    }
}

/// What one sync does.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Neither creates nor deletes.
    Nothing,
    /// Creates this many pods, by a [`SlowStart`](super::SlowStart).
    Create(u32),
    /// Deletes this many pods, the first of the order: [`Policy::select`](crate::Policy::select).
    Delete(u32),
}

/// Returns what one sync does: Kubernetes' `manageReplicas`, with the checks before it.
///
/// It creates the shortfall or deletes the surplus, at most `burst_replicas` pods. The next sync does the
/// rest. It does nothing until expectations are satisfied, or if the set is being deleted.
pub fn plan(set: &SetState, burst_replicas: u32) -> Plan {
    if !set.is_satisfied || set.is_being_deleted {
        return Plan::Nothing;
    }
    let shortfall = set.desired.saturating_sub(set.active).min(burst_replicas);
    let surplus = set.active.saturating_sub(set.desired).min(burst_replicas);
    match (shortfall, surplus) {
        (0, 0) => Plan::Nothing,
        (0, count) => Plan::Delete(count),
        (count, _) => Plan::Create(count),
    }
}

//! Claiming: which pods a set keeps, adopts or releases.

/// What the claim of a set to a pod depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claimable {
    /// Who controls the pod.
    pub owner: Owner,
    /// Whether the pod's labels match the set's selector.
    pub matches: bool,
    /// Whether the pod is in the set's namespace.
    pub is_in_namespace: bool,
    /// Whether the pod is being deleted. An active pod is not: see [`is_active`](super::is_active).
    pub is_being_deleted: bool,
}

/// Who controls a pod, by the owner reference whose `controller` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// No set: there is no such reference, and the pod is an orphan.
    None,
    /// This set: the reference has its UID. The name alone is not enough, because an earlier set may have had
    /// it.
    Ours,
    /// Another set: the reference has any other UID.
    Other,
}

/// What a set does with a pod.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// Keeps it: the set owns it, and its selector matches.
    Keep,
    /// Releases it: the set owns it, but its selector no longer matches. Remove the set's owner reference.
    /// The pod does not count.
    Release,
    /// Adopts it: it is an orphan that the selector matches. Add the set's owner reference. The pod counts
    /// from then on.
    ///
    /// The set may have been deleted since it was last observed. So before the first adoption of a sync, read
    /// the set again from where it is stored, not from a cache, and adopt nothing if it has another UID or is
    /// being deleted.
    Adopt,
    /// Ignores it.
    Ignore,
}

/// Returns what a set does with a pod: `ClaimObject` of Kubernetes' `PodControllerRefManager`.
///
/// A set that is being deleted neither adopts nor releases pods. It keeps the pods that it owns and that match, and
/// ignores all others.
pub const fn claim(pod: &Claimable, set_is_being_deleted: bool) -> Claim {
    match pod.owner {
        Owner::Other => Claim::Ignore,
        Owner::Ours if pod.matches => Claim::Keep,
        _ if set_is_being_deleted => Claim::Ignore,
        Owner::Ours => Claim::Release,
        Owner::None if pod.matches && pod.is_in_namespace && !pod.is_being_deleted => Claim::Adopt,
        Owner::None => Claim::Ignore,
    }
}

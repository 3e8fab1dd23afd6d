//! Whose a pod is, and whose it becomes.

/// What decides whether a set has or takes a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claimable {
    /// Who controls the pod.
    pub owner: Owner,
    /// Whether the pod's labels match the set's selector.
    pub matches: bool,
    /// Whether the pod is in the set's namespace.
    pub is_in_namespace: bool,
    /// Whether the pod is being deleted. An active pod is not, see [`is_active`](super::is_active).
    pub is_being_deleted: bool,
}

/// Who controls a pod, by the owner reference whose `controller` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// There is no such reference: the pod is an orphan.
    None,
    /// The reference has this set's UID. The name alone is not enough: an earlier set may have had it.
    Ours,
    /// It has any other UID.
    Other,
}

/// What becomes of a pod.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// It is the set's, and stays so.
    Keep,
    /// It is the set's and matches no longer: the set's owner reference is to go. It does not count.
    Release,
    /// It is nobody's: it gets the set's owner reference, and counts once it has.
    ///
    /// The set may have gone since it was last seen. So before the first adoption of a sync, read the set anew from
    /// where it is stored, not from a cache: adopt none if it has another UID or is being deleted.
    Adopt,
    /// It is none of the set's business.
    Ignore,
}

/// What becomes of a pod, seen from a set: `ClaimObject` of Kubernetes' `PodControllerRefManager`.
///
/// A set that is being deleted keeps what it has, for that takes no action, and neither adopts nor releases.
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

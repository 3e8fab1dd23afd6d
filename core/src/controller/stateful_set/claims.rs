//! Which `PersistentVolumeClaim`s go with a condemned pod.

/// One entry of a `PersistentVolumeClaim`'s `metadata.ownerReferences`, as the `StatefulSet` sees it.
///
/// An entry refers to the set or to the pod if it has that object's API version, kind and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaimOwner {
    /// The set, with its UID.
    Set,
    /// The pod, with its UID.
    Pod,
    /// The set or the pod by name, but with another UID: an earlier object of the same name.
    Stale,
    /// Anything else, whether it controls the claim or not.
    Other,
}

/// Returns whether the claim of a condemned pod is deleted with the pod, if
/// `spec.persistentVolumeClaimRetentionPolicy.whenScaled` is `Delete`. With `Retain`, no claim is deleted.
///
/// With `Delete`, Kubernetes replaces the set by the pod among the claim's owners, so that garbage collection deletes the
/// claim after the pod. It does not touch a claim that has a stale owner or belongs to another controller. If the claim has
/// still other owners, they keep it from being deleted.
#[must_use]
pub fn claim_goes(owners: impl IntoIterator<Item = ClaimOwner>) -> bool {
    owners.into_iter().all(|owner| matches!(owner, ClaimOwner::Set | ClaimOwner::Pod))
}

//! Why a set gets its size.

use crate::sync::named;

named! {
    /// Why a set gets its size.
    ///
    /// The [module](super) explains the terms. "Scale", "Roll" and "Recreate" name the [`Path`](super::Path) on which a reason occurs.
    SizeReason {
        /// The sync does not consider the set. This is the reason of every set if the path is [`Path::Nothing`](super::Path::Nothing) or
        /// [`Path::Rollback`](super::Path::Rollback). On the other paths, it is the reason of a set of size 0 about which there is nothing to decide.
        Untouched = "untouched",
        /// Scale: the set gets the whole count, because it is the only active one. If no set is active, the new set
        /// gets it, or the newest set if the new set does not exist yet.
        OnlyActive = "only-active",
        /// Scale: the new set already has the whole count, all available. So it keeps its size, and old sets get 0.
        Saturated = "saturated",
        /// Scale: the set gets its proportional share.
        Share = "share",
        /// Scale: the set's proportional share is more than what is left to add or remove, so it gets only that.
        CutShare = "cut-share",
        /// Scale: the set is the largest. In addition to its proportional share, it gets the remainder that no set's
        /// share covers.
        ShareAndLeftover = "share-and-leftover",
        /// Scale: the set keeps its size, because nothing is left to add or remove.
        UsedUp = "used-up",
        /// Scale: the set keeps its size, because its share cannot be computed: its annotation max-replicas is missing,
        /// invalid or 0, and the Deployment's `status.replicas` is 0.
        NoShare = "no-share",
        /// Scale: the set keeps its size, because several sets are active and the strategy is `Recreate`.
        NotRolling = "not-rolling",
        /// The new set already has the count.
        AtCount = "at-count",
        /// The new set gets the count, because it is above the count, or because the strategy is `Recreate` and no old
        /// pod is left.
        ToCount = "to-count",
        /// Roll: the new set grows as far as the count and the surge allow.
        Grows = "grows",
        /// Roll: the new set cannot grow, because there are already as many pods as the count and the surge allow.
        NoSurge = "no-surge",
        /// Roll: the old set keeps its size in this sync, because the new set changes first.
        AfterNewSet = "after-new-set",
        /// Roll: the old set shrinks by pods that are not available.
        Unhealthy = "unhealthy",
        /// Roll: the old set shrinks as far as it can while enough pods remain available.
        Available = "available",
        /// Roll: the old set shrinks by pods that are not available, and then as far as it can while enough pods remain
        /// available.
        UnhealthyAndAvailable = "unhealthy-and-available",
        /// Roll: the old set keeps its size, so that enough pods are available.
        HeldBack = "held-back",
        /// Recreate: the old set gets 0.
        Recreated = "recreated",
        /// Recreate: the new set waits until no pod of an old set is left.
        Waits = "waits",
        /// The size overflowed 32 bits and is below 0. The API server rejects it, so the set does not change, and the
        /// sync ends.
        Rejected = "rejected",
        /// Roll: the old set has more available pods than its size, because its status lags behind. The sync ends.
        Lags = "lags",
        /// The sync ended before it reached the set.
        NotReached = "not-reached",
    }
}

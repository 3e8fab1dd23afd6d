//! Why a pod is deleted or kept.

use crate::sync::named;

named! {
    /// Why a pod is deleted or kept.
    ///
    /// Reasons whose description begins with "Update" occur only in a sync that reaches its second part.
    DaemonReason {
        /// It is kept: nothing asks for its deletion, or it is being deleted already.
        Kept = "kept",
        /// It is not allowed on its node.
        NotWanted = "not-wanted",
        /// It has succeeded.
        Succeeded = "succeeded",
        /// It has failed. Of several failed pods of a node, each sync deletes one, and chance decides which.
        Failed = "failed",
        /// Another pod of the node is kept: preferably an assigned one, then the oldest, then the one with the smallest name.
        Surplus = "surplus",
        /// With surge: the node has a new pod, and the old one is not ready.
        OldNotReady = "old-not-ready",
        /// The new pod of the node is available, so the old one is deleted.
        Replaced = "replaced",
        /// It is not assigned, and its node does not exist.
        NoNode = "no-node",
        /// Update: the old pod is not available, so deleting it takes nothing from the budget.
        OldUnavailable = "old-unavailable",
        /// Update: the old pod is available. Such pods go while `maxUnavailable` allows it.
        OldAvailable = "old-available",
        /// Update with surge: the old pod is kept until the new one of its node is available. The new one may not have
        /// been created yet.
        AwaitsNew = "awaits-new",
        /// Update with surge: no pod may start on the node any more, and the old pod is not available.
        NotStartable = "not-startable",
        /// Update with surge: no pod may start on the node any more. Such pods are deleted only while
        /// [`Sync::available`](super::Sync::available) is above [`Sync::wanted`](super::Sync::wanted).
        NotStartableAvailable = "not-startable-available",
        /// Update: the node has several old or several new pods or, without surge, an old and a new one. Pods that are being
        /// deleted do not count. The first part of a later sync deletes the surplus.
        Unsettled = "unsettled",
        /// The old pod is kept until somebody deletes it, because the strategy is `OnDelete`.
        OnDelete = "on-delete",
        /// The old pod is kept until a later sync, because this sync first has to create or delete pods in its first
        /// part.
        AfterFirstPart = "after-first-part",
        /// Update with surge: the sync fails, because an old pod is alone on a node that does not exist.
        NodeMissing = "node-missing",
        /// It is deleted in a later sync, because one part of a sync deletes at most
        /// [`BURST_REPLICAS`](super::BURST_REPLICAS) pods.
        NextSync = "next-sync",
    }
}

impl DaemonReason {
    /// Whether upstream deletes pods with this reason last, in random order.
    pub(super) fn is_second(self) -> bool {
        matches!(self, Self::NoNode | Self::OldAvailable | Self::NotStartableAvailable)
    }
}
